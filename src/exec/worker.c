/* Implements worker.h: the loop that pulls and absorbs. */
#include "config.h"

#include "exec/worker.h"

#include "exec/offload_policy.h"
#include "text/text.h"

enum status worker_complete(struct worker *worker, struct failure *failure)
{
    if (!worker->has_absorbed)
        return STATUS_OK;
    worker->has_absorbed = false;
    return worker->session->engine->worker_finish(worker->worker, failure);
}

/* Whether its core is needed by a pool that has joined late, or to prepare a device. */
static bool worker_is_surplus(const struct worker *worker)
{
    const struct worker_session *session = worker->session;
    const struct crew *crew = session->crew;
    unsigned feeders = atomic_load_explicit(&crew->feeders, memory_order_relaxed);

    if (session->joins_late)
        return false;
    if (feeders == 0)
        return atomic_load_explicit(&crew->awaited_devices, memory_order_relaxed) != 0 &&
               worker->index >= offload_policy_cpu_workers_meanwhile(session->count);
    bool is_plain = source_size(crew->source) != SOURCE_SIZE_UNKNOWN;
    uint64_t bytes = is_plain ? atomic_load_explicit(&worker->bytes, memory_order_relaxed) : 0;
    return worker->index >= offload_policy_cpu_workers(session->count, feeders, bytes,
                                                       worker->busy_seconds + worker->pull_seconds);
}

/*
 * Leaves the source to the others and waits while a device is prepared. Keeps what it has absorbed
 * meanwhile: merging it and freeing memory would delay the preparation. Returns true if the worker
 * should continue.
 */
static bool worker_pause(const struct worker *worker)
{
    struct crew *crew = worker->session->crew;

    checkpoint_leave(crew->checkpoint);
    source_leave(crew->source);
    bool goes_on = crew_pause(crew) && source_join(crew->source);
    checkpoint_enter(crew->checkpoint);
    return goes_on;
}

/*
 * Pulls the next chunk. The worker counts as idle for checkpoints while it waits; if a checkpoint
 * is due, it merges what it holds before, in parallel with others. With an ordered operation,
 * flushes the worker before it waits for input, so that results are not held back. Keeps a failure
 * of the input in `fault`: the chunks before it still count.
 */
static enum status worker_pull(struct worker *worker, struct chunk_buffer *buffer,
                               struct chunk *chunk)
{
    const struct engine *engine = worker->session->engine;
    struct crew *crew = worker->session->crew;
    bool pulled = false;

    if (crew->checkpoint && checkpoint_is_wanted(crew->checkpoint) &&
        worker_complete(worker, &worker->failure) != STATUS_OK)
        return worker->failure.status;
    if (crew->operation->stop && engine->worker_flush) {
        worker->fault_status =
            source_try_pull(crew->source, buffer, chunk, &pulled, &worker->fault);
        if (!pulled && worker->has_absorbed &&
            engine->worker_flush(worker->worker, &worker->failure) != STATUS_OK)
            return worker->failure.status;
    }
    if (!pulled) {
        checkpoint_leave(crew->checkpoint);
        enum status status = source_pull(crew->source, buffer, chunk, &worker->fault);
        checkpoint_enter(crew->checkpoint);
        worker->fault_status = status;
    }
    return STATUS_OK;
}

/* Pulls and absorbs until the source ends or the worker is surplus; then merges. */
static enum status worker_loop(struct worker *worker)
{
    const struct engine *engine = worker->session->engine;
    const struct crew *crew = worker->session->crew;
    const bool is_ordered = crew->operation->stop; /* others wait for its results */

    worker->opened_at = crew_clock();
    atomic_store_explicit(&worker->pulls, true, memory_order_relaxed);
    for (;;) {
        struct chunk_buffer buffer;
        struct chunk chunk;
        if (worker_is_surplus(worker)) {
            if (is_ordered && worker_complete(worker, &worker->failure) != STATUS_OK)
                return worker->failure.status;
            if (!worker_pause(worker))
                break;
        }
        double start = crew_clock();
        if (engine->worker_buffer(worker->worker, &buffer, &worker->failure) != STATUS_OK)
            return worker->failure.status;
        double free = crew_clock();
        if (worker_pull(worker, &buffer, &chunk) != STATUS_OK)
            return worker->failure.status;
        double filled = crew_clock();
        worker->wait_seconds += free - start;
        worker->pull_seconds += filled - free;
        atomic_fetch_add_explicit(&worker->bytes, chunk.bytes + chunk.left_out,
                                  memory_order_relaxed);
        if (chunk.bytes == 0 && !chunk.is_cut)
            break;
        worker->has_absorbed = true;
        worker->counted.bytes += chunk.bytes;
        if (chunk.lines != CHUNK_LINES_UNKNOWN)
            worker->counted.lines += text_count_lines(chunk.data, chunk.bytes);
        enum status status = engine->worker_absorb(worker->worker, &chunk, &worker->failure);
        worker->busy_seconds += crew_clock() - filled;
        if (status != STATUS_OK)
            return status;
        if (chunk.is_cut)
            break;
    }
    double start = crew_clock();
    enum status status = worker_complete(worker, &worker->failure);
    worker->finished_at = crew_clock();
    worker->busy_seconds += worker->finished_at - start;
    return status;
}

/* Opens the worker of the engine and runs the loop. Sets the status, and stops others if need be.
 */
static void worker_work(struct worker *worker)
{
    const struct worker_session *session = worker->session;
    struct crew *crew = session->crew;

    worker->open_status =
        session->engine->worker_open(session->session, &worker->worker, &worker->failure);
    if (worker->open_status == STATUS_OK) {
        if (session->joins_late)
            crew_add_feeder(crew);
        worker->status = worker_loop(worker);
    } else {
        worker->status = session->joins_late ? STATUS_OK : worker->open_status; /* none is lost */
        if (session->joins_late)
            crew_give_up_device(crew, session->device_bit);
        source_leave(crew->source);
    }
    if (worker->status != STATUS_OK) {
        bool is_of_data = worker->failure.position != STATUS_NOWHERE;
        source_stop(crew->source,
                    worker->status == STATUS_DATA && is_of_data ? worker->failure.position : 0);
        /* Chunks are lost, unless it is a failure of the data, which follows what was absorbed. */
        if (crew->operation->stop && !is_of_data)
            crew->operation->stop(crew->partial);
    }
    if (worker->fault_status != STATUS_OK &&
        (worker->status == STATUS_OK || status_is_before(&worker->fault, &worker->failure))) {
        worker->status = worker->fault_status;
        worker->failure = worker->fault;
    }
}

/* Frees its memory after it has left, while results are merged (GPU: 3 ms). */
void *worker_run(void *argument)
{
    struct worker *worker = argument;
    const struct engine *engine = worker->session->engine;
    struct crew *crew = worker->session->crew;

    if (!source_join(crew->source)) {
        crew_leave(crew);
        return NULL;
    }
    checkpoint_enter(crew->checkpoint);
    if (!worker_is_surplus(worker) || worker_pause(worker))
        worker_work(worker);
    void *opened = worker->worker;
    worker->worker = NULL;
    checkpoint_leave(crew->checkpoint);
    crew_leave(crew);
    engine->worker_close(opened);
    return NULL;
}
