/*
 * Stalin-sort kernel: one pass.
 *
 * Values are compared as *ranks*: unsigned numbers that ascend in the order wanted. What survives
 * before a tile matters only by its greatest rank, and by how many they are. Blocks take tiles in
 * order, keep them in registers, and publish two words for each: its greatest rank, then its number
 * of survivors. Each block folds what the tiles since its own last fold have published; it looks
 * forward from there instead of back to a sum that another one has made, so that no tile waits for
 * a chain of others (as in the "look-ahead" scan of NVIDIA's CCCL, cub/detail/warpspeed).
 *
 * What a block has folded once is a lower bound of what is before all its later tiles. Most tiles
 * of random values do not pass it: nothing survives, and they publish that without a wait. So
 * random values are read once and sorted ones are read and written once.
 *
 * A block waits only for tiles before its own, which are taken: the first of those that are not
 * done never waits. If the purged are wanted, no tile is passed over.
 */
#include "elements.cuh"
#include "kernels.h"

#include <cub/block/block_scan.cuh>
#include <type_traits>

namespace
{

constexpr unsigned BLOCK_THREADS = 256;
constexpr unsigned BLOCKS = 4;         /* on a multiprocessor */
constexpr unsigned THREAD_BYTES = 128; /* of a tile */
constexpr unsigned THREAD_VECTORS = THREAD_BYTES / sizeof(uint4);
constexpr unsigned TILE_BYTES = BLOCK_THREADS * THREAD_BYTES;
constexpr unsigned WARPS = BLOCK_THREADS / 32;
constexpr unsigned FOLDS = 4; /* words that a thread asks for at once */

/* Rows of a thread's elements are a vector apart, so that neighbours do not meet in a bank. */
constexpr unsigned ROW_VECTORS = THREAD_VECTORS + 1;

constexpr unsigned MAXIMUM_WORDS = 2; /* a tile's; of ranks of 32 bits one is used */
constexpr uint64_t MAXIMUM_THERE = 1ull << 32;
constexpr uint32_t COUNT_THERE = 1u << 31;

/* The head of the control memory; zeros before the kernel, as are the words. */
struct control {
    unsigned long long kept; /* survivors in all */
    unsigned next;           /* the tile that is taken next */
    unsigned padding[13];
};
static_assert(sizeof(struct control) == 64, "the words behind it are aligned");

/* The control memory of a chunk, as the kernel takes it. */
struct workspace {
    struct control *head;
    uint64_t *maxima; /* [tiles][MAXIMUM_WORDS], 32 bits of a rank each, and MAXIMUM_THERE */
    uint32_t *counts; /* [tiles], and COUNT_THERE */
};

/* How elements compare, and the floor to start from. */
struct rules {
    uint64_t flip; /* of a value's bits, to make its rank */
    uint64_t floor;
    bool has_floor;
    bool strict;
    bool swapped;
};

/* Ranks of narrow types are words, too. */
template <typename T>
using rank_type = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

__host__ __device__ constexpr uint32_t count_tiles(size_t elements_bytes)
{
    return (uint32_t)((elements_bytes + TILE_BYTES - 1) / TILE_BYTES);
}

struct maximum {
    template <typename U>
    __device__ U operator()(U a, U b) const
    {
        return a > b ? a : b;
    }
};

struct sum {
    template <typename U>
    __device__ U operator()(U a, U b) const
    {
        return a + b;
    }
};

template <typename R>
__device__ __forceinline__ bool passes(const struct rules &rules, R rank, R last)
{
    return rules.strict ? rank > last : rank >= last;
}

template <typename T>
__device__ __forceinline__ rank_type<T> rank_of(const struct rules &rules, T value)
{
    using U = std::make_unsigned_t<T>;
    return (U)((U)(rules.swapped ? swap_bytes(value) : value) ^ (U)rules.flip);
}

/*
 * The operation over all threads' values, for all. All call it, and `partials`, WARPS of them in
 * shared memory, may be used again only when all have returned.
 */
template <typename U, typename Operation>
__device__ __forceinline__ U reduce_block(U value, Operation operation, U *partials)
{
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2)
        value = operation(value, __shfl_xor_sync(~0u, value, offset));
    if (threadIdx.x % 32 == 0)
        partials[threadIdx.x / 32] = value;
    __syncthreads();
    value = partials[0];
#pragma unroll
    for (unsigned i = 1; i < WARPS; i++)
        value = operation(value, partials[i]);
    return value;
}

