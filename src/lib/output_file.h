/*
 * The output file of a result. A regular file is replaced atomically, once the result is complete
 * and on the disk. Until then the result is in a file in the same directory without a name, or with
 * a temporary name if the file system requires one (temporary.h). Anything else (a device, a FIFO,
 * an open descriptor) is written directly.
 *
 * As a file name, NULL means standard output, and /dev/stdout, /dev/fd/N and the like mean the
 * descriptors that they name. Functions of type int return 0 or an errno. Not thread-safe.
 */
#ifndef GPUHIST_OUTPUT_FILE_H
#define GPUHIST_OUTPUT_FILE_H

#include "lib/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Maximum number of files that are completed together. */
#define OUTPUT_FILE_TOGETHER 2

struct output_file {
    int fd;                   /* the descriptor to write to; owned */
    bool replaces;            /* the file replaces the target once complete; else it is appended */
    char target[PATH_MAX];    /* the requested name, or the target of that link */
    char directory[PATH_MAX]; /* the directory of the target */
    char temporary[PATH_MAX]; /* the name until the file is complete; empty: none */
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

/* Waits until the data is on the disk. After it, failures are unlikely. */
int output_file_prepare(struct output_file *file);

/* Gives up to OUTPUT_FILE_TOGETHER prepared files their names. On failure, sets *failed to the
 * index of the first file without its name. */
int output_file_complete(struct output_file *const *files, size_t count, size_t *failed);

/* Closes the file. Removes it if it was not completed. */
void output_file_close(struct output_file *file);

/* Returns whether two outputs are the same file, pipe or terminal. /dev/null is never the same. */
bool output_file_is_same(const char *a, const char *b);

/*
 * Returns whether both are the same regular file, and the output would be appended to unread input,
 * or if `replaces_early` replace it. `input` is a file name, or "-" for standard input.
 */
bool output_file_is_input(const char *output, const char *input, bool replaces_early);

#endif
