/*
 * gpuhist for signals.bats: each read, pread, write and poll is interrupted, must be repeated, and
 * then moves at most 4099 bytes. These functions replace the C library's; libc's own calls do not
 * come here.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define INTERRUPTED_BYTES_MAX ((size_t)4099)

/* Returns whether this call of the thread is interrupted: every other one is. Sets errno then. */
static bool interrupted_now(void)
{
    static _Thread_local bool was_interrupted;

    was_interrupted = !was_interrupted;
    if (was_interrupted)
        errno = EINTR;
    return was_interrupted;
}

static size_t interrupted_cut(size_t bytes)
{
    return bytes < INTERRUPTED_BYTES_MAX ? bytes : INTERRUPTED_BYTES_MAX;
}

ssize_t read(int fd, void *buffer, size_t bytes)
{
    return interrupted_now() ? -1 : syscall(SYS_read, fd, buffer, interrupted_cut(bytes));
}

ssize_t pread(int fd, void *buffer, size_t bytes, off_t offset)
{
    return interrupted_now() ? -1
                             : syscall(SYS_pread64, fd, buffer, interrupted_cut(bytes), offset);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    return interrupted_now() ? -1 : syscall(SYS_write, fd, data, interrupted_cut(bytes));
}

int poll(struct pollfd *fds, nfds_t count, int milliseconds)
{
    const struct timespec time = {.tv_sec = milliseconds / 1000,
                                  .tv_nsec = milliseconds % 1000 * 1000000L};

    return interrupted_now() ? -1 : ppoll(fds, count, milliseconds < 0 ? NULL : &time, NULL);
}
