/*
 * Histogram kernel "windows": a block counts in a table in shared memory that has a *window*, a
 * part of the slots, of which there are one or two.
 *
 * With two windows, neighbouring blocks read the same elements, and each counts those of its
 * window: an element comes from memory once, and once more from L2. An element of the other window
 * goes to a spare counter, which costs less than a branch. Two things were tried and dropped
 * (bench/RESULTS.md): to keep the two blocks in step by a cluster's barrier helps values of one
 * window and costs others as much; 16-bit counters for all bins in one table need a check for
 * overflow in every thread, and are slow where values repeat.
 *
 * 16-bit elements of many bins are counted by value, and binned at the end.
 */
#include "cuda/histogram_slots.cuh"
#include "cuda/histogram_table.cuh"

#include <type_traits>

namespace
{

constexpr unsigned BLOCK_THREADS = 1024;
constexpr unsigned LOADS = 4; /* under way; there is one block on a multiprocessor */
constexpr size_t WINDOWS_MAX = 2;

template <enum element_reuse REUSE, typename Slots>
__global__ void __launch_bounds__(BLOCK_THREADS)
    histogram_windows_kernel(const typename Slots::element_type *d_elements,
                             struct element_count count, const __grid_constant__ Slots slots,
                             uint32_t windows, uint32_t window_slots,
                             struct histogram_counters counters)
{
    using T = typename Slots::element_type;
    extern __shared__ uint32_t table[]; /* [window_slots], and one for all others */
    const uint32_t first = blockIdx.x % windows * window_slots;
    const bool is_last = blockIdx.x % windows == windows - 1; /* has the slot of those above */
    uint32_t below = 0;

    for (uint32_t i = threadIdx.x; i < window_slots; i += blockDim.x)
        table[i] = 0;
    __syncthreads();
    for_each_element_of<LOADS, REUSE>(d_elements, read_count(count), blockIdx.x / windows,
                                      gridDim.x / windows, false, [&](T loaded) {
                                          uint32_t i = slots.slot_or_above(loaded) - first;
                                          atomicAdd(&table[min(i, window_slots)], 1u);
                                          below += slots.is_below(loaded);
                                      });
    if (is_last)
        counters.move_below(below);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < window_slots; i += blockDim.x) {
        if (table[i] > 0)
            counters.add(slots.bin(first + i), table[i]);
    }
}

size_t count_windows(const struct histogram_task *task, size_t slot_count)
{
    size_t room = (size_t)task->device->shared_bytes / sizeof(uint32_t) - 1;
    return (slot_count + room - 1) / room;
}

template <enum element_reuse REUSE, typename Slots>
cudaError_t launch_windows(const struct histogram_task *task, const Slots &slots, size_t slot_count,
                           unsigned windows)
{
    auto kernel = histogram_windows_kernel<REUSE, Slots>;
    size_t window_slots = (slot_count + windows - 1) / windows;
    size_t bytes = (window_slots + 1) * sizeof(uint32_t);
    cudaError_t error = allow_shared_bytes(kernel, bytes);

    if (error != cudaSuccess)
        return error;
    /* A block clears and adds up a whole window: give it enough elements to make that cheap. */
    unsigned most = (unsigned)task->device->multiprocessors / windows;
    unsigned parts =
        grid_size(task->device, task->elements->count, window_slots + 4 * BLOCK_THREADS);
    parts = parts < most ? parts : most > 0 ? most : 1;
    kernel<<<parts * windows, BLOCK_THREADS, bytes, task->stream>>>(
        (const typename Slots::element_type *)task->elements->d_data, count_of(task->elements),
        slots, windows, (uint32_t)window_slots, histogram_counters(task));
    return cudaGetLastError();
}

template <typename Slots>
cudaError_t launch_slots(const struct histogram_task *task, const Slots &slots, size_t slot_count)
{
    unsigned windows = (unsigned)count_windows(task, slot_count);

    return windows == 1 ? launch_windows<READ_ONCE>(task, slots, slot_count, windows)
                        : launch_windows<READ_AGAIN>(task, slots, slot_count, windows);
}

/* Whether there are fewer bins than values of the type. */
bool counts_bins(const struct histogram_task *task)
{
    return task->element->bytes > 2 ||
           count_bin_slots(task->binning) < count_value_slots(task->element);
}

bool takes(const struct histogram_task *task)
{
    size_t slot_count =
        counts_bins(task) ? count_bin_slots(task->binning) : count_value_slots(task->element);

    return task->element->bytes > 1 && count_windows(task, slot_count) <= WINDOWS_MAX;
}

cudaError_t launch(const struct histogram_task *task)
{
    if (!counts_bins(task))
        return launch_slots(task, slots_of_values<uint16_t>(task),
                            count_value_slots(task->element));
    return launch_with_bins(task, [=](const auto &slots) {
        if constexpr (sizeof(typename std::decay_t<decltype(slots)>::element_type) == 1)
            return cudaErrorInvalidValue; /* never taken */
        else
            return launch_slots(task, slots, count_bin_slots(task->binning));
    });
}

} // namespace

const struct histogram_kernel histogram_kernel_windows = {"windows", takes, launch};
