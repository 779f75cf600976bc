/*
 * The file that a result goes to. A regular file, old or new, is replaced when the result is
 * complete, and not touched before: until then the result has no name, so that nothing is left
 * behind however the process ends. Anything else (a device, a FIFO, a file in a directory that
 * takes no new one) is written directly.
 *
 * The functions return 0 or an errno. Not thread-safe.
 */
#ifndef GPUHIST_OUTPUT_FILE_H
#define GPUHIST_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>

struct output_file {
    int fd;         /* to be written to */
    bool replaces;  /* the target, when it is complete */
    bool is_stream; /* no file of its own: what is written stays behind what was written before */
    char target[PATH_MAX];         /* the name asked for, links followed */
    char temporary[PATH_MAX + 64]; /* a name that it has before; empty: none */
};

/* Whether a file of that name can be written. Creates nothing. */
int output_file_check(const char *name);

/*
 * Opens `name` for writing; /dev/stdout and the like are the descriptors that they name. The caller
 * closes it, whatever is returned.
 */
int output_file_open(struct output_file *file, const char *name);

/* Gives the file, all of which has been written, its name. */
int output_file_complete(struct output_file *file);

/* Closes the file; one that was not completed is gone. */
void output_file_close(struct output_file *file);

/*
 * Whether two names are those of one regular file, which there is or which both would create, so
 * that one of two results would be lost.
 */
bool output_file_is_same(const char *a, const char *b);

/*
 * Whether two outputs, NULL being standard output, are the same pipe, terminal or whatever is not
 * replaced, so that they would be mixed up; of /dev/null nobody minds that.
 */
bool output_file_is_shared(const char *a, const char *b);

#endif
