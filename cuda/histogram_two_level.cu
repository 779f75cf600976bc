/*
 * Histogram kernels: partition twice, then count, for up to 2^29 bins.
 *
 * Four kernels. The first counts how many elements each *region* of 2^21 bins has, the second
 * writes their bins, 32 bits each, region by region: a tile is sorted by regions in shared memory,
 * and one addition to a region's cursor reserves room for all that the tile has of it. The room of
 * each region begins with a tile of its own, and within a region the order does not matter.
 *
 * The third kernel sorts tiles of that by buckets of 2^15 bins, as histogram_partition.cu does with
 * elements, and the last one counts the runs of one bucket at a time, those of a region's
 * *segment*, some hundred tiles, in a table in shared memory, and adds it to the global one. Blocks
 * take segments' buckets in order, so that blocks with empty ones go on to others.
 *
 * 4 bytes of an element are read twice, 4 written and read, 2 written and read; and each bin's
 * counter is updated once for each segment that has it, mostly one.
 */
#include "cuda/histogram_tiles.cuh"

namespace
{

constexpr unsigned REGION_BITS = 21;
constexpr uint32_t REGION_BUCKETS = 1u << (REGION_BITS - BUCKET_BITS);
constexpr uint32_t REGIONS_MAX = 256;
constexpr uint32_t SEGMENT_TILES = 512;
constexpr uint32_t TILE_BINS = TILE_ELEMENTS<uint32_t>;
constexpr uint32_t TILE_RESIDUALS = count_residuals(TILE_BINS, REGION_BUCKETS);

constexpr unsigned REGION_THREADS = 1024; /* of the first kernel */
constexpr unsigned REGION_COPIES = 8;     /* of its counters, see histogram_shared.cu */

/* How the scratch memory is divided. */
struct regions {
    uint32_t *counts;  /* [REGIONS_MAX]; zeros before the first kernel, as are the next two */
    uint32_t *cursors; /* [REGIONS_MAX], bins written so far */
    uint32_t *next;    /* [1], the work that is taken next by the last kernel */
    uint32_t *bins;    /* [tiles.room][TILE_BINS] */
    struct tile_runs tiles;
    uint32_t count;
};

/* Bins of a region are sorted by their bucket in it. */
struct slots_of_region {
    static constexpr bool is_fast = true;

    __device__ __forceinline__ uint32_t slot_or_above(uint32_t bin) const
    {
        return bin % (1u << REGION_BITS);
    }

