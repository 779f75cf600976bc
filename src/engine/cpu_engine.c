/* Implements cpu_engine.h: sessions, workers, and parsing of text for the operations. */
#include "config.h"

#include "engine/cpu_engine.h"

#include "aggregate/store.h"
#include "engine/cpu_rows.h"
#include "lib/cpu_isa.h"
#include "lib/memory.h"
#include "lib/resources.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * Half of a common L2. Million values per second per core, 256 bins from the page cache, two cores
 * with 1 MiB of L2 each: 64 KiB 729, 128 KiB 865, 256 KiB 865, 512 KiB 932, 1 MiB 924. For a pipe
 * and 16 threads, see source.c.
 */
#define CPU_ENGINE_CHUNK_BYTES ((size_t)512 << 10)

/*
 * For a pipe and few threads: one thread reads while the others count cached data. (With many
 * threads each pull moves the pipe to another core, so pulls must be larger.) Seconds for 1 GB
 * through a pipe on two Zen 4 cores:
 *
 *   chunk              128 KiB  256 KiB  512 KiB
 *   256 bins              0.50     0.56     0.54
 *   sum of text           0.41     0.46     0.43
 */
#define CPU_ENGINE_PIPE_CHUNK_BYTES   ((size_t)128 << 10)
#define CPU_ENGINE_PIPE_CHUNK_THREADS 3

struct cpu_session {
    const struct plan *plan;
    void *aggregate;
    size_t chunk_bytes;
};

struct cpu_consumer {
    const struct cpu_session *session;
    const struct store *store;
    void *local; /* state of the operation; NULL: nothing is accumulated */
    struct chunk_buffer buffer;
    size_t buffer_bytes; /* size of the buffer's memory: above the usual capacity if it has grown */
    struct cpu_rows *rows; /* NULL: chunks are elements */
};

/* The vector instructions of plain code on some CPUs, in words. */
#if defined(__ARM_NEON)
#define CPU_ENGINE_PLAIN " with NEON"
#else
#define CPU_ENGINE_PLAIN ""
#endif

static bool cpu_engine_probe(unsigned device, char *description, size_t size)
{
    (void)device;
    unsigned processors = resources_at_start()->processors;
    const enum cpu_isa isa = cpu_isa_best();

    snprintf(description, size, "%u CPU%s, %s code%s", processors, processors == 1 ? "" : "s",
             cpu_isa_names[isa], isa == CPU_ISA_PLAIN ? CPU_ENGINE_PLAIN : "");
    return true;
}

static enum status cpu_engine_open(const struct plan *plan, const struct engine_options *options,
                                   void *aggregate, void **session, unsigned *workers,
                                   struct failure *failure)
{
    const bool is_pipe = options->input_bytes == ENGINE_INPUT_UNKNOWN && !options->is_compressed;
    const unsigned threads = options->threads ? options->threads : resources_at_start()->processors;
    struct cpu_session *opened = malloc(sizeof *opened);
    if (!opened)
        return status_fail(failure, STATUS_DATA, "not enough memory for the CPU engine");

    size_t chunk_bytes = options->chunk_bytes;
    if (chunk_bytes == 0)
        chunk_bytes = is_pipe && threads <= CPU_ENGINE_PIPE_CHUNK_THREADS
                          ? CPU_ENGINE_PIPE_CHUNK_BYTES
                          : CPU_ENGINE_CHUNK_BYTES;
    *opened = (struct cpu_session){
        .plan = plan,
        .aggregate = aggregate,
        .chunk_bytes = chunk_bytes,
    };
    *session = opened;
    *workers = engine_useful_workers(threads, chunk_bytes, options->input_bytes);
    return STATUS_OK;
}

static void cpu_engine_renew(void *session, void *aggregate)
{
    ((struct cpu_session *)session)->aggregate = aggregate;
}

static void cpu_engine_consumer_close(void *consumer)
{
    struct cpu_consumer *self = consumer;
    if (!self)
        return;
    store_close_local(self->store, self->local);
    if (self->rows)
        cpu_rows_destroy(self->rows);
    memory_unmap(self->buffer.data, self->buffer_bytes);
    free(self);
}

/* Resizes the memory of a consumer's buffer. */
static bool cpu_engine_resize(struct cpu_consumer *self, size_t bytes)
{
    char *data = memory_remap(self->buffer.data, self->buffer_bytes, bytes);

    if (!data)
        return false;
    self->buffer.data = data;
    self->buffer_bytes = bytes;
    return true;
}

