/*
 * The three ways to count a histogram, one in a file each. All add exact counts to the same kind of
 * table; they differ in which tasks they take, and in speed.
 *
 * All functions are thread-safe. Launches queue work on the stream and wait for nothing.
 */
#ifndef GPUHIST_HISTOGRAM_KERNELS_H
#define GPUHIST_HISTOGRAM_KERNELS_H

#include "cuda/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The arguments of cuda_histogram_launch. */
struct histogram_task {
    const struct cuda_device *device;
    const struct element *element;
    const struct binning *binning;
    const struct cuda_elements *elements;
    const struct cuda_histogram_table *table;
    cudaStream_t stream;
};

struct histogram_kernel {
    const char *name;
    /* Whether it can count the task. Of the task, only device, element and binning are read. */
    bool (*takes)(const struct histogram_task *task);
    /* As cuda_histogram_launch. */
    cudaError_t (*launch)(const struct histogram_task *task);
};

/* Tables in shared memory, one or several for a block: up to some 28,000 bins, any 8-bit type. */
extern const struct histogram_kernel histogram_kernel_shared;
/* A table in shared memory for a part of the bins: up to some 116,000 bins. */
extern const struct histogram_kernel histogram_kernel_windows;
/* Atomics on the global table, behind a cache of frequent bins: anything. */
extern const struct histogram_kernel histogram_kernel_cached;

/* The kernel that cuda_histogram_launch uses for the task. */
const struct histogram_kernel *histogram_kernel_choose(const struct histogram_task *task);

#ifdef __cplusplus
}
#endif

#endif
