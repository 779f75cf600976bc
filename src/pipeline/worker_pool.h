/*
 * Worker pools. A pool is the workers of one session of an engine, each on a thread of its own,
 * which pull chunks from the source until it ends. All pools of a run share the source and the
 * partial.
 *
 * A pool *joins late* if it is of a device that was prepared during the run. Its workers are
 * feeders. The workers of other pools give up cores to it, and before that to the device's
 * preparation.
 */
#ifndef GPUHIST_WORKER_POOL_H
#define GPUHIST_WORKER_POOL_H

#include "engine/engine.h"
#include "input/source.h"
#include "partial/operation.h"
#include "pipeline/checkpoint.h"

#include <stdatomic.h>
#include <stdbool.h>

/*
 * What all pools of a run share. While they work, only the atomic members and what the pointers
 * point to change.
 */
struct worker_pool_work {
    const struct job *job;
    const struct operation *operation;
    struct source *source;
    void *partial;
    struct checkpoint *checkpoint; /* NULL: there are no checkpoints */
    double start;                  /* on worker_pool_clock */
    atomic_bool awaits_device;     /* a device is prepared, for which workers pause; relaxed */
    atomic_uint feeders;           /* workers that pull, of pools that have joined late */
    /* Called by each worker of a pool that joins late, before it pulls: adds to `feeders`. */
    void (*join)(void *context);
    /*
     * Called by a surplus worker: waits while a device is prepared. Returns true if the worker
     * should continue, because the device cannot be used.
     */
    bool (*pause)(void *context);
    /* Called by each worker at its end, before it frees its memory. */
    void (*leave)(void *context);
    void *context;
};

/* What a pool did. pull_seconds, busy_seconds and wait_seconds are sums over its workers. */
struct worker_pool_report {
    const char *engine;
    unsigned device;
    char reason[256]; /* why it was not used; empty if it was */
    unsigned workers;
    uint64_t bytes;
    double open_seconds; /* from the start of the run until its first worker was ready to pull */
    double run_seconds;  /* from then on until everything was in the partial */
    double pull_seconds; /* reading input, or waiting for it */
    double busy_seconds; /* counting, or handing chunks to a device */
    double wait_seconds; /* waiting for a free buffer, that is for a device */
};

struct worker_pool {
    struct worker_pool_work *work;
    const struct engine *engine;
    unsigned device;
    bool joins_late;                    /* a failure to begin is then no failure of the run */
    char reason[256];                   /* why it is not used; empty if it is */
    void *session;                      /* this and the next two are valid once it is open */
    unsigned count;                     /* the number of workers */
    unsigned started;                   /* how many of them have a thread */
    atomic_bool is_open;                /* other threads may use it */
    double merge_seconds;               /* spent in worker_pool_finish */
    struct worker_pool_worker *workers; /* [count] */
};

/* Returns the time in seconds on a monotonic clock. Thread-safe. */
double worker_pool_clock(void);

/*
 * Opens a session and makes its workers. `work` must outlive the pool, whose engine and device must
 * be set. Fails as the engine does; then the pool is not open. The caller closes it with
 * worker_pool_close.
 */
enum status worker_pool_open(struct worker_pool *pool, struct worker_pool_work *work,
                             const struct engine_options *options, struct failure *failure);

/*
 * Starts the threads of the workers, and calls work->leave for each worker without one. Fails with
 * STATUS_DATA if a thread cannot be started; if the pool joins late, only if none can. The others
 * keep running.
 */
enum status worker_pool_start(struct worker_pool *pool, struct failure *failure);

/*
 * Waits until all threads of the workers have ended. This and the functions below do nothing, and
 * return zeros, for a pool that is not open.
 */
void worker_pool_wait(const struct worker_pool *pool);

/* Returns the bytes that its workers have pulled so far. Thread-safe, as is worker_pool_pulling. */
uint64_t worker_pool_bytes(const struct worker_pool *pool);

/* Adds what its workers have counted. All threads must have ended (worker_pool_wait). */
void worker_pool_add_counted(const struct worker_pool *pool, struct stream_total *counted);

/* Returns the number of workers that have begun to pull. */
unsigned worker_pool_pulling(const struct worker_pool *pool);

/*
 * Returns whether no worker has failed. For this and the next two functions all workers must have
 * left or be stopped at a checkpoint.
 */
bool worker_pool_is_sound(const struct worker_pool *pool);

/*
 * Chooses the failure to report (status_is_before) among *failure, which is valid if `status` is
 * not STATUS_OK, and those of the workers. Stores it in *failure and returns its status.
 */
enum status worker_pool_keep_failure(const struct worker_pool *pool, enum status status,
                                     struct failure *failure);

/*
 * Merges into the partial what the session and its open workers hold. If several workers fail,
 * stores the failure to report.
 */
enum status worker_pool_finish(struct worker_pool *pool, struct failure *failure);

/* Fills in the report. All threads must have ended (worker_pool_wait). */
void worker_pool_describe(const struct worker_pool *pool, struct worker_pool_report *report);

/* Frees the session and the workers. All threads must have ended. */
void worker_pool_close(struct worker_pool *pool);

#endif
