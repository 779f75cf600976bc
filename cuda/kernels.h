/*
 * The kernels' launchers: the only bridge between the C engine and what nvcc compiles. They queue
 * work on a stream and return what the launch returned; they wait for nothing.
 */
#ifndef GPUHIST_KERNELS_H
#define GPUHIST_KERNELS_H

#include "job.h"

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a launcher must know of the GPU that it launches on. */
struct cuda_device {
    int id;
    int multiprocessors;
    int shared_bytes; /* shared memory that one block can have */
};

/*
 * Counts `elements` elements of the job's type at d_elements (256-byte aligned) into the table
 * d_counts[bins + 2]. Any number of launches may share the table.
 */
cudaError_t cuda_histogram_launch(const struct cuda_device *device, const struct job *job,
                                  const void *d_elements, size_t elements, uint64_t *d_counts,
                                  cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
