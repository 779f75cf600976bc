/*
 * What the histogram's partitioning kernels share: how a tile of elements is sorted into *runs*,
 * one for each *bucket*, a range of bins, and how runs are counted.
 *
 * Places in a tile come from counters in shared memory, one for each bucket and lane: the lanes of
 * a warp never meet in a bank, whatever the values. (Lane-private counters are those of Merrill and
 * Grimshaw, "High Performance and Scalable Radix Sorting", 2011; the elements' order in a bucket
 * does not matter here, which spares the ranks.)
 */
#ifndef GPUHIST_HISTOGRAM_TILES_CUH
#define GPUHIST_HISTOGRAM_TILES_CUH

#include "histogram_slots.cuh"

#include <cub/block/block_scan.cuh>

/* The buckets whose runs are counted: their tables fit shared memory, their residuals 16 bits. */
constexpr unsigned BUCKET_BITS = 15;
constexpr uint32_t BUCKET_BINS = 1u << BUCKET_BITS;
constexpr uint32_t BUCKETS_MAX = 512;
constexpr unsigned LANES = 32;

constexpr unsigned SPLIT_THREADS = 512; /* thread b has bucket b */
constexpr unsigned SPLIT_BLOCKS = 2;    /* on a multiprocessor */
constexpr unsigned VECTORS = 8;         /* that a thread has of a tile */
constexpr unsigned PLACES = 4;          /* that a thread asks for at once */
static_assert(SPLIT_THREADS >= BUCKETS_MAX, "each bucket has a thread");

constexpr unsigned COUNT_THREADS = 1024;
constexpr unsigned COUNT_WARPS = COUNT_THREADS / LANES;
constexpr unsigned RUNS = 8; /* that a warp reads at once */

/* Launches have fewer elements than this, so that their weights have 32 bits. */
constexpr size_t PARTITION_ELEMENTS_MAX = (size_t)1 << 31;

constexpr size_t SCRATCH_ALIGNMENT = 256;

template <typename T>
constexpr uint32_t TILE_ELEMENTS = SPLIT_THREADS *VECTORS * sizeof(uint4) / sizeof(T);

