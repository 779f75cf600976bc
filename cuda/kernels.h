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

/*
 * The partial of operation reduce in device memory. Numbers of several words have the lowest first;
 * the sum is a two's complement. Extremes are keys (element.h), of signed types with the sign bit
 * flipped, so that all compare as unsigned words; without elements they are UINT64_MAX and 0.
 */
struct cuda_reduce_partial {
    unsigned long long count;
    unsigned long long sum[2];
    unsigned long long squares[3];
    unsigned long long min;
    unsigned long long max;
    unsigned long long and_bits; /* UINT64_MAX without elements */
    unsigned long long or_bits;
    unsigned long long xor_bits;
};

/*
 * Adds `elements` elements of the job's type at d_elements (256-byte aligned, 2^30 bytes at most)
 * to the partial. Squares are added only if the job needs them. Any number of launches may share
 * the partial.
 */
cudaError_t cuda_reduce_launch(const struct cuda_device *device, const struct job *job,
                               const void *d_elements, size_t elements,
                               struct cuda_reduce_partial *d_partial, cudaStream_t stream);

/* Device memory for what becomes of a chunk in stalin-sort; each 256-byte aligned. */
struct cuda_stalin_sort_buffers {
    void *d_kept;    /* room for the whole chunk */
    void *d_purged;  /* likewise; NULL if the job does not want them */
    void *d_control; /* cuda_stalin_sort_control_bytes of the chunk */
};

size_t cuda_stalin_sort_control_bytes(size_t chunk_bytes);

/*
 * Sorts `elements` elements of the job's type at d_elements (256-byte aligned) by the job's rules:
 * the survivors, among themselves and after one whose key is `*floor` (NULL: none), go to d_kept in
 * order, the others to d_purged. How many survive is then the uint64_t at d_control.
 *
 * Two steps: the maximum of each tile and what is the greatest before it; then the tiles in which
 * something survives, each placed behind those before it by decoupled look-back (Merrill and
 * Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016).
 */
cudaError_t cuda_stalin_sort_launch(const struct cuda_device *device, const struct job *job,
                                    const void *d_elements, size_t elements, const uint64_t *floor,
                                    const struct cuda_stalin_sort_buffers *buffers,
                                    cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
