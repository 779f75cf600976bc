/*
 * The pipeline: starts an engine's workers on threads of their own and lets each pull chunks from
 * the source until it ends. There is no dispatcher and no queue: workers that are faster pull more.
 */
#ifndef GPUHIST_PIPELINE_H
#define GPUHIST_PIPELINE_H

#include "engine.h"
#include "source.h"

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
    const char *engine;
    uint64_t bytes; /* pulled by the workers */
    double seconds; /* since the start */
};

/* What a run did and where its time went. Seconds of stages are sums over the workers. */
struct pipeline_report {
    const char *engine;
    unsigned workers;
    uint64_t bytes;
    uint64_t elements;
    double seconds;      /* of all, with opening and closing the engine */
    double open_seconds; /* from the start until the first worker was ready to pull */
    double run_seconds;  /* from then on until everything was in the partial */
    double pull_seconds; /* workers waited for input or read it */
    double busy_seconds; /* workers counted, or handed chunks to a device */
    double wait_seconds; /* workers waited for a free buffer, that is for a device */
};

/*
 * Runs the whole source through an engine into `partial`, an empty one of the job's operation, and
 * finishes the partial. The engine is the one named, or for NULL the first of the table that can
 * run here; `why` (may be NULL) then takes a line about each that could not.
 *
 * Fails with what went wrong first, by position in the stream if several workers failed; with
 * STATUS_ENGINE if the engine asked for cannot run. The partial is then worthless. Blocks until
 * every worker has ended; not thread-safe.
 */
enum status pipeline_run(const struct job *job, struct source *source, const char *engine,
                         const struct engine_options *options, void *partial,
                         void (*why)(const char *engine, const char *reason),
                         const struct pipeline_watcher *watcher, struct pipeline_report *report,
                         struct failure *failure);

/* Whether every worker has ended. Thread-safe, as is pipeline_look. */
bool pipeline_has_ended(const struct pipeline *pipeline);

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
