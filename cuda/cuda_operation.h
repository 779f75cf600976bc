/*
 * What one operation does on a GPU: the counterpart of struct cpu_operation. See cuda_<operation>.c
 * for the host's part and <operation>.cu for the kernels.
 */
#ifndef GPUHIST_CUDA_OPERATION_H
#define GPUHIST_CUDA_OPERATION_H

#include "base/status.h"
#include "cuda/kernels.h"

/* What areas of memory begin at multiples of, on the device and beside chunks on the host. */
#define CUDA_ALIGNMENT ((size_t)256)

/* So many bytes, rounded up to such a multiple. */
static inline size_t cuda_align(size_t bytes)
{
    return (bytes + CUDA_ALIGNMENT - 1) / CUDA_ALIGNMENT * CUDA_ALIGNMENT;
}

/* What all chunks of a session share; const but for what its last three members point to. */
struct cuda_shared {
    const struct job *job;
    struct cuda_device device;
    void *d_partial; /* one for the device, in its memory */
    void *partial;   /* the shared one, in host memory */
    void *host;      /* what the operation has for the session in host memory, or NULL */
};

/* A chunk on its way through the GPU. */
struct cuda_chunk {
    struct chunk chunk;            /* in host memory, until it is settled */
    struct cuda_elements elements; /* the same in device memory; of text, what it is parsed to */
    size_t count;                  /* of elements; of text known when it is settled */
    void *d_scratch;               /* scratch_bytes of device memory, 256-byte aligned */
    void *result;                  /* result_bytes of host memory, to copy to */
    cudaStream_t stream;
};

struct cuda_operation {
    /* Makes shared->host, and frees it, which may be NULL. NULL: it has none. */
    enum status (*open)(struct cuda_shared *shared, struct failure *failure);
    void (*close)(struct cuda_shared *shared);
    /* Bytes of the partial in device memory. NULL: there is none, chunks alone. */
    size_t (*partial_bytes)(const struct job *job);
    /* Fills the partial, which begins as zeros; blocks. NULL: zeros are right. */
    cudaError_t (*prepare)(const struct cuda_shared *shared);
    /*
     * Bytes of memory beside each chunk, which has at most elements_bytes of elements, on the
     * device and on the host. NULL: none.
     */
    size_t (*scratch_bytes)(const struct job *job, size_t elements_bytes);
    size_t (*result_bytes)(const struct job *job, size_t elements_bytes);
    /*
     * Queues the work on a chunk, whose elements are on the device by then, on the chunk's stream.
     * chunk->count is not known yet.
     */
    cudaError_t (*absorb)(const struct cuda_shared *shared, const struct cuda_chunk *chunk);
    /* Looks at a chunk whose work is done; may copy more on its stream. NULL: nothing to see. */
    enum status (*settle)(const struct cuda_shared *shared, const struct cuda_chunk *chunk,
                          struct failure *failure);
    /*
     * Merges the device's partial into the shared one, by way of `staging`, host memory of
     * staging_bytes >= 4096. All work is done. Returns what CUDA returned. NULL: nothing to merge.
     */
    cudaError_t (*collect)(const struct cuda_shared *shared, void *staging, size_t staging_bytes);
};

#define CUDA_OPERATION_DECLARE(id, label) extern const struct cuda_operation cuda_##label;
OPERATIONS(CUDA_OPERATION_DECLARE)
#undef CUDA_OPERATION_DECLARE

#endif
