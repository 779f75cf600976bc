/*
 * The rungs of the histogram's ladder: the kernels that tutorials arrive at, numbered; CUB's; ours;
 * and the partition, the best that values on the GPU allow.
 *
 *   1  one atomic addition to the global table for each value
 *   2  a table in each block's shared memory, added to the global one at the end
 *   3  the same, but each block stores its table, and a second kernel adds the tables
 *   4, 5, 6  the same as 1, 2, 3 with the global table set to persist in L2
 */
#include "rungs.cuh"

#include "cuda/histogram_kernels.h"
#include "cuda/launch.cuh"
#include "partition.cuh"

#include <cub/device/device_histogram.cuh>
#include <memory>

namespace
{

constexpr unsigned BLOCK_THREADS = 256;
constexpr unsigned TABLES = 512;              /* blocks, and so tables, of 2 and 3 */
constexpr uint32_t RIVAL_BINS_MAX = 5000000;  /* CUB and persisting L2 are timed up to here */
constexpr uint32_t LEVELS_BINS_MIN = 1000000; /* two levels of partition from here on */

__global__ void histogram_1_kernel(const int32_t *d_values, size_t count, uint32_t *d_counts)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        atomicAdd(&d_counts[d_values[i]], 1u);
}

__device__ void count_shared(const int32_t *d_values, size_t count, uint32_t *table, uint32_t bins)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x)
        table[i] = 0;
    __syncthreads();
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        atomicAdd(&table[d_values[i]], 1u);
    __syncthreads();
}

__global__ void histogram_2_kernel(const int32_t *d_values, size_t count, uint32_t bins,
                                   uint32_t *d_counts)
{
    extern __shared__ uint32_t table[];
    count_shared(d_values, count, table, bins);
    for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x)
        atomicAdd(&d_counts[i], table[i]);
}

__global__ void histogram_3_kernel(const int32_t *d_values, size_t count, uint32_t bins,
                                   uint32_t *d_tables)
{
    extern __shared__ uint32_t table[];
    count_shared(d_values, count, table, bins);
    for (uint32_t i = threadIdx.x; i < bins; i += blockDim.x)
        d_tables[(size_t)blockIdx.x * bins + i] = table[i];
}

__global__ void histogram_3_reduce_kernel(const uint32_t *d_tables, uint32_t tables, uint32_t bins,
                                          uint32_t *d_counts)
{
    uint32_t bin = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t sum = 0;

    if (bin >= bins)
        return;
    for (uint32_t i = 0; i < tables; i++)
        sum += d_tables[(size_t)i * bins + bin];
    d_counts[bin] += sum;
}

/* SplitMix64's mixing (Steele, Lea, Flood, OOPSLA 2014). */
__device__ uint64_t random_word(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

__global__ void fill_kernel(int32_t *d_values, size_t count, uint32_t bins,
                            enum distribution distribution)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        uint64_t random = random_word(distribution == WARPS ? i / 128 : i);
        double fraction = (double)(random >> 11) * 0x1p-53;
        uint64_t value = random % bins;
        if (distribution == SKEWED) /* as many in [1, 2) as in [2, 4), [4, 8), ... */
            value = (uint64_t)exp(fraction * log((double)bins));
        else if (distribution == EQUAL)
            value = bins / 3;
        else if (distribution == SORTED)
            value = i * bins / count;
        else if (distribution == TWO)
            value = random % 2 ? bins / 3 : bins / 2;
        d_values[i] = (int32_t)(value < bins ? value : bins - 1);
    }
}

/* Device memory that lives as long as its rung. */
template <typename T>
std::shared_ptr<T> rung_memory(size_t count)
{
    return std::shared_ptr<T>(device_array<T>(count), cudaFree);
}

struct rung global_atomics(const struct input &input, enum rung_kind kind)
{
    const unsigned blocks = 8 * (unsigned)input.device.multiprocessors;

    return {"global atomics", kind,
            [=, &input](const int32_t *d_values, size_t values, cudaStream_t stream) {
                histogram_1_kernel<<<blocks, BLOCK_THREADS, 0, stream>>>(d_values, values,
                                                                         input.d_counts);
            }};
}

struct rung shared_tables(const struct input &input, enum rung_kind kind)
{
    const size_t bytes = input.bins * sizeof(uint32_t);

    check(allow_shared_bytes(histogram_2_kernel, bytes), "shared memory");
    return {"shared", kind,
            [=, &input](const int32_t *d_values, size_t values, cudaStream_t stream) {
                histogram_2_kernel<<<TABLES, BLOCK_THREADS, bytes, stream>>>(d_values, values,
                                                                             input.bins,
                                                                             input.d_counts);
            }};
}

struct rung shared_tables_reduced(const struct input &input, enum rung_kind kind)
{
    const size_t bytes = input.bins * sizeof(uint32_t);
    auto d_tables = rung_memory<uint32_t>((size_t)TABLES * input.bins);

