/*
 * The kernels' launchers: the only bridge between the C engine and what nvcc compiles. They queue
 * work on a stream and return what the launch returned; they wait for nothing.
 */
#ifndef GPUHIST_KERNELS_H
#define GPUHIST_KERNELS_H

#include "job/job.h"

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

/* Elements of the job's type in device memory. */
struct cuda_elements {
    const void *d_data;      /* 256-byte aligned */
    size_t count;            /* how many there are; with d_count, at most so many, */
    const uint32_t *d_count; /* and how many will be here, in device memory; else NULL */
};

/* What parsing a text has found; invalid tokens have no value. */
struct cuda_text_parsed {
    uint32_t values;
    uint32_t invalid;
};

/* Device memory for a text of so many bytes to be parsed. */
size_t cuda_text_control_bytes(size_t text_bytes);

/*
 * Parses a chunk of text, `text_bytes` (2^30 at most) at d_text, by the job's rules. Its values, at
 * most TEXT_SPAN_VALUES_MAX(text_bytes), go to d_values in order, as elements of the job's type in
 * native byte order; what was found then is the struct cuda_text_parsed at d_control, of
 * cuda_text_control_bytes. The three are 256-byte aligned.
 *
 * One pass: the text is read once, in tiles; the values of each are placed behind those before it
 * by decoupled look-back (look_back.cuh).
 */
cudaError_t cuda_text_launch(const struct cuda_device *device, const struct job *job,
                             const void *d_text, size_t text_bytes, void *d_values, void *d_control,
                             cudaStream_t stream);

/* Where a histogram is counted, in device memory. */
struct cuda_histogram_table {
    uint32_t *d_counts;  /* [bins] */
    uint64_t *d_outside; /* [BINNING_OUTSIDE]: below, above */
};

/*
 * Device memory that a launch of so many elements of that type can use, in bytes; 0 for those that
 * are best without, and always less for fewer elements.
 */
size_t cuda_histogram_scratch_bytes(const struct element *element, const struct binning *binning,
                                    size_t elements);

/*
 * Adds the elements, fewer than 2^32 of that type, to the table. What the binning points to is on
 * the device. d_scratch is cuda_histogram_scratch_bytes of memory, 256-byte aligned, that no other
 * work under way uses, or NULL: then large launches take longer. Any number of launches may share a
 * table, or its parts; its counters must not wrap (cuda_counters.h). How it is counted:
 * histogram_kernels.h.
 */
cudaError_t cuda_histogram_launch(const struct cuda_device *device, const struct element *element,
                                  const struct binning *binning,
                                  const struct cuda_elements *elements,
                                  const struct cuda_histogram_table *table, void *d_scratch,
                                  cudaStream_t stream);

/* Raises *d_greatest to the greatest of so many counters, if that is above it. */
cudaError_t cuda_histogram_greatest_launch(const struct cuda_device *device,
                                           const uint32_t *d_counts, size_t bins,
                                           uint32_t *d_greatest, cudaStream_t stream);

/*
 * Adds to d_hits[i], for each predicate i of the job that is an interval, how many of the elements
 * are in it. Any number of launches may share the hits.
 */
cudaError_t cuda_count_intervals_launch(const struct cuda_device *device, const struct job *job,
                                        const struct cuda_elements *elements, uint64_t *d_hits,
                                        cudaStream_t stream);

/* Likewise adds to *d_hits how many are in a set, whose memory is on the device (value_set_at). */
cudaError_t cuda_count_set_launch(const struct cuda_device *device, const struct job *job,
                                  const struct value_set *set, const struct cuda_elements *elements,
                                  uint64_t *d_hits, cudaStream_t stream);

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
 * Adds the elements, 2^29 of them or 2^30 bytes at most, to the partial. Squares are added only if
 * the job needs them. Any number of launches may share the partial.
 */
cudaError_t cuda_reduce_launch(const struct cuda_device *device, const struct job *job,
                               const struct cuda_elements *elements,
                               struct cuda_reduce_partial *d_partial, cudaStream_t stream);

/* Device memory for what becomes of elements in stalin-sort; each 256-byte aligned. */
struct cuda_stalin_sort_buffers {
    void *d_kept;    /* room for all elements */
    void *d_purged;  /* likewise; NULL if the job does not want them */
    void *d_control; /* cuda_stalin_sort_control_bytes of the elements */
};

size_t cuda_stalin_sort_control_bytes(size_t elements_bytes);

/*
 * Sorts the elements by the job's rules: the survivors, among themselves and after one whose key is
 * `*floor` (NULL: none), go to d_kept in order, the others to d_purged. How many survive is then
 * the uint64_t at d_control.
 *
 * Three steps: the maximum of each tile, and those that come before the first one out of order are
 * copied as they are; what is the greatest before each other tile; then the others in which
 * something survives, each placed behind those before it by decoupled look-back (look_back.cuh).
 * The first step may write anywhere in d_kept.
 */
cudaError_t cuda_stalin_sort_launch(const struct cuda_device *device, const struct job *job,
                                    const struct cuda_elements *elements, const uint64_t *floor,
                                    const struct cuda_stalin_sort_buffers *buffers,
                                    cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