template <typename R>
__device__ __forceinline__ void publish_maximum(const struct workspace &work, uint32_t tile, R rank)
{
    volatile uint64_t *words = work.maxima + tile * MAXIMUM_WORDS;

    words[0] = MAXIMUM_THERE | (uint32_t)rank;
    if constexpr (sizeof(R) == 8)
        words[1] = MAXIMUM_THERE | rank >> 32;
}

/* Whether it is there; then `rank` is it. */
template <typename R>
__device__ __forceinline__ bool read_maximum(const struct workspace &work, uint32_t tile, R &rank)
{
    const volatile uint64_t *words = work.maxima + tile * MAXIMUM_WORDS;
    uint64_t low = words[0];
    uint64_t high = sizeof(R) == 8 ? words[1] : MAXIMUM_THERE;

    rank = (R)((high - MAXIMUM_THERE) << 32 | (uint32_t)low);
    return low >= MAXIMUM_THERE && high >= MAXIMUM_THERE;
}

__device__ __forceinline__ void publish_count(const struct workspace &work, uint32_t tile,
                                              uint32_t count)
{
    ((volatile uint32_t *)work.counts)[tile] = COUNT_THERE | count;
}

__device__ __forceinline__ bool read_count_of(const struct workspace &work, uint32_t tile,
                                              uint32_t &count)
{
    uint32_t word = ((const volatile uint32_t *)work.counts)[tile];

    count = word & ~COUNT_THERE;
    return word >= COUNT_THERE;
}

/*
 * This thread's share of the operation over what tiles first .. last - 1 have published: what
 * read(tile, value) finds as soon as it returns true.
 */
template <typename U, typename Operation, typename Read>
__device__ __forceinline__ U fold(uint32_t first, uint32_t last, Operation operation, Read read)
{
    U folded = 0;

    for (uint32_t tile = first + threadIdx.x; tile < last; tile += FOLDS * BLOCK_THREADS) {
        U values[FOLDS];
        bool complete;
        do {
            complete = true;
#pragma unroll
            for (uint32_t i = 0; i < FOLDS; i++) {
                values[i] = 0;
                if (tile + i * BLOCK_THREADS < last)
                    complete &= read(tile + i * BLOCK_THREADS, values[i]);
            }
        } while (!complete);
#pragma unroll
        for (uint32_t i = 0; i < FOLDS; i++)
            folded = operation(folded, values[i]);
    }
    return folded;
}

/*
 * This thread's elements of a tile: as they are loaded every BLOCK_THREADS-th vector, after
 * `gather` consecutive ones.
 */
template <typename T>
struct share {
    static constexpr uint32_t width = sizeof(uint4) / sizeof(T);
    static constexpr uint32_t size = THREAD_BYTES / sizeof(T);
    union {
        uint4 vectors[THREAD_VECTORS];
        T values[size];
    };

