/*
 * Tests the pipeline with fake engines: devices that are slow to prepare, that are ready after the
 * end, that are unusable, or that fail midway. In every case, no byte is lost or counted twice.
 *
 * Nothing depends on timing: whoever must come second waits for the first.
 */
#include "config.h"

#include "aggregate/scalar.h"
#include "aggregate/stalin_sort.h"
#include "engine/offload_policy.h"
#include "engine/pipeline.h"
#include "engine/worker_group.h"
#include "lib/writer.h"

#include "tap.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICES     4
#define CPU_WORKERS 8
#define FEEDERS     3
#define ELEMENTS    ((size_t)100000)

/* A gate that opens once. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool is_open;
};

#define GATE_CLOSED                                                \
    {                                                              \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false \
    }

static void gate_open(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->is_open = true;
    pthread_cond_broadcast(&gate->opened);
    pthread_mutex_unlock(&gate->lock);
}

static void gate_pass(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    while (!gate->is_open)
        pthread_cond_wait(&gate->opened, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

/* The point at which a device fails. */
enum fault {
    NO_FAULT,
    AT_JOB,   /* it does not support an option of the plan */
    AT_PARSE, /* its threads parse the text: not a failure */
    AT_PROBE,
    AT_PREPARE,
    AT_OPEN,
    AT_WORKER_OPEN,
    AT_BUFFER,
    AT_ACCUMULATE,
    AT_WORKER_FINISH,
    AT_FINISH,
    AT_IDLE, /* a late worker gets no chunk, and fails */
};

/*
 * The behaviour of the engines in the current test. Members that a device reads before it is called
 * in are atomic: a device of an earlier test can still run.
 */
static struct {
    _Atomic(enum fault) fault;
    unsigned sound_chunks; /* chunks that the device accumulates before it fails */
    atomic_uint devices;
    struct gate *_Atomic ready;    /* the device's preparation waits for this gate; NULL: none */
    struct gate *_Atomic prepared; /* opened after the preparation */
    bool cpu_waits;         /* CPU workers accumulate one chunk, then wait for the device's */
    bool holds;             /* a feeder keeps the first chunk until others got many */
    atomic_bool makes_way;  /* the device fails after a CPU worker made way (test_way) */
    struct gate begun;      /* the preparation of the device has started */
    struct gate joined;     /* the device accumulated a chunk after the sound ones */
    atomic_bool has_failed; /* the device failed while it worked */
    atomic_bool has_late;   /* AT_IDLE: the late worker is known */
    atomic_size_t bytes;    /* bytes that both engines accumulated */
    atomic_uint cpu_chunks;
    atomic_uint device_chunks;
    atomic_uint opened;   /* number of all opened workers */
    atomic_uint going_on; /* CPU workers that accumulated a second chunk */
    unsigned gone_on;     /* those that did so during the device's preparation */
    atomic_uint sessions; /* open sessions; the next member: open workers */
    atomic_uint workers;
} play = {.begun = GATE_CLOSED, .joined = GATE_CLOSED};

/* A session or a worker of either engine. */
struct actor {
    const struct plan *plan;
    void *aggregate;
    unsigned chunks;
    bool is_late;
    struct chunk held; /* a device's last chunk; settled when it is asked for a buffer */
    char *slots[2];
    unsigned turn;
    size_t capacity;
    uint64_t sums[2]; /* number and sum of the elements that are not merged yet */
};

/* Returns the accumulated data of any operation. */
static struct {
    pthread_mutex_t lock;
    uint64_t count;
    uint64_t sum;
} total = {.lock = PTHREAD_MUTEX_INITIALIZER};

static enum status actor_open(const struct plan *plan, const struct engine_options *options,
                              void *aggregate, void **session, unsigned *workers,
                              struct failure *failure)
{
    struct actor *made = calloc(1, sizeof *made);
    (void)options;
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory");
    made->plan = plan;
    made->aggregate = aggregate;
    *session = made;
    *workers = CPU_WORKERS;
    atomic_fetch_add(&play.sessions, 1);
    return STATUS_OK;
}

static void actor_close(void *session)
{
    atomic_fetch_sub(&play.sessions, 1);
    free(session);
}

static enum status actor_open_consumer(const struct actor *session, size_t capacity, void **worker)
{
    struct actor *made = calloc(1, sizeof *made);
    if (!made)
        abort();
    *made = *session;
    made->capacity = capacity;
    for (int i = 0; i < 2; i++) {
        made->slots[i] = malloc(capacity);
        if (!made->slots[i])
            abort();
    }
    *worker = made;
    atomic_fetch_add(&play.workers, 1);
    atomic_fetch_add(&play.opened, 1);
    return STATUS_OK;
}

