/*
 * Counts in a table in device memory, with a cache of frequent keys in shared memory.
 *
 * Atomics of many threads on one address wait for each other: 256Mi equal values take 197 ms,
 * uniform values 2.6 ms. Atomics on one sector of 32 bytes wait less, but also. Therefore every
 * block samples its tile, puts the keys of the sample into a small cache in shared memory, and
 * counts them there. It counts other keys in the table, and no key is much more frequent among them
 * than one per sample: a sample of n misses a key with the share f of a tile with the probability
 * (1 - f)^n, so at most 1 / (e n) of the elements share one counter.
 *
 * The cache is direct-mapped. Two frequent keys collide only in few blocks, because each block and
 * tile has a hash function of its own, from a universal family (Dietzfelbinger,
 * Hagerup, Katajainen, Penttonen, "A Reliable Randomized Algorithm for the Closest-Pair Problem",
 * 1997).
 */
#ifndef GPUHIST_SAMPLED_CACHE_CUH
#define GPUHIST_SAMPLED_CACHE_CUH

#include "cuda/elements.cuh"

#include <type_traits>

constexpr unsigned SAMPLED_THREADS = 1024; /* per block */
/*
 * Number of samples per thread. ms for log-skewed values; for uniform values there is no
 * difference:
 *
 *   bins      1 sample  2 samples
 *   5M             9.9        7.7
 *   256Mi         19.8       16.2
 */
constexpr unsigned SAMPLED_THREAD_SAMPLES = 2;
/* Sums take twice the memory of counts, and a kernel's shared memory is 48 KiB. */
template <typename Counter>
constexpr unsigned SAMPLED_CACHE_BITS = sizeof(Counter) == sizeof(uint32_t) ? 12 : 11;
template <typename Counter>
constexpr uint32_t SAMPLED_CACHE_ENTRIES = 1u << SAMPLED_CACHE_BITS<Counter>;

/*
 * Number of elements per thread in a tile: at least 16 bytes. 4 MiB of 32-bit elements are a tile
 * for each of 128 blocks.
 */
template <typename T>
constexpr uint32_t SAMPLED_THREAD_ELEMENTS = sizeof(T) == 1 ? 16 : 8;

template <typename T>
constexpr uint32_t SAMPLED_TILE_ELEMENTS = SAMPLED_THREADS *SAMPLED_THREAD_ELEMENTS<T>;

/* A counter of elements in the cache. */
struct sampled_count {
    uint32_t count;

    __device__ __forceinline__ void add_element(uint64_t)
    {
        atomicAdd(&count, 1u);
    }

    __device__ __forceinline__ uint32_t sum() const
    {
        return count;
    }
};

/*
 * A sum of weights in the cache, modulo 2^64. Shared memory has no 64-bit addition, so each time
 * the lower word wraps, 1 more is added to the upper word.
 */
struct sampled_sum {
    uint32_t lower;
    uint32_t upper;

    __device__ __forceinline__ void add_element(uint64_t weight)
    {
        const uint32_t added = (uint32_t)weight;
        const uint32_t before = atomicAdd(&lower, added);
        const uint32_t carried = (uint32_t)(weight >> 32) + (added > UINT32_MAX - before);
        if (carried > 0)
            atomicAdd(&upper, carried);
    }

    __device__ __forceinline__ uint64_t sum() const
    {
        return (uint64_t)upper << 32 | lower;
    }
};

template <typename Key, typename Counter>
struct sampled_cache {
    Key keys[SAMPLED_CACHE_ENTRIES<Counter>];
    Counter counters[SAMPLED_CACHE_ENTRIES<Counter>];
};

/*
 * Counts the keys of the elements; with a sampled_sum, adds up their weights. All threads of all
 * blocks, of SAMPLED_THREADS each, call it. A Table has:
 * - KEY_EMPTY, which marks a free entry of the cache. Hits of that key are counted there, which is
 *   right;
 * - key(element), where the element is in memory order, and hash(key), whose lower bits are used;
 * - add(key, count), or the sum of some weights, which may be 0;
 * - begin_tile() and end_tile(), which all threads call.
 */
template <typename T, typename Counter = sampled_count, typename Table>
__device__ __forceinline__ void count_sampled(const struct cuda_elements &input, Table table)
{
    using key_type = typename Table::key_type;
    constexpr uint32_t thread_elements = SAMPLED_THREAD_ELEMENTS<T>;
    constexpr uint32_t tile_elements = SAMPLED_TILE_ELEMENTS<T>;
    constexpr uint32_t entries = SAMPLED_CACHE_ENTRIES<Counter>;
    __shared__ sampled_cache<key_type, Counter> cache;
    const uint32_t elements = count_elements(input);
    const uint32_t tiles = elements / tile_elements + (elements % tile_elements > 0);

    for (uint32_t i = threadIdx.x; i < entries; i += SAMPLED_THREADS) {
        cache.keys[i] = Table::KEY_EMPTY;
        cache.counters[i] = Counter();
    }
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const T *d_tile = (const T *)input.d_data + (size_t)tile * tile_elements;
        const uint32_t count = min(elements - tile * tile_elements, tile_elements);
        /* The tile's hash function; odd. Fibonacci hashing, then MurmurHash3's mixing. */
        uint32_t mixed = (tile + 1) * 0x9e3779b9u;
        mixed = (mixed ^ mixed >> 16) * 0x85ebca6bu;
        const uint32_t multiplier = (mixed ^ mixed >> 13) | 1;
        const auto entry_of = [&](key_type key) {
            return (uint32_t)table.hash(key) * multiplier >> (32 - SAMPLED_CACHE_BITS<Counter>);
        };

        table.begin_tile();
        __syncthreads(); /* the cache is empty */
#pragma unroll
        for (uint32_t k = 0; k < SAMPLED_THREAD_SAMPLES; k++) {
            const uint32_t step = thread_elements / SAMPLED_THREAD_SAMPLES;
            const uint32_t sampled =
                threadIdx.x * thread_elements + (threadIdx.x + k * step) % thread_elements;
            if (sampled < count) {
                const key_type key = table.key(d_tile[sampled]);
                atomicExch(&cache.keys[entry_of(key)], key);
            }
        }
        __syncthreads(); /* the cache's keys do not change until it is emptied */
        /* Without weights each is 1. Weights of 0 are added to the table, which may keep them. */
        const auto use = [&](T loaded, uint64_t weight) {
            const key_type key = table.key(loaded);
            const uint32_t entry = entry_of(key);
            if (weight > 0 && cache.keys[entry] == key)
                cache.counters[entry].add_element(weight);
            else
                table.add(key, weight);
        };
        if constexpr (std::is_same_v<Counter, sampled_sum>) {
            const uint64_t *d_weights = input.d_weights + (size_t)tile * tile_elements;
            for (uint32_t i = threadIdx.x; i < count; i += SAMPLED_THREADS)
                use(d_tile[i], d_weights[i]);
        } else {
            for_each_element_of<2, READ_ONCE>(d_tile, count, 0, 1, false,
                                              [&](T loaded) { use(loaded, 1); });
        }
        __syncthreads(); /* nothing more is counted in the cache */
        for (uint32_t i = threadIdx.x; i < entries; i += SAMPLED_THREADS) {
            if (cache.counters[i].sum() > 0)
                table.add(cache.keys[i], cache.counters[i].sum());
            cache.keys[i] = Table::KEY_EMPTY;
            cache.counters[i] = Counter();
        }
        table.end_tile();
    }
}

#endif
