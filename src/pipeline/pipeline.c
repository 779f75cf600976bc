#include "config.h"

#include "pipeline/pipeline.h"

#include "input/parse_errors.h"
#include "pipeline/device_startup.h"
#include "pipeline/offload_policy.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct pipeline {
    const struct pipeline_task *task;
    struct worker_pool_work work;
    struct checkpoint checkpoint;
    struct worker_pool pools[PIPELINE_WORKER_POOLS_MAX];
    struct device_startup
        *startups[PIPELINE_WORKER_POOLS_MAX]; /* of the pools; NULL: it is none, or ended */
    atomic_size_t worker_pool_count;          /* grows as startups find out about more devices */

    pthread_mutex_t lock; /* guards what follows, and adding a pool */
    pthread_cond_t changed;
    size_t at_work;     /* workers that have not ended, and startups that are starting some */
    size_t standing_by; /* of these workers, */
    bool all_stood_by;  /* and it was all of them once: they leave, side by side */
    bool ended;         /* nobody is at work, nor will be */
};

static size_t pipeline_crews(const struct pipeline *pipeline)
{
    return atomic_load(&pipeline->worker_pool_count);
}

/* Adds a pool, to be opened or to be told of, now or called in later; NULL: there are too many. */
static struct worker_pool *pipeline_add_crew(struct pipeline *pipeline, const struct engine *engine,
                                             unsigned device, bool is_called_in)
{
    struct worker_pool *pool = NULL;

    pthread_mutex_lock(&pipeline->lock);
    size_t count = pipeline_crews(pipeline);
    if (count < PIPELINE_WORKER_POOLS_MAX) {
        pool = &pipeline->pools[count];
        pool->work = &pipeline->work;
        pool->engine = engine;
        pool->device = device;
        pool->is_called_in = is_called_in;
        atomic_store(&pipeline->worker_pool_count, count + 1);
    }
    pthread_mutex_unlock(&pipeline->lock);
    return pool;
}

/* Counts so many more at work; false if all is over. */
static bool pipeline_enlist(struct pipeline *pipeline, size_t workers)
{
    pthread_mutex_lock(&pipeline->lock);
    bool goes_on = !pipeline->ended;
    pipeline->at_work += goes_on ? workers : 0;
    pthread_mutex_unlock(&pipeline->lock);
    return goes_on;
}

/* One less is at work. */
static void pipeline_leave(void *context)
{
    struct pipeline *pipeline = context;
    const struct pipeline_watcher *watcher = pipeline->task->watcher;

    pthread_mutex_lock(&pipeline->lock);
    bool is_last = --pipeline->at_work == 0;
    pipeline->ended = pipeline->ended || is_last;
    if (is_last && watcher->wake)
        watcher->wake(watcher->context);
    pthread_cond_broadcast(&pipeline->changed);
    pthread_mutex_unlock(&pipeline->lock);
}

/* A feeder more pulls: who stands by need not wait any longer, and merges what it has. */
static void pipeline_join(void *context)
{
    struct pipeline *pipeline = context;

    pthread_mutex_lock(&pipeline->lock);
    atomic_fetch_add_explicit(&pipeline->work.feeders, 1, memory_order_relaxed);
    pthread_cond_broadcast(&pipeline->changed);
    pthread_mutex_unlock(&pipeline->lock);
}

/* Whether a device gets ready that workers stand by for. The lock is held. */
static bool pipeline_makes_way(const struct pipeline *pipeline)
{
    const struct worker_pool_work *work = &pipeline->work;
    return atomic_load_explicit(&work->makes_way, memory_order_relaxed) &&
           atomic_load_explicit(&work->feeders, memory_order_relaxed) == 0 &&
           !pipeline->all_stood_by;
}

/*
 * Waits while a device gets ready that this worker has made way for, unless all others do the same
 * or have ended: they have left nothing then.
 */
static bool pipeline_stand_by(void *context)
{
    struct pipeline *pipeline = context;
    const struct worker_pool_work *work = &pipeline->work;

    pthread_mutex_lock(&pipeline->lock);
    pipeline->standing_by++;
    while (pipeline_makes_way(pipeline) && pipeline->standing_by < pipeline->at_work)
        pthread_cond_wait(&pipeline->changed, &pipeline->lock);
    if (pipeline_makes_way(pipeline)) {
        pipeline->all_stood_by = true;
        pthread_cond_broadcast(&pipeline->changed);
    }
    pipeline->standing_by--;
    bool comes_back = !atomic_load_explicit(&work->makes_way, memory_order_relaxed) &&
                      atomic_load_explicit(&work->feeders, memory_order_relaxed) == 0;
    pthread_mutex_unlock(&pipeline->lock);
    return comes_back;
}

