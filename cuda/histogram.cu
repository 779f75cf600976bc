/*
 * The histogram's launcher: which of its kernels counts. Figures are of an H200 and 256Mi int32,
 * uniform and the worst of six distributions; bench/RESULTS.md has them all.
 */
#include "histogram_kernels.h"

namespace
{

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
 * shared: 256 bins 0.238 and 0.238 ms, 16,384 bins 0.249 and 0.249 (windows 0.249 and 0.250); a
 * device copy of the same bytes is 0.259.
 * windows: 65,536 bins 0.445 and 0.477 ms, partition 0.828 and 1.020, cached 2.874 and 5.786.
 * partition: 1M bins 0.936 and 1.297 ms, cached 2.657 and 6.370; 5M bins 1.160 and 1.695, cached
 * 3.933 and 8.294; 16M bins 2.243 and 2.845, cached 12.226 and 12.226.
 * two-level: 256Mi bins take cached 16.752 ms. It reads its input twice and so begins where the
 * runs of partition become short, by estimate.
 * cached: in chunks of 4 MiB 2.7 to 16.8 ms; sorting chunks would sweep a table after each.
 */
const struct choice choices[] = {
    {&histogram_kernel_shared, 0, 0, UINT32_MAX},
    {&histogram_kernel_windows, 0, 0, UINT32_MAX},
    {&histogram_kernel_partition, (size_t)8 << 20, UINT16_MAX, 1u << 23},
    {&histogram_kernel_two_level, (size_t)64 << 20, 1u << 23, UINT32_MAX},
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
