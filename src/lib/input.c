/* Opens inputs, counts their users, and reads regular files. */
#include "config.h"

#include "lib/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char input_stdin_name[] = "standard input";

const char *input_name(const char *argument)
{
    return strcmp(argument, "-") == 0 ? input_stdin_name : argument;
}

enum status input_fail(struct failure *failure, const char *name, const char *reason)
{
    return status_fail(failure, STATUS_DATA, STATUS_NAME ": %s", name, reason);
}

/*
 * The capacity of a pipe: the maximum that an unprivileged process may set by default. Larger pipes
 * are not faster.
 */
#define INPUT_PIPE_BYTES (1 << 20)

enum status input_open(struct input **input, const char *argument, struct failure *failure)
{
    const char *name = input_name(argument);
    const bool is_stdin = name == input_stdin_name;
    struct input *new = calloc(1, sizeof *new);
    struct stat info;

    if (!new)
        return input_fail(failure, name, strerror(errno));
    *new = (struct input){.name = name, .users = 1};
    new->fd = is_stdin ? STDIN_FILENO : open(argument, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (new->fd < 0 || fstat(new->fd, &info) != 0)
        goto release;
    if (!is_stdin) /* blocking again: reading waits, also for a FIFO's writer */
        fcntl(new->fd, F_SETFL, 0);
    new->is_regular = S_ISREG(info.st_mode);
    new->size = info.st_size;
    if (new->is_regular && (new->start = lseek(new->fd, 0, SEEK_CUR)) < 0)
        goto release;
    if (S_ISFIFO(info.st_mode) && fcntl(new->fd, F_GETPIPE_SZ) < INPUT_PIPE_BYTES)
        fcntl(new->fd, F_SETPIPE_SZ, INPUT_PIPE_BYTES); /* may fail, which does no harm */
    *input = new;
    return STATUS_OK;

release:
    input_fail(failure, new->name, strerror(errno));
    input_release(new);
    return failure->status;
}

void input_hold(struct input *input)
{
    atomic_fetch_add(&input->users, 1);
}

void input_release(struct input *input)
{
    if (atomic_fetch_sub(&input->users, 1) > 1)
        return;
    if (input->fd > STDIN_FILENO)
        close(input->fd);
    free(input);
}

ssize_t input_read_at(int fd, void *data, size_t bytes, off_t offset)
{
    size_t done = 0;
    ssize_t n = 1;

    while (done < bytes && n != 0) {
        n = pread(fd, (char *)data + done, bytes - done, offset + (off_t)done);
        if (n < 0 && errno != EINTR)
            return done > 0 ? (ssize_t)done : -1;
        done += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)done;
}
