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

#include "cuda/histogram_slots.cuh"

#include <cub/block/block_scan.cuh>

/* The buckets whose runs are counted: their tables fit shared memory, their residuals 16 bits. */
constexpr unsigned BUCKET_BITS = 15;
constexpr uint32_t BUCKET_BINS = 1u << BUCKET_BITS;
constexpr uint32_t BUCKETS_MAX = 512;
constexpr unsigned LANES = 32;

constexpr unsigned SPLIT_THREADS = 512; /* thread b has bucket b */
constexpr unsigned SPLIT_WARPS = SPLIT_THREADS / LANES;
constexpr unsigned SPLIT_BLOCKS = 2; /* on a multiprocessor */
constexpr unsigned VECTORS = 8;      /* that a thread has of a tile */
constexpr unsigned PLACES = 4;       /* that a thread asks for at once */
static_assert(SPLIT_THREADS >= BUCKETS_MAX, "each bucket has a thread");

/*
 * Runs begin at a multiple of so many residuals, a word of 8 bytes, and are filled up to one with
 * residuals that no bin has, so that they are counted a word at a time without a look at the ends.
 */
constexpr uint32_t WORD_RESIDUALS = sizeof(uint2) / sizeof(uint16_t);
constexpr uint16_t FILL_RESIDUAL = BUCKET_BINS;

constexpr unsigned COUNT_THREADS = 1024;
constexpr unsigned COUNT_WARPS = COUNT_THREADS / LANES;
constexpr unsigned COUNT_LOADS = 8; /* of a thread, under way */

/* Launches have fewer elements than this, so that their weights have 32 bits. */
constexpr size_t PARTITION_ELEMENTS_MAX = (size_t)1 << 31;

constexpr size_t SCRATCH_ALIGNMENT = 256;

template <typename T>
constexpr uint32_t TILE_ELEMENTS = SPLIT_THREADS *VECTORS * sizeof(uint4) / sizeof(T);

/* Room for the residuals of a tile that is sorted into so many runs, in whole lines of memory. */
__host__ __device__ constexpr uint32_t count_residuals(uint32_t tile_elements, uint32_t buckets)
{
    constexpr uint32_t line = 128 / sizeof(uint16_t);
    return (tile_elements + buckets * (WORD_RESIDUALS - 1) + line - 1) / line * line;
}

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
    uint32_t *runs;          /* [buckets][room], of a tile: see run_of */
    uint16_t *residuals;     /* [room][tile_residuals] */
    uint32_t room;           /* for tiles; there may be fewer */
    uint32_t tile_residuals; /* count_residuals */
};

/* A bucket's run in a tile: where it begins, and its length; less than 2^15 both. */
__device__ __forceinline__ uint32_t run_of(uint32_t first, uint32_t length)
{
    return first | length << 16;
}

/*
 * Where a residual, or bin, is staged: permuted within each row of banks, so that lanes whose
 * places are a whole warp's share apart, as of equal values, do not meet in a bank.
 */
