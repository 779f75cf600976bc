/* Reads from pipes and the like, with a wait that another thread can end. */
#include "config.h"

#include "input/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

/* The most that an unprivileged process may set by default. Larger pipes are not faster. */
#define PIPE_BYTES (1 << 20)

void pipe_widen(int fd)
{
#ifdef F_SETPIPE_SZ
    if (fcntl(fd, F_GETPIPE_SZ) < PIPE_BYTES)
        fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES); /* may fail, which does no harm */
#else
    (void)fd;
#endif
}

/* Waits up to `milliseconds` (-1: without limit) until `fd` can be read; false if it cannot. */
static bool pipe_has(int fd, int wake, int milliseconds)
{
    struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = wake, .events = POLLIN}};

    while (poll(fds, 2, milliseconds) < 0) {
        if (errno != EINTR)
            return true; /* the read will report the error */
    }
    return fds[0].revents != 0 && fds[1].revents == 0;
}

/*
 * Waits for something to read. (FIONREAD could tell whether the pipe is full and the writer waits,
 * but FIONREAD itself blocks while the writer is copying.)
 */
static bool pipe_is_ready(int fd, int wake, bool wait, bool *waited)
{
    if (pipe_has(fd, wake, 0))
        return true;
    *waited = true;
    return pipe_has(fd, wake, wait ? -1 : PIPE_PAUSE_MS);
}

enum pipe_event pipe_read(int fd, int wake, void *buffer, size_t room, bool wait, bool *waited,
                          size_t *bytes)
{
    ssize_t n;

    *bytes = 0;
    if (!pipe_is_ready(fd, wake, wait, waited))
        return PIPE_EMPTY;
    do
        n = read(fd, buffer, room);
    while (n < 0 && errno == EINTR);
    if (n < 0) /* another process may have made the descriptor non-blocking: try again */
        return errno == EAGAIN || errno == EWOULDBLOCK ? PIPE_DATA : PIPE_ERROR;
    *bytes = (size_t)n;
    return n == 0 ? PIPE_END : PIPE_DATA;
}
