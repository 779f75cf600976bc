/* Implements cpu_engine.h: sessions, workers, and parsing text for the operations. */
#include "config.h"

#include "cpu/cpu_engine.h"

#include "base/cpu_isa.h"
#include "base/decimal.h"
#include "base/memory.h"
#include "base/processors.h"
#include "cpu/cpu_record.h"
#include "input/parse_errors.h"
#include "job/weight_sum.h"
#include "partial/operation.h"
#include "text/text_pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Half of a common L2. Million values a second and core, 256 bins from the page cache, two cores
 * with 1 MiB of L2 each: 64 KiB 729, 128 KiB 865, 256 KiB 865, 512 KiB 932, 1 MiB 924. From a pipe
 * with 16 threads: source.c.
 */
#define CPU_ENGINE_CHUNK_BYTES ((size_t)512 << 10)

/*
 * For a pipe and few threads: one reads while the others count what is still in the cache. (With
 * many threads each pull moves the pipe to another core, so pulls must be larger.) Seconds for 1 GB
 * through a pipe on two Zen 4 cores, 256 bins and, of text, the sum: 128 KiB 0.50 0.41, 256 KiB
 * 0.56 0.46, 512 KiB 0.54 0.43.
 */
#define CPU_ENGINE_PIPE_CHUNK_BYTES   ((size_t)128 << 10)
#define CPU_ENGINE_PIPE_CHUNK_THREADS 3

/*
 * For compressed files, unless the operation is ordered. Where workers decode one file in turns,
 * each turn moves the decoder to another core. Seconds for 450 MB from a .gz file, two cores: 512
 * KiB 0.307, 1 MiB 0.305, 2 MiB 0.289, igzip alone 0.248. Of several files each worker decodes its
 * own: no difference.
 */
#define CPU_ENGINE_COMPRESSED_CHUNK_BYTES ((size_t)2 << 20)

/* Values of text that are parsed and then absorbed together: 32 KiB, which stay in or near L1. */
#define CPU_ENGINE_VALUES ((size_t)4096)

struct cpu_session {
    const struct job *job;
    void *partial;
    unsigned workers;
    size_t chunk_bytes;
};

struct cpu_worker {
    const struct job *job;
    const struct operation *operation;
    void *thread; /* of the operation */
    struct chunk_buffer buffer;
    size_t buffer_bytes;        /* its memory: more than the usual capacity if it has grown */
    text_parse_function *parse; /* for text */
    void *values;               /* parsed from text, or gathered beside a second column */
    uint64_t *second;           /* of the values; NULL: there is no second column */
    size_t values_max;          /* 64-bit values that fit */
};

/* What plain code has on some processors, in words. */
#if defined(__ARM_NEON)
#define CPU_ENGINE_PLAIN " with NEON"
#else
#define CPU_ENGINE_PLAIN ""
#endif

static bool cpu_engine_probe(unsigned device, char *description, size_t size)
{
    (void)device;
    unsigned processors = processors_available();
    const enum cpu_isa isa = cpu_isa_best();

    snprintf(description, size, "%u processor%s, %s code%s", processors, processors == 1 ? "" : "s",
             cpu_isa_names[isa], isa == CPU_ISA_PLAIN ? CPU_ENGINE_PLAIN : "");
    return true;
}

static enum status cpu_engine_open(const struct job *job, const struct engine_options *options,
                                   void *partial, void **session, struct failure *failure)
{
    const bool is_ordered = operation_of(job)->stop != NULL;
    const bool is_pipe = options->input_bytes == ENGINE_INPUT_UNKNOWN && !options->is_compressed;
    const unsigned threads = options->threads ? options->threads : processors_available();
    struct cpu_session *opened = malloc(sizeof *opened);
    if (!opened)
        return status_fail(failure, STATUS_DATA, "no memory for the CPU engine");

    size_t chunk_bytes = options->chunk_bytes;
    if (chunk_bytes == 0 && options->is_compressed && !is_ordered)
        chunk_bytes = CPU_ENGINE_COMPRESSED_CHUNK_BYTES;
    else if (chunk_bytes == 0)
        chunk_bytes = is_pipe && threads <= CPU_ENGINE_PIPE_CHUNK_THREADS
                          ? CPU_ENGINE_PIPE_CHUNK_BYTES
                          : CPU_ENGINE_CHUNK_BYTES;
    *opened = (struct cpu_session){
        .job = job,
        .partial = partial,
        .workers = engine_useful_workers(threads, chunk_bytes, options->input_bytes),
        .chunk_bytes = chunk_bytes,
    };
    *session = opened;
    return STATUS_OK;
}

static unsigned cpu_engine_workers(const void *session)
{
    return ((const struct cpu_session *)session)->workers;
}

static void cpu_engine_close(void *session)
{
    free(session);
}

