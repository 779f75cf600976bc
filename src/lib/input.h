/*
 * One input: an open file, pipe or terminal. Several readers and ranges may share it; the last one
 * to release it closes it. All functions are thread-safe, except input_open on standard input.
 */
#ifndef GPUHIST_INPUT_H
#define GPUHIST_INPUT_H

#include "lib/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The name of standard input in messages. No other input's name has this address. */
extern const char input_stdin_name[];

/* Does not change after it is opened, except `users`. */
struct input {
    const char *name; /* the name in messages; not owned */
    int fd;
    bool is_regular;   /* a regular file: reading never waits, and pread works */
    off_t start;       /* regular file: its file offset when it was opened */
    off_t size;        /* regular file: its size when it was opened */
    size_t number;     /* the input's index in its source */
    atomic_uint users; /* number of readers, and of ranges that are being read */
};

/* Returns the name of an argument in messages; "-" is standard input. */
const char *input_name(const char *argument);

/* Fails with STATUS_DATA: "NAME: REASON". */
enum status input_fail(struct failure *failure, const char *name, const char *reason);

/*
 * Opens the file that an argument names. Does not wait for the writer of a FIFO. Enlarges the
 * buffer of a pipe to 1 MiB, if the system allows it. The argument must outlive the input. The
 * caller is its first user. Fails with STATUS_DATA.
 */
enum status input_open(struct input **input, const char *argument, struct failure *failure);

/* Adds a user, and removes one. */
void input_hold(struct input *input);
void input_release(struct input *input);

/*
 * Reads `bytes` bytes at an offset of a regular file, or fewer if the file ends or a fault follows.
 * Returns their number, or -1 with errno set if none can be read.
 */
ssize_t input_read_at(int fd, void *data, size_t bytes, off_t offset);

#endif
