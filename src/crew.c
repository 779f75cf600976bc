#include "config.h"

#include "crew.h"

#include "hybrid.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Written by the worker itself, between checkpoint_enter and checkpoint_leave if there are
 * checkpoints, so that the thread that holds one can use all of it; `fault` outside, too.
 */
struct crew_worker {
    struct crew *crew;
    unsigned index;
    pthread_t thread;
    void *worker; /* the engine's; NULL while it is not open */
    enum status status;
    struct failure failure; /* of the engine, then of all; valid if status is not STATUS_OK */
    enum status fault_status;
    struct failure fault; /* of the input, likewise */
    enum status open_status;
    bool has_absorbed;           /* something since it was completed last */
    atomic_bool pulls;           /* it has begun to; relaxed, as is the next */
    atomic_uint_least64_t bytes; /* others read it while it grows */
    double opened_at;            /* on the clock: ready to pull, and done */
    double finished_at;
    double pull_seconds;
    double busy_seconds;
    double wait_seconds;
};

double crew_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* From here to crew_worker_leave, what the worker has changes. */
static void crew_worker_enter(struct crew_worker *self)
{
    if (self->crew->work->checkpoint)
        checkpoint_enter(self->crew->work->checkpoint);
}

static void crew_worker_leave(struct crew_worker *self)
{
    if (self->crew->work->checkpoint)
        checkpoint_leave(self->crew->work->checkpoint);
}

/* Whether the worker had better merge what it has, while others do the same. */
static bool crew_worker_is_asked(const struct crew_worker *self)
{
    return self->crew->work->checkpoint && checkpoint_is_wanted(self->crew->work->checkpoint);
}

/* Whether its core is wanted by a crew that was called in, or to make one's device ready. */
static bool crew_worker_is_dismissed(const struct crew_worker *self)
{
    const struct crew *crew = self->crew;
    unsigned feeders = atomic_load_explicit(&crew->work->feeders, memory_order_relaxed);

    if (crew->is_called_in)
        return false;
    if (feeders == 0)
        return atomic_load_explicit(&crew->work->makes_way, memory_order_relaxed) &&
               self->index >= hybrid_cpu_workers_meanwhile(crew->count);
    bool is_plain = source_size(crew->work->source) != SOURCE_SIZE_UNKNOWN;
    uint64_t bytes = is_plain ? atomic_load_explicit(&self->bytes, memory_order_relaxed) : 0;
    return self->index >=
           hybrid_cpu_workers(crew->count, feeders, bytes, self->busy_seconds + self->pull_seconds);
}

/*
 * Completes what the worker has absorbed, and merges it. One that has nothing is not asked: a
 * device that has failed meanwhile has then lost nothing of it.
 */
static enum status crew_worker_complete(struct crew_worker *self, struct failure *failure)
{
    if (!self->has_absorbed)
        return STATUS_OK;
    self->has_absorbed = false;
    return self->crew->engine->worker_finish(self->worker, failure);
}

/* A pull that may wait, in which a checkpoint finds the worker idle. */
static void crew_worker_wait(struct crew_worker *self, const struct engine_buffer *buffer,
                             struct chunk *chunk)
{
    crew_worker_leave(self);
    enum status status =
        source_pull(self->crew->work->source, buffer->data, buffer->capacity, chunk, &self->fault);
    crew_worker_enter(self);
    self->fault_status = status;
}

/*
 * The next chunk; before it has to wait for one, a worker completes what it has, so that ordered
 * results do not wait for input. A fault of the input is kept: what precedes it still counts.
 */
static enum status crew_worker_pull(struct crew_worker *self, const struct engine_buffer *buffer,
                                    struct chunk *chunk)
{
    const struct crew_work *work = self->crew->work;
    const struct engine *engine = self->crew->engine;
    bool pulled = false;

    if (crew_worker_is_asked(self) && crew_worker_complete(self, &self->failure) != STATUS_OK)
        return self->failure.status;
    if (work->operation->stop && engine->worker_flush) {
        self->fault_status = source_try_pull(work->source, buffer->data, buffer->capacity, chunk,
                                             &pulled, &self->fault);
        if (!pulled && self->has_absorbed &&
            engine->worker_flush(self->worker, &self->failure) != STATUS_OK)
            return self->failure.status;
    }
    if (!pulled)
        crew_worker_wait(self, buffer, chunk);
    return STATUS_OK;
}

/* One round: a free buffer, filled, absorbed. Sets *ended when the source has no more. */
static enum status crew_worker_step(struct crew_worker *self, bool *ended)
{
    const struct engine *engine = self->crew->engine;
    struct engine_buffer buffer;
    struct chunk chunk;
    double start = crew_clock();