static void cpu_engine_worker_close(void *worker)
{
    struct cpu_worker *self = worker;
    if (!self)
        return;
    operation_close_thread(self->operation, self->thread);
    memory_unmap(self->values, self->values_max * sizeof(uint64_t));
    memory_unmap(self->second, self->values_max * sizeof(uint64_t));
    memory_unmap(self->buffer.data, self->buffer_bytes);
    free(self);
}

/* Resizes the memory of a worker's buffer, and of the values of a chunk of it. */
static bool cpu_engine_resize(struct cpu_worker *self, size_t bytes)
{
    const bool holds_all = self->operation->stop && self->values; /* values of a whole chunk */
    char *data = memory_remap(self->buffer.data, self->buffer_bytes, bytes);

    if (!data)
        return false;
    self->buffer.data = data;
    self->buffer_bytes = bytes;
    if (!holds_all)
        return true;
    void *values = memory_remap(self->values, self->values_max * sizeof(uint64_t),
                                (bytes / 2 + 1) * sizeof(uint64_t));
    if (!values)
        return false;
    self->values = values;
    self->values_max = bytes / 2 + 1;
    return true;
}

/* The `grow` of a worker's buffer. */
static enum status cpu_engine_grow(struct chunk_buffer *buffer, size_t capacity,
                                   struct failure *failure)
{
    struct cpu_worker *self = buffer->owner;

    if (capacity > self->buffer_bytes && !cpu_engine_resize(self, capacity))
        return status_fail(failure, STATUS_DATA, "no memory for a line of more than %zu bytes",
                           buffer->capacity);
    buffer->data = self->buffer.data;
    buffer->capacity = capacity;
    return STATUS_OK;
}

static enum status cpu_engine_worker_open(void *session, void **worker, struct failure *failure)
{
    const struct cpu_session *owner = session;
    const struct job *job = owner->job;
    struct cpu_worker *self = calloc(1, sizeof *self);
    if (!self)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");

    *worker = self;
    self->job = job;
    self->operation = operation_of(job);
    self->buffer = (struct chunk_buffer){
        .data = memory_map(owner->chunk_bytes),
        .capacity = owner->chunk_bytes,
        .grow = cpu_engine_grow,
        .owner = self,
    };
    self->buffer_bytes = owner->chunk_bytes;
    if (!self->buffer.data)
        return status_fail(failure, STATUS_DATA, "no memory for a chunk of %zu bytes",
                           owner->chunk_bytes);
    if (job->is_text)
        self->parse = text_choose_parser(&job->text, job->element.type);
    if (job->is_text || job->second != SECOND_NONE) {
        /* an ordered operation absorbs all values of a chunk at once, up to four times its bytes */
        self->values_max = self->operation->stop ? owner->chunk_bytes / 2 + 1 : CPU_ENGINE_VALUES;
        self->values = memory_map(self->values_max * sizeof(uint64_t));
        if (job->second != SECOND_NONE)
            self->second = memory_map(self->values_max * sizeof(uint64_t));
        if (!self->values || (!self->second && job->second != SECOND_NONE))
            return status_fail(failure, STATUS_DATA, "no memory for the values of a chunk");
    }
    return operation_open_thread(self->operation, job, owner->partial, &self->thread, failure);
}

static enum status cpu_engine_worker_buffer(void *worker, struct chunk_buffer *buffer,
                                            struct failure *failure)
{
    struct cpu_worker *self = worker;

    /* The previous chunk is absorbed, so the buffer is free; a long row's memory is given back. */
    if (self->buffer_bytes > self->buffer.capacity &&
        !cpu_engine_resize(self, self->buffer.capacity))
        return status_fail(failure, STATUS_DATA, "no memory for a chunk");
    *buffer = self->buffer;
    return STATUS_OK;
}

/* Absorbs a chunk of elements, and adds up their weights if they have any. */
static enum status cpu_engine_absorb_elements(struct cpu_worker *self, const struct chunk *elements,
                                              struct failure *failure)
{
    const struct job *job = self->job;

    if (job->second == SECOND_WEIGHTS)
        weight_sum_add(job->weights, elements->second, elements->bytes / job->element.bytes);
    return self->operation->thread_absorb(self->thread, elements, failure);
}

/* Absorbs `count` values that were parsed from a chunk of text; `is_cut`: an error follows them. */
static enum status cpu_engine_absorb_values(struct cpu_worker *self, const struct chunk *text,
                                            size_t count, bool is_cut, struct failure *failure)
{
    struct chunk values = *text;

    values.data = self->values;
    values.bytes = count * self->job->element.bytes;
    values.is_cut = is_cut;
    values.text = text;
    values.second = self->second;
    parse_errors_add_values(self->job->errors, count);
    return cpu_engine_absorb_elements(self, &values, failure);
}