static void actor_close_consumer(void *worker)
{
    struct actor *self = worker;
    if (!self)
        return;
    free(self->slots[0]);
    free(self->slots[1]);
    free(self);
    atomic_fetch_sub(&play.workers, 1);
}

/* Counts a chunk. For the ordered operation, passes it on as a run whose elements are all kept. */
static enum status actor_count(struct actor *self, const struct chunk *chunk,
                               struct failure *failure)
{
    const uint32_t *values = chunk->data;

    for (size_t i = 0; i < chunk->bytes / sizeof *values; i++)
        self->sums[1] += values[i];
    self->sums[0] += chunk->bytes / sizeof *values;
    if (self->plan->operation != OPERATION_STALIN_SORT)
        return STATUS_OK;
    struct stalin_sort_run run = {
        .chunk = *chunk,
        .kept = chunk->data,
        .kept_count = chunk->bytes / sizeof *values,
    };
    return stalin_sort_submit(self->aggregate, &run, failure);
}

static enum status actor_merge_consumer(void *worker, struct failure *failure)
{
    struct actor *self = worker;
    enum status status = STATUS_OK;

    if (self->held.bytes > 0)
        status = actor_count(self, &self->held, failure);
    self->held.bytes = 0;
    pthread_mutex_lock(&total.lock);
    total.count += self->sums[0];
    total.sum += self->sums[1];
    pthread_mutex_unlock(&total.lock);
    if (self->plan->operation == OPERATION_REDUCE)
        scalar_add_counts(self->aggregate, 0, self->sums, 1);
    self->sums[0] = self->sums[1] = 0;
    return status;
}

/* --- the engine that is ready at once ------------------------------------------------------------
 */

static bool quick_probe(unsigned device, char *description, size_t size)
{
    (void)device;
    snprintf(description, size, "quick");
    return true;
}

static enum status quick_consumer_open(void *session, void **worker, struct failure *failure)
{
    (void)failure;
    return actor_open_consumer(session, 4 * 97, worker);
}

static enum status actor_buffer(void *worker, struct chunk_buffer *buffer, struct failure *failure)
{
    struct actor *self = worker;
    (void)failure;
    *buffer = (struct chunk_buffer){.data = self->slots[0], .capacity = self->capacity};
    return STATUS_OK;
}

/* Waits until a number has grown, or a long time has passed. */
static void quick_wait(const atomic_uint *number, unsigned wanted)
{
    for (int i = 0; i < 10000 && atomic_load(number) < wanted; i++)
        usleep(1000);
}

static enum status quick_accumulate(void *worker, const struct chunk *chunk,
                                    struct failure *failure)
{
    struct actor *self = worker;

    atomic_fetch_add(&play.cpu_chunks, 1);
    atomic_fetch_add(&play.bytes, chunk->bytes);
    if (play.cpu_waits && self->chunks++ > 0)
        gate_pass(&play.joined);
    if (play.makes_way && self->chunks == 0)
        gate_pass(&play.begun);
    if (play.makes_way && self->chunks++ == 1) {
        atomic_fetch_add(&play.going_on, 1);
        quick_wait(&play.going_on, CPU_WORKERS);
    }
    return actor_count(self, chunk, failure);
}

static const struct engine quick_engine = {
    .name = "quick",
    .probe = quick_probe,
    .open = actor_open,
    .close = actor_close,
    .consumer_open = quick_consumer_open,
    .consumer_buffer = actor_buffer,
    .consumer_accumulate = quick_accumulate,
    .consumer_merge = actor_merge_consumer,
    .consumer_close = actor_close_consumer,
};

/* --- the engine of devices -----------------------------------------------------------------------
 */

static unsigned slow_devices(void)
{
    return play.devices;
}

static bool slow_probe(unsigned device, char *description, size_t size)
{
    if (play.makes_way) /* the last worker may make way before it opens */
        quick_wait(&play.opened, CPU_WORKERS - 1);
    snprintf(description, size, "no device %u", device);
    return play.fault != AT_PROBE && device < play.devices;
}

static bool slow_is_used(const struct plan *plan)
{
    (void)plan;
    return play.fault == AT_JOB;
}

static bool slow_is_parsed(const struct plan *plan)
{
    (void)plan;
    return play.fault == AT_PARSE;
}

static const struct engine_feature slow_features[] = {
    {"all else", ENGINE_RUNS, NULL},
    {"--parsed", ENGINE_PARSES, slow_is_parsed},
    {"--thing", ENGINE_REFUSES, slow_is_used},
    {NULL, ENGINE_RUNS, NULL},
};

static enum status slow_prepare(unsigned device, struct failure *failure)
{
    enum fault fault = play.fault; /* after the gate, it can be that of the next test */
    struct gate *ready = play.ready;
    struct gate *prepared = play.prepared;

