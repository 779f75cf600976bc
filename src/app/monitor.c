/* Watches a run: SIGUSR1, progress and results so far. */
#include "config.h"

#include "app/monitor.h"

#include <math.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* Limits each wait, so that large times do not overflow struct timespec. */
#define MONITOR_WAIT_SECONDS_MAX 3600.0

static sigset_t monitor_signal_set(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    return set;
}

void monitor_block_signal(void)
{
    sigset_t set = monitor_signal_set();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static double monitor_earlier(double a, double b)
{
    return a < b ? a : b;
}

/* Waits for `seconds` or until the signal. Returns whether another process sent the signal. */
static bool monitor_wait(double seconds)
{
    sigset_t set = monitor_signal_set();
    siginfo_t info;

    seconds = seconds < 0 ? 0 : monitor_earlier(seconds, MONITOR_WAIT_SECONDS_MAX);
    struct timespec timeout = {.tv_sec = (time_t)seconds};
    timeout.tv_nsec = (long)((seconds - (double)timeout.tv_sec) * 1e9);
    /* A signal from this process is from monitor_wake. */
    return sigtimedwait(&set, &info, &timeout) == SIGUSR1 && info.si_pid != getpid();
}

static void monitor_wake(void *context)
{
    pthread_kill(((struct monitor *)context)->thread, SIGUSR1);
}

static enum status monitor_watch(void *context, struct pipeline *pipeline, struct failure *failure)
{
    struct monitor *monitor = context;
    double every = monitor->every_seconds;
    double print_due = every > 0 ? every : INFINITY;
    enum status status = STATUS_OK;
    struct pipeline_live live;

    pipeline_look(pipeline, &live);
    while (status == STATUS_OK && !pipeline_has_ended(pipeline)) {
        bool asked = monitor_wait(monitor_earlier(print_due, monitor->progress.due) - live.seconds);
        pipeline_look(pipeline, &live);
        if (asked) {
            progress_clear(&monitor->progress);
            progress_print_so_far(&live, monitor->element_bytes);
        }
        if (live.seconds >= monitor->progress.due)
            progress_show(&monitor->progress, &live);
        if (live.seconds >= print_due && !pipeline_has_ended(pipeline)) {
            progress_clear(&monitor->progress);
            status = pipeline_checkpoint(pipeline, monitor->print, monitor->context, failure);
            pipeline_look(pipeline, &live);
            print_due = ((double)(uint64_t)(live.seconds / every) + 1) * every;
        }
    }
    pipeline_look(pipeline, &live); /* the run may have ended since the last look */
    progress_end(&monitor->progress, &live);
    return status;
}

struct pipeline_watcher monitor_watcher(struct monitor *monitor)
{
    monitor->thread = pthread_self();
    return (struct pipeline_watcher){
        .context = monitor,
        .checkpoints = monitor->every_seconds > 0,
        .watch = monitor_watch,
        .wake = monitor_wake,
    };
}
