/*
 * The pipeline runs pools of workers (worker_pool.h). Each pool works on a session of an engine,
 * and its workers pull chunks from the source until it ends. There is no dispatcher and no queue:
 * faster workers pull more chunks, whatever their engine.
 *
 * If the user names no engine, engines that open quickly begin at once. Meanwhile devices are
 * prepared if that pays (offload_policy.h). Their pools then join and share the
 * rest of the input. As many workers of the first pool leave as the new workers need cores.
 */
#ifndef GPUHIST_PIPELINE_H
#define GPUHIST_PIPELINE_H

#include "engine/engine.h"
#include "engine/worker_pool.h"
#include "input/source.h"

#include <stdbool.h>

/* A run in progress. */
struct pipeline;

/*
 * Functions called during a run. `watch` runs on the thread that called pipeline_run. A
 * zero-initialised watcher does nothing.
 */
struct pipeline_watcher {
    void *context;
    bool checkpoints; /* `watch` may call pipeline_checkpoint */
    /*
     * Called once the workers run. Must return when the pipeline has ended; a failure ends the run.
     * NULL: nothing is called.
     */
    enum status (*watch)(void *context, struct pipeline *pipeline, struct failure *failure);
    /* Called by the last worker when the pipeline has ended, to wake `watch`. May be NULL. */
    void (*wake)(void *context);
};

/* The progress of a run. */
struct pipeline_live {
    uint64_t bytes;      /* pulled by the workers, decoded */
    uint64_t counted;    /* of these, what is in chunks */
    uint64_t file_bytes; /* of compressed files, what was read of them as they are; else as above */
    bool is_compressed;  /* file_bytes are those of files of which some are compressed */
    double seconds;      /* since the start */
    bool has_ended;      /* every worker has */
};

/* Room for a pool for each device, and for each engine without devices. */
#define PIPELINE_WORKER_POOLS_MAX (ENGINE_DEVICES_MAX + 4)

/* What a run did. Pools that were not used are included, with the reason. */
struct pipeline_report {
    struct worker_pool_report pools[PIPELINE_WORKER_POOLS_MAX];
    size_t worker_pool_count;
    uint64_t bytes;
    uint64_t elements;
    double seconds;       /* of the run, including opening and closing the engines */
    double after_seconds; /* of these, after the last worker has found that no input is left */
    double leave_seconds; /* of after_seconds: until all workers had counted what they had, */
    double merge_seconds; /* merging what the engines' sessions held, */
    double finalize_seconds;
    /*
     * A thread is still preparing a device, in a library that must not be shut down meanwhile: the
     * process must end with _exit.
     */
    bool is_thread_left;
};

/* The input of pipeline_run: what to compute, and with which engines. */
struct pipeline_task {
    const struct plan *plan;
    struct source *source;
    void **aggregate;                  /* to an empty one of the plan's operation, owned by the
                                        caller; with a window of time, checkpoints replace it */
    const struct engine *const *table; /* the engines to choose from, as `engines` */
    const char *engine;                /* the name of the only one to use; NULL: all that pay */
    const unsigned *devices;           /* [device_count]: the devices to use */
    size_t device_count;               /* 0: the first one; or if `engine` is NULL, all that pay */
    struct engine_options options;     /* except the device */
    const struct pipeline_watcher *watcher;
};

/*
 * Accumulates the whole source into the aggregate and finalizes it. Fills in the report, also after
 * a failure. Blocks until all workers have ended. Not thread-safe on one task.
 *
 * If several workers fail, the failure that is first in the stream is returned. STATUS_ENGINE means
 * that the engine asked for cannot run, or that a device has failed and chunks are lost. It
 * precedes all other failures: if no engine is asked for, the caller can run everything again on
 * the CPU. After a failure the aggregate may only be destroyed; what an ordered operation has
 * written is correct.
 */
enum status pipeline_run(const struct pipeline_task *task, struct pipeline_report *report,
                         struct failure *failure);

/* Returns the progress of the run. Thread-safe, as is the next one. */
struct pipeline_live pipeline_look(struct pipeline *pipeline);

/* Writes the names of the engines at work, joined by " and ". */
#define PIPELINE_ENGINES_SIZE (3 * ENGINE_NAME_MAX)
void pipeline_write_engines(const struct pipeline *pipeline, char engines[PIPELINE_ENGINES_SIZE]);

/*
 * For a watcher: stops the workers, merges all that was accumulated so far into the aggregate,
 * finalizes it, calls `use`, and lets the workers continue. With a window of time (--window), the
 * aggregate is then that of the window, and the workers continue with an empty one. Does nothing if
 * a worker has failed, since there will be no result. Fails as `use` does, or if merging or
 * finalizing fails.
 */
enum status pipeline_checkpoint(struct pipeline *pipeline,
                                enum status (*use)(void *context, struct failure *failure),
                                void *context, struct failure *failure);

#endif
