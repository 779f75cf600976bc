/*
 * The pipeline: runs pools of workers (pool.h), each on an engine's session, which pull chunks from
 * the source until it ends. There is no dispatcher and no queue: workers that are faster pull more,
 * be they of one engine or of several.
 *
 * Where no engine is asked for by name, those that open quickly begin at once. Devices are made
 * ready meanwhile (startup.h), if that pays (policy.h), and their pools then share what is left of
 * the input; of the pool that was there before, as many workers leave as the newcomers need cores.
 */
#ifndef GPUHIST_PIPELINE_H
#define GPUHIST_PIPELINE_H

#include "engine/engine.h"
#include "input/source.h"
#include "pipeline/worker_pool.h"

#include <stdbool.h>

/* A run under way, as a watcher sees it. */
struct pipeline;

/*
 * What goes on beside a run, on the thread that called pipeline_run. A watcher of zeros does
 * nothing.
 */
struct pipeline_watcher {
    void *context;
    bool checkpoints; /* pipeline_checkpoint is going to be called */
    /*
     * Called when the workers run; to return when pipeline_has_ended, or with a failure, which ends
     * the run. NULL: there is nothing to do.
     */
    enum status (*watch)(void *context, struct pipeline *pipeline, struct failure *failure);
    /* Called by the last worker when the pipeline has ended, so that `watch` does not sleep on. */
    void (*wake)(void *context);
};

/* How far a run has come. */
struct pipeline_live {
    char engines[3 * ENGINE_NAME_MAX]; /* that are at work, as a list in words */
    uint64_t bytes;                    /* pulled by the workers */
    double seconds;                    /* since the start */
};

/* One pool for each device, and one for each engine that has none, is room for all. */
#define PIPELINE_WORKER_POOLS_MAX (ENGINE_DEVICES_MAX + 4)

/* What a run did; pools that were not used are there with the reason. */
struct pipeline_report {
    struct worker_pool_report pools[PIPELINE_WORKER_POOLS_MAX];
    size_t worker_pool_count;
    uint64_t bytes;
    uint64_t elements;
    double seconds; /* of all, with opening and closing the engines */
    /*
     * A thread is still getting a device ready, in a library that nobody else may shut down: the
     * process is to be left without doing so (_exit).
     */
    bool is_thread_left;
};

/* What is to be done, and by what. */
struct pipeline_task {
    const struct job *job;
    struct source *source;
    void *partial;                     /* an empty one of the job's operation */
    const struct engine *const *table; /* the engines to choose from, as `engines` */
    const char *engine;                /* the one that is asked for; NULL: all that pay */
    const unsigned *devices;           /* [device_count]: those to be used, as far as they can */
    size_t device_count;               /* 0: the first, and if NULL is asked for all that pay */
    struct engine_options options;     /* but for the device */
    const struct pipeline_watcher *watcher;
};

/*
 * Runs the whole source into the partial and finishes that. Writes the report, also after a
 * failure.
 *
 * Fails with what went wrong first, by position in the stream if several workers failed; with
 * STATUS_ENGINE if the engine asked for cannot run, or if a device has failed that chunks were lost
 * with: before all other failures, since where no engine is asked for the CPU may do it all again.
 * The partial is then worthless; of ordered results, what was released is right. Blocks until every
 * worker has ended; not thread-safe.
 */
enum status pipeline_run(const struct pipeline_task *task, struct pipeline_report *report,
                         struct failure *failure);

/* Whether every worker has ended. Thread-safe, as is pipeline_look. */
bool pipeline_has_ended(struct pipeline *pipeline);

/* How far the run is. */
void pipeline_look(const struct pipeline *pipeline, struct pipeline_live *live);

/*
 * For a watcher: merges all that was absorbed so far into the partial and settles it, calls `use`,
 * and lets the run go on; the workers stand still meanwhile. Does nothing if a worker has failed:
 * there will be no result. Fails as `use` does, or if that much of the work has failed.
 */
enum status pipeline_checkpoint(struct pipeline *pipeline,
                                enum status (*use)(void *context, struct failure *failure),
                                void *context, struct failure *failure);

#endif
