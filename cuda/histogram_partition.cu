/*
 * Histogram kernels: partition, then count.
 *
 * The first kernel takes tiles of elements and sorts the bin numbers of each by *bucket*, a range
 * of 2^15 bins, in shared memory. What it writes is the tile's *residuals*, 16 bits each, that lie
 * bucket by bucket, where the tile's elements would lie: no place is reserved and nothing moves
 * between tiles. Where each bucket's run begins in the tile, and its length, is kept beside.
 *
 * The second kernel deals the runs, in the order of buckets and then of tiles, to its blocks, the
 * same weight each: a block has a part of a bucket or several buckets. It counts a bucket at a time
 * in a table in shared memory and adds that to the global one. So no distribution is worse than
 * another, but that many buckets mean short runs.
 *
 * Places in a tile come from counters in shared memory, one for each bucket and lane: the lanes of
 * a warp never meet in a bank, whatever the values. (Lane-private counters are those of Merrill and
 * Grimshaw, "High Performance and Scalable Radix Sorting", 2011; the residuals' order in a bucket
 * does not matter here, which spares the ranks.)
 *
 * 4 bytes of an element are read once, 2 written and read again. Shared counters have 32 bits.
 */
#include "histogram_slots.cuh"

#include <cub/block/block_scan.cuh>

namespace
{

constexpr unsigned BUCKET_BITS = 15;
constexpr uint32_t BUCKET_BINS = 1u << BUCKET_BITS;
constexpr uint32_t BUCKETS_MAX = 512;
constexpr unsigned LANES = 32;

constexpr unsigned SPLIT_THREADS = 512; /* thread b has bucket b */
constexpr unsigned SPLIT_BLOCKS = 2;    /* on a multiprocessor */
constexpr unsigned VECTORS = 8;         /* that a thread has of a tile */
static_assert(SPLIT_THREADS >= BUCKETS_MAX, "each bucket has a thread");

constexpr unsigned COUNT_THREADS = 1024;
constexpr unsigned RUNS = 8;          /* that a warp reads at once */
constexpr uint32_t GROUPS_MAX = 1024; /* of tiles: a block's of the first kernel */
static_assert(COUNT_THREADS >= GROUPS_MAX, "each group has a thread");

/* What a run costs beside its elements, in elements: at least a step of a warp. */
constexpr uint32_t RUN_WEIGHT = 64;
/* Weights of a group have 32 bits. */
constexpr size_t ELEMENTS_MAX = (size_t)1 << 31;

template <typename T>
constexpr uint32_t TILE_ELEMENTS = SPLIT_THREADS *VECTORS * sizeof(uint4) / sizeof(T);

/* How the scratch memory is divided. */
struct partition {
    unsigned long long *weights; /* [BUCKETS_MAX]; zeros before the first kernel */
    uint32_t *group_weights;     /* [buckets][groups] */
    uint32_t *runs;              /* [buckets][room], of a tile: see run_of */
    uint16_t *residuals;         /* [room][tile_elements] */
    uint32_t buckets;
    uint32_t groups;
    uint32_t room; /* for tiles; there may be fewer */
    uint32_t tile_elements;
};

/* A bucket's run in a tile: where it begins, and its length; at most 2^14 both. */
__device__ __forceinline__ uint32_t run_of(uint32_t first, uint32_t length)
{
    return first | length << 16;
}

__device__ __forceinline__ uint32_t count_tiles(const struct partition &partition,
                                                uint32_t elements)
{
    return elements / partition.tile_elements + (elements % partition.tile_elements > 0);
}

/* The first tile of a group, and of the one behind it. */
__device__ __forceinline__ uint32_t first_tile(const struct partition &partition, uint32_t tiles,
                                               uint32_t group)
{
    return (uint32_t)((uint64_t)tiles * group / partition.groups);
}

/*
 * Where a residual is staged: two spare ones after 64 and after 512, so that lanes whose places are
 * a power of two apart, as of equal values, do not meet in a bank.
 */
__host__ __device__ constexpr uint32_t staged_place(uint32_t place)
{
    return place + 2 * (place / 64 + place / 512);
}

/*
 * This thread's elements of a tile, as they are in memory. FULL: the tile has all of its elements;
 * code that need not ask for each is several times as fast.
 */
template <typename T, bool FULL>
struct tile_share {
    static constexpr uint32_t width = element_vector<T>::width;
    static constexpr uint32_t size = VECTORS * width;
    element_vector<T> vectors[VECTORS];
    uint32_t count; /* of the tile */

