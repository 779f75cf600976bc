#include "config.h"

#include "pipeline.h"

#include "checkpoint.h"
#include "operation.h"
#include "tally.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* An engine at work; const while the workers run, but for the last two. */
struct pipeline {
    const struct job *job;
    const struct engine *engine;
    const struct operation *operation;
    const struct pipeline_watcher *watcher;
    void *partial;
    void *session;
    struct source *source;
    double start;
    struct pipeline_worker *workers; /* [count] */
    unsigned count;
    atomic_uint running; /* workers that have not ended */
    struct checkpoint checkpoint;
};

/*
 * Written by the worker itself, between checkpoint_enter and checkpoint_leave if there are
 * checkpoints, so that the thread that holds one can use all of it; `fault` outside, too.
 */
struct pipeline_worker {
    struct pipeline *pipeline;
    pthread_t thread;
    void *worker; /* the engine's; NULL while it is not open */
    enum status status;
    struct failure failure; /* of the engine, then of all; valid if status is not STATUS_OK */
    enum status fault_status;
    struct failure fault;        /* of the input, likewise */
    atomic_uint_least64_t bytes; /* relaxed: others read it while it grows */
    double opened_at;            /* on the clock: ready to pull, and done */
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

/* From here to pipeline_worker_leave, what the worker has changes. */
static void pipeline_worker_enter(struct pipeline_worker *self)
{
    if (self->pipeline->watcher->checkpoints)
        checkpoint_enter(&self->pipeline->checkpoint);
}

static void pipeline_worker_leave(struct pipeline_worker *self)
{
    if (self->pipeline->watcher->checkpoints)
        checkpoint_leave(&self->pipeline->checkpoint);
}

/* Whether the worker had better merge what it has, while others do the same. */
static bool pipeline_worker_is_asked(const struct pipeline_worker *self)
{
    return self->pipeline->watcher->checkpoints &&
           checkpoint_is_wanted(&self->pipeline->checkpoint);
}

/* A pull that may wait, in which a checkpoint finds the worker idle. */
static void pipeline_worker_wait(struct pipeline_worker *self, const struct engine_buffer *buffer,
                                 struct chunk *chunk)
{
    pipeline_worker_leave(self);
    enum status status =
        source_pull(self->pipeline->source, buffer->data, buffer->capacity, chunk, &self->fault);
    pipeline_worker_enter(self);
    self->fault_status = status;
}

/*
 * The next chunk; before it has to wait for one, a worker completes what it has, so that ordered
 * results do not wait for input. A fault of the input is kept: what precedes it still counts.
 */
static enum status pipeline_worker_pull(struct pipeline_worker *self,
                                        const struct engine_buffer *buffer, struct chunk *chunk)
{
    const struct pipeline *pipeline = self->pipeline;
    const struct engine *engine = pipeline->engine;
    bool pulled = false;

    if (pipeline_worker_is_asked(self) &&
        engine->worker_finish(self->worker, &self->failure) != STATUS_OK)
        return self->failure.status;
    if (pipeline->operation->stop && engine->worker_flush) {
        self->fault_status = source_try_pull(pipeline->source, buffer->data, buffer->capacity,
                                             chunk, &pulled, &self->fault);
        if (!pulled && engine->worker_flush(self->worker, &self->failure) != STATUS_OK)
            return self->failure.status;
    }
    if (!pulled)
        pipeline_worker_wait(self, buffer, chunk);
    return STATUS_OK;
}

/* One round: a free buffer, filled, absorbed. Sets *ended when the source has no more. */
static enum status pipeline_worker_step(struct pipeline_worker *self, bool *ended)
{
    const struct engine *engine = self->pipeline->engine;
    struct engine_buffer buffer;
    struct chunk chunk;
    double start = pipeline_clock();

    if (engine->worker_buffer(self->worker, &buffer, &self->failure) != STATUS_OK)
        return self->failure.status;
    double free = pipeline_clock();
    if (pipeline_worker_pull(self, &buffer, &chunk) != STATUS_OK)
        return self->failure.status;
    double filled = pipeline_clock();
    self->wait_seconds += free - start;
    self->pull_seconds += filled - free;
    atomic_fetch_add_explicit(&self->bytes, chunk.bytes + chunk.left_out, memory_order_relaxed);
    *ended = chunk.bytes == 0 || chunk.is_cut;
    if (chunk.bytes == 0 && !chunk.is_cut)
        return STATUS_OK;
    enum status status = engine->worker_absorb(self->worker, &chunk, &self->failure);
    self->busy_seconds += pipeline_clock() - filled;
    return status;
}

static enum status pipeline_worker_loop(struct pipeline_worker *self)
{
    bool ended = false;

