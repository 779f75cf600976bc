/*
 * The pipeline: starts an engine's workers on threads of their own and lets each pull chunks from
 * the source until it ends. There is no dispatcher and no queue: workers that are faster pull more.
 */
#ifndef GPUHIST_PIPELINE_H
#define GPUHIST_PIPELINE_H

#include "engine.h"
#include "source.h"

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
                         struct pipeline_report *report, struct failure *failure);

#endif
