#include "config.h"

#include "pipeline.h"

#include "hybrid.h"
#include "recruit.h"
#include "tally.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct pipeline {
    const struct pipeline_task *task;
    struct crew_work work;
    struct checkpoint checkpoint;
    struct crew crews[PIPELINE_CREWS_MAX];
    struct recruit *recruits[PIPELINE_CREWS_MAX]; /* of the crews; NULL: it is none, or ended */
    atomic_size_t crew_count; /* grows as recruits find out about more devices */

    pthread_mutex_t lock; /* guards what follows, and adding a crew */
    pthread_cond_t changed;
    size_t at_work;     /* workers that have not ended, and recruits that are starting some */
    size_t standing_by; /* of these workers, */
    bool all_stood_by;  /* and it was all of them once: they leave, side by side */
    bool ended;         /* nobody is at work, nor will be */
};

static size_t pipeline_crews(const struct pipeline *pipeline)
{
    return atomic_load(&pipeline->crew_count);
}

/* Adds a crew, to be opened or to be told of, now or called in later; NULL: there are too many. */
static struct crew *pipeline_add_crew(struct pipeline *pipeline, const struct engine *engine,
                                      unsigned device, bool is_called_in)
{
    struct crew *crew = NULL;

    pthread_mutex_lock(&pipeline->lock);
    size_t count = pipeline_crews(pipeline);
    if (count < PIPELINE_CREWS_MAX) {
        crew = &pipeline->crews[count];
        crew->work = &pipeline->work;
        crew->engine = engine;
        crew->device = device;
        crew->is_called_in = is_called_in;
        atomic_store(&pipeline->crew_count, count + 1);
    }
    pthread_mutex_unlock(&pipeline->lock);
    return crew;
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
    const struct crew_work *work = &pipeline->work;
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
    const struct crew_work *work = &pipeline->work;

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
        bytes += crew_bytes(&pipeline->crews[i]);
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
    return job->is_text ? tally_values(job->tally) : bytes / job->element.bytes;
}

/* Whether a crew is at work: from the start, or as soon as it pulls. */
static bool pipeline_has_begun(const struct crew *crew)
{
    return atomic_load(&crew->is_open) && (!crew->is_called_in || crew_pulling(crew) > 0);
}

void pipeline_look(const struct pipeline *pipeline, struct pipeline_live *live)
{
    size_t length = 0;

    *live = (struct pipeline_live){
        .bytes = pipeline_bytes(pipeline),
        .seconds = crew_clock() - pipeline->work.start,
    };
    for (size_t i = 0; i < pipeline_crews(pipeline); i++) {
        const struct crew *crew = &pipeline->crews[i];
        char name[ENGINE_NAME_MAX];
        engine_write_name(name, crew->engine->name, crew->device);
        if (pipeline_has_begun(crew) && length + 5 + ENGINE_NAME_MAX < sizeof live->engines)
            length += (size_t)snprintf(live->engines + length, sizeof live->engines - length,
                                       "%s%s", length > 0 ? " and " : "", name);
    }
}

/* Merges all that the crews have, none of which is at work. */
static enum status pipeline_gather(struct pipeline *pipeline, struct failure *failure)
{
    enum status status = STATUS_OK;