/* The `grow` of a consumer's buffer. */
static enum status cpu_engine_grow(struct chunk_buffer *buffer, size_t capacity,
                                   struct failure *failure)
{
    struct cpu_consumer *self = buffer->owner;

    /* Other threads also need the available memory, which excludes the old buffer. */
    const bool has_memory = resources_have_memory(capacity + capacity / 3);
    if (capacity > self->buffer_bytes && (!has_memory || !cpu_engine_resize(self, capacity)))
        return status_fail(failure, STATUS_DATA, "not enough memory for a chunk of %zu bytes",
                           capacity);
    buffer->data = self->buffer.data;
    buffer->capacity = capacity;
    return STATUS_OK;
}

/* The `exchange` of a consumer's buffer. */
static void cpu_engine_exchange(struct chunk_buffer *buffer, struct chunk_memory *memory)
{
    struct cpu_consumer *self = buffer->owner;
    const struct chunk_memory own = {self->buffer.data, self->buffer_bytes};

    self->buffer.data = memory->data;
    self->buffer_bytes = memory->bytes;
    *memory = own;
    *buffer = self->buffer;
}

static enum status cpu_engine_consumer_open(void *session, void **consumer, struct failure *failure)
{
    const struct cpu_session *owner = session;
    const struct plan *plan = owner->plan;
    struct cpu_consumer *self = calloc(1, sizeof *self);
    if (!self)
        return status_fail(failure, STATUS_DATA, "not enough memory for a CPU thread");

    *consumer = self;
    self->session = owner;
    self->store = store_of(plan);
    self->buffer = (struct chunk_buffer){
        .data = memory_map(owner->chunk_bytes),
        .capacity = owner->chunk_bytes,
        .grow = cpu_engine_grow,
        .exchange = cpu_engine_exchange,
        .owner = self,
    };
    self->buffer_bytes = owner->chunk_bytes;
    if (!self->buffer.data)
        return status_fail(failure, STATUS_DATA, "not enough memory for a chunk of %zu bytes",
                           owner->chunk_bytes);
    /* Else chunks are elements, which the operation accumulates itself. */
    const bool has_rows = plan->is_text || plan->record_bytes > 0 || plan_has_rows(plan);
    if (has_rows && !(self->rows = cpu_rows_create(plan, store_of(plan))))
        return status_fail(failure, STATUS_DATA, "not enough memory for the values of a chunk");
    return STATUS_OK;
}

static enum status cpu_engine_consumer_buffer(void *consumer, struct chunk_buffer *buffer,
                                              struct failure *failure)
{
    struct cpu_consumer *self = consumer;

    /* The previous chunk is accumulated, so the buffer is free. Returns a long row's memory. */
    if (self->buffer_bytes > self->buffer.capacity &&
        !cpu_engine_resize(self, self->buffer.capacity))
        return status_fail(failure, STATUS_DATA, "not enough memory for a chunk");
    *buffer = self->buffer;
    return STATUS_OK;
}

static enum status cpu_engine_consumer_accumulate(void *consumer, const struct chunk *chunk,
                                                  struct failure *failure)
{
    struct cpu_consumer *self = consumer;
    const struct cpu_session *session = self->session;

    if (!self->local && store_open_local(self->store, session->plan, session->aggregate,
                                         &self->local, failure) != STATUS_OK)
        return failure->status;
    if (self->rows)
        return cpu_rows_accumulate(self->rows, self->local, chunk, failure);
    return self->store->local_accumulate(self->local, chunk, failure);
}

static enum status cpu_engine_consumer_merge(void *consumer, struct failure *failure)
{
    struct cpu_consumer *self = consumer;
    enum status status = STATUS_OK;

    if (self->local && self->store->local_merge)
        status = self->store->local_merge(self->local, failure);
    if (status == STATUS_OK && self->session->plan->window_periods > 0) {
        store_close_local(self->store, self->local);
        self->local = NULL;
    }
    return status;
}

const struct engine cpu_engine = {
    .name = "cpu",
    .probe = cpu_engine_probe,
    .open = cpu_engine_open,
    .renew = cpu_engine_renew,
    .close = free,
    .consumer_open = cpu_engine_consumer_open,
    .consumer_buffer = cpu_engine_consumer_buffer,
    .consumer_accumulate = cpu_engine_consumer_accumulate,
    .consumer_merge = cpu_engine_consumer_merge,
    .consumer_close = cpu_engine_consumer_close,
};