    __device__ __forceinline__ tile_share(const T *d_tile, uint32_t tile_count) : count(tile_count)
    {
        if constexpr (FULL) {
#pragma unroll
            for (uint32_t k = 0; k < VECTORS; k++)
                vectors[k].loaded = __ldcs((const uint4 *)d_tile + k * SPLIT_THREADS + threadIdx.x);
        } else {
#pragma unroll
            for (uint32_t i = 0; i < size; i++)
                vectors[i / width].values[i % width] = has(i) ? d_tile[place(i)] : 0;
        }
    }

    /* Where element i is in the tile, and whether the tile reaches so far. */
    __device__ __forceinline__ uint32_t place(uint32_t i) const
    {
        return (i / width * SPLIT_THREADS + threadIdx.x) * width + i % width;
    }

    __device__ __forceinline__ bool has(uint32_t i) const
    {
        return FULL || place(i) < count;
    }
};

/* The counter of a bin's bucket and this thread's lane: columns[bin / BUCKET_BINS][lane]. */
__device__ __forceinline__ uint32_t *column_of(uint32_t *columns, uint32_t bin)
{
    constexpr uint32_t row_bits = 7; /* of the bytes of a bucket's counters */
    static_assert(LANES * sizeof(uint32_t) == 1u << row_bits, "a row has a counter a lane");
    uint32_t lane_bytes = threadIdx.x % LANES * (uint32_t)sizeof(uint32_t);
    uint32_t row_bytes = bin >> (BUCKET_BITS - row_bits) & ~0u << row_bits;
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
        ((uint32_t *)d_tile)[i] = ((const uint32_t *)staged)[staged_place(2 * i) / 2];
}

/* Sorts a tile; returns the run of the bucket that this thread has. The columns are zeros. */
template <bool FULL, typename T, bool PLAIN>
__device__ __forceinline__ uint32_t sort_tile(const T *d_tile, uint32_t count,
                                              const slots_of_bins<T, PLAIN> &slots,
                                              uint32_t buckets, uint32_t *columns, uint16_t *staged)
{
    __shared__ typename SplitScan::TempStorage storage;
    using Share = tile_share<T, FULL>;
    const Share share(d_tile, count);
    uint32_t bins[Share::size];

#pragma unroll
    for (uint32_t i = 0; i < Share::size; i++) {
        bins[i] = slots.slot(share.vectors[i / Share::width].values[i % Share::width]);
        if (share.has(i))
            atomicAdd(column_of(columns, bins[i]), 1u);
    }
    __syncthreads();
    uint32_t run = place_runs(columns, buckets, storage);
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < Share::size; i++) {
        if (share.has(i)) {
            uint32_t place = atomicAdd(column_of(columns, bins[i]), 1u);
            staged[staged_place(place)] = (uint16_t)(bins[i] % BUCKET_BINS);
        }
    }
    __syncthreads();
    return run;
}

