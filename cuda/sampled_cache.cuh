/*
 * Counting in a table in device memory, with a cache of frequent keys in shared memory.
 *
 * Atomics of many threads on one address wait for each other: 256Mi equal values take 197 ms where
 * uniform ones take 2.6. So, less, do those on one sector of 32 bytes. So every block samples its
 * tile, puts the keys of the sample into a small cache in shared memory, and counts there what it
 * finds there. The rest goes to the table, and no key has much more than a sample's share of it: a
 * sample of n misses a key that has the share f of a tile with the probability (1 - f)^n, so at
 * most 1 / (e n) of the elements meet in one counter.
 *
 * The cache is direct-mapped. Two frequent keys that collide do so in few blocks alone, because
 * each block and tile has a hash function of its own, of a universal family (Dietzfelbinger,
 * Hagerup, Katajainen, Penttonen, "A Reliable Randomized Algorithm for the Closest-Pair Problem",
 * 1997).
 */
#ifndef GPUHIST_SAMPLED_CACHE_CUH
#define GPUHIST_SAMPLED_CACHE_CUH

#include "cuda/elements.cuh"

constexpr unsigned SAMPLED_THREADS = 1024; /* of a block */
/* Log-skewed, 5M and 256Mi bins: 1 9.9 and 19.8 ms, 2 7.7 and 16.2; uniform: no difference. */
constexpr unsigned SAMPLED_THREAD_SAMPLES = 2;
constexpr unsigned SAMPLED_CACHE_BITS = 12;
constexpr uint32_t SAMPLED_CACHE_ENTRIES = 1u << SAMPLED_CACHE_BITS;

/*
 * Elements of a thread in a tile: at least 16 bytes. 4 MiB of 32-bit elements are a tile for each
 * of 128 blocks.
 */
template <typename T>
constexpr uint32_t SAMPLED_THREAD_ELEMENTS = sizeof(T) == 1 ? 16 : 8;

template <typename T>
constexpr uint32_t SAMPLED_TILE_ELEMENTS = SAMPLED_THREADS *SAMPLED_THREAD_ELEMENTS<T>;

template <typename Key>
struct sampled_cache {
    Key keys[SAMPLED_CACHE_ENTRIES];
    uint32_t counts[SAMPLED_CACHE_ENTRIES];
};

/*
 * Counts the keys of the elements. All threads of all blocks, of SAMPLED_THREADS each, call it. A
 * Table has:
 * - KEY_EMPTY, which marks a free entry of the cache. Hits of that key are counted there, which is
 *   right;
 * - key(element), where the element is in memory order, and hash(key), of which the lower bits are
 *   used;
 * - add(key, count);
 * - begin_tile() and end_tile(), which all threads call.
 */
template <typename T, typename Table>
__device__ __forceinline__ void count_sampled(const struct cuda_elements &input, Table table)
{
    using key_type = typename Table::key_type;
    constexpr uint32_t thread_elements = SAMPLED_THREAD_ELEMENTS<T>;
    constexpr uint32_t tile_elements = SAMPLED_TILE_ELEMENTS<T>;
    __shared__ sampled_cache<key_type> cache;
    const uint32_t elements = count_elements(input);
    const uint32_t tiles = elements / tile_elements + (elements % tile_elements > 0);

    for (uint32_t i = threadIdx.x; i < SAMPLED_CACHE_ENTRIES; i += SAMPLED_THREADS) {
        cache.keys[i] = Table::KEY_EMPTY;
        cache.counts[i] = 0;
    }
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const T *d_tile = (const T *)input.d_data + (size_t)tile * tile_elements;
        const uint32_t count = min(elements - tile * tile_elements, tile_elements);
        /* The tile's hash function; odd. Fibonacci hashing, then MurmurHash3's mixing. */
        uint32_t mixed = (tile + 1) * 0x9e3779b9u;
        mixed = (mixed ^ mixed >> 16) * 0x85ebca6bu;
        const uint32_t multiplier = (mixed ^ mixed >> 13) | 1;
        const auto entry_of = [&](key_type key) {
            return (uint32_t)table.hash(key) * multiplier >> (32 - SAMPLED_CACHE_BITS);
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
        __syncthreads(); /* its keys do not change until it is emptied */
        for_each_element_of<2, READ_ONCE>(d_tile, count, 0, 1, false, [&](T loaded) {
            const key_type key = table.key(loaded);
            const uint32_t entry = entry_of(key);
            if (cache.keys[entry] == key)
                atomicAdd(&cache.counts[entry], 1u);
            else
                table.add(key, 1);
        });
        __syncthreads(); /* nothing more is counted in the cache */
        for (uint32_t i = threadIdx.x; i < SAMPLED_CACHE_ENTRIES; i += SAMPLED_THREADS) {
            if (cache.counts[i] > 0)
                table.add(cache.keys[i], cache.counts[i]);
            cache.keys[i] = Table::KEY_EMPTY;
            cache.counts[i] = 0;
        }
        table.end_tile();
    }
}

#endif