inline size_t align_scratch(size_t bytes)
{
    return (bytes + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
}

/* How many tiles, or other parts of that size, hold so many elements. */
__host__ __device__ constexpr uint32_t count_parts(size_t elements, uint32_t part)
{
    return (uint32_t)((elements + part - 1) / part);
}

/* Where part `part` of `parts` equal ones of all tiles begins. */
__device__ __forceinline__ uint32_t first_of_part(uint32_t tiles, uint32_t part, uint32_t parts)
{
    return (uint32_t)((uint64_t)tiles * part / parts);
}

/* The runs of tiles and what they consist of, the residuals of bins: bin % BUCKET_BINS. */
struct tile_runs {
    uint32_t *runs;      /* [buckets][room], of a tile: see run_of */
    uint16_t *residuals; /* [room][tile_elements] */
    uint32_t room;       /* for tiles; there may be fewer */
    uint32_t tile_elements;
};

/* A bucket's run in a tile: where it begins, and its length; at most 2^14 both. */
__device__ __forceinline__ uint32_t run_of(uint32_t first, uint32_t length)
{
    return first | length << 16;
}

/*
 * Where a residual, or bin, is staged: a spare word after each row of banks and after 512 places,
 * so that lanes whose places are a power of two apart, as of equal values, do not meet in a bank.
 */
template <typename Staged>
__host__ __device__ constexpr uint32_t staged_place(uint32_t place)
{
    constexpr uint32_t word = sizeof(uint32_t) / sizeof(Staged);
    return place + word * (place / (LANES * word) + place / 512);
}

/* This thread's elements of a tile, as they are in memory. */
template <typename T>
struct tile_share {
    static constexpr uint32_t width = element_vector<T>::width;
    static constexpr uint32_t size = VECTORS * width;
    element_vector<T> vectors[VECTORS];
    uint32_t count; /* of the tile */

    __device__ __forceinline__ void load(const T *d_tile, uint32_t tile_count)
    {
        count = tile_count;
        if (is_full()) {
#pragma unroll
            for (uint32_t k = 0; k < VECTORS; k++)
                vectors[k].loaded = __ldcs((const uint4 *)d_tile + k * SPLIT_THREADS + threadIdx.x);
        } else {
#pragma unroll
            for (uint32_t i = 0; i < size; i++)
                vectors[i / width].values[i % width] = has(i) ? d_tile[place(i)] : 0;
        }
    }

    /* Loads a tile of so many elements in all; none if it is number `last` or greater. */
    __device__ __forceinline__ void load_tile(const T *d_elements, uint32_t elements, uint32_t tile,
                                              uint32_t last)
    {
        const uint32_t first = tile * TILE_ELEMENTS<T>;
        if (tile < last)
            load(d_elements + first, min(elements - first, TILE_ELEMENTS<T>));
    }

    /* Whether the tile has all of its elements; code that need not ask for each is much faster. */
    __device__ __forceinline__ bool is_full() const
    {
        return count == TILE_ELEMENTS<T>;
    }

    /* Where element i is in the tile, and whether the tile reaches so far. */
    __device__ __forceinline__ uint32_t place(uint32_t i) const
    {
        return (i / width * SPLIT_THREADS + threadIdx.x) * width + i % width;
    }

    __device__ __forceinline__ bool has(uint32_t i) const
    {
        return place(i) < count;
    }
};

/* The counter of a bin's bucket and this thread's lane: columns[bin / 2^BITS][lane]. */
template <unsigned BITS>
__device__ __forceinline__ uint32_t *column_of(uint32_t *columns, uint32_t bin)
{
    constexpr uint32_t row_bits = 7; /* of the bytes of a bucket's counters */
    static_assert(LANES * sizeof(uint32_t) == 1u << row_bits, "a row has a counter a lane");
    uint32_t lane_bytes = threadIdx.x % LANES * (uint32_t)sizeof(uint32_t);
    uint32_t row_bytes = bin >> (BITS - row_bits) & ~0u << row_bits;
    return (uint32_t *)((char *)columns + (row_bytes | lane_bytes));
}

using SplitScan = cub::BlockScan<uint32_t, SPLIT_THREADS, cub::BLOCK_SCAN_WARP_SCANS>;

/*
 * Turns the counts of buckets and lanes into places in the tile; returns the run of the bucket that
 * this thread has. All threads call it, and wait before they use the places.
 */
__device__ __forceinline__ uint32_t place_runs(uint32_t *columns, uint32_t buckets,
                                               SplitScan::TempStorage &storage)
{
    const bool has_bucket = threadIdx.x < buckets;
    uint32_t *column = columns + threadIdx.x * LANES;
    uint32_t length = 0;
    uint32_t first;

    /* Each thread begins at a lane, and so a bank, of its own. */
#pragma unroll 8
    for (uint32_t i = 0; i < LANES; i++)
        length += has_bucket ? column[(threadIdx.x + i) % LANES] : 0;
    SplitScan(storage).ExclusiveSum(length, first);
    uint32_t next = first;
#pragma unroll 8
    for (uint32_t i = 0; i < LANES; i++) {
        if (has_bucket) {
            uint32_t count = column[(threadIdx.x + i) % LANES];
            column[(threadIdx.x + i) % LANES] = next;
            next += count;
        }
    }
    return run_of(first, length);
}

/* Copies the staged residuals out, up to a multiple of 8 bytes, which is how they are read. */
__device__ __forceinline__ void write_residuals(const uint16_t *staged, uint32_t count,
                                                uint16_t *d_tile)
{
    uint32_t words = (count + 3) / 4 * 2;

    for (uint32_t i = threadIdx.x; i < words; i += SPLIT_THREADS)
        ((uint32_t *)d_tile)[i] = ((const uint32_t *)staged)[staged_place<uint16_t>(2 * i) / 2];
}

/*
 * Lets the compiler know no more than the word's value: it computes again what follows from it,
 * instead of keeping that in registers, of which there are none left.
 */
__device__ __forceinline__ void forget_source(uint32_t &word)
{
    asm volatile("" : "+r"(word));
}

/* What is staged of a bin: all of it, or its residual. */
template <typename Staged>
__device__ __forceinline__ Staged stage_bin(uint32_t bin)
{
    return sizeof(Staged) < sizeof bin ? (Staged)(bin % BUCKET_BINS) : (Staged)bin;
}

template <unsigned BITS, bool FULL, typename T, typename Slots, typename Staged, typename Take,
          typename Taken>
__device__ __forceinline__ void sort_share(const struct tile_share<T> &share, const Slots &slots,
                                           uint32_t buckets, uint32_t *columns, Staged *staged,
                                           Take take, Taken taken)
{
    __shared__ typename SplitScan::TempStorage storage;
    uint32_t bins[tile_share<T>::size];

#pragma unroll
    for (uint32_t i = 0; i < share.size; i++) {
        bins[i] = slots.slot(share.vectors[i / share.width].values[i % share.width]);
        if (FULL || share.has(i))
            atomicAdd(column_of<BITS>(columns, bins[i]), 1u);
    }
    __syncthreads();
    const auto token = take(place_runs(columns, buckets, storage));
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < share.size; i += PLACES) {
        uint32_t places[PLACES];
#pragma unroll
        for (uint32_t k = 0; k < PLACES; k++) {
            forget_source(bins[i + k]);
            if (FULL || share.has(i + k))
                places[k] = atomicAdd(column_of<BITS>(columns, bins[i + k]), 1u);
        }
#pragma unroll
        for (uint32_t k = 0; k < PLACES; k++) {
            if (FULL || share.has(i + k))
                staged[staged_place<Staged>(places[k])] = stage_bin<Staged>(bins[i + k]);
        }
    }
    taken(token);
    __syncthreads();
}