bool pipeline_has_ended(struct pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->lock);
    bool ended = pipeline->ended;
    pthread_mutex_unlock(&pipeline->lock);
    return ended;
}

static void pipeline_wait(struct pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->lock);
    while (!pipeline->ended)
        pthread_cond_wait(&pipeline->changed, &pipeline->lock);
    pthread_mutex_unlock(&pipeline->lock);
}

static uint64_t pipeline_bytes(const struct pipeline *pipeline)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < pipeline_crews(pipeline); i++)
        bytes += worker_pool_bytes(&pipeline->pools[i]);
    return bytes;
}

/* How much of the input is left, or ENGINE_INPUT_UNKNOWN. */
static uint64_t pipeline_bytes_left(const struct pipeline *pipeline)
{
    uint64_t size = pipeline->task->options.input_bytes;
    uint64_t bytes = pipeline_bytes(pipeline);

    if (size == ENGINE_INPUT_UNKNOWN)
        return size;
    return size > bytes ? size - bytes : 0;
}

/* How many elements so many bytes that were absorbed were. */
static uint64_t pipeline_elements(const struct pipeline *pipeline, uint64_t bytes)
{
    const struct job *job = pipeline->task->job;
    return job->is_text ? parse_errors_values(job->errors) : bytes / job->element.bytes;
}

/* Whether a pool is at work: from the start, or as soon as it pulls. */
static bool pipeline_has_begun(const struct worker_pool *pool)
{
    return atomic_load(&pool->is_open) && (!pool->is_called_in || worker_pool_pulling(pool) > 0);
}

void pipeline_look(const struct pipeline *pipeline, struct pipeline_live *live)
{
    size_t length = 0;

    *live = (struct pipeline_live){
        .bytes = pipeline_bytes(pipeline),
        .seconds = worker_pool_clock() - pipeline->work.start,
    };
    for (size_t i = 0; i < pipeline_crews(pipeline); i++) {
        const struct worker_pool *pool = &pipeline->pools[i];
        char name[ENGINE_NAME_MAX];
        engine_write_name(name, pool->engine->name, pool->device);
        if (pipeline_has_begun(pool) && length + 5 + ENGINE_NAME_MAX < sizeof live->engines)
            length += (size_t)snprintf(live->engines + length, sizeof live->engines - length,
                                       "%s%s", length > 0 ? " and " : "", name);
    }
}

/* Merges all that the pools have, none of which is at work. */
static enum status pipeline_gather(struct pipeline *pipeline, struct failure *failure)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < pipeline_crews(pipeline); i++) {
        struct failure own;
        if (worker_pool_finish(&pipeline->pools[i], &own) != STATUS_OK &&
            (status == STATUS_OK || status_is_before(&own, failure))) {
            *failure = own;
            status = own.status;
        }
    }
    return status;
}

/* Merges and settles all that was absorbed. */
static enum status pipeline_settle(struct pipeline *pipeline, struct failure *failure)
{
    const struct pipeline_task *task = pipeline->task;
    enum status status = pipeline_gather(pipeline, failure);

    if (status != STATUS_OK)
        return status;
    return pipeline->work.operation->finish(task->partial, task->job,
                                            pipeline_elements(pipeline, pipeline_bytes(pipeline)),
                                            failure);
}

/* Whether no worker has failed. */
static bool pipeline_is_sound(const struct pipeline *pipeline)
{
    for (size_t i = 0; i < pipeline_crews(pipeline); i++) {
        if (!worker_pool_is_sound(&pipeline->pools[i]))
            return false;
    }
    return true;
}

enum status pipeline_checkpoint(struct pipeline *pipeline,
                                enum status (*use)(void *context, struct failure *failure),
                                void *context, struct failure *failure)
{
    enum status status = STATUS_OK;

    checkpoint_begin(&pipeline->checkpoint);
    if (pipeline_is_sound(pipeline)) {
        status = pipeline_settle(pipeline, failure);
        if (status == STATUS_OK)
            status = use(context, failure);
    }
    checkpoint_end(&pipeline->checkpoint);
    return status;
}

