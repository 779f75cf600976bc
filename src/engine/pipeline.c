/* Implements pipeline.h: the pools of a run, sliding windows, devices that join late, and the end.
 */
#include "config.h"

#include "engine/pipeline.h"

#include "aggregate/state.h"
#include "engine/offload_policy.h"
#include "input/parse_errors.h"
#include "lib/clock.h"
#include "lib/parallel.h"
#include "lib/writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * The pause between two checks whether a device is worth it: at first the time until the speed is
 * known (offload_policy.c), then twice as long each time, up to the second value.
 */
#define PIPELINE_ASK_NS_MIN 10000000
#define PIPELINE_ASK_NS_MAX 1000000000

/*
 * The startup of a pool that joins late: a thread that checks whether its device is worth it,
 * prepares it while other engines work, and opens the pool. The end of a run does not wait for a
 * device that is not ready: the thread continues in the device's library, uses only this struct,
 * and frees it.
 */
struct pipeline_startup {
    struct pipeline *pipeline; /* not valid in PIPELINE_PREPARES after `ended`, nor is the pool */
    struct worker_pool *pool;
    const struct engine *engine; /* the pool's engine; the next member is its device */
    unsigned device;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t changed;
    enum { PIPELINE_ASKS, PIPELINE_PREPARES, PIPELINE_JOINS } state;
    bool ended; /* the run has ended */
};

/* --- sliding windows ------------------------------------------------------------------------- */

/* Initial size of the buffer for a state, which is usually enough. */
#define PIPELINE_WINDOW_STATE_BYTES ((size_t)128 << 10)

/* A saved period. */
struct pipeline_window_period {
    void *data; /* [bytes], owned; NULL: the period has no elements */
    size_t bytes;
};

/*
 * A sliding window: the result of the last periods of a run, each from one checkpoint to the next.
 * It keeps the counts of older periods as compressed states in memory, and merges them into the
 * aggregate of the newest period: at a checkpoint there is only one aggregate.
 */
struct pipeline_window {
    const struct plan *plan;
    struct state_reader *reader;
    size_t capacity;                         /* maximum number of periods before the newest */
    size_t moves;                            /* the next period goes to periods[moves % capacity] */
    struct pipeline_window_period periods[]; /* [capacity] */
};

/*
 * Makes an empty window of plan->window_periods periods. The caller destroys it; the plan must
 * outlive it.
 */
static enum status pipeline_window_create(struct pipeline_window **window, const struct plan *plan,
                                          struct failure *failure)
{
    const size_t capacity = plan->window_periods - 1;
    struct pipeline_window *created =
        calloc(1, sizeof *created + capacity * sizeof *created->periods);

    if (!created)
        return status_fail(failure, STATUS_DATA, "not enough memory for a window of %zu periods",
                           plan->window_periods);
    created->plan = plan;
    created->capacity = capacity;
    if (state_reader_open_memory(&created->reader, "--window", failure) != STATUS_OK) {
        free(created);
        return failure->status;
    }
    *window = created;
    return STATUS_OK;
}

static void pipeline_window_destroy(struct pipeline_window *window)
{
    for (size_t i = 0; i < window->capacity; i++)
        free(window->periods[i].data);
    state_reader_close(window->reader);
    free(window);
}

/*
 * Moves the window by a period, whose finalized `aggregate` has `elements` elements. Saves it,
 * merges the older periods of the window into it, and finalizes it again: it is then the result of
 * the window.
 */
