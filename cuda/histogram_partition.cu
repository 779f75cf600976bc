/*
 * Histogram kernels: partition, then count.
 *
 * The first kernel takes tiles of elements and sorts the bin numbers of each by *bucket*, a range
 * of 2^15 bins, in shared memory. What it writes is the tile's *residuals*, 16 bits each, that lie
 * bucket by bucket, where the tile's elements would lie: no place is reserved and nothing moves
 * between tiles. Where each bucket's run begins in the tile, and its length, is kept beside; runs
 * are filled up to whole words of 8 bytes.
 *
 * The second kernel deals the runs, in the order of buckets and then of tiles, to its blocks, the
 * same weight each: a block has a part of a bucket or several buckets. It counts a bucket at a time
 * in a table in shared memory, its warps dividing the words of the runs evenly, and adds that to
 * the global one. So no distribution is worse than another, but that many buckets mean short runs.
 *
 * 4 bytes of an element are read once, 2 written and read again. Shared counters have 32 bits.
 */
#include "cuda/histogram_tiles.cuh"

namespace
{

constexpr uint32_t GROUPS_MAX = 1024; /* of tiles: a block's of the first kernel */
static_assert(COUNT_THREADS >= GROUPS_MAX, "each group has a thread");

/* What a run costs beside its elements, in elements. */
constexpr uint32_t RUN_WEIGHT = 64;

/* How the scratch memory is divided. */
struct partition {
    unsigned long long *weights; /* [BUCKETS_MAX]; zeros before the first kernel */
    uint32_t *group_weights;     /* [buckets][groups] */
    uint32_t buckets;
    uint32_t groups;
    uint32_t tile_elements;
    struct tile_runs tiles;
};

template <typename T, bool PLAIN>
__global__ void __launch_bounds__(SPLIT_THREADS, SPLIT_BLOCKS)
    histogram_split_kernel(const T *d_elements, struct element_count counted,
                           const __grid_constant__ slots_of_bins<T, PLAIN> slots,
                           const __grid_constant__ struct partition partition,
                           struct histogram_counters counters)
{
    extern __shared__ uint32_t columns[]; /* [buckets][LANES], and the staged residuals */
    const uint32_t elements = read_count(counted);
    const uint32_t tiles = count_parts(elements, TILE_ELEMENTS<T>);
    const uint32_t last = first_of_part(tiles, blockIdx.x + 1, partition.groups);
    uint16_t *staged = (uint16_t *)(columns + partition.buckets * LANES);
    uint32_t weight = 0;
    uint32_t below = 0;

    uint32_t tile = first_of_part(tiles, blockIdx.x, partition.groups);
    struct tile_share<T> share;

    share.load_tile(d_elements, elements, tile, last);
    clear_columns(columns, partition.buckets);
    __syncthreads();
    for (; tile < last; tile++) {
        const auto take = [&](uint32_t run) {
            if (threadIdx.x < partition.buckets) {
                partition.tiles.runs[(size_t)threadIdx.x * partition.tiles.room + tile] = run;
                weight += (run >> 16) + (run >> 16 ? RUN_WEIGHT : 0);
            }
            return true;
        };
        const uint32_t count = sort_tile<BUCKET_BITS>(share, slots, partition.buckets, columns,
                                                      staged, below, take, [](bool) {});
        share.load_tile(d_elements, elements, tile + 1, last);
        write_residuals(staged, count,
                        partition.tiles.residuals + (size_t)tile * partition.tiles.tile_residuals);
        clear_columns(columns, partition.buckets);
        __syncthreads();
    }
    if (threadIdx.x < partition.buckets) {
        partition.group_weights[threadIdx.x * partition.groups + blockIdx.x] = weight;
        if (weight > 0)
            atomicAdd(&partition.weights[threadIdx.x], (unsigned long long)weight);
    }
    counters.move_below(below);
}

/* Where a block's runs begin or end: at this tile of this bucket. */
struct cut {
    uint32_t bucket;
    uint32_t tile;
};

using WeightScan = cub::BlockScan<unsigned long long, COUNT_THREADS, cub::BLOCK_SCAN_WARP_SCANS>;

/*
 * Where part number `part` of `parts` of the same weight begins. Inside a group of tiles that is an
 * estimate, but the same for the part that ends there. All threads call it.
 */
__device__ struct cut find_cut(const struct partition &partition, uint32_t tiles, uint32_t part,
                               uint32_t parts)
{
    __shared__ typename WeightScan::TempStorage storage;
    __shared__ struct cut found;
    __shared__ unsigned long long found_offset;
    const uint32_t thread = threadIdx.x;
    unsigned long long weight = thread < partition.buckets ? partition.weights[thread] : 0;
    unsigned long long before, total;

    WeightScan(storage).ExclusiveSum(weight, before, total);
    unsigned long long target = total * part / parts;
    if (thread == 0)
        found = {partition.buckets, 0};
    __syncthreads();
    if (target - before < weight) {
        found.bucket = thread;
        found_offset = target - before;
    }
    __syncthreads();
    struct cut cut = found;
    if (cut.bucket < partition.buckets) {
        unsigned long long offset = found_offset;
        weight = thread < partition.groups
                     ? partition.group_weights[cut.bucket * partition.groups + thread]
                     : 0;
        WeightScan(storage).ExclusiveSum(weight, before);
        if (offset - before < weight) {
            uint32_t first = first_of_part(tiles, thread, partition.groups);
            uint32_t count = first_of_part(tiles, thread + 1, partition.groups) - first;
            found.tile = first + (uint32_t)((offset - before) * count / weight);
        }
        __syncthreads();
        cut.tile = found.tile;
    }
    __syncthreads(); /* the shared memory is used again */
    return cut;
}

__global__ void __launch_bounds__(COUNT_THREADS)
    histogram_runs_kernel(struct element_count counted,
                          const __grid_constant__ struct partition partition,
                          struct histogram_counters counters)
{
    extern __shared__ struct bucket_table tables[]; /* [1] */
    struct bucket_table &table = tables[0];
    const uint32_t tiles = count_parts(read_count(counted), partition.tile_elements);
    const struct cut begin = find_cut(partition, tiles, blockIdx.x, gridDim.x);
    const struct cut end = find_cut(partition, tiles, blockIdx.x + 1, gridDim.x);

