/*
 * What the histogram's kernels share: where an element is counted, its *slot*, and where the counts
 * of a slot are added to.
 */
#ifndef GPUHIST_HISTOGRAM_SLOTS_CUH
#define GPUHIST_HISTOGRAM_SLOTS_CUH

#include "elements.cuh"
#include "histogram_kernels.h"

#include <type_traits>

/* struct cuda_histogram_table, as atomics take it. */
struct histogram_counters {
    unsigned long long *d_counts;
    unsigned long long *d_outside;
    uint32_t bins;

    explicit histogram_counters(const struct histogram_task *task)
        : d_counts((unsigned long long *)task->table->d_counts),
          d_outside((unsigned long long *)task->table->d_outside), bins(task->binning->bins)
    {
    }

    __device__ __forceinline__ void add(uint32_t bin, unsigned long long count) const
    {
        atomicAdd(bin < bins ? &d_counts[bin] : &d_outside[bin - bins], count);
    }
};

/* A slot a bin. PLAIN: 32-bit unit bins, native byte order. */
template <typename T, bool PLAIN>
struct slots_of_bins {
    struct binning binning;
    bool swapped;

    explicit slots_of_bins(const struct histogram_task *task)
        : binning(*task->binning), swapped(task->element->swapped)
    {
    }

    /* `loaded` is as it was in memory. */
    __device__ __forceinline__ uint32_t slot(T loaded) const
    {
        T value = !PLAIN && swapped ? swap_bytes(loaded) : loaded;
        return binning_index(&binning, PLAIN ? BINNING_UNIT32 : binning.form,
                             (uint64_t)(int64_t)value);
    }

    __device__ __forceinline__ uint32_t bin(uint32_t slot) const
    {
        return slot;
    }
};

/* A slot a value as it is in memory, of types of one or two bytes; it is binned at the end. */
template <typename T>
struct slots_of_values {
    struct slots_of_bins<T, false> bins;

    explicit slots_of_values(const struct histogram_task *task) : bins(task)
    {
    }

    __device__ __forceinline__ uint32_t slot(T loaded) const
    {
        return (std::make_unsigned_t<T>)loaded;
    }

    __device__ __forceinline__ uint32_t bin(uint32_t slot) const
    {
        return bins.slot((T)slot);
    }
};

/* Slots of all bins, and of all values of a type of so many bytes. */
inline size_t count_bin_slots(const struct binning *binning)
{
    return (size_t)binning->bins + BINNING_OUTSIDE;
}

inline size_t count_value_slots(const struct element *element)
{
    return (size_t)1 << (8 * element->bytes);
}

inline bool is_plain(const struct histogram_task *task)
{
    return task->binning->form == BINNING_UNIT32 && !task->element->swapped;
}

/* Lets a kernel have so much dynamic shared memory. */
template <typename Kernel>
cudaError_t allow_shared_bytes(Kernel kernel, size_t bytes)
{
    constexpr size_t allowed = 48 << 10;

    if (bytes <= allowed)
        return cudaSuccess;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

#endif