    check(allow_shared_bytes(histogram_3_kernel, bytes), "shared memory");
    return {
        "shared + reduction", kind,
        [=, &input](const int32_t *d_values, size_t values, cudaStream_t stream) {
            histogram_3_kernel<<<TABLES, BLOCK_THREADS, bytes, stream>>>(d_values, values,
                                                                         input.bins,
                                                                         d_tables.get());
            histogram_3_reduce_kernel<<<input.bins / BLOCK_THREADS + 1, BLOCK_THREADS, 0, stream>>>(
                d_tables.get(), TABLES, input.bins, input.d_counts);
        }};
}

/* Kernels 1 to 3, or 4 to 6; those with tables in shared memory where these fit. */
void add_published(const struct input &input, enum rung_kind kind, std::vector<struct rung> &rungs)
{
    const bool fits = input.bins * sizeof(uint32_t) <= (size_t)input.device.shared_bytes;
    int number = kind == RUNG_PERSISTING ? 4 : 1;
    std::vector<struct rung> published = {global_atomics(input, kind)};

    if (fits) {
        published.push_back(shared_tables(input, kind));
        published.push_back(shared_tables_reduced(input, kind));
    }
    for (struct rung &rung : published) {
        rung.name = std::to_string(number++) + " " + rung.name;
        rung.name += kind == RUNG_PERSISTING ? ", persisting L2" : "";
        rungs.push_back(rung);
    }
}

/* CUB needs temporary memory that grows with the number of values. */
struct rung cubs(const struct input &input)
{
    auto call = [&input](void *d_memory, size_t &bytes, const int32_t *d_values, size_t values,
                         cudaStream_t stream) {
        check(cub::DeviceHistogram::HistogramEven(d_memory, bytes, d_values, input.d_counts,
                                                  (int)input.bins + 1, 0, (int)input.bins,
                                                  (int)values, stream),
              "CUB");
    };
    size_t most = 0;

    call(nullptr, most, input.d_values, input.values, 0);
    auto d_memory = rung_memory<char>(most);
    return {"CUB", RUNG_PUBLISHED,
            [=](const int32_t *d_values, size_t values, cudaStream_t stream) {
                size_t bytes = most;
                call(d_memory.get(), bytes, d_values, values, stream);
            }};
}

void add_ours(const struct input &input, std::vector<struct rung> &rungs)
{
    for (const struct histogram_kernel *kernel :
         {&histogram_kernel_shared, &histogram_kernel_windows, &histogram_kernel_cached}) {
        const struct histogram_task task = {&input.device, &input.element, &input.binning,
                                            nullptr,       nullptr,        nullptr};
        if (!kernel->takes(&task))
            continue;
        rungs.push_back(
            {std::string("ours: ") + kernel->name, RUNG_OURS,
             [=, &input](const int32_t *d_values, size_t values, cudaStream_t stream) {
                 const struct cuda_histogram_table table = {input.d_counts, input.d_outside,
                                                            nullptr};
                 const struct cuda_elements elements = {d_values, values, nullptr, nullptr};
                 const struct histogram_task whole = {&input.device, &input.element, &input.binning,
                                                      &elements,     &table,         stream};
                 check(kernel->launch(&whole), kernel->name);
             }});
    }
}

void add_partition(const struct input &input, const struct partition &partition,
                   std::vector<struct rung> &rungs)
{
    struct partition_task task = {&input.device, nullptr, input.values, input.d_counts,
                                  input.bins,    nullptr, nullptr};
    const size_t bytes = partition.scratch_bytes(&task);

    if (bytes == 0)
        return;
    auto d_scratch = rung_memory<char>(bytes);
    rungs.push_back({partition.name, RUNG_PARTITION,
                     [=, &partition](const int32_t *d_values, size_t values, cudaStream_t stream) {
                         struct partition_task part = task;
                         part.d_values = (const uint32_t *)d_values;
                         part.values = values;
                         part.d_scratch = d_scratch.get();
                         part.stream = stream;
                         check(partition.launch(&part), partition.name);
                     }});
}

} // namespace

std::vector<struct rung> ladder_rungs(const struct input &input)
{
    std::vector<struct rung> rungs;

    add_published(input, RUNG_PUBLISHED, rungs);
    if (input.bins <= RIVAL_BINS_MAX) {
        add_published(input, RUNG_PERSISTING, rungs);
        rungs.push_back(cubs(input));
    }
    add_ours(input, rungs);
    add_partition(input, partition_one_level, rungs);
    if (input.bins >= LEVELS_BINS_MIN)
        add_partition(input, partition_two_levels, rungs);
    return rungs;
}

void ladder_fill(const struct input &input, enum distribution distribution)
{
    fill_kernel<<<2048, 256>>>(input.d_values, input.values, input.bins, distribution);
}
