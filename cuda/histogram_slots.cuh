/*
 * Slots are the counters in a kernel's own table: one per bin, and two for values below and above.
 * The structs here map an element to its slot, and add the count of a slot to the global table.
 */
#ifndef GPUHIST_HISTOGRAM_SLOTS_CUH
#define GPUHIST_HISTOGRAM_SLOTS_CUH

#include "cuda/elements.cuh"
#include "cuda/histogram_kernels.h"
#include "cuda/launch.cuh"
#include "value/binning_index.h"

/* A binning of any form, of elements of any type. */
struct any_binning {
    struct binning binning;
    uint32_t shift; /* shift of a word to the top of 64 bits */
    bool is_signed;
    bool swapped;

    explicit any_binning(const struct histogram_task *task)
        : binning(*task->binning), shift(64 - 8 * task->element->bytes),
          is_signed(task->element->is_signed), swapped(task->element->swapped)
    {
    }
};

/*
 * Returns the bin of an element, which is in the lowest bytes of `word` in memory order. It has
 * code for each form of binning, so it is not inlined: kernels that unroll it would be ten times as
 * large. PCIe is slower than the call.
 */
static __device__ __noinline__ uint32_t bin_of_word(const struct any_binning &any, uint64_t word)
{
    word = any.swapped ? swap_bytes(word) : word << any.shift;
    uint64_t key = any.is_signed ? (uint64_t)((int64_t)word >> any.shift) : word >> any.shift;
    return binning_index(&any.binning, any.binning.form, key);
}

/*
 * The slots for elements that are unsigned words of their width. PLAIN: 32-bit unit bins of 32-bit
 * elements in native byte order, signed or not.
 */
template <typename T, bool PLAIN>
struct slots_of_bins {
    static_assert(!PLAIN || sizeof(T) == 4, "its arithmetic has 32 bits");
    struct any_binning any;

    explicit slots_of_bins(const struct histogram_task *task) : any(task)
    {
    }

    /* `loaded` is in memory order. */
    __device__ __forceinline__ uint32_t slot(T loaded) const
    {
        return PLAIN ? binning_index(&any.binning, BINNING_UNIT32, loaded)
                     : bin_of_word(any, loaded);
    }

    /*
     * Like `slot`, but in half the instructions, and with the slot for values above also for values
     * below. The caller counts the latter with is_below, and corrects the counters with
     * histogram_counters::move_below.
     */
    __device__ __forceinline__ uint32_t slot_or_above(T loaded) const
    {
        if constexpr (!PLAIN)
            return slot(loaded);
        uint32_t x = (uint32_t)loaded - (uint32_t)any.binning.low;
        return x <= (uint32_t)any.binning.last ? x : any.binning.bins + 1;
    }

    /* Returns whether slot_or_above gives the wrong slot: value - LO has wrapped. */
    __device__ __forceinline__ bool is_below(T loaded) const
    {
        if constexpr (!PLAIN)
            return false;
        uint32_t low = (uint32_t)any.binning.low;
        return (uint32_t)loaded - low > ~(low ^ (uint32_t)any.binning.bias);
    }
};

/* Returns the number of slots of all bins. */
inline size_t count_bin_slots(const struct binning *binning)
{
    return (size_t)binning->bins + BINNING_OUTSIDE;
}

/* Like struct cuda_histogram_table, but with the types that atomics need. */
struct histogram_counters {
    uint32_t *d_counts;
    unsigned long long *d_outside;
    uint32_t bins;

    explicit histogram_counters(const struct histogram_task *task)
        : d_counts(task->table->d_counts), d_outside((unsigned long long *)task->table->d_outside),
          bins(task->binning->bins)
    {
    }

    /* Slot `bins` counts values below all bins, and slot bins + 1 values above. */
    __device__ __forceinline__ void add(uint32_t slot, uint32_t count) const
    {
        if (slot < bins)
            atomicAdd(&d_counts[slot], count);
        else
            atomicAdd(&d_outside[slot - bins], (unsigned long long)count);
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

/* Calls launch(slots) with the slots of the task's bins, a slots_of_bins. */
template <typename Launch>
cudaError_t launch_with_bins(const struct histogram_task *task, Launch launch)
{
    if (task->binning->form == BINNING_UNIT32 && task->element->bytes == 4 &&
        !task->element->swapped)
        return launch(slots_of_bins<uint32_t, true>(task));
    return launch_by_width(task->element, [&](auto word) {
        return launch(slots_of_bins<decltype(word), false>(task));
    });
}

#endif
