/*
 * One input: a file, pipe or terminal of the stream, opened. Several readers and ranges may share
 * one; the last to give it up closes it.
 *
 * Thread-safe, but for input_open on standard input.
 */
#ifndef GPUHIST_INPUT_H
#define GPUHIST_INPUT_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct stat;

/*
 * How messages name standard input. An input that is standard input has this very pointer for its
 * name; one of a file that is called so has another.
 */
extern const char input_stdin_name[];

/* Const once it is open. */
struct input {
    const char *name; /* as messages show it; not owned */
    int fd;
    bool is_regular;   /* reading never waits, and offsets can be read */
    off_t start;       /* of a regular file: where it stood when it was opened, */
    off_t size;        /* and its size */
    atomic_uint users; /* who uses it: readers, and ranges that are being read */
};

/* Whether an argument stands for standard input, and how messages name it. */
bool input_is_stdin(const char *argument);
const char *input_name(const char *argument);

/* Fails with STATUS_DATA: "NAME: REASON". */
enum status input_fail(struct failure *failure, const char *name, const char *reason);

/*
 * Opens the file of an argument, without waiting for the writer of a FIFO; the argument must
 * outlive it. The caller is its first user. Fails with STATUS_DATA.
 */
enum status input_open(struct input **input, const char *argument, struct failure *failure);

/* One user more, and one less. */
void input_hold(struct input *input);
void input_release(struct input *input);

/*
 * Reads `bytes` bytes at an offset of a regular file, fewer only at its end. Returns how many, or
 * -1 with errno.
 */
ssize_t input_read_at(int fd, void *data, size_t bytes, off_t offset);

#endif
