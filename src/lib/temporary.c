/* Implements temporary.h: a handler of the signals that end the program removes the names. */
#include "config.h"

#include "lib/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * The data of the signal handler. A thread that uses the names holds the lock and blocks signals,
 * so that a handler can only wait for another thread. A handler keeps the lock, because it ends the
 * process.
 */
static atomic_flag temporary_lock = ATOMIC_FLAG_INIT;
static const char *temporary_names[TEMPORARY_NAMES]; /* NULL: none */

static void temporary_take_lock(void)
{
    while (atomic_flag_test_and_set(&temporary_lock))
        poll(NULL, 0, 1);
}

/* Also the handler of each signal that ends the process. */
void temporary_end(int number)
{
    sigset_t set;

    temporary_take_lock();
    for (size_t i = 0; i < TEMPORARY_NAMES; i++) {
        if (temporary_names[i])
            unlink(temporary_names[i]);
    }
    signal(number, SIG_DFL);
    raise(number);
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Handles every signal that ends the process, or leaves them all to the system again. */
static void temporary_handle_signals(bool handles)
{
    struct sigaction end = {.sa_handler = handles ? temporary_end : SIG_DFL};

    sigfillset(&end.sa_mask);
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction now;
        if (number == SIGCHLD || number == SIGCONT || number == SIGTSTP || number == SIGTTIN ||
            number == SIGTTOU || number == SIGURG || number == SIGWINCH)
            continue; /* the signal does not end the process */
        if (sigaction(number, NULL, &now) != 0)
            continue;
        if (now.sa_handler == (handles ? SIG_DFL : temporary_end))
            sigaction(number, &end, NULL); /* fails for SIGKILL and SIGSTOP */
    }
}

/* Begins to use the names; *before receives the signals that the thread blocks. */
static void temporary_begin(sigset_t *before)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, before);
    temporary_take_lock();
    temporary_handle_signals(true);
}

/* Replaces `old` by `name`, either of which may be NULL. */
static void temporary_set(const char *old, const char *name)
{
    size_t i = 0;

    while (temporary_names[i] != old)
        i++;
    temporary_names[i] = name;
}

static void temporary_finish(const sigset_t *before)
{
    bool has_names = false;
    int error = errno;

    for (size_t i = 0; i < TEMPORARY_NAMES; i++)
        has_names = has_names || temporary_names[i];
    if (!has_names)
        temporary_handle_signals(false);
    atomic_flag_clear(&temporary_lock);
    pthread_sigmask(SIG_SETMASK, before, NULL);
    errno = error;
}

int temporary_create(char *name)
{
    sigset_t before;

    temporary_begin(&before);
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        temporary_set(NULL, name);
    temporary_finish(&before);
    return fd;
}

int temporary_open_nameless(const char *directory)
{
    char name[PATH_MAX];
    sigset_t before;

    if (snprintf(name, sizeof name, "%s/gpuhist.XXXXXX", directory) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    temporary_begin(&before);
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    temporary_finish(&before);
    return fd;
}

void temporary_write_descriptor(char path[TEMPORARY_DESCRIPTOR_SIZE], int fd)
{
    snprintf(path, TEMPORARY_DESCRIPTOR_SIZE, "/proc/self/fd/%d", fd);
}

bool temporary_link(int fd, const char *name)
{
    char descriptor[TEMPORARY_DESCRIPTOR_SIZE];
    sigset_t before;

    temporary_write_descriptor(descriptor, fd);
    temporary_begin(&before);
    bool is_done = linkat(AT_FDCWD, descriptor, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    if (is_done)
        temporary_set(NULL, name);
    temporary_finish(&before);
    return is_done;
}

size_t temporary_rename(const char *const *names, const char *const *targets, size_t count)
{
    sigset_t before;
    size_t done = 0;

    temporary_begin(&before);
    for (; done < count && (!names[done] || rename(names[done], targets[done]) == 0); done++) {
        if (names[done])
            temporary_set(names[done], NULL);
    }
    temporary_finish(&before);
    return done;
}

void temporary_remove(const char *name)
{
    sigset_t before;

    temporary_begin(&before);
    unlink(name);
    temporary_set(name, NULL);
    temporary_finish(&before);
}
