/*
 * Partition in two passes, then count: for more bins than one pass can sort by.
 *
 * The first kernel counts the values of each *region* of 2^21 bins. The second sorts tiles of
 * values by region and writes them region by region; one addition to a region's cursor reserves
 * space for all the tile's values of that region. A region starts with a new tile; the order
 * within it is free.
 *
 * The third kernel sorts a region's tiles by bucket, as partition.cu does with all tiles. The last
 * one counts: a *segment*, some hundred tiles of a region, one bucket at a time, in a table in
 * shared memory that it adds to the global one. Blocks take buckets of segments in order, so a
 * block that finds an empty one continues with the next.
 *
 * A value's 4 bytes are read twice, written once and read again; 2 are written and read. A bin's
 * global counter is updated once for each segment that has it, mostly one.
 */
#include "cuda/launch.cuh"
#include "partition.cuh"
#include "runs.cuh"

#include <algorithm>

namespace
{

constexpr unsigned REGION_BITS = 21;
constexpr uint32_t REGION_BUCKETS = 1u << (REGION_BITS - BUCKET_BITS);
constexpr uint32_t REGIONS_MAX = 256;
constexpr uint32_t SEGMENT_TILES = 512;
constexpr uint32_t TILE_RESIDUALS = count_residuals(REGION_BUCKETS);

constexpr unsigned REGION_THREADS = 1024; /* of the first kernel */
constexpr unsigned REGION_COPIES = 8;     /* of its counters, see cuda/histogram_shared.cu */

/* The scratch memory, divided. */
struct regions {
    uint32_t *counts;  /* [REGIONS_MAX]; zeros before the first kernel, as are the next two */
    uint32_t *cursors; /* [REGIONS_MAX], values written so far */
    uint32_t *next;    /* [1], next bucket of a segment for a block */
    uint32_t *values;  /* [tiles.room][TILE_VALUES] */
    struct tile_runs tiles;
    uint32_t count;
};

__global__ void __launch_bounds__(REGION_THREADS)
    histogram_regions_kernel(const uint32_t *d_values, uint32_t values,
                             const __grid_constant__ struct regions regions)
{
    __shared__ uint32_t counts[REGIONS_MAX * REGION_COPIES];
    uint32_t *own = counts + threadIdx.x % REGION_COPIES;

    for (uint32_t i = threadIdx.x; i < REGIONS_MAX * REGION_COPIES; i += REGION_THREADS)
        counts[i] = 0;
    __syncthreads();
    for_each_element<uint32_t>({d_values, values, nullptr}, false, [&](uint32_t value) {
        atomicAdd(&own[(value >> REGION_BITS) * REGION_COPIES], 1u);
    });
    __syncthreads();
    if (threadIdx.x < regions.count) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < REGION_COPIES; i++)
            sum += counts[threadIdx.x * REGION_COPIES + i];
        if (sum > 0)
            atomicAdd(&regions.counts[threadIdx.x], sum);
    }
}

/*
 * Fills firsts[0 .. regions.count] with the first part of each region, in parts of `part` values.
 * Returns the last one, the number of parts. All threads call it.
 */
template <unsigned THREADS>
__device__ __forceinline__ uint32_t place_regions(const struct regions &regions, uint32_t part,
                                                  uint32_t *firsts)
{
    using Scan = cub::BlockScan<uint32_t, THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    static_assert(THREADS > REGIONS_MAX, "each region has a thread, and one is behind them");
    __shared__ typename Scan::TempStorage storage;
    uint32_t parts =
        threadIdx.x < regions.count ? count_parts(regions.counts[threadIdx.x], part) : 0;
    uint32_t first;

    Scan(storage).ExclusiveSum(parts, first);
    if (threadIdx.x <= regions.count)
        firsts[threadIdx.x] = first;
    __syncthreads();
    return firsts[regions.count];
}

/* The region of a part: the last one that does not begin after it. */
__device__ __forceinline__ uint32_t find_region(const uint32_t *firsts, uint32_t count,
                                                uint32_t part)
{
    uint32_t region = 0;

#pragma unroll
    for (uint32_t step = REGIONS_MAX / 2; step > 0; step /= 2) {
        if (region + step < count && firsts[region + step] <= part)
            region += step;
    }
    return region;
}

