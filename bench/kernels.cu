/*
 * The kernels against CUB's composition of the same, on data that is already on the GPU.
 *
 * usage: bench/kernels [MEBIVALUES]     (int32 values, 256 by default)
 *
 * Every result is compared with one computed on the CPU before anything is timed. Prints a Markdown
 * table: medians of CUDA events over RUNS runs after a warm-up, the bytes that must be read a
 * second, and how many times as long CUB takes; and another one of how fast text is parsed, which
 * CUB does not do.
 */
extern "C" {
#include "element.h"
}
#include "kernels.h"

#include <algorithm>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <functional>
#include <random>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <vector>

namespace
{

constexpr int RUNS = 21;

void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "kernels: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

void require(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "kernels: wrong result: %s\n", what);
    exit(1);
}

template <typename T>
T *device_array(size_t count)
{
    void *memory;
    check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
    check(cudaMemset(memory, 0, count * sizeof(T)), "cudaMemset");
    return (T *)memory;
}

/* One value of the device. */
template <typename T>
T fetch(const T *d_value)
{
    T value;
    check(cudaMemcpy(&value, d_value, sizeof value, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return value;
}

/* The median of the milliseconds that `work` takes. */
double milliseconds(const std::function<void()> &work)
{
    std::vector<float> times;
    cudaEvent_t start, stop;

    check(cudaEventCreate(&start), "cudaEventCreate");
    check(cudaEventCreate(&stop), "cudaEventCreate");
    for (int i = 0; i < 3; i++)
        work();
    for (int i = 0; i < RUNS; i++) {
        float time;
        check(cudaEventRecord(start), "cudaEventRecord");
        work();
        check(cudaEventRecord(stop), "cudaEventRecord");
        check(cudaEventSynchronize(stop), "a kernel");
        check(cudaEventElapsedTime(&time, start, stop), "cudaEventElapsedTime");
        times.push_back(time);
    }
    std::nth_element(times.begin(), times.begin() + RUNS / 2, times.end());
    return times[RUNS / 2];
}

void row(const char *name, double bytes, const std::function<void()> &ours,
         const std::function<void()> &cubs)
{
    double a = milliseconds(ours);
    double b = milliseconds(cubs);
    printf("| %s | %.3f | %.0f | %.3f | %.2f |\n", name, a, bytes / a / 1e6, b, b / a);
}

/* CUB's algorithms ask for temporary memory in a first call. */
template <typename Call>
std::function<void()> cub_call(Call call)
{
    size_t bytes = 0;
    check(call(nullptr, bytes), "CUB");
    void *d_memory = device_array<char>(bytes + 1);
    return [=] {
        size_t size = bytes;
        check(call(d_memory, size), "CUB");
    };
}

struct widen {
    __host__ __device__ long long operator()(int32_t value) const
    {
        return value;
    }
};

struct between {
    int32_t low;
    int32_t high;
    __host__ __device__ unsigned long long operator()(int32_t value) const
    {
        return low <= value && value <= high;
    }
};

struct greater_of {
    __host__ __device__ int32_t operator()(int32_t a, int32_t b) const
    {
        return a > b ? a : b;
    }
};

struct survives {
    const int32_t *d_values;
    const int32_t *d_before;
    __host__ __device__ bool operator()(int32_t index) const
    {
        return d_values[index] >= d_before[index];
    }
};

struct bench {
    struct cuda_device device;
    std::vector<int32_t> values;
    int32_t *d_values;
    double bytes;
};

void bench_reduce(const struct bench &bench)
{
    size_t n = bench.values.size();
    const struct cuda_elements elements = {bench.d_values, n, nullptr};
    struct job job = {};
    struct cuda_reduce_partial *d_partial = device_array<struct cuda_reduce_partial>(1);
    long long *d_sum = device_array<long long>(1);
    long long sum = 0;
    auto ours = [&] {
        check(cuda_reduce_launch(&bench.device, &job, &elements, d_partial, 0), "reduce");
    };
    auto cubs = cub_call([=, &bench](void *d_memory, size_t &bytes) {
        return cub::DeviceReduce::TransformReduce(d_memory, bytes, bench.d_values, d_sum, (int)n,
                                                  cuda::std::plus<>(), widen(), 0ll);
    });

    job.operation = OPERATION_REDUCE;
    element_parse("i32", &job.element);
    job.reductions.needs = REDUCTIONS_NEED_SUM;
    for (int32_t value : bench.values)
        sum += value;
    ours();
    cubs();
    require((long long)fetch(d_partial).sum[0] == sum, "reduce");
    require(fetch(d_sum) == sum, "CUB's sum");
    row("reduce, all but squares, against CUB's 64-bit sum alone", bench.bytes, ours, cubs);
    job.reductions.needs |= REDUCTIONS_NEED_SQUARES;
    row("reduce, all, against CUB's 64-bit sum alone", bench.bytes, ours, cubs);
}

void bench_count(const struct bench &bench)
{
    size_t n = bench.values.size();
    const struct cuda_elements elements = {bench.d_values, n, nullptr};
    const struct between ranges[] = {{0, INT32_MAX}, {77, 77}, {-1000000, 999999}};
    std::vector<struct predicate> predicates(3);
    struct job job = {};
    uint64_t *d_hits = device_array<uint64_t>(3);
    unsigned long long *d_sums = device_array<unsigned long long>(3);
    std::vector<std::function<void()>> cubs;

    job.operation = OPERATION_COUNT;
    element_parse("i32", &job.element);
    job.predicates = predicates.data();
    for (int i = 0; i < 3; i++) {
        predicates[i].form = PREDICATE_INTERVAL;
        predicates[i].low = (uint64_t)(int64_t)ranges[i].low;
        predicates[i].last = (uint64_t)((int64_t)ranges[i].high - ranges[i].low);
        cubs.push_back(cub_call([=, &bench](void *d_memory, size_t &bytes) {
            return cub::DeviceReduce::TransformReduce(d_memory, bytes, bench.d_values, d_sums + i,
                                                      (int)n, cuda::std::plus<>(), ranges[i], 0ull);
        }));
    }
    auto ours = [&] {
        check(cuda_count_intervals_launch(&bench.device, &job, &elements, d_hits, 0), "count");
    };
    auto all_cubs = [&] {
        for (const auto &call : cubs)
            call();
    };
    job.predicate_count = 3;
    ours();
    all_cubs();
    for (int i = 0; i < 3; i++) {
        unsigned long long expected =
            std::count_if(bench.values.begin(), bench.values.end(), ranges[i]);
        require(fetch(d_hits + i) == expected, "count");
        require(fetch(d_sums + i) == expected, "CUB's count");
    }
    job.predicate_count = 1;
    row("count, one predicate, against CUB's transform and reduce", bench.bytes, ours, cubs[0]);
    job.predicate_count = 3;
    row("count, three predicates, against three of CUB's", bench.bytes, ours, all_cubs);
}

void bench_stalin_sort(const char *name, const struct bench &bench)
{
    size_t n = bench.values.size();
    const struct cuda_elements elements = {bench.d_values, n, nullptr};
    struct job job = {};
    struct cuda_stalin_sort_buffers buffers = {};
    int32_t *d_before = device_array<int32_t>(n);
    int32_t *d_kept = device_array<int32_t>(n);
    int32_t *d_selected = device_array<int32_t>(n);
    int64_t *d_count = device_array<int64_t>(1);
    std::vector<int32_t> expected;

    job.operation = OPERATION_STALIN_SORT;
    element_parse("i32", &job.element);
    buffers.d_kept = d_kept;
    buffers.d_control = device_array<char>(cuda_stalin_sort_control_bytes(n * sizeof(int32_t)));
    for (int32_t value : bench.values) {
        if (expected.empty() || value >= expected.back())
            expected.push_back(value);
    }
    auto ours = [&] {
        check(cuda_stalin_sort_launch(&bench.device, &job, &elements, nullptr, &buffers, 0),
              "stalin-sort");
    };
    auto scan = cub_call([=, &bench](void *d_memory, size_t &bytes) {
        return cub::DeviceScan::ExclusiveScan(d_memory, bytes, bench.d_values, d_before,
                                              greater_of(), INT32_MIN, (int)n);
    });
    auto flags = thrust::make_transform_iterator(thrust::make_counting_iterator(0),
                                                 survives{bench.d_values, d_before});
    auto select = cub_call([=, &bench](void *d_memory, size_t &bytes) {
        return cub::DeviceSelect::Flagged(d_memory, bytes, bench.d_values, flags, d_selected,
                                          d_count, (int)n);
    });
    auto cubs = [&] {
        scan();
        select();
    };
    ours();
    cubs();
    require(fetch((const uint64_t *)buffers.d_control) == expected.size(), "stalin-sort's count");
    require((size_t)fetch(d_count) == expected.size(), "CUB's count");
    std::vector<int32_t> kept(expected.size());
    for (const int32_t *d_result : {d_kept, d_selected}) {
        check(cudaMemcpy(kept.data(), d_result, kept.size() * sizeof(int32_t),
                         cudaMemcpyDeviceToHost),
              "cudaMemcpy");
        require(kept == expected, "survivors");
    }
    row(name, bench.bytes, ours, cubs);
    for (void *d_memory :
         {(void *)d_before, (void *)d_kept, (void *)d_selected, (void *)buffers.d_control})
        cudaFree(d_memory);
}

/* A kind of text: `line` appends a line of it, and to the values what that is worth. */
struct text_kind {
    const char *name;
    struct text_rules rules;
    std::function<void(std::string &, std::vector<int64_t> &)> line;
};

/* Parses lines of that kind, at least so many bytes; returns GB/s. */
double text_speed(const struct bench &bench, const struct text_kind &kind, size_t bytes)
{
    struct job job = {};
    std::string text;
    std::vector<int64_t> expected;

    element_parse("i64", &job.element);
    job.is_text = true;
    job.text = kind.rules;
    while (text.size() < bytes)
        kind.line(text, expected);
    char *d_text = device_array<char>(text.size());
    int64_t *d_values = device_array<int64_t>((text.size() + 1) / 2);
    char *d_control = device_array<char>(cuda_text_control_bytes(text.size()));
    check(cudaMemcpy(d_text, text.data(), text.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    auto ours = [&] {
        check(cuda_text_launch(&bench.device, &job, d_text, text.size(), d_values, d_control, 0),
              "text");
    };
    ours();
    struct cuda_text_parsed parsed = fetch((const struct cuda_text_parsed *)d_control);
    require(parsed.values == expected.size() && parsed.invalid == 0, "numbers of values");
    std::vector<int64_t> values(expected.size());
    check(cudaMemcpy(values.data(), d_values, values.size() * sizeof(int64_t),
                     cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    require(values == expected, "values of text");
    double speed = (double)text.size() / milliseconds(ours) / 1e6;
    for (void *d_memory : {(void *)d_text, (void *)d_values, (void *)d_control})
        cudaFree(d_memory);
    return speed;
}

void bench_text(const struct bench &bench)
{
    std::mt19937 random(2);
    auto append = [&](std::string &text, std::vector<int64_t> &values, int64_t value) {
        text += std::to_string(value);
        values.push_back(value);
    };
    const struct text_kind kinds[] = {
        {"numbers of up to 7 digits, one a line",
         {0, TEXT_NO_DELIMITER},
         [&](std::string &text, std::vector<int64_t> &values) {
             append(text, values, random() % 10000000);
             text += '\n';
         }},
        {"8 numbers a line between commas, all",
         {0, ','},
         [&](std::string &text, std::vector<int64_t> &values) {
             for (int i = 0; i < 8; i++) {
                 append(text, values, random() % 1000000);
                 text += i < 7 ? ',' : '\n';
             }
         }},
        {"field 9 of a web server's log",
         {9, TEXT_NO_DELIMITER},
         [&](std::string &text, std::vector<int64_t> &values) {
             text += "203.0.113." + std::to_string(random() % 256);
             text += " - - [10/Oct/2000:13:55:36 -0700] \"GET /p/" + std::to_string(random());
             text += ".html HTTP/1.1\" ";
             append(text, values, 200 + random() % 300);
             text += ' ' + std::to_string(random() % 100000) + " \"-\" \"Mozilla/5.0 (X11)\"\n";
         }},
    };

    printf("\n| text to int64 | 4 MiB, GB/s | 256 MiB, GB/s |\n|---|---|---|\n");
    for (const struct text_kind &kind : kinds) {
        double small = text_speed(bench, kind, (size_t)4 << 20);
        printf("| %s | %.0f | %.0f |\n", kind.name, small,
               text_speed(bench, kind, (size_t)256 << 20));
    }
}

void upload(const struct bench &bench)
{
    check(cudaMemcpy(bench.d_values, bench.values.data(), (size_t)bench.bytes,
                     cudaMemcpyHostToDevice),
          "cudaMemcpy");
}

} // namespace

int main(int argc, char **argv)
{
    size_t n = (size_t)(argc > 1 ? atoi(argv[1]) : 256) << 20;
    struct bench bench = {};
    struct cudaDeviceProp properties;
    std::mt19937 random(1);

    check(cudaGetDeviceProperties(&properties, 0), "no device");
    bench.device.multiprocessors = properties.multiProcessorCount;
    bench.device.shared_bytes = (int)properties.sharedMemPerBlockOptin;
    bench.values.resize(n);
    for (int32_t &value : bench.values)
        value = (int32_t)random();
    bench.bytes = (double)(n * sizeof(int32_t));
    bench.d_values = device_array<int32_t>(n);
    upload(bench);

    printf("%s, %zu Mi int32\n\n", properties.name, n >> 20);
    printf("| kernels | ms | GB/s | CUB, ms | ratio |\n|---|---|---|---|---|\n");
    bench_reduce(bench);
    bench_count(bench);
    bench_stalin_sort("stalin-sort, random, against CUB's scan and select", bench);
    std::sort(bench.values.begin(), bench.values.end());
    upload(bench);
    bench_stalin_sort("stalin-sort, sorted, likewise", bench);
    bench_text(bench);
    return 0;
}
