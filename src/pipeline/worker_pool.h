/*
 * A pool: the workers of one session of an engine, each on a thread of its own, which pull chunks
 * from the source until it ends. All pools of a run share the source and the partial.
 */
#ifndef GPUHIST_WORKER_POOL_H
#define GPUHIST_WORKER_POOL_H

#include "engine/engine.h"
#include "input/source.h"
#include "operations/operation.h"
#include "pipeline/checkpoint.h"

#include <stdatomic.h>
#include <stdbool.h>

/* What all pools of a run share. Const while they work, but for what it points to and the count. */
struct worker_pool_work {
    const struct job *job;
    const struct operation *operation;
    struct source *source;
    void *partial;
    struct checkpoint *checkpoint; /* NULL: there are none */
    double start;                  /* on worker_pool_clock */
    atomic_bool makes_way;         /* for a device that gets ready; relaxed */
    atomic_uint feeders;           /* workers that pull, of pools that were called in */
    /* Called by a worker of a pool that was called in before it pulls: it is a feeder then. */
    void (*join)(void *context);
    /*
     * Called by a worker that pulls no more: waits, if it makes way, for what comes of it. True: no
     * device gets ready any more, so that it had better go on.
     */
    bool (*stand_by)(void *context);
    /* Called by every worker when it is done, but for giving its memory back. */
    void (*leave)(void *context);
    void *context;
};

/* What a pool did and where its time went. Seconds of stages are sums over the workers. */
struct worker_pool_report {
    const char *engine;
    unsigned device;
    char reason[256]; /* why it was not used; empty: it was */
    unsigned workers;
    uint64_t bytes;
    double open_seconds; /* from the start of the run until its first worker was ready to pull */
    double run_seconds;  /* from then on until everything was in the partial */
    double pull_seconds; /* workers waited for input or read it */
    double busy_seconds; /* workers counted, or handed chunks to a device */
    double wait_seconds; /* workers waited for a free buffer, that is for a device */
};

struct worker_pool {
    struct worker_pool_work *work;
    const struct engine *engine;
    unsigned device;
    bool is_called_in;    /* while another one is at work, which goes on if this one cannot begin */
    char reason[256];     /* why it is not used; empty: it is */
    void *session;        /* valid once it is open, as the two that follow */
    unsigned count;       /* of workers, */
    unsigned started;     /* and how many have a thread */
    atomic_bool is_open;  /* the others may look at it */
    double merge_seconds; /* spent in worker_pool_finish */
    struct worker_pool_worker *workers; /* [count] */
};

/* Seconds on a clock that only goes forward. */
double worker_pool_clock(void);

/*
 * Opens a session and makes its workers. `work` outlives the pool; engine and device are set. Fails
 * as the engine does; the pool is then not open.
 */
enum status worker_pool_open(struct worker_pool *pool, struct worker_pool_work *work,
                             const struct engine_options *options, struct failure *failure);

/*
 * Starts the workers; for each that has no thread calls work->leave itself. Fails with STATUS_DATA
 * if one could not be started, or if it was called in, none: the others work on.
 */
enum status worker_pool_start(struct worker_pool *pool, struct failure *failure);

/* Waits until all workers' threads have ended. */
void worker_pool_join(const struct worker_pool *pool);

/* The functions that follow do nothing, and return zeros, for a pool that is not open.
 *
 * How many bytes its workers have pulled so far. Thread-safe, as is worker_pool_pulling. */
uint64_t worker_pool_bytes(const struct worker_pool *pool);

/* How many workers have begun to pull. */
unsigned worker_pool_pulling(const struct worker_pool *pool);

/*
 * Whether no worker has failed. All workers have left, or are at a checkpoint, as for the next two.
 */
bool worker_pool_is_sound(const struct worker_pool *pool);

/*
 * Keeps the failure of a worker that is to be told first (status_is_before), if there is one before
 * *failure, which is valid if `status` is not STATUS_OK. Returns the status of the one that is
 * kept.
 */
enum status worker_pool_judge(const struct worker_pool *pool, enum status status,
                              struct failure *failure);

/*
 * Merges into the partial what workers that are still open, and the session, have. Fails with the
 * failure that is to be told first.
 */
enum status worker_pool_finish(struct worker_pool *pool, struct failure *failure);

/* Writes what it did; it is joined. */
void worker_pool_describe(const struct worker_pool *pool, struct worker_pool_report *report);

/* Frees the session and the workers; it is joined. */
void worker_pool_close(struct worker_pool *pool);

#endif
