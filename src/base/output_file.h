/*
 * The file that a result goes to. A regular file, old or new, is replaced when the result is
 * complete and on the disk, and not touched before: the result is written to a file without a name,
 * or with a temporary one where the file system needs it (temporary.h), beside the target. Anything
 * else (a device, a FIFO, an open descriptor) is written directly.
 *
 * Where the functions take a name, NULL is standard output, and /dev/stdout, /dev/fd/N and the like
 * are the descriptors that they name. Those that return int return 0 or an errno. Not thread-safe.
 */
#ifndef GPUHIST_OUTPUT_FILE_H
#define GPUHIST_OUTPUT_FILE_H

#include "base/status.h"

#include <limits.h>
#include <stdbool.h>

struct output_file {
    int fd;         /* to be written to */
    bool replaces;  /* the target, when it is complete */
    bool is_stream; /* no file of its own: what is written stays behind what was written before */
    char target[PATH_MAX];    /* the name asked for, or what it is a link to */
    char temporary[PATH_MAX]; /* a name that it has before; empty: none */
};

/*
 * Whether a file of that name can be written, or replaced: tries to make a file beside it, and
 * leaves none. Fails with STATUS_DATA.
 */
enum status output_file_check(const char *name, struct failure *failure);

/*
 * Opens `name`, not NULL, for writing. The caller closes it, whatever is returned; until then it
 * stays where it is.
 */
int output_file_open(struct output_file *file, const char *name);

/* Gives the file, all of which has been written, its name, once its data is on the disk. */
int output_file_complete(struct output_file *file);

/* Closes the file; one that was not completed is gone. */
void output_file_close(struct output_file *file);

/*
 * Whether two outputs are one place, so that one of two results would be lost or both mixed up: the
 * same file to be replaced, or the same pipe, terminal or open file; /dev/null is none.
 */
bool output_file_is_same(const char *a, const char *b);

/*
 * Whether an output is written behind the data of the input `input` ("-" is standard input), and so
 * would become input itself: both are one regular file, that is not replaced and not at its end.
 */
bool output_file_is_input(const char *output, const char *input);

#endif
