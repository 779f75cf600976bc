/*
 * The kernels' launchers: the only bridge between the C engine and what nvcc compiles. A launcher
 * queues work on a stream, waits for nothing, and returns what CUDA returned. All are thread-safe.
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

/* What a launcher needs to know about the GPU. */
struct cuda_device {
    int id;
    int multiprocessors;
    int shared_bytes; /* shared memory that one block can have */
};

/* Elements of the job's type in device memory. */
struct cuda_elements {
    const void *d_data;      /* 256-byte aligned */
    size_t count;            /* their number; with d_count, the most there can be */
    const uint32_t *d_count; /* their number, once earlier work on the stream is done; or NULL */
};

/* What parsing a text found. An invalid token has no value. */
struct cuda_text_parsed {
    uint32_t values;
    uint32_t invalid;
};

/* Device memory that parsing a text of so many bytes needs for itself, in bytes. */
size_t cuda_text_control_bytes(size_t text_bytes);

/*
 * Parses a chunk of text, `text_bytes` (2^30 at most) at d_text, by the job's rules. Stores its
 * values, at most TEXT_SPAN_VALUES_MAX(text_bytes), at d_values in order, as elements of the job's
 * type in native byte order. d_control, of cuda_text_control_bytes, then begins with a struct
 * cuda_text_parsed. All three are 256-byte aligned.
 *
 * The text is read once, in tiles. Decoupled look-back (look_back.cuh) finds the place of each
 * tile's values.
 */
cudaError_t cuda_text_launch(const struct cuda_device *device, const struct job *job,
                             const void *d_text, size_t text_bytes, void *d_values, void *d_control,
                             cudaStream_t stream);

/* The counters of a histogram in device memory. */
struct cuda_histogram_table {
    uint32_t *d_counts;  /* [bins] */
    uint64_t *d_outside; /* [BINNING_OUTSIDE]: below, above */
};

/*
 * Adds the elements, fewer than 2^32, to the table. What the binning points to is on the device.
 * Any number of launches may share a table. Its counters must not wrap: cuda_counters.h.
 */
cudaError_t cuda_histogram_launch(const struct cuda_device *device, const struct element *element,
                                  const struct binning *binning,
                                  const struct cuda_elements *elements,
                                  const struct cuda_histogram_table *table, cudaStream_t stream);

/* Raises *d_greatest to the greatest of the `bins` counters, if that is above it. */
cudaError_t cuda_histogram_greatest_launch(const struct cuda_device *device,
                                           const uint32_t *d_counts, size_t bins,
                                           uint32_t *d_greatest, cudaStream_t stream);

/*
 * For each predicate i of the job that is an interval, adds to d_hits[i] how many elements are in
 * it. There are fewer than 2^32 elements. Any number of launches may share the hits.
 */
cudaError_t cuda_count_intervals_launch(const struct cuda_device *device, const struct job *job,
                                        const struct cuda_elements *elements, uint64_t *d_hits,
                                        cudaStream_t stream);

/* Likewise adds to *d_hits how many are in a set whose memory is on the device (value_set_at). */
cudaError_t cuda_count_set_launch(const struct cuda_device *device, const struct job *job,
                                  const struct value_set *set, const struct cuda_elements *elements,
                                  uint64_t *d_hits, cudaStream_t stream);

/*
 * The partial of operation reduce in device memory. Numbers of several words have the lowest word
 * first; the sum is in two's complement. Extremes are keys (element.h) that compare as unsigned
 * words: those of signed types have the sign bit flipped. Without elements they are UINT64_MAX and
 * 0.
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
 * Adds the elements to the partial: at most 2^29 of them, or 2^30 bytes. Adds squares only if the
 * job needs them. Any number of launches may share the partial.
 */
cudaError_t cuda_reduce_launch(const struct cuda_device *device, const struct job *job,
                               const struct cuda_elements *elements,
                               struct cuda_reduce_partial *d_partial, cudaStream_t stream);

/* Device memory for the results of stalin-sort; each area is 256-byte aligned. */
struct cuda_stalin_sort_buffers {
    void *d_kept;    /* room for all elements */
    void *d_purged;  /* likewise, or NULL if the job does not want the purged */
    void *d_control; /* cuda_stalin_sort_control_bytes of the elements */
};

size_t cuda_stalin_sort_control_bytes(size_t elements_bytes);

/*
 * Sorts the elements by the job's rules, as if an element with the key `*floor` came before them
 * (NULL: none). Stores the survivors at d_kept and the others at d_purged, both in order, and the
 * number of survivors as the uint64_t at d_control. May write anywhere in d_kept. The method:
 * stalin_sort.cu.
 */
cudaError_t cuda_stalin_sort_launch(const struct cuda_device *device, const struct job *job,
                                    const struct cuda_elements *elements, const uint64_t *floor,
                                    const struct cuda_stalin_sort_buffers *buffers,
                                    cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
