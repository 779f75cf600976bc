/*
 * How a block sorts a tile of values by bucket in shared memory. The sorted values of one bucket
 * are a *run*.
 *
 * A value's place comes from counters in shared memory, one for each bucket and lane, so the lanes
 * of a warp never meet in a bank, whatever the values. (Lane-private counters: Merrill and
 * Grimshaw, "High Performance and Scalable Radix Sorting", 2011. Here the order within a bucket is
 * free, so no ranks are needed.)
 */
#ifndef GPUHIST_LADDER_TILE_SORT_CUH
#define GPUHIST_LADDER_TILE_SORT_CUH

#include "tile_share.cuh"

#include <cub/block/block_scan.cuh>

/*
 * Hides the origin of a value from the compiler, which then recomputes results from the value
 * instead of keeping them in registers, because none are left.
 */
__device__ __forceinline__ uint32_t hide_source(uint32_t value)
{
    asm volatile("" : "+r"(value));
    return value;
}

/* Offset of this lane's counters in a row of columns, in bytes. */
__device__ __forceinline__ uint32_t lane_bytes()
{
    return hide_source(threadIdx.x % LANES * (uint32_t)sizeof(uint32_t));
}

/* This lane's counter columns[bucket][lane] of a value: its bucket is bits BITS .. TOP - 1. */
template <unsigned BITS, unsigned TOP>
__device__ __forceinline__ uint32_t *column_of(uint32_t *columns, uint32_t value,
                                               uint32_t lane_bytes)
{
    constexpr unsigned row_bits = 7; /* of the bytes of a bucket's counters */
    static_assert(LANES * sizeof(uint32_t) == 1u << row_bits, "a row has a counter a lane");
    constexpr uint32_t rows = (uint32_t)((1ull << (TOP - BITS + row_bits)) - 1) & ~0u << row_bits;
    const uint32_t row_bytes = value >> (BITS - row_bits) & rows;
    return (uint32_t *)((char *)columns + (row_bytes | lane_bytes));
}

/*
 * Position of place `place` of the sorted tile: permuted within each row of banks. So lanes do not
 * meet in a bank if their places are a whole warp's share apart, as those of equal values are.
 */
template <typename Sorted>
__device__ __forceinline__ uint32_t sorted_place(uint32_t place)
{
    constexpr uint32_t word = sizeof(uint32_t) / sizeof(Sorted);
    constexpr uint32_t share = SHARE_VALUES * SORT_WARPS;
    return place ^ (place / (share / word) & (LANES - 1) * word);
}

/* A bucket's run in a tile, its beginning and length packed; both are less than 2^15. */
__device__ __forceinline__ uint32_t run_of(uint32_t first, uint32_t length)
{
    return first | length << 16;
}

/* The run of this thread's bucket, and the length of the sorted tile with all padding. */
struct placed_run {
    uint32_t run;
    uint32_t total;
};

using SortScan = cub::BlockScan<uint32_t, SORT_THREADS, cub::BLOCK_SCAN_WARP_SCANS>;

/* Runs of residuals are padded to words, runs of whole values are not. */
template <typename Sorted>
constexpr uint32_t RUN_MULTIPLE = sizeof(Sorted) < sizeof(uint32_t) ? WORD_RESIDUALS : 1;

/* Turns the counts of buckets and lanes into places, and pads the run of this thread's bucket. */
template <typename Sorted>
__device__ __forceinline__ struct placed_run place_runs(uint32_t *columns, uint32_t buckets,
                                                        Sorted *sorted)
{
    constexpr uint32_t multiple = RUN_MULTIPLE<Sorted>;
    __shared__ typename SortScan::TempStorage storage;
    const bool has_bucket = threadIdx.x < buckets;
    uint32_t *column = columns + threadIdx.x * LANES;
    uint32_t length = 0;
    uint32_t first, total;

    if (has_bucket) { /* each thread begins at a lane, and so a bank, of its own */
#pragma unroll 4
        for (uint32_t i = 0; i < LANES; i++)
            length += column[(threadIdx.x + i) % LANES];
    }
    SortScan(storage).ExclusiveSum((length + multiple - 1) / multiple * multiple, first, total);
    if (has_bucket) {
        uint32_t next = first;
#pragma unroll 4
        for (uint32_t i = 0; i < LANES; i++) {
            uint32_t count = column[(threadIdx.x + i) % LANES];
            column[(threadIdx.x + i) % LANES] = next;
            next += count;
        }
        for (; next % multiple > 0; next++)
            sorted[sorted_place<Sorted>(next)] = (Sorted)PADDING_RESIDUAL;
    }
    return {run_of(first, length), total};
}

