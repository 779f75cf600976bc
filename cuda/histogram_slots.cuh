/*
 * Slots are the counters in a kernel's own table: one for each bin, and two for values below and
 * above. The structs here map an element to its slot.
 */
#ifndef GPUHIST_HISTOGRAM_SLOTS_CUH
#define GPUHIST_HISTOGRAM_SLOTS_CUH

#include "cuda/elements.cuh"
#include "cuda/histogram_kernels.h"
#include "cuda/launch.cuh"
#include "job/binning_index.h"

/* A binning of any form, of elements of any type. */
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
     * The same in half the instructions, but a value below all bins gets the slot for values above.
     * The caller counts such values with is_below, and corrects the counters with
     * histogram_counters::move_below.
     */
    __device__ __forceinline__ uint32_t slot_or_above(T loaded) const
    {
        if constexpr (!PLAIN)
            return slot(loaded);
        uint32_t x = (uint32_t)loaded - (uint32_t)any.binning.low;
        return x <= (uint32_t)any.binning.last ? x : any.binning.bins + 1;
    }

    /* Whether slot_or_above gives the wrong slot: value - LO has wrapped. */
    __device__ __forceinline__ bool is_below(T loaded) const
    {
        if constexpr (!PLAIN)
            return false;
        uint32_t low = (uint32_t)any.binning.low;
        return (uint32_t)loaded - low > ~(low ^ (uint32_t)any.binning.bias);
    }
};

/* The number of slots of all bins. */
inline size_t count_bin_slots(const struct binning *binning)
{
    return (size_t)binning->bins + BINNING_OUTSIDE;
}

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