template <typename Staged>
__device__ __forceinline__ uint32_t staged_place(uint32_t place)
{
    constexpr uint32_t word = sizeof(uint32_t) / sizeof(Staged);
    constexpr uint32_t share = VECTORS * (uint32_t)(sizeof(uint4) / sizeof(uint32_t)) * SPLIT_WARPS;
    return place ^ (place / (share / word) & (LANES - 1) * word);
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

/* The counter of a bin's bucket and of a lane: columns[bin / 2^BITS][lane_bytes / 4]. */
template <unsigned BITS>
__device__ __forceinline__ uint32_t *column_of(uint32_t *columns, uint32_t bin, uint32_t lane_bytes)
{
    constexpr uint32_t row_bits = 7; /* of the bytes of a bucket's counters */
    static_assert(LANES * sizeof(uint32_t) == 1u << row_bits, "a row has a counter a lane");
    uint32_t row_bytes = bin >> (BITS - row_bits) & ~0u << row_bits;
    return (uint32_t *)((char *)columns + (row_bytes | lane_bytes));
}

using SplitScan = cub::BlockScan<uint32_t, SPLIT_THREADS, cub::BLOCK_SCAN_WARP_SCANS>;

/* Up to which multiple a run of what is staged is filled up. */
template <typename Staged>
constexpr uint32_t RUN_MULTIPLE = sizeof(Staged) < sizeof(uint32_t) ? WORD_RESIDUALS : 1;

/* A bucket's run, and how much the tile has staged in all. */
struct placed_run {
    uint32_t run;
    uint32_t total;
};

/*
 * Turns the counts of buckets and lanes into places in the tile, and fills the run of the bucket
 * that this thread has up. All threads call it, and wait before they use the places.
 */
template <typename Staged>
__device__ __forceinline__ struct placed_run place_runs(uint32_t *columns, uint32_t buckets,
                                                        Staged *staged,
                                                        SplitScan::TempStorage &storage)
{
    constexpr uint32_t multiple = RUN_MULTIPLE<Staged>;
    const bool has_bucket = threadIdx.x < buckets;
    uint32_t *column = columns + threadIdx.x * LANES;
    uint32_t length = 0;
    uint32_t first, total;

    if (has_bucket) { /* each thread begins at a lane, and so a bank, of its own */
#pragma unroll 4
        for (uint32_t i = 0; i < LANES; i++)
            length += column[(threadIdx.x + i) % LANES];
    }
    SplitScan(storage).ExclusiveSum((length + multiple - 1) / multiple * multiple, first, total);
    if (has_bucket) {
        uint32_t next = first;
#pragma unroll 4
        for (uint32_t i = 0; i < LANES; i++) {
            uint32_t count = column[(threadIdx.x + i) % LANES];
            column[(threadIdx.x + i) % LANES] = next;
            next += count;
        }
        for (; next % multiple > 0; next++)
            staged[staged_place<Staged>(next)] = (Staged)FILL_RESIDUAL;
    }
    return {run_of(first, length), total};
}

/* Copies staged residuals out, a multiple of WORD_RESIDUALS. */
__device__ __forceinline__ void write_residuals(const uint16_t *staged, uint32_t count,
                                                uint16_t *d_tile)
{
#pragma unroll 8
    for (uint32_t i = threadIdx.x; i < count / 2; i += SPLIT_THREADS)
        ((uint32_t *)d_tile)[i] = ((const uint32_t *)staged)[staged_place<uint16_t>(2 * i) / 2];
}

/*
 * The same value, of which the compiler knows nothing: it computes again what follows from it
 * instead of keeping that in registers, of which there are none left; and keeps the value itself.
 */
template <typename T>
__device__ __forceinline__ T forget_source(T value)
{
    if constexpr (sizeof(T) == sizeof(uint64_t))
        asm volatile("" : "+l"(value));
    else
        asm volatile("" : "+r"(value));
    return value;
}

/* What is staged of a bin: all of it, or its residual. */
template <typename Staged>
__device__ __forceinline__ Staged stage_bin(uint32_t bin)
{
    return sizeof(Staged) < sizeof bin ? (Staged)(bin % BUCKET_BINS) : (Staged)bin;
}

template <unsigned BITS, bool FULL, typename T, typename Slots, typename Staged, typename Take,
          typename Taken>
__device__ __forceinline__ uint32_t sort_share(const struct tile_share<T> &share,
                                               const Slots &slots, uint32_t buckets,
                                               uint32_t *columns, Staged *staged, uint32_t &below,
                                               Take take, Taken taken)
{
    /* A residual's bin is computed twice, for want of registers to keep it in. */
    constexpr bool keeps = sizeof(Staged) == sizeof(uint32_t);
    __shared__ typename SplitScan::TempStorage storage;
    const uint32_t lane_bytes = forget_source(threadIdx.x % LANES * (uint32_t)sizeof(uint32_t));
    uint32_t kept[tile_share<T>::size];
    const auto loaded = [&](uint32_t i) {
        return share.vectors[i / share.width].values[i % share.width];
    };

#pragma unroll
    for (uint32_t i = 0; i < share.size; i++) {
        const uint32_t bin = slots.slot_or_above(loaded(i));
        if constexpr (keeps)
            kept[i] = bin;
        if (FULL || share.has(i)) {
            atomicAdd(column_of<BITS>(columns, bin, lane_bytes), 1u);
            below += slots.is_below(loaded(i));
        }
    }
    __syncthreads();
    const struct placed_run placed = place_runs(columns, buckets, staged, storage);
    const auto token = take(placed.run);
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < share.size; i += PLACES) {
        uint32_t places[PLACES];
        uint32_t bins[PLACES];
#pragma unroll
        for (uint32_t k = 0; k < PLACES; k++) {
            bins[k] = keeps ? forget_source(kept[i + k])
                            : slots.slot_or_above(forget_source(loaded(i + k)));
            if (FULL || share.has(i + k))
                places[k] = atomicAdd(column_of<BITS>(columns, bins[k], lane_bytes), 1u);
        }
#pragma unroll
        for (uint32_t k = 0; k < PLACES; k++) {
            if (FULL || share.has(i + k))
                staged[staged_place<Staged>(places[k])] = stage_bin<Staged>(bins[k]);
        }
    }
    taken(token);
    __syncthreads();
    return placed.total;
}

