/*
 * Histogram kernel "shared": every block counts in a table of its own in shared memory, and adds it
 * to the global table at the end.
 *
 * A slot has several counters side by side, copies, which neighbouring threads use in turn, so that
 * threads with equal values rarely conflict. With 8 copies, 256 bins are counted at the speed of a
 * copy in device memory, whatever the values; with 2, half as fast.
 *
 * Shared counters have 32 bits: a launch has fewer than 2^32 elements.
 */
#include "cuda/histogram_slots.cuh"

namespace
{

constexpr unsigned BLOCK_THREADS = 1024;
constexpr unsigned BLOCKS = 2; /* per multiprocessor */
constexpr unsigned COPIES = 8;
/* Shared memory of a block, so that BLOCKS fit. */
constexpr size_t TABLE_BYTES_MAX = 112 << 10;

template <typename T, bool PLAIN>
__global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS)
    histogram_shared_kernel(struct cuda_elements elements,
                            const __grid_constant__ slots_of_bins<T, PLAIN> slots,
                            uint32_t slot_count, struct histogram_counters counters)
{
    extern __shared__ uint32_t table[]; /* [slot_count][COPIES] */
    uint32_t *own = table + threadIdx.x % COPIES;

    for (uint32_t i = threadIdx.x; i < slot_count * COPIES; i += blockDim.x)
        table[i] = 0;
    __syncthreads();
    for_each_element<T>(elements, false,
                        [&](T loaded) { atomicAdd(&own[slots.slot(loaded) * COPIES], 1u); });
    __syncthreads();
    for (uint32_t slot = threadIdx.x; slot < slot_count; slot += blockDim.x) {
        uint32_t sum = 0;
#pragma unroll 4
        for (uint32_t i = 0; i < COPIES; i++) /* each thread begins at its own bank */
            sum += table[slot * COPIES + (i + threadIdx.x) % COPIES];
        if (sum > 0)
            counters.add(slot, sum);
    }
}

size_t table_bytes(const struct histogram_task *task)
{
    return count_bin_slots(task->binning) * COPIES * sizeof(uint32_t);
}

bool takes(const struct histogram_task *task)
{
    return table_bytes(task) <= TABLE_BYTES_MAX &&
           table_bytes(task) <= (size_t)task->device->shared_bytes;
}

template <typename T, bool PLAIN>
cudaError_t launch_slots(const struct histogram_task *task, const slots_of_bins<T, PLAIN> &slots)
{
    auto kernel = histogram_shared_kernel<T, PLAIN>;
    const size_t slot_count = count_bin_slots(task->binning);
    const size_t bytes = table_bytes(task);
    /* A block clears and adds up a whole table, so it needs enough elements to make that cheap. */
    const unsigned blocks =
        grid_size(task->device, task->elements->count, 4 * slot_count + 4 * BLOCK_THREADS);

    cudaError_t error = allow_shared_bytes(kernel, bytes);
    if (error != cudaSuccess)
        return error;
    kernel<<<blocks, BLOCK_THREADS, bytes, task->stream>>>(*task->elements, slots,
                                                           (uint32_t)slot_count,
                                                           histogram_counters(task));
    return cudaGetLastError();
}

cudaError_t launch(const struct histogram_task *task)
{
    return launch_with_bins(task, [=](const auto &slots) { return launch_slots(task, slots); });
}

} // namespace

const struct histogram_kernel histogram_kernel_shared = {"shared", takes, launch};
