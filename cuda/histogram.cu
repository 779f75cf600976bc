/*
 * The histogram's launcher: which of its kernels counts. Figures are of an H200 and 256Mi int32,
 * uniform and the worst of six distributions; bench/RESULTS.md has them all.
 */
#include "cuda/elements.cuh"
#include "cuda/histogram_kernels.h"

namespace
{

constexpr unsigned GREATEST_THREADS = 256;

__global__ void __launch_bounds__(GREATEST_THREADS)
    histogram_greatest_kernel(const uint32_t *d_counts, size_t bins, uint32_t *d_greatest)
{
    uint32_t greatest = 0;

    for (size_t i = blockIdx.x * GREATEST_THREADS + threadIdx.x; i < bins;
         i += gridDim.x * GREATEST_THREADS)
        greatest = max(greatest, d_counts[i]);
    for (int distance = 16; distance > 0; distance /= 2)
        greatest = max(greatest, __shfl_down_sync(~0u, greatest, distance));
    if (threadIdx.x % 32 == 0)
        atomicMax(d_greatest, greatest);
}

/* Those that partition takes, and is best for up to the last. */
constexpr uint32_t PARTITION_BINS_MAX = (1u << 24) - BINNING_OUTSIDE;

/* A kernel, and the launches that it is for: more bins than bins_min, bins_max at most. */
struct choice {
    const struct histogram_kernel *kernel;
    size_t elements_min;
    uint32_t bins_min;
    uint32_t bins_max;
};

/*
 * The first that takes the task and wants it.
 *
 * shared: 256 bins 0.244 and 0.245 ms, 16,384 bins 0.249 and 0.253 (windows 0.246 and 0.250); a
 * device copy of the same bytes is 0.259.
 * windows: 65,536 bins 0.282 and 0.336 ms, cached 3.316 and 7.095.
 * partition: 1M bins 0.741 and 0.745 ms, cached 2.683 and 7.696; 5M bins 0.881 and 0.881, cached
 * 2.651 and 7.766; 16M bins 1.293 and 1.354, two-level 1.816 and 2.099, cached 8 and 11 or so.
 * two-level: 256Mi bins 2.445 and 2.445 ms, cached 16.6 and 16.6.
 * cached: in chunks of 4 MiB 2.7 to 16.6 ms; sorting chunks would sweep a table after each.
 */
const struct choice choices[] = {
    {&histogram_kernel_shared, 0, 0, UINT32_MAX},
    {&histogram_kernel_windows, 0, 0, UINT32_MAX},
    {&histogram_kernel_partition, (size_t)8 << 20, UINT16_MAX, PARTITION_BINS_MAX},
    {&histogram_kernel_two_level, (size_t)64 << 20, PARTITION_BINS_MAX, UINT32_MAX},
};

bool wants(const struct choice *choice, const struct binning *binning, size_t elements)
{
    return elements >= choice->elements_min && binning->bins > choice->bins_min &&
           binning->bins <= choice->bins_max;
}

} // namespace

const struct histogram_kernel *histogram_kernel_choose(const struct histogram_task *task)
{
    for (const struct choice &choice : choices) {
        if (choice.kernel->takes(task) && wants(&choice, task->binning, task->elements->count))
            return choice.kernel;
    }
    return &histogram_kernel_cached;
}

size_t cuda_histogram_scratch_bytes(const struct element *element, const struct binning *binning,
                                    size_t elements)
{
    for (const struct choice &choice : choices) {
        if (choice.kernel->scratch_bytes && wants(&choice, binning, elements))
            return choice.kernel->scratch_bytes(element, binning, elements);
    }
    return 0;
}

cudaError_t cuda_histogram_launch(const struct cuda_device *device, const struct element *element,
                                  const struct binning *binning,
                                  const struct cuda_elements *elements,
                                  const struct cuda_histogram_table *table, void *d_scratch,
                                  cudaStream_t stream)
{
    const struct histogram_task task = {device, element,   binning, elements,
                                        table,  d_scratch, stream};
    return histogram_kernel_choose(&task)->launch(&task);
}

cudaError_t cuda_histogram_greatest_launch(const struct cuda_device *device,
                                           const uint32_t *d_counts, size_t bins,
                                           uint32_t *d_greatest, cudaStream_t stream)
{
    unsigned blocks = grid_size(device, bins, GREATEST_THREADS);

    histogram_greatest_kernel<<<blocks, GREATEST_THREADS, 0, stream>>>(d_counts, bins, d_greatest);
    return cudaGetLastError();
}
