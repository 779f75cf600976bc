/*
 * Counting any values: CUB's sort and run lengths, our table in one launch, and our table in chunks
 * of 4 MiB on 16 streams, as the engine does. The numbers of distinct values are compared.
 *
 * The table already has the keys when it is timed, as in a long stream. If all keys are distinct,
 * the table is cleared, and the time includes that.
 */
#include "ladder.cuh"
#include "lib/table.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>

namespace
{

constexpr size_t CHUNK_BYTES = (size_t)4 << 20;
constexpr size_t STREAMS = 16;

struct uniq_kind {
    const char *name;
    unsigned bits; /* 2^bits distinct values, at most one per element */
    bool skewed;
};

const struct uniq_kind kinds[] = {
    {"all equal", 0, false},
    {"1Ki", 10, false},
    {"64Ki", 16, false},
    {"1Mi", 20, false},
    {"16Mi", 24, false},
    {"1Mi, log-skewed", 20, true},
    {"16Mi, log-skewed", 24, true},
    {"all different", 64, false},
};

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
__device__ uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

template <typename T>
__global__ void fill_kernel(T *d_values, size_t count, unsigned bits, bool skewed)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x) {
        const uint64_t random = mix((i + 1) * 0x9e3779b97f4a7c15);
        const uint64_t drawn = bits < 64 ? random & (((uint64_t)1 << bits) - 1) : i;
        d_values[i] = (T)((skewed ? drawn >> mix(random) % bits : drawn) * 0x9e3779b97f4a7c15);
    }
}

/* Buffers to count one type of input. */
template <typename T>
struct uniq_bench {
    struct cuda_device device;
    struct job job;
    struct cuda_uniq_table table;
    size_t count;
    T *d_values;
    uint64_t *d_left;
    std::vector<cudaStream_t> streams;
};

/* The final size of an engine's table (cuda_uniq.c), with space for all keys. */
struct cuda_uniq_table make_table(uint64_t different)
{
    struct cuda_uniq_table table = {};

    table.bits = 21;
    while (((uint64_t)3 << table.bits) / 4 < different)
        table.bits += 2;
    table.used_max = (uint64_t)1 << table.bits;
    table.probes_max = table.used_max;
    table.d_slots = device_array<struct table_entry>(table.used_max);
    table.d_control = device_array<struct cuda_uniq_control>(1);
    table.seeds[0] = 0x853c49e6748fea9b;
    table.seeds[1] = 0xda3e39cb94b95bdb;
    table.seeds[2] = 0xd1342543de82ef95;
    return table;
}

template <typename T>
void clear_table(const struct uniq_bench<T> &bench)
{
    check(cudaMemsetAsync(bench.table.d_slots, 0, sizeof(struct table_entry) << bench.table.bits),
          "cudaMemset");
    check(cudaMemsetAsync(bench.table.d_control, 0, sizeof(struct cuda_uniq_control)),
          "cudaMemset");
}

/* Counts in launches of at most `most` elements. Streams wait for stream 0, and it for them. */
template <typename T>
void count_values(const struct uniq_bench<T> &bench, size_t most, bool clears)
{
    const struct cuda_uniq_left left = {nullptr, bench.d_left};
    size_t launches = 0;

    if (clears)
        clear_table(bench);
    for (size_t first = 0; first < bench.count; first += most) {
        const size_t n = std::min(most, bench.count - first);
        const struct cuda_elements elements = {bench.d_values + first, n, nullptr, nullptr};
        check(cuda_uniq_count_launch(&bench.device, &bench.job, &elements, &bench.table, &left,
                                     bench.streams[launches++ % STREAMS]),
              "uniq");
    }
}

/* Sorts the values and finds the lengths of runs. The caller frees nothing: it is one bench. */
template <typename T>
double time_cub(const struct uniq_bench<T> &bench, uint64_t *different)
{
    T *d_sorted = device_array<T>(bench.count);
    T *d_unique = device_array<T>(bench.count);
    uint32_t *d_lengths = device_array<uint32_t>(bench.count);
    uint64_t *d_runs = device_array<uint64_t>(1);
    size_t sort_bytes = 0;
    size_t runs_bytes = 0;
    auto sort = [&](void *d_memory, size_t &bytes) {
        check(cub::DeviceRadixSort::SortKeys(d_memory, bytes, bench.d_values, d_sorted,
                                             bench.count),
              "CUB");
    };
    auto runs = [&](void *d_memory, size_t &bytes) {
        check(cub::DeviceRunLengthEncode::Encode(d_memory, bytes, d_sorted, d_unique, d_lengths,
                                                 d_runs, bench.count),
              "CUB");
    };
    sort(nullptr, sort_bytes);
    runs(nullptr, runs_bytes);
    char *d_memory = device_array<char>(std::max(sort_bytes, runs_bytes));
    double time = milliseconds([&] {
        sort(d_memory, sort_bytes);
        runs(d_memory, runs_bytes);
    });
    *different = fetch(d_runs);
    for (void *d_array :
         {(void *)d_sorted, (void *)d_unique, (void *)d_lengths, (void *)d_runs, (void *)d_memory})
        cudaFree(d_array);
    return time;
}

template <typename T>
void print_kind(struct uniq_bench<T> &bench, const char *type, const struct uniq_kind &kind)
{
    const size_t chunk = CHUNK_BYTES / sizeof(T);
    const bool clears = kind.bits == 64;
    uint64_t different;

    fill_kernel<<<1024, 256>>>(bench.d_values, bench.count, kind.bits, kind.skewed);
    check(cudaGetLastError(), "fill");
    bench.table = make_table(kind.bits < 64 ? (uint64_t)1 << kind.bits : bench.count);
    double cub_time = time_cub(bench, &different);
    double time = milliseconds([&] { count_values(bench, bench.count, clears); });
    double chunks_time = milliseconds([&] { count_values(bench, chunk, clears); });
    const struct cuda_uniq_control control = fetch(bench.table.d_control);
    require(control.used + (control.zeros > 0) == different, kind.name);
    double bytes = (double)(bench.count * sizeof(T));
    printf("| %s, %s | %.1f | %.1f | %.1f | %.0f |\n", type, kind.name, cub_time, time, chunks_time,
           bytes / chunks_time / 1e6);
    cudaFree(bench.table.d_slots);
    cudaFree(bench.table.d_control);
}

template <typename T>
void print_type(const struct ladder &ladder, const char *type)
{
    struct uniq_bench<T> bench = {
    };

    bench.device = ladder.device;
    bench.job.operation = OPERATION_UNIQ;
    bench.job.bin_width = 1;
    element_parse(type, &bench.job.element);
    bench.count = ladder.values;
    bench.d_values = device_array<T>(bench.count);
    bench.d_left = device_array<uint64_t>(1);
    bench.streams.resize(STREAMS);
    for (cudaStream_t &stream : bench.streams)
        check(cudaStreamCreate(&stream), "cudaStreamCreate");
    for (const struct uniq_kind &kind : kinds)
        print_kind(bench, type, kind);
    for (cudaStream_t stream : bench.streams)
        cudaStreamDestroy(stream);
    cudaFree(bench.d_values);
    cudaFree(bench.d_left);
}

} // namespace

void ladder_uniq(const struct ladder &ladder)
{
    printf("\n| uniq | CUB's sort and run lengths, ms | ours, ms | in chunks, ms | GB/s |\n"
           "|---|---|---|---|---|\n");
    print_type<uint64_t>(ladder, "u64");
    print_type<uint32_t>(ladder, "u32");
}
