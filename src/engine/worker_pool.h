/*
 * A worker pool is the set of threads of one engine session. They pull chunks from the source and
 * accumulate them until the input ends, or until they leave their cores to a device.
 *
 * A pool *joins late* if its device was prepared during the run. Its workers are called feeders.
 * Workers of other pools give up cores to the preparation and to the feeders.
 */
#ifndef GPUHIST_WORKER_POOL_H
#define GPUHIST_WORKER_POOL_H

#include "engine/engine.h"
#include "engine/worker_group.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Statistics of a pool. pull_seconds, busy_seconds and wait_seconds are sums over its workers. */
struct worker_pool_report {
    const char *engine;
    unsigned device;
    bool has_devices; /* the engine has devices */
    char reason[256]; /* why the pool was not used; empty if it was */
    unsigned workers;
    uint64_t bytes;
    double open_seconds; /* from the start of the run until the first worker could pull */
    double run_seconds;  /* from then until all results were in the aggregate */
    double end_seconds;  /* from the start of the run until the last worker stopped pulling */
    double pull_seconds; /* spent reading input, or waiting for it */
    double busy_seconds; /* spent counting, or handing chunks to a device */
    double wait_seconds; /* spent waiting for a free buffer, that is for a device */
};

struct worker;

struct worker_pool {
    struct worker_group *group; /* the caller sets this and the next four members once; not owned */
    const struct engine *engine;
    unsigned device;
    bool joins_late;        /* the run continues if the pool fails to begin */
    unsigned device_bit;    /* the bit of its device in group->awaited_devices */
    char reason[256];       /* why the pool is not used; empty if it is */
    atomic_bool is_open;    /* other threads may use the pool; the next three members are valid */
    void *session;          /* the engine's session; owned */
    unsigned count;         /* number of workers */
    struct worker *workers; /* [count], owned */
    unsigned started;       /* number of workers with a thread */
    double merge_seconds;   /* spent in worker_pool_merge */
};

/*
 * Opens a session and creates its workers. The worker group must outlive the pool. Fails as the
 * engine does; then the pool is not open. The caller closes it with worker_pool_close.
 */
enum status worker_pool_open(struct worker_pool *pool, const struct engine_options *options,
                             struct failure *failure);

/*
 * Starts the threads of the workers; each worker without one leaves the group. Fails with
 * STATUS_DATA if a thread cannot be started, or for a pool that joins late, if none can. Started
 * threads keep running.
 */
enum status worker_pool_start(struct worker_pool *pool, struct failure *failure);

/* Sums over the workers of a pool so far. */
struct worker_pool_counts {
    uint64_t bytes;   /* bytes pulled */
    uint64_t counted; /* bytes pulled that are in chunks: without header lines and array headers */
    unsigned pulling; /* number of workers that have begun to pull */
};

/*
 * Returns the sums over its workers. Thread-safe. This and the functions below do nothing, and
 * return zeros, for a pool that is not open.
 */
struct worker_pool_counts worker_pool_counts(const struct worker_pool *pool);

/* Like status_fail_first, for the failures of all workers, which must have left or be stopped. */
enum status worker_pool_collect(const struct worker_pool *pool, enum status status,
                                struct failure *failure);

/* Merges the results of the session and of its stopped workers into the aggregate. */
enum status worker_pool_merge(struct worker_pool *pool, struct failure *failure);

/* Waits for its threads, frees the session and the workers, and fills in the report, also for a
 * pool that was not open. */
void worker_pool_close(struct worker_pool *pool, struct worker_pool_report *report);

#endif