static enum status pipeline_window_move(struct pipeline_window *window, void *aggregate,
                                        uint64_t elements, struct failure *failure)
{
    const struct plan *plan = window->plan;
    struct pipeline_window_period newest = {.data = NULL};
    enum status status = STATUS_OK;

    if (window->capacity == 0)
        return STATUS_OK;
    if (elements > 0 || plan->has_weights) { /* weights of 0 do not count as elements */
        struct writer *memory = writer_create_memory(PIPELINE_WINDOW_STATE_BYTES);
        if (memory)
            status = state_save(memory, "window", plan, aggregate, failure);
        const char *kept = memory ? writer_memory(memory, &newest.bytes) : NULL;
        if (kept && status == STATUS_OK && (newest.data = malloc(newest.bytes)))
            memcpy(newest.data, kept, newest.bytes);
        writer_discard(memory);
        if (status == STATUS_OK && !newest.data)
            status =
                status_fail(failure, STATUS_DATA, "not enough memory for a period of --window");
        if (status != STATUS_OK)
            return status;
    }
    for (size_t i = 0; i < window->capacity && status == STATUS_OK; i++) {
        const struct pipeline_window_period *period = &window->periods[i];
        char *line;
        if (!period->data)
            continue;
        state_reader_feed(window->reader, period->data, period->bytes);
        status = state_read_options(window->reader, &line, failure);
        free(line);
        if (status == STATUS_OK)
            status = state_load(window->reader, plan, aggregate, &elements, failure);
    }
    struct pipeline_window_period *oldest = &window->periods[window->moves++ % window->capacity];
    free(oldest->data);
    *oldest = newest;
    return status == STATUS_OK ? store_of(plan)->finalize(aggregate, plan, elements, failure)
                               : status;
}

/* --------------------------------------------------------------------------------------------- */

_Static_assert(PIPELINE_WORKER_POOLS_MAX <= 32, "a pool's device has a bit");

struct pipeline {
    const struct pipeline_task *task;
    struct worker_group group;
    struct checkpoint checkpoint;
    struct worker_pool pools[PIPELINE_WORKER_POOLS_MAX];
    struct pipeline_startup *startups[PIPELINE_WORKER_POOLS_MAX]; /* each pool's; NULL: none */
    atomic_size_t pool_count; /* grows when further devices are prepared */
    pthread_mutex_t lock;     /* for adding a pool, and finalizing or replacing the aggregate */
    struct pipeline_window *window; /* owned; NULL: results cover all input so far */
    uint64_t earlier_elements;      /* number of elements of earlier periods of the window */
    double ended_at;                /* the time when all workers had left */
    double merged_at;               /* the end of the last merging in pipeline_finalize */
    double finalized_at;            /* the end of the last finalizing in pipeline_finalize */
};

/* Adds a pool that is not open. Returns NULL if there are too many. */
static struct worker_pool *pipeline_add_pool(struct pipeline *pipeline, const struct engine *engine,
                                             unsigned device, bool joins_late)
{
    struct worker_pool *pool = NULL;

    pthread_mutex_lock(&pipeline->lock);
    const size_t count = pipeline->pool_count;
    if (count < PIPELINE_WORKER_POOLS_MAX) {
        pool = &pipeline->pools[count];
        pool->group = &pipeline->group;
        pool->engine = engine;
        pool->joins_late = joins_late;
        pool->device_bit = 1u << count;
        pool->device = device;
        pipeline->pool_count = count + 1;
    }
    pthread_mutex_unlock(&pipeline->lock);
    return pool;
}

struct pipeline_live pipeline_look(struct pipeline *pipeline)
{
    const struct pipeline_task *task = pipeline->task;
    struct worker_group *group = &pipeline->group;
    struct pipeline_live live = {.bytes = 0};

    pthread_mutex_lock(&group->lock);
    live.has_ended = group->ended;
    pthread_mutex_unlock(&group->lock);
    for (size_t i = 0; i < pipeline->pool_count; i++) { /* the sums of all, if it has ended */
        const struct worker_pool_counts own = worker_pool_counts(&pipeline->pools[i]);
        live.bytes += own.bytes;
        live.counted += own.counted;
    }
    live.is_compressed = task->options.is_compressed;
    live.file_bytes =
        task->options.is_compressed ? source_progress(task->source).file_bytes : live.bytes;
    live.seconds = clock_seconds() - group->start;
    return live;
}

