/*
 * The CUDA engine, the host's part: memory for chunks, their copies to the GPU, and the order in
 * which their work is queued and completed. The operations are in cuda_<operation>.c.
 *
 * Text is copied unchanged, and the device parses it to elements. The host learns the number of
 * elements when the chunk is completed. Feeders parse text that the device cannot parse
 * (cuda_features.h), such as quotes of CSV, like CPU workers, and copy the elements instead.
 *
 * The device makes the weights of elements, and checks them (weights.cu). It does not count a chunk
 * with an invalid weight, or text with a token that is invalid or that it cannot parse, or a chunk
 * of IP addresses that are not all IPv4. The host counts such chunks like the CPU engine, which
 * reports faults in stream order.
 */
#include "config.h"

#include "cuda/cuda_engine.h"

#include "aggregate/store.h"
#include "cuda/cuda_features.h"
#include "cuda/cuda_operation.h"
#include "cuda/text_span.h"
#include "engine/cpu_rows.h"
#include "input/parse_errors.h"
#include "lib/memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Number of feeders, slots of each, and size of a chunk. GB/s from the page cache into an H200 (16
 * cores, PCIe 5 x16), 256 bins, from the first chunk to the last, with one of the three changed:
 *
 *   MiB of a chunk       1    2    4    8   16
 *   GB/s                32   41   48   48
 *   on another host               45   42   29
 *
 *   feeders              4    6    8   10   12
 *   GB/s                32   44   48   48   47
 *
 *   slots                2    3    4
 *   GB/s                48   48   49
 *
 * If all slots fit the last-level cache, the GPU reads them from there. Waits that spin instead of
 * block gain 3%, and keep eight cores busy.
 */
#define CUDA_ENGINE_FEEDERS     8
#define CUDA_ENGINE_SLOTS       2
#define CUDA_ENGINE_CHUNK_BYTES ((size_t)4 << 20)

/* Minimum size of a chunk, if memory is short. */
#define CUDA_ENGINE_CHUNK_BYTES_MIN ((size_t)64 << 10)

/* Host memory to which the result is copied part by part, unless the operation asks for more. */
#define CUDA_ENGINE_STAGING_BYTES ((size_t)2 << 20)

/*
 * The memory of a slot for chunks of up to `capacity` bytes. On the host and on the device it
 * begins with the chunk; the other members are aligned offsets of the areas after it.
 */
struct cuda_layout {
    size_t capacity;
    size_t d_values;  /* elements that the device makes from text or records */
    size_t d_control; /* text: memory for parsing */
    size_t d_weights; /* weights of 64 bits; this and the next two only with weights */
    size_t d_weighed;
    size_t d_weights_control; /* text: memory for parsing the weights */
    size_t d_scratch;
    size_t device_bytes; /* total size on the device */
    size_t parsed;       /* text: the struct cuda_text_parsed */
    size_t weighed;      /* weights: the struct cuda_weighed */
    size_t result;
    size_t host_bytes;   /* total size on the host */
    size_t values_bytes; /* size of the elements that the feeder may parse, in separate memory */
};

struct cuda_session {
    struct cuda_shared shared;
    const struct cuda_operation *operation;
    unsigned workers;
    size_t chunk_bytes;
    size_t aggregate_bytes; /* size of the aggregate on the device */
    struct cuda_layout layout;
    char *d_slots;      /* [workers][CUDA_ENGINE_SLOTS], layout.device_bytes each; owned */
    atomic_uint opened; /* number of workers opened so far */
};

/* A buffer for one chunk. From accumulate until complete, its stream works on the chunk. */
struct cuda_slot {
    struct cuda_layout layout;
    char *d_memory;  /* [layout.device_bytes] */
    char *host;      /* [layout.host_bytes], mapped; owned */
    bool is_grown;   /* the slot owns d_memory; else it is a part of d_slots */
    bool registered; /* `host` is registered with CUDA */
    bool busy;
    void *values;             /* [layout.values_bytes], not registered; owned; NULL: none */
    size_t values_bytes;      /* size of the chunk's elements in `values` */
    bool is_parsed;           /* the host parses the chunk, to `values`, or counts it */
    enum status parse_status; /* STATUS_DATA: a token after these elements has ended the run */
    struct failure parse_failure;
    struct cuda_chunk chunk;
};

