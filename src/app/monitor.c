/* Watches a run: SIGUSR1, progress and results so far. */
#include "config.h"

#include "app/monitor.h"

#include "output/temporary.h"

#include <math.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* Limits each wait, so that large times do not overflow struct timespec. */
#define MONITOR_WAIT_SECONDS_MAX 3600.0

/* When the end was asked for while a result was printed: how soon the last one is. */
#define MONITOR_ENDING_SECONDS 0.001

/* The signal that asked for the end; 0: none. */
static volatile sig_atomic_t monitor_ending;

static void monitor_handle(int number)
{
    if (monitor_ending != 0)
        temporary_end(number);
    monitor_ending = number;
}

/* Handles and blocks the signals that end the process, unless they are ignored. */
static void monitor_take_signals(struct monitor *monitor)
{
    static const int ends[] = {SIGINT, SIGTERM};
    const struct sigaction handle = {.sa_handler = monitor_handle};
    struct sigaction now;

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (sigaction(ends[i], NULL, &now) == 0 &&
            (now.sa_handler == SIG_DFL || now.sa_handler == monitor_handle)) {
            sigaction(ends[i], &handle, NULL);
            sigaddset(&monitor->handled, ends[i]);
        }
    }
    pthread_sigmask(SIG_BLOCK, &monitor->handled, NULL);
}

void monitor_release_signals(const struct monitor *monitor)
{
    pthread_sigmask(SIG_UNBLOCK, &monitor->handled, NULL);
}

void monitor_end_process(void)
{
    if (monitor_ending != 0)
        temporary_end(monitor_ending);
}

static void monitor_wake(void *context)
{
    pthread_kill(((struct monitor *)context)->thread, SIGUSR1);
}

static enum status monitor_use(void *context, struct failure *failure)
{
    struct monitor *monitor = context;

    monitor->has_printed_last = monitor->is_last;
    return monitor->print(monitor->context, monitor->is_last, failure);
}

/* Prints the result so far. If the end is asked for, it is the last one: ends the process. */
static enum status monitor_print(struct monitor *monitor, struct pipeline *pipeline,
                                 struct failure *failure)
{
    progress_clear(&monitor->progress);
    monitor_release_signals(monitor);
    monitor->is_last = monitor_ending != 0;
    enum status status = pipeline_checkpoint(pipeline, monitor_use, monitor, failure);
    if (status == STATUS_OK && monitor->has_printed_last)
        monitor_end_process();
    monitor_take_signals(monitor);
    return status;
}

static enum status monitor_watch(void *context, struct pipeline *pipeline, struct failure *failure)
{
    struct monitor *monitor = context;
    double every = monitor->every_seconds;
    double print_due = every > 0 ? every : INFINITY;
    enum status status = STATUS_OK;
    sigset_t awaited = monitor->handled;
    siginfo_t info;

    sigaddset(&awaited, SIGUSR1);
    struct pipeline_live live = pipeline_look(pipeline);
    while (status == STATUS_OK && !live.has_ended) {
        const double due = print_due < monitor->progress.due ? print_due : monitor->progress.due;
        double wait = monitor_ending != 0 ? MONITOR_ENDING_SECONDS : due - live.seconds;
        wait = wait < 0 ? 0 : wait > MONITOR_WAIT_SECONDS_MAX ? MONITOR_WAIT_SECONDS_MAX : wait;
        struct timespec timeout = {.tv_sec = (time_t)wait};
        timeout.tv_nsec = (long)((wait - (double)timeout.tv_sec) * 1e9);
        const int number = sigtimedwait(&awaited, &info, &timeout);
        if (number > 0 && number != SIGUSR1)
            monitor_ending = number;
        const bool asked = number == SIGUSR1 && info.si_pid != getpid(); /* not monitor_wake */
        live = pipeline_look(pipeline);
        if (asked) {
            progress_clear(&monitor->progress);
            progress_print_so_far(pipeline, &live, monitor->element_bytes);
        }
        if (live.seconds >= monitor->progress.due)
            progress_show(&monitor->progress, &live);
        bool is_due = live.seconds >= print_due || monitor_ending != 0;
        if (is_due && every > 0 && !live.has_ended) {
            status = monitor_print(monitor, pipeline, failure);
            live = pipeline_look(pipeline);
            print_due = ((double)(uint64_t)(live.seconds / every) + 1) * every;
        }
    }
    if (monitor->progress.is_of_lines) /* the last line says what was read in all */
        progress_show(&monitor->progress, &live);
    progress_clear(&monitor->progress);
    if (status == STATUS_OK)
        progress_begin_stage(&monitor->progress, monitor->stage);
    return status;
}

struct pipeline_watcher monitor_watcher(struct monitor *monitor)
{
    monitor->thread = pthread_self();
    sigemptyset(&monitor->handled);
    if (monitor->every_seconds > 0)
        monitor_take_signals(monitor);
    return (struct pipeline_watcher){
        .context = monitor,
        .checkpoints = monitor->every_seconds > 0,
        .watch = monitor_watch,
        .wake = monitor_wake,
    };
}
