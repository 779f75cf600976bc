/*
 * Histogram kernel: a table in shared memory for a part of the slots.
 *
 * Where a table for all slots leaves no room for a second block on a multiprocessor, or does not
 * fit at all, neighbouring blocks read the same elements and each counts those in a *window* of the
 * slots. An element comes from memory once, and again from L2 for the other window: but only if
 * both blocks are about as far. Of values that fall into one window alone, its block has more to do
 * and falls behind, until both read from memory: 65,536 bins took 0.347 ms where the windows had
 * the same share of each warp's values and 0.475 where one had all. So the two are a cluster, whose
 * barrier they pass a step apart at most (PTX ISA, "barrier.cluster"; from sm_90 on). 16-bit
 * counters for all bins in one table would have to be watched for overflow by every thread, and are
 * slow where values repeat.
 *
 * 16-bit elements of many bins are counted by value, and binned at the end.
 */
#include "histogram_slots.cuh"

namespace
{

constexpr unsigned BLOCK_THREADS = 1024;
constexpr unsigned LOADS = 4; /* under way; there is one block a multiprocessor */
constexpr size_t WINDOWS_MAX = 2;

/* A block's threads are done with a step. */
__device__ __forceinline__ void arrive_at_step()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
#endif
}

/* Waits until all threads of the cluster have arrived. */
__device__ __forceinline__ void wait_for_step()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait;" ::: "memory");
#endif
}

template <enum element_reuse REUSE, typename T, typename Slots>
__global__ void __launch_bounds__(BLOCK_THREADS)
    histogram_windows_kernel(const T *d_elements, struct element_count count,
                             const __grid_constant__ Slots slots, uint32_t windows,
                             uint32_t window_slots, struct histogram_counters counters)
{
    extern __shared__ uint32_t table[]; /* [window_slots] */
    constexpr bool paces = REUSE == READ_AGAIN;
    const uint32_t first = blockIdx.x % windows * window_slots;
    const uint32_t parts = gridDim.x / windows;
    const size_t elements = read_count(count);
    const size_t step = (size_t)parts * BLOCK_THREADS * LOADS * element_vector<T>::width;

    for (uint32_t i = threadIdx.x; i < window_slots; i += blockDim.x)
        table[i] = 0;
    __syncthreads();
    for (size_t at = 0; at < elements; at += step) {
        uint32_t some = (uint32_t)(elements - at < step ? elements - at : step);
        for_each_element_of<LOADS, REUSE>(d_elements + at, some, blockIdx.x / windows, parts, false,
                                          [&](T loaded) {
                                              uint32_t i = slots.slot(loaded) - first;
                                              if (i < window_slots)
                                                  atomicAdd(&table[i], 1u);
                                          });
        if (paces && at > 0)
            wait_for_step();
        if (paces)
            arrive_at_step();
    }
    if (paces && elements > 0)
        wait_for_step();
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < window_slots; i += blockDim.x) {
        if (table[i] > 0)
            counters.add(slots.bin(first + i), table[i]);
    }
}

/* Launches so many blocks, each `windows` of which are a cluster where there are such. */
template <typename Kernel, typename... Arguments>
cudaError_t launch_clusters(const struct histogram_task *task, Kernel kernel, unsigned blocks,
                            unsigned windows, size_t bytes, Arguments... arguments)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute cluster = {};
    int has_clusters = 0;
    cudaError_t error =
        cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, task->device->id);

    if (error != cudaSuccess)
        return error;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = windows;
    cluster.val.clusterDim.y = 1;
    cluster.val.clusterDim.z = 1;
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(BLOCK_THREADS);
    config.dynamicSmemBytes = bytes;
    config.stream = task->stream;
    config.attrs = &cluster;
    config.numAttrs = has_clusters && windows > 1;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

size_t count_windows(const struct histogram_task *task, size_t slot_count)
{
    size_t room = (size_t)task->device->shared_bytes / sizeof(uint32_t);
    return (slot_count + room - 1) / room;
}

template <enum element_reuse REUSE, typename T, typename Slots>
cudaError_t launch_windows(const struct histogram_task *task, const Slots &slots, size_t slot_count,
                           unsigned windows)
{
    auto kernel = histogram_windows_kernel<REUSE, T, Slots>;
    size_t window_slots = (slot_count + windows - 1) / windows;
    size_t bytes = window_slots * sizeof(uint32_t);
    cudaError_t error = allow_shared_bytes(kernel, bytes);

    if (error != cudaSuccess)
        return error;
    /* A block zeroes and adds up a whole window: give it enough to count for that. */
    unsigned most = (unsigned)task->device->multiprocessors / windows;
    unsigned parts =
        grid_size(task->device, task->elements->count, window_slots + 4 * BLOCK_THREADS);
    parts = parts < most ? parts : most > 0 ? most : 1;
    return launch_clusters(task, kernel, parts * windows, windows, bytes,
                           (const T *)task->elements->d_data, count_of(task->elements), slots,
                           (uint32_t)windows, (uint32_t)window_slots, histogram_counters(task));
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

template <typename T>
cudaError_t launch(const struct histogram_task *task)
{
    size_t bin_slots = count_bin_slots(task->binning);

    if constexpr (sizeof(T) <= 2) {
        if (!counts_bins(task))
            return launch_slots<T, slots_of_values<T>>(task, count_value_slots(task->element));
    }
    if constexpr (sizeof(T) <= 4) {
        if (is_plain(task))
            return launch_slots<T, slots_of_bins<T, true>>(task, bin_slots);
    }
    return launch_slots<T, slots_of_bins<T, false>>(task, bin_slots);
}

bool takes(const struct histogram_task *task)
{
    size_t slot_count =
        counts_bins(task) ? count_bin_slots(task->binning) : count_value_slots(task->element);

    return task->element->bytes > 1 && count_windows(task, slot_count) <= WINDOWS_MAX;
}

cudaError_t launch_task(const struct histogram_task *task)
{
    switch (task->element->type) {
#define LAUNCH_CASE(id, name, ctype)     \
    case ELEMENT_##id:                   \
        if constexpr (sizeof(ctype) > 1) \
            return launch<ctype>(task);  \
        break;
        ELEMENT_TYPES(LAUNCH_CASE)
#undef LAUNCH_CASE
    case ELEMENT_TYPE_COUNT:
        break;
    }
    return cudaErrorInvalidValue;
}

} // namespace

const struct histogram_kernel histogram_kernel_windows = {"windows", takes, nullptr, launch_task};
