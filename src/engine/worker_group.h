/*
 * The worker group of a run: all workers, of all pools, and what they share. It lets workers of the
 * CPU pause while a device is prepared and leave when its feeders join. Thread-safe.
 */
#ifndef GPUHIST_WORKER_GROUP_H
#define GPUHIST_WORKER_GROUP_H

#include "aggregate/store.h"
#include "engine/checkpoint.h"
#include "input/source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct worker_group {
    const struct plan *plan; /* this and the next six do not change */
    const struct store *store;
    struct source *source;
    void **aggregate;              /* which checkpoints replace, with a window of time */
    struct checkpoint *checkpoint; /* NULL: there are no checkpoints */
    double start;                  /* clock_seconds */
    const struct pipeline_watcher *watcher;

    atomic_uint awaited_devices; /* a bit for each device that is prepared, for which workers
                                    pause (worker_pool.c); relaxed */
    atomic_uint feeders;         /* workers that pull, of pools that have joined late; relaxed */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    size_t at_work;  /* workers that have not ended, and threads that are starting workers */
    size_t paused;   /* workers in worker_group_pause */
    bool all_paused; /* all workers at work were paused at once; then all of them leave */
    bool ended;      /* no thread is at work, and none will be */
};

/* Adds to the number at work. Returns false, and adds nothing, if the run has ended. */
bool worker_group_add(struct worker_group *group, size_t workers);

/* Subtracts one from the number at work. The last one wakes the watcher. */
void worker_group_leave(struct worker_group *group);

/* Adds a feeder. Wakes paused workers, which merge what they have and leave. */
void worker_group_add_feeder(struct worker_group *group);

/*
 * Workers pause while the device of that bit is prepared; and do so no more, since it cannot be
 * used: paused workers continue unless another device is awaited.
 */
void worker_group_await_device(struct worker_group *group, unsigned device_bit);
void worker_group_give_up_device(struct worker_group *group, unsigned device_bit);

/*
 * Waits while the devices for which this worker pauses are prepared, until one has joined. Returns
 * earlier if all workers at work pause, since then no input is left. Returns true if the worker
 * should continue, because no device can be used.
 */
bool worker_group_pause(struct worker_group *group);

#endif