    if (engine->worker_buffer(self->worker, &buffer, &self->failure) != STATUS_OK)
        return self->failure.status;
    double free = crew_clock();
    if (crew_worker_pull(self, &buffer, &chunk) != STATUS_OK)
        return self->failure.status;
    double filled = crew_clock();
    self->wait_seconds += free - start;
    self->pull_seconds += filled - free;
    atomic_fetch_add_explicit(&self->bytes, chunk.bytes + chunk.left_out, memory_order_relaxed);
    *ended = chunk.bytes == 0 || chunk.is_cut;
    if (chunk.bytes == 0 && !chunk.is_cut)
        return STATUS_OK;
    self->has_absorbed = true;
    enum status status = engine->worker_absorb(self->worker, &chunk, &self->failure);
    self->busy_seconds += crew_clock() - filled;
    return status;
}

/*
 * Lets another pull, and waits if it is to make way. What it has absorbed it keeps meanwhile:
 * beside those that count that, and give memory back, a device takes longer to get ready. True: it
 * goes on.
 */
static bool crew_worker_stand_by(struct crew_worker *self)
{
    const struct crew_work *work = self->crew->work;

    crew_worker_leave(self);
    source_leave(work->source);
    bool goes_on = work->stand_by(work->context) && source_join(work->source);
    crew_worker_enter(self);
    return goes_on;
}

static enum status crew_worker_loop(struct crew_worker *self)
{
    bool ended = false;

    self->opened_at = crew_clock();
    atomic_store_explicit(&self->pulls, true, memory_order_relaxed);
    while (!ended) {
        bool is_dismissed = crew_worker_is_dismissed(self);
        bool is_ordered = self->crew->work->operation->stop; /* others wait for what it has */
        if (is_dismissed && is_ordered && crew_worker_complete(self, &self->failure) != STATUS_OK)
            return self->failure.status;
        if (is_dismissed && !crew_worker_stand_by(self))
            break;
        if (crew_worker_step(self, &ended) != STATUS_OK)
            return self->failure.status;
    }
    double start = crew_clock();
    enum status status = crew_worker_complete(self, &self->failure);
    self->finished_at = crew_clock();
    self->busy_seconds += self->finished_at - start;
    return status;
}

/* Of a worker's failures, the engine's and the input's, the one that is to be told. */
static void crew_worker_judge(struct crew_worker *self)
{
    if (self->fault_status == STATUS_OK ||
        (self->status != STATUS_OK && !status_is_before(&self->fault, &self->failure)))
        return;
    self->status = self->fault_status;
    self->failure = self->fault;
}

/* Opens the worker and lets it work; it has failed if its status is not STATUS_OK then. */
static void crew_worker_open(struct crew_worker *self)
{
    struct crew *crew = self->crew;

    self->open_status = crew->engine->worker_open(crew->session, &self->worker, &self->failure);
    if (self->open_status != STATUS_OK) {
        self->status = crew->is_called_in ? STATUS_OK : self->open_status; /* nothing is lost */
        if (crew->is_called_in) /* who made way for it is told so when this one leaves */
            atomic_store_explicit(&crew->work->makes_way, false, memory_order_relaxed);
        source_leave(crew->work->source);
        return;
    }
    if (crew->is_called_in)
        crew->work->join(crew->work->context);
    self->status = crew_worker_loop(self);
}

static void crew_worker_work(struct crew_worker *self)
{
    const struct crew_work *work = self->crew->work;

    crew_worker_open(self);
    if (self->status != STATUS_OK) {
        source_stop(work->source);
        /* Unless it is a fault of the data, behind what it absorbed, chunks that it had are lost.
         */
        if (work->operation->stop && self->failure.position == STATUS_NOWHERE)
            work->operation->stop(work->partial);
    }
    crew_worker_judge(self);
}

/* Gives its memory back once it has left, while the results of all are merged: 3 ms for a GPU's. */
static void *crew_worker_run(void *argument)
{
    struct crew_worker *self = argument;
    struct crew_work *work = self->crew->work;

    if (!source_join(work->source)) {
        work->leave(work->context);
        return NULL;
    }
    crew_worker_enter(self);
    if (!crew_worker_is_dismissed(self) || crew_worker_stand_by(self))
        crew_worker_work(self);
    void *worker = self->worker;
    self->worker = NULL;
    crew_worker_leave(self);
    work->leave(work->context);
    self->crew->engine->worker_close(worker);
    return NULL;
}

