/* Implements worker_pool.h: the loop that pulls and accumulates; opening, merging and reporting. */
#include "config.h"

#include "engine/worker_pool.h"

#include "engine/offload_policy.h"
#include "lib/clock.h"
#include "lib/parallel.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The worker's own thread writes it, between checkpoint_enter and checkpoint_leave, so that another
 * thread can use it during a checkpoint.
 */
struct worker {
    const struct worker_pool *pool;
    unsigned index;
    pthread_t thread;
    void *consumer; /* the engine's consumer; owned; NULL while it is not open */
    enum status status;
    struct failure failure; /* the failure to report so far; valid with `status` */
    enum status open_status;
    bool has_accumulated;          /* it has accumulated chunks that are not yet merged */
    atomic_bool pulls;             /* it has begun to pull; relaxed */
    atomic_uint_least64_t bytes;   /* number of bytes pulled so far; relaxed */
    atomic_uint_least64_t counted; /* number of these bytes in chunks; relaxed */
    double opened_at;              /* times: ready to pull, end of pulling, and end */
    double ended_at;
    double finished_at;
    double pull_seconds;
    double busy_seconds;
    double wait_seconds;
};

/*
 * Completes and merges the worker's results. Skips the engine if there are none: a device that has
 * failed meanwhile has then lost nothing. Another thread may call it while the worker is stopped at
 * a checkpoint. Fails like the engine.
 */
static enum status worker_merge(struct worker *worker, struct failure *failure)
{
    if (!worker->has_accumulated)
        return STATUS_OK;
    worker->has_accumulated = false;
    return worker->pool->engine->consumer_merge(worker->consumer, failure);
}

/* Returns whether a pool that joined late, or the preparation of a device, needs its core. */
static bool worker_is_surplus(const struct worker *worker)
{
    const struct worker_pool *pool = worker->pool;
    const struct worker_group *group = pool->group;
    unsigned feeders = atomic_load_explicit(&group->feeders, memory_order_relaxed);

    if (pool->joins_late)
        return false;
    if (feeders == 0)
        return atomic_load_explicit(&group->awaited_devices, memory_order_relaxed) != 0 &&
               worker->index >= offload_policy_cpu_workers_meanwhile(pool->count);
    bool is_plain = source_sizes(group->source).stream != SOURCE_SIZE_UNKNOWN;
    uint64_t bytes = is_plain ? atomic_load_explicit(&worker->bytes, memory_order_relaxed) : 0;
    return worker->index >= offload_policy_cpu_workers(pool->count, feeders, bytes,
                                                       worker->busy_seconds + worker->pull_seconds);
}

/*
 * Leaves the source to the others and waits while a device is prepared. Keeps its results
 * meanwhile: merging them and freeing memory would delay the preparation. Returns true if the
 * worker should continue.
 */
static bool worker_pause(const struct worker *worker)
{
    struct worker_group *group = worker->pool->group;

    if (group->checkpoint)
        checkpoint_leave(group->checkpoint);
    source_leave(group->source);
    bool goes_on = worker_group_pause(group) && source_join(group->source);
    if (group->checkpoint)
        checkpoint_enter(group->checkpoint);
    return goes_on;
}

/*
 * Keeps a failure if it precedes the one that is kept. After a failure of the data, which has a
 * position, stops the source there, and returns true if the worker must continue: earlier data may
 * be in inputs that it has put down, or in chunks handed to it, and can fail, too. An ordered
 * operation has already processed all earlier data.
 */
static bool worker_fail(struct worker *worker, const struct failure *failure)
{
    const struct worker_group *group = worker->pool->group;
    const bool is_of_data = failure->status == STATUS_DATA && failure->position != STATUS_NOWHERE;

    worker->status = status_fail_first(&worker->failure, worker->status, failure);
    if (is_of_data)
        source_stop(group->source, failure->position);
    return is_of_data && !group->store->stop;
}

/*
 * Waits for a free buffer and fills it from the source. Meanwhile the worker counts as idle for
 * checkpoints; if one is due, it first merges its results, in parallel with others. With an ordered
 * operation, it flushes the engine before it waits for input, so that results are not held back.
 * Keeps a failure of the input, which follows the chunk. Fails like the engine.
 */
static enum status worker_pull(struct worker *worker, struct chunk *chunk, struct failure *failure)
{
    const struct engine *engine = worker->pool->engine;
    struct worker_group *group = worker->pool->group;
    struct chunk_buffer buffer;
    struct failure fault;
    enum status fault_status = STATUS_OK;
    bool pulled = false;