/* Returns the number of bytes left of the input, or ENGINE_INPUT_UNKNOWN. */
static uint64_t pipeline_bytes_left(struct pipeline *pipeline)
{
    uint64_t size = pipeline->task->options.input_bytes;
    uint64_t bytes = pipeline_look(pipeline).bytes;

    if (size == ENGINE_INPUT_UNKNOWN)
        return size;
    return size > bytes ? size - bytes : 0;
}

/* Returns the number of valid elements that the workers have pulled, or of values in text. */
static uint64_t pipeline_elements(struct pipeline *pipeline)
{
    const struct plan *plan = pipeline->task->plan;
    return plan->is_text ? parse_errors_values(plan->context->errors)
                         : pipeline_look(pipeline).counted / plan_value_bytes(plan) -
                               atomic_load(&context_of(plan)->invalid_reals);
}

void pipeline_write_engines(const struct pipeline *pipeline, char engines[PIPELINE_ENGINES_SIZE])
{
    size_t length = 0;

    engines[0] = '\0';
    for (size_t i = 0; i < pipeline->pool_count; i++) {
        const struct worker_pool *pool = &pipeline->pools[i];
        char name[ENGINE_NAME_MAX];
        engine_write_name(name, pool->engine->name, pool->device);
        /* A pool that joins late is at work when its first worker pulls. */
        const bool is_at_work = atomic_load(&pool->is_open) &&
                                (!pool->joins_late || worker_pool_counts(pool).pulling > 0);
        if (is_at_work && length + 5 + ENGINE_NAME_MAX < PIPELINE_ENGINES_SIZE)
            length += (size_t)snprintf(engines + length, PIPELINE_ENGINES_SIZE - length, "%s%s",
                                       length > 0 ? " and " : "", name);
    }
}

/*
 * Merges all results and finalizes the aggregate; moves a sliding window. No pool may be at work.
 * An element counts as often as its weight.
 */
static enum status pipeline_finalize(struct pipeline *pipeline, struct failure *failure)
{
    const struct pipeline_task *task = pipeline->task;
    const struct plan *plan = task->plan;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < pipeline->pool_count; i++) {
        struct failure own;
        if (worker_pool_merge(&pipeline->pools[i], &own) != STATUS_OK)
            status = status_fail_first(failure, status, &own);
    }
    pipeline->merged_at = clock_seconds();
    uint64_t elements = pipeline_elements(pipeline) - pipeline->earlier_elements;
    if (status == STATUS_OK && plan_has_rows(plan))
        status = context_get_rows(plan, &elements, failure);
    if (status != STATUS_OK)
        return status;
    pthread_mutex_lock(&pipeline->lock);
    status = pipeline->group.store->finalize(*task->aggregate, plan, elements, failure);
    if (status == STATUS_OK && pipeline->window)
        status = pipeline_window_move(pipeline->window, *task->aggregate, elements, failure);
    pthread_mutex_unlock(&pipeline->lock);
    pipeline->finalized_at = clock_seconds();
    return status;
}

enum status pipeline_checkpoint(struct pipeline *pipeline,
                                enum status (*use)(void *context, struct failure *failure),
                                void *context, struct failure *failure)
{
    const struct pipeline_task *task = pipeline->task;
    const struct store *store = pipeline->group.store;
    enum status workers = STATUS_OK;
    enum status status = STATUS_OK;
    void *aggregate = NULL; /* sliding window: the next period's */

    checkpoint_begin(&pipeline->checkpoint);
    for (size_t i = 0; i < pipeline->pool_count; i++)
        workers = worker_pool_collect(&pipeline->pools[i], workers, failure);
    if (workers == STATUS_OK) {
        status = pipeline_finalize(pipeline, failure);
        if (status == STATUS_OK)
            status = use(context, failure);
        if (status == STATUS_OK && pipeline->window &&
            !(aggregate = store->create(task->plan, failure)))
            status = failure->status;
    }
    if (aggregate) { /* the pools continue with it */
        pthread_mutex_lock(&pipeline->lock);
        store->destroy(*task->aggregate);
        *task->aggregate = aggregate;
        pthread_mutex_unlock(&pipeline->lock);
        for (size_t i = 0; i < pipeline->pool_count; i++) {
            const struct worker_pool *pool = &pipeline->pools[i];
            if (atomic_load(&pool->is_open))
                pool->engine->renew(pool->session, aggregate);
        }
        pipeline->earlier_elements = pipeline_elements(pipeline);
        if (plan_has_rows(task->plan)) {
            atomic_store(&task->plan->context->rows.sum, 0);
            atomic_store(&task->plan->context->rows.is_too_large, false);
        }
    }
    checkpoint_end(&pipeline->checkpoint);
    return status;
}

