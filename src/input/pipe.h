/*
 * Reading from a descriptor that may have to wait: a pipe, a terminal, or a file that is read in
 * order. Another thread can end the wait by writing to a second descriptor.
 *
 * Thread-safe on distinct descriptors.
 */
#ifndef GPUHIST_PIPE_H
#define GPUHIST_PIPE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A pipe counts as empty if nothing arrives for this long. A shorter time would end a chunk each
 * time that the reader is faster than the writer, and so produce many small chunks.
 */
#define PIPE_PAUSE_MS 1

/* The result of a read. */
enum pipe_event {
    PIPE_DATA,  /* bytes were read, or none: try again */
    PIPE_END,   /* the end of the input */
    PIPE_EMPTY, /* nothing to read at present, or woken */
    PIPE_ERROR, /* see errno */
};

/* Enlarges the buffer of a pipe to 1 MiB, if the system allows it. */
void pipe_widen(int fd);

/*
 * Reads up to `room` bytes from `fd` and stores how many in *bytes. If there is nothing to read, it
 * waits without limit (`wait`) or for PIPE_PAUSE_MS, and sets *waited. It stops waiting when `wake`
 * becomes readable.
 */
enum pipe_event pipe_read(int fd, int wake, void *buffer, size_t room, bool wait, bool *waited,
                          size_t *bytes);

#endif
