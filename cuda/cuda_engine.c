#include "config.h"

#include "cuda_engine.h"

#include "cuda_operation.h"
#include "memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * GB/s from the page cache into an H200 (16 cores, PCIe 5 x16), 256 bins, from the first chunk to
 * the last. Chunk size with 8 feeders of 2 slots: 1 MiB 32, 2 MiB 41, 4 MiB 48, 8 MiB 48; on
 * another host 4 MiB 45, 8 MiB 42, 16 MiB 29: slots that together stay in the last-level cache are
 * read from there by the GPU. Feeders at 4 MiB: 4 32, 6 44, 8 48, 10 48, 12 47. Slots at 4 MiB: 2
 * 48, 3 48, 4 49. Spinning instead of blocking waits: 3% more, for eight busy cores.
 */
#define CUDA_ENGINE_FEEDERS         8
#define CUDA_ENGINE_SLOTS           2
#define CUDA_ENGINE_CHUNK_BYTES     ((size_t)4 << 20)
#define CUDA_ENGINE_CHUNK_BYTES_MIN ((size_t)64 << 10) /* not tried below, if memory is short */
#define CUDA_ENGINE_ALIGNMENT       ((size_t)256)
#define CUDA_ENGINE_STAGING_BYTES   ((size_t)2 << 20) /* the result is copied through */
#define CUDA_ENGINE_NOTES_BYTES     ((size_t)CUDA_ENGINE_SLOTS * CUDA_NOTE_BYTES)

static const struct cuda_operation *const cuda_operations[OPERATION_COUNT] = {
    [OPERATION_HISTOGRAM] = &cuda_histogram,
};

struct cuda_session {
    const struct job *job;
    const struct cuda_operation *operation;
    void *partial; /* the shared one, in host memory */
    struct cuda_device device;
    unsigned workers;
    size_t chunk_bytes;
    size_t slot_bytes; /* a chunk, aligned, in device memory */
    void *d_partial;
    char *d_slots;      /* [workers][CUDA_ENGINE_SLOTS][slot_bytes] */
    atomic_uint opened; /* workers so far */
};

/* A chunk on its way: filled, then busy until its stream is done. */
struct cuda_slot {
    void *host; /* mapped, and registered with CUDA if `registered` */
    bool registered;
    bool busy;
    void *d_elements;
    void *note;
    cudaStream_t stream;
    struct chunk chunk;
};

struct cuda_worker {
    struct cuda_session *session;
    void *notes; /* of all slots: mapped, and registered if `notes_registered` */
    bool notes_registered;
    struct cuda_slot slots[CUDA_ENGINE_SLOTS];
    unsigned turn; /* the slot to fill next */
};

static enum status cuda_engine_fail(cudaError_t error, const char *what, struct failure *failure)
{
    return status_fail(failure, STATUS_ENGINE, "CUDA: %s: %s", what, cudaGetErrorString(error));
}

/* Why there is no device. Without a driver CUDA says that the driver is too old. */
static void cuda_engine_explain(cudaError_t error, char *description, size_t size)
{
    int driver = 0;

    if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
        snprintf(description, size, "no NVIDIA driver found");
    else if (error == cudaErrorInsufficientDriver)
        snprintf(description, size, "the NVIDIA driver is for CUDA %d.%d, too old for CUDA %d.%d",
                 driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000,
                 CUDART_VERSION % 1000 / 10);
    else
        snprintf(description, size, "%s", cudaGetErrorString(error));
}

static bool cuda_engine_probe(char *description, size_t size)
{
    struct cudaDeviceProp properties;
    int devices = 0;
    cudaError_t error = cudaGetDeviceCount(&devices);

    if (error == cudaSuccess && devices == 0)
        error = cudaErrorNoDevice;
    if (error == cudaSuccess)
        error = cudaGetDeviceProperties(&properties, 0);
    if (error != cudaSuccess) {
        cuda_engine_explain(error, description, size);
        return false;
    }
    snprintf(description, size, "%s, %d multiprocessors, %zu MiB, CUDA %d.%d%s", properties.name,
             properties.multiProcessorCount, properties.totalGlobalMem >> 20, CUDART_VERSION / 1000,
             CUDART_VERSION % 1000 / 10, devices > 1 ? " (the first of several GPUs)" : "");
    return true;
}

/* Creates the context, which takes 200 ms and more, and reads what launchers need to know. */
static cudaError_t cuda_engine_open_device(struct cuda_device *device)
{
    cudaError_t error = cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync);

    if (error == cudaSuccess)
        error = cudaSetDevice(device->id);
    if (error == cudaSuccess)
        error = cudaFree(NULL);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&device->multiprocessors, cudaDevAttrMultiProcessorCount,
                                       device->id);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&device->shared_bytes,
                                       cudaDevAttrMaxSharedMemoryPerBlockOptin, device->id);
    return error;
}