enum status crew_open(struct crew *crew, struct crew_work *work,
                      const struct engine_options *options, struct failure *failure)
{
    crew->work = work;
    if (crew->engine->open(work->job, options, work->partial, &crew->session, failure) != STATUS_OK)
        return failure->status;
    crew->count = crew->engine->workers(crew->session);
    crew->started = 0;
    crew->workers = calloc(crew->count, sizeof *crew->workers);
    if (!crew->workers) {
        crew->engine->close(crew->session);
        return status_fail(failure, STATUS_DATA, "no memory for %u workers", crew->count);
    }
    for (unsigned i = 0; i < crew->count; i++) {
        crew->workers[i].crew = crew;
        crew->workers[i].index = i;
    }
    atomic_store(&crew->is_open, true);
    return STATUS_OK;
}

enum status crew_start(struct crew *crew, struct failure *failure)
{
    struct crew_work *work = crew->work;
    int error = 0;

    while (crew->started < crew->count) {
        struct crew_worker *worker = &crew->workers[crew->started];
        error = pthread_create(&worker->thread, NULL, crew_worker_run, worker);
        if (error != 0)
            break;
        crew->started++;
    }
    for (unsigned i = crew->started; i < crew->count; i++)
        work->leave(work->context);
    if (error == 0 || (crew->is_called_in && crew->started > 0))
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "cannot start thread %u: %s", crew->started + 1,
                       strerror(error));
}

void crew_join(const struct crew *crew)
{
    if (!atomic_load(&crew->is_open))
        return;
    for (unsigned i = 0; i < crew->started; i++)
        pthread_join(crew->workers[i].thread, NULL);
}

uint64_t crew_bytes(const struct crew *crew)
{
    uint64_t bytes = 0;

    if (!atomic_load(&crew->is_open))
        return 0;
    for (unsigned i = 0; i < crew->count; i++)
        bytes += atomic_load_explicit(&crew->workers[i].bytes, memory_order_relaxed);
    return bytes;
}

unsigned crew_pulling(const struct crew *crew)
{
    unsigned pulling = 0;

    if (!atomic_load(&crew->is_open))
        return 0;
    for (unsigned i = 0; i < crew->count; i++)
        pulling += atomic_load_explicit(&crew->workers[i].pulls, memory_order_relaxed);
    return pulling;
}

bool crew_is_sound(const struct crew *crew)
{
    if (!atomic_load(&crew->is_open))
        return true;
    for (unsigned i = 0; i < crew->count; i++) {
        const struct crew_worker *worker = &crew->workers[i];
        if (worker->status != STATUS_OK || worker->fault_status != STATUS_OK)
            return false;
    }
    return true;
}

enum status crew_judge(const struct crew *crew, enum status status, struct failure *failure)
{
    if (!atomic_load(&crew->is_open))
        return status;
    for (unsigned i = 0; i < crew->count; i++) {
        const struct crew_worker *worker = &crew->workers[i];
        if (worker->status == STATUS_OK ||
            (status != STATUS_OK && !status_is_before(&worker->failure, failure)))
            continue;
        *failure = worker->failure;
        status = worker->status;
    }
    return status;
}

enum status crew_finish(struct crew *crew, struct failure *failure)
{
    enum status status = STATUS_OK;
    double start = crew_clock();

    if (crew_bytes(crew) == 0)
        return STATUS_OK;
    for (unsigned i = 0; i < crew->count; i++) {
        struct crew_worker *worker = &crew->workers[i];
        struct failure own;
        if (worker->worker && crew_worker_complete(worker, &own) != STATUS_OK &&
            (status == STATUS_OK || status_is_before(&own, failure))) {
            *failure = own;
            status = own.status;
        }
    }
    if (status == STATUS_OK && crew->engine->finish)
        status = crew->engine->finish(crew->session, failure);
    crew->merge_seconds += crew_clock() - start;
    return status;
}

/* Adds up what the workers did. */
static void crew_add_up(const struct crew *crew, struct crew_report *report)
{
    double opened_at = 0;
    double finished_at = 0;

    for (unsigned i = 0; i < crew->count; i++) {
        const struct crew_worker *worker = &crew->workers[i];
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
    report->open_seconds = opened_at - crew->work->start;
    if (finished_at > opened_at)
        report->run_seconds = finished_at - opened_at + crew->merge_seconds;
}

void crew_describe(const struct crew *crew, struct crew_report *report)
{
    *report = (struct crew_report){
        .engine = crew->engine->name,
        .device = crew->device,
        .bytes = crew_bytes(crew),
    };
    if (atomic_load(&crew->is_open))
        crew_add_up(crew, report);
    if (report->workers > 0 || report->reason[0])
        return;
    const char *usual =
        atomic_load(&crew->is_open) ? "it was not needed" : "the input ended before it was ready";
    snprintf(report->reason, sizeof report->reason, "%s", crew->reason[0] ? crew->reason : usual);
}

void crew_close(struct crew *crew)
{
    if (!atomic_load(&crew->is_open))
        return;
    free(crew->workers);
    crew->engine->close(crew->session);
}
