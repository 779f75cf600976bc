/*
 * What goes on beside a run, on the thread that waits for it: the progress line, the statistics
 * that SIGUSR1 asks for, and results so far (--every).
 *
 * SIGUSR1 is blocked in all threads, so that it interrupts nothing, and taken by this thread alone,
 * which the last worker wakes by the same signal. Not thread-safe.
 */
#ifndef GPUHIST_MONITOR_H
#define GPUHIST_MONITOR_H

#include "app/progress.h"
#include "pipeline/pipeline.h"

#include <pthread.h>

struct monitor {
    struct progress progress;
    size_t element_bytes; /* of binary input; else 0 */
    double every_seconds; /* between two results so far; 0: there are none */
    /* Prints the result so far from the partial, which is settled. */
    enum status (*print)(void *context, struct failure *failure);
    void *context; /* of `print` */
    pthread_t thread;
};

/* Blocks SIGUSR1: to be called before any thread is started, and as soon as can be. */
void monitor_block_signal(void);

/* The watcher that does what the monitor says, for a run by the calling thread. */
struct pipeline_watcher monitor_watcher(struct monitor *monitor);

#endif