struct cuda_consumer {
    struct cuda_session *session;
    struct cuda_slot slots[CUDA_ENGINE_SLOTS];
    unsigned next_slot;    /* the slot to fill next */
    struct cpu_rows *rows; /* for chunks that the host parses; owned; NULL: none yet */
    void *local;           /* the local state of chunks that the host counts; owned; NULL: none */
};

/* The functions of each operation. cuda_features.c rejects operations without functions. */
static const struct cuda_operation *const cuda_engine_operations[] = {
    [OPERATION_HISTOGRAM] = &cuda_histogram,     [OPERATION_UNIQ] = &cuda_uniq,
    [OPERATION_REDUCE] = &cuda_reduce,           [OPERATION_COUNT] = &cuda_count,
    [OPERATION_STALIN_SORT] = &cuda_stalin_sort,
};
_Static_assert(sizeof cuda_engine_operations / sizeof *cuda_engine_operations == OPERATION_IDS,
               "each operation is here");

static unsigned cuda_engine_devices(void)
{
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0 ? (unsigned)devices : 0;
}

static bool cuda_engine_probe(unsigned device, char *description, size_t size)
{
    struct cudaDeviceProp properties;
    int devices = 0;
    int driver = 0;
    cudaError_t error = cudaGetDeviceCount(&devices);

    if (error == cudaSuccess && devices == 0)
        error = cudaErrorNoDevice;
    if (error == cudaSuccess && device >= (unsigned)devices) {
        snprintf(description, size, "there is no GPU %u: %d can be seen", device, devices);
        return false;
    }
    if (error == cudaSuccess)
        error = cudaGetDeviceProperties(&properties, (int)device);
    if (error == cudaSuccess) {
        snprintf(description, size, "%s, %d multiprocessors, %zu MiB, CUDA %d.%d", properties.name,
                 properties.multiProcessorCount, properties.totalGlobalMem >> 20,
                 CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
        return true;
    }
    /* without a driver, CUDA says that the driver is too old */
    if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
        snprintf(description, size, "no NVIDIA driver found");
    else if (error == cudaErrorInsufficientDriver)
        snprintf(description, size, "the NVIDIA driver is for CUDA %d.%d, too old for CUDA %d.%d",
                 driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000,
                 CUDART_VERSION % 1000 / 10);
    else
        snprintf(description, size, "%s", cudaGetErrorString(error));
    return false;
}

/* Creates the context unless it exists, which takes 200 ms or more. */
static enum status cuda_engine_prepare(unsigned device, struct failure *failure)
{
    cudaError_t error =
        cudaInitDevice((int)device, cudaDeviceScheduleBlockingSync, cudaInitDeviceFlagsAreValid);

    if (error == cudaSuccess)
        error = cudaSetDevice((int)device);
    if (error == cudaSuccess)
        error = cudaFree(NULL);
    return error == cudaSuccess ? STATUS_OK : cuda_fail(error, "no context", failure);
}

/* Returns whether the host counts chunks that the device cannot parse, rather than only parses
 * them.
 */
static bool cuda_engine_has_host_chunks(const struct plan *plan)
{
    return plan->has_weights || (plan->is_text && cuda_text_reads_less(&plan->text));
}

/* Returns the maximum number of elements of a chunk. IPv4 addresses have at least 7 bytes. */
static size_t cuda_engine_elements_max(const struct plan *plan, size_t bytes)
{
    if (!plan->is_text)
        return bytes / plan_value_bytes(plan);
    return element_is_name(&plan->element) ? bytes / 8 + 1 : TEXT_SPAN_VALUES_MAX(bytes);
}

/* Returns the layout of a slot for chunks of `bytes` bytes. */
static struct cuda_layout cuda_engine_lay_out(const struct cuda_session *session, size_t bytes)
{
    const struct plan *plan = session->shared.plan;
    const size_t elements_bytes = plan->element.bytes * cuda_engine_elements_max(plan, bytes);
    const struct cuda_bytes needed = session->operation->bytes(plan, elements_bytes);
    struct cuda_layout layout = {.capacity = bytes};
    size_t d_next = cuda_align(bytes);
    size_t next = d_next;

    layout.d_values = d_next;
    if (cuda_makes_elements(plan))
        d_next += cuda_align(elements_bytes);
    layout.d_control = d_next;
    layout.parsed = next;
    if (plan->is_text) {
        d_next += cuda_align(cuda_text_control_bytes(bytes));
        next += cuda_align(sizeof(struct cuda_text_parsed));
    }
    if (engine_find_feature(&cuda_engine, plan, ENGINE_PARSES) &&
        !cuda_engine_has_host_chunks(plan))
        layout.values_bytes = elements_bytes;
    layout.weighed = next;
    if (plan->has_weights) {
        layout.d_weights = d_next;
        const size_t weights =
            plan->is_text ? TEXT_SPAN_VALUES_MAX(bytes) : cuda_engine_elements_max(plan, bytes);
        layout.d_weighed = d_next + cuda_align(weights * sizeof(uint64_t));
        d_next = layout.d_weighed + cuda_align(sizeof(struct cuda_weighed));
        layout.d_weights_control = d_next;
        if (plan->is_text)
            d_next += cuda_align(cuda_text_control_bytes(bytes));
        next += cuda_align(sizeof(struct cuda_weighed));
    }
    layout.d_scratch = d_next;
    layout.result = next;
    layout.device_bytes = d_next + cuda_align(needed.scratch);
    layout.host_bytes = next + cuda_align(needed.result);
    return layout;
}

/* Clears the device's aggregate, while no work is under way. */
static cudaError_t cuda_engine_clear_aggregate(const struct cuda_session *session)
{
    const struct cuda_shared *shared = &session->shared;
    cudaError_t error = cudaMemset(shared->d_aggregate, 0, session->aggregate_bytes);

    if (error == cudaSuccess && session->operation->prepare)
        error = session->operation->prepare(shared);
    if (error == cudaSuccess) /* the workers' streams would not wait for it */
        error = cudaDeviceSynchronize();
    return error;
}

/* Allocates the aggregate, and slots as large as there is memory for. */
static enum status cuda_engine_allocate(struct cuda_session *session, struct failure *failure)
{
    const struct plan *plan = session->shared.plan;
    const size_t minimum = plan->record_bytes > CUDA_ENGINE_CHUNK_BYTES_MIN
                               ? plan->record_bytes
                               : CUDA_ENGINE_CHUNK_BYTES_MIN;
    cudaError_t error = cudaSuccess;

    session->aggregate_bytes = session->operation->bytes(plan, 0).aggregate;
    if (session->aggregate_bytes > 0) {
        error = cudaMalloc(&session->shared.d_aggregate, session->aggregate_bytes);
        if (error == cudaSuccess)
            error = cuda_engine_clear_aggregate(session);
    }
    if (error != cudaSuccess)
        return status_fail(failure, STATUS_ENGINE, "CUDA: cannot allocate %zu MiB on the GPU: %s",
                           session->aggregate_bytes >> 20, cudaGetErrorString(error));
    for (;;) {
        session->layout = cuda_engine_lay_out(session, session->chunk_bytes);
        error = cudaMalloc((void **)&session->d_slots,
                           session->workers * CUDA_ENGINE_SLOTS * session->layout.device_bytes);
        if (!cuda_is_out_of_memory(error) || session->chunk_bytes / 2 < minimum)
            break;
        session->chunk_bytes /= 2;
    }
    if (error != cudaSuccess)
        return cuda_fail(error, "cannot allocate chunks on the GPU", failure);
    return STATUS_OK;
}

static void cuda_engine_close(void *session)
{
    struct cuda_session *self = session;

    cudaSetDevice(self->shared.device.id);
    cudaFree(self->d_slots);
    cudaFree(self->shared.d_aggregate);
    if (self->operation->close)
        self->operation->close(&self->shared);
    free(self);
}

static enum status cuda_engine_open(const struct plan *plan, const struct engine_options *options,
                                    void *aggregate, void **session, unsigned *workers,
                                    struct failure *failure)
{
    struct cuda_session *opened = calloc(1, sizeof *opened);
    if (!opened)
        return status_fail(failure, STATUS_DATA, "not enough memory for the CUDA engine");

    struct cuda_device *device = &opened->shared.device;
    unsigned feeders = options->threads ? options->threads : CUDA_ENGINE_FEEDERS;
    device->id = (int)options->device;
    opened->shared.plan = plan;
    opened->shared.aggregate = aggregate;
    /* all results of IP addresses follow from their counts (groups.h) */
    opened->operation =
        element_is_name(&plan->element) ? &cuda_uniq : cuda_engine_operations[plan->operation];
    opened->chunk_bytes = options->chunk_bytes ? options->chunk_bytes : CUDA_ENGINE_CHUNK_BYTES;
    opened->workers = engine_useful_workers(feeders, opened->chunk_bytes, options->input_bytes);

    enum status status = cuda_engine_prepare(options->device, failure);
    if (status == STATUS_OK) {
        cudaError_t error = cudaDeviceGetAttribute(&device->multiprocessors,
                                                   cudaDevAttrMultiProcessorCount, device->id);
        if (error == cudaSuccess)
            error = cudaDeviceGetAttribute(&device->shared_bytes,
                                           cudaDevAttrMaxSharedMemoryPerBlockOptin, device->id);
        status = error == cudaSuccess ? cuda_engine_allocate(opened, failure)
                                      : cuda_fail(error, "no context", failure);
    }
    if (status == STATUS_OK && opened->operation->open)
        status = opened->operation->open(&opened->shared, failure);
    if (status != STATUS_OK) {
        cuda_engine_close(opened);
        return status;
    }
    *session = opened;
    *workers = opened->workers;
    return STATUS_OK;
}

/*
 * Registers host memory, so that copies run in parallel with other work. If a limit on locked
 * memory prevents it, copies are slower but right.
 */
static bool cuda_engine_register(void *host, size_t bytes)
{
    if (cudaHostRegister(host, bytes, cudaHostRegisterDefault) == cudaSuccess)
        return true;
    cudaGetLastError(); /* or CUDA reports it again */
    return false;
}

/* Merges the device's aggregate into the shared one, and clears it. All streams are done. */
static enum status cuda_engine_merge(void *session, struct failure *failure)
{
    const struct cuda_session *self = session;
    if (!self->operation->collect)
        return STATUS_OK;

    size_t bytes = CUDA_ENGINE_STAGING_BYTES;
    if (self->operation->staging_bytes && self->operation->staging_bytes(&self->shared) > bytes)
        bytes = self->operation->staging_bytes(&self->shared);
    void *staging = memory_map(bytes);
    if (!staging)
        return status_fail(failure, STATUS_DATA, "not enough memory for the result of the GPU");

    cudaError_t error = cudaSetDevice(self->shared.device.id);
    bool registered = cuda_engine_register(staging, bytes);
    enum status status = cuda_check_copy(error, failure);
    if (status == STATUS_OK)
        status = self->operation->collect(&self->shared, staging, bytes, failure);
    if (status == STATUS_OK)
        status = cuda_check_copy(cuda_engine_clear_aggregate(self), failure);
    if (registered)
        cudaHostUnregister(staging);
    memory_unmap(staging, bytes);
    return status;
}

/*
 * Maps and registers the host memory of a slot, which has its layout and device memory. Returns
 * false if there is no memory; the slot must then be freed. Memory for elements that a feeder
 * parses is not registered, because that would take all of it, and mostly little is used.
 */
static bool cuda_engine_map_slot(struct cuda_slot *slot)
{
    const struct cuda_layout *layout = &slot->layout;

    slot->host = memory_map(layout->host_bytes);
    if (slot->host && layout->values_bytes > 0)
        slot->values = memory_map(layout->values_bytes);
    if (!slot->host || (layout->values_bytes > 0 && !slot->values))
        return false;
    /* All feeders do it at once; cudaHostRegister would, for one feeder at a time. */
    memory_touch(slot->host, layout->host_bytes);
    slot->registered = cuda_engine_register(slot->host, layout->host_bytes);
    slot->chunk.d_scratch = slot->d_memory + layout->d_scratch;
    slot->chunk.result = slot->host + layout->result;
    return true;
}

/* Frees the memory of a slot on which no work is under way, except the session's. */
static void cuda_engine_free_slot(struct cuda_slot *slot)
{
    if (slot->is_grown)
        cudaFree(slot->d_memory);
    if (slot->registered)
        cudaHostUnregister(slot->host);
    memory_unmap(slot->host, slot->layout.host_bytes);
    memory_unmap(slot->values, slot->layout.values_bytes);
}

/* The `grow` of a slot's buffer, which is being filled: no work is under way. */
static enum status cuda_engine_grow(struct chunk_buffer *buffer, size_t capacity,
                                    struct failure *failure)
{
    struct cuda_consumer *self = buffer->owner;
    struct cuda_slot *slot = &self->slots[self->next_slot];

    if (capacity > slot->layout.capacity) {
        struct cuda_slot grown = {
            .layout = cuda_engine_lay_out(self->session, capacity),
            .is_grown = true,
            .chunk = slot->chunk,
        };
        cudaError_t error = cudaMalloc((void **)&grown.d_memory, grown.layout.device_bytes);
        if (error == cudaSuccess && !cuda_engine_map_slot(&grown))
            error = cudaErrorMemoryAllocation;
        if (error != cudaSuccess) {
            cuda_engine_free_slot(&grown);
            cudaGetLastError(); /* or CUDA reports it again */
            return cuda_fail(error, "not enough memory for a long line", failure);
        }
        memcpy(grown.host, slot->host, buffer->capacity);
        cuda_engine_free_slot(slot);
        *slot = grown;
    }
    buffer->data = slot->host;
    buffer->capacity = capacity;
    return STATUS_OK;
}

static void cuda_engine_consumer_close(void *consumer)
{
    struct cuda_consumer *self = consumer;
    if (!self)
        return;
    for (unsigned i = 0; i < CUDA_ENGINE_SLOTS; i++) {
        struct cuda_slot *slot = &self->slots[i];
        if (slot->chunk.stream) {
            cudaStreamSynchronize(slot->chunk.stream); /* nothing may still read the memory */
            cudaStreamDestroy(slot->chunk.stream);
        }
        cuda_engine_free_slot(slot);
    }
    store_close_local(store_of(self->session->shared.plan), self->local);
    if (self->rows)
        cpu_rows_destroy(self->rows);
    free(self);
}

static enum status cuda_engine_consumer_open(void *session, void **consumer,
                                             struct failure *failure)
{
    struct cuda_session *owner = session;
    const size_t device_bytes = owner->layout.device_bytes;
    struct cuda_consumer *opened = calloc(1, sizeof *opened);
    if (!opened)
        return status_fail(failure, STATUS_DATA, "not enough memory for a feeder thread");

    *consumer = opened;
    opened->session = owner;
    cudaError_t error = cudaSetDevice(owner->shared.device.id);
    if (error != cudaSuccess)
        return cuda_fail(error, "cannot use the device", failure);
    unsigned first = atomic_fetch_add(&owner->opened, 1) * CUDA_ENGINE_SLOTS;
    for (unsigned i = 0; i < CUDA_ENGINE_SLOTS; i++) {
        struct cuda_slot *slot = &opened->slots[i];
        slot->layout = owner->layout;
        slot->d_memory = owner->d_slots + (first + i) * device_bytes;
        if (!cuda_engine_map_slot(slot))
            return status_fail(failure, STATUS_DATA, "not enough memory for a chunk of %zu bytes",
                               slot->layout.host_bytes);
        error = cudaStreamCreateWithFlags(&slot->chunk.stream, cudaStreamNonBlocking);
        if (error != cudaSuccess)
            return cuda_fail(error, "cannot create a stream", failure);
    }
    return STATUS_OK;
}

/*
 * An operation whose local state is a slot that collects elements in `values`, or NULL to parse the
 * chunk only for its invalid tokens.
 */
static enum status cuda_engine_collect_elements(void *slot, const struct chunk *elements,
                                                struct failure *failure)
{
    struct cuda_slot *self = slot;
    (void)failure;

    if (!self)
        return STATUS_OK;
    memcpy((char *)self->values + self->values_bytes, elements->data, elements->bytes);
    self->values_bytes += elements->bytes;
    self->chunk.chunk.is_cut = self->chunk.chunk.is_cut || elements->is_cut;
    return STATUS_OK;
}

static const struct store cuda_engine_collector = {
    .local_accumulate = cuda_engine_collect_elements,
};

/* Makes the rows of a consumer for that store, unless it has them. */
static enum status cuda_engine_open_rows(struct cuda_consumer *self, const struct store *store,
                                         struct failure *failure)
{
    if (!self->rows && !(self->rows = cpu_rows_create(self->session->shared.plan, store)))
        return status_fail(failure, STATUS_DATA, "not enough memory for the values of a chunk");
    return STATUS_OK;
}

/* Queues the kernels that make the weights of a slot's chunk, after those for its elements. */
static cudaError_t cuda_engine_queue_weights(const struct cuda_session *session,
                                             struct cuda_slot *slot)
{
    const struct cuda_layout *layout = &slot->layout;
    const struct cuda_device *device = &session->shared.device;
    const struct plan *plan = session->shared.plan;
    const size_t index = plan_weight_column(plan);
    const struct column *column = &plan->columns[index];
    struct cuda_chunk *chunk = &slot->chunk;
    uint64_t *d_weights = (void *)(slot->d_memory + layout->d_weights);
    struct cuda_weighed *d_weighed = (void *)(slot->d_memory + layout->d_weighed);
    struct cuda_weights weights = {
        .element = column->element,
        .d_first = slot->d_memory + column->offset,
        .record_bytes = plan->record_bytes,
        .count = chunk->elements.count,
    };
    cudaError_t error = cudaSuccess;

    chunk->elements.d_weights = d_weights;
    chunk->elements.d_count = &d_weighed->count;
    if (plan->is_text) {
        const struct text_rules rules = plan_column_rules(plan, &chunk->chunk.rules, index);
        void *d_control = slot->d_memory + layout->d_weights_control;
        error = cuda_text_launch(device, &rules, column, slot->d_memory, chunk->chunk.bytes,
                                 d_weights, d_control, chunk->stream);
        weights.d_first = d_weights;
        weights.record_bytes = sizeof *d_weights;
        weights.d_values = (void *)(slot->d_memory + layout->d_control);
        weights.d_weights = d_control;
    }
    if (error == cudaSuccess)
        error = cuda_weights_launch(device, &weights, d_weights, d_weighed, chunk->stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(slot->host + layout->weighed, d_weighed, sizeof *d_weighed,
                                cudaMemcpyDeviceToHost, chunk->stream);
    return error;
}

/* Queues the work on a slot's chunk, after the copy of its bytes, or of the elements in it. */
static cudaError_t cuda_engine_queue(const struct cuda_session *session, struct cuda_slot *slot)
{
    const struct cuda_shared *shared = &session->shared;
    const struct cuda_layout *layout = &slot->layout;
    const struct plan *plan = shared->plan;
    struct cuda_chunk *chunk = &slot->chunk;
    void *d_values = slot->d_memory + layout->d_values;
    struct cuda_text_parsed *d_parsed = (void *)(slot->d_memory + layout->d_control);
    cudaError_t error = cudaSuccess;

    if (slot->is_parsed) {
        chunk->elements = (struct cuda_elements){.d_data = d_values, .count = chunk->count};
    } else if (plan->is_text) {
        chunk->elements = (struct cuda_elements){
            .d_data = d_values,
            .count = cuda_engine_elements_max(plan, chunk->chunk.bytes),
            .d_count = &d_parsed->values,
        };
        error =
            cuda_text_launch(&shared->device, &chunk->chunk.rules, &plan->columns[0],
                             slot->d_memory, chunk->chunk.bytes, d_values, d_parsed, chunk->stream);
        if (error == cudaSuccess)
            error = cudaMemcpyAsync(slot->host + layout->parsed, d_parsed, sizeof *d_parsed,
                                    cudaMemcpyDeviceToHost, chunk->stream);
    } else {
        chunk->count = chunk->chunk.bytes / plan_value_bytes(plan);
        chunk->elements = (struct cuda_elements){.d_data = slot->d_memory, .count = chunk->count};
        if (plan->record_bytes > 0) {
            chunk->elements.d_data = d_values;
            error = cuda_records_launch(&shared->device, plan, slot->d_memory, chunk->count,
                                        d_values, chunk->stream);
        }
    }
    if (error == cudaSuccess && plan->has_weights)
        error = cuda_engine_queue_weights(session, slot);
    return error == cudaSuccess ? session->operation->accumulate(shared, chunk) : error;
}

/*
 * Completes a chunk whose token has ended the run. The part before the token counts, so the work is
 * repeated on only that part, which may have an earlier failure.
 */
static enum status cuda_engine_complete_cut(const struct cuda_session *session,
                                            struct cuda_slot *slot, struct failure *failure)
{
    const struct cuda_operation *operation = session->operation;
    const struct cuda_text_parsed *parsed = (void *)(slot->host + slot->layout.parsed);
    struct chunk *chunk = &slot->chunk.chunk;
    const char *text = chunk->data;
    struct failure earlier;

    if (failure->position < chunk->position || failure->position - chunk->position > chunk->bytes)
        return failure->status; /* another failure */
    chunk->bytes = (size_t)(failure->position - chunk->position);
    chunk->is_cut = true;
    /* In an incomplete line, a field could be another one. */
    while (session->shared.plan->text.field != 0 && chunk->bytes > 0 &&
           text[chunk->bytes - 1] != '\n')
        chunk->bytes--;
    cudaError_t error = cuda_engine_queue(session, slot);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(slot->chunk.stream);
    if (error != cudaSuccess)
        return cuda_fail(error, "counting failed", failure);
    slot->chunk.count = parsed->values;
    if (operation->complete &&
        operation->complete(&session->shared, &slot->chunk, &earlier) != STATUS_OK &&
        earlier.position < failure->position)
        *failure = earlier;
    return failure->status;
}

/* Counts a chunk on this thread. The device has not counted it. */
static enum status cuda_engine_count_on_host(struct cuda_consumer *self, const struct chunk *chunk,
                                             struct failure *failure)
{
    const struct cuda_shared *shared = &self->session->shared;

    if (cuda_engine_open_rows(self, store_of(shared->plan), failure) != STATUS_OK)
        return failure->status;
    if (!self->local && store_open_local(store_of(shared->plan), shared->plan, shared->aggregate,
                                         &self->local, failure) != STATUS_OK)
        return failure->status;
    return cpu_rows_accumulate(self->rows, self->local, chunk, failure);
}

/* Waits until the work on a slot's chunk is done, and handles its result. */
static enum status cuda_engine_complete(struct cuda_consumer *self, struct cuda_slot *slot,
                                        struct failure *failure)
{
    const struct cuda_session *session = self->session;
    const struct cuda_weighed *weighed = (void *)(slot->host + slot->layout.weighed);
    const struct cuda_operation *operation = session->operation;
    const struct cuda_text_parsed *parsed = (void *)(slot->host + slot->layout.parsed);
    const struct plan *plan = session->shared.plan;
    struct cuda_chunk *chunk = &slot->chunk;

    if (!slot->busy)
        return STATUS_OK;
    slot->busy = false;
    cudaError_t error = cudaStreamSynchronize(chunk->stream);
    if (error != cudaSuccess)
        return cuda_fail(error, "counting failed", failure);
    if (cuda_engine_has_host_chunks(plan) &&
        (slot->is_parsed || (plan->has_weights ? weighed->invalid : parsed->invalid) > 0))
        return cuda_engine_count_on_host(self, &chunk->chunk, failure);
    if (plan->has_weights)
        context_add_weight(plan,
                           ((unsigned __int128)weighed->halves[1] << 32) + weighed->halves[0]);
    if (plan->is_text && !slot->is_parsed) {
        chunk->count = parsed->values;
        if (parsed->invalid == 0) {
            struct kind_guesses guesses = {.times = {[KIND_TIME_GUESS_ZERO] = parsed->zeros}};
            parse_errors_add_values(plan->context->errors, chunk->count);
            context_add_guesses(plan, &guesses);
        } else if (cuda_engine_open_rows(self, &cuda_engine_collector, failure) != STATUS_OK)
            return failure->status;
        else if (cpu_rows_accumulate(self->rows, NULL, &chunk->chunk, failure) != STATUS_OK)
            return cuda_engine_complete_cut(session, slot, failure);
    }
    enum status status =
        operation->complete ? operation->complete(&session->shared, chunk, failure) : STATUS_OK;
    return slot->parse_status == STATUS_OK
               ? status
               : status_fail_first(failure, status, &slot->parse_failure);
}

static enum status cuda_engine_consumer_buffer(void *consumer, struct chunk_buffer *buffer,
                                               struct failure *failure)
{
    struct cuda_consumer *self = consumer;
    struct cuda_slot *slot = &self->slots[self->next_slot];

    *buffer = (struct chunk_buffer){
        .data = slot->host,
        .capacity = self->session->chunk_bytes,
        .grow = cuda_engine_grow,
        .owner = self,
    };
    return cuda_engine_complete(self, slot, failure);
}

static enum status cuda_engine_consumer_accumulate(void *consumer, const struct chunk *chunk,
                                                   struct failure *failure)
{
    struct cuda_consumer *self = consumer;
    const struct plan *plan = self->session->shared.plan;
    struct cuda_slot *slot = &self->slots[self->next_slot];
    char *d_to = slot->d_memory;
    const void *from = chunk->data;
    size_t bytes = chunk->bytes;

    slot->chunk.chunk = *chunk;
    slot->is_parsed = cuda_features_must_parse(plan, chunk);
    slot->parse_status = STATUS_OK;
    slot->busy = true;
    self->next_slot = (self->next_slot + 1) % CUDA_ENGINE_SLOTS;
    if (slot->is_parsed && cuda_engine_has_host_chunks(plan))
        return STATUS_OK; /* the host counts the chunk when it is completed */
    if (slot->is_parsed) {
        if (cuda_engine_open_rows(self, &cuda_engine_collector, failure) != STATUS_OK)
            return failure->status;
        slot->values_bytes = 0;
        slot->parse_status = cpu_rows_accumulate(self->rows, slot, chunk, &slot->parse_failure);
        slot->chunk.count = slot->values_bytes / plan->element.bytes;
        d_to += slot->layout.d_values;
        from = slot->values;
        bytes = slot->values_bytes;
    }
    cudaError_t error =
        cudaMemcpyAsync(d_to, from, bytes, cudaMemcpyHostToDevice, slot->chunk.stream);
    if (error == cudaSuccess)
        error = cuda_engine_queue(self->session, slot);
    if (error != cudaSuccess)
        return cuda_fail(error, "cannot queue a chunk", failure);
    return STATUS_OK;
}

/* Completes the slots in the order in which they were filled. */
static enum status cuda_engine_consumer_merge(void *consumer, struct failure *failure)
{
    struct cuda_consumer *self = consumer;
    const struct cuda_session *session = self->session;
    const struct store *counter = store_of(session->shared.plan); /* on the host */
    cudaError_t error = cudaSetDevice(session->shared.device.id); /* any thread may call */

    if (error != cudaSuccess)
        return cuda_fail(error, "cannot use the device", failure);
    for (unsigned i = 0; i < CUDA_ENGINE_SLOTS; i++) {
        struct cuda_slot *slot = &self->slots[(self->next_slot + i) % CUDA_ENGINE_SLOTS];
        if (cuda_engine_complete(self, slot, failure) != STATUS_OK)
            return failure->status;
    }
    if (self->local && counter->local_merge)
        return counter->local_merge(self->local, failure);
    return STATUS_OK;
}

const struct engine cuda_engine = {
    .name = "cuda",
    .devices = cuda_engine_devices,
    .probe = cuda_engine_probe,
    .features = cuda_features,
    .prepare = cuda_engine_prepare,
    .open = cuda_engine_open,
    .merge = cuda_engine_merge,
    .close = cuda_engine_close,
    .consumer_open = cuda_engine_consumer_open,
    .consumer_buffer = cuda_engine_consumer_buffer,
    .consumer_accumulate = cuda_engine_consumer_accumulate,
    .consumer_flush = cuda_engine_consumer_merge,
    .consumer_merge = cuda_engine_consumer_merge,
    .consumer_close = cuda_engine_consumer_close,
};