__global__ void __launch_bounds__(SORT_THREADS, SORT_BLOCKS)
    histogram_gather_kernel(const uint32_t *d_values, uint32_t values,
                            const __grid_constant__ struct regions regions)
{
    extern __shared__ uint32_t columns[]; /* [regions][LANES], and the sorted values */
    __shared__ uint32_t firsts[REGIONS_MAX + 1];
    __shared__ uint32_t shifts[REGIONS_MAX]; /* from places in the tile to those in memory */
    const uint32_t tiles = count_parts(values, TILE_VALUES);
    const uint32_t last = first_of_part(tiles, blockIdx.x + 1, gridDim.x);
    uint32_t tile = first_of_part(tiles, blockIdx.x, gridDim.x);
    uint32_t *sorted = columns + regions.count * LANES;
    struct tile_share share;

    share.load_tile(d_values, values, tile, last);
    clear_columns(columns, regions.count);
    place_regions<SORT_THREADS>(regions, TILE_VALUES, firsts);
    for (; tile < last; tile++) {
        const struct placed_run placed =
            place_tile<REGION_BITS, 32>(share, regions.count, columns, sorted);
        const uint32_t length = placed.run >> 16;
        const uint32_t cursor = length > 0 ? atomicAdd(&regions.cursors[threadIdx.x], length) : 0;
        move_tile<REGION_BITS, 32>(share, columns, sorted);
        if (threadIdx.x < regions.count) /* not earlier: the cursor is slow */
            shifts[threadIdx.x] =
                firsts[threadIdx.x] * TILE_VALUES + cursor - (placed.run & 0xffff);
        __syncthreads();
        share.load_tile(d_values, values, tile + 1, last);
        for (uint32_t i = threadIdx.x; i < placed.total; i += SORT_THREADS) {
            const uint32_t value = sorted[sorted_place<uint32_t>(i)];
            regions.values[shifts[value >> REGION_BITS] + i] = value;
        }
        clear_columns(columns, regions.count);
        __syncthreads();
    }
}

/* Loads tile number `tile` of all regions, unless it is `last` or later. */
__device__ __forceinline__ void load_region_tile(struct tile_share &share,
                                                 const struct regions &regions,
                                                 const uint32_t *firsts, uint32_t tile,
                                                 uint32_t last)
{
    if (tile >= last)
        return;
    const uint32_t region = find_region(firsts, regions.count, tile);
    const uint32_t before = (tile - firsts[region]) * TILE_VALUES;
    share.load(regions.values + (size_t)tile * TILE_VALUES,
               min(regions.counts[region] - before, TILE_VALUES));
}

__global__ void __launch_bounds__(SORT_THREADS, SORT_BLOCKS)
    histogram_split_regions_kernel(const __grid_constant__ struct regions regions)
{
    extern __shared__ uint32_t columns[]; /* [REGION_BUCKETS][LANES], and the sorted residuals */
    __shared__ uint32_t firsts[REGIONS_MAX + 1];
    const uint32_t tiles = place_regions<SORT_THREADS>(regions, TILE_VALUES, firsts);
    const uint32_t last = first_of_part(tiles, blockIdx.x + 1, gridDim.x);
    uint32_t tile = first_of_part(tiles, blockIdx.x, gridDim.x);
    uint16_t *sorted = (uint16_t *)(columns + REGION_BUCKETS * LANES);
    struct tile_share share;

    load_region_tile(share, regions, firsts, tile, last);
    clear_columns(columns, REGION_BUCKETS);
    __syncthreads();
    for (; tile < last; tile++) {
        const struct placed_run placed =
            place_tile<BUCKET_BITS, REGION_BITS>(share, REGION_BUCKETS, columns, sorted);
        if (threadIdx.x < REGION_BUCKETS)
            regions.tiles.runs[(size_t)threadIdx.x * regions.tiles.room + tile] = placed.run;
        move_tile<BUCKET_BITS, REGION_BITS>(share, columns, sorted);
        __syncthreads();
        load_region_tile(share, regions, firsts, tile + 1, last);
        write_residuals(regions.tiles, tile, sorted, placed.total);
        clear_columns(columns, REGION_BUCKETS);
        __syncthreads();
    }
}

__global__ void __launch_bounds__(COUNT_THREADS)
    histogram_segments_kernel(const __grid_constant__ struct regions regions, uint32_t *d_counts)
{
    extern __shared__ struct bucket_table tables[]; /* [1] */
    struct bucket_table &table = tables[0];
    __shared__ uint32_t firsts[REGIONS_MAX + 1];
    __shared__ uint32_t segment_firsts[REGIONS_MAX + 1];
    __shared__ uint32_t taken;

    place_regions<COUNT_THREADS>(regions, TILE_VALUES, firsts);
    const uint32_t segments =
        place_regions<COUNT_THREADS>(regions, SEGMENT_TILES * TILE_VALUES, segment_firsts);
    clear_bucket(table);
    for (;;) {
        if (threadIdx.x == 0)
            taken = atomicAdd(regions.next, 1u);
        __syncthreads();
        const uint32_t segment = taken / REGION_BUCKETS;
        const uint32_t bucket = taken % REGION_BUCKETS;
        if (segment >= segments)
            return;
        const uint32_t region = find_region(segment_firsts, regions.count, segment);
        const uint32_t first = firsts[region] + (segment - segment_firsts[region]) * SEGMENT_TILES;
        const uint32_t last = min(first + SEGMENT_TILES, firsts[region + 1]);
        const size_t first_bin = (size_t)(region * REGION_BUCKETS + bucket) * BUCKET_BINS;
        if (count_runs(regions.tiles, bucket, first, last, table))
            flush_bucket(table, d_counts + first_bin);
        __syncthreads();
    }
}