    (void)device;
    if (play.makes_way) {
        gate_open(&play.begun);
        quick_wait(&play.going_on, CPU_WORKERS - 1);
        usleep(20000); /* for the last worker, if it does not make way */
        play.gone_on = atomic_load(&play.going_on);
    }
    if (ready)
        gate_pass(ready);
    if (prepared)
        gate_open(prepared);
    return fault == AT_PREPARE ? status_fail(failure, STATUS_ENGINE, "no context") : STATUS_OK;
}

static enum status slow_open(const struct plan *plan, const struct engine_options *options,
                             void *aggregate, void **session, unsigned *workers,
                             struct failure *failure)
{
    if (play.fault == AT_OPEN)
        return status_fail(failure, STATUS_ENGINE, "no memory on the device");
    const enum status status = actor_open(plan, options, aggregate, session, workers, failure);
    *workers = FEEDERS;
    return status;
}

/* Fails, and releases all that wait for a device or for the CPU, which may no longer come. */
static enum status slow_fail(struct failure *failure)
{
    atomic_store(&play.has_failed, true);
    gate_open(&play.joined);
    return status_fail(failure, STATUS_ENGINE, "the device has failed");
}

static enum status slow_merge(void *session, struct failure *failure)
{
    (void)session;
    return play.fault == AT_FINISH ? slow_fail(failure) : STATUS_OK;
}

static enum status slow_consumer_open(void *session, void **worker, struct failure *failure)
{
    if (play.fault == AT_WORKER_OPEN)
        gate_open(&play.joined); /* nobody else opens it */
    if (play.fault == AT_WORKER_OPEN)
        return status_fail(failure, STATUS_ENGINE, "no stream");
    actor_open_consumer(session, 4 * 1021, worker);
    ((struct actor *)*worker)->is_late = !atomic_exchange(&play.has_late, true);
    return STATUS_OK;
}

static enum status slow_buffer(void *worker, struct chunk_buffer *buffer, struct failure *failure)
{
    struct actor *self = worker;

    *buffer = (struct chunk_buffer){.data = self->slots[self->turn], .capacity = self->capacity};
    while (play.fault == AT_IDLE && self->is_late && atomic_load(&play.bytes) < 4 * ELEMENTS)
        sched_yield();
    if (play.fault == AT_BUFFER && atomic_load(&play.device_chunks) > play.sound_chunks)
        return slow_fail(failure);
    return STATUS_OK;
}

static enum status slow_accumulate(void *worker, const struct chunk *chunk, struct failure *failure)
{
    struct actor *self = worker;
    unsigned chunks = atomic_fetch_add(&play.device_chunks, 1);
    atomic_fetch_add(&play.bytes, chunk->bytes);
    enum status status = STATUS_OK;

    if (self->held.bytes > 0)
        status = actor_count(self, &self->held, failure);
    self->held = *chunk;
    self->turn ^= 1;
    while (play.cpu_waits && atomic_load(&play.cpu_chunks) == 0 && !atomic_load(&play.has_failed))
        sched_yield();
    if (chunks >= play.sound_chunks)
        gate_open(&play.joined);
    while (play.holds && chunks == 0 &&
           atomic_load(&play.cpu_chunks) + atomic_load(&play.device_chunks) < 40)
        sched_yield();
    if (play.fault == AT_ACCUMULATE && chunks >= play.sound_chunks)
        return slow_fail(failure);
    return status;
}

static enum status slow_merge_consumer(void *worker, struct failure *failure)
{
    const struct actor *self = worker;

    if (play.fault == AT_WORKER_FINISH || (play.fault == AT_IDLE && self->is_late))
        return slow_fail(failure);
    return actor_merge_consumer(worker, failure);
}

static const struct engine slow_engine = {
    .name = "slow",
    .devices = slow_devices,
    .probe = slow_probe,
    .features = slow_features,
    .prepare = slow_prepare,
    .open = slow_open,
    .merge = slow_merge,
    .close = actor_close,
    .consumer_open = slow_consumer_open,
    .consumer_buffer = slow_buffer,
    .consumer_accumulate = slow_accumulate,
    .consumer_flush = slow_merge_consumer,
    .consumer_merge = slow_merge_consumer,
    .consumer_close = actor_close_consumer,
};

static const struct engine *const table[] = {&slow_engine, &quick_engine, NULL};

/* --- runs ----------------------------------------------------------------------------------------
 */

/* A run over a file of 0, 1, 2, ... */
struct scene {
    char name[4096];
    char output[4096 + 8];
    enum operation_id operation;
    const char *engine;
    unsigned devices[DEVICES];
    size_t device_count;
    uint64_t told_size; /* size that the run is told; 0: the file's */
    bool repeats;       /* repeats after a device failed, on the engine that always runs */
    struct pipeline_watcher watcher;
    struct pipeline_report report;
    struct failure failure;
    enum status status;
};