static cudaError_t cuda_engine_allocate_slots(struct cuda_session *session)
{
    session->slot_bytes = (session->chunk_bytes + CUDA_ENGINE_ALIGNMENT - 1) /
                          CUDA_ENGINE_ALIGNMENT * CUDA_ENGINE_ALIGNMENT;
    return cudaMalloc((void **)&session->d_slots,
                      session->workers * CUDA_ENGINE_SLOTS * session->slot_bytes);
}

/* Allocates the partial, and slots as large as there is memory for. */
static enum status cuda_engine_allocate(struct cuda_session *session, struct failure *failure)
{
    size_t bytes = session->operation->partial_bytes(session->job);
    cudaError_t error = cudaMalloc(&session->d_partial, bytes);

    if (error == cudaSuccess)
        error = cudaMemset(session->d_partial, 0, bytes);
    if (error == cudaSuccess) /* the workers' streams do not wait for it */
        error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        return status_fail(failure, STATUS_ENGINE, "CUDA: no room for %zu MiB on the GPU: %s",
                           bytes >> 20, cudaGetErrorString(error));
    error = cuda_engine_allocate_slots(session);
    while (error == cudaErrorMemoryAllocation &&
           session->chunk_bytes / 2 >= CUDA_ENGINE_CHUNK_BYTES_MIN) {
        cudaGetLastError(); /* it is told again otherwise */
        session->chunk_bytes /= 2;
        error = cuda_engine_allocate_slots(session);
    }
    if (error != cudaSuccess)
        return cuda_engine_fail(error, "no room for chunks on the GPU", failure);
    return STATUS_OK;
}

static void cuda_engine_close(void *session)
{
    struct cuda_session *self = session;

    cudaFree(self->d_slots);
    cudaFree(self->d_partial);
    free(self);
}