/*
 * Sorts a tile by buckets of 2^BITS bins: stages the bins, cut to the width of what is staged, and
 * returns how many there are, runs being filled up. The columns are zeros. As soon as it is known,
 * each thread gives take() the run of the bucket that it has, and at the end, before all threads
 * wait, taken() what that returned. Adds to `below` as slots_of_bins::is_below says.
 */
template <unsigned BITS, typename T, typename Slots, typename Staged, typename Take, typename Taken>
__device__ __forceinline__ uint32_t sort_tile(const struct tile_share<T> &share, const Slots &slots,
                                              uint32_t buckets, uint32_t *columns, Staged *staged,
                                              uint32_t &below, Take take, Taken taken)
{
    if constexpr (Slots::is_fast) {
        if (share.is_full())
            return sort_share<BITS, true>(share, slots, buckets, columns, staged, below, take,
                                          taken);
    }
    return sort_share<BITS, false>(share, slots, buckets, columns, staged, below, take, taken);
}

__device__ __forceinline__ void clear_columns(uint32_t *columns, uint32_t buckets)
{
    constexpr uint32_t width = sizeof(uint4) / sizeof *columns;
    for (uint32_t i = threadIdx.x; i < buckets * LANES / width; i += SPLIT_THREADS)
        ((uint4 *)columns)[i] = make_uint4(0, 0, 0, 0);
}

/* Shared memory of a block that sorts tiles. */
template <typename Staged>
size_t sort_shared_bytes(size_t buckets, uint32_t tile_elements)
{
    uint32_t most = RUN_MULTIPLE<Staged> > 1 ? count_residuals(tile_elements, (uint32_t)buckets)
                                             : tile_elements;
    return buckets * LANES * sizeof(uint32_t) + align_scratch(most * sizeof(Staged));
}

/*
 * A bucket's counters in shared memory, and runs of it that are counted together. Their words, of
 * WORD_RESIDUALS each, are numbered from 0 on, one run after the other.
 */
struct bucket_table {
    uint32_t counts[BUCKET_BINS + 1];  /* the last counts what runs are filled up with */
    uint32_t ends[COUNT_THREADS];      /* of runs: the number of the word behind it, */
    uint32_t distances[COUNT_THREADS]; /* and from these numbers to words in memory */

    __device__ __forceinline__ void count(uint2 word)
    {
        atomicAdd(&counts[word.x & 0xffff], 1u);
        atomicAdd(&counts[word.x >> 16], 1u);
        atomicAdd(&counts[word.y & 0xffff], 1u);
        atomicAdd(&counts[word.y >> 16], 1u);
    }

    /* The first of so many runs, COUNT_THREADS at the most, that ends behind the word. */
    __device__ __forceinline__ uint32_t find(uint32_t runs, uint32_t word) const
    {
        uint32_t before = 0;
#pragma unroll
        for (uint32_t step = COUNT_THREADS / 2; step > 0; step /= 2) {
            if (before + step <= runs && ends[before + step - 1] <= word)
                before += step;
        }
        return before;
    }
};

