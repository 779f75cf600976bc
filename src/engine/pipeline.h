/*
 * The pipeline runs pools of workers (worker_pool.h). Each pool works on a session of an engine,
 * and its workers pull chunks from the source until it ends. There is no dispatcher and no queue:
 * faster workers pull more chunks, whatever their engine.
 *
 * If the user names no engine, engines that open quickly begin at once. Meanwhile devices are
 * prepared if the run gains from it (offload_policy.h). Their pools then join and share the rest of
 * the input. As many workers of the first pool leave as the new workers need cores.
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
    uint64_t bytes;      /* decoded bytes that the workers have pulled */
    uint64_t counted;    /* the part of `bytes` that is in chunks */
    uint64_t file_bytes; /* if is_compressed: bytes read from the files; else as `bytes` */
    bool is_compressed;  /* the input is files, and some are compressed */
    double seconds;      /* seconds since the start */
    bool has_ended;      /* all workers have ended */
};

/* Maximum number of pools: one per device, and one per engine without devices. */
#define PIPELINE_WORKER_POOLS_MAX (ENGINE_DEVICES_MAX + 4)

/* Statistics of a run. They include unused pools, with the reason. */
struct pipeline_report {
    struct worker_pool_report pools[PIPELINE_WORKER_POOLS_MAX];
    size_t worker_pool_count;
    uint64_t bytes;
    uint64_t elements;
    double seconds;          /* duration of the run, with opening and closing the engines */
    double after_seconds;    /* part of `seconds` after the last worker found the input's end */
    double leave_seconds;    /* part of after_seconds until all workers had counted their chunks */
    double merge_seconds;    /* part of after_seconds for merging the engines' sessions */
    double finalize_seconds; /* part of after_seconds for finalizing the aggregate */
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
    void **aggregate; /* *aggregate is empty and of the plan's operation; the caller
                         owns it; with a sliding window, checkpoints replace it */
    const struct engine *const *table; /* the engines to choose from, like `engines` */
    const char *engine;                /* the only engine to use; NULL: all that are worth it */
    const unsigned *devices;           /* [device_count]: the devices to use */
    size_t device_count; /* 0: the first device; or if `engine` is NULL, all that are worth it */
    struct engine_options options; /* except the device */
    const struct pipeline_watcher *watcher;
};

/*
 * Accumulates the whole source into the aggregate and finalizes it. Fills in the report, also after
 * a failure. Blocks until all workers have ended. Not thread-safe on one task.
 *
 * If several workers fail, the failure that is first in the stream is returned. STATUS_ENGINE means
 * that the requested engine cannot run, or that a device has failed and chunks are lost. It
 * precedes all other failures: if no engine is requested, the caller can run everything again on
 * the CPU. After a failure the aggregate may only be destroyed; the output that an ordered
 * operation has written is correct.
 */
enum status pipeline_run(const struct pipeline_task *task, struct pipeline_report *report,
                         struct failure *failure);

/* Returns the progress of the run. Thread-safe, like pipeline_write_engines. */
struct pipeline_live pipeline_look(struct pipeline *pipeline);

/* Writes the names of the engines at work, joined by " and ". */
#define PIPELINE_ENGINES_SIZE (3 * ENGINE_NAME_MAX)
void pipeline_write_engines(const struct pipeline *pipeline, char engines[PIPELINE_ENGINES_SIZE]);

/*
 * For a watcher: stops the workers, merges their results so far into the aggregate, finalizes it,
 * calls `use`, and lets the workers continue. With a sliding window (--window), `use` gets the
 * window's aggregate, and the workers continue with an empty one. Does nothing if a worker has
 * failed, since there will be no result. Fails if `use`, merging or finalizing fails.
 */
enum status pipeline_checkpoint(struct pipeline *pipeline,
                                enum status (*use)(void *context, struct failure *failure),
                                void *context, struct failure *failure);

#endif
