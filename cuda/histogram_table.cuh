/*
 * Adding to the global table of a histogram in a kernel. The table has a counter for each bin, and
 * two for the values below and above all bins.
 */
#ifndef GPUHIST_HISTOGRAM_TABLE_CUH
#define GPUHIST_HISTOGRAM_TABLE_CUH

#include "cuda/histogram_kernels.h"

/* struct cuda_histogram_table with the types that atomics need. */
struct histogram_counters {
    uint32_t *d_counts;
    unsigned long long *d_outside;
    uint32_t bins;

    explicit histogram_counters(const struct histogram_task *task)
        : d_counts(task->table->d_counts), d_outside((unsigned long long *)task->table->d_outside),
          bins(task->binning->bins)
    {
    }

    /* Bin number `bins` means below all bins, and bins + 1 above. */
    __device__ __forceinline__ void add(uint32_t bin, uint32_t count) const
    {
        if (bin < bins)
            atomicAdd(&d_counts[bin], count);
        else
            atomicAdd(&d_outside[bin - bins], (unsigned long long)count);
    }

    /* Moves `count` values from the counter above all bins to the counter below. */
    __device__ __forceinline__ void move_below(unsigned long long count) const
    {
        if (count > 0) {
            atomicAdd(&d_outside[0], count);
            atomicAdd(&d_outside[1], 0 - count);
        }
    }
};

#endif
