/*
 * Histogram kernel "weighted": adds up the weights of elements. Frequent bins have a sum in a cache
 * in shared memory (sampled_cache.cuh); atomics add the others to the global sums.
 */
#include "cuda/histogram_slots.cuh"
#include "cuda/sampled_cache.cuh"

namespace
{

/* The global sums, as a Table of count_sampled. */
template <typename T>
struct table_of_sums {
    using key_type = uint32_t;
    static constexpr uint32_t KEY_EMPTY = UINT32_MAX;
    const slots_of_bins<T, false> &slots;
    unsigned long long *d_sums;
    unsigned long long *d_outside;
    uint32_t bins;

    __device__ __forceinline__ uint32_t key(T loaded) const
    {
        return slots.slot(loaded);
    }

    __device__ __forceinline__ uint32_t hash(uint32_t bin) const
    {
        return bin;
    }

    __device__ __forceinline__ void add(uint32_t slot, uint64_t weight) const
    {
        if (weight > 0)
            atomicAdd(slot < bins ? &d_sums[slot] : &d_outside[slot - bins],
                      (unsigned long long)weight);
    }

    __device__ __forceinline__ void begin_tile() const
    {
    }

    __device__ __forceinline__ void end_tile() const
    {
    }
};

template <typename T>
__global__ void __launch_bounds__(SAMPLED_THREADS)
    histogram_weighted_kernel(struct cuda_elements elements,
                              const __grid_constant__ slots_of_bins<T, false> slots,
                              unsigned long long *d_sums, unsigned long long *d_outside)
{
    count_sampled<T, sampled_sum>(elements, table_of_sums<T>{slots, d_sums, d_outside,
                                                             slots.any.binning.bins});
}

bool takes(const struct histogram_task *task)
{
    return task->elements->d_weights != NULL;
}

cudaError_t launch(const struct histogram_task *task)
{
    return launch_by_width(task->element, [=](auto word) {
        using T = decltype(word);
        unsigned blocks = grid_size(task->device, task->elements->count, SAMPLED_TILE_ELEMENTS<T>);

        histogram_weighted_kernel<T><<<blocks, SAMPLED_THREADS, 0, task->stream>>>(
            *task->elements, slots_of_bins<T, false>(task),
            (unsigned long long *)task->table->d_sums,
            (unsigned long long *)task->table->d_outside);
        return cudaGetLastError();
    });
}

} // namespace

const struct histogram_kernel histogram_kernel_weighted = {"weighted", takes, launch};