template <unsigned BITS, unsigned TOP, bool FULL>
__device__ __forceinline__ void count_values(const struct tile_share &share, uint32_t *columns,
                                             uint32_t lane_bytes)
{
#pragma unroll
    for (uint32_t i = 0; i < SHARE_VALUES; i++) {
        if (FULL || share.has(i))
            atomicAdd(column_of<BITS, TOP>(columns, share.value(i), lane_bytes), 1u);
    }
}

/*
 * First half of sorting a tile: finds the position of each bucket's run. The columns,
 * [buckets][LANES], are zeros. All threads call it.
 */
template <unsigned BITS, unsigned TOP, typename Sorted>
__device__ __forceinline__ struct placed_run place_tile(const struct tile_share &share,
                                                        uint32_t buckets, uint32_t *columns,
                                                        Sorted *sorted)
{
    const uint32_t own_bytes = lane_bytes();

    if (share.is_full())
        count_values<BITS, TOP, true>(share, columns, own_bytes);
    else
        count_values<BITS, TOP, false>(share, columns, own_bytes);
    __syncthreads();
    return place_runs(columns, buckets, sorted);
}

template <unsigned BITS, unsigned TOP, bool FULL, typename Sorted>
__device__ __forceinline__ void move_values(const struct tile_share &share, uint32_t *columns,
                                            Sorted *sorted, uint32_t lane_bytes)
{
    constexpr uint32_t kept = sizeof(Sorted) < sizeof(uint32_t) ? BUCKET_BINS - 1 : UINT32_MAX;

#pragma unroll
    for (uint32_t i = 0; i < SHARE_VALUES; i += BATCH) {
        uint32_t places[BATCH];
#pragma unroll
        for (uint32_t k = 0; k < BATCH; k++) {
            const uint32_t value = hide_source(share.value(i + k));
            if (FULL || share.has(i + k))
                places[k] = atomicAdd(column_of<BITS, TOP>(columns, value, lane_bytes), 1u);
        }
#pragma unroll
        for (uint32_t k = 0; k < BATCH; k++) {
            if (FULL || share.has(i + k))
                sorted[sorted_place<Sorted>(places[k])] = (Sorted)(share.value(i + k) & kept);
        }
    }
}

/*
 * Second half: moves the values, or their residuals, to their places in `sorted`. All threads call
 * it, and wait before they read `sorted`.
 */
template <unsigned BITS, unsigned TOP, typename Sorted>
__device__ __forceinline__ void move_tile(const struct tile_share &share, uint32_t *columns,
                                          Sorted *sorted)
{
    const uint32_t own_bytes = lane_bytes();

    __syncthreads(); /* all runs are placed */
    if (share.is_full())
        move_values<BITS, TOP, true>(share, columns, sorted, own_bytes);
    else
        move_values<BITS, TOP, false>(share, columns, sorted, own_bytes);
}

__device__ __forceinline__ void clear_columns(uint32_t *columns, uint32_t buckets)
{
    constexpr uint32_t width = sizeof(uint4) / sizeof *columns;
    for (uint32_t i = threadIdx.x; i < buckets * LANES / width; i += SORT_THREADS)
        ((uint4 *)columns)[i] = make_uint4(0, 0, 0, 0);
}

/* Shared memory of a block that sorts tiles: the columns, followed by the sorted tile. */
template <typename Sorted>
size_t sort_shared_bytes(size_t buckets)
{
    const uint32_t most =
        RUN_MULTIPLE<Sorted> > 1 ? count_residuals((uint32_t)buckets) : TILE_VALUES;
    return buckets * LANES * sizeof(uint32_t) + align_scratch(most * sizeof(Sorted));
}

#endif
