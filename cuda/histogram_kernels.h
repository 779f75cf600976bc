/*
 * The kernels of histograms, each in a file of its own. Three count elements, add exact counts to
 * the same kind of table, and differ in the tasks that they support, and in speed; one adds up
 * weights.
 *
 * All functions are thread-safe. A launch queues work on the stream and does not wait for it.
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
    /*
     * Returns whether the kernel supports the task. Kernels that count elements read only device,
     * element and binning of the task.
     */
    bool (*takes)(const struct histogram_task *task);
    /* Like cuda_histogram_launch. */
    cudaError_t (*launch)(const struct histogram_task *task);
};

/* Eight tables in the shared memory of each block: up to about 3,500 bins. */
extern const struct histogram_kernel histogram_kernel_shared;
/* A table in shared memory for a part of the bins: up to about 116,000 bins. */
extern const struct histogram_kernel histogram_kernel_windows;
/* Atomics on the global table, with a cache of frequent bins in shared memory: all tasks. */
extern const struct histogram_kernel histogram_kernel_cached;
/* Like histogram_kernel_cached, but with 64-bit sums: only tasks with weights, all of them. */
extern const struct histogram_kernel histogram_kernel_weighted;

/* Returns the kernel that cuda_histogram_launch uses for the task. */
const struct histogram_kernel *histogram_kernel_choose(const struct histogram_task *task);

#ifdef __cplusplus
}
#endif

#endif