static void scene_make(struct scene *scene)
{
    tap_write_template(scene->name, sizeof scene->name, "pipeline");
    int fd = mkstemp(scene->name);
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;

    for (uint32_t i = 0; file && i < ELEMENTS; i++)
        fwrite(&i, sizeof i, 1, file);
    if (!file || fclose(file) != 0) {
        printf("Bail out! no file\n");
        exit(1);
    }
    snprintf(scene->output, sizeof scene->output, "%s.out", scene->name);
}

/* Starts a test: nothing fails; one device, which is requested. */
static struct scene scene_begin(void)
{
    struct scene scene = {.operation = OPERATION_REDUCE, .device_count = 1};

    play.fault = NO_FAULT;
    play.sound_chunks = 0;
    play.devices = 1;
    play.ready = play.prepared = NULL;
    play.cpu_waits = true;
    play.holds = false;
    play.makes_way = false;
    play.begun.is_open = play.joined.is_open = false;
    atomic_store(&play.has_late, false);
    atomic_store(&play.has_failed, false);
    atomic_store(&play.bytes, 0);
    atomic_store(&play.cpu_chunks, 0);
    atomic_store(&play.device_chunks, 0);
    atomic_store(&play.opened, 0);
    atomic_store(&play.going_on, 0);
    total.count = total.sum = 0;
    scene_make(&scene);
    return scene;
}

static void *scene_aggregate(struct scene *scene, const struct plan *plan, struct writer **writer)
{
    void *aggregate = NULL;
    *writer = NULL;
    if (!(aggregate = store_of(plan)->create(plan, &scene->failure)))
        abort();
    if (plan->operation != OPERATION_STALIN_SORT)
        return aggregate;
    if (writer_open(writer, scene->output, &scene->failure) != STATUS_OK)
        abort();
    stalin_sort_connect(aggregate, *writer, NULL);
    return aggregate;
}

/* Like run.c, runs the task once more, without devices. */
static void scene_repeat(struct scene *scene, struct pipeline_task *task, struct writer *writer)
{
    const struct plan *plan = task->plan;
    struct source *source = task->source;
    void *aggregate = NULL;

    if (source_repeat(&source, &scene->failure) != STATUS_OK ||
        !(aggregate = store_of(plan)->create(plan, &scene->failure)))
        abort();
    store_of(plan)->destroy(*task->aggregate);
    if (writer) {
        writer_restart(writer);
        stalin_sort_connect(aggregate, writer, NULL);
    }
    task->source = source;
    *task->aggregate = aggregate;
    task->engine = engine_last(table)->name;
    total.count = total.sum = 0;
    scene->status = pipeline_run(task, &scene->report, &scene->failure);
}

static void scene_run(struct scene *scene)
{
    char *const names[] = {scene->name};
    struct plan plan = {.operation = scene->operation};
    struct source *source = NULL;
    struct writer *writer;

    element_parse("u32", &plan.element);
    const struct source_options plain = {.kinds = 0};
    if (source_open(&source, names, 1, &plain, &scene->failure) != STATUS_OK)
        abort();
    source_set_format(source, &(struct record_format){.element_bytes = 4}, false, 1);
    void *aggregate = scene_aggregate(scene, &plan, &writer);
    struct pipeline_task task = {
        .plan = &plan,
        .source = source,
        .aggregate = &aggregate,
        .table = table,
        .engine = scene->engine,
        .devices = scene->devices,
        .device_count = scene->device_count,
        .options = {.input_bytes =
                        scene->told_size ? scene->told_size : source_sizes(source).stream},
        .watcher = &scene->watcher,
    };
    scene->status = pipeline_run(&task, &scene->report, &scene->failure);
    if (scene->repeats && scene->status == STATUS_ENGINE)
        scene_repeat(scene, &task, writer);
    struct failure failure;
    if (writer && writer_close(writer, &failure) != STATUS_OK)
        abort();
    store_of(&plan)->destroy(aggregate);
    source_close(task.source);
    unlink(scene->name);
}

/* Returns whether all elements were kept: the output is the input. */
static bool scene_output_is_right(const struct scene *scene)
{
    FILE *file = fopen(scene->output, "rb");
    uint32_t wanted = 0;
    uint32_t value;

    while (file && fread(&value, sizeof value, 1, file) == 1 && value == wanted)
        wanted++;
    bool right = file && wanted == ELEMENTS && feof(file);
    if (file)
        fclose(file);
    return right || tap_note("%u survivors", wanted);
}

/*
 * Returns whether all was counted once or a device failed with that message, and nothing is open.
 */