template <typename T, bool PLAIN>
__global__ void __launch_bounds__(SPLIT_THREADS, SPLIT_BLOCKS)
    histogram_split_kernel(const T *d_elements, struct element_count counted,
                           const __grid_constant__ slots_of_bins<T, PLAIN> slots,
                           const __grid_constant__ struct partition partition)
{
    extern __shared__ uint32_t columns[]; /* [buckets][LANES], and the staged residuals */
    constexpr uint32_t tile_elements = TILE_ELEMENTS<T>;
    const uint32_t column_words = partition.buckets * LANES;
    const uint32_t elements = read_count(counted);
    const uint32_t tiles = count_tiles(partition, elements);
    const uint32_t last = first_tile(partition, tiles, blockIdx.x + 1);
    uint16_t *staged = (uint16_t *)(columns + column_words);
    uint32_t weight = 0;

    for (uint32_t i = threadIdx.x; i < column_words; i += SPLIT_THREADS)
        columns[i] = 0;
    __syncthreads();
    for (uint32_t tile = first_tile(partition, tiles, blockIdx.x); tile < last; tile++) {
        const size_t first = (size_t)tile * tile_elements;
        const uint32_t count = min(elements - (uint32_t)first, tile_elements);
        uint32_t run = count == tile_elements
                           ? sort_tile<true>(d_elements + first, count, slots, partition.buckets,
                                             columns, staged)
                           : sort_tile<false>(d_elements + first, count, slots, partition.buckets,
                                              columns, staged);
        if (threadIdx.x < partition.buckets) {
            partition.runs[(size_t)threadIdx.x * partition.room + tile] = run;
            weight += (run >> 16) + (run >> 16 ? RUN_WEIGHT : 0);
        }
        write_residuals(staged, count, partition.residuals + first);
        for (uint32_t i = threadIdx.x; i < column_words; i += SPLIT_THREADS)
            columns[i] = 0;
        __syncthreads();
    }
    if (threadIdx.x < partition.buckets) {
        partition.group_weights[threadIdx.x * partition.groups + blockIdx.x] = weight;
        if (weight > 0)
            atomicAdd(&partition.weights[threadIdx.x], (unsigned long long)weight);
    }
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
            uint32_t first = first_tile(partition, tiles, thread);
            uint32_t count = first_tile(partition, tiles, thread + 1) - first;
            found.tile = first + (uint32_t)((offset - before) * count / weight);
        }
        __syncthreads();
        cut.tile = found.tile;
    }
    __syncthreads(); /* the shared memory is used again */
    return cut;
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

    /* Counts from this word on, a warp at a time, several loads under way. */
    __device__ __forceinline__ void count_from(uint32_t *table, uint32_t first) const
    {
        constexpr uint32_t loads = 4;
        for (uint32_t i = first + threadIdx.x % LANES; i < words; i += loads * LANES) {
            uint2 residuals[loads];
#pragma unroll
            for (uint32_t k = 0; k < loads; k++) {
                if (i + k * LANES < words)
                    residuals[k] = __ldcs(&d_words[i + k * LANES]);
            }
#pragma unroll
            for (uint32_t k = 0; k < loads; k++) {
                if (i + k * LANES < words)
                    count(table, i + k * LANES, residuals[k]);
            }
        }
    }
};

/* Counts RUNS runs of a bucket, or fewer, from tile `first` on; one warp does it. */
__device__ __forceinline__ void count_warp_runs(const struct partition &partition,
                                                const uint32_t *d_runs, uint32_t first,
                                                uint32_t last, uint32_t *table)
{
    const uint32_t lane = threadIdx.x % LANES;
    const uint32_t own = lane < RUNS && first + lane < last ? d_runs[first + lane] : 0;
    const uint16_t *d_tile = partition.residuals + (size_t)first * partition.tile_elements;
    uint2 residuals[RUNS];

    const auto run = [&](uint32_t i) {
        return run_words(d_tile + i * partition.tile_elements, __shfl_sync(~0u, own, (int)i));
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
#pragma unroll 1
    for (uint32_t i = 0; i < RUNS; i++) /* what is left of long ones */
        run(i).count_from(table, LANES);
}

__global__ void __launch_bounds__(COUNT_THREADS)
    histogram_runs_kernel(struct element_count counted,
                          const __grid_constant__ struct partition partition,
                          struct histogram_counters counters)
{
    extern __shared__ uint32_t table[]; /* [BUCKET_BINS] */
    const uint32_t tiles = count_tiles(partition, read_count(counted));
    const struct cut begin = find_cut(partition, tiles, blockIdx.x, gridDim.x);
    const struct cut end = find_cut(partition, tiles, blockIdx.x + 1, gridDim.x);

    for (uint32_t i = threadIdx.x; i < BUCKET_BINS; i += COUNT_THREADS)
        table[i] = 0;
    __syncthreads();
    for (uint32_t bucket = begin.bucket; bucket < partition.buckets && bucket <= end.bucket;
         bucket++) {
        const uint32_t *d_runs = partition.runs + (size_t)bucket * partition.room;
        const uint32_t first = bucket == begin.bucket ? begin.tile : 0;
        const uint32_t last = bucket == end.bucket ? end.tile : tiles;
        if (first >= last || partition.weights[bucket] == 0)
            continue;
        for (uint32_t tile = first + threadIdx.x / LANES * RUNS; tile < last;
             tile += COUNT_THREADS / LANES * RUNS)
            count_warp_runs(partition, d_runs, tile, last, table);
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < BUCKET_BINS; i += COUNT_THREADS) {
            uint32_t count = table[i];
            if (count > 0) {
                counters.add(bucket * BUCKET_BINS + i, count);
                table[i] = 0;
            }
        }
        __syncthreads();
    }
}

