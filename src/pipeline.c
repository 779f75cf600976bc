#include "config.h"

#include "pipeline.h"

#include "operation.h"
#include "tally.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* An engine at work; const while the workers run. */
struct pipeline {
    const struct engine *engine;
    const struct operation *operation;
    void *partial;
    void *session;
    struct source *source;
};

struct pipeline_worker {
    const struct pipeline *pipeline;
    pthread_t thread;
    enum status status;
    struct failure failure; /* of the engine, then of all; valid if status is not STATUS_OK */
    enum status fault_status;
    struct failure fault; /* of the input, likewise */
    uint64_t bytes;
    double opened_at; /* on the clock: ready to pull, and done */
    double finished_at;
    double pull_seconds;
    double busy_seconds;
    double wait_seconds;
};

static double pipeline_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/*
 * The next chunk; before it has to wait for one, a worker completes what it has, so that ordered
 * results do not wait for input. A fault of the input is kept: what precedes it still counts.
 */
static enum status pipeline_worker_pull(struct pipeline_worker *self, void *worker,
                                        const struct engine_buffer *buffer, struct chunk *chunk)
{
    const struct pipeline *pipeline = self->pipeline;
    bool pulled = false;

    if (pipeline->operation->stop && pipeline->engine->worker_flush) {
        self->fault_status = source_try_pull(pipeline->source, buffer->data, buffer->capacity,
                                             chunk, &pulled, &self->fault);
        if (!pulled && pipeline->engine->worker_flush(worker, &self->failure) != STATUS_OK)
            return self->failure.status;
    }
    if (!pulled)
        self->fault_status =
            source_pull(pipeline->source, buffer->data, buffer->capacity, chunk, &self->fault);
    return STATUS_OK;
}

/* One round: a free buffer, filled, absorbed. Sets *ended when the source has no more. */
static enum status pipeline_worker_step(struct pipeline_worker *self, void *worker, bool *ended)
{
    const struct engine *engine = self->pipeline->engine;
    struct engine_buffer buffer;
    struct chunk chunk;
    double start = pipeline_clock();

    if (engine->worker_buffer(worker, &buffer, &self->failure) != STATUS_OK)
        return self->failure.status;
    double free = pipeline_clock();
    if (pipeline_worker_pull(self, worker, &buffer, &chunk) != STATUS_OK)
        return self->failure.status;
    double filled = pipeline_clock();
    self->wait_seconds += free - start;
    self->pull_seconds += filled - free;
    self->bytes += chunk.bytes;
    *ended = chunk.bytes == 0 || chunk.is_cut;
    if (chunk.bytes == 0 && !chunk.is_cut)
        return STATUS_OK;
    enum status status = engine->worker_absorb(worker, &chunk, &self->failure);
    self->busy_seconds += pipeline_clock() - filled;
    return status;
}

static enum status pipeline_worker_loop(struct pipeline_worker *self, void *worker)
{
    bool ended = false;

    self->opened_at = pipeline_clock();
    while (!ended) {
        if (pipeline_worker_step(self, worker, &ended) != STATUS_OK)
            return self->failure.status;
    }
    double start = pipeline_clock();
    enum status status = self->pipeline->engine->worker_finish(worker, &self->failure);
    self->finished_at = pipeline_clock();
    self->busy_seconds += self->finished_at - start;
    return status;
}

/* Of a worker's failures, the engine's and the input's, the one that is first in the stream. */
static void pipeline_worker_judge(struct pipeline_worker *self)
{
    if (self->fault_status == STATUS_OK ||
        (self->status != STATUS_OK && self->failure.position <= self->fault.position))
        return;
    self->status = self->fault_status;
    self->failure = self->fault;
}

static void *pipeline_worker_run(void *argument)
{
    struct pipeline_worker *self = argument;
    const struct pipeline *pipeline = self->pipeline;
    void *worker = NULL;

    if (!source_join(pipeline->source))
        return NULL;
    self->status = pipeline->engine->worker_open(pipeline->session, &worker, &self->failure);
    if (self->status == STATUS_OK)
        self->status = pipeline_worker_loop(self, worker);
    if (self->status != STATUS_OK) {
        source_stop(pipeline->source);
        /* Unless it is a fault of the data, behind what it absorbed, chunks that it had are lost.
         */
        if (pipeline->operation->stop && self->failure.position == STATUS_NOWHERE)
            pipeline->operation->stop(pipeline->partial);
    }
    pipeline_worker_judge(self);
    pipeline->engine->worker_close(worker);
    return NULL;
}

/* Starts the workers; the number that runs is less than `count` only if one could not start. */
static unsigned pipeline_start(const struct pipeline *pipeline, struct pipeline_worker *workers,
                               unsigned count, struct failure *failure)
{
    for (unsigned i = 0; i < count; i++) {
        workers[i].pipeline = pipeline;
        int error = pthread_create(&workers[i].thread, NULL, pipeline_worker_run, &workers[i]);
        if (error != 0) {
            status_fail(failure, STATUS_DATA, "cannot start thread %u: %s", i + 1, strerror(error));
            source_stop(pipeline->source);
            return i;
        }
    }
    return count;
}