/*
 * Sorts a tile by buckets of 2^BITS bins: stages the bins, cut to the width of what is staged. The
 * columns are zeros. As soon as it is known, each thread gives take() the run of the bucket that it
 * has, and at the end, before all threads wait, taken() what that returned.
 */
template <unsigned BITS, typename T, typename Slots, typename Staged, typename Take, typename Taken>
__device__ __forceinline__ void sort_tile(const struct tile_share<T> &share, const Slots &slots,
                                          uint32_t buckets, uint32_t *columns, Staged *staged,
                                          Take take, Taken taken)
{
    if constexpr (Slots::is_fast) {
        if (share.is_full())
            return sort_share<BITS, true>(share, slots, buckets, columns, staged, take, taken);
    }
    sort_share<BITS, false>(share, slots, buckets, columns, staged, take, taken);
}

__device__ __forceinline__ void clear_columns(uint32_t *columns, uint32_t buckets)
{
    for (uint32_t i = threadIdx.x; i < buckets * LANES; i += SPLIT_THREADS)
        columns[i] = 0;
}

/* Shared memory of a block that sorts tiles. */
template <typename Staged>
size_t sort_shared_bytes(size_t buckets, uint32_t tile_elements)
{
    return buckets * LANES * sizeof(uint32_t) +
           align_scratch(staged_place<Staged>(tile_elements) * sizeof(Staged));
}

/* Part of a run: aligned words of four residuals each, of which some belong to the run. */
struct run_words {
    const uint2 *d_words;
    uint32_t words;
    uint32_t skipped; /* residuals of the first word before the run */
    uint32_t length;

    __device__ __forceinline__ run_words(const uint16_t *d_tile, uint32_t run)
        : d_words((const uint2 *)d_tile + (run & 0xffff) / 4), skipped(run % 4), length(run >> 16)
    {
        words = length > 0 ? (skipped + length + 3) / 4 : 0;
    }

    static __device__ __forceinline__ void count_whole(uint32_t *table, uint2 residuals)
    {
        atomicAdd(&table[residuals.x & 0xffff], 1u);
        atomicAdd(&table[residuals.x >> 16], 1u);
        atomicAdd(&table[residuals.y & 0xffff], 1u);
        atomicAdd(&table[residuals.y >> 16], 1u);
    }

