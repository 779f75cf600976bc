/*
 * Counts any 64-bit keys in a hash table in device memory: open addressing, linear probing, slots
 * claimed by atomicCAS (D. Jünger et al., "WarpCore: A Library for Fast Hash Tables on GPUs", HiPC
 * 2020, describes such tables). No slot is ever freed, so a key has at most one slot.
 *
 * A slot is free while its word is 0. A key's word is the key XOR a secret seed; the one key whose
 * word is 0 has a counter of its own. All launches on all streams share the table: a slot's word
 * changes once, from 0, and counts are only added to.
 *
 * Frequent words are counted in shared memory first (sampled_cache.cuh).
 */
#include "aggregate/uniq_key.h"
#include "cuda/launch.cuh"
#include "cuda/sampled_cache.cuh"
#include "lib/table.h"

#include <cooperative_groups.h>
#include <type_traits>

namespace
{

constexpr unsigned ADD_THREADS = 256;

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

/* The outcome of adding a word. */
enum outcome {
    FOUND,
    CLAIMED, /* it has a new slot */
    LEFT,    /* it does not fit into the table */
};

/* Like struct cuda_uniq_table, but with the types that atomics need, and its device functions. */
struct slots {
    struct slot {
        unsigned long long word;
        unsigned long long count;
    } * d_slots;
    unsigned long long *d_used;
    unsigned long long *d_zeros;
    unsigned long long *d_zeros_added;
    uint64_t used_max;
    uint64_t probes_max;
    uint64_t multipliers[2];
    unsigned bits;

    explicit slots(const struct cuda_uniq_table *table)
        : d_slots((struct slot *)table->d_slots),
          d_used((unsigned long long *)&table->d_control->used),
          d_zeros((unsigned long long *)&table->d_control->zeros),
          d_zeros_added((unsigned long long *)&table->d_control->zeros_added),
          used_max(table->used_max),
          probes_max(table->probes_max), multipliers{table->seeds[1], table->seeds[2]},
          bits(table->bits)
    {
    }

    /* Returns the hash of the host's table (table.h). */
    __device__ __forceinline__ uint64_t hash(uint64_t word) const
    {
        uint64_t hash = word * multipliers[0];
        hash ^= hash >> 32;
        return hash * multipliers[1];
    }

    /*
     * Returns the first slot to search. Its upper bits are those of the hash, so that slots are in
     * the order of the partitions of the host's table. The other bits are not, because a hash table
     * that is filled in the order of its own hash forms long clusters.
     */
    __device__ __forceinline__ uint64_t first(uint64_t hash) const
    {
        const unsigned lower = bits - TABLE_PARTITION_BITS;
        return hash >> (64 - TABLE_PARTITION_BITS) << lower |
               (hash << TABLE_PARTITION_BITS) * multipliers[0] >> (64 - lower);
    }

    /* Returns whether slots may be claimed. Other blocks claim slots at the same time. */
    __device__ __forceinline__ bool has_capacity() const
    {
        return *(const volatile unsigned long long *)d_used < used_max;
    }

