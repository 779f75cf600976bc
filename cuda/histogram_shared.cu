/*
 * Histogram kernel "shared": every block counts in a table of its own in shared memory, and adds it
 * to the global table at the end.
 *
 * A slot has several counters side by side, copies, which neighbouring threads use in turn. So
 * threads with equal values rarely meet; with a copy for each lane of a warp, no two lanes ever
 * meet in a bank. With 8 copies, 256 bins are counted at the speed of a copy in device memory,
 * whatever the values; with 2, half as fast.
 *
 * Elements of 8 bits come 16 to a load, which leaves no time to bin each. They are counted by
 * value, a copy for each lane, and binned at the end.
 *
 * Shared counters have 32 bits: a launch has fewer than 2^32 elements.
 */
#include "cuda/histogram_slots.cuh"
#include "cuda/histogram_table.cuh"

namespace
{

constexpr unsigned BLOCK_THREADS = 1024;
constexpr unsigned BLOCKS = 2; /* on a multiprocessor */
constexpr unsigned VALUE_COPIES = 32;
constexpr unsigned BIN_COPIES = 8; /* if they fit */
/* Shared memory of a block, so that BLOCKS fit. */
constexpr size_t TABLE_BYTES_MAX = 112 << 10;

template <unsigned COPIES, typename Slots>
__global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS)
    histogram_shared_kernel(const typename Slots::element_type *d_elements,
                            struct element_count count, const __grid_constant__ Slots slots,
                            uint32_t slot_count, struct histogram_counters counters)
{
    using T = typename Slots::element_type;
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
        for (uint32_t i = 0; i < COPIES; i++) /* each thread begins at a bank of its own */
            sum += table[slot * COPIES + (i + threadIdx.x) % COPIES];
        if (sum > 0)
            counters.add(slots.bin(slot), sum);
    }
}

template <unsigned COPIES, typename Slots>
cudaError_t launch_copies(const struct histogram_task *task, const Slots &slots, size_t slot_count)
{
    auto kernel = histogram_shared_kernel<COPIES, Slots>;
    size_t bytes = slot_count * COPIES * sizeof(uint32_t);
    cudaError_t error = allow_shared_bytes(kernel, bytes);

    if (error != cudaSuccess)
        return error;
    /* A block clears and adds up a whole table: give it enough elements to make that cheap. */
    unsigned blocks =
        grid_size(task->device, task->elements->count, 4 * slot_count + 4 * BLOCK_THREADS);
    kernel<<<blocks, BLOCK_THREADS, bytes, task->stream>>>(
        (const typename Slots::element_type *)task->elements->d_data, count_of(task->elements),
        slots, (uint32_t)slot_count, histogram_counters(task));
    return cudaGetLastError();
}

/* What tables of a block may take, in bytes. */
size_t table_bytes_max(const struct histogram_task *task)
{
    size_t most = (size_t)task->device->shared_bytes;
    return most < TABLE_BYTES_MAX ? most : TABLE_BYTES_MAX;
}

bool takes(const struct histogram_task *task)
{
    return task->element->bytes == 1 ||
           count_bin_slots(task->binning) * sizeof(uint32_t) <= table_bytes_max(task);
}

template <typename T, bool PLAIN>
cudaError_t launch_bins(const struct histogram_task *task, const slots_of_bins<T, PLAIN> &slots)
{
    size_t slot_count = count_bin_slots(task->binning);

    if (slot_count * BIN_COPIES * sizeof(uint32_t) <= table_bytes_max(task))
        return launch_copies<BIN_COPIES>(task, slots, slot_count);
    return launch_copies<1>(task, slots, slot_count);
}

cudaError_t launch_bins(const struct histogram_task *task, const slots_of_bins<uint8_t, false> &)
{
    return launch_copies<VALUE_COPIES>(task, slots_of_values<uint8_t>(task),
                                       count_value_slots(task->element));
}

cudaError_t launch(const struct histogram_task *task)
{
    return launch_with_bins(task, [=](const auto &slots) { return launch_bins(task, slots); });
}

} // namespace

const struct histogram_kernel histogram_kernel_shared = {"shared", takes, launch};