/* --- devices that join late ------------------------------------------------------------------- */

/*
 * Returns whether a rule of offload_policy.h holds now. Unused if the user has chosen devices. It
 * counts only workers of pools that have not joined late. `earlier` is an earlier look, or NULL; it
 * receives the present one.
 */
static bool pipeline_allows(struct pipeline *pipeline,
                            bool (*rule)(const struct offload_policy_view *view),
                            struct pipeline_live *earlier)
{
    const struct store *store = pipeline->group.store;
    const struct pipeline_live live = pipeline_look(pipeline);
    struct store_size size = {.rows = 0};

    if (pipeline->task->device_count > 0)
        return true;
    pthread_mutex_lock(&pipeline->lock);
    if (store->size)
        size = store->size(*pipeline->task->aggregate);
    pthread_mutex_unlock(&pipeline->lock);
    struct offload_policy_view view = {
        .input_bytes = pipeline->task->options.input_bytes,
        .bytes = live.bytes,
        .seconds = live.seconds,
        .earlier_bytes = earlier ? earlier->bytes : 0,
        .earlier_seconds = earlier ? earlier->seconds : 0,
        .counters = size.counters,
        .rows = size.rows,
        .is_unread = source_progress(pipeline->task->source).is_unread,
        .feeders = atomic_load_explicit(&pipeline->group.feeders, memory_order_relaxed),
    };

    for (size_t i = 0; i < pipeline->pool_count; i++) {
        const struct worker_pool *pool = &pipeline->pools[i];
        bool counts = !pool->joins_late && atomic_load(&pool->is_open);
        view.workers += counts ? pool->count : 0;
        view.pulling += counts ? worker_pool_counts(pool).pulling : 0;
    }
    if (earlier)
        *earlier = live;
    return rule(&view);
}

static void pipeline_free_startup(struct pipeline_startup *startup)
{
    pthread_cond_destroy(&startup->changed);
    pthread_mutex_destroy(&startup->lock);
    free(startup);
}

static void *pipeline_run_startup(void *argument);

/* Starts the startup of a pool. */
static void pipeline_prepare_device(struct pipeline *pipeline, struct worker_pool *pool)
{
    struct pipeline_startup *startup = malloc(sizeof *startup);
    pthread_condattr_t attributes;
    int error = ENOMEM;

    if (startup) {
        *startup = (struct pipeline_startup){
            .pipeline = pipeline,
            .pool = pool,
            .engine = pool->engine,
            .device = pool->device,
        };
        pthread_mutex_init(&startup->lock, NULL);
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(&startup->changed, &attributes);
        pthread_condattr_destroy(&attributes);
        error = parallel_start_thread(&startup->thread, pipeline_run_startup, startup);
        if (error != 0)
            pipeline_free_startup(startup);
    }
    if (error == 0)
        pipeline->startups[pool - pipeline->pools] = startup;
    else
        snprintf(pool->reason, sizeof pool->reason, "cannot start a thread for it: %s",
                 strerror(error));
}

