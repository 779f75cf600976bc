/*
 * The runs of sorted tiles in device memory, and how a block counts those of one bucket. Its warps
 * share the words of many runs evenly, so runs of unequal lengths cost no more than equal ones.
 */
#ifndef GPUHIST_LADDER_RUNS_CUH
#define GPUHIST_LADDER_RUNS_CUH

#include "tile_sort.cuh"

constexpr unsigned COUNT_THREADS = 1024;
constexpr unsigned COUNT_WARPS = COUNT_THREADS / LANES;
constexpr unsigned COUNT_LOADS = 8; /* of a thread, under way */

/* Sorted tiles in device memory. */
struct tile_runs {
    uint32_t *runs;          /* [buckets][room], see run_of */
    uint16_t *residuals;     /* [room][tile_residuals] */
    uint32_t room;           /* for tiles; there may be fewer */
    uint32_t tile_residuals; /* count_residuals */
};

/* Copies a sorted tile of `count` residuals, a multiple of WORD_RESIDUALS, to number `tile`. */
__device__ __forceinline__ void write_residuals(const struct tile_runs &tiles, uint32_t tile,
                                                const uint16_t *sorted, uint32_t count)
{
    uint32_t *d_tile = (uint32_t *)(tiles.residuals + (size_t)tile * tiles.tile_residuals);

#pragma unroll 8
    for (uint32_t i = threadIdx.x; i < count / 2; i += SORT_THREADS)
        d_tile[i] = ((const uint32_t *)sorted)[sorted_place<uint16_t>(2 * i) / 2];
}

/*
 * A bucket's counters in shared memory, and the runs that are being counted. Their words, of
 * WORD_RESIDUALS each, are numbered from 0 on, one run after the other.
 */
struct bucket_table {
    uint32_t counts[BUCKET_BINS + 1];  /* the last one counts padding */
    uint32_t ends[COUNT_THREADS];      /* of each run: the number of the word after it, */
    uint32_t distances[COUNT_THREADS]; /* and what to add to a word's number for its place */

    __device__ __forceinline__ void count(uint2 word)
    {
        atomicAdd(&counts[word.x & 0xffff], 1u);
        atomicAdd(&counts[word.x >> 16], 1u);
        atomicAdd(&counts[word.y & 0xffff], 1u);
        atomicAdd(&counts[word.y >> 16], 1u);
    }

    /* Returns the first of `runs` runs, COUNT_THREADS at most, that ends after the word. */
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

/* Number of runs listed in the table, and of their words. */
struct run_list {
    uint32_t runs;
    uint32_t words;
};

/* Lists the runs that are not empty; each thread has one. All threads call it. */
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

/* Counts the words of the list. Each warp has an equal share; a lane continues from run to run. */
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
 * Counts a bucket's runs of tiles first .. last - 1, and returns whether there are any. All
 * COUNT_THREADS threads call it; all have counted when it returns.
 */
__device__ __forceinline__ bool count_runs(const struct tile_runs &tiles, uint32_t bucket,
                                           uint32_t first, uint32_t last,
                                           struct bucket_table &table)
{
    const uint32_t *d_runs = tiles.runs + (size_t)bucket * tiles.room;
    uint32_t tile = first + threadIdx.x;
    uint32_t run = tile < last ? d_runs[tile] : 0;
    bool found = false;

    for (uint32_t listed = first; listed < last; listed += COUNT_THREADS) {
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

/* Adds a bucket's counts to the global counters of its bins, and clears them. */
__device__ __forceinline__ void flush_bucket(struct bucket_table &table, uint32_t *d_counts)
{
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < BUCKET_BINS; i += COUNT_THREADS) {
        uint32_t count = table.counts[i];
        if (count > 0) {
            atomicAdd(&d_counts[i], count);
            table.counts[i] = 0;
        }
    }
}

#endif