    self->opened_at = pipeline_clock();
    while (!ended) {
        if (pipeline_worker_step(self, &ended) != STATUS_OK)
            return self->failure.status;
    }
    double start = pipeline_clock();
    enum status status = self->pipeline->engine->worker_finish(self->worker, &self->failure);
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

static void pipeline_worker_work(struct pipeline_worker *self)
{
    const struct pipeline *pipeline = self->pipeline;

    pipeline_worker_enter(self);
    self->status = pipeline->engine->worker_open(pipeline->session, &self->worker, &self->failure);
    if (self->status == STATUS_OK)
        self->status = pipeline_worker_loop(self);
    if (self->status != STATUS_OK) {
        source_stop(pipeline->source);
        /* Unless it is a fault of the data, behind what it absorbed, chunks that it had are lost.
         */
        if (pipeline->operation->stop && self->failure.position == STATUS_NOWHERE)
            pipeline->operation->stop(pipeline->partial);
    }
    pipeline_worker_judge(self);
    pipeline->engine->worker_close(self->worker);
    self->worker = NULL;
    pipeline_worker_leave(self);
}

static void *pipeline_worker_run(void *argument)
{
    struct pipeline_worker *self = argument;
    struct pipeline *pipeline = self->pipeline;

    if (source_join(pipeline->source))
        pipeline_worker_work(self);
    if (atomic_fetch_sub(&pipeline->running, 1) == 1 && pipeline->watcher->wake)
        pipeline->watcher->wake(pipeline->watcher->context);
    return NULL;
}

/* Starts the workers; the number that runs is less than all only if one could not start. */
static unsigned pipeline_start(struct pipeline *pipeline, struct failure *failure)
{
    atomic_init(&pipeline->running, pipeline->count);
    for (unsigned i = 0; i < pipeline->count; i++) {
        struct pipeline_worker *worker = &pipeline->workers[i];
        worker->pipeline = pipeline;
        int error = pthread_create(&worker->thread, NULL, pipeline_worker_run, worker);
        if (error != 0) {
            status_fail(failure, STATUS_DATA, "cannot start thread %u: %s", i + 1, strerror(error));
            source_stop(pipeline->source);
            return i;
        }
    }
    return pipeline->count;
}

bool pipeline_has_ended(const struct pipeline *pipeline)
{
    return atomic_load(&pipeline->running) == 0;
}

static uint64_t pipeline_bytes(const struct pipeline *pipeline)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < pipeline->count; i++)
        bytes += atomic_load_explicit(&pipeline->workers[i].bytes, memory_order_relaxed);
    return bytes;
}

/* How many elements so many bytes that were absorbed were. */
static uint64_t pipeline_elements(const struct pipeline *pipeline, uint64_t bytes)
{
    const struct job *job = pipeline->job;
    return job->is_text ? tally_values(job->tally) : bytes / job->element.bytes;
}

void pipeline_look(const struct pipeline *pipeline, struct pipeline_live *live)
{
    *live = (struct pipeline_live){
        .engine = pipeline->engine->name,
        .bytes = pipeline_bytes(pipeline),
        .seconds = pipeline_clock() - pipeline->start,
    };
}

/* Whether no worker has failed. */
static bool pipeline_is_sound(const struct pipeline *pipeline)
{
    for (unsigned i = 0; i < pipeline->count; i++) {
        const struct pipeline_worker *worker = &pipeline->workers[i];
        if (worker->status != STATUS_OK || worker->fault_status != STATUS_OK)
            return false;
    }
    return true;
}

/*
 * Merges all that the workers have, none of which is at work, and the session. Of several failures
 * keeps the one that is first in the stream.
 */
static enum status pipeline_gather(struct pipeline *pipeline, struct failure *failure)
{
    enum status status = STATUS_OK;

    for (unsigned i = 0; i < pipeline->count; i++) {
        void *worker = pipeline->workers[i].worker;
        struct failure own;
        if (worker && pipeline->engine->worker_finish(worker, &own) != STATUS_OK &&
            (status == STATUS_OK || own.position < failure->position)) {
            *failure = own;
            status = own.status;
        }
    }
    if (status == STATUS_OK && pipeline->engine->finish)
        status = pipeline->engine->finish(pipeline->session, failure);
    return status;
}

