/*
 * Histogram kernel: tables in shared memory.
 *
 * Every block counts in a table of its own, and adds it to the global one at the end. A slot has
 * several counters side by side, which neighbouring threads use in turn: threads with equal values
 * are kept apart, and if there is one for each lane of a warp, no two lanes ever meet in a bank.
 * 8 read 256 bins at the speed of a copy, whatever the values; 2 are as slow as half.
 *
 * 8-bit elements, 16 of which come with one load, are counted by value with a counter a lane, and
 * binned at the end: there is no time to bin each.
 *
 * Shared counters have 32 bits: a launch has fewer than 2^32 elements.
 */
#include "cuda/histogram_slots.cuh"

namespace
{

constexpr unsigned BLOCK_THREADS = 1024;
constexpr unsigned BLOCKS = 2; /* on a multiprocessor */
constexpr unsigned VALUE_COPIES = 32;
constexpr unsigned BIN_COPIES = 8; /* if they fit */
/* Shared memory of a block, so that they fit. */
constexpr size_t TABLE_BYTES_MAX = 112 << 10;

template <unsigned COPIES, typename T, typename Slots>
__global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS)
    histogram_shared_kernel(const T *d_elements, struct element_count count,
                            const __grid_constant__ Slots slots, uint32_t slot_count,
                            struct histogram_counters counters)
{
    extern __shared__ uint32_t table[]; /* [slot_count][COPIES] */
    uint32_t *own = table + threadIdx.x % COPIES;

    for (uint32_t i = threadIdx.x; i < slot_count * COPIES; i += blockDim.x)
        table[i] = 0;
    __syncthreads();
    for_each_element(d_elements, read_count(count), false,
                     [&](T loaded) { atomicAdd(&own[slots.slot(loaded) * COPIES], 1u); });
    __syncthreads();
    for (uint32_t slot = threadIdx.x; slot < slot_count; slot += blockDim.x) {
        uint32_t sum = 0;
#pragma unroll 4
        for (uint32_t i = 0; i < COPIES; i++) /* from a bank of its own on */
            sum += table[slot * COPIES + (i + threadIdx.x) % COPIES];
        if (sum > 0)
            counters.add(slots.bin(slot), sum);
    }
}

template <unsigned COPIES, typename T, typename Slots>
cudaError_t launch_slots(const struct histogram_task *task, const Slots &slots, size_t slot_count)
{
    auto kernel = histogram_shared_kernel<COPIES, T, Slots>;
    size_t bytes = slot_count * COPIES * sizeof(uint32_t);
    cudaError_t error = allow_shared_bytes(kernel, bytes);

    if (error != cudaSuccess)
        return error;
    /* A block zeroes and adds up whole tables: give it enough to count for that. */
    unsigned blocks =
        grid_size(task->device, task->elements->count, 4 * slot_count + 4 * BLOCK_THREADS);
    kernel<<<blocks, BLOCK_THREADS, bytes, task->stream>>>((const T *)task->elements->d_data,
                                                           count_of(task->elements), slots,
                                                           (uint32_t)slot_count,
                                                           histogram_counters(task));
    return cudaGetLastError();
}

template <typename T, bool PLAIN>
cudaError_t launch_bins(const struct histogram_task *task)
{
    const slots_of_bins<T, PLAIN> slots(task);
    size_t slot_count = count_bin_slots(task->binning);
    size_t most = (size_t)task->device->shared_bytes;
    size_t counters_most = (most < TABLE_BYTES_MAX ? most : TABLE_BYTES_MAX) / sizeof(uint32_t);

    if (slot_count * BIN_COPIES <= counters_most)
        return launch_slots<BIN_COPIES, T>(task, slots, slot_count);
    return launch_slots<1, T>(task, slots, slot_count);
}

template <typename T>
cudaError_t launch_values(const struct histogram_task *task)
{
    return launch_slots<VALUE_COPIES, T>(task, slots_of_values<T>(task),
                                         count_value_slots(task->element));
}

bool takes(const struct histogram_task *task)
{
    size_t bytes = count_bin_slots(task->binning) * sizeof(uint32_t);

    return task->element->bytes == 1 ||
           (bytes <= TABLE_BYTES_MAX && bytes <= (size_t)task->device->shared_bytes);
}

cudaError_t launch_task(const struct histogram_task *task)
{
    if (task->element->bytes == 1)
        return launch_values<uint8_t>(task);
    if (task->element->bytes == 2)
        return launch_bins<uint16_t, false>(task);
    return launch_wide(task, [=](auto elements) {
        return launch_bins<typename decltype(elements)::type, decltype(elements)::plain>(task);
    });
}

} // namespace

const struct histogram_kernel histogram_kernel_shared = {"shared", takes, nullptr, launch_task};
