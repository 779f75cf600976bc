/*
 * The file that a result goes to. A regular file is not touched until the result is complete and on
 * the disk, and is then replaced. Until then the result is in a file beside it without a name, or
 * with a temporary name if the file system requires one (temporary.h). Anything else (a device, a
 * FIFO, an open descriptor) is written directly.
 *
 * Where the functions take a name, NULL is standard output, and /dev/stdout, /dev/fd/N and the like
 * are the descriptors that they name. Those that return int return 0 or an errno. Not thread-safe.
 */
#ifndef GPUHIST_OUTPUT_FILE_H
#define GPUHIST_OUTPUT_FILE_H

#include "lib/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Files that can be completed together. */
#define OUTPUT_FILE_TOGETHER 2

struct output_file {
    int fd;                   /* to be written to */
    bool replaces;            /* the target, once the file is complete; else it is appended to */
    char target[PATH_MAX];    /* the name asked for, or what it is a link to */
    char directory[PATH_MAX]; /* that of the target */
    char temporary[PATH_MAX]; /* the name until then; empty: none */
};

/*
 * Checks that a file of that name can be written, or replaced: creates a file beside it and removes
 * it. Fails with STATUS_DATA.
 */
enum status output_file_check(const char *name, struct failure *failure);

/*
 * Opens `name`, not NULL, for writing. The caller closes it, also after an error. The struct must
 * not move until then.
 */
int output_file_open(struct output_file *file, const char *name);

/* Waits until the data is on the disk. All that is likely to fail comes before its end. */
int output_file_prepare(struct output_file *file);

/* Gives up to OUTPUT_FILE_TOGETHER files that are prepared their names. *failed: the first that
 * could not get its own. */
int output_file_complete(struct output_file *const *files, size_t count, size_t *failed);

/* Closes the file. Removes it if it was not completed. */
void output_file_close(struct output_file *file);

/* Returns whether two outputs are the same file, pipe or terminal. /dev/null is never the same. */
bool output_file_is_same(const char *a, const char *b);

/*
 * Returns whether both are the same regular file, and the output is appended to data that is still
 * to be read, or, if `replaces_early`, replaces it. `input` is a file name, or "-" for standard
 * input.
 */
bool output_file_is_input(const char *output, const char *input, bool replaces_early);

#endif