    for (size_t i = 0; i < pipeline_crews(pipeline); i++) {
        struct failure own;
        if (crew_finish(&pipeline->crews[i], &own) != STATUS_OK &&
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
        if (!crew_is_sound(&pipeline->crews[i]))
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

/* How far the crews are that were not called in. */
static struct hybrid_view pipeline_view(const struct pipeline *pipeline)
{
    struct hybrid_view view = {
        .input_bytes = pipeline->task->options.input_bytes,
        .bytes = pipeline_bytes(pipeline),
        .seconds = crew_clock() - pipeline->work.start,
        .feeders = atomic_load_explicit(&pipeline->work.feeders, memory_order_relaxed),
    };

    for (size_t i = 0; i < pipeline_crews(pipeline); i++) {
        const struct crew *crew = &pipeline->crews[i];
        bool counts = !crew->is_called_in && atomic_load(&crew->is_open);
        view.workers += counts ? crew->count : 0;
        view.pulling += counts ? crew_pulling(crew) : 0;
    }
    return view;
}

/* Whether a rule of hybrid.h holds now, or need not, because the devices are asked for. */
static bool pipeline_agrees(const struct pipeline *pipeline,
                            bool (*rule)(const struct hybrid_view *view))
{
    struct hybrid_view view = pipeline_view(pipeline);
    return pipeline->task->device_count > 0 || rule(&view);
}

/* Asked by a recruit. */
static bool pipeline_pays(void *context)
{
    const struct crew *crew = context;
    return pipeline_agrees(crew->work->context, hybrid_pays);
}

/* Called by a recruit. */
static void pipeline_make_way(void *context)
{
    struct crew *crew = context;
    atomic_store_explicit(&crew->work->makes_way, true, memory_order_relaxed);
}

/* The device cannot be used: who has made way for it comes back. */
static void pipeline_give_up(struct pipeline *pipeline, struct crew *crew, const char *reason)
{
    snprintf(crew->reason, sizeof crew->reason, "%.255s", reason);
    pthread_mutex_lock(&pipeline->lock);
    atomic_store_explicit(&pipeline->work.makes_way, false, memory_order_relaxed);
    pthread_cond_broadcast(&pipeline->changed);
    pthread_mutex_unlock(&pipeline->lock);
}

static void pipeline_call_in(void *context, const char *reason);

static void pipeline_recruit(struct pipeline *pipeline, struct crew *crew)
{
    const struct recruit_plan plan = {
        .engine = crew->engine,
        .device = crew->device,
        .context = crew,
        .pays = pipeline_pays,
        .begun = pipeline_make_way,
        .ready = pipeline_call_in,
    };
    struct recruit **recruit = &pipeline->recruits[crew - pipeline->crews];

    *recruit = recruit_start(&plan);
    if (!*recruit)
        snprintf(crew->reason, sizeof crew->reason, "cannot start a thread for it: %s",
                 strerror(errno));
}

/* Once the first device is in: the others, if they pay as well. */
static void pipeline_recruit_others(struct pipeline *pipeline, const struct crew *first)
{
    const struct pipeline_task *task = pipeline->task;

    if (task->device_count > 0 || first->device > 0 || !first->engine->devices)
        return;
    unsigned devices = hybrid_devices(first->engine->devices(), pipeline_bytes_left(pipeline));
    for (unsigned i = 1; i < devices && i < ENGINE_DEVICES_MAX; i++) {
        struct crew *crew = pipeline_add_crew(pipeline, first->engine, i, true);
        if (crew)
            pipeline_recruit(pipeline, crew);
    }
}

/* Opens a crew on a device that is ready, and starts it; meanwhile the run does not end. */
static enum status pipeline_start_called(struct pipeline *pipeline, struct crew *crew,
                                         struct failure *failure)
{
    struct engine_options options = pipeline->task->options;

    if (!pipeline_agrees(pipeline, hybrid_gains))
        return status_fail(failure, STATUS_ENGINE, "the CPU alone is quicker");
    if (!pipeline_agrees(pipeline, hybrid_joins))
        return status_fail(failure, STATUS_ENGINE, "the input was all but done when it was ready");
    options.device = crew->device;
    options.input_bytes = pipeline_bytes_left(pipeline);
    if (crew_open(crew, &pipeline->work, &options, failure) != STATUS_OK)
        return failure->status;
    pipeline_enlist(pipeline, crew->count);
    return crew_start(crew, failure);
}

/* Called by a recruit. */
static void pipeline_call_in(void *context, const char *reason)
{
    struct crew *crew = context;
    struct pipeline *pipeline = crew->work->context;
    struct failure failure;

    if (reason) {
        pipeline_give_up(pipeline, crew, reason);
        return;
    }
    if (!pipeline_enlist(pipeline, 1))
        return;
    if (pipeline_start_called(pipeline, crew, &failure) == STATUS_OK)
        pipeline_recruit_others(pipeline, crew);
    else
        pipeline_give_up(pipeline, crew, failure.message);
    pipeline_leave(pipeline);
}

/* Starts what is to get devices ready. */
static void pipeline_start_recruits(struct pipeline *pipeline, unsigned workers)
{
    const struct pipeline_task *task = pipeline->task;
    bool is_small = task->device_count == 0 && hybrid_is_small(task->options.input_bytes, workers);
    size_t count = pipeline_crews(pipeline); /* of which recruits may add to */

    for (size_t i = 0; i < count; i++) {
        struct crew *crew = &pipeline->crews[i];
        if (!crew->is_called_in)
            continue;
        if (is_small)
            snprintf(crew->reason, sizeof crew->reason, "the input is too small for it to pay");
        else
            pipeline_recruit(pipeline, crew);
    }
}

/* When the run has ended: ends the recruits; returns whether one is left behind. */
static bool pipeline_end_recruits(struct pipeline *pipeline)
{
    bool is_left = false;

    for (size_t i = 0; i < pipeline_crews(pipeline); i++) {
        struct crew *crew = &pipeline->crews[i];
        if (!pipeline->recruits[i])
            continue;
        enum recruit_end end = recruit_end(pipeline->recruits[i]);
        if (end == RECRUIT_NOT_BEGUN)
            snprintf(crew->reason, sizeof crew->reason, "it was not needed");
        is_left = is_left || end == RECRUIT_LEFT_BEHIND;
    }
    return is_left;
}

/* --- a run ---------------------------------------------------------------------------------------
 */

/* Adds and opens a crew; one that cannot be opened is told of. */
static enum status pipeline_open_crew(struct pipeline *pipeline, const struct engine *engine,
                                      unsigned device, struct failure *failure)
{
    struct engine_options options = pipeline->task->options;
    struct crew *crew = pipeline_add_crew(pipeline, engine, device, false);
    enum status status = STATUS_OK;
    char description[256];

    options.device = device;
    if (!crew)
        return status_fail(failure, STATUS_USAGE, "too many devices");
    if (!engine->probe(device, description, sizeof description))
        status = status_fail(failure, STATUS_ENGINE, "engine %s cannot run: %s", engine->name,
                             description);
    else if (crew_open(crew, &pipeline->work, &options, failure) != STATUS_OK)
        snprintf(description, sizeof description, "%.255s", failure->message);
    else
        return STATUS_OK;
    snprintf(crew->reason, sizeof crew->reason, "%s", description);
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

/* Starts the crews that are open, and recruits for the others; after a failure, some of them. */
static enum status pipeline_start(struct pipeline *pipeline, struct failure *failure)
{
    size_t count = pipeline_crews(pipeline);
    enum status status = STATUS_OK;
    unsigned workers = 0;

    for (size_t i = 0; i < count; i++)
        workers += atomic_load(&pipeline->crews[i].is_open) ? pipeline->crews[i].count : 0;
    pipeline_enlist(pipeline, workers + 1); /* and this thread */
    for (size_t i = 0; i < count; i++) {
        struct failure own;
        struct crew *crew = &pipeline->crews[i];
        if (!atomic_load(&crew->is_open) || crew_start(crew, &own) == STATUS_OK)
            continue;
        *failure = own;
        status = own.status;
        source_stop(pipeline->task->source);
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
        source_stop(pipeline->task->source);
    return status;
}

/* Starts the crews, waits for all, and keeps the failure that is to be told. */
static enum status pipeline_work(struct pipeline *pipeline, struct pipeline_report *report,
                                 struct failure *failure)
{
    enum status status = pipeline_start(pipeline, failure);

    if (status == STATUS_OK)
        status = pipeline_watch(pipeline, failure);
    pipeline_wait(pipeline);
    report->is_thread_left = pipeline_end_recruits(pipeline);
    for (size_t i = 0; i < pipeline_crews(pipeline); i++)
        status = crew_judge(&pipeline->crews[i], status, failure);
    return status == STATUS_OK ? pipeline_settle(pipeline, failure) : status;
}

/* Tells what the crews did, and closes them. */
static void pipeline_close(struct pipeline *pipeline, struct pipeline_report *report)
{
    report->bytes = pipeline_bytes(pipeline);
    report->elements = pipeline_elements(pipeline, report->bytes);
    report->crew_count = pipeline_crews(pipeline);
    for (size_t i = 0; i < report->crew_count; i++) {
        crew_join(&pipeline->crews[i]);
        crew_describe(&pipeline->crews[i], &report->crews[i]);
        crew_close(&pipeline->crews[i]);
    }
    report->seconds = crew_clock() - pipeline->work.start;
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
                .start = crew_clock(),
                .join = pipeline_join,
                .stand_by = pipeline_stand_by,
                .leave = pipeline_leave,
                .context = &pipeline,
            },
    };

    *report = (struct pipeline_report){.crew_count = 0};
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
