/*
 * The crew of a run: all workers, of all pools, and what they share. It lets workers of the CPU
 * pause while a device is prepared and leave when its feeders join. Thread-safe.
 */
#ifndef GPUHIST_CREW_H
#define GPUHIST_CREW_H

#include "exec/checkpoint.h"
#include "input/source.h"
#include "partial/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct crew {
    const struct job *job; /* this and the next six do not change */
    const struct store *store;
    struct source *source;
    void **partial;                /* which checkpoints replace, with a window of time */
    struct checkpoint *checkpoint; /* NULL: there are no checkpoints */
    double start;                  /* clock_seconds */
    const struct pipeline_watcher *watcher;

    atomic_uint awaited_devices; /* a bit for each device that is prepared, for which workers
                                    pause (worker_pool.c); relaxed */
    atomic_uint feeders;         /* workers that pull, of pools that have joined late; relaxed */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    size_t at_work;  /* workers that have not ended, and threads that are starting workers */
    size_t paused;   /* workers in crew_pause */
    bool all_paused; /* all workers at work were paused at once; then all of them leave */
    bool ended;      /* no thread is at work, and none will be */
};

/* Adds to the number at work. Returns false, and adds nothing, if the run has ended. */
bool crew_add(struct crew *crew, size_t workers);

/* Subtracts one from the number at work. The last one wakes the watcher. */
void crew_leave(struct crew *crew);

/* Adds a feeder. Wakes paused workers, which merge what they have and leave. */
void crew_add_feeder(struct crew *crew);

/*
 * Workers pause while the device of that bit is prepared; and do so no more, since it cannot be
 * used: paused workers continue unless another device is awaited.
 */
void crew_await_device(struct crew *crew, unsigned device_bit);
void crew_give_up_device(struct crew *crew, unsigned device_bit);

/*
 * Waits while the devices for which this worker pauses are prepared, until one has joined. Returns
 * earlier if all workers at work pause, since then no input is left. Returns true if the worker
 * should continue, because no device can be used.
 */
bool crew_pause(struct crew *crew);

#endif