    __device__ __forceinline__ void count(uint32_t *table, uint32_t word, uint2 residuals) const
    {
        const uint32_t place = word * 4 - skipped;
        if (place < length)
            atomicAdd(&table[residuals.x & 0xffff], 1u);
        if (place + 1 < length)
            atomicAdd(&table[residuals.x >> 16], 1u);
        if (place + 2 < length)
            atomicAdd(&table[residuals.y & 0xffff], 1u);
        if (place + 3 < length)
            atomicAdd(&table[residuals.y >> 16], 1u);
    }

    /* Counts from this word on, which is not the first, a warp at a time, several loads under way.
     */
    __device__ __forceinline__ void count_from(uint32_t *table, uint32_t first) const
    {
        constexpr uint32_t loads = 8;
        const uint32_t whole = (skipped + length) / 4;
        uint32_t i = first;

        for (; i + loads * LANES <= whole; i += loads * LANES) {
            uint2 residuals[loads];
#pragma unroll
            for (uint32_t k = 0; k < loads; k++)
                residuals[k] = __ldcs(&d_words[i + k * LANES + threadIdx.x % LANES]);
#pragma unroll
            for (uint32_t k = 0; k < loads; k++)
                count_whole(table, residuals[k]);
        }
        for (i += threadIdx.x % LANES; i < words; i += LANES)
            count(table, i, __ldcs(&d_words[i]));
    }
};

/*
 * Counts a bucket's runs of tiles first .. last - 1 in a table; all COUNT_THREADS threads call it.
 * Returns whether this thread's warp has found any. A warp has every COUNT_WARPS-th: where values
 * are sorted, the tiles of a bucket are neighbours.
 */
__device__ __forceinline__ bool count_runs(const struct tile_runs &tiles, uint32_t bucket,
                                           uint32_t first, uint32_t last, uint32_t *table)
{
    const uint32_t *d_runs = tiles.runs + (size_t)bucket * tiles.room;
    const uint32_t lane = threadIdx.x % LANES;
    bool found = false;

    for (uint32_t tile = first + threadIdx.x / LANES; tile < last; tile += COUNT_WARPS * RUNS) {
        const uint32_t own_tile = tile + lane * COUNT_WARPS;
        const uint32_t own = lane < RUNS && own_tile < last ? d_runs[own_tile] : 0;
        const uint16_t *d_tile = tiles.residuals + (size_t)tile * tiles.tile_elements;
        uint2 residuals[RUNS];

        if (!__any_sync(~0u, own >> 16))
            continue;
        found = true;
        const auto run = [&](uint32_t i) {
            return run_words(d_tile + (size_t)i * COUNT_WARPS * tiles.tile_elements,
                             __shfl_sync(~0u, own, (int)i));
        };
#pragma unroll
        for (uint32_t i = 0; i < RUNS; i++) {
            const struct run_words words = run(i);
            if (lane < words.words)
                residuals[i] = __ldcs(&words.d_words[lane]);
        }
#pragma unroll
        for (uint32_t i = 0; i < RUNS; i++) {
            const struct run_words words = run(i);
            if (lane < words.words)
                words.count(table, lane, residuals[i]);
        }
        if (!__any_sync(~0u, (own >> 16) > 4 * LANES - 4))
            continue;
#pragma unroll 1
        for (uint32_t i = 0; i < RUNS; i++) /* what is left of long ones */
            run(i).count_from(table, LANES);
    }
    return found;
}

__device__ __forceinline__ void clear_bucket(uint32_t *table)
{
    for (uint32_t i = threadIdx.x; i < BUCKET_BINS; i += COUNT_THREADS)
        table[i] = 0;
}

/* Adds a bucket's table to the counters of its bins, and clears it. */
__device__ __forceinline__ void flush_bucket(uint32_t *table, uint32_t first_bin,
                                             const struct histogram_counters &counters)
{
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < BUCKET_BINS; i += COUNT_THREADS) {
        uint32_t count = table[i];
        if (count > 0) {
            counters.add(first_bin + i, count);
            table[i] = 0;
        }
    }
}

#endif