/* --- devices that are called in ------------------------------------------------------------------
 */

/* How far the pools are that were not called in. */
static struct offload_policy_view pipeline_view(const struct pipeline *pipeline)
{
    struct offload_policy_view view = {
        .input_bytes = pipeline->task->options.input_bytes,
        .bytes = pipeline_bytes(pipeline),
        .seconds = worker_pool_clock() - pipeline->work.start,
        .feeders = atomic_load_explicit(&pipeline->work.feeders, memory_order_relaxed),
    };

    for (size_t i = 0; i < pipeline_crews(pipeline); i++) {
        const struct worker_pool *pool = &pipeline->pools[i];
        bool counts = !pool->is_called_in && atomic_load(&pool->is_open);
        view.workers += counts ? pool->count : 0;
        view.pulling += counts ? worker_pool_pulling(pool) : 0;
    }
    return view;
}

/* Whether a rule of policy.h holds now, or need not, because the devices are asked for. */
static bool pipeline_agrees(const struct pipeline *pipeline,
                            bool (*rule)(const struct offload_policy_view *view))
{
    struct offload_policy_view view = pipeline_view(pipeline);
    return pipeline->task->device_count > 0 || rule(&view);
}

/* Asked by a startup. Where decoding is the limit, a device is no help. */
static bool pipeline_pays(void *context)
{
    const struct worker_pool *pool = context;
    const struct pipeline_task *task = ((struct pipeline *)pool->work->context)->task;

    if (task->device_count == 0 && source_is_decoding(task->source))
        return false;
    return pipeline_agrees(pool->work->context, offload_policy_pays);
}

/* Called by a startup. */
static void pipeline_make_way(void *context)
{
    struct worker_pool *pool = context;
    atomic_store_explicit(&pool->work->makes_way, true, memory_order_relaxed);
}

/* The device cannot be used: who has made way for it comes back. */
static void pipeline_give_up(struct pipeline *pipeline, struct worker_pool *pool,
                             const char *reason)
{
    snprintf(pool->reason, sizeof pool->reason, "%.255s", reason);
    pthread_mutex_lock(&pipeline->lock);
    atomic_store_explicit(&pipeline->work.makes_way, false, memory_order_relaxed);
    pthread_cond_broadcast(&pipeline->changed);
    pthread_mutex_unlock(&pipeline->lock);
}

static void pipeline_call_in(void *context, const char *reason);

static void pipeline_recruit(struct pipeline *pipeline, struct worker_pool *pool)
{
    const struct device_startup_plan plan = {
        .engine = pool->engine,
        .device = pool->device,
        .context = pool,
        .pays = pipeline_pays,
        .begun = pipeline_make_way,
        .ready = pipeline_call_in,
    };
    struct device_startup **startup = &pipeline->startups[pool - pipeline->pools];

    *startup = device_startup_start(&plan);
    if (!*startup)
        snprintf(pool->reason, sizeof pool->reason, "cannot start a thread for it: %s",
                 strerror(errno));
}

/* Once the first device is in: the others, if they pay as well. */
static void pipeline_recruit_others(struct pipeline *pipeline, const struct worker_pool *first)
{
    const struct pipeline_task *task = pipeline->task;

    if (task->device_count > 0 || first->device > 0 || !first->engine->devices)
        return;
    unsigned devices =
        offload_policy_devices(first->engine->devices(), pipeline_bytes_left(pipeline));
    for (unsigned i = 1; i < devices && i < ENGINE_DEVICES_MAX; i++) {
        struct worker_pool *pool = pipeline_add_crew(pipeline, first->engine, i, true);
        if (pool)
            pipeline_recruit(pipeline, pool);
    }
}

/* Opens a pool on a device that is ready, and starts it; meanwhile the run does not end. */
static enum status pipeline_start_called(struct pipeline *pipeline, struct worker_pool *pool,
                                         struct failure *failure)
{
    struct engine_options options = pipeline->task->options;

    if (!pipeline_agrees(pipeline, offload_policy_gains))
        return status_fail(failure, STATUS_ENGINE, "the CPU alone is quicker");
    if (!pipeline_agrees(pipeline, offload_policy_joins))
        return status_fail(failure, STATUS_ENGINE, "the input was all but done when it was ready");
    options.device = pool->device;
    options.input_bytes = pipeline_bytes_left(pipeline);
    if (worker_pool_open(pool, &pipeline->work, &options, failure) != STATUS_OK)
        return failure->status;
    pipeline_enlist(pipeline, pool->count);
    return worker_pool_start(pool, failure);
}