/* Waits for the workers, adds up what they did since `start`, and keeps the earliest failure. */
static enum status pipeline_join(struct pipeline_worker *workers, unsigned count, double start,
                                 struct pipeline_report *report, struct failure *failure)
{
    const struct failure *first = NULL;
    double opened_at = 0;
    double finished_at = start;

    for (unsigned i = 0; i < count; i++) {
        const struct pipeline_worker *worker = &workers[i];
        pthread_join(worker->thread, NULL);
        report->bytes += worker->bytes;
        report->pull_seconds += worker->pull_seconds;
        report->busy_seconds += worker->busy_seconds;
        report->wait_seconds += worker->wait_seconds;
        report->workers += worker->opened_at > 0;
        if (worker->opened_at > 0 && (opened_at == 0 || worker->opened_at < opened_at))
            opened_at = worker->opened_at;
        if (worker->finished_at > finished_at)
            finished_at = worker->finished_at;
        if (worker->status != STATUS_OK && (!first || worker->failure.position < first->position))
            first = &worker->failure;
    }
    report->open_seconds = opened_at - start;
    report->run_seconds = finished_at - opened_at;
    if (!first)
        return STATUS_OK;
    *failure = *first;
    return first->status;
}

static enum status pipeline_run_workers(const struct pipeline *pipeline, double start,
                                        struct pipeline_report *report, struct failure *failure)
{
    unsigned count = pipeline->engine->workers(pipeline->session);
    struct pipeline_worker *workers = calloc(count, sizeof *workers);
    if (!workers)
        return status_fail(failure, STATUS_DATA, "no memory for %u workers", count);

    unsigned started = pipeline_start(pipeline, workers, count, failure);
    enum status status = started == count ? STATUS_OK : failure->status;
    struct failure ignored; /* one worker did not start: that is what is told */
    enum status joined =
        pipeline_join(workers, started, start, report, status == STATUS_OK ? failure : &ignored);
    free(workers);
    return status == STATUS_OK ? joined : status;
}

/* Opens the engine named. */
static enum status pipeline_open_named(struct pipeline *pipeline, const struct job *job,
                                       const char *name, const struct engine_options *options,
                                       void *partial, struct failure *failure)
{
    char description[256];

    pipeline->engine = engine_find(name);
    if (!pipeline->engine)
        return status_fail(failure, STATUS_USAGE, "unknown engine '%s'", name);
    if (!pipeline->engine->probe(description, sizeof description))
        return status_fail(failure, STATUS_ENGINE, "engine %s cannot run: %s", name, description);
    return pipeline->engine->open(job, options, partial, &pipeline->session, failure);
}

/* Opens the first engine that can run here. Nothing has been pulled yet, so nothing is lost. */
static enum status pipeline_open_any(struct pipeline *pipeline, const struct job *job,
                                     const struct engine_options *options, void *partial,
                                     void (*why)(const char *engine, const char *reason),
                                     struct failure *failure)
{
    for (const struct engine *const *engine = engines; *engine; engine++) {
        char description[256];
        const char *reason = description;
        pipeline->engine = *engine;
        if ((*engine)->probe(description, sizeof description)) {
            if ((*engine)->open(job, options, partial, &pipeline->session, failure) == STATUS_OK)
                return STATUS_OK;
            reason = failure->message;
        }
        if (why)
            why((*engine)->name, reason);
    }
    return failure->status;
}

enum status pipeline_run(const struct job *job, struct source *source, const char *engine,
                         const struct engine_options *options, void *partial,
                         void (*why)(const char *engine, const char *reason),
                         struct pipeline_report *report, struct failure *failure)
{
    const struct operation *operation = operations[job->operation];
    struct pipeline pipeline = {.operation = operation, .partial = partial, .source = source};
    double start = pipeline_clock();
    enum status status =
        engine ? pipeline_open_named(&pipeline, job, engine, options, partial, failure)
               : pipeline_open_any(&pipeline, job, options, partial, why, failure);
    if (status != STATUS_OK)
        return status;

    *report = (struct pipeline_report){.engine = pipeline.engine->name};
    status = pipeline_run_workers(&pipeline, start, report, failure);
    double merging = pipeline_clock();
    if (status == STATUS_OK && pipeline.engine->finish)
        status = pipeline.engine->finish(pipeline.session, failure);
    report->run_seconds += pipeline_clock() - merging;
    pipeline.engine->close(pipeline.session);
    report->seconds = pipeline_clock() - start;
    report->elements = job->is_text ? tally_values(job->tally) : report->bytes / job->element.bytes;
    if (status == STATUS_OK)
        status = operation->finish(partial, job, report->elements, failure);
    if (status == STATUS_ENGINE && !engine)
        failure->status = status = STATUS_DATA; /* nobody asked for an engine */
    return status;
}
