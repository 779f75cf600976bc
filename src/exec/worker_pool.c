/* Implements worker_pool.h: opening, merging and reporting for a pool. */
#include "config.h"

#include "exec/worker_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum status worker_pool_open(struct worker_pool *pool, const struct engine_options *options,
                             struct failure *failure)
{
    struct worker_session *session = &pool->session;
    const struct engine *engine = session->engine;
    const struct crew *crew = session->crew;

    if (engine->open(crew->job, options, crew->partial, &session->session, failure) != STATUS_OK)
        return failure->status;
    session->count = engine->workers(session->session);
    pool->started = 0;
    pool->workers = calloc(session->count, sizeof *pool->workers);
    if (!pool->workers) {
        engine->close(session->session);
        return status_fail(failure, STATUS_DATA, "no memory for %u workers", session->count);
    }
    for (unsigned i = 0; i < session->count; i++) {
        pool->workers[i].session = session;
        pool->workers[i].index = i;
    }
    atomic_store(&pool->is_open, true);
    return STATUS_OK;
}

enum status worker_pool_start(struct worker_pool *pool, struct failure *failure)
{
    const struct worker_session *session = &pool->session;
    int error = 0;

    while (pool->started < session->count) {
        struct worker *worker = &pool->workers[pool->started];
        error = pthread_create(&worker->thread, NULL, worker_run, worker);
        if (error != 0)
            break;
        pool->started++;
    }
    for (unsigned i = pool->started; i < session->count; i++)
        crew_leave(session->crew);
    if (error == 0 || (session->joins_late && pool->started > 0))
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
    for (unsigned i = 0; i < pool->session.count; i++)
        bytes += atomic_load_explicit(&pool->workers[i].bytes, memory_order_relaxed);
    return bytes;
}

uint64_t worker_pool_counted(const struct worker_pool *pool)
{
    uint64_t counted = 0;

    for (unsigned i = 0; atomic_load(&pool->is_open) && i < pool->session.count; i++)
        counted += pool->workers[i].counted;
    return counted;
}

unsigned worker_pool_pulling(const struct worker_pool *pool)
{
    unsigned pulling = 0;

    if (!atomic_load(&pool->is_open))
        return 0;
    for (unsigned i = 0; i < pool->session.count; i++)
        pulling += atomic_load_explicit(&pool->workers[i].pulls, memory_order_relaxed);
    return pulling;
}

bool worker_pool_is_sound(const struct worker_pool *pool)
{
    if (!atomic_load(&pool->is_open))
        return true;
    for (unsigned i = 0; i < pool->session.count; i++) {
        const struct worker *worker = &pool->workers[i];
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
    for (unsigned i = 0; i < pool->session.count; i++) {
        const struct worker *worker = &pool->workers[i];
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
    double start = crew_clock();

    if (worker_pool_bytes(pool) == 0)
        return STATUS_OK;
    for (unsigned i = 0; i < pool->session.count; i++) {
        struct worker *worker = &pool->workers[i];
        struct failure own;
        if (worker->worker && worker_complete(worker, &own) != STATUS_OK &&
            (status == STATUS_OK || status_is_before(&own, failure))) {
            *failure = own;
            status = own.status;
        }
    }
    if (status == STATUS_OK && pool->session.engine->finish)
        status = pool->session.engine->finish(pool->session.session, failure);
    pool->merge_seconds += crew_clock() - start;
    return status;
}

void worker_pool_describe(const struct worker_pool *pool, struct worker_pool_report *report)
{
    const bool is_open = atomic_load(&pool->is_open);
    double opened_at = 0;
    double finished_at = 0;

    *report = (struct worker_pool_report){
        .engine = pool->session.engine->name,
        .device = pool->device,
        .bytes = worker_pool_bytes(pool),
    };
    for (unsigned i = 0; is_open && i < pool->session.count; i++) {
        const struct worker *worker = &pool->workers[i];
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
    if (report->workers > 0) {
        report->reason[0] = '\0';
        report->open_seconds = opened_at - pool->session.crew->start;
        if (finished_at > opened_at)
            report->run_seconds = finished_at - opened_at + pool->merge_seconds;
    } else if (report->reason[0] == '\0') {
        const char *usual = is_open ? "it was not needed" : "the input ended before it was ready";
        snprintf(report->reason, sizeof report->reason, "%s",
                 pool->reason[0] ? pool->reason : usual);
    }
}

void worker_pool_close(struct worker_pool *pool)
{
    if (!atomic_load(&pool->is_open))
        return;
    free(pool->workers);
    pool->session.engine->close(pool->session.session);
}