/*
 * Opens and starts a pool on a device that is ready, if it is worth it. If `reason` is not NULL,
 * the device cannot be used. Once the first device has joined, starts the startups of others.
 */
static void pipeline_join_device(struct pipeline *pipeline, struct worker_pool *pool,
                                 const char *reason)
{
    struct engine_options options = pipeline->task->options;
    struct failure failure;
    unsigned others = 0;

    const bool is_counted = !reason; /* this thread is at work meanwhile */
    if (is_counted && !worker_group_add(&pipeline->group, 1))
        return;
    if (!reason && !pipeline_allows(pipeline, offload_policy_gains, NULL))
        reason = "the CPU alone is faster";
    if (!reason && !pipeline_allows(pipeline, offload_policy_joins, NULL))
        reason = "the input was nearly at its end when it was ready";
    if (!reason) {
        options.device = pool->device;
        options.input_bytes = pipeline_bytes_left(pipeline);
        enum status status = worker_pool_open(pool, &options, &failure);
        if (status == STATUS_OK) {
            worker_group_add(&pipeline->group, pool->count);
            status = worker_pool_start(pool, &failure);
        }
        reason = status == STATUS_OK ? NULL : failure.message;
    }
    if (reason) {
        snprintf(pool->reason, sizeof pool->reason, "%.255s", reason);
        worker_group_give_up_device(&pipeline->group, pool->device_bit);
    } else if (pipeline->task->device_count == 0 && pool->device == 0 && pool->engine->devices) {
        others = offload_policy_devices(pool->engine->devices(), pipeline_bytes_left(pipeline));
    }
    for (unsigned i = 1; i < others && i < ENGINE_DEVICES_MAX; i++) {
        struct worker_pool *other = pipeline_add_pool(pipeline, pool->engine, i, true);
        if (other)
            pipeline_prepare_device(pipeline, other);
    }
    if (is_counted)
        worker_group_leave(&pipeline->group);
}

/* Waits until the device is worth it, prepares it, which takes long, and lets its pool join. */
static void *pipeline_run_startup(void *argument)
{
    struct pipeline_startup *self = argument;
    struct pipeline *pipeline = self->pipeline;
    const struct pipeline_task *task = pipeline->task;
    const char *reason = NULL;
    struct failure failure;
    struct pipeline_live earlier = {.seconds = 0};
    long pause = PIPELINE_ASK_NS_MIN;

    pthread_mutex_lock(&self->lock);
    /* If decoding limits the speed, a device does not help. */
    while (!self->ended &&
           ((task->device_count == 0 && source_progress(task->source).is_decoding) ||
            !pipeline_allows(pipeline, offload_policy_pays, &earlier))) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += pause;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        while (!self->ended &&
               pthread_cond_timedwait(&self->changed, &self->lock, &until) != ETIMEDOUT)
            ;
        pause = 2 * pause < PIPELINE_ASK_NS_MAX ? 2 * pause : PIPELINE_ASK_NS_MAX;
    }
    const bool begins = !self->ended;
    if (begins) {
        worker_group_await_device(&pipeline->group,
                                  self->pool->device_bit); /* workers leave cores to it */
        self->state = PIPELINE_PREPARES;
    }
    pthread_mutex_unlock(&self->lock);
    if (!begins)
        return NULL;
    if (!self->engine->probe(self->device, failure.message, sizeof failure.message) ||
        self->engine->prepare(self->device, &failure) != STATUS_OK)
        reason = failure.message;

    pthread_mutex_lock(&self->lock);
    const bool ended = self->ended;
    self->state = PIPELINE_JOINS;
    pthread_mutex_unlock(&self->lock);
    if (ended)
        pipeline_free_startup(self);
    else
        pipeline_join_device(pipeline, self->pool, reason);
    return NULL;
}

/* --- a run ------------------------------------------------------------------------------------ */

/*
 * Adds and opens a pool of the requested engine on each of its devices. If no engine is requested,
 * does the same for the engines that open quickly, adds pools that join late for the others, and
 * succeeds if any has opened; the report says why another has not.
 */