    const double start = clock_seconds();
    if (engine->consumer_buffer(worker->consumer, &buffer, failure) != STATUS_OK)
        return failure->status;
    const double free = clock_seconds();
    if (group->checkpoint && checkpoint_is_wanted(group->checkpoint) &&
        worker_merge(worker, failure) != STATUS_OK)
        return failure->status;
    if (group->store->stop && engine->consumer_flush) {
        fault_status = source_try_pull(group->source, &buffer, chunk, &pulled, &fault);
        if (!pulled && worker->has_accumulated &&
            engine->consumer_flush(worker->consumer, failure) != STATUS_OK)
            return failure->status;
    }
    if (!pulled) {
        if (group->checkpoint)
            checkpoint_leave(group->checkpoint);
        fault_status = source_pull(group->source, &buffer, chunk, &fault);
        if (group->checkpoint)
            checkpoint_enter(group->checkpoint);
    }
    if (fault_status != STATUS_OK)
        worker_fail(worker, &fault);
    worker->wait_seconds += free - start;
    worker->pull_seconds += clock_seconds() - free;
    atomic_fetch_add_explicit(&worker->bytes, chunk->bytes + chunk->left_out, memory_order_relaxed);
    return STATUS_OK;
}

/* Pulls and accumulates until the source ends, or the worker is surplus or fails; then merges. */
static void worker_loop(struct worker *worker)
{
    const struct engine *engine = worker->pool->engine;
    const bool is_ordered = worker->pool->group->store->stop; /* others wait for its results */
    struct failure failure;
    struct chunk chunk = {.bytes = 0};
    bool has_failed = false; /* accumulating has failed: nothing is merged */
    bool goes_on = true;

    worker->opened_at = clock_seconds();
    atomic_store_explicit(&worker->pulls, true, memory_order_relaxed);
    while (goes_on) {
        enum status status = STATUS_OK;
        if (worker_is_surplus(worker)) {
            if (is_ordered)
                status = worker_merge(worker, &failure);
            if (status == STATUS_OK && !worker_pause(worker))
                break;
        }
        if (status == STATUS_OK)
            status = worker_pull(worker, &chunk, &failure);
        if (status == STATUS_OK && chunk.bytes == 0 && !chunk.is_cut)
            break;
        const double filled = clock_seconds();
        if (status == STATUS_OK) {
            worker->has_accumulated = true;
            atomic_fetch_add_explicit(&worker->counted, chunk.bytes, memory_order_relaxed);
            status = engine->consumer_accumulate(worker->consumer, &chunk, &failure);
            worker->busy_seconds += clock_seconds() - filled;
            goes_on = !(chunk.is_cut && is_ordered);
        }
        if (status != STATUS_OK) {
            has_failed = true;
            goes_on = worker_fail(worker, &failure);
        }
    }
    worker->ended_at = clock_seconds();
    if (!has_failed && worker_merge(worker, &failure) != STATUS_OK)
        worker_fail(worker, &failure);
    worker->finished_at = clock_seconds();
    worker->busy_seconds += worker->finished_at - worker->ended_at;
}

/*
 * The thread of a worker: opens the engine's consumer and runs the loop, sets the status, and stops
 * other workers if necessary. Frees its memory after it has left, while results are merged (GPU: 3
 * ms).
 */
static void *worker_run(void *argument)
{
    struct worker *worker = argument;
    const struct worker_pool *pool = worker->pool;
    struct worker_group *group = pool->group;

    if (!source_join(group->source)) {
        worker_group_leave(group);
        return NULL;
    }
    if (group->checkpoint)
        checkpoint_enter(group->checkpoint);
    if (!worker_is_surplus(worker) || worker_pause(worker)) {
        worker->open_status =
            pool->engine->consumer_open(pool->session, &worker->consumer, &worker->failure);
        if (worker->open_status == STATUS_OK) {
            if (pool->joins_late)
                worker_group_add_feeder(group);
            worker_loop(worker);
        } else {
            worker->status = pool->joins_late ? STATUS_OK : worker->open_status; /* none is lost */
            if (pool->joins_late)
                worker_group_give_up_device(group, pool->device_bit);
            source_leave(group->source);
        }
    }
    /* Chunks are lost, unless it is a failure of the data, which follows the accumulated chunks. */
    const bool is_of_data = worker->failure.position != STATUS_NOWHERE;
    if (worker->status == STATUS_ENGINE || (worker->status != STATUS_OK && !is_of_data))
        source_stop(group->source, 0);
    if (worker->status != STATUS_OK && !is_of_data && group->store->stop)
        group->store->stop(*group->aggregate);
    void *opened = worker->consumer;
    worker->consumer = NULL; /* it holds nothing: worker_pool_merge skips it */
    if (group->checkpoint)
        checkpoint_leave(group->checkpoint);
    worker_group_leave(group);
    pool->engine->consumer_close(opened);
    return NULL;
}

