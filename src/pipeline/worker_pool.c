/* Implements worker_pool.h: the loop of a worker, and merging and reporting for a pool. */
#include "config.h"

#include "pipeline/worker_pool.h"

#include "pipeline/offload_policy.h"
#include "text/text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Written by the worker's own thread, between checkpoint_enter and checkpoint_leave if there are
 * checkpoints; so during a checkpoint another thread can use it, except `fault`, which is also
 * written outside.
 */
struct worker_pool_worker {
    struct worker_pool *pool;
    unsigned index;
    pthread_t thread;
    void *worker; /* of the engine; NULL while it is not open */
    enum status status;
    struct failure failure; /* of the engine, at the end the one to report; valid with `status` */
    enum status fault_status;
    struct failure fault; /* of the input; valid with `fault_status` */
    enum status open_status;
    bool has_absorbed;           /* chunks that are not yet merged */
    atomic_bool pulls;           /* has begun to pull; relaxed */
    atomic_uint_least64_t bytes; /* pulled so far; other threads read it; relaxed */
    struct stream_total counted; /* in chunks */
    double opened_at;            /* when it was ready to pull, and when it was done */
    double finished_at;
    double pull_seconds;
    double busy_seconds;
    double wait_seconds;
};

double worker_pool_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Between these two calls the worker changes what it holds; checkpoints wait for the second. */
static void worker_pool_worker_enter(struct worker_pool_worker *self)
{
    if (self->pool->work->checkpoint)
        checkpoint_enter(self->pool->work->checkpoint);
}

static void worker_pool_worker_leave(struct worker_pool_worker *self)
{
    if (self->pool->work->checkpoint)
        checkpoint_leave(self->pool->work->checkpoint);
}

/* Whether a checkpoint waits: the worker then merges what it holds, in parallel with others. */
static bool worker_pool_worker_must_merge(const struct worker_pool_worker *self)
{
    return self->pool->work->checkpoint && checkpoint_is_wanted(self->pool->work->checkpoint);
}

/* Whether its core is needed by a pool that has joined late, or to prepare a device. */
static bool worker_pool_worker_is_surplus(const struct worker_pool_worker *self)
{
    const struct worker_pool *pool = self->pool;
    unsigned feeders = atomic_load_explicit(&pool->work->feeders, memory_order_relaxed);

    if (pool->joins_late)
        return false;
    if (feeders == 0)
        return atomic_load_explicit(&pool->work->awaits_device, memory_order_relaxed) &&
               self->index >= offload_policy_cpu_workers_meanwhile(pool->count);
    bool is_plain = source_size(pool->work->source) != SOURCE_SIZE_UNKNOWN;
    uint64_t bytes = is_plain ? atomic_load_explicit(&self->bytes, memory_order_relaxed) : 0;
    return self->index >= offload_policy_cpu_workers(pool->count, feeders, bytes,
                                                     self->busy_seconds + self->pull_seconds);
}

/*
 * Completes and merges what the worker has absorbed. Skips the engine if there is nothing: then a
 * device that has failed meanwhile has lost nothing.
 */
static enum status worker_pool_worker_complete(struct worker_pool_worker *self,
                                               struct failure *failure)
{
    if (!self->has_absorbed)
        return STATUS_OK;
    self->has_absorbed = false;
    return self->pool->engine->worker_finish(self->worker, failure);
}

/* Pulls the next chunk. The worker counts as idle for checkpoints while it waits. */
static void worker_pool_worker_wait(struct worker_pool_worker *self, struct chunk_buffer *buffer,
                                    struct chunk *chunk)
{
    worker_pool_worker_leave(self);
    enum status status = source_pull(self->pool->work->source, buffer, chunk, &self->fault);
    worker_pool_worker_enter(self);
    self->fault_status = status;
}

/*
 * Pulls the next chunk. With an ordered operation, flushes the worker before it waits for input, so
 * that results are not held back. Keeps a failure of the input in `fault`: the chunks before it
 * still count.
 */
static enum status worker_pool_worker_pull(struct worker_pool_worker *self,
                                           struct chunk_buffer *buffer, struct chunk *chunk)
{
    const struct worker_pool_work *work = self->pool->work;
    const struct engine *engine = self->pool->engine;
    bool pulled = false;