static enum status pipeline_open(struct pipeline *pipeline, struct failure *failure)
{
    const struct pipeline_task *task = pipeline->task;
    enum status status = STATUS_USAGE; /* no engine has that name */
    bool has_opened = false;
    char description[256] = "not in this build";

    for (const struct engine *const *next = task->table; *next; next++) {
        const struct engine *engine = *next;
        const bool has_devices = task->device_count > 0 && engine->prepare;
        const bool joins_late = !task->engine && engine->prepare;
        if (task->engine && strcmp(engine->name, task->engine) != 0)
            continue;
        for (size_t i = 0; i == 0 || (has_devices && i < task->device_count); i++) {
            struct engine_options options = task->options;
            options.device = has_devices ? task->devices[i] : 0;
            struct worker_pool *pool =
                pipeline_add_pool(pipeline, engine, options.device, joins_late);
            const char *unsupported = engine_find_feature(engine, task->plan, ENGINE_REFUSES);
            if (joins_late)
                continue;
            if (!pool)
                return status_fail(failure, STATUS_USAGE, "too many devices");
            const char *reason = failure->message;
            if (unsupported) {
                status = status_fail(failure, STATUS_ENGINE, "engine %s does not support %s",
                                     engine->name, unsupported);
            } else if (!engine->probe ||
                       !engine->probe(options.device, description, sizeof description)) {
                status = status_fail(failure, STATUS_ENGINE, "engine %s cannot run: %s",
                                     engine->name, description);
                reason = description;
            } else {
                status = worker_pool_open(pool, &options, failure);
            }
            if (status != STATUS_OK)
                snprintf(pool->reason, sizeof pool->reason, "%.255s", reason);
            if (status != STATUS_OK && task->engine)
                return status;
            has_opened = has_opened || status == STATUS_OK;
        }
    }
    if (status == STATUS_USAGE)
        return status_fail(failure, status, "unknown engine '%s': expected auto, cpu or cuda",
                           task->engine);
    return has_opened ? STATUS_OK : status;
}

/*
 * Starts the open pools and the startups of the others, watches them, waits for their end, and
 * stores the failure to report.
 */
static enum status pipeline_work(struct pipeline *pipeline, struct pipeline_report *report,
                                 struct failure *failure)
{
    const struct pipeline_task *task = pipeline->task;
    const struct pipeline_watcher *watcher = task->watcher;
    struct source *source = task->source;
    struct worker_group *group = &pipeline->group;
    const size_t count = pipeline->pool_count; /* startups may add pools */
    enum status status = STATUS_OK;
    unsigned workers = 0;

    for (size_t i = 0; i < count; i++)
        workers += atomic_load(&pipeline->pools[i].is_open) ? pipeline->pools[i].count : 0;
    group->at_work = workers + 1; /* the workers and this thread */
    for (size_t i = 0; i < count; i++) {
        struct failure own;
        struct worker_pool *pool = &pipeline->pools[i];
        if (!atomic_load(&pool->is_open) || worker_pool_start(pool, &own) == STATUS_OK)
            continue;
        *failure = own;
        status = own.status; /* some pools may run */
        source_stop(source, 0);
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct worker_pool *pool = &pipeline->pools[i];
        if (!pool->joins_late)
            continue;
        const char *unsupported = engine_find_feature(pool->engine, task->plan, ENGINE_REFUSES);
        const char *parsed = engine_find_feature(pool->engine, task->plan, ENGINE_PARSES);
        if (unsupported)
            snprintf(pool->reason, sizeof pool->reason, "it does not support %s", unsupported);
        else if (parsed && task->device_count == 0)
            snprintf(pool->reason, sizeof pool->reason, "its threads would parse %s on the CPU",
                     parsed);
        else if (task->device_count == 0 &&
                 offload_policy_is_small(task->options.input_bytes, workers))
            snprintf(pool->reason, sizeof pool->reason, "the input is too small for it to pay");
        else
            pipeline_prepare_device(pipeline, pool);
    }
    worker_group_leave(group);

