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

/*
 * Adds to d_hits[i], for each predicate i of the job that is an interval, how many of `elements`
 * elements of the job's type at d_elements (256-byte aligned) are in it. Any number of launches may
 * share the hits.
 */
cudaError_t cuda_count_intervals_launch(const struct cuda_device *device, const struct job *job,
                                        const void *d_elements, size_t elements, uint64_t *d_hits,
                                        cudaStream_t stream);

/* Likewise adds to *d_hits how many are in a set, whose memory is on the device (value_set_at). */
cudaError_t cuda_count_set_launch(const struct cuda_device *device, const struct job *job,
                                  const struct value_set *set, const void *d_elements,
                                  size_t elements, uint64_t *d_hits, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
