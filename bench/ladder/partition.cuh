/*
 * The last rung of the histogram's ladder: partition the values by ranges of bins, then count each
 * range in shared memory. It needs all values on the GPU, so the program itself does not use it.
 */
#ifndef GPUHIST_LADDER_PARTITION_CUH
#define GPUHIST_LADDER_PARTITION_CUH

#include "cuda/kernels.h"

/* The input of a count. Each value is the number of its bin: less than `bins`. */
struct partition_task {
    const struct cuda_device *device;
    const uint32_t *d_values; /* [values], 16-byte aligned; fewer than 2^31 */
    size_t values;
    uint32_t *d_counts; /* [bins]; the counts are added */
    uint32_t bins;
    void *d_scratch; /* scratch_bytes, 256-byte aligned; no other launch may use it meanwhile */
    cudaStream_t stream;
};

struct partition {
    const char *name;
    /* Scratch memory in bytes, 0 if there are too many bins or values, or if the GPU has too little
     * shared memory. Reads only device, values and bins of the task. */
    size_t (*scratch_bytes)(const struct partition_task *task);
    /* Queues the kernels on the stream. Returns CUDA's result. */
    cudaError_t (*launch)(const struct partition_task *task);
};

/* One pass, by ranges of 2^15 bins: up to 2^24 bins. */
extern const struct partition partition_one_level;
/* Two passes, by ranges of 2^21 bins and then of 2^15: up to 2^29 bins. */
extern const struct partition partition_two_levels;

#endif