/* Parses a chunk of text and absorbs its values, as many at a time as fit in memory. */
static enum status cpu_engine_absorb_text(struct cpu_worker *self, const struct chunk *text,
                                          struct failure *failure)
{
    const struct job *job = self->job;
    struct text_cursor cursor = {.rules = &text->rules, .data = text->data, .bytes = text->bytes};
    enum text_event event;
    size_t held = 0; /* values that are parsed and not yet absorbed */

    do {
        cursor.values = (char *)self->values + held * job->element.bytes;
        cursor.second = self->second ? self->second + held : NULL;
        cursor.room = self->values_max - held;
        event = self->second ? text_pairs_parse(job, &cursor) : self->parse(&cursor);
        held += cursor.count;
        if (event == TEXT_INVALID &&
            parse_errors_add_invalid(job->errors, text, &cursor.invalid, failure) != STATUS_OK) {
            struct failure before; /* the failure that comes first in the stream is reported */
            if (cpu_engine_absorb_values(self, text, held, true, &before) != STATUS_OK &&
                before.position < failure->position)
                *failure = before;
            return failure->status;
        }
        if (event == TEXT_INVALID && held < self->values_max)
            continue;
        bool is_cut = text->is_cut && event == TEXT_END;
        if (cpu_engine_absorb_values(self, text, held, is_cut, failure) != STATUS_OK)
            return failure->status;
        held = 0;
    } while (event != TEXT_END);
    return STATUS_OK;
}

/*
 * Gathers pairs of elements of a chunk of records and absorbs them, as many at a time as fit in
 * memory.
 */
static enum status cpu_engine_absorb_pairs(struct cpu_worker *self, const struct chunk *records,
                                           struct failure *failure)
{
    const struct job *job = self->job;
    const size_t all = records->bytes / job->record_bytes;
    struct chunk elements = *records;

    elements.data = self->values;
    elements.second = self->second;
    elements.is_gathered = true;
    for (size_t i = 0, n; i < all; i += n) {
        const char *from = (const char *)records->data + i * job->record_bytes;
        n = all - i < self->values_max ? all - i : self->values_max;
        cpu_record_gather(&job->element, from + job->record_offset, job->record_bytes, n,
                          self->values);
        cpu_record_gather_keys(&job->second_element, from + job->second_offset, job->record_bytes,
                               n, self->second);
        size_t good = job->second == SECOND_WEIGHTS ? 0 : n; /* those before the first no weight */
        while (good < n && self->second[good] <= INT64_MAX)
            good++;
        elements.bytes = good * job->element.bytes;
        elements.position = records->position + i * job->record_bytes;
        elements.is_cut = good < n || (records->is_cut && i + n == all);
        if (cpu_engine_absorb_elements(self, &elements, failure) != STATUS_OK)
            return failure->status;
        if (good < n) {
            const uint64_t position =
                elements.position + good * job->record_bytes + job->second_offset;
            char weight[DECIMAL_SIZE];
            decimal_format_signed(weight, element_value(&job->second_element, self->second[good]));
            return status_fail_at(failure, position, STATUS_DATA,
                                  "weight %s at byte %llu of the input is not from 0 to 2^63 - 1",
                                  weight, (unsigned long long)position);
        }
    }
    return STATUS_OK;
}

static enum status cpu_engine_worker_absorb(void *worker, const struct chunk *chunk,
                                            struct failure *failure)
{
    struct cpu_worker *self = worker;
    const struct job *job = self->job;

    if (job->is_text)
        return cpu_engine_absorb_text(self, chunk, failure);
    if (self->second)
        return cpu_engine_absorb_pairs(self, chunk, failure);
    if (job->record_bytes == 0)
        return self->operation->thread_absorb(self->thread, chunk, failure);

    struct chunk elements = *chunk; /* they are gathered in the chunk's own memory */
    const size_t count = chunk->bytes / job->record_bytes;
    cpu_record_gather(&job->element, (const char *)chunk->data + job->record_offset,
                      job->record_bytes, count, self->buffer.data);
    elements.data = self->buffer.data;
    elements.bytes = count * job->element.bytes;
    elements.is_gathered = true;
    return self->operation->thread_absorb(self->thread, &elements, failure);
}

static enum status cpu_engine_worker_finish(void *worker, struct failure *failure)
{
    struct cpu_worker *self = worker;
    if (!self->operation->thread_finish)
        return STATUS_OK;
    return self->operation->thread_finish(self->thread, failure);
}

const struct engine cpu_engine = {
    .name = "cpu",
    .probe = cpu_engine_probe,
    .open = cpu_engine_open,
    .workers = cpu_engine_workers,
    .close = cpu_engine_close,
    .worker_open = cpu_engine_worker_open,
    .worker_buffer = cpu_engine_worker_buffer,
    .worker_absorb = cpu_engine_worker_absorb,
    .worker_finish = cpu_engine_worker_finish,
    .worker_close = cpu_engine_worker_close,
};
