/*
 * Counts any 64-bit keys in a hash table in device memory: open addressing, linear probing, slots
 * claimed by atomicCAS (D. Jünger et al., "WarpCore: A Library for Fast Hash Tables on GPUs", HiPC
 * 2020, describes such tables). No slot is ever freed, so a key has one slot at most.
 *
 * A slot is free while its word is 0. A key's word is the key XOR a secret seed; the one key whose
 * word is 0 has a counter of its own. All launches on all streams share the table: a slot's word
 * changes once, from 0, and counts are only added to.
 *
 * Atomics of many threads on one address wait for each other. So each block samples its tile and
 * counts the words that it finds in the sample in shared memory, as histogram_cached.cu does, which
 * says why that bounds what is left for one slot.
 */
#include "count/uniq_key.h"
#include "cuda/elements.cuh"
#include "cuda/launch.cuh"
#include "table/table.h"

#include <cooperative_groups.h>
#include <type_traits>

namespace
{

constexpr unsigned BLOCK_THREADS = 1024;
constexpr unsigned THREAD_SAMPLES = 2;
constexpr unsigned CACHE_BITS = 12;
constexpr uint32_t CACHE_ENTRIES = 1u << CACHE_BITS;
constexpr unsigned ADD_THREADS = 256;

/* Elements of a thread in a tile: at least 16 bytes. */
template <typename T>
constexpr uint32_t THREAD_ELEMENTS = sizeof(T) == 1 ? 16 : 8;

template <typename T>
constexpr uint32_t TILE_ELEMENTS = BLOCK_THREADS *THREAD_ELEMENTS<T>;

/* A free entry has the word 0. Hits of that word are counted there, which is right. */
struct cache {
    uint64_t words[CACHE_ENTRIES];
    uint32_t counts[CACHE_ENTRIES];
};

/* Makes words of elements. */
struct word_maker {
    struct uniq_divisor divisor;
    uint64_t mask;
    bool is_signed;
    bool swapped;

    /* `loaded` is in memory order. */
    template <typename T>
    __device__ __forceinline__ uint64_t word(T loaded) const
    {
        const T native = swapped ? swap_bytes(loaded) : loaded;
        const int64_t value = (int64_t)(typename std::make_signed<T>::type)native;

        if (divisor.width == 1)
            return (is_signed ? (uint64_t)value : (uint64_t)native) ^ mask;
        return (is_signed ? uniq_divide_signed(&divisor, value) : uniq_divide(&divisor, native)) ^
               mask;
    }
};

/* What became of a word that was to be added. */
enum outcome {
    FOUND,
    CLAIMED, /* a slot for it */
    LEFT,    /* it does not fit into the table */
};

/* struct cuda_uniq_table, with the types that atomics take, and its functions on the device. */
struct slots {
    struct slot {
        unsigned long long word;
        unsigned long long count;
    } * d_slots;
    unsigned long long *d_used;
    unsigned long long *d_zeros;
    uint64_t used_max;
    uint64_t probes_max;
    uint64_t multipliers[2];
    unsigned bits;

    explicit slots(const struct cuda_uniq_table *table)
        : d_slots((struct slot *)table->d_slots),
          d_used((unsigned long long *)&table->d_control->used),
          d_zeros((unsigned long long *)&table->d_control->zeros), used_max(table->used_max),
          probes_max(table->probes_max), multipliers{table->seeds[1], table->seeds[2]},
          bits(table->bits)
    {
    }

    /* The hash of the host's table (table.h). */
    __device__ __forceinline__ uint64_t hash(uint64_t word) const
    {
        uint64_t hash = word * multipliers[0];
        hash ^= hash >> 32;
        return hash * multipliers[1];
    }

    /*
     * The upper bits are those of the hash, so that slots are in the order of the partitions of the
     * host's table. The others are not: a hash table that is filled in the order of its own hash
     * gets long clusters.
     */
    __device__ __forceinline__ uint64_t first(uint64_t hash) const
    {
        const unsigned lower = bits - TABLE_PARTITION_BITS;
        return hash >> (64 - TABLE_PARTITION_BITS) << lower |
               (hash << TABLE_PARTITION_BITS) * multipliers[0] >> (64 - lower);
    }

    /* Whether slots may be claimed. Other blocks claim some meanwhile. */
    __device__ __forceinline__ bool has_room() const
    {
        return *(const volatile unsigned long long *)d_used < used_max;
    }