    if (worker_pool_worker_must_merge(self) &&
        worker_pool_worker_complete(self, &self->failure) != STATUS_OK)
        return self->failure.status;
    if (work->operation->stop && engine->worker_flush) {
        self->fault_status = source_try_pull(work->source, buffer, chunk, &pulled, &self->fault);
        if (!pulled && self->has_absorbed &&
            engine->worker_flush(self->worker, &self->failure) != STATUS_OK)
            return self->failure.status;
    }
    if (!pulled)
        worker_pool_worker_wait(self, buffer, chunk);
    return STATUS_OK;
}

/* One round: gets a free buffer, fills it and absorbs it. Sets *ended at the end of the source. */
static enum status worker_pool_worker_step(struct worker_pool_worker *self, bool *ended)
{
    const struct engine *engine = self->pool->engine;
    struct chunk_buffer buffer;
    struct chunk chunk;
    double start = worker_pool_clock();

    if (engine->worker_buffer(self->worker, &buffer, &self->failure) != STATUS_OK)
        return self->failure.status;
    double free = worker_pool_clock();
    if (worker_pool_worker_pull(self, &buffer, &chunk) != STATUS_OK)
        return self->failure.status;
    double filled = worker_pool_clock();
    self->wait_seconds += free - start;
    self->pull_seconds += filled - free;
    atomic_fetch_add_explicit(&self->bytes, chunk.bytes + chunk.left_out, memory_order_relaxed);
    *ended = chunk.bytes == 0 || chunk.is_cut;
    if (chunk.bytes == 0 && !chunk.is_cut)
        return STATUS_OK;
    self->has_absorbed = true;
    self->counted.bytes += chunk.bytes;
    if (chunk.lines != CHUNK_LINES_UNKNOWN)
        self->counted.lines += text_count_lines(chunk.data, chunk.bytes);
    enum status status = engine->worker_absorb(self->worker, &chunk, &self->failure);
    self->busy_seconds += worker_pool_clock() - filled;
    return status;
}

/*
 * Leaves the source to the others and waits while a device is prepared. Keeps what it has absorbed
 * meanwhile: merging it and freeing memory would delay the preparation. Returns true if the worker
 * should continue.
 */
static bool worker_pool_worker_pause(struct worker_pool_worker *self)
{
    const struct worker_pool_work *work = self->pool->work;

    worker_pool_worker_leave(self);
    source_leave(work->source);
    bool goes_on = work->pause(work->context) && source_join(work->source);
    worker_pool_worker_enter(self);
    return goes_on;
}

/* Pulls and absorbs until the source ends or the worker is surplus; then merges. */
static enum status worker_pool_worker_loop(struct worker_pool_worker *self)
{
    bool ended = false;

    self->opened_at = worker_pool_clock();
    atomic_store_explicit(&self->pulls, true, memory_order_relaxed);
    while (!ended) {
        bool is_surplus = worker_pool_worker_is_surplus(self);
        bool is_ordered = self->pool->work->operation->stop; /* others wait for its results */
        if (is_surplus && is_ordered &&
            worker_pool_worker_complete(self, &self->failure) != STATUS_OK)
            return self->failure.status;
        if (is_surplus && !worker_pool_worker_pause(self))
            break;
        if (worker_pool_worker_step(self, &ended) != STATUS_OK)
            return self->failure.status;
    }
    double start = worker_pool_clock();
    enum status status = worker_pool_worker_complete(self, &self->failure);
    self->finished_at = worker_pool_clock();
    self->busy_seconds += self->finished_at - start;
    return status;
}

/* Keeps the failure to report of the engine's and the input's in self->failure. */
static void worker_pool_worker_keep_failure(struct worker_pool_worker *self)
{
    if (self->fault_status == STATUS_OK ||
        (self->status != STATUS_OK && !status_is_before(&self->fault, &self->failure)))
        return;
    self->status = self->fault_status;
    self->failure = self->fault;
}