    /* Returns the greatest rank; 0 for no elements. */
    __device__ __forceinline__ rank_type<T> load(const T *d_tile, uint32_t tile_count,
                                                 const struct rules &rules)
    {
        rank_type<T> best = 0;
        if (tile_count == TILE_BYTES / sizeof(T)) {
#pragma unroll
            for (uint32_t k = 0; k < THREAD_VECTORS; k++)
                vectors[k] = __ldcs((const uint4 *)d_tile + k * BLOCK_THREADS + threadIdx.x);
#pragma unroll
            for (uint32_t i = 0; i < size; i++)
                best = maximum()(best, rank_of(rules, values[i]));
        } else {
#pragma unroll
            for (uint32_t i = 0; i < size; i++) {
                uint32_t place = (i / width * BLOCK_THREADS + threadIdx.x) * width + i % width;
                values[i] = place < tile_count ? d_tile[place] : 0;
                if (place < tile_count)
                    best = maximum()(best, rank_of(rules, values[i]));
            }
        }
        return best;
    }

    /* All threads call it; `rows`, [BLOCK_THREADS][ROW_VECTORS], are free once all returned. */
    __device__ __forceinline__ void gather(uint4 *rows)
    {
#pragma unroll
        for (uint32_t k = 0; k < THREAD_VECTORS; k++) {
            uint32_t vector = k * BLOCK_THREADS + threadIdx.x;
            rows[vector + vector / THREAD_VECTORS] = vectors[k];
        }
        __syncthreads();
#pragma unroll
        for (uint32_t k = 0; k < THREAD_VECTORS; k++)
            vectors[k] = rows[threadIdx.x * ROW_VECTORS + k];
    }
};

/* Where an element is staged: a bank further after each thread's worth of them. */
template <typename T>
__device__ __forceinline__ uint32_t staged_place(uint32_t place)
{
    constexpr uint32_t spare = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
    return place + place / share<T>::size * spare;
}

/* A bit for each of a thread's elements. */
template <uint32_t SIZE>
struct flags {
    uint32_t words[(SIZE + 31) / 32];

    __device__ __forceinline__ bool has(uint32_t i) const
    {
        return words[i / 32] >> i % 32 & 1;
    }

    __device__ __forceinline__ void set(uint32_t i, bool on)
    {
        words[i / 32] |= (uint32_t)on << i % 32;
    }

    __device__ __forceinline__ uint32_t count() const
    {
        uint32_t total = 0;
#pragma unroll
        for (uint32_t word : words)
            total += (uint32_t)__popc(word);
        return total;
    }
};

/* The shared memory of a block. */
template <typename T>
struct shared_memory {
    using R = rank_type<T>;
    using Maxima = cub::BlockScan<R, BLOCK_THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    using Sums = cub::BlockScan<uint32_t, BLOCK_THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    union {
        uint4 rows[BLOCK_THREADS * ROW_VECTORS];
        T staged[BLOCK_THREADS * ROW_VECTORS * sizeof(uint4) / sizeof(T)];
    };
    typename Maxima::TempStorage maxima;
    typename Sums::TempStorage sums;
    R tile_ranks[WARPS];
    R ranks[WARPS];
    uint64_t counts[WARPS];
    uint32_t tile;
};

/* What a block has folded: all tiles before these. */
template <typename R>
struct known {
    R rank;
    uint32_t ranked;
    uint32_t counted;
    uint64_t count;
};

/* Which of a thread's elements survive, if `last` is the greatest rank before them. */
template <typename T>
__device__ __forceinline__ flags<share<T>::size> mark_kept(const share<T> &own, uint32_t own_count,
                                                           uint32_t tile, const struct rules &rules,
                                                           rank_type<T> last)
{
    flags<share<T>::size> keeps = {};

#pragma unroll
    for (uint32_t i = 0; i < share<T>::size; i++) {
        rank_type<T> rank = rank_of(rules, own.values[i]);
        bool starts = !rules.has_floor && tile == 0 && threadIdx.x == 0 && i == 0;
        bool is_kept = i < own_count && (starts || passes(rules, rank, last));
        last = is_kept ? rank : last;
        keeps.set(i, is_kept);
    }
    return keeps;
}

/*
 * Stages the survivors of a tile whose elements and their greatest rank are given, and behind them
 * the others if PURGED, and publishes how many survive, which it returns. `before` is updated with
 * the ranks of all tiles before this one.
 */