    /* Adds to the count of a word, which is not 0. */
    __device__ __forceinline__ enum outcome add(uint64_t word, uint64_t hash,
                                                unsigned long long count, bool may_claim) const
    {
        uint64_t place = first(hash);

        for (uint64_t probes = 0; probes < probes_max; probes++) {
            struct slot *d_slot = &d_slots[place];
            uint64_t found = *(const volatile unsigned long long *)&d_slot->word;
            bool is_new = false;
            if (found == 0) {
                if (!may_claim)
                    return LEFT;
                found = atomicCAS(&d_slot->word, 0ull, (unsigned long long)word);
                is_new = found == 0;
            }
            if (is_new || found == word) {
                atomicAdd(&d_slot->count, count);
                return is_new ? CLAIMED : FOUND;
            }
            place = (place + 1) & (((uint64_t)1 << bits) - 1);
        }
        return LEFT;
    }
};

/* struct cuda_uniq_left, with the types that atomics take. */
struct leavings {
    struct slots::slot *d_entries;
    unsigned long long *d_count;

    /* Threads that call it at the same time need one atomic. */
    __device__ __forceinline__ void append(uint64_t word, unsigned long long count) const
    {
        const auto group = cooperative_groups::coalesced_threads();
        unsigned long long first = 0;

        if (group.thread_rank() == 0)
            first = atomicAdd(d_count, (unsigned long long)group.size());
        d_entries[group.shfl(first, 0) + group.thread_rank()] = {word, count};
    }
};

/*
 * Adds to the count of a word, in the table or beside it. Returns whether a slot was claimed. It is
 * called and not inlined: kernels that unroll it would have too few registers.
 */
static __device__ __noinline__ bool put(const struct slots &slots, const struct leavings &leavings,
                                        uint64_t word, uint64_t hash, uint32_t count,
                                        bool may_claim)
{
    if (word == 0) {
        atomicAdd(slots.d_zeros, (unsigned long long)count);
        return false;
    }
    const enum outcome outcome = slots.add(word, hash, count, may_claim);
    if (outcome == LEFT)
        leavings.append(word, count);
    return outcome == CLAIMED;
}

/* Adds the numbers of a warp's threads to *d_sum. All threads of the warp call it. */
__device__ __forceinline__ void add_of_warp(unsigned long long *d_sum, uint32_t number)
{
    for (int distance = 16; distance > 0; distance /= 2)
        number += __shfl_down_sync(~0u, number, distance);
    if (threadIdx.x % 32 == 0 && number > 0)
        atomicAdd(d_sum, (unsigned long long)number);
}

/* The tile's hash function for the cache; odd. As in histogram_cached.cu. */
__device__ __forceinline__ uint32_t cache_multiplier(uint32_t tile)
{
    uint32_t mixed = (tile + 1) * 0x9e3779b9u;
    mixed = (mixed ^ mixed >> 16) * 0x85ebca6bu;
    return (mixed ^ mixed >> 13) | 1;
}

__device__ __forceinline__ uint32_t cache_entry(uint64_t hash, uint32_t multiplier)
{
    return (uint32_t)(hash >> 32) * multiplier >> (32 - CACHE_BITS);
}

/* Puts the words of this thread's samples into the cache. */
template <typename T>
__device__ __forceinline__ void sample(struct cache &cache, const struct slots &slots,
                                       const struct word_maker &maker, const T *d_tile,
                                       uint32_t count, uint32_t multiplier)
{
#pragma unroll
    for (uint32_t k = 0; k < THREAD_SAMPLES; k++) {
        const uint32_t step = THREAD_ELEMENTS<T> / THREAD_SAMPLES;
        const uint32_t place = (threadIdx.x + k * step) % THREAD_ELEMENTS<T>;
        const uint32_t sampled = threadIdx.x * THREAD_ELEMENTS<T> + place;
        if (sampled < count) {
            const uint64_t word = maker.word(d_tile[sampled]);
            const uint32_t entry = cache_entry(slots.hash(word), multiplier);
            atomicExch((unsigned long long *)&cache.words[entry], (unsigned long long)word);
        }
    }
}

__device__ __forceinline__ void clear(struct cache &cache, uint32_t entry)
{
    cache.words[entry] = 0;
    cache.counts[entry] = 0;
}

/* Adds the counts of the cache to the table, and clears it. Returns the slots claimed. */
__device__ __forceinline__ uint32_t flush(struct cache &cache, const struct slots &slots,
                                          const struct leavings &leavings, bool may_claim)
{
    uint32_t claimed = 0;

    for (uint32_t i = threadIdx.x; i < CACHE_ENTRIES; i += BLOCK_THREADS) {
        const uint64_t word = cache.words[i];
        if (cache.counts[i] > 0)
            claimed += put(slots, leavings, word, slots.hash(word), cache.counts[i], may_claim);
        clear(cache, i);
    }
    return claimed;
}

template <typename T>
__global__ void __launch_bounds__(BLOCK_THREADS)
    uniq_count_kernel(const T *d_elements, struct element_count counted,
                      const __grid_constant__ struct word_maker maker,
                      const __grid_constant__ struct slots slots,
                      const __grid_constant__ struct leavings leavings)
{
    __shared__ struct cache cache;
    const uint32_t elements = read_count(counted);
    const uint32_t tiles = elements / TILE_ELEMENTS<T> + (elements % TILE_ELEMENTS<T> > 0);

    for (uint32_t i = threadIdx.x; i < CACHE_ENTRIES; i += BLOCK_THREADS)
        clear(cache, i);
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const T *d_tile = d_elements + (size_t)tile * TILE_ELEMENTS<T>;
        const uint32_t count = min(elements - tile * TILE_ELEMENTS<T>, TILE_ELEMENTS<T>);
        const uint32_t multiplier = cache_multiplier(tile);
        const bool may_claim = slots.has_room();
        uint32_t claimed = 0;
        __syncthreads(); /* the cache is empty */
        sample(cache, slots, maker, d_tile, count, multiplier);
        __syncthreads(); /* its words do not change until the flush */
        for_each_element_of<2, READ_ONCE>(d_tile, count, 0, 1, false, [&](T loaded) {
            const uint64_t word = maker.word(loaded);
            const uint64_t hash = slots.hash(word);
            const uint32_t entry = cache_entry(hash, multiplier);
            if (cache.words[entry] == word)
                atomicAdd(&cache.counts[entry], 1u);
            else
                claimed += put(slots, leavings, word, hash, 1, may_claim);
        });
        __syncthreads(); /* nothing more is counted in the cache */
        claimed += flush(cache, slots, leavings, may_claim);
        add_of_warp(slots.d_used, claimed);
    }
}

