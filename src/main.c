/* gpuhist: count the integers of a stream, on every core and the GPU. */
#include "config.h"

#include "cli/options.h"
#include "cli/run.h"
#include "lib/parallel.h"
#include "lib/resources.h"
#include "lib/status.h"

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAIN_STACK_BYTES ((rlim_t)1 << 20)

/* The program, for one of its threads. */
struct main_run {
    int argc;
    char **argv;
    sigset_t signals; /* the signal mask before main blocked all, because of a small stack */
    enum status status;
    bool is_thread_left; /* stored by run_options */
};

static void *main_run(void *argument)
{
    struct main_run *self = argument;
    struct failure failure;
    struct options options;

    enum status status = options_parse(&options, self->argc, self->argv, false, NULL, &failure);
    if (status == STATUS_OK)
        status = run_options(&options, &self->is_thread_left, &failure);
    if (status == STATUS_USAGE) {
        /* One piece of advice is enough. */
        if (strstr(failure.message, "(try "))
            status_print("%s", failure.message);
        else
            status_print("%s (try gpuhist %s --help)", failure.message,
                         options_help_word(&options));
    } else if (status != STATUS_OK) {
        status_print("%s", failure.message);
    } else if (ferror(stderr)) { /* false if it was closed from the start */
        const int flags = fcntl(STDERR_FILENO, F_GETFL);
        if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY)
            status = STATUS_DATA;
    }
    options_destroy(&options);
    self->status = status;
    return NULL;
}

/* Like main_run, on a thread that has begun with all signals blocked. */
static void *main_run_unblocked(void *argument)
{
    pthread_sigmask(SIG_SETMASK, &((struct main_run *)argument)->signals, NULL);
    return main_run(argument);
}

int main(int argc, char **argv)
{
    struct main_run run = {.argc = argc, .argv = argv};
    struct rlimit limit;
    pthread_t thread;
    sigset_t all;

    /*
     * Descriptors 0, 1 and 2 must be taken, or the first files opened would become standard output.
     * A closed one gets /dev/null in the direction that it is not used in, so that using it fails.
     */
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    }
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the file size limit is an error like any other */
#ifdef M_ARENA_MAX
    /* Each further arena of the allocator would take 64 MiB of the limit of `ulimit -v`. */
    if (resources_limit_mapped())
        mallopt(M_ARENA_MAX, 1);
#endif
    /*
     * With a small stack (ulimit -s) the program runs on a thread that receives all signals: this
     * thread blocks them before the other begins.
     */
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < MAIN_STACK_BYTES) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &run.signals);
        if (parallel_start_thread(&thread, main_run_unblocked, &run) == 0)
            pthread_join(thread, NULL);
        else
            main_run_unblocked(&run);
    } else {
        main_run(&run);
    }
    run_end_process();
    if (run.is_thread_left) /* all is written; destructors must not run in a library in use */
        _exit((int)run.status);
    return (int)run.status;
}
