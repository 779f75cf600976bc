/* The histogram's launcher: which of its kernels counts. */
#include "histogram_kernels.h"

namespace
{

/*
 * Launches of fewer elements than this go to the global table directly: sorting them is followed by
 * a sweep over all bins, see bench/RESULTS.md.
 */
constexpr size_t PARTITION_ELEMENTS_MIN = (size_t)8 << 20;

const struct histogram_kernel *const kernels[] = {
    &histogram_kernel_shared,
    &histogram_kernel_windows,
    &histogram_kernel_partition,
};

/* Whether partitioning is worth its scratch memory: windows take fewer bins. */
bool wants_partition(const struct element *element, const struct binning *binning, size_t elements)
{
    return element->bytes >= 4 && binning->bins > UINT16_MAX && elements >= PARTITION_ELEMENTS_MIN;
}

} // namespace

const struct histogram_kernel *histogram_kernel_choose(const struct histogram_task *task)
{
    for (const struct histogram_kernel *kernel : kernels) {
        if (kernel->takes(task) &&
            (kernel != &histogram_kernel_partition ||
             wants_partition(task->element, task->binning, task->elements->count)))
            return kernel;
    }
    return &histogram_kernel_cached;
}

size_t cuda_histogram_scratch_bytes(const struct element *element, const struct binning *binning,
                                    size_t elements)
{
    if (!wants_partition(element, binning, elements))
        return 0;
    return histogram_kernel_partition.scratch_bytes(element, binning, elements);
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