template <bool PURGED, typename T>
__device__ __forceinline__ uint32_t keep(share<T> &own, uint32_t tile, uint32_t count,
                                         const struct rules &rules, const struct workspace &work,
                                         struct known<rank_type<T>> &before,
                                         struct shared_memory<T> &shared)
{
    using R = rank_type<T>;
    constexpr uint32_t size = share<T>::size;
    const uint32_t first = threadIdx.x * size;
    const uint32_t own_count = count > first ? min(count - first, size) : 0;
    R greatest = 0, last;

    own.gather(shared.rows);
#pragma unroll
    for (uint32_t i = 0; i < size; i++) {
        if (i < own_count)
            greatest = maximum()(greatest, rank_of(rules, own.values[i]));
    }
    typename shared_memory<T>::Maxima(shared.maxima).ExclusiveScan(greatest, last, (R)0, maximum());
    R folded = fold<R>(before.ranked, tile, maximum(),
                       [&](uint32_t i, R &rank) { return read_maximum(work, i, rank); });
    before.rank = maximum()(before.rank, reduce_block(folded, maximum(), shared.ranks));
    before.ranked = tile;
    last = maximum()(last, before.rank);

    const auto keeps = mark_kept(own, own_count, tile, rules, last);
    uint32_t place, kept;
    typename shared_memory<T>::Sums(shared.sums).ExclusiveSum(keeps.count(), place, kept);
    if (threadIdx.x == 0) {
        publish_count(work, tile, kept);
        atomicAdd(&work.head->kept, (unsigned long long)kept);
    }
    uint32_t other = kept + first - place;
#pragma unroll
    for (uint32_t i = 0; i < size; i++) {
        if (keeps.has(i))
            shared.staged[staged_place<T>(place++)] = own.values[i];
        else if (PURGED && i < own_count)
            shared.staged[staged_place<T>(other++)] = own.values[i];
    }
    return kept;
}

/* Updates `before` with the survivors of all tiles before this one. All threads call it, and wait.
 */
template <typename R>
__device__ __forceinline__ void fold_counts(const struct workspace &work, uint32_t tile,
                                            known<R> &before, uint64_t *partials)
{
    uint64_t folded = fold<uint32_t>(before.counted, tile, sum(), [&](uint32_t i, uint32_t &value) {
        return read_count_of(work, i, value);
    });

    before.count += reduce_block(folded, sum(), partials);
    before.counted = tile;
}

template <typename T, bool PURGED>
__global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS)
    stalin_sort_kernel(const T *d_elements, struct element_count counted, struct rules rules,
                       struct workspace work, T *d_kept, T *d_purged)
{
    using R = rank_type<T>;
    constexpr uint32_t tile_elements = TILE_BYTES / sizeof(T);
    __shared__ struct shared_memory<T> shared;
    const uint32_t elements = read_count(counted);
    const uint32_t tiles = count_tiles(elements * sizeof(T));
    known<R> before = {rules.has_floor ? (R)rules.floor : 0, 0, 0, 0};

    if (threadIdx.x == 0)
        shared.tile = atomicAdd(&work.head->next, 1u);
    __syncthreads();
    for (uint32_t tile = shared.tile; tile < tiles; tile = shared.tile) {
        const uint32_t first = tile * tile_elements;
        const uint32_t count = min(elements - first, tile_elements);
        uint32_t next = 0;
        share<T> own;

        if (threadIdx.x == 0)
            next = atomicAdd(&work.head->next, 1u);
        R best =
            reduce_block(own.load(d_elements + first, count, rules), maximum(), shared.tile_ranks);
        bool is_wanted =
            PURGED || (tile == 0 && !rules.has_floor) || passes(rules, best, before.rank);
        if (threadIdx.x == 0) {
            publish_maximum(work, tile, best);
            if (!is_wanted)
                publish_count(work, tile, 0);
            shared.tile = next;
        }
        __syncthreads(); /* the next tile is known, and the last one's shared memory free */
        if (!is_wanted)
            continue;

        uint32_t kept = keep<PURGED>(own, tile, count, rules, work, before, shared);
        if (PURGED || kept > 0)
            fold_counts(work, tile, before, shared.counts);
        for (uint32_t i = threadIdx.x; i < kept; i += BLOCK_THREADS)
            d_kept[before.count + i] = shared.staged[staged_place<T>(i)];
        for (uint32_t i = kept + threadIdx.x; PURGED && i < count; i += BLOCK_THREADS)
            d_purged[first - before.count + i - kept] = shared.staged[staged_place<T>(i)];
    }
}