/* Called by a startup. */
static void pipeline_call_in(void *context, const char *reason)
{
    struct worker_pool *pool = context;
    struct pipeline *pipeline = pool->work->context;
    struct failure failure;

    if (reason) {
        pipeline_give_up(pipeline, pool, reason);
        return;
    }
    if (!pipeline_enlist(pipeline, 1))
        return;
    if (pipeline_start_called(pipeline, pool, &failure) == STATUS_OK)
        pipeline_recruit_others(pipeline, pool);
    else
        pipeline_give_up(pipeline, pool, failure.message);
    pipeline_leave(pipeline);
}

/* Starts what is to get devices ready. */
static void pipeline_start_recruits(struct pipeline *pipeline, unsigned workers)
{
    const struct pipeline_task *task = pipeline->task;
    bool is_small =
        task->device_count == 0 && offload_policy_is_small(task->options.input_bytes, workers);
    size_t count = pipeline_crews(pipeline); /* of which startups may add to */

    for (size_t i = 0; i < count; i++) {
        struct worker_pool *pool = &pipeline->pools[i];
        if (!pool->is_called_in)
            continue;
        if (is_small)
            snprintf(pool->reason, sizeof pool->reason, "the input is too small for it to pay");
        else
            pipeline_recruit(pipeline, pool);
    }
}

/* When the run has ended: ends the startups; returns whether one is left behind. */
static bool pipeline_end_recruits(struct pipeline *pipeline)
{
    bool is_left = false;

    for (size_t i = 0; i < pipeline_crews(pipeline); i++) {
        struct worker_pool *pool = &pipeline->pools[i];
        if (!pipeline->startups[i])
            continue;
        enum device_startup_end end = device_startup_end(pipeline->startups[i]);
        if (end == DEVICE_STARTUP_NOT_BEGUN)
            snprintf(pool->reason, sizeof pool->reason, "it was not needed");
        is_left = is_left || end == DEVICE_STARTUP_LEFT_BEHIND;
    }
    return is_left;
}

/* --- a run ---------------------------------------------------------------------------------------
 */

/* Adds and opens a pool; one that cannot be opened is told of. */
static enum status pipeline_open_crew(struct pipeline *pipeline, const struct engine *engine,
                                      unsigned device, struct failure *failure)
{
    struct engine_options options = pipeline->task->options;
    struct worker_pool *pool = pipeline_add_crew(pipeline, engine, device, false);
    enum status status = STATUS_OK;
    char description[256];

    options.device = device;
    if (!pool)
        return status_fail(failure, STATUS_USAGE, "too many devices");
    if (!engine->probe(device, description, sizeof description))
        status = status_fail(failure, STATUS_ENGINE, "engine %s cannot run: %s", engine->name,
                             description);
    else if (worker_pool_open(pool, &pipeline->work, &options, failure) != STATUS_OK)
        snprintf(description, sizeof description, "%.255s", failure->message);
    else
        return STATUS_OK;
    snprintf(pool->reason, sizeof pool->reason, "%s", description);
    return status != STATUS_OK ? status : failure->status;
}

/* Opens the engine asked for, on each of the devices. */
static enum status pipeline_open_named(struct pipeline *pipeline, struct failure *failure)
{
    const struct pipeline_task *task = pipeline->task;
    const struct engine *engine = engine_find(task->table, task->engine);
    size_t devices = task->device_count > 0 && engine && engine->prepare ? task->device_count : 1;

