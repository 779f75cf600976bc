/*
 * Count kernels: they count the elements in each of several intervals, or in a set.
 *
 * A thread keeps a counter for each interval in a register. A block sums its threads' counters, and
 * does one atomic addition for each interval. One comparison tells whether a value is in an
 * interval, (value - low) mod 2^bits <= last, for signed and unsigned types alike; therefore
 * kernels differ only by width. Sets are looked up in global memory, which L1 and L2 cache.
 *
 * The counters of a launch have 32 bits: it has fewer than 2^32 elements. Global ones have 64.
 */
#include "cuda/elements.cuh"
#include "cuda/launch.cuh"

namespace
{

constexpr unsigned BLOCK_THREADS = 1024;
constexpr unsigned WARP_THREADS = 32;
constexpr unsigned WARPS = BLOCK_THREADS / WARP_THREADS;
constexpr unsigned ALL_LANES = 0xffffffff;
constexpr int INTERVALS_MAX = 8; /* per launch, because of a thread's registers */

/* The intervals of a launch. A kernel counts the first N, and drops the counts from `used` on. */
template <typename T>
struct intervals {
    T low[INTERVALS_MAX];
    T last[INTERVALS_MAX];
    uint32_t predicate[INTERVALS_MAX]; /* the index of each interval's predicate */
    uint32_t used;
};

__device__ __forceinline__ uint32_t warp_sum(uint32_t sum)
{
#pragma unroll
    for (unsigned distance = WARP_THREADS / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(ALL_LANES, sum, distance);
    return sum;
}

/* Sums each hits[i] over the block, and calls add(i, sum) on one thread. All threads call it. */
template <int N, typename Add>
__device__ __forceinline__ void add_block_sums(const uint32_t (&hits)[N], Add add)
{
    __shared__ uint32_t sums[N][WARPS];
    const unsigned lane = threadIdx.x % WARP_THREADS;
    const unsigned warp = threadIdx.x / WARP_THREADS;

#pragma unroll
    for (int i = 0; i < N; i++) {
        uint32_t sum = warp_sum(hits[i]);
        if (lane == 0)
            sums[i][warp] = sum;
    }
    __syncthreads();
    if (warp >= N)
        return;
    uint32_t sum = warp_sum(sums[warp][lane]); /* warp i adds the sums of all warps for i */
    if (lane == 0)
        add(warp, sum);
}
static_assert(WARPS == WARP_THREADS, "a warp has a lane for the sum of each warp");

template <typename T, int N>
__global__ void __launch_bounds__(BLOCK_THREADS)
    count_intervals_kernel(struct cuda_elements elements, bool swapped,
                           const __grid_constant__ intervals<T> batch, unsigned long long *d_hits)
{
    uint32_t hits[N] = {};

    for_each_element<T>(elements, swapped, [&](T value) {
#pragma unroll
        for (int i = 0; i < N; i++)
            hits[i] += (T)(value - batch.low[i]) <= batch.last[i];
    });
    add_block_sums(hits, [&](unsigned i, uint32_t sum) {
        if (i < batch.used && sum > 0)
            atomicAdd(&d_hits[batch.predicate[i]], (unsigned long long)sum);
    });
}

template <typename T>
__global__ void __launch_bounds__(BLOCK_THREADS)
    count_set_kernel(struct cuda_elements elements, bool swapped,
                     const __grid_constant__ struct value_set set, unsigned long long *d_hits)
{
    uint32_t hits[1] = {};

    for_each_element<T>(elements, swapped, [&](T value) {
        hits[0] += value_set_contains(&set, set.form, (T)(value - (T)set.low));
    });
    add_block_sums(hits, [&](unsigned, uint32_t sum) {
        if (sum > 0)
            atomicAdd(d_hits, (unsigned long long)sum);
    });
}

template <typename T>
cudaError_t launch_intervals(const struct cuda_device *device, const struct plan *plan,
                             const struct cuda_elements *elements, uint64_t *d_hits,
                             cudaStream_t stream)
{
    const unsigned blocks = grid_size(device, elements->count, 4 * BLOCK_THREADS);
    intervals<T> batch = {};
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; error == cudaSuccess && i < plan->predicate_count; i++) {
        const struct predicate *predicate = &plan->predicates[i];
        if (predicate->form == PREDICATE_INTERVAL) {
            batch.low[batch.used] = (T)predicate->low;
            batch.last[batch.used] = (T)predicate->last;
            batch.predicate[batch.used++] = (uint32_t)i;
        }
        if (batch.used == INTERVALS_MAX || (batch.used > 0 && i == plan->predicate_count - 1)) {
            auto kernel = batch.used > 4   ? count_intervals_kernel<T, INTERVALS_MAX>
                          : batch.used > 1 ? count_intervals_kernel<T, 4>
                                           : count_intervals_kernel<T, 1>;
            kernel<<<blocks, BLOCK_THREADS, 0, stream>>>(*elements, plan->element.swapped, batch,
                                                         (unsigned long long *)d_hits);
            error = cudaGetLastError();
            batch.used = 0;
        }
    }
    return error;
}

} // namespace

cudaError_t cuda_count_intervals_launch(const struct cuda_device *device, const struct plan *plan,
                                        const struct cuda_elements *elements, uint64_t *d_hits,
                                        cudaStream_t stream)
{
    return launch_by_width(&plan->element, [=](auto word) {
        return launch_intervals<decltype(word)>(device, plan, elements, d_hits, stream);
    });
}

cudaError_t cuda_count_set_launch(const struct cuda_device *device, const struct plan *plan,
                                  const struct value_set *set, const struct cuda_elements *elements,
                                  uint64_t *d_hits, cudaStream_t stream)
{
    const unsigned blocks = grid_size(device, elements->count, 4 * BLOCK_THREADS);

    return launch_by_width(&plan->element, [=](auto word) {
        count_set_kernel<decltype(word)>
            <<<blocks, BLOCK_THREADS, 0, stream>>>(*elements, plan->element.swapped, *set,
                                                   (unsigned long long *)d_hits);
        return cudaGetLastError();
    });
}