struct workspace lay_out(void *d_control, uint32_t tiles)
{
    struct workspace work;
    work.head = (struct control *)d_control;
    work.maxima = (uint64_t *)(work.head + 1);
    work.counts = (uint32_t *)(work.maxima + (size_t)tiles * MAXIMUM_WORDS);
    return work;
}

template <typename T>
cudaError_t launch(const struct cuda_device *device, const struct cuda_elements *elements,
                   const struct rules &rules, const struct cuda_stalin_sort_buffers *buffers,
                   cudaStream_t stream)
{
    const size_t bytes = elements->count * sizeof(T);
    const uint32_t tiles = count_tiles(bytes);
    struct workspace work = lay_out(buffers->d_control, tiles);
    struct element_count count = count_of(elements);
    const T *d_elements = (const T *)elements->d_data;
    unsigned most = (unsigned)device->multiprocessors * BLOCKS;
    unsigned blocks = tiles < most ? tiles : most;
    T *d_kept = (T *)buffers->d_kept;
    T *d_purged = (T *)buffers->d_purged;

    cudaError_t error =
        cudaMemsetAsync(work.head, 0, cuda_stalin_sort_control_bytes(bytes), stream);
    if (error != cudaSuccess || blocks == 0)
        return error;
    if (d_purged)
        stalin_sort_kernel<T, true><<<blocks, BLOCK_THREADS, 0, stream>>>(d_elements, count, rules,
                                                                          work, d_kept, d_purged);
    else
        stalin_sort_kernel<T, false>
            <<<blocks, BLOCK_THREADS, 0, stream>>>(d_elements, count, rules, work, d_kept, nullptr);
    return cudaGetLastError();
}

} // namespace

size_t cuda_stalin_sort_control_bytes(size_t elements_bytes)
{
    return sizeof(struct control) +
           count_tiles(elements_bytes) * (MAXIMUM_WORDS * sizeof(uint64_t) + sizeof(uint32_t));
}

cudaError_t cuda_stalin_sort_launch(const struct cuda_device *device, const struct job *job,
                                    const struct cuda_elements *elements, const uint64_t *floor,
                                    const struct cuda_stalin_sort_buffers *buffers,
                                    cudaStream_t stream)
{
    const struct element *element = &job->element;
    const uint64_t mask = ~0ull >> (64 - element->bytes * 8); /* a rank has the type's width */
    struct rules rules = {};

    rules.flip = element->is_signed ? 1ull << (element->bytes * 8 - 1) : 0;
    rules.flip ^= job->stalin_sort.descending ? mask : 0;
    rules.has_floor = floor != nullptr;
    rules.floor = floor ? (*floor & mask) ^ rules.flip : 0;
    rules.strict = job->stalin_sort.strict;
    rules.swapped = element->swapped;
    switch (element->type) {
#define LAUNCH_CASE(id, name, ctype) \
    case ELEMENT_##id:               \
        return launch<ctype>(device, elements, rules, buffers, stream);
        ELEMENT_TYPES(LAUNCH_CASE)
#undef LAUNCH_CASE
    case ELEMENT_TYPE_COUNT:
        break;
    }
    return cudaErrorInvalidValue;
}