    if (status == STATUS_OK && watcher->watch) {
        status = watcher->watch(watcher->context, pipeline, failure);
        if (status != STATUS_OK)
            source_stop(source, 0);
    }
    pthread_mutex_lock(&group->lock);
    while (!group->ended)
        pthread_cond_wait(&group->changed, &group->lock);
    pthread_mutex_unlock(&group->lock);
    pipeline->ended_at = clock_seconds();
    for (size_t i = 0; i < pipeline->pool_count; i++) {
        struct worker_pool *pool = &pipeline->pools[i];
        struct pipeline_startup *startup = pipeline->startups[i];
        if (!startup)
            continue;
        const pthread_t thread = startup->thread;
        pthread_mutex_lock(&startup->lock);
        const bool is_asking = startup->state == PIPELINE_ASKS;
        const bool is_left = startup->state == PIPELINE_PREPARES;
        startup->ended = true;
        pthread_cond_signal(&startup->changed);
        if (is_left)
            pthread_detach(thread); /* it frees the startup */
        pthread_mutex_unlock(&startup->lock);
        if (!is_left) {
            pthread_join(thread, NULL);
            pipeline_free_startup(startup);
        }
        if (is_asking)
            snprintf(pool->reason, sizeof pool->reason, "it was not needed");
        report->is_thread_left |= is_left;
    }
    for (size_t i = 0; i < pipeline->pool_count; i++)
        status = worker_pool_collect(&pipeline->pools[i], status, failure);
    if (status == STATUS_OK)
        status = source_check(source, pipeline_look(pipeline).counted, failure);
    return status == STATUS_OK ? pipeline_finalize(pipeline, failure) : status;
}

enum status pipeline_run(const struct pipeline_task *task, struct pipeline_report *report,
                         struct failure *failure)
{
    struct pipeline pipeline = {
        .task = task,
        .group =
            {
                .plan = task->plan,
                .store = store_of(task->plan),
                .source = task->source,
                .aggregate = task->aggregate,
                .checkpoint = task->watcher->checkpoints ? &pipeline.checkpoint : NULL,
                .watcher = task->watcher,
                .start = clock_seconds(),
                .lock = PTHREAD_MUTEX_INITIALIZER,
                .changed = PTHREAD_COND_INITIALIZER,
            },
        .checkpoint = CHECKPOINT_INITIALIZER,
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };

    *report = (struct pipeline_report){.worker_pool_count = 0};
    enum status status = STATUS_OK;
    if (task->plan->window_periods > 0)
        status = pipeline_window_create(&pipeline.window, task->plan, failure);
    if (status == STATUS_OK)
        status = pipeline_open(&pipeline, failure);
    if (status == STATUS_OK)
        status = pipeline_work(&pipeline, report, failure);

    report->bytes = pipeline_look(&pipeline).bytes;
    report->elements = pipeline_elements(&pipeline);
    report->worker_pool_count = pipeline.pool_count;
    for (size_t i = 0; i < report->worker_pool_count; i++)
        worker_pool_close(&pipeline.pools[i], &report->pools[i]);
    report->seconds = clock_seconds() - pipeline.group.start;
    double end_seconds = 0;
    for (size_t i = 0; i < report->worker_pool_count; i++) {
        if (report->pools[i].end_seconds > end_seconds)
            end_seconds = report->pools[i].end_seconds;
    }
    report->after_seconds = report->seconds - end_seconds;
    report->leave_seconds = pipeline.ended_at - pipeline.group.start - end_seconds;
    report->merge_seconds = pipeline.merged_at - pipeline.ended_at;
    report->finalize_seconds = pipeline.finalized_at - pipeline.merged_at;
    if (pipeline.window)
        pipeline_window_destroy(pipeline.window);
    return status;
}