    if (!engine)
        return status_fail(failure, STATUS_USAGE, "unknown engine '%s'", task->engine);
    for (size_t i = 0; i < devices; i++) {
        unsigned device = devices == task->device_count ? task->devices[i] : 0;
        if (pipeline_open_crew(pipeline, engine, device, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

/*
 * Opens the engines that open quickly and can run here, and plans for the others. Nothing has been
 * pulled yet: if any has opened, nothing is lost.
 */
static enum status pipeline_open_all(struct pipeline *pipeline, struct failure *failure)
{
    const struct pipeline_task *task = pipeline->task;
    enum status status = STATUS_ENGINE;

    for (const struct engine *const *engine = task->table; *engine; engine++) {
        if (!(*engine)->prepare) {
            if (pipeline_open_crew(pipeline, *engine, 0, failure) == STATUS_OK)
                status = STATUS_OK;
            continue;
        }
        for (size_t i = 0; i == 0 || i < task->device_count; i++)
            pipeline_add_crew(pipeline, *engine, task->device_count > 0 ? task->devices[i] : 0,
                              true);
    }
    return status == STATUS_OK ? status : failure->status;
}

/* Starts the pools that are open, and startups for the others; after a failure, some of them. */
static enum status pipeline_start(struct pipeline *pipeline, struct failure *failure)
{
    size_t count = pipeline_crews(pipeline);
    enum status status = STATUS_OK;
    unsigned workers = 0;

    for (size_t i = 0; i < count; i++)
        workers += atomic_load(&pipeline->pools[i].is_open) ? pipeline->pools[i].count : 0;
    pipeline_enlist(pipeline, workers + 1); /* and this thread */
    for (size_t i = 0; i < count; i++) {
        struct failure own;
        struct worker_pool *pool = &pipeline->pools[i];
        if (!atomic_load(&pool->is_open) || worker_pool_start(pool, &own) == STATUS_OK)
            continue;
        *failure = own;
        status = own.status;
        source_stop(pipeline->task->source, 0);
    }
    if (status == STATUS_OK)
        pipeline_start_recruits(pipeline, workers);
    pipeline_leave(pipeline);
    return status;
}

/* Lets the watcher do its work while the workers do theirs. */
static enum status pipeline_watch(struct pipeline *pipeline, struct failure *failure)
{
    const struct pipeline_watcher *watcher = pipeline->task->watcher;

    if (!watcher->watch)
        return STATUS_OK;
    enum status status = watcher->watch(watcher->context, pipeline, failure);
    if (status != STATUS_OK)
        source_stop(pipeline->task->source, 0);
    return status;
}

/* Starts the pools, waits for all, and keeps the failure that is to be told. */
static enum status pipeline_work(struct pipeline *pipeline, struct pipeline_report *report,
                                 struct failure *failure)
{
    enum status status = pipeline_start(pipeline, failure);

    if (status == STATUS_OK)
        status = pipeline_watch(pipeline, failure);
    pipeline_wait(pipeline);
    report->is_thread_left = pipeline_end_recruits(pipeline);
    for (size_t i = 0; i < pipeline_crews(pipeline); i++)
        status = worker_pool_judge(&pipeline->pools[i], status, failure);
    return status == STATUS_OK ? pipeline_settle(pipeline, failure) : status;
}

/* Tells what the pools did, and closes them. */
static void pipeline_close(struct pipeline *pipeline, struct pipeline_report *report)
{
    report->bytes = pipeline_bytes(pipeline);
    report->elements = pipeline_elements(pipeline, report->bytes);
    report->worker_pool_count = pipeline_crews(pipeline);
    for (size_t i = 0; i < report->worker_pool_count; i++) {
        worker_pool_join(&pipeline->pools[i]);
        worker_pool_describe(&pipeline->pools[i], &report->pools[i]);
        worker_pool_close(&pipeline->pools[i]);
    }
    report->seconds = worker_pool_clock() - pipeline->work.start;
    checkpoint_destroy(&pipeline->checkpoint);
    pthread_cond_destroy(&pipeline->changed);
    pthread_mutex_destroy(&pipeline->lock);
}

enum status pipeline_run(const struct pipeline_task *task, struct pipeline_report *report,
                         struct failure *failure)
{
    struct pipeline pipeline = {
        .task = task,
        .work =
            {
                .job = task->job,
                .operation = operations[task->job->operation],
                .source = task->source,
                .partial = task->partial,
                .checkpoint = task->watcher->checkpoints ? &pipeline.checkpoint : NULL,
                .start = worker_pool_clock(),
                .join = pipeline_join,
                .stand_by = pipeline_stand_by,
                .leave = pipeline_leave,
                .context = &pipeline,
            },
    };

    *report = (struct pipeline_report){.worker_pool_count = 0};
    checkpoint_init(&pipeline.checkpoint);
    pthread_mutex_init(&pipeline.lock, NULL);
    pthread_cond_init(&pipeline.changed, NULL);
    enum status status = task->engine ? pipeline_open_named(&pipeline, failure)
                                      : pipeline_open_all(&pipeline, failure);
    if (status == STATUS_OK)
        status = pipeline_work(&pipeline, report, failure);
    pipeline_close(&pipeline, report);
    return status;
}