static bool scene_is_right(const struct scene *scene, const char *message)
{
    bool right = atomic_load(&play.sessions) == 0 && atomic_load(&play.workers) == 0;

    if (!right)
        tap_note("%u sessions and %u workers are open", atomic_load(&play.sessions),
                 atomic_load(&play.workers));
    if (message)
        return (scene->status == STATUS_ENGINE && strcmp(scene->failure.message, message) == 0 &&
                right) ||
               tap_note("status %d, '%s'", (int)scene->status, scene->failure.message);
    if (scene->status != STATUS_OK)
        return tap_note("%s", scene->failure.message);
    if (scene->report.bytes != 4 * ELEMENTS || total.count != ELEMENTS ||
        total.sum != (uint64_t)ELEMENTS * (ELEMENTS - 1) / 2)
        return tap_note("%llu bytes, %llu elements, sum %llu",
                        (unsigned long long)scene->report.bytes, (unsigned long long)total.count,
                        (unsigned long long)total.sum);
    return right;
}

/* Returns whether a pool worked, or did not, for that reason. */
static bool scene_pool_is(const struct scene *scene, size_t i, const char *engine, unsigned device,
                          const char *reason)
{
    const struct worker_pool_report *pool = &scene->report.pools[i];
    bool right = i < scene->report.worker_pool_count && strcmp(pool->engine, engine) == 0 &&
                 pool->device == device && (pool->workers > 0) == (reason == NULL) &&
                 strcmp(pool->reason, reason ? reason : "") == 0;

    return right || tap_note("pool %zu: %s %u, %u workers, '%s'", i, pool->engine, pool->device,
                             pool->workers, pool->reason);
}

static void test_joins(void)
{
    struct scene scene = scene_begin();

    scene_run(&scene);
    tap_ok(scene_is_right(&scene, NULL) && scene_pool_is(&scene, 0, "slow", 0, NULL) &&
               scene_pool_is(&scene, 1, "quick", 0, NULL) && !scene.report.is_thread_left,
           "a device that is ready before the end joins");
    tap_ok(scene.report.pools[0].bytes + scene.report.pools[1].bytes == scene.report.bytes &&
               scene.report.pools[0].bytes > 0 && scene.report.pools[1].bytes > 0,
           "and the bytes of the two are those of all");
}

static void test_several(void)
{
    struct scene scene = scene_begin();

    play.devices = 3;
    scene.device_count = 3;
    scene.devices[0] = 2;
    scene.devices[1] = 7;
    scene.devices[2] = 0;
    scene_run(&scene);
    tap_ok(scene_is_right(&scene, NULL) && scene.report.pools[1].workers == 0 &&
               scene_pool_is(&scene, 3, "quick", 0, NULL) &&
               scene.report.pools[0].bytes + scene.report.pools[2].bytes > 0,
           "several devices, one of which is not there");
    play.devices = 1;
}

static void test_named(void)
{
    struct scene scene = scene_begin();

    play.devices = 2;
    scene.devices[0] = 1;
    scene.device_count = 2;
    scene.engine = "slow";
    play.cpu_waits = false;
    scene_run(&scene);
    tap_ok(scene_is_right(&scene, NULL) && atomic_load(&play.cpu_chunks) == 0 &&
               scene.report.worker_pool_count == 2,
           "two devices that are asked for by name do all");
    scene = scene_begin();
    scene.engine = "quick";
    play.cpu_waits = false;
    scene_run(&scene);
    tap_ok(scene_is_right(&scene, NULL) && atomic_load(&play.device_chunks) == 0 &&
               scene.report.worker_pool_count == 1,
           "an engine without devices takes no notice of their list");
    scene = scene_begin();
    scene.engine = "slow";
    play.fault = AT_OPEN;
    scene_run(&scene);
    tap_ok(scene.status == STATUS_ENGINE && atomic_load(&play.sessions) == 0,
           "a device that is asked for by name must open");
}

/* The device is not ready before the end: no thread waits for it. */
static void test_late(void)
{
    static struct gate ready = GATE_CLOSED; /* also used by remaining threads */
    static struct gate prepared = GATE_CLOSED;
    struct scene scene;

    do { /* at first it may not even have started */
        scene = scene_begin();
        play.cpu_waits = false;
        play.ready = &ready;
        play.prepared = &prepared;
        scene_run(&scene);
    } while (scene.status == STATUS_OK && !scene.report.is_thread_left);
    tap_ok(scene_is_right(&scene, NULL) &&
               scene_pool_is(&scene, 0, "slow", 0, "the input ended before it was ready"),
           "a device that is not ready at the end is left behind");
    gate_open(&ready);
    gate_pass(&prepared);
    tap_ok(atomic_load(&play.sessions) == 0, "and does nothing when it is ready");
}