/* Divides the task's scratch memory, if it has any; returns the required size. */
size_t lay_out(const struct partition_task *task, struct regions *regions)
{
    const size_t count = count_parts(task->bins, 1u << REGION_BITS);
    const size_t room =
        count_parts(task->values, TILE_VALUES) + count; /* one may be short in each */
    const size_t values = align_scratch((2 * REGIONS_MAX + 1) * sizeof(uint32_t));
    const size_t runs = values + room * TILE_VALUES * sizeof(uint32_t);
    const size_t residuals = runs + align_scratch(REGION_BUCKETS * room * sizeof(uint32_t));
    char *d_scratch = (char *)task->d_scratch;

    if (d_scratch) {
        regions->counts = (uint32_t *)d_scratch;
        regions->cursors = regions->counts + REGIONS_MAX;
        regions->next = regions->cursors + REGIONS_MAX;
        regions->values = (uint32_t *)(d_scratch + values);
        regions->tiles.runs = (uint32_t *)(d_scratch + runs);
        regions->tiles.residuals = (uint16_t *)(d_scratch + residuals);
        regions->tiles.room = (uint32_t)room;
        regions->tiles.tile_residuals = TILE_RESIDUALS;
        regions->count = (uint32_t)count;
    }
    return residuals + room * TILE_RESIDUALS * sizeof(uint16_t);
}

size_t scratch_bytes(const struct partition_task *task)
{
    constexpr size_t static_bytes = 8 << 10; /* no kernel has more static shared memory */
    const size_t shared = (size_t)task->device->shared_bytes;
    const size_t regions = count_parts(task->bins, 1u << REGION_BITS);
    const bool fits = task->values <= VALUES_MAX && regions <= REGIONS_MAX &&
                      sort_shared_bytes<uint32_t>(regions) + static_bytes <= shared &&
                      sizeof(struct bucket_table) + static_bytes <= shared;
    return fits ? lay_out(task, nullptr) : 0;
}

/* Queues the two kernels that sort the regions' values by bucket and count them. */
cudaError_t launch_regions(const struct partition_task *task, const struct regions &regions,
                           unsigned blocks)
{
    const size_t sort_bytes = sort_shared_bytes<uint16_t>(REGION_BUCKETS);
    const size_t table_bytes = sizeof(struct bucket_table);
    cudaError_t error = allow_shared_bytes(histogram_split_regions_kernel, sort_bytes);

    if (error == cudaSuccess)
        error = allow_shared_bytes(histogram_segments_kernel, table_bytes);
    if (error != cudaSuccess)
        return error;
    histogram_split_regions_kernel<<<blocks, SORT_THREADS, sort_bytes, task->stream>>>(regions);
    histogram_segments_kernel<<<(unsigned)task->device->multiprocessors, COUNT_THREADS, table_bytes,
                                task->stream>>>(regions, task->d_counts);
    return cudaGetLastError();
}

cudaError_t launch(const struct partition_task *task)
{
    const uint32_t values = (uint32_t)task->values;
    const unsigned most = SORT_BLOCKS * (unsigned)task->device->multiprocessors;
    struct regions regions = {};

    lay_out(task, &regions);
    const size_t gather_bytes = sort_shared_bytes<uint32_t>(regions.count);
    const unsigned blocks = std::min(regions.tiles.room, most);
    cudaError_t error = allow_shared_bytes(histogram_gather_kernel, gather_bytes);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(regions.counts, 0, (2 * REGIONS_MAX + 1) * sizeof *regions.counts,
                                task->stream);
    if (error != cudaSuccess)
        return error;
    histogram_regions_kernel<<<grid_size(task->device, values, TILE_VALUES), REGION_THREADS, 0,
                               task->stream>>>(task->d_values, values, regions);
    histogram_gather_kernel<<<blocks, SORT_THREADS, gather_bytes, task->stream>>>(task->d_values,
                                                                                  values, regions);
    return launch_regions(task, regions, blocks);
}

} // namespace

const struct partition partition_two_levels = {"partition, two levels", scratch_bytes, launch};