static enum status cuda_engine_open(const struct job *job, const struct engine_options *options,
                                    void *partial, void **session, struct failure *failure)
{
    struct cuda_session *made = calloc(1, sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for the CUDA engine");

    size_t chunk_bytes = options->chunk_bytes ? options->chunk_bytes : CUDA_ENGINE_CHUNK_BYTES;
    unsigned feeders = options->threads ? options->threads : CUDA_ENGINE_FEEDERS;
    made->job = job;
    made->operation = cuda_operations[job->operation];
    made->partial = partial;
    made->chunk_bytes = chunk_bytes;
    made->workers = engine_useful_workers(feeders, chunk_bytes, options->input_bytes);

    cudaError_t error = cuda_engine_open_device(&made->device);
    enum status status = error == cudaSuccess ? cuda_engine_allocate(made, failure)
                                              : cuda_engine_fail(error, "no context", failure);
    if (status != STATUS_OK) {
        cuda_engine_close(made);
        return status;
    }
    *session = made;
    return STATUS_OK;
}

static unsigned cuda_engine_workers(const void *session)
{
    return ((const struct cuda_session *)session)->workers;
}

/*
 * Registers host memory for copies that run beside other work. Where it is refused (a limit on
 * locked memory) they are slower, and just as right.
 */
static bool cuda_engine_register(void *host, size_t bytes)
{
    if (cudaHostRegister(host, bytes, cudaHostRegisterDefault) == cudaSuccess)
        return true;
    cudaGetLastError(); /* it is told again otherwise */
    return false;
}

/* Copies the device's partial and merges it; all streams are done. */
static enum status cuda_engine_finish(void *session, struct failure *failure)
{
    const struct cuda_session *self = session;
    void *staging = memory_map(CUDA_ENGINE_STAGING_BYTES);
    if (!staging)
        return status_fail(failure, STATUS_DATA, "no memory for the result of the GPU");

    bool registered = cuda_engine_register(staging, CUDA_ENGINE_STAGING_BYTES);
    cudaError_t error = self->operation->collect(self->job, self->d_partial, staging,
                                                 CUDA_ENGINE_STAGING_BYTES, self->partial);
    if (registered)
        cudaHostUnregister(staging);
    memory_unmap(staging, CUDA_ENGINE_STAGING_BYTES);
    return error == cudaSuccess ? STATUS_OK
                                : cuda_engine_fail(error, "cannot copy the result", failure);
}

static enum status cuda_engine_open_slot(const struct cuda_session *session, struct cuda_slot *slot,
                                         struct failure *failure)
{
    size_t bytes = session->slot_bytes;

    slot->host = memory_map(bytes);
    if (!slot->host)
        return status_fail(failure, STATUS_DATA, "no memory for a chunk of %zu bytes", bytes);
    memory_touch(slot->host, bytes); /* by all feeders at once; registering does it one by one */
    slot->registered = cuda_engine_register(slot->host, bytes);

    cudaError_t error = cudaStreamCreateWithFlags(&slot->stream, cudaStreamNonBlocking);
    if (error != cudaSuccess)
        return cuda_engine_fail(error, "cannot create a stream", failure);
    return STATUS_OK;
}

static void cuda_engine_close_slot(const struct cuda_session *session, struct cuda_slot *slot)
{
    if (slot->stream) {
        cudaStreamSynchronize(slot->stream); /* nothing may still read the memory */
        cudaStreamDestroy(slot->stream);
    }
    if (slot->registered)
        cudaHostUnregister(slot->host);
    memory_unmap(slot->host, session->slot_bytes);
}

static void cuda_engine_worker_close(void *worker)
{
    struct cuda_worker *self = worker;
    if (!self)
        return;
    for (unsigned i = 0; i < CUDA_ENGINE_SLOTS; i++)
        cuda_engine_close_slot(self->session, &self->slots[i]);
    if (self->notes_registered)
        cudaHostUnregister(self->notes);
    memory_unmap(self->notes, CUDA_ENGINE_NOTES_BYTES);
    free(self);
}

static enum status cuda_engine_worker_open(void *session, void **worker, struct failure *failure)
{
    struct cuda_session *owner = session;
    struct cuda_worker *made = calloc(1, sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for a feeder thread");

    *worker = made;
    made->session = owner;
    cudaError_t error = cudaSetDevice(owner->device.id);
    if (error != cudaSuccess)
        return cuda_engine_fail(error, "cannot use the device", failure);
    made->notes = memory_map(CUDA_ENGINE_NOTES_BYTES);
    if (!made->notes)
        return status_fail(failure, STATUS_DATA, "no memory for a feeder thread");
    made->notes_registered = cuda_engine_register(made->notes, CUDA_ENGINE_NOTES_BYTES);
    size_t first = (size_t)atomic_fetch_add(&owner->opened, 1) * CUDA_ENGINE_SLOTS;
    for (unsigned i = 0; i < CUDA_ENGINE_SLOTS; i++) {
        made->slots[i].d_elements = owner->d_slots + (first + i) * owner->slot_bytes;
        made->slots[i].note = (char *)made->notes + (size_t)i * CUDA_NOTE_BYTES;
        if (cuda_engine_open_slot(owner, &made->slots[i], failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

/* Waits until a slot's chunk has been counted, and looks at what came of it. */
static enum status cuda_engine_settle(const struct cuda_session *session, struct cuda_slot *slot,
                                      struct failure *failure)
{
    if (!slot->busy)
        return STATUS_OK;
    slot->busy = false;
    cudaError_t error = cudaStreamSynchronize(slot->stream);
    if (error != cudaSuccess)
        return cuda_engine_fail(error, "counting failed", failure);
    return session->operation->settle(session->job, &slot->chunk, slot->note, failure);
}

static enum status cuda_engine_worker_buffer(void *worker, struct engine_buffer *buffer,
                                             struct failure *failure)
{
    struct cuda_worker *self = worker;
    struct cuda_slot *slot = &self->slots[self->turn];

    *buffer = (struct engine_buffer){.data = slot->host, .capacity = self->session->chunk_bytes};
    return cuda_engine_settle(self->session, slot, failure);
}

static enum status cuda_engine_worker_absorb(void *worker, const struct chunk *chunk,
                                             struct failure *failure)
{
    struct cuda_worker *self = worker;
    const struct cuda_session *session = self->session;
    struct cuda_slot *slot = &self->slots[self->turn];

    slot->chunk = *chunk;
    slot->busy = true;
    self->turn = (self->turn + 1) % CUDA_ENGINE_SLOTS;
    cudaError_t error = cudaMemcpyAsync(slot->d_elements, slot->host, chunk->bytes,
                                        cudaMemcpyHostToDevice, slot->stream);
    if (error == cudaSuccess)
        error = session->operation->absorb(&session->device, session->job, slot->d_elements,
                                           chunk->bytes / session->job->element.bytes,
                                           session->d_partial, slot->note, slot->stream);
    if (error != cudaSuccess)
        return cuda_engine_fail(error, "cannot queue a chunk", failure);
    return STATUS_OK;
}

static enum status cuda_engine_worker_finish(void *worker, struct failure *failure)
{
    struct cuda_worker *self = worker;
    struct cuda_session *session = self->session;

    for (unsigned i = 0; i < CUDA_ENGINE_SLOTS; i++) {
        struct cuda_slot *slot = &self->slots[(self->turn + i) % CUDA_ENGINE_SLOTS];
        if (cuda_engine_settle(session, slot, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

const struct engine cuda_engine = {
    .name = "cuda",
    .probe = cuda_engine_probe,
    .open = cuda_engine_open,
    .workers = cuda_engine_workers,
    .finish = cuda_engine_finish,
    .close = cuda_engine_close,
    .worker_open = cuda_engine_worker_open,
    .worker_buffer = cuda_engine_worker_buffer,
    .worker_absorb = cuda_engine_worker_absorb,
    .worker_finish = cuda_engine_worker_finish,
    .worker_close = cuda_engine_worker_close,
};
