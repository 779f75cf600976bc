/*
 * The worker group of a run: all workers of all pools, and their shared data. It lets CPU workers
 * pause while a device is prepared and leave when its feeders join. Thread-safe.
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
    const struct plan *plan; /* this and the next six members do not change; not owned */
    const struct store *store;
    struct source *source;
    void **aggregate;              /* with a sliding window, checkpoints replace *aggregate */
    struct checkpoint *checkpoint; /* NULL: there are no checkpoints */
    double start;                  /* the start of the run, by clock_seconds */
    const struct pipeline_watcher *watcher;

    atomic_uint awaited_devices; /* a bit per device in preparation, for which workers pause
                                    (worker_pool.c); relaxed */
    atomic_uint feeders;         /* number of workers of pools that joined late; relaxed */

    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t changed;
    size_t at_work;  /* number of running workers and of threads that are starting workers */
    size_t paused;   /* number of workers in worker_group_pause */
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
 * worker_group_await_device makes workers pause while the device of that bit is prepared.
 * worker_group_give_up_device ends that, since the device cannot be used: paused workers continue
 * unless another device is awaited.
 */
void worker_group_await_device(struct worker_group *group, unsigned device_bit);
void worker_group_give_up_device(struct worker_group *group, unsigned device_bit);

/*
 * Waits while the devices for which this worker pauses are prepared, until one has joined. Returns
 * earlier if all workers at work pause, because then no input is left. Returns true if the worker
 * should continue, because no device can be used.
 */
bool worker_group_pause(struct worker_group *group);

#endif
