/*
 * A pool is the workers of one session of an engine: threads that pull chunks from the source and
 * accumulate them until it ends, or until they leave their cores to a device.
 *
 * A pool *joins late* if it is of a device that was prepared during the run. Its workers are
 * feeders, to which, and to the preparation, those of other pools give up cores.
 */
#ifndef GPUHIST_WORKER_POOL_H
#define GPUHIST_WORKER_POOL_H

#include "engine/engine.h"
#include "engine/worker_group.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What a pool did. pull_seconds, busy_seconds and wait_seconds are sums over its workers. */
struct worker_pool_report {
    const char *engine;
    unsigned device;
    bool has_devices; /* the engine */
    char reason[256]; /* why it was not used; empty if it was */
    unsigned workers;
    uint64_t bytes;
    double open_seconds; /* from the start of the run until its first worker was ready to pull */
    double run_seconds;  /* from then on until everything was in the aggregate */
    double end_seconds;  /* from the start of the run until its last worker pulled no more */
    double pull_seconds; /* reading input, or waiting for it */
    double busy_seconds; /* counting, or handing chunks to a device */
    double wait_seconds; /* waiting for a free buffer, that is for a device */
};

struct worker;

struct worker_pool {
    struct worker_group *group; /* the caller sets this and the next four, and they do not change */
    const struct engine *engine;
    unsigned device;
    bool joins_late;        /* a failure to begin is then no failure of the run */
    unsigned device_bit;    /* of its device, in group->awaited_devices */
    char reason[256];       /* why it is not used; empty if it is */
    atomic_bool is_open;    /* other threads may use it, and the next three are valid */
    void *session;          /* of the engine */
    unsigned count;         /* the number of workers */
    struct worker *workers; /* [count] */
    unsigned started;       /* workers that have a thread */
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
 * STATUS_DATA if a thread cannot be started; if the pool joins late, only if none can. The others
 * keep running.
 */
enum status worker_pool_start(struct worker_pool *pool, struct failure *failure);

/* What the workers of a pool have done so far. */
struct worker_pool_counts {
    uint64_t bytes;   /* pulled */
    uint64_t counted; /* of these, in chunks: all but header lines and headers of arrays */
    unsigned pulling; /* workers that have begun to pull */
};

/*
 * Returns the sums over its workers. Thread-safe. This and the functions below do nothing, and
 * return zeros, for a pool that is not open.
 */
struct worker_pool_counts worker_pool_counts(const struct worker_pool *pool);

/* As status_fail_first, with each failure of its workers, which must have left or be stopped. */
enum status worker_pool_collect(const struct worker_pool *pool, enum status status,
                                struct failure *failure);

/* Merges into the aggregate what the session and its stopped workers hold. */
enum status worker_pool_merge(struct worker_pool *pool, struct failure *failure);

/* Waits for its threads, and frees the session and the workers. Reports also why it was not open.
 */
void worker_pool_close(struct worker_pool *pool, struct worker_pool_report *report);

#endif
