/* Opens inputs, counts their users, and reads, with a wait that another thread can end. */
#include "config.h"

#include "input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char input_stdin_name[] = "standard input";

bool input_is_stdin(const char *argument)
{
    return strcmp(argument, "-") == 0;
}

const char *input_name(const char *argument)
{
    return input_is_stdin(argument) ? input_stdin_name : argument;
}

enum status input_fail(struct failure *failure, const char *name, const char *reason)
{
    return status_fail(failure, STATUS_DATA, STATUS_NAME ": %s", name, reason);
}

/* Returns 0 or an errno. */
static int input_open_file(struct input *input, const char *argument)
{
    struct stat info;
    bool is_stdin = input_is_stdin(argument);

    input->fd = is_stdin ? STDIN_FILENO : open(argument, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (input->fd < 0 || fstat(input->fd, &info) != 0)
        return errno;
    if (!is_stdin)
        fcntl(input->fd, F_SETFL,
              0); /* blocking again: input_read waits, also for a FIFO's writer */
    input->is_regular = S_ISREG(info.st_mode);
    if (input->is_regular && (input->start = lseek(input->fd, 0, SEEK_CUR)) < 0)
        return errno;
    input->size = info.st_size;
    return 0;
}

enum status input_open(struct input **input, const char *argument, struct failure *failure)
{
    const char *name = input_name(argument);
    struct input *made = calloc(1, sizeof *made);

    if (!made)
        return input_fail(failure, name, strerror(errno));
    *made = (struct input){.name = name, .users = 1};
    int error = input_open_file(made, argument);
    if (error != 0) {
        input_release(made);
        return input_fail(failure, name, strerror(error));
    }
    *input = made;
    return STATUS_OK;
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

/* The most that an unprivileged process may set by default. Larger pipes are not faster. */
#define INPUT_PIPE_BYTES (1 << 20)

void input_widen(int fd)
{
#ifdef F_SETPIPE_SZ
    if (fcntl(fd, F_GETPIPE_SZ) < INPUT_PIPE_BYTES)
        fcntl(fd, F_SETPIPE_SZ, INPUT_PIPE_BYTES); /* may fail, which does no harm */
#else
    (void)fd;
#endif
}

/* Waits up to `milliseconds` (-1: without limit) until `fd` can be read; false if it cannot. */
static bool input_has(int fd, int wake, int milliseconds)
{
    struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = wake, .events = POLLIN}};

    while (poll(fds, 2, milliseconds) < 0) {
        if (errno != EINTR)
            return true; /* the read will report the error */
    }
    return fds[0].revents != 0 && fds[1].revents == 0;
}

enum input_event input_read(int fd, int wake, struct input_piece *piece)
{
    ssize_t n;

    piece->bytes = 0;
    /* FIONREAD could tell whether the pipe is full, but blocks while the writer is copying. */
    if (!input_has(fd, wake, 0)) {
        piece->has_waited = true;
        if (!input_has(fd, wake, piece->wait ? -1 : INPUT_PAUSE_MS))
            return INPUT_EMPTY;
    }
    do
        n = read(fd, piece->data, piece->capacity);
    while (n < 0 && errno == EINTR);
    if (n < 0) /* another process may have made the descriptor non-blocking: try again */
        return errno == EAGAIN || errno == EWOULDBLOCK ? INPUT_DATA : INPUT_ERROR;
    piece->bytes = (size_t)n;
    return n == 0 ? INPUT_END : INPUT_DATA;
}
