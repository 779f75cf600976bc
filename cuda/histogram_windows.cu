/*
 * Histogram kernel: a table in shared memory for a part of the slots.
 *
 * Where a table for all slots leaves no room for a second block on a multiprocessor, or does not
 * fit at all, neighbouring blocks read the same elements and each counts those in a *window* of the
 * slots. An element comes from memory once, and again from L2 for the other windows: 2 windows take
 * at most twice what L2 takes for one; in the window that it is not in, it goes to a spare counter,
 * which costs less than a branch. (Keeping the two blocks in step by a cluster's barrier helps
 * values of one window and costs others as much: bench/RESULTS.md.) 16-bit counters for all bins in
 * one table would have to be watched for overflow by every thread, and are slow where values
 * repeat.
 *
 * 16-bit elements of many bins are counted by value, and binned at the end.
 */
#include "cuda/histogram_slots.cuh"

namespace
{

constexpr unsigned BLOCK_THREADS = 1024;
constexpr unsigned LOADS = 4; /* under way; there is one block a multiprocessor */
constexpr size_t WINDOWS_MAX = 2;

template <enum element_reuse REUSE, typename T, typename Slots>
__global__ void __launch_bounds__(BLOCK_THREADS)
    histogram_windows_kernel(const T *d_elements, struct element_count count,
                             const __grid_constant__ Slots slots, uint32_t windows,
                             uint32_t window_slots, struct histogram_counters counters)
{
    extern __shared__ uint32_t table[]; /* [window_slots], and one for all others */
    const uint32_t first = blockIdx.x % windows * window_slots;
    const bool is_last = blockIdx.x % windows == windows - 1; /* has those above */
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

template <enum element_reuse REUSE, typename T, typename Slots>
cudaError_t launch_windows(const struct histogram_task *task, const Slots &slots, size_t slot_count,
                           unsigned windows)
{
    auto kernel = histogram_windows_kernel<REUSE, T, Slots>;
    size_t window_slots = (slot_count + windows - 1) / windows;
    size_t bytes = (window_slots + 1) * sizeof(uint32_t);
    cudaError_t error = allow_shared_bytes(kernel, bytes);

    if (error != cudaSuccess)
        return error;
    /* A block zeroes and adds up a whole window: give it enough to count for that. */
    unsigned most = (unsigned)task->device->multiprocessors / windows;
    unsigned parts =
        grid_size(task->device, task->elements->count, window_slots + 4 * BLOCK_THREADS);
    parts = parts < most ? parts : most > 0 ? most : 1;
    kernel<<<parts * windows, BLOCK_THREADS, bytes, task->stream>>>(
        (const T *)task->elements->d_data, count_of(task->elements), slots, windows,
        (uint32_t)window_slots, histogram_counters(task));
    return cudaGetLastError();
}

template <typename T, typename Slots>
cudaError_t launch_slots(const struct histogram_task *task, size_t slot_count)
{
    const Slots slots(task);
    unsigned windows = (unsigned)count_windows(task, slot_count);

    return windows == 1 ? launch_windows<READ_ONCE, T>(task, slots, slot_count, windows)
                        : launch_windows<READ_AGAIN, T>(task, slots, slot_count, windows);
}

/* Whether there are fewer bins than values, as far as this kernel is concerned. */
bool counts_bins(const struct histogram_task *task)
{
    return task->element->bytes > 2 ||
           count_bin_slots(task->binning) < count_value_slots(task->element);
}

template <typename T, bool PLAIN>
cudaError_t launch_bins(const struct histogram_task *task)
{
    return launch_slots<T, slots_of_bins<T, PLAIN>>(task, count_bin_slots(task->binning));
}

template <typename T>
cudaError_t launch_values(const struct histogram_task *task)
{
    return launch_slots<T, slots_of_values<T>>(task, count_value_slots(task->element));
}

bool takes(const struct histogram_task *task)
{
    size_t slot_count =
        counts_bins(task) ? count_bin_slots(task->binning) : count_value_slots(task->element);

    return task->element->bytes > 1 && count_windows(task, slot_count) <= WINDOWS_MAX;
}

cudaError_t launch_task(const struct histogram_task *task)
{
    if (task->element->bytes == 2)
        return counts_bins(task) ? launch_bins<uint16_t, false>(task)
                                 : launch_values<uint16_t>(task);
    return launch_wide(task, [=](auto elements) {
        return launch_bins<typename decltype(elements)::type, decltype(elements)::plain>(task);
    });
}

} // namespace

const struct histogram_kernel histogram_kernel_windows = {"windows", takes, nullptr, launch_task};