enum status worker_pool_open(struct worker_pool *pool, const struct engine_options *options,
                             struct failure *failure)
{
    const struct engine *engine = pool->engine;
    const struct worker_group *group = pool->group;

    if (engine->open(group->plan, options, *group->aggregate, &pool->session, &pool->count,
                     failure) != STATUS_OK)
        return failure->status;
    pool->started = 0;
    pool->workers = calloc(pool->count, sizeof *pool->workers);
    if (!pool->workers) {
        engine->close(pool->session);
        return status_fail(failure, STATUS_DATA, "not enough memory for %u workers", pool->count);
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
    int error = 0;

    while (pool->started < pool->count) {
        struct worker *worker = &pool->workers[pool->started];
        error = parallel_start_thread(&worker->thread, worker_run, worker);
        if (error != 0)
            break;
        pool->started++;
    }
    for (unsigned i = pool->started; i < pool->count; i++)
        worker_group_leave(pool->group);
    if (error == 0 || (pool->joins_late && pool->started > 0))
        return STATUS_OK;
    if (pool->started == 0)
        return status_fail(failure, STATUS_DATA, "cannot start a thread: %s", strerror(error));
    return status_fail(failure, STATUS_DATA, "cannot start thread %u: %s (try --threads %u)",
                       pool->started + 1, strerror(error), pool->started);
}

struct worker_pool_counts worker_pool_counts(const struct worker_pool *pool)
{
    struct worker_pool_counts counts = {.bytes = 0};

    for (unsigned i = 0; atomic_load(&pool->is_open) && i < pool->count; i++) {
        const struct worker *worker = &pool->workers[i];
        counts.bytes += atomic_load_explicit(&worker->bytes, memory_order_relaxed);
        counts.counted += atomic_load_explicit(&worker->counted, memory_order_relaxed);
        counts.pulling += atomic_load_explicit(&worker->pulls, memory_order_relaxed);
    }
    return counts;
}

enum status worker_pool_collect(const struct worker_pool *pool, enum status status,
                                struct failure *failure)
{
    for (unsigned i = 0; atomic_load(&pool->is_open) && i < pool->count; i++) {
        const struct worker *worker = &pool->workers[i];
        if (worker->status != STATUS_OK)
            status = status_fail_first(failure, status, &worker->failure);
    }
    return status;
}

enum status worker_pool_merge(struct worker_pool *pool, struct failure *failure)
{
    enum status status = STATUS_OK;
    double start = clock_seconds();

    if (worker_pool_counts(pool).bytes == 0)
        return STATUS_OK;
    for (unsigned i = 0; i < pool->count; i++) {
        struct worker *worker = &pool->workers[i];
        struct failure own;
        if (worker->consumer && worker_merge(worker, &own) != STATUS_OK)
            status = status_fail_first(failure, status, &own);
    }
    if (status == STATUS_OK && pool->engine->merge)
        status = pool->engine->merge(pool->session, failure);
    pool->merge_seconds += clock_seconds() - start;
    return status;
}

void worker_pool_close(struct worker_pool *pool, struct worker_pool_report *report)
{
    const bool is_open = atomic_load(&pool->is_open);
    double opened_at = 0;
    double finished_at = 0;

    for (unsigned i = 0; is_open && i < pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    *report = (struct worker_pool_report){
        .engine = pool->engine->name,
        .has_devices = pool->engine->devices != NULL,
        .device = pool->device,
        .bytes = worker_pool_counts(pool).bytes,
    };
    for (unsigned i = 0; is_open && i < pool->count; i++) {
        const struct worker *worker = &pool->workers[i];
        report->pull_seconds += worker->pull_seconds;
        report->busy_seconds += worker->busy_seconds;
        report->wait_seconds += worker->wait_seconds;
        report->workers += worker->opened_at > 0;
        if (worker->opened_at > 0 && (opened_at == 0 || worker->opened_at < opened_at))
            opened_at = worker->opened_at;
        if (worker->finished_at > finished_at)
            finished_at = worker->finished_at;
        if (worker->ended_at - pool->group->start > report->end_seconds)
            report->end_seconds = worker->ended_at - pool->group->start;
        if (worker->open_status != STATUS_OK)
            snprintf(report->reason, sizeof report->reason, "%.255s", worker->failure.message);
    }
    if (report->workers > 0) {
        report->reason[0] = '\0';
        report->open_seconds = opened_at - pool->group->start;
        if (finished_at > opened_at)
            report->run_seconds = finished_at - opened_at + pool->merge_seconds;
    } else if (report->reason[0] == '\0') {
        const char *usual = is_open ? "it was not needed" : "the input ended before it was ready";
        snprintf(report->reason, sizeof report->reason, "%s",
                 pool->reason[0] ? pool->reason : usual);
    }
    if (is_open) {
        free(pool->workers);
        pool->engine->close(pool->session);
    }
}