/* A warp takes 32 entries at a time, and then says how many slots it claimed. */
__global__ void __launch_bounds__(ADD_THREADS)
    uniq_add_kernel(struct slots::slot *d_entries, size_t entries,
                    const __grid_constant__ struct slots slots, unsigned long long *d_left)
{
    const size_t stride = (size_t)gridDim.x * ADD_THREADS;

    for (size_t first = (size_t)blockIdx.x * ADD_THREADS; first < entries; first += stride) {
        const size_t i = first + threadIdx.x;
        enum outcome outcome = FOUND;
        if (i < entries && d_entries[i].count > 0) {
            const struct slots::slot entry = d_entries[i];
            outcome = slots.add(entry.word, slots.hash(entry.word), entry.count, slots.has_room());
            if (outcome != LEFT)
                d_entries[i].count = 0;
        }
        add_of_warp(slots.d_used, outcome == CLAIMED);
        add_of_warp(d_left, outcome == LEFT);
    }
}

} // namespace

cudaError_t cuda_uniq_count_launch(const struct cuda_device *device, const struct job *job,
                                   const struct cuda_elements *elements,
                                   const struct cuda_uniq_table *table,
                                   const struct cuda_uniq_left *left, cudaStream_t stream)
{
    const uint64_t flip = job->element.is_signed ? (uint64_t)1 << 63 : 0;
    const struct word_maker maker = {uniq_divisor_of(job->bin_width), flip ^ table->seeds[0],
                                     job->element.is_signed, job->element.swapped};
    const struct leavings leavings = {(struct slots::slot *)left->d_entries,
                                      (unsigned long long *)left->d_count};

    return launch_by_width(&job->element, [&](auto word) {
        using T = decltype(word);
        unsigned blocks = grid_size(device, elements->count, TILE_ELEMENTS<T>);
        uniq_count_kernel<<<blocks, BLOCK_THREADS, 0, stream>>>((const T *)elements->d_data,
                                                                count_of(elements), maker,
                                                                slots(table), leavings);
        return cudaGetLastError();
    });
}

cudaError_t cuda_uniq_add_launch(const struct cuda_device *device, struct table_entry *d_entries,
                                 size_t entries, const struct cuda_uniq_table *table,
                                 uint64_t *d_left, cudaStream_t stream)
{
    unsigned blocks = grid_size(device, entries, ADD_THREADS);

    uniq_add_kernel<<<4 * blocks, ADD_THREADS, 0, stream>>>((struct slots::slot *)d_entries,
                                                            entries, slots(table),
                                                            (unsigned long long *)d_left);
    return cudaGetLastError();
}