    clear_bucket(table);
    __syncthreads();
    for (uint32_t bucket = begin.bucket; bucket < partition.buckets && bucket <= end.bucket;
         bucket++) {
        const uint32_t first = bucket == begin.bucket ? begin.tile : 0;
        const uint32_t last = bucket == end.bucket ? end.tile : tiles;
        if (first >= last || partition.weights[bucket] == 0)
            continue;
        count_runs(partition.tiles, bucket, first, last, table);
        flush_bucket(table, bucket * BUCKET_BINS, counters);
        __syncthreads();
    }
}

uint32_t tile_elements_of(const struct element *element)
{
    return element->bytes == 8 ? TILE_ELEMENTS<uint64_t> : TILE_ELEMENTS<uint32_t>;
}

/* Divides the scratch memory, if any; returns how much of it is needed. */
size_t lay_out(const struct element *element, const struct binning *binning, size_t elements,
               char *d_scratch, struct partition *partition)
{
    uint32_t tile_elements = tile_elements_of(element);
    size_t buckets = (count_bin_slots(binning) + BUCKET_BINS - 1) / BUCKET_BINS;
    size_t room = (elements + tile_elements - 1) / tile_elements;
    size_t weights = 0;
    size_t group_weights = weights + align_scratch(BUCKETS_MAX * sizeof(unsigned long long));
    size_t runs = group_weights + align_scratch(buckets * GROUPS_MAX * sizeof(uint32_t));
    size_t residuals = runs + align_scratch(buckets * room * sizeof(uint32_t));
    uint32_t tile_residuals = count_residuals(tile_elements, (uint32_t)buckets);

    if (d_scratch) {
        partition->weights = (unsigned long long *)(d_scratch + weights);
        partition->group_weights = (uint32_t *)(d_scratch + group_weights);
        partition->tiles.runs = (uint32_t *)(d_scratch + runs);
        partition->tiles.residuals = (uint16_t *)(d_scratch + residuals);
        partition->buckets = (uint32_t)buckets;
        partition->tiles.room = (uint32_t)room;
        partition->tile_elements = tile_elements;
        partition->tiles.tile_residuals = tile_residuals;
    }
    return residuals + align_scratch(room * tile_residuals * sizeof(uint16_t));
}

bool fits(const struct element *element, const struct binning *binning, size_t elements)
{
    return element->bytes >= 4 && elements <= PARTITION_ELEMENTS_MAX &&
           count_bin_slots(binning) <= (size_t)BUCKETS_MAX * BUCKET_BINS;
}

size_t scratch_bytes(const struct element *element, const struct binning *binning, size_t elements)
{
    if (!fits(element, binning, elements))
        return 0;
    return lay_out(element, binning, elements, nullptr, nullptr);
}

bool takes(const struct histogram_task *task)
{
    size_t most = (size_t)task->device->shared_bytes;

    return task->d_scratch && fits(task->element, task->binning, task->elements->count) &&
           sizeof(struct bucket_table) + (16 << 10) <= most &&
           sort_shared_bytes<uint16_t>(BUCKETS_MAX, TILE_ELEMENTS<uint32_t>) <= most;
}

template <typename T, bool PLAIN>
cudaError_t launch(const struct histogram_task *task)
{
    auto split = histogram_split_kernel<T, PLAIN>;
    struct partition partition = {};
    struct element_count count = count_of(task->elements);

    lay_out(task->element, task->binning, task->elements->count, (char *)task->d_scratch,
            &partition);
    uint32_t most = SPLIT_BLOCKS * (uint32_t)task->device->multiprocessors;
    most = most < GROUPS_MAX ? most : GROUPS_MAX;
    partition.groups = partition.tiles.room < most ? partition.tiles.room : most;
    if (partition.groups == 0)
        return cudaSuccess;

    size_t split_bytes = sort_shared_bytes<uint16_t>(partition.buckets, partition.tile_elements);
    size_t table_bytes = sizeof(struct bucket_table);
    cudaError_t error = allow_shared_bytes(split, split_bytes);
    if (error == cudaSuccess)
        error = allow_shared_bytes(histogram_runs_kernel, table_bytes);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(partition.weights, 0, BUCKETS_MAX * sizeof *partition.weights,
                                task->stream);
    if (error != cudaSuccess)
        return error;
    split<<<partition.groups, SPLIT_THREADS, split_bytes, task->stream>>>(
        (const T *)task->elements->d_data, count, slots_of_bins<T, PLAIN>(task), partition,
        histogram_counters(task));
    histogram_runs_kernel<<<(unsigned)task->device->multiprocessors, COUNT_THREADS, table_bytes,
                            task->stream>>>(count, partition, histogram_counters(task));
    return cudaGetLastError();
}

cudaError_t launch_task(const struct histogram_task *task)
{
    return launch_wide(task, [=](auto elements) {
        return launch<typename decltype(elements)::type, decltype(elements)::plain>(task);
    });
}

} // namespace

const struct histogram_kernel histogram_kernel_partition = {"partition", takes, scratch_bytes,
                                                            launch_task};