/* A device that does not support an option of the plan is neither queried nor prepared. */
static void test_unsupported(void)
{
    struct scene scene = scene_begin();

    play.fault = AT_JOB;
    play.cpu_waits = false;
    scene.engine = "slow";
    scene_run(&scene);
    tap_ok(scene.status == STATUS_ENGINE &&
               strcmp(scene.failure.message, "engine slow does not support --thing") == 0,
           "a device that does not support an option of the plan is refused");
    scene = scene_begin();
    play.fault = AT_PARSE;
    play.cpu_waits = false;
    scene.engine = "slow";
    scene_run(&scene);
    tap_ok(scene_is_right(&scene, NULL) && atomic_load(&play.cpu_chunks) == 0,
           "one whose threads parse does all if it is asked for by name");
}

static void test_unusable(void)
{
    static const struct {
        enum fault fault;
        const char *reason;
    } rows[] = {{AT_JOB, "it does not support --thing"},
                {AT_PARSE, "its threads would parse --parsed on the CPU"},
                {AT_PROBE, "no device 0"},
                {AT_PREPARE, "no context"},
                {AT_OPEN, "no memory on the device"},
                {AT_WORKER_OPEN, "no stream"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool right = true;
        struct scene scene = scene_begin();
        play.fault = rows[i].fault;
        play.cpu_waits = rows[i].fault == AT_WORKER_OPEN;
        scene.device_count = rows[i].fault != AT_PARSE;
        bool is_certain = play.cpu_waits || rows[i].fault <= AT_PARSE;
        scene_run(&scene);
        right = scene_is_right(&scene, NULL) && scene_pool_is(&scene, 1, "quick", 0, NULL);
        /* if nobody waits for it, the input can end before */
        if (scene.report.pools[0].workers > 0 ||
            (is_certain && strcmp(scene.report.pools[0].reason, rows[i].reason) != 0))
            right = tap_note("%s", scene.report.pools[0].reason);
        tap_ok(right, "a device that cannot be used is none: %s", rows[i].reason);
    }
}

/* One of eight CPU workers makes way for a device, and returns if the device is unusable. */
static void test_way(void)
{
    static const enum fault faults[] = {AT_PREPARE, AT_OPEN, AT_WORKER_OPEN};

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct scene scene = scene_begin();
        play.fault = faults[i];
        play.cpu_waits = false;
        play.makes_way = true;
        scene_run(&scene);
        tap_ok(scene_is_right(&scene, NULL) && play.gone_on == CPU_WORKERS - 1 &&
                   atomic_load(&play.going_on) == CPU_WORKERS,
               "who has made way comes back if the device cannot be used: fault %d",
               (int)faults[i]);
    }
}

static void test_fails_midway(void)
{
    static const enum operation_id ids[] = {OPERATION_REDUCE, OPERATION_STALIN_SORT};
    static const enum fault faults[] = {AT_BUFFER, AT_ACCUMULATE, AT_WORKER_FINISH, AT_FINISH};

    for (unsigned i = 0; i < 2 * 4 * 2; i++) {
        struct scene scene = scene_begin();
        scene.operation = ids[i % 2];
        play.fault = faults[i / 2 % 4];
        play.sound_chunks = i / 8 * 5;
        scene_run(&scene);
        tap_ok(scene_is_right(&scene, "the device has failed"),
               "a device that fails midway ends the run: %s, fault %d, chunk %u",
               plan_operation_names[ids[i % 2]], (int)play.fault, play.sound_chunks);
        unlink(scene.output);
    }
}

/* After a device fails, the work is repeated from the beginning. */
static void test_again(void)
{
    static const enum operation_id ids[] = {OPERATION_REDUCE, OPERATION_STALIN_SORT};
    static const enum fault faults[] = {AT_BUFFER, AT_ACCUMULATE, AT_WORKER_FINISH, AT_FINISH};

    for (int i = 0; i < 2 * 4; i++) {
        struct scene scene = scene_begin();
        scene.operation = ids[i % 2];
        scene.repeats = true;
        play.fault = faults[i / 2];
        play.sound_chunks = 7;
        scene_run(&scene);
        tap_ok(scene_is_right(&scene, NULL) && scene.report.worker_pool_count == 1 &&
                   (i % 2 == 0 || scene_output_is_right(&scene)),
               "and then all is done again: %s, fault %d", plan_operation_names[ids[i % 2]],
               (int)play.fault);
        unlink(scene.output);
    }
}

static void test_idle(void)
{
    struct scene scene = scene_begin();

    play.fault = AT_IDLE;
    scene_run(&scene);
    tap_ok(scene_is_right(&scene, NULL), "a worker that has had no chunk is asked for nothing");
}

static void test_ordered(void)
{
    for (int holds = 0; holds < 2; holds++) {
        struct scene scene = scene_begin();

        scene.operation = OPERATION_STALIN_SORT;
        play.holds = holds;
        scene_run(&scene);
        tap_ok(scene_is_right(&scene, NULL) && scene_output_is_right(&scene),
               "an ordered operation puts the chunks of all pools in order%s",
               holds ? ", and one that is late stops nobody" : "");
        unlink(scene.output);
    }
}