/* Opens the worker and runs its loop. Sets its status. */
static void worker_pool_worker_open(struct worker_pool_worker *self)
{
    struct worker_pool *pool = self->pool;

    self->open_status = pool->engine->worker_open(pool->session, &self->worker, &self->failure);
    if (self->open_status != STATUS_OK) {
        self->status = pool->joins_late ? STATUS_OK : self->open_status; /* no chunk is lost */
        if (pool->joins_late) /* paused workers notice when this one leaves */
            atomic_store_explicit(&pool->work->awaits_device, false, memory_order_relaxed);
        source_leave(pool->work->source);
        return;
    }
    if (pool->joins_late)
        pool->work->join(pool->work->context);
    self->status = worker_pool_worker_loop(self);
}

static void worker_pool_worker_work(struct worker_pool_worker *self)
{
    const struct worker_pool_work *work = self->pool->work;

    worker_pool_worker_open(self);
    if (self->status != STATUS_OK) {
        bool has_place = self->status == STATUS_DATA && self->failure.position != STATUS_NOWHERE;
        source_stop(work->source, has_place ? self->failure.position : 0);
        /* Chunks are lost, unless it is a failure of the data, which follows what was absorbed. */
        if (work->operation->stop && self->failure.position == STATUS_NOWHERE)
            work->operation->stop(work->partial);
    }
    worker_pool_worker_keep_failure(self);
}

/*
 * The thread of a worker. Frees its memory after it has left, while results are merged (GPU: 3 ms).
 */
static void *worker_pool_worker_run(void *argument)
{
    struct worker_pool_worker *self = argument;
    struct worker_pool_work *work = self->pool->work;

    if (!source_join(work->source)) {
        work->leave(work->context);
        return NULL;
    }
    worker_pool_worker_enter(self);
    if (!worker_pool_worker_is_surplus(self) || worker_pool_worker_pause(self))
        worker_pool_worker_work(self);
    void *worker = self->worker;
    self->worker = NULL;
    worker_pool_worker_leave(self);
    work->leave(work->context);
    self->pool->engine->worker_close(worker);
    return NULL;
}

enum status worker_pool_open(struct worker_pool *pool, struct worker_pool_work *work,
                             const struct engine_options *options, struct failure *failure)
{
    pool->work = work;
    if (pool->engine->open(work->job, options, work->partial, &pool->session, failure) != STATUS_OK)
        return failure->status;
    pool->count = pool->engine->workers(pool->session);
    pool->started = 0;
    pool->workers = calloc(pool->count, sizeof *pool->workers);
    if (!pool->workers) {
        pool->engine->close(pool->session);
        return status_fail(failure, STATUS_DATA, "no memory for %u workers", pool->count);
    }
    for (unsigned i = 0; i < pool->count; i++) {
        pool->workers[i].pool = pool;
        pool->workers[i].index = i;
    }
    atomic_store(&pool->is_open, true);
    return STATUS_OK;
}

enum status worker_pool_start(struct worker_pool *pool, struct failure *failure)
{
    struct worker_pool_work *work = pool->work;
    int error = 0;

    while (pool->started < pool->count) {
        struct worker_pool_worker *worker = &pool->workers[pool->started];
        error = pthread_create(&worker->thread, NULL, worker_pool_worker_run, worker);
        if (error != 0)
            break;
        pool->started++;
    }
    for (unsigned i = pool->started; i < pool->count; i++)
        work->leave(work->context);
    if (error == 0 || (pool->joins_late && pool->started > 0))
        return STATUS_OK;
    if (pool->started == 0)
        return status_fail(failure, STATUS_DATA, "cannot start a thread: %s", strerror(error));
    return status_fail(failure, STATUS_DATA, "cannot start thread %u: %s (try --threads %u)",
                       pool->started + 1, strerror(error), pool->started);
}

