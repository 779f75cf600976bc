/*
 * The ways to count a histogram, one a file. cuda_histogram_launch (kernels.h) chooses among them;
 * tests and the bench call each by itself. All of them add exact counts to the same kind of table
 * and differ in what they take and in speed alone.
 *
 * All functions are thread-safe. Launches queue work on the stream and wait for nothing.
 */
#ifndef GPUHIST_HISTOGRAM_KERNELS_H
#define GPUHIST_HISTOGRAM_KERNELS_H

#include "cuda/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is to be counted; see cuda_histogram_launch. */
struct histogram_task {
    const struct cuda_device *device;
    const struct element *element;
    const struct binning *binning;
    const struct cuda_elements *elements;
    const struct cuda_histogram_table *table;
    void *d_scratch; /* scratch_bytes of the kernel, 256-byte aligned; NULL: it has none */
    cudaStream_t stream;
};

struct histogram_kernel {
    const char *name;
    /* Whether it can count the task at all, given its scratch memory. */
    bool (*takes)(const struct histogram_task *task);
    /* Device memory that a task of so many elements needs, in bytes; 0 if it does not take it.
     * NULL: none. */
    size_t (*scratch_bytes)(const struct element *element, const struct binning *binning,
                            size_t elements);
    cudaError_t (*launch)(const struct histogram_task *task);
};

/* Tables in shared memory, a copy or several a block: up to some 28,000 bins, any 8-bit type. */
extern const struct histogram_kernel histogram_kernel_shared;
/* A table in shared memory for a part of the bins, a block each: up to some 116,000 bins. */
extern const struct histogram_kernel histogram_kernel_windows;
/* Elements are sorted by ranges of 2^15 bins first: up to 2^24 bins, for large launches. */
extern const struct histogram_kernel histogram_kernel_partition;
/* Elements are sorted by ranges of 2^21 bins, then by ranges of 2^15: up to 2^29 bins, likewise. */
extern const struct histogram_kernel histogram_kernel_two_level;
/* Atomics on the global table behind a cache of frequent bins: anything. */
extern const struct histogram_kernel histogram_kernel_cached;

/* The one that cuda_histogram_launch uses for the task. */
const struct histogram_kernel *histogram_kernel_choose(const struct histogram_task *task);

#ifdef __cplusplus
}
#endif

#endif