constexpr size_t SCRATCH_ALIGNMENT = 256;

size_t align(size_t bytes)
{
    return (bytes + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
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
    size_t group_weights = weights + align(BUCKETS_MAX * sizeof(unsigned long long));
    size_t runs = group_weights + align(buckets * GROUPS_MAX * sizeof(uint32_t));
    size_t residuals = runs + align(buckets * room * sizeof(uint32_t));

    if (d_scratch) {
        partition->weights = (unsigned long long *)(d_scratch + weights);
        partition->group_weights = (uint32_t *)(d_scratch + group_weights);
        partition->runs = (uint32_t *)(d_scratch + runs);
        partition->residuals = (uint16_t *)(d_scratch + residuals);
        partition->buckets = (uint32_t)buckets;
        partition->room = (uint32_t)room;
        partition->tile_elements = tile_elements;
    }
    return residuals + align(room * tile_elements * sizeof(uint16_t));
}

bool fits(const struct element *element, const struct binning *binning, size_t elements)
{
    return element->bytes >= 4 && elements <= ELEMENTS_MAX &&
           count_bin_slots(binning) <= (size_t)BUCKETS_MAX * BUCKET_BINS;
}

size_t scratch_bytes(const struct element *element, const struct binning *binning, size_t elements)
{
    if (!fits(element, binning, elements))
        return 0;
    return lay_out(element, binning, elements, nullptr, nullptr);
}

size_t split_shared_bytes(size_t buckets, uint32_t tile_elements)
{
    return buckets * LANES * sizeof(uint32_t) +
           align(staged_place(tile_elements) * sizeof(uint16_t));
}

bool takes(const struct histogram_task *task)
{
    size_t most = (size_t)task->device->shared_bytes;

    return task->d_scratch && fits(task->element, task->binning, task->elements->count) &&
           BUCKET_BINS * sizeof(uint32_t) + (16 << 10) <= most &&
           split_shared_bytes(BUCKETS_MAX, TILE_ELEMENTS<uint32_t>) <= most;
}

template <typename T, bool PLAIN>
cudaError_t launch(const struct histogram_task *task)
{
    auto split = histogram_split_kernel<T, PLAIN>;
    struct partition partition;
    struct element_count count = count_of(task->elements);

    lay_out(task->element, task->binning, task->elements->count, (char *)task->d_scratch,
            &partition);
    uint32_t most = SPLIT_BLOCKS * (uint32_t)task->device->multiprocessors;
    most = most < GROUPS_MAX ? most : GROUPS_MAX;
    partition.groups = partition.room < most ? partition.room : most;
    if (partition.groups == 0)
        return cudaSuccess;

    size_t split_bytes = split_shared_bytes(partition.buckets, partition.tile_elements);
    size_t table_bytes = BUCKET_BINS * sizeof(uint32_t);
    cudaError_t error = allow_shared_bytes(split, split_bytes);
    if (error == cudaSuccess)
        error = allow_shared_bytes(histogram_runs_kernel, table_bytes);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(partition.weights, 0, BUCKETS_MAX * sizeof *partition.weights,
                                task->stream);
    if (error != cudaSuccess)
        return error;
    split<<<partition.groups, SPLIT_THREADS, split_bytes, task->stream>>>(
        (const T *)task->elements->d_data, count, slots_of_bins<T, PLAIN>(task), partition);
    histogram_runs_kernel<<<(unsigned)task->device->multiprocessors, COUNT_THREADS, table_bytes,
                            task->stream>>>(count, partition, histogram_counters(task));
    return cudaGetLastError();
}

cudaError_t launch_task(const struct histogram_task *task)
{
    switch (task->element->type) {
#define LAUNCH_CASE(id, name, ctype)                                                        \
    case ELEMENT_##id:                                                                      \
        if constexpr (sizeof(ctype) == 4)                                                   \
            return is_plain(task) ? launch<ctype, true>(task) : launch<ctype, false>(task); \
        if constexpr (sizeof(ctype) == 8)                                                   \
            return launch<ctype, false>(task);                                              \
        break;
        ELEMENT_TYPES(LAUNCH_CASE)
#undef LAUNCH_CASE
    case ELEMENT_TYPE_COUNT:
        break;
    }
    return cudaErrorInvalidValue;
}

} // namespace

const struct histogram_kernel histogram_kernel_partition = {"partition", takes, scratch_bytes,
                                                            launch_task};
