/*
 * Reading from what may have nothing just now: pipes, terminals, and files that are read on.
 * Waiting ends when another thread writes to a second descriptor.
 *
 * Thread-safe on distinct descriptors.
 */
#ifndef GPUHIST_PIPE_H
#define GPUHIST_PIPE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A pipe that stays empty for this long is empty "for now". Returning each time that the reader has
 * overtaken the writer would hand the pipe from thread to thread in small pieces.
 */
#define PIPE_PAUSE_MS 1

/* What a read met. */
enum pipe_event {
    PIPE_DATA,  /* some bytes, maybe none */
    PIPE_END,   /* the end of the input */
    PIPE_EMPTY, /* nothing just now, or woken */
    PIPE_ERROR, /* errno says which */
};

/* Makes a pipe hold as much as the system allows, 1 MiB by default; else does nothing. */
void pipe_widen(int fd);

/*
 * Reads what there is from `fd`, up to `room` bytes, and stores how many. Waits for it without
 * limit if `wait`, else for as long as a busy writer takes to write the next piece, or until `wake`
 * can be read; *waited is set if it had to wait.
 */
enum pipe_event pipe_read(int fd, int wake, void *buffer, size_t room, bool wait, bool *waited,
                          size_t *bytes);

#endif
