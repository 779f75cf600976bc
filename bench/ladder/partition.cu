/*
 * Partition in one pass, then count.
 *
 * The first kernel sorts each tile of values by bucket (tile_sort.cuh) and writes the residuals,
 * 16 bits each, at the position of the tile's values: it reserves no space, and nothing moves
 * between tiles. It also stores the start of each bucket's run in the tile, and its length.
 *
 * The second kernel deals the runs, ordered by bucket and then by tile, to its blocks, so that each
 * block has the same weight: a part of a bucket, or several buckets. A block counts one bucket at a
 * time in a table in shared memory, and adds that to the global one. So no distribution of values
 * is much slower than another; only many buckets are, because their runs are short.
 *
 * A value's 4 bytes are read once; 2 are written and read again.
 */
#include "cuda/launch.cuh"
#include "partition.cuh"
#include "runs.cuh"

#include <algorithm>

namespace
{

constexpr uint32_t GROUPS_MAX = 1024; /* of tiles; a block of the first kernel has one */
static_assert(COUNT_THREADS >= GROUPS_MAX, "each group has a thread");

/* Overhead of a run, in values. */
constexpr uint32_t RUN_WEIGHT = 64;

/* The scratch memory, divided. */
struct workspace {
    unsigned long long *weights; /* [BUCKETS_MAX]; zeros before the first kernel */
    uint32_t *group_weights;     /* [buckets][groups] */
    uint32_t buckets;
    uint32_t groups;
    struct tile_runs tiles;
};

__global__ void __launch_bounds__(SORT_THREADS, SORT_BLOCKS)
    histogram_split_kernel(const uint32_t *d_values, uint32_t values,
                           const __grid_constant__ struct workspace work)
{
    extern __shared__ uint32_t columns[]; /* [buckets][LANES], and the sorted residuals */
    const uint32_t tiles = count_parts(values, TILE_VALUES);
    const uint32_t last = first_of_part(tiles, blockIdx.x + 1, work.groups);
    const bool has_bucket = threadIdx.x < work.buckets;
    uint16_t *sorted = (uint16_t *)(columns + work.buckets * LANES);
    uint32_t tile = first_of_part(tiles, blockIdx.x, work.groups);
    uint32_t weight = 0;
    struct tile_share share;

    share.load_tile(d_values, values, tile, last);
    clear_columns(columns, work.buckets);
    __syncthreads();
    for (; tile < last; tile++) {
        const struct placed_run placed =
            place_tile<BUCKET_BITS, 32>(share, work.buckets, columns, sorted);
        if (has_bucket) {
            work.tiles.runs[(size_t)threadIdx.x * work.tiles.room + tile] = placed.run;
            weight += (placed.run >> 16) + (placed.run >> 16 ? RUN_WEIGHT : 0);
        }
        move_tile<BUCKET_BITS, 32>(share, columns, sorted);
        __syncthreads();
        share.load_tile(d_values, values, tile + 1, last);
        write_residuals(work.tiles, tile, sorted, placed.total);
        clear_columns(columns, work.buckets);
        __syncthreads();
    }
    if (has_bucket) {
        work.group_weights[threadIdx.x * work.groups + blockIdx.x] = weight;
        if (weight > 0)
            atomicAdd(&work.weights[threadIdx.x], (unsigned long long)weight);
    }
}

/* Where a block's runs begin or end: at this tile of this bucket. */
struct cut {
    uint32_t bucket;
    uint32_t tile;
};

using WeightScan = cub::BlockScan<unsigned long long, COUNT_THREADS, cub::BLOCK_SCAN_WARP_SCANS>;

/* Shared memory of find_cut. */
struct cut_memory {
    typename WeightScan::TempStorage scan;
    struct cut cut;
    unsigned long long offset; /* of the cut, from the beginning of its bucket */
};

/*
 * Finds the tile in shared.cut.bucket where shared.offset is reached. Within a group of tiles this
 * is an estimate, which is the same for the block that ends there.
 */
__device__ void find_tile(const struct workspace &work, uint32_t tiles, struct cut_memory &shared)
{
    const uint32_t group = threadIdx.x;
    const unsigned long long offset = shared.offset;
    unsigned long long weight =
        group < work.groups ? work.group_weights[shared.cut.bucket * work.groups + group] : 0;
    unsigned long long before;

    WeightScan(shared.scan).ExclusiveSum(weight, before);
    if (offset - before < weight) {
        const uint32_t first = first_of_part(tiles, group, work.groups);
        const uint32_t count = first_of_part(tiles, group + 1, work.groups) - first;
        shared.cut.tile = first + (uint32_t)((offset - before) * count / weight);
    }
    __syncthreads();
}

/* Returns the start of part number `part` of `parts` of equal weight. All threads call it. */
__device__ struct cut find_cut(const struct workspace &work, uint32_t tiles, uint32_t part,
                               uint32_t parts)
{
    __shared__ struct cut_memory shared;
    const uint32_t bucket = threadIdx.x;
    unsigned long long weight = bucket < work.buckets ? work.weights[bucket] : 0;
    unsigned long long before, total;

    WeightScan(shared.scan).ExclusiveSum(weight, before, total);
    const unsigned long long target = total * part / parts;
    if (threadIdx.x == 0)
        shared.cut = {work.buckets, 0};
    __syncthreads();
    if (target - before < weight) {
        shared.cut.bucket = bucket;
        shared.offset = target - before;
    }
    __syncthreads();
    if (shared.cut.bucket < work.buckets)
        find_tile(work, tiles, shared);
    const struct cut cut = shared.cut;
    __syncthreads(); /* the shared memory is used again */
    return cut;
}

__global__ void __launch_bounds__(COUNT_THREADS)
    histogram_runs_kernel(uint32_t values, const __grid_constant__ struct workspace work,
                          uint32_t *d_counts)
{
    extern __shared__ struct bucket_table tables[]; /* [1] */
    struct bucket_table &table = tables[0];
    const uint32_t tiles = count_parts(values, TILE_VALUES);
    const struct cut begin = find_cut(work, tiles, blockIdx.x, gridDim.x);
    const struct cut end = find_cut(work, tiles, blockIdx.x + 1, gridDim.x);

    clear_bucket(table);
    __syncthreads();
    for (uint32_t bucket = begin.bucket; bucket < work.buckets && bucket <= end.bucket; bucket++) {
        const uint32_t first = bucket == begin.bucket ? begin.tile : 0;
        const uint32_t last = bucket == end.bucket ? end.tile : tiles;
        if (first >= last || work.weights[bucket] == 0)
            continue;
        count_runs(work.tiles, bucket, first, last, table);
        flush_bucket(table, d_counts + bucket * BUCKET_BINS);
        __syncthreads();
    }
}

/* Divides the task's scratch memory, if it has any; returns the required size. */
size_t lay_out(const struct partition_task *task, struct workspace *work)
{
    const size_t buckets = count_parts(task->bins, BUCKET_BINS);
    const size_t room = count_parts(task->values, TILE_VALUES);
    const uint32_t tile_residuals = count_residuals((uint32_t)buckets);
    const size_t group_weights = align_scratch(BUCKETS_MAX * sizeof *work->weights);
    const size_t runs =
        group_weights + align_scratch(buckets * GROUPS_MAX * sizeof *work->group_weights);
    const size_t residuals = runs + align_scratch(buckets * room * sizeof *work->tiles.runs);
    char *d_scratch = (char *)task->d_scratch;

    if (d_scratch) {
        work->weights = (unsigned long long *)d_scratch;
        work->group_weights = (uint32_t *)(d_scratch + group_weights);
        work->tiles.runs = (uint32_t *)(d_scratch + runs);
        work->tiles.residuals = (uint16_t *)(d_scratch + residuals);
        work->buckets = (uint32_t)buckets;
        work->tiles.room = (uint32_t)room;
        work->tiles.tile_residuals = tile_residuals;
    }
    return residuals + room * tile_residuals * sizeof(uint16_t);
}

size_t scratch_bytes(const struct partition_task *task)
{
    const size_t shared = (size_t)task->device->shared_bytes;
    const size_t buckets = count_parts(task->bins, BUCKET_BINS);
    const bool fits = task->values <= VALUES_MAX && buckets <= BUCKETS_MAX &&
                      sort_shared_bytes<uint16_t>(buckets) <= shared &&
                      sizeof(struct bucket_table) + sizeof(struct cut_memory) <= shared;
    return fits ? lay_out(task, nullptr) : 0;
}

cudaError_t launch(const struct partition_task *task)
{
    const uint32_t values = (uint32_t)task->values;
    const uint32_t most = SORT_BLOCKS * (uint32_t)task->device->multiprocessors;
    struct workspace work = {};

    lay_out(task, &work);
    work.groups = std::min({work.tiles.room, most, GROUPS_MAX});
    if (work.groups == 0)
        return cudaSuccess;
    const size_t sort_bytes = sort_shared_bytes<uint16_t>(work.buckets);
    const size_t table_bytes = sizeof(struct bucket_table);
    cudaError_t error = allow_shared_bytes(histogram_split_kernel, sort_bytes);
    if (error == cudaSuccess)
        error = allow_shared_bytes(histogram_runs_kernel, table_bytes);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(work.weights, 0, BUCKETS_MAX * sizeof *work.weights, task->stream);
    if (error != cudaSuccess)
        return error;
    histogram_split_kernel<<<work.groups, SORT_THREADS, sort_bytes, task->stream>>>(task->d_values,
                                                                                    values, work);
    histogram_runs_kernel<<<(unsigned)task->device->multiprocessors, COUNT_THREADS, table_bytes,
                            task->stream>>>(values, work, task->d_counts);
    return cudaGetLastError();
}

} // namespace

const struct partition partition_one_level = {"partition", scratch_bytes, launch};
