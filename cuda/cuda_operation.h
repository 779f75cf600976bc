/*
 * The functions of an operation on a GPU. They are not in struct store (store.h), because a build
 * without CUDA lacks them. Host code is in cuda_<operation>.c, kernels are in <operation>.cu.
 * cuda_engine.c has the table. An operation without a row runs only on the CPU.
 */
#ifndef GPUHIST_CUDA_OPERATION_H
#define GPUHIST_CUDA_OPERATION_H

#include "cuda/kernels.h"
#include "lib/status.h"
#include "value/chunk.h"

/* Alignment of areas in device memory, and of the areas beside a chunk in host memory. */
#define CUDA_ALIGNMENT ((size_t)256)

/* Rounds up to a multiple of CUDA_ALIGNMENT. */
static inline size_t cuda_align(size_t bytes)
{
    return (bytes + CUDA_ALIGNMENT - 1) / CUDA_ALIGNMENT * CUDA_ALIGNMENT;
}

/* Fails with STATUS_ENGINE: the failed action, and CUDA's reason. */
static inline enum status cuda_fail(cudaError_t error, const char *what, struct failure *failure)
{
    return status_fail(failure, STATUS_ENGINE, "CUDA: %s: %s", what, cudaGetErrorString(error));
}

/* Fails with STATUS_ENGINE if copying a result has failed. */
static inline enum status cuda_check_copy(cudaError_t error, struct failure *failure)
{
    return error == cudaSuccess ? STATUS_OK : cuda_fail(error, "cannot copy the result", failure);
}

/* Returns whether memory was short, and clears that error, which CUDA would report again. */
static inline bool cuda_is_out_of_memory(cudaError_t error)
{
    if (error != cudaErrorMemoryAllocation)
        return false;
    cudaGetLastError();
    return true;
}

/*
 * Returns whether the device makes the elements of a chunk, by parsing text or gathering from
 * records.
 */
static inline bool cuda_makes_elements(const struct plan *plan)
{
    return plan->is_text || plan->record_bytes > 0;
}

/* Shared by all chunks of a session. The members do not change, only the memory they point to. */
struct cuda_shared {
    const struct plan *plan;
    struct cuda_device device;
    void *d_aggregate; /* the aggregate of this device, in device memory */
    void *aggregate;   /* the aggregate of all engines, in host memory */
    void *host;        /* the operation's state in host memory, or NULL; owned */
};

/* A chunk on its way through the GPU. */
struct cuda_chunk {
    struct chunk chunk;            /* the chunk in host memory, until it is completed */
    struct cuda_elements elements; /* its elements in device memory; for text or records, values */
    size_t count;                  /* number of elements; text: set when the chunk is completed */
    void *d_scratch;               /* [cuda_bytes.scratch], device memory, 256-byte aligned */
    void *result;                  /* [cuda_bytes.result], host memory for copies from the device */
    cudaStream_t stream;
};

/* The memory that an operation needs, in bytes; 0: none. */
struct cuda_bytes {
    size_t aggregate; /* on the device, per session */
    size_t scratch;   /* on the device, per chunk, in addition to the chunk */
    size_t result;    /* on the host, per chunk, for copies from the device */
};

struct cuda_operation {
    /* Make and free shared->host, which may be NULL for `close`. NULL: there is no state. */
    enum status (*open)(struct cuda_shared *shared, struct failure *failure);
    void (*close)(struct cuda_shared *shared);
    /* Returns the memory needs, if a chunk has at most elements_bytes of elements. */
    struct cuda_bytes (*bytes)(const struct plan *plan, size_t elements_bytes);
    /* Initialises the aggregate, which is all zeros, and waits. NULL: it remains all zeros. */
    cudaError_t (*prepare)(const struct cuda_shared *shared);
    /*
     * Queues the work on the elements of a chunk on its stream, after the copy of the elements.
     * chunk->count is not set yet. Returns the status of CUDA.
     */
    cudaError_t (*accumulate)(const struct cuda_shared *shared, const struct cuda_chunk *chunk);
    /*
     * Handles the result of a chunk, after the work is done. May queue more work on its stream, and
     * wait for it. NULL: nothing to do.
     */
    enum status (*complete)(const struct cuda_shared *shared, const struct cuda_chunk *chunk,
                            struct failure *failure);
    /* Returns the useful size of host memory for `collect`. NULL: a few MiB. */
    size_t (*staging_bytes)(const struct cuda_shared *shared);
    /*
     * Merges the aggregate of the device into shared->aggregate, after all work is done. The engine
     * then clears d_aggregate. `staging` is host memory for copies, of staging_bytes, at least
     * 4096. Fails like cuda_fail, or with STATUS_DATA. NULL: there is no aggregate.
     */
    enum status (*collect)(const struct cuda_shared *shared, void *staging, size_t staging_bytes,
                           struct failure *failure);
};

extern const struct cuda_operation cuda_histogram;
extern const struct cuda_operation cuda_uniq;
extern const struct cuda_operation cuda_reduce;
extern const struct cuda_operation cuda_count;
extern const struct cuda_operation cuda_stalin_sort;

#endif