    /* Adds to the count of a word, which is not 0. */
    __device__ __forceinline__ enum outcome add(uint64_t word, uint64_t hash,
                                                unsigned long long count, bool may_claim) const
    {
        uint64_t i = first(hash);

        for (uint64_t probes = 0; probes < probes_max; probes++) {
            struct slot *d_slot = &d_slots[i];
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
            i = (i + 1) & (((uint64_t)1 << bits) - 1);
        }
        return LEFT;
    }
};

/* Like struct cuda_uniq_left, but with the types that atomics need. */
struct rest {
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
 * Adds to the count of a word, in the table or in the rest. Returns whether a slot was claimed. Not
 * inlined: kernels that unroll it would have too few registers.
 */
template <typename Count>
static __device__ __noinline__ bool put(const struct slots &slots, const struct rest &rest,
                                        uint64_t word, uint64_t hash, Count count, bool may_claim)
{
    if (word == 0) {
        atomicAdd(slots.d_zeros, (unsigned long long)count);
        atomicAdd(slots.d_zeros_added, 1ull);
        return false;
    }
    const enum outcome outcome = slots.add(word, hash, count, may_claim);
    if (outcome == LEFT)
        rest.append(word, count);
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

/* A Table of count_sampled. Count: the number of elements, or the sum of their weights. */
template <typename Count>
struct table_of_words {
    using key_type = unsigned long long;
    static constexpr key_type KEY_EMPTY = 0;
    const struct word_maker &maker;
    const struct slots &slots;
    const struct rest &rest;
    bool keeps_zeros; /* elements of weight 0 are counted */
    bool may_claim;   /* slots may be claimed in this tile */
    uint32_t claimed; /* number of slots claimed in this tile */

    template <typename T>
    __device__ __forceinline__ key_type key(T loaded) const
    {
        return maker.word(loaded);
    }

    __device__ __forceinline__ uint32_t hash(key_type word) const
    {
        return (uint32_t)(slots.hash(word) >> 32);
    }

    __device__ __forceinline__ void add(key_type word, Count count)
    {
        if (count > 0 || keeps_zeros)
            claimed += put(slots, rest, word, slots.hash(word), count, may_claim);
    }

    __device__ __forceinline__ void begin_tile()
    {
        may_claim = slots.has_capacity();
        claimed = 0;
    }

    __device__ __forceinline__ void end_tile() const
    {
        add_of_warp(slots.d_used, claimed);
    }
};

template <typename T>
__global__ void __launch_bounds__(SAMPLED_THREADS)
    uniq_count_kernel(struct cuda_elements elements,
                      const __grid_constant__ struct word_maker maker,
                      const __grid_constant__ struct slots slots,
                      const __grid_constant__ struct rest rest)
{
    count_sampled<T>(elements, table_of_words<uint32_t>{maker, slots, rest, true, false, 0});
}

template <typename T>
__global__ void __launch_bounds__(SAMPLED_THREADS)
    uniq_weigh_kernel(struct cuda_elements elements,
                      const __grid_constant__ struct word_maker maker,
                      const __grid_constant__ struct slots slots,
                      const __grid_constant__ struct rest rest, bool keeps_zeros)
{
    count_sampled<T, sampled_sum>(elements, table_of_words<uint64_t>{maker, slots, rest,
                                                                     keeps_zeros, false, 0});
}

/* Adds entries: a warp takes 32 at a time, and then adds the number of slots that it claimed. */
__global__ void __launch_bounds__(ADD_THREADS)
    uniq_add_kernel(struct slots::slot *d_entries, size_t entries,
                    const __grid_constant__ struct slots slots, unsigned long long *d_left)
{
    const size_t stride = (size_t)gridDim.x * ADD_THREADS;

    for (size_t first = (size_t)blockIdx.x * ADD_THREADS; first < entries; first += stride) {
        const size_t i = first + threadIdx.x;
        enum outcome outcome = FOUND;
        if (i < entries && d_entries[i].word != 0) {
            const struct slots::slot entry = d_entries[i];
            outcome =
                slots.add(entry.word, slots.hash(entry.word), entry.count, slots.has_capacity());
            if (outcome != LEFT)
                d_entries[i].word = 0;
        }
        add_of_warp(slots.d_used, outcome == CLAIMED);
        add_of_warp(d_left, outcome == LEFT);
    }
}

/* Moves counts of words in a window to an array. Only one thread reads and empties each slot. */
__global__ void __launch_bounds__(ADD_THREADS)
    uniq_spread_kernel(const __grid_constant__ struct slots slots, uint64_t mask, uint64_t first,
                       uint64_t bins, unsigned long long *d_counts, unsigned long long *d_left)
{
    const size_t entries = (size_t)1 << slots.bits;
    const size_t stride = (size_t)gridDim.x * ADD_THREADS;

    for (size_t begin = (size_t)blockIdx.x * ADD_THREADS; begin < entries; begin += stride) {
        const size_t i = begin + threadIdx.x;
        bool is_left = false;
        if (i < entries && slots.d_slots[i].word != 0) {
            const struct slots::slot entry = slots.d_slots[i];
            const uint64_t bin = (entry.word ^ mask) - first;
            is_left = entry.count == 0 || bin >= bins;
            if (!is_left) {
                d_counts[bin] = entry.count;
                slots.d_slots[i].word = 0;
            }
        }
        add_of_warp(d_left, is_left);
    }
}

} // namespace

cudaError_t cuda_uniq_count_launch(const struct cuda_device *device, const struct plan *plan,
                                   const struct cuda_elements *elements,
                                   const struct cuda_uniq_table *table,
                                   const struct cuda_uniq_left *left, cudaStream_t stream)
{
    const uint64_t sign_bias = plan->element.is_signed ? (uint64_t)1 << 63 : 0;
    const struct word_maker maker = {uniq_divisor_of(plan->bin_width), sign_bias ^ table->seeds[0],
                                     plan->element.is_signed, plan->element.swapped};
    const struct rest rest = {(struct slots::slot *)left->d_entries,
                              (unsigned long long *)left->d_count};

    return launch_by_width(&plan->element, [&](auto word) {
        using T = decltype(word);
        unsigned blocks = grid_size(device, elements->count, SAMPLED_TILE_ELEMENTS<T>);
        if (elements->d_weights)
            uniq_weigh_kernel<T><<<blocks, SAMPLED_THREADS, 0, stream>>>(*elements, maker,
                                                                         slots(table), rest,
                                                                         plan_keeps_zeros(plan));
        else
            uniq_count_kernel<T>
                <<<blocks, SAMPLED_THREADS, 0, stream>>>(*elements, maker, slots(table), rest);
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

cudaError_t cuda_uniq_spread_launch(const struct cuda_device *device,
                                    const struct cuda_uniq_table *table, uint64_t first,
                                    uint64_t bins, uint64_t *d_counts, uint64_t *d_left,
                                    cudaStream_t stream)
{
    unsigned blocks = grid_size(device, (size_t)1 << table->bits, ADD_THREADS);

    uniq_spread_kernel<<<4 * blocks, ADD_THREADS, 0, stream>>>(slots(table), table->seeds[0], first,
                                                               bins, (unsigned long long *)d_counts,
                                                               (unsigned long long *)d_left);
    return cudaGetLastError();
}
