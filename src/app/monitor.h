/*
 * Runs during a run on the thread that called pipeline_run: shows progress, answers SIGUSR1 with
 * statistics, and prints results so far (--every), also a last one on SIGINT and SIGTERM.
 *
 * SIGUSR1 is blocked in all threads, so that it interrupts no system call. Only this thread
 * receives it, with sigtimedwait. The last worker sends the same signal to wake it. With --every,
 * so are SIGINT and SIGTERM, unless they were ignored, but not while a result is printed: a reader
 * may keep that waiting. The second of these signals ends the process at once. Not thread-safe.
 */
#ifndef GPUHIST_MONITOR_H
#define GPUHIST_MONITOR_H

#include "app/progress.h"
#include "exec/pipeline.h"

#include <pthread.h>
#include <signal.h>

struct monitor {
    struct progress progress;
    const struct stage *stage; /* that follows on the reading */
    size_t element_bytes;      /* bytes of a binary element or record; 0: text */
    double every_seconds;      /* interval between results so far; 0: none */
    /* Prints the result so far from the finalized partial; is_last: the process ends next. */
    enum status (*print)(void *context, bool is_last, struct failure *failure);
    void *context; /* for print */
    pthread_t thread;
    bool is_last; /* the next result */
    bool has_printed_last;
    sigset_t handled; /* the signals that end the process, with --every */
};

/*
 * Returns the watcher that runs `monitor` for a run on the calling thread, which has blocked
 * SIGUSR1, before any thread of the run is started. The caller owns the monitor, which must outlive
 * the run, and calls monitor_release_signals after it.
 */
struct pipeline_watcher monitor_watcher(struct monitor *monitor);
void monitor_release_signals(const struct monitor *monitor);

/* At the end of the process: dies of the signal that asked for it during a run, if one did. */
void monitor_end_process(void);

#endif
