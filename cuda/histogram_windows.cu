/*
 * Histogram kernel "windows": a block counts in a table in shared memory that has a *window*, all
 * or half of the slots.
 *
 * With two windows, neighbouring blocks read the same elements, and each counts those of its
 * window: an element is read from memory once, and once more from L2. An element of the other
 * window increments a spare counter, which costs less than a branch. Two things were tried and
 * dropped (bench/RESULTS.md): keeping the two blocks in step by a cluster's barrier helps values of
 * one window and costs others as much; 16-bit counters for all bins in one table need a check for
 * overflow in every thread, and are slow if values repeat.
 */
#include "cuda/histogram_slots.cuh"

namespace
{

constexpr unsigned BLOCK_THREADS = 1024;
constexpr unsigned LOADS = 4; /* in flight; a multiprocessor has only one block */
constexpr size_t WINDOWS_MAX = 2;

template <enum element_reuse REUSE, typename T, bool PLAIN>
__global__ void __launch_bounds__(BLOCK_THREADS)
    histogram_windows_kernel(struct cuda_elements elements,
                             const __grid_constant__ slots_of_bins<T, PLAIN> slots,
                             uint32_t windows, uint32_t window_slots,
                             struct histogram_counters counters)
{
    extern __shared__ uint32_t table[]; /* [window_slots], and one for all others */
    const uint32_t first = blockIdx.x % windows * window_slots;
    const bool is_last = blockIdx.x % windows == windows - 1; /* has the slot for values above */
    uint32_t below = 0;

    for (uint32_t i = threadIdx.x; i < window_slots; i += blockDim.x)
        table[i] = 0;
    __syncthreads();
    for_each_element_of<LOADS, REUSE>((const T *)elements.d_data, count_elements(elements),
                                      blockIdx.x / windows, gridDim.x / windows, false,
                                      [&](T loaded) {
                                          uint32_t i = slots.slot_or_above(loaded) - first;
                                          atomicAdd(&table[min(i, window_slots)], 1u);
                                          below += slots.is_below(loaded);
                                      });
    if (is_last)
        counters.move_below(below);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < window_slots; i += blockDim.x) {
        if (table[i] > 0)
            counters.add(first + i, table[i]);
    }
}

unsigned count_windows(const struct histogram_task *task)
{
    const size_t capacity = (size_t)task->device->shared_bytes / sizeof(uint32_t) - 1;
    return (unsigned)((count_bin_slots(task->binning) + capacity - 1) / capacity);
}

bool takes(const struct histogram_task *task)
{
    return count_windows(task) <= WINDOWS_MAX;
}

template <typename T, bool PLAIN>
cudaError_t launch_slots(const struct histogram_task *task, const slots_of_bins<T, PLAIN> &slots)
{
    const unsigned windows = count_windows(task);
    const size_t window_slots = (count_bin_slots(task->binning) + windows - 1) / windows;
    const size_t bytes = (window_slots + 1) * sizeof(uint32_t);
    auto kernel = windows == 1 ? histogram_windows_kernel<READ_ONCE, T, PLAIN>
                               : histogram_windows_kernel<READ_AGAIN, T, PLAIN>;
    /* A block clears and adds up a whole window, so it needs enough elements to make that cheap. */
    const unsigned maximum = (unsigned)task->device->multiprocessors / windows;
    unsigned parts =
        grid_size(task->device, task->elements->count, window_slots + 4 * BLOCK_THREADS);

    parts = parts < maximum ? parts : maximum > 0 ? maximum : 1;
    cudaError_t error = allow_shared_bytes(kernel, bytes);
    if (error != cudaSuccess)
        return error;
    kernel<<<parts * windows, BLOCK_THREADS, bytes, task->stream>>>(*task->elements, slots, windows,
                                                                    (uint32_t)window_slots,
                                                                    histogram_counters(task));
    return cudaGetLastError();
}

cudaError_t launch(const struct histogram_task *task)
{
    return launch_with_bins(task, [=](const auto &slots) { return launch_slots(task, slots); });
}

} // namespace

const struct histogram_kernel histogram_kernel_windows = {"windows", takes, launch};