enum status pipeline_checkpoint(struct pipeline *pipeline,
                                enum status (*use)(void *context, struct failure *failure),
                                void *context, struct failure *failure)
{
    enum status status = STATUS_OK;

    checkpoint_begin(&pipeline->checkpoint);
    if (pipeline_is_sound(pipeline)) {
        status = pipeline_gather(pipeline, failure);
        if (status == STATUS_OK)
            status =
                pipeline->operation->finish(pipeline->partial, pipeline->job,
                                            pipeline_elements(pipeline, pipeline_bytes(pipeline)),
                                            failure);
        if (status == STATUS_OK)
            status = use(context, failure);
    }
    checkpoint_end(&pipeline->checkpoint);
    return status;
}

/* Lets the watcher do its work while the workers do theirs. */
static enum status pipeline_watch(struct pipeline *pipeline, struct failure *failure)
{
    const struct pipeline_watcher *watcher = pipeline->watcher;

    if (!watcher->watch)
        return STATUS_OK;
    enum status status = watcher->watch(watcher->context, pipeline, failure);
    if (status != STATUS_OK)
        source_stop(pipeline->source);
    return status;
}

/* Waits for the first `count` workers, adds up what they did, and keeps the earliest failure. */
static enum status pipeline_join(const struct pipeline *pipeline, unsigned count,
                                 struct pipeline_report *report, struct failure *failure)
{
    const struct failure *first = NULL;
    double opened_at = 0;
    double finished_at = pipeline->start;

    for (unsigned i = 0; i < count; i++) {
        const struct pipeline_worker *worker = &pipeline->workers[i];
        pthread_join(worker->thread, NULL);
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
    report->bytes = pipeline_bytes(pipeline);
    report->open_seconds = opened_at - pipeline->start;
    report->run_seconds = finished_at - opened_at;
    if (!first)
        return STATUS_OK;
    *failure = *first;
    return first->status;
}

static enum status pipeline_run_workers(struct pipeline *pipeline, struct pipeline_report *report,
                                        struct failure *failure)
{
    unsigned count = pipeline->engine->workers(pipeline->session);

    pipeline->workers = calloc(count, sizeof *pipeline->workers);
    if (!pipeline->workers)
        return status_fail(failure, STATUS_DATA, "no memory for %u workers", count);
    pipeline->count = count;
    checkpoint_init(&pipeline->checkpoint);

    unsigned started = pipeline_start(pipeline, failure);
    enum status status = started == count ? pipeline_watch(pipeline, failure) : failure->status;
    struct failure of_worker;
    enum status joined = pipeline_join(pipeline, started, report, &of_worker);
    if (joined != STATUS_OK && (status == STATUS_OK || of_worker.position < failure->position)) {
        *failure = of_worker;
        status = joined;
    }
    checkpoint_destroy(&pipeline->checkpoint);
    free(pipeline->workers);
    return status;
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
                         const struct pipeline_watcher *watcher, struct pipeline_report *report,
                         struct failure *failure)
{
    struct pipeline pipeline = {
        .job = job,
        .operation = operations[job->operation],
        .watcher = watcher,
        .partial = partial,
        .source = source,
        .start = pipeline_clock(),
    };
    enum status status =
        engine ? pipeline_open_named(&pipeline, job, engine, options, partial, failure)
               : pipeline_open_any(&pipeline, job, options, partial, why, failure);
    if (status != STATUS_OK)
        return status;

    *report = (struct pipeline_report){.engine = pipeline.engine->name};
    status = pipeline_run_workers(&pipeline, report, failure);
    double merging = pipeline_clock();
    if (status == STATUS_OK && pipeline.engine->finish)
        status = pipeline.engine->finish(pipeline.session, failure);
    report->run_seconds += pipeline_clock() - merging;
    pipeline.engine->close(pipeline.session);
    report->seconds = pipeline_clock() - pipeline.start;
    report->elements = pipeline_elements(&pipeline, report->bytes);
    if (status == STATUS_OK)
        status = pipeline.operation->finish(partial, job, report->elements, failure);
    if (status == STATUS_ENGINE && !engine)
        failure->status = status = STATUS_DATA; /* nobody asked for an engine */
    return status;
}
