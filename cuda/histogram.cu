/*
 * The histogram's launcher, which chooses the counting kernel; and the kernel for the largest
 * counter, for cuda_histogram.c.
 */
#include "cuda/histogram_kernels.h"
#include "cuda/launch.cuh"

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

} // namespace

/*
 * Returns the fastest kernel for a task. ms on an H200 for 256Mi int32, of uniform values and of
 * the slowest of six distributions (bench/RESULTS.md); a device copy of the same bytes takes 0.259
 * ms, and the bus 19.4 ms:
 *
 *   bins    kernel                             uniform  slowest
 *   256     shared                               0.244    0.245
 *   16,384  windows                              0.246    0.250
 *   16,384  a shared table for two blocks each   0.249    0.253
 *   65,536  windows                              0.282    0.336
 *   65,536  cached                               3.316    7.095
 *   5M      cached                               2.651    7.766
 */
const struct histogram_kernel *histogram_kernel_choose(const struct histogram_task *task)
{
    if (histogram_kernel_weighted.takes(task))
        return &histogram_kernel_weighted;
    if (histogram_kernel_shared.takes(task))
        return &histogram_kernel_shared;
    if (histogram_kernel_windows.takes(task))
        return &histogram_kernel_windows;
    return &histogram_kernel_cached;
}

cudaError_t cuda_histogram_launch(const struct cuda_device *device, const struct element *element,
                                  const struct binning *binning,
                                  const struct cuda_elements *elements,
                                  const struct cuda_histogram_table *table, cudaStream_t stream)
{
    const struct histogram_task task = {device, element, binning, elements, table, stream};
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
