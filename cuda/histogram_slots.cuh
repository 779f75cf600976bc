/*
 * What the histogram's kernels share: where an element is counted, its *slot*, and where the counts
 * of a slot are added to.
 */
#ifndef GPUHIST_HISTOGRAM_SLOTS_CUH
#define GPUHIST_HISTOGRAM_SLOTS_CUH

#include "cuda/elements.cuh"
#include "cuda/histogram_kernels.h"

/* struct cuda_histogram_table, as atomics take it. */
struct histogram_counters {
    uint32_t *d_counts;
    unsigned long long *d_outside;
    uint32_t bins;

    explicit histogram_counters(const struct histogram_task *task)
        : d_counts(task->table->d_counts), d_outside((unsigned long long *)task->table->d_outside),
          bins(task->binning->bins)
    {
    }

    __device__ __forceinline__ void add(uint32_t bin, uint32_t count) const
    {
        if (bin < bins)
            atomicAdd(&d_counts[bin], count);
        else
            atomicAdd(&d_outside[bin - bins], (unsigned long long)count);
    }

    /* Of those that were, or will be, counted as above, so many are below. */
    __device__ __forceinline__ void move_below(unsigned long long count) const
    {
        if (count > 0) {
            atomicAdd(&d_outside[0], count);
            atomicAdd(&d_outside[1], 0 - count);
        }
    }
};

/* A binning of whatever form, of elements of whatever type. */
struct any_binning {
    struct binning binning;
    uint32_t shift; /* to the top of 64 bits */
    bool is_signed;
    bool swapped;

    explicit any_binning(const struct histogram_task *task)
        : binning(*task->binning), shift(64 - 8 * task->element->bytes),
          is_signed(task->element->is_signed), swapped(task->element->swapped)
    {
    }
};

/*
 * The bin of an element, the lowest bytes of `word` as they were in memory. Called, not inlined: it
 * has code for each form, and kernels that unroll it grow tenfold. What comes over a bus is counted
 * fast enough so.
 */
static __device__ __noinline__ uint32_t bin_of_word(const struct any_binning &any, uint64_t word)
{
    word = any.swapped ? swap_bytes(word) : word << any.shift;
    uint64_t key = any.is_signed ? (uint64_t)((int64_t)word >> any.shift) : word >> any.shift;
    return binning_index(&any.binning, any.binning.form, key);
}

/*
 * A slot a bin, of elements as unsigned words of their width. PLAIN: 32-bit unit bins of 32-bit
 * elements in native byte order, which need not know whether they are signed.
 */
template <typename T, bool PLAIN>
struct slots_of_bins {
    static_assert(!PLAIN || sizeof(T) == 4, "its arithmetic has 32 bits");
    static constexpr bool is_fast = PLAIN; /* worth code of its own */
    struct any_binning any;

    explicit slots_of_bins(const struct histogram_task *task) : any(task)
    {
    }

    /* `loaded` is as it was in memory. */
    __device__ __forceinline__ uint32_t slot(T loaded) const
    {
        return PLAIN ? binning_index(&any.binning, BINNING_UNIT32, loaded)
                     : bin_of_word(any, loaded);
    }

    /*
     * The same in half the instructions: all that is outside is above, and who uses it counts
     * those for which is_below says that they are not (histogram_counters::move_below).
     */
    __device__ __forceinline__ uint32_t slot_or_above(T loaded) const
    {
        if constexpr (!PLAIN)
            return slot(loaded);
        uint32_t x = (uint32_t)loaded - (uint32_t)any.binning.low;
        return x <= (uint32_t)any.binning.last ? x : any.binning.bins + 1;
    }

    /* Whether it is below, and slot_or_above does not tell: then value - LO has wrapped. */
    __device__ __forceinline__ bool is_below(T loaded) const
    {
        if constexpr (!PLAIN)
            return false;
        uint32_t low = (uint32_t)any.binning.low;
        return (uint32_t)loaded - low > ~(low ^ (uint32_t)any.binning.bias);
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
        return loaded;
    }

    __device__ __forceinline__ uint32_t slot_or_above(T loaded) const
    {
        return loaded;
    }

    __device__ __forceinline__ bool is_below(T) const
    {
        return false;
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
    return task->binning->form == BINNING_UNIT32 && task->element->bytes == 4 &&
           !task->element->swapped;
}

/* A type of elements for kernels of 4 bytes and more, as an argument of a generic lambda. */
template <typename T, bool PLAIN>
struct wide_elements {
    using type = T;
    static constexpr bool plain = PLAIN;
};

/* Calls launch(wide_elements<...>()) for the task's elements. */
template <typename Launch>
cudaError_t launch_wide(const struct histogram_task *task, Launch launch)
{
    switch (task->element->bytes) {
    case 4:
        return is_plain(task) ? launch(wide_elements<uint32_t, true>())
                              : launch(wide_elements<uint32_t, false>());
    case 8:
        return launch(wide_elements<uint64_t, false>());
    default:
        return cudaErrorInvalidValue;
    }
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
