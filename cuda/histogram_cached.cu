/*
 * Histogram kernel "cached": atomics on the global table, behind a cache of frequent bins.
 *
 * Atomics of many threads on one address wait for each other: 256Mi equal values take 197 ms where
 * uniform ones take 2.6. So, less, do those on one sector of 32 bytes. So every block samples its
 * tile, puts the bins of the sample into a small cache in shared memory, and counts there what it
 * finds there. The rest goes to the global table, and no bin has much more than a sample's share of
 * it: a sample of n misses a bin that has the share f of a tile with the probability (1 - f)^n, so
 * at most 1 / (e n) of the elements meet in one counter.
 *
 * The cache is direct-mapped. Two frequent bins that collide do so in few blocks alone, because
 * each block and tile has a hash function of its own, of a universal family (Dietzfelbinger,
 * Hagerup, Katajainen, Penttonen, "A Reliable Randomized Algorithm for the Closest-Pair Problem",
 * 1997).
 */
#include "cuda/histogram_slots.cuh"
#include "cuda/histogram_table.cuh"

namespace
{

constexpr unsigned BLOCK_THREADS = 1024;
constexpr unsigned THREAD_ELEMENTS = 8; /* 4 MiB of int32: a tile for each of 128 blocks */
/* Log-skewed, 5M and 256Mi bins: 1 9.9 and 19.8 ms, 2 7.7 and 16.2; uniform: no difference. */
constexpr unsigned THREAD_SAMPLES = 2;
constexpr uint32_t TILE_ELEMENTS = BLOCK_THREADS * THREAD_ELEMENTS;
constexpr unsigned CACHE_BITS = 12;
constexpr uint32_t CACHE_ENTRIES = 1u << CACHE_BITS;
/* Marks an empty entry. If there is such a bin, its hits are counted there, which is right. */
constexpr uint32_t CACHE_EMPTY = UINT32_MAX;

struct cache {
    uint32_t bins[CACHE_ENTRIES];
    uint32_t counts[CACHE_ENTRIES];
};

/* The tile's hash function; odd. */
__device__ __forceinline__ uint32_t hash_multiplier(uint32_t tile)
{
    uint32_t mixed = (tile + 1) * 0x9e3779b9u; /* Fibonacci hashing, then MurmurHash3's mixing */
    mixed = (mixed ^ mixed >> 16) * 0x85ebca6bu;
    return (mixed ^ mixed >> 13) | 1;
}

__device__ __forceinline__ uint32_t hash(uint32_t bin, uint32_t multiplier)
{
    return bin * multiplier >> (32 - CACHE_BITS);
}

/* Puts the bin of this thread's k-th sample into the cache. */
template <typename T, bool PLAIN>
__device__ __forceinline__ void sample(struct cache &cache, const slots_of_bins<T, PLAIN> &slots,
                                       const T *d_tile, uint32_t count, uint32_t k,
                                       uint32_t multiplier)
{
    const uint32_t place = (threadIdx.x + k * (THREAD_ELEMENTS / THREAD_SAMPLES)) % THREAD_ELEMENTS;
    const uint32_t sampled = threadIdx.x * THREAD_ELEMENTS + place;

    if (sampled < count) {
        uint32_t bin = slots.slot(d_tile[sampled]);
        atomicExch(&cache.bins[hash(bin, multiplier)], bin);
    }
}

/* Adds the counts of the cache to the global table, and clears it. */
__device__ __forceinline__ void flush(struct cache &cache,
                                      const struct histogram_counters &counters)
{
    for (uint32_t i = threadIdx.x; i < CACHE_ENTRIES; i += BLOCK_THREADS) {
        if (cache.counts[i] > 0)
            counters.add(cache.bins[i], cache.counts[i]);
        cache.bins[i] = CACHE_EMPTY;
        cache.counts[i] = 0;
    }
}

template <typename T, bool PLAIN>
__global__ void __launch_bounds__(BLOCK_THREADS)
    histogram_cached_kernel(const T *d_elements, struct element_count counted,
                            const __grid_constant__ slots_of_bins<T, PLAIN> slots,
                            struct histogram_counters counters)
{
    __shared__ struct cache cache;
    const uint32_t elements = read_count(counted);
    const uint32_t tiles = elements / TILE_ELEMENTS + (elements % TILE_ELEMENTS > 0);

    for (uint32_t i = threadIdx.x; i < CACHE_ENTRIES; i += BLOCK_THREADS) {
        cache.bins[i] = CACHE_EMPTY;
        cache.counts[i] = 0;
    }
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const T *d_tile = d_elements + (size_t)tile * TILE_ELEMENTS;
        const uint32_t count = min(elements - tile * TILE_ELEMENTS, TILE_ELEMENTS);
        const uint32_t multiplier = hash_multiplier(tile);
        __syncthreads(); /* the cache is empty */
#pragma unroll
        for (uint32_t k = 0; k < THREAD_SAMPLES; k++)
            sample(cache, slots, d_tile, count, k, multiplier);
        __syncthreads();
        for_each_element_of<2, READ_ONCE>(d_tile, count, 0, 1, false, [&](T loaded) {
            uint32_t bin = slots.slot(loaded);
            uint32_t entry = hash(bin, multiplier);
            if (cache.bins[entry] == bin)
                atomicAdd(&cache.counts[entry], 1u);
            else
                counters.add(bin, 1);
        });
        __syncthreads();
        flush(cache, counters);
    }
}

template <typename T, bool PLAIN>
cudaError_t launch(const struct histogram_task *task, const slots_of_bins<T, PLAIN> &slots)
{
    unsigned blocks = grid_size(task->device, task->elements->count, TILE_ELEMENTS);

    histogram_cached_kernel<<<blocks, BLOCK_THREADS, 0, task->stream>>>(
        (const T *)task->elements->d_data, count_of(task->elements), slots,
        histogram_counters(task));
    return cudaGetLastError();
}

bool takes(const struct histogram_task *)
{
    return true;
}

cudaError_t launch_task(const struct histogram_task *task)
{
    return launch_with_bins(task, [=](const auto &slots) { return launch(task, slots); });
}

} // namespace

const struct histogram_kernel histogram_kernel_cached = {"cached", takes, launch_task};
