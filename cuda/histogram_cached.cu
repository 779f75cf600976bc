/*
 * Histogram kernel "cached": counts frequent bins in a cache in shared memory (sampled_cache.cuh),
 * the others by atomics on the global table.
 */
#include "cuda/histogram_slots.cuh"
#include "cuda/sampled_cache.cuh"

namespace
{

/* The global table, as a Table of count_sampled. */
template <typename T, bool PLAIN>
struct table_of_bins {
    using key_type = uint32_t;
    static constexpr uint32_t KEY_EMPTY = UINT32_MAX;
    const slots_of_bins<T, PLAIN> &slots;
    const struct histogram_counters &counters;

    __device__ __forceinline__ uint32_t key(T loaded) const
    {
        return slots.slot(loaded);
    }

    __device__ __forceinline__ uint32_t hash(uint32_t bin) const
    {
        return bin;
    }

    __device__ __forceinline__ void add(uint32_t bin, uint32_t count) const
    {
        counters.add(bin, count);
    }

    __device__ __forceinline__ void begin_tile() const
    {
    }

    __device__ __forceinline__ void end_tile() const
    {
    }
};

template <typename T, bool PLAIN>
__global__ void __launch_bounds__(SAMPLED_THREADS)
    histogram_cached_kernel(struct cuda_elements elements,
                            const __grid_constant__ slots_of_bins<T, PLAIN> slots,
                            struct histogram_counters counters)
{
    count_sampled<T>(elements, table_of_bins<T, PLAIN>{slots, counters});
}

bool takes(const struct histogram_task *)
{
    return true;
}

template <typename T, bool PLAIN>
cudaError_t launch_slots(const struct histogram_task *task, const slots_of_bins<T, PLAIN> &slots)
{
    unsigned blocks = grid_size(task->device, task->elements->count, SAMPLED_TILE_ELEMENTS<T>);

    histogram_cached_kernel<<<blocks, SAMPLED_THREADS, 0, task->stream>>>(*task->elements, slots,
                                                                          histogram_counters(task));
    return cudaGetLastError();
}

cudaError_t launch(const struct histogram_task *task)
{
    return launch_with_bins(task, [=](const auto &slots) { return launch_slots(task, slots); });
}

} // namespace

const struct histogram_kernel histogram_kernel_cached = {"cached", takes, launch};