    __device__ __forceinline__ bool is_below(uint32_t) const
    {
        return false;
    }
};

template <typename T, bool PLAIN>
__global__ void __launch_bounds__(REGION_THREADS)
    histogram_regions_kernel(const T *d_elements, struct element_count counted,
                             const __grid_constant__ slots_of_bins<T, PLAIN> slots,
                             const __grid_constant__ struct regions regions)
{
    __shared__ uint32_t counts[REGIONS_MAX * REGION_COPIES];
    uint32_t *own = counts + threadIdx.x % REGION_COPIES;

    for (uint32_t i = threadIdx.x; i < REGIONS_MAX * REGION_COPIES; i += REGION_THREADS)
        counts[i] = 0;
    __syncthreads();
    for_each_element(d_elements, read_count(counted), false, [&](T loaded) {
        atomicAdd(&own[(slots.slot_or_above(loaded) >> REGION_BITS) * REGION_COPIES], 1u);
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
 * Fills firsts[0 .. regions.count] with where regions begin, in parts of so many bins, and returns
 * the last, how many parts there are. All threads call it, and wait before the next call.
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

/* The region that a part is in: the last one that does not begin behind it. */
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

template <typename T, bool PLAIN>
__global__ void __launch_bounds__(SPLIT_THREADS, SPLIT_BLOCKS)
    histogram_gather_kernel(const T *d_elements, struct element_count counted,
                            const __grid_constant__ slots_of_bins<T, PLAIN> slots,
                            const __grid_constant__ struct regions regions,
                            struct histogram_counters counters)
{
    extern __shared__ uint32_t columns[]; /* [regions][LANES], and the staged bins */
    __shared__ uint32_t firsts[REGIONS_MAX + 1];
    __shared__ uint32_t shifts[REGIONS_MAX]; /* from places in the tile to those in memory */
    const uint32_t elements = read_count(counted);
    const uint32_t tiles = count_parts(elements, TILE_ELEMENTS<T>);
    const uint32_t last = first_of_part(tiles, blockIdx.x + 1, gridDim.x);
    uint32_t tile = first_of_part(tiles, blockIdx.x, gridDim.x);
    uint32_t *staged = columns + regions.count * LANES;
    uint32_t below = 0;
    struct tile_share<T> share;

    const auto take = [&](uint32_t run) {
        uint32_t length = run >> 16;
        uint32_t cursor = length > 0 ? atomicAdd(&regions.cursors[threadIdx.x], length) : 0;
        return cursor - (run & 0xffff);
    };
    const auto taken = [&](uint32_t shift) {
        if (threadIdx.x < regions.count)
            shifts[threadIdx.x] = firsts[threadIdx.x] * TILE_BINS + shift;
    };
    share.load_tile(d_elements, elements, tile, last);
    clear_columns(columns, regions.count);
    place_regions<SPLIT_THREADS>(regions, TILE_BINS, firsts);
    for (; tile < last; tile++) {
        const uint32_t count = sort_tile<REGION_BITS>(share, slots, regions.count, columns, staged,
                                                      below, take, taken);
        share.load_tile(d_elements, elements, tile + 1, last);
        for (uint32_t i = threadIdx.x; i < count; i += SPLIT_THREADS) {
            uint32_t bin = staged[staged_place<uint32_t>(i)];
            regions.bins[shifts[bin >> REGION_BITS] + i] = bin;
        }
        clear_columns(columns, regions.count);
        __syncthreads();
    }
    counters.move_below(below);
}

/* The bins of a tile of region `region`, and how many. */
__device__ __forceinline__ void load_region(struct tile_share<uint32_t> &share,
                                            const struct regions &regions, const uint32_t *firsts,
                                            uint32_t tile)
{
    const uint32_t region = find_region(firsts, regions.count, tile);
    const uint32_t before = (tile - firsts[region]) * TILE_BINS;

    share.load(regions.bins + (size_t)tile * TILE_BINS,
               min(regions.counts[region] - before, TILE_BINS));
}

__global__ void __launch_bounds__(SPLIT_THREADS, SPLIT_BLOCKS)
    histogram_split_regions_kernel(const __grid_constant__ struct regions regions)
{
    extern __shared__ uint32_t columns[]; /* [REGION_BUCKETS][LANES], and the staged residuals */
    __shared__ uint32_t firsts[REGIONS_MAX + 1];
    const uint32_t tiles = place_regions<SPLIT_THREADS>(regions, TILE_BINS, firsts);
    const uint32_t last = first_of_part(tiles, blockIdx.x + 1, gridDim.x);
    uint32_t tile = first_of_part(tiles, blockIdx.x, gridDim.x);
    uint16_t *staged = (uint16_t *)(columns + REGION_BUCKETS * LANES);
    uint32_t none = 0; /* is below: a region's bins are bins */
    struct tile_share<uint32_t> share;

    if (tile < last)
        load_region(share, regions, firsts, tile);
    clear_columns(columns, REGION_BUCKETS);
    __syncthreads();
    for (; tile < last; tile++) {
        const auto take = [&](uint32_t run) {
            if (threadIdx.x < REGION_BUCKETS)
                regions.tiles.runs[(size_t)threadIdx.x * regions.tiles.room + tile] = run;
            return true;
        };
        const uint32_t count = sort_tile<BUCKET_BITS>(share, slots_of_region(), REGION_BUCKETS,
                                                      columns, staged, none, take, [](bool) {});
        if (tile + 1 < last)
            load_region(share, regions, firsts, tile + 1);
        write_residuals(staged, count,
                        regions.tiles.residuals + (size_t)tile * regions.tiles.tile_residuals);
        clear_columns(columns, REGION_BUCKETS);
        __syncthreads();
    }
}

__global__ void __launch_bounds__(COUNT_THREADS)
    histogram_segments_kernel(const __grid_constant__ struct regions regions,
                              struct histogram_counters counters)
{
    extern __shared__ struct bucket_table tables[]; /* [1] */
    struct bucket_table &table = tables[0];
    __shared__ uint32_t firsts[REGIONS_MAX + 1];
    __shared__ uint32_t segment_firsts[REGIONS_MAX + 1];
    __shared__ uint32_t taken;

    place_regions<COUNT_THREADS>(regions, TILE_BINS, firsts);
    const uint32_t segments =
        place_regions<COUNT_THREADS>(regions, SEGMENT_TILES * TILE_BINS, segment_firsts);
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
        if (count_runs(regions.tiles, bucket, first, last, table))
            flush_bucket(table, region * (1u << REGION_BITS) + bucket * BUCKET_BINS, counters);
        __syncthreads();
    }
}

/* Divides the scratch memory, if any; returns how much of it is needed. */
size_t lay_out(const struct binning *binning, size_t elements, char *d_scratch,
               struct regions *regions)
{
    size_t count = (count_bin_slots(binning) + (1u << REGION_BITS) - 1) >> REGION_BITS;
    size_t room = count_parts(elements, TILE_BINS) + count; /* a region's last one may be short */
    size_t counters = 0;
    size_t bins = counters + align_scratch((2 * REGIONS_MAX + 1) * sizeof(uint32_t));
    size_t runs = bins + room * TILE_BINS * sizeof(uint32_t);
    size_t residuals = runs + align_scratch(REGION_BUCKETS * room * sizeof(uint32_t));

    if (d_scratch) {
        regions->counts = (uint32_t *)(d_scratch + counters);
        regions->cursors = regions->counts + REGIONS_MAX;
        regions->next = regions->cursors + REGIONS_MAX;
        regions->bins = (uint32_t *)(d_scratch + bins);
        regions->tiles.runs = (uint32_t *)(d_scratch + runs);
        regions->tiles.residuals = (uint16_t *)(d_scratch + residuals);
        regions->tiles.room = (uint32_t)room;
        regions->tiles.tile_residuals = TILE_RESIDUALS;
        regions->count = (uint32_t)count;
    }
    return residuals + room * TILE_RESIDUALS * sizeof(uint16_t);
}

bool fits(const struct element *element, const struct binning *binning, size_t elements)
{
    return element->bytes >= 4 && elements <= PARTITION_ELEMENTS_MAX &&
           count_bin_slots(binning) <= (size_t)REGIONS_MAX << REGION_BITS;
}

size_t scratch_bytes(const struct element *element, const struct binning *binning, size_t elements)
{
    return fits(element, binning, elements) ? lay_out(binning, elements, nullptr, nullptr) : 0;
}

bool takes(const struct histogram_task *task)
{
    size_t most = (size_t)task->device->shared_bytes;

    return task->d_scratch && fits(task->element, task->binning, task->elements->count) &&
           sizeof(struct bucket_table) + (16 << 10) <= most &&
           sort_shared_bytes<uint32_t>(REGIONS_MAX, TILE_BINS) + (8 << 10) <= most;
}

/* Queues the two kernels that sort the bins of regions and count them. */
cudaError_t launch_regions(const struct histogram_task *task, const struct regions &regions,
                           unsigned blocks)
{
    size_t split_bytes = sort_shared_bytes<uint16_t>(REGION_BUCKETS, TILE_BINS);
    size_t table_bytes = sizeof(struct bucket_table);
    cudaError_t error = allow_shared_bytes(histogram_split_regions_kernel, split_bytes);

    if (error == cudaSuccess)
        error = allow_shared_bytes(histogram_segments_kernel, table_bytes);
    if (error != cudaSuccess)
        return error;
    histogram_split_regions_kernel<<<blocks, SPLIT_THREADS, split_bytes, task->stream>>>(regions);
    histogram_segments_kernel<<<(unsigned)task->device->multiprocessors, COUNT_THREADS, table_bytes,
                                task->stream>>>(regions, histogram_counters(task));
    return cudaGetLastError();
}

template <typename T, bool PLAIN>
cudaError_t launch(const struct histogram_task *task)
{
    auto gather = histogram_gather_kernel<T, PLAIN>;
    const slots_of_bins<T, PLAIN> slots(task);
    const size_t elements = task->elements->count;
    const T *d_elements = (const T *)task->elements->d_data;
    struct element_count count = count_of(task->elements);
    struct regions regions = {};

    lay_out(task->binning, elements, (char *)task->d_scratch, &regions);
    size_t gather_bytes = sort_shared_bytes<uint32_t>(regions.count, TILE_ELEMENTS<T>);
    unsigned most = SPLIT_BLOCKS * (unsigned)task->device->multiprocessors;
    unsigned blocks = regions.tiles.room < most ? regions.tiles.room : most;
    cudaError_t error = allow_shared_bytes(gather, gather_bytes);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(regions.counts, 0, (2 * REGIONS_MAX + 1) * sizeof *regions.counts,
                                task->stream);
    if (error != cudaSuccess)
        return error;
    histogram_regions_kernel<T, PLAIN>
        <<<grid_size(task->device, elements, TILE_BINS), REGION_THREADS, 0, task->stream>>>(
            d_elements, count, slots, regions);
    gather<<<blocks, SPLIT_THREADS, gather_bytes, task->stream>>>(d_elements, count, slots, regions,
                                                                  histogram_counters(task));
    return launch_regions(task, regions, blocks);
}

cudaError_t launch_task(const struct histogram_task *task)
{
    return launch_wide(task, [=](auto elements) {
        return launch<typename decltype(elements)::type, decltype(elements)::plain>(task);
    });
}

} // namespace

const struct histogram_kernel histogram_kernel_two_level = {"two-level", takes, scratch_bytes,
                                                            launch_task};