static enum status use_checkpoint(void *context, struct failure *failure)
{
    (void)failure;
    ++*(unsigned *)context;
    return STATUS_OK;
}

/* Continuous checkpoints; each checks that all data read are in the aggregate. */
static enum status watch_checkpoints(void *context, struct pipeline *pipeline,
                                     struct failure *failure)
{
    enum status status = STATUS_OK;
    struct pipeline_live live = pipeline_look(pipeline);

    while (status == STATUS_OK && !live.has_ended) {
        status = pipeline_checkpoint(pipeline, use_checkpoint, context, failure);
        live = pipeline_look(pipeline);
    }
    if (status == STATUS_OK && live.bytes > 4 * ELEMENTS)
        return status_fail(failure, STATUS_DATA, "%llu bytes", (unsigned long long)live.bytes);
    return status;
}

static void test_checkpoints(void)
{
    struct scene scene = scene_begin();
    unsigned checkpoints = 0;

    play.cpu_waits = false; /* a checkpoint waits until all pause */
    scene.watcher = (struct pipeline_watcher){
        .context = &checkpoints,
        .checkpoints = true,
        .watch = watch_checkpoints,
    };
    scene_run(&scene);
    tap_ok(scene_is_right(&scene, NULL), "results so far, while a device joins");
}

/* Tests whether a device starts while the speed of the CPU workers is unknown. */
static void test_young(void)
{
    struct offload_policy_view young = {.input_bytes = UINT64_C(1) << 40,
                                        .workers = 16,
                                        .seconds = 0.001};
    tap_ok(!offload_policy_pays(&young), "it is not known at first how quick so many are");
    young.workers = 2;
    tap_ok(offload_policy_pays(&young), "but few are not that quick");
    young.workers = 16;
    young.seconds = 0.04;
    young.bytes = 1800000000;
    tap_ok(!offload_policy_pays(&young), "soon after the start, those of 45 GB/s may become quick");
    young.bytes = 800000000;
    tap_ok(offload_policy_pays(&young), "but not those of 20 GB/s");
    young.seconds = 0.009;
    young.bytes = 20000000;
    tap_ok(!offload_policy_pays(&young), "those that have hardly begun may be quick, too");
    young.seconds = 0.03;
    tap_ok(offload_policy_pays(&young), "but not if they still have not");
    struct offload_policy_view late = {.input_bytes = UINT64_C(1) << 30,
                                       .workers = 16,
                                       .seconds = 0.07,
                                       .bytes = 100000000,
                                       .earlier_seconds = 0.03,
                                       .earlier_bytes = 10000000};
    tap_ok(!offload_policy_pays(&late), "nor if they have begun since");
    late.earlier_bytes = 90000000;
    tap_ok(offload_policy_pays(&late), "but if they were quicker before");
}

/*
 * The time to merge a device's result counts. The CPU takes 0.6 s for the rest, and a device is
 * ready after 0.5 s.
 */
static void test_merges(void)
{
    struct offload_policy_view file = {.input_bytes = 8600000000,
                                       .workers = 16,
                                       .seconds = 0.15,
                                       .bytes = 1720000000};

    tap_ok(offload_policy_pays(&file) && offload_policy_joins(&file),
           "a device pays that has nothing to merge");
    file.counters = 5000000;
    tap_ok(offload_policy_pays(&file) && offload_policy_joins(&file), "or five million bins");
    file.rows = 1 << 20;
    tap_ok(offload_policy_pays(&file) && offload_policy_joins(&file),
           "or these, and a million rows");
    file.rows = file.bytes / 8;
    tap_ok(!offload_policy_pays(&file) && !offload_policy_joins(&file),
           "but not if all values are different");
    file.rows = 0;
    file.counters = 400000000;
    tap_ok(!offload_policy_pays(&file) && offload_policy_joins(&file),
           "nor for too many bins, if it is not ready yet");
    /* 8.6 GB of distinct values: 5.2 s without a GPU, 2.5 s with one */
    file.counters = 0;
    file.bytes = 260000000;
    file.rows = file.bytes / 8;
    tap_ok(offload_policy_pays(&file) && offload_policy_joins(&file),
           "if the CPU alone takes far longer, so does a device with many rows");
    file.workers = 1;
    tap_ok(!offload_policy_pays(&file), "unless there are too few threads to merge them");
}

