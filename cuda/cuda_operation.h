/*
 * What an operation does on a GPU, the counterpart of struct cpu_operation. The host's part is in
 * cuda_<operation>.c, the kernels in <operation>.cu.
 */
#ifndef GPUHIST_CUDA_OPERATION_H
#define GPUHIST_CUDA_OPERATION_H

#include "base/status.h"
#include "cuda/kernels.h"
#include "job/chunk.h"

/* Areas of device memory, and those beside a chunk on the host, begin at multiples of this. */
#define CUDA_ALIGNMENT ((size_t)256)

/* Rounds up to a multiple of CUDA_ALIGNMENT. */
static inline size_t cuda_align(size_t bytes)
{
    return (bytes + CUDA_ALIGNMENT - 1) / CUDA_ALIGNMENT * CUDA_ALIGNMENT;
}

/* What all chunks of a session share. Only what the last three members point to changes. */
struct cuda_shared {
    const struct job *job;
    struct cuda_device device;
    void *d_partial; /* the device's, in its memory */
    void *partial;   /* the one of all engines, in host memory */
    void *host;      /* the operation's own state in host memory, or NULL */
};

/* A chunk on its way through the GPU. */
struct cuda_chunk {
    struct chunk chunk;            /* in host memory, until it is completed */
    struct cuda_elements elements; /* in device memory; of text, the parsed values */
    size_t count;                  /* of elements; of text, known once it is completed */
    void *d_scratch;               /* scratch_bytes of device memory, 256-byte aligned */
    void *result;                  /* result_bytes of host memory for copies from the device */
    cudaStream_t stream;
};

struct cuda_operation {
    /* Make and free shared->host; close accepts NULL there. NULL: the operation has no state. */
    enum status (*open)(struct cuda_shared *shared, struct failure *failure);
    void (*close)(struct cuda_shared *shared);
    /* Bytes of the partial in device memory. NULL: there is none. */
    size_t (*partial_bytes)(const struct job *job);
    /* Fills the partial, which holds zeros; blocks. NULL: zeros are right. */
    cudaError_t (*prepare)(const struct cuda_shared *shared);
    /*
     * Bytes of memory beside each chunk, on the device and on the host. A chunk has at most
     * elements_bytes of elements. NULL: none.
     */
    size_t (*scratch_bytes)(const struct job *job, size_t elements_bytes);
    size_t (*result_bytes)(const struct job *job, size_t elements_bytes);
    /*
     * Queues the work on a chunk's elements on its stream, behind what puts them there.
     * chunk->count is not known yet. Returns what CUDA returned.
     */
    cudaError_t (*absorb)(const struct cuda_shared *shared, const struct cuda_chunk *chunk);
    /* Handles the result of a chunk whose work is done; may copy more on its stream. NULL: none. */
    enum status (*complete)(const struct cuda_shared *shared, const struct cuda_chunk *chunk,
                            struct failure *failure);
    /*
     * Merges the device's partial into the shared one. `staging` is host memory of staging_bytes,
     * at least 4096, to copy it to. All work is done. Returns what CUDA returned. NULL: no partial.
     */
    cudaError_t (*collect)(const struct cuda_shared *shared, void *staging, size_t staging_bytes);
};

#define CUDA_OPERATION_DECLARE(id, label) extern const struct cuda_operation cuda_##label;
OPERATIONS(CUDA_OPERATION_DECLARE)
#undef CUDA_OPERATION_DECLARE

#endif