/* How many runs are listed, and of how many words. */
struct run_list {
    uint32_t runs;
    uint32_t words;
};

/* Lists the runs that are not empty, one of each thread; all call it. */
__device__ __forceinline__ struct run_list list_runs(const struct tile_runs &tiles, uint32_t tile,
                                                     uint32_t run, struct bucket_table &table)
{
    using Scan = cub::BlockScan<uint64_t, COUNT_THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename Scan::TempStorage storage;
    const uint32_t words = ((run >> 16) + WORD_RESIDUALS - 1) / WORD_RESIDUALS;
    const uint32_t first = tile * (tiles.tile_residuals / WORD_RESIDUALS) +
                           (run & 0xffff) / WORD_RESIDUALS; /* less than 2^30 */
    uint64_t before, total;

    Scan(storage).ExclusiveSum((uint64_t)(words > 0) << 32 | words, before, total);
    if (words > 0) {
        table.ends[before >> 32] = (uint32_t)before + words;
        table.distances[before >> 32] = first - (uint32_t)before;
    }
    __syncthreads();
    return {(uint32_t)(total >> 32), (uint32_t)total};
}

/*
 * Counts the words listed, of which each warp has the same share, whatever the runs' lengths: a
 * lane goes on to the run that has its next word.
 */
__device__ __forceinline__ void count_list(const struct tile_runs &tiles,
                                           const struct run_list &list, struct bucket_table &table)
{
    const uint2 *d_words = (const uint2 *)tiles.residuals;
    const uint32_t warp = threadIdx.x / LANES;
    const uint32_t begin = (uint32_t)((uint64_t)list.words * warp / COUNT_WARPS);
    const uint32_t end = (uint32_t)((uint64_t)list.words * (warp + 1) / COUNT_WARPS);
    uint32_t run = table.find(list.runs, begin);

    for (uint32_t i = begin + threadIdx.x % LANES; i < end; i += COUNT_LOADS * LANES) {
        uint2 words[COUNT_LOADS];
#pragma unroll
        for (uint32_t k = 0; k < COUNT_LOADS; k++) {
            const uint32_t word = i + k * LANES;
            if (word < end) {
                while (table.ends[run] <= word)
                    run++;
                words[k] = __ldcs(&d_words[table.distances[run] + word]);
            }
        }
#pragma unroll
        for (uint32_t k = 0; k < COUNT_LOADS; k++) {
            if (i + k * LANES < end)
                table.count(words[k]);
        }
    }
}

/*
 * Counts a bucket's runs of tiles first .. last - 1, a thread's worth of runs at a time, and
 * returns whether there are any. All COUNT_THREADS threads call it, and all have counted when it
 * returns.
 */
__device__ __forceinline__ bool count_runs(const struct tile_runs &tiles, uint32_t bucket,
                                           uint32_t first, uint32_t last,
                                           struct bucket_table &table)
{
    const uint32_t *d_runs = tiles.runs + (size_t)bucket * tiles.room;
    uint32_t tile = first + threadIdx.x;
    uint32_t run = tile < last ? d_runs[tile] : 0;
    bool found = false;

    for (uint32_t some = first; some < last; some += COUNT_THREADS) {
        const struct run_list list = list_runs(tiles, tile, run, table);
        tile += COUNT_THREADS;
        run = tile < last ? d_runs[tile] : 0;
        count_list(tiles, list, table);
        found |= list.runs > 0;
        __syncthreads(); /* the list is made again */
    }
    return found;
}

__device__ __forceinline__ void clear_bucket(struct bucket_table &table)
{
    for (uint32_t i = threadIdx.x; i < BUCKET_BINS; i += COUNT_THREADS)
        table.counts[i] = 0;
}

/* Adds a bucket's counts to the counters of its bins, and clears them. */
__device__ __forceinline__ void flush_bucket(struct bucket_table &table, uint32_t first_bin,
                                             const struct histogram_counters &counters)
{
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < BUCKET_BINS; i += COUNT_THREADS) {
        uint32_t count = table.counts[i];
        if (count > 0) {
            counters.add(first_bin + i, count);
            table.counts[i] = 0;
        }
    }
}

#endif