/* Tests whether a device pays for a pipe, and for a file of which more or less is left. */
static void test_pays(void)
{
    struct offload_policy_view pipe = {.input_bytes = ENGINE_INPUT_UNKNOWN,
                                       .workers = 4,
                                       .pulling = 3};
    struct offload_policy_view file = {.input_bytes = UINT64_C(1) << 40,
                                       .workers = 4,
                                       .seconds = 1};

    pipe.bytes = UINT64_C(1) << 36;
    tap_ok(!offload_policy_pays(&pipe), "as long as not all CPU workers are wanted, no device is");
    pipe.pulling = 4;
    tap_ok(!offload_policy_pays(&pipe), "nor if all are, and they keep up");
    pipe.is_unread = true;
    tap_ok(offload_policy_pays(&pipe), "but then");
    file.bytes = UINT64_C(1) << 32;
    tap_ok(offload_policy_pays(&file), "a device pays where the rest takes long");
    file.bytes = file.input_bytes / 10 * 9;
    tap_ok(!offload_policy_pays(&file) && offload_policy_joins(&file),
           "where it does not, one that is ready still helps");
    file.bytes = file.input_bytes;
    tap_ok(!offload_policy_pays(&file) && !offload_policy_joins(&file), "but not at the end");
    file.bytes = 0;
    tap_ok(offload_policy_pays(&file) && offload_policy_joins(&file),
           "nothing has come yet: it pays");
}

/* Tests whether a device pays if its feeders take the cores of quick CPU workers. */
static void test_quick(void)
{
    struct offload_policy_view quick = {.input_bytes = UINT64_C(1) << 40,
                                        .workers = 16,
                                        .seconds = 1,
                                        .bytes = 77000000000};
    tap_ok(!offload_policy_pays(&quick) && !offload_policy_gains(&quick),
           "a device that takes the cores of quick CPU workers does not pay");
    quick.feeders = 8;
    tap_ok(offload_policy_pays(&quick), "unless one has joined");
    quick.feeders = 0;
    quick.bytes = 45000000000;
    tap_ok(offload_policy_pays(&quick), "or they are slower");
    quick.bytes = 150000000000;
    quick.workers = 64;
    tap_ok(offload_policy_pays(&quick), "or many");
}

/* How many devices are used, and how many CPU workers stay beside them. */
static void test_shares(void)
{
    bool staying = true;

    tap_ok(offload_policy_is_small(0, 1) && !offload_policy_is_small(ENGINE_INPUT_UNKNOWN, 1) &&
               !offload_policy_is_small(UINT64_C(1) << 40, 64),
           "small input is known to be small");
    tap_ok(offload_policy_devices(4, 1000) == 1 &&
               offload_policy_devices(4, UINT64_C(1) << 40) == 4 &&
               offload_policy_devices(1, UINT64_C(1) << 40) == 1,
           "further devices are for large input");
    for (unsigned workers = 1; workers < 40; workers++) {
        for (unsigned feeders = 0; feeders < 40; feeders++) {
            uint64_t bytes = feeders % 3 == 0 ? 0 : feeders % 3 == 1 ? 4000000000 : 100000000;
            unsigned stay = offload_policy_cpu_workers(workers, feeders, bytes, 1);
            staying = staying && stay >= 1 && stay <= workers;
        }
    }
    tap_ok(staying, "some CPU workers always stay");
    tap_ok(offload_policy_cpu_workers_meanwhile(1) == 1 &&
               offload_policy_cpu_workers_meanwhile(7) == 7 &&
               offload_policy_cpu_workers_meanwhile(16) == 14,
           "a few make way for a device that gets ready");
    tap_ok(offload_policy_cpu_workers(16, 8, 0, 1) == 8 &&
               offload_policy_cpu_workers(16, 8, 100, 1e-6) == 8 &&
               offload_policy_cpu_workers(16, 8, 4000000000, 1) == 8 &&
               offload_policy_cpu_workers(16, 8, 600000000, 1) == 1 &&
               offload_policy_cpu_workers(16, 0, 600000000, 1) == 16,
           "as many leave as there are feeders, or all but one if they are slow");
}

/* Two devices are prepared, and cannot be used. */
static void test_awaited(void)
{
    struct worker_group group = {
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
        .at_work = 1,
    };

    worker_group_await_device(&group, 1);
    worker_group_await_device(&group, 2);
    worker_group_give_up_device(&group, 1);
    tap_ok(!worker_group_pause(&group), "workers pause for a device though another cannot be used");
    worker_group_give_up_device(&group, 2);
    tap_ok(worker_group_pause(&group), "they continue if no device can be used");
}

int main(void)
{
    test_joins();
    test_several();
    test_named();
    test_late();
    test_unsupported();
    test_unusable();
    test_way();
    test_fails_midway();
    test_again();
    test_idle();
    test_ordered();
    test_checkpoints();
    test_pays();
    test_quick();
    test_shares();
    test_awaited();
    test_young();
    test_merges();
    return tap_done();
}
