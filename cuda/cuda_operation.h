/*
 * What one operation does on a GPU: the counterpart of struct cpu_operation. See cuda_<operation>.c
 * for the host's part and <operation>.cu for the kernels.
 */
#ifndef GPUHIST_CUDA_OPERATION_H
#define GPUHIST_CUDA_OPERATION_H

#include "kernels.h"
#include "status.h"

/* Bytes beside each chunk that an operation may copy to the host with it. */
#define CUDA_NOTE_BYTES 64

struct cuda_operation {
    /* Bytes of the partial in device memory, which begins as zeros. */
    size_t (*partial_bytes)(const struct job *job);
    /*
     * Queues the work on a chunk at d_elements. May also queue a copy to `note` (host memory of
     * the chunk), to be looked at by `settle`.
     */
    cudaError_t (*absorb)(const struct cuda_device *device, const struct job *job,
                          const void *d_elements, size_t elements, void *d_partial, void *note,
                          cudaStream_t stream);
    /* Looks at a chunk whose work is done, and which still lies in host memory. */
    enum status (*settle)(const struct job *job, const struct chunk *chunk, const void *note,
                          struct failure *failure);
    /*
     * Merges the device's partial into the shared one, by way of `staging`, host memory of
     * staging_bytes >= 4096. Returns what CUDA returned.
     */
    cudaError_t (*collect)(const struct job *job, const void *d_partial, void *staging,
                           size_t staging_bytes, void *partial);
};

extern const struct cuda_operation cuda_histogram;

#endif