void worker_pool_wait(const struct worker_pool *pool)
{
    if (!atomic_load(&pool->is_open))
        return;
    for (unsigned i = 0; i < pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
}

uint64_t worker_pool_bytes(const struct worker_pool *pool)
{
    uint64_t bytes = 0;

    if (!atomic_load(&pool->is_open))
        return 0;
    for (unsigned i = 0; i < pool->count; i++)
        bytes += atomic_load_explicit(&pool->workers[i].bytes, memory_order_relaxed);
    return bytes;
}

void worker_pool_add_counted(const struct worker_pool *pool, struct stream_total *counted)
{
    for (unsigned i = 0; atomic_load(&pool->is_open) && i < pool->count; i++) {
        counted->bytes += pool->workers[i].counted.bytes;
        counted->lines += pool->workers[i].counted.lines;
    }
}

unsigned worker_pool_pulling(const struct worker_pool *pool)
{
    unsigned pulling = 0;

    if (!atomic_load(&pool->is_open))
        return 0;
    for (unsigned i = 0; i < pool->count; i++)
        pulling += atomic_load_explicit(&pool->workers[i].pulls, memory_order_relaxed);
    return pulling;
}

bool worker_pool_is_sound(const struct worker_pool *pool)
{
    if (!atomic_load(&pool->is_open))
        return true;
    for (unsigned i = 0; i < pool->count; i++) {
        const struct worker_pool_worker *worker = &pool->workers[i];
        if (worker->status != STATUS_OK || worker->fault_status != STATUS_OK)
            return false;
    }
    return true;
}

enum status worker_pool_keep_failure(const struct worker_pool *pool, enum status status,
                                     struct failure *failure)
{
    if (!atomic_load(&pool->is_open))
        return status;
    for (unsigned i = 0; i < pool->count; i++) {
        const struct worker_pool_worker *worker = &pool->workers[i];
        if (worker->status == STATUS_OK ||
            (status != STATUS_OK && !status_is_before(&worker->failure, failure)))
            continue;
        *failure = worker->failure;
        status = worker->status;
    }
    return status;
}

enum status worker_pool_finish(struct worker_pool *pool, struct failure *failure)
{
    enum status status = STATUS_OK;
    double start = worker_pool_clock();

    if (worker_pool_bytes(pool) == 0)
        return STATUS_OK;
    for (unsigned i = 0; i < pool->count; i++) {
        struct worker_pool_worker *worker = &pool->workers[i];
        struct failure own;
        if (worker->worker && worker_pool_worker_complete(worker, &own) != STATUS_OK &&
            (status == STATUS_OK || status_is_before(&own, failure))) {
            *failure = own;
            status = own.status;
        }
    }
    if (status == STATUS_OK && pool->engine->finish)
        status = pool->engine->finish(pool->session, failure);
    pool->merge_seconds += worker_pool_clock() - start;
    return status;
}

/* Adds up the times of the workers. */
static void worker_pool_add_up(const struct worker_pool *pool, struct worker_pool_report *report)
{
    double opened_at = 0;
    double finished_at = 0;

    for (unsigned i = 0; i < pool->count; i++) {
        const struct worker_pool_worker *worker = &pool->workers[i];
        report->pull_seconds += worker->pull_seconds;
        report->busy_seconds += worker->busy_seconds;
        report->wait_seconds += worker->wait_seconds;
        report->workers += worker->opened_at > 0;
        if (worker->opened_at > 0 && (opened_at == 0 || worker->opened_at < opened_at))
            opened_at = worker->opened_at;
        if (worker->finished_at > finished_at)
            finished_at = worker->finished_at;
        if (worker->open_status != STATUS_OK)
            snprintf(report->reason, sizeof report->reason, "%.255s", worker->failure.message);
    }
    if (report->workers == 0)
        return;
    report->reason[0] = '\0';
    report->open_seconds = opened_at - pool->work->start;
    if (finished_at > opened_at)
        report->run_seconds = finished_at - opened_at + pool->merge_seconds;
}

void worker_pool_describe(const struct worker_pool *pool, struct worker_pool_report *report)
{
    *report = (struct worker_pool_report){
        .engine = pool->engine->name,
        .device = pool->device,
        .bytes = worker_pool_bytes(pool),
    };
    if (atomic_load(&pool->is_open))
        worker_pool_add_up(pool, report);
    if (report->workers > 0 || report->reason[0])
        return;
    const char *usual =
        atomic_load(&pool->is_open) ? "it was not needed" : "the input ended before it was ready";
    snprintf(report->reason, sizeof report->reason, "%s", pool->reason[0] ? pool->reason : usual);
}

void worker_pool_close(struct worker_pool *pool)
{
    if (!atomic_load(&pool->is_open))
        return;
    free(pool->workers);
    pool->engine->close(pool->session);
}
