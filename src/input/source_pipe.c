#include "config.h"

#include "input/source_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* What an unprivileged process may set by default; larger pipes gained nothing. */
#define SOURCE_PIPE_BYTES (1 << 20)

void source_pipe_widen(int fd)
{
#ifdef F_SETPIPE_SZ
    if (fcntl(fd, F_GETPIPE_SZ) < SOURCE_PIPE_BYTES)
        fcntl(fd, F_SETPIPE_SZ, SOURCE_PIPE_BYTES); /* refused: it stays as it is */
#else
    (void)fd;
#endif
}

bool source_pipe_has(const struct source *source, int milliseconds)
{
    struct pollfd fds[2] = {{.fd = source->current->fd, .events = POLLIN},
                            {.fd = source->wake[0], .events = POLLIN}};

    while (poll(fds, 2, milliseconds) < 0) {
        if (errno != EINTR)
            return true; /* let read say what is wrong */
    }
    return fds[0].revents != 0 && fds[1].revents == 0;
}

/*
 * Waits for something to read. (That the pipe is full might also tell that the writer waits, but
 * FIONREAD does that itself for as long as the writer is copying.)
 */
static bool source_pipe_ready(struct source *source, bool wait)
{
    if (source_pipe_has(source, 0))
        return true;
    source->waited = true;
    return source_pipe_has(source, wait ? -1 : SOURCE_PIPE_PAUSE_MS);
}

enum source_event source_pipe_read(struct source *source, void *buffer, size_t room, bool wait,
                                   size_t *bytes, struct failure *failure)
{
    const struct input *input = source->current;
    ssize_t n;

    if (!input->is_regular && !source_pipe_ready(source, wait))
        return SOURCE_EMPTY;
    do
        n = read(input->fd, buffer, room);
    while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        *bytes = 0; /* a descriptor that somebody made non-blocking: ask again */
        return SOURCE_DATA;
    }
    if (n < 0) {
        status_fail_at(failure, source->position, STATUS_DATA, STATUS_NAME ": %s", input->name,
                       strerror(errno));
        return SOURCE_ERROR;
    }
    *bytes = (size_t)n;
    return n == 0 ? SOURCE_END : SOURCE_DATA;
}
