/*
 * Times the kernels on data that is already on the GPU, compared with CUB's, and ladders
 * (bench/ladder) that begin with the kernels of tutorials.
 *
 * usage: bench/kernels [MEBIVALUES [TABLE]...]     (int32 values, 256 by default)
 *
 * TABLE is `rivals`, `text`, `records`, `reduce`, `histogram` or `uniq`; all of them by default.
 * Every result is compared with the CPU's before it is timed; the result of `uniq` with CUB's,
 * afterwards. Prints Markdown tables of medians of CUDA events after a warm-up. `rivals`: bytes
 * read per second, and CUB's time relative to ours. `text`, `records`: the speed of parsing and
 * gathering, which CUB does not offer.
 */
#include "ladder/ladder.cuh"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <random>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace
{

void row(const char *name, double bytes, const std::function<void()> &ours,
         const std::function<void()> &cubs)
{
    double a = milliseconds(ours);
    double b = milliseconds(cubs);
    printf("| %s | %.3f | %.0f | %.3f | %.2f |\n", name, a, bytes / a / 1e6, b, b / a);
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
    const struct cuda_elements elements = {bench.d_values, n, nullptr, nullptr};
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

constexpr int INTERVALS = 3;
const struct between intervals[INTERVALS] = {{0, INT32_MAX}, {77, 77}, {-1000000, 999999}};

/* CUB counts one interval per launch. */
std::function<void()> cubs_count(const struct bench &bench, int i, unsigned long long *d_sum)
{
    return cub_call([=, &bench](void *d_memory, size_t &bytes) {
        return cub::DeviceReduce::TransformReduce(d_memory, bytes, bench.d_values, d_sum,
                                                  (int)bench.values.size(), cuda::std::plus<>(),
                                                  intervals[i], 0ull);
    });
}

void bench_count(const struct bench &bench)
{
    const struct cuda_elements elements = {bench.d_values, bench.values.size(), nullptr, nullptr};
    std::vector<struct predicate> predicates(INTERVALS);
    struct job job = {};
    uint64_t *d_hits = device_array<uint64_t>(INTERVALS);
    unsigned long long *d_sums = device_array<unsigned long long>(INTERVALS);
    std::vector<std::function<void()>> cubs;
    auto ours = [&] {
        check(cuda_count_intervals_launch(&bench.device, &job, &elements, d_hits, 0), "count");
    };
    auto all_cubs = [&] {
        for (const auto &call : cubs)
            call();
    };

    job.operation = OPERATION_COUNT;
    element_parse("i32", &job.element);
    job.predicates = predicates.data();
    job.predicate_count = INTERVALS;
    for (int i = 0; i < INTERVALS; i++) {
        predicates[i].form = PREDICATE_INTERVAL;
        predicates[i].low = (uint64_t)(int64_t)intervals[i].low;
        predicates[i].last = (uint64_t)((int64_t)intervals[i].high - intervals[i].low);
        cubs.push_back(cubs_count(bench, i, d_sums + i));
    }
    ours();
    all_cubs();
    for (int i = 0; i < INTERVALS; i++) {
        unsigned long long expected =
            std::count_if(bench.values.begin(), bench.values.end(), intervals[i]);
        require(fetch(d_hits + i) == expected, "count");
        require(fetch(d_sums + i) == expected, "CUB's count");
    }
    row("count, three predicates, against three of CUB's", bench.bytes, ours, all_cubs);
    job.predicate_count = 1;
    row("count, one predicate, against CUB's transform and reduce", bench.bytes, ours, cubs[0]);
}

/* Memory for the values kept by stalin-sort, ours and CUB's. */
struct survivors {
    struct cuda_stalin_sort_buffers ours;
    int32_t *d_before; /* CUB's: the maximum before each value */
    int32_t *d_selected;
    int64_t *d_count;
};

/* CUB needs a scan and a selection. */
std::function<void()> cubs_stalin_sort(const struct bench &bench, const struct survivors &made)
{
    const int n = (int)bench.values.size();
    auto flags = thrust::make_transform_iterator(thrust::make_counting_iterator(0),
                                                 survives{bench.d_values, made.d_before});
    auto scan = cub_call([=, &bench](void *d_memory, size_t &bytes) {
        return cub::DeviceScan::ExclusiveScan(d_memory, bytes, bench.d_values, made.d_before,
                                              greater_of(), INT32_MIN, n);
    });
    auto select = cub_call([=, &bench](void *d_memory, size_t &bytes) {
        return cub::DeviceSelect::Flagged(d_memory, bytes, bench.d_values, flags, made.d_selected,
                                          made.d_count, n);
    });
    return [=] {
        scan();
        select();
    };
}

/* Compares the kept values of both with the CPU's. */
void check_survivors(const struct bench &bench, const struct survivors &made)
{
    std::vector<int32_t> expected;

    for (int32_t value : bench.values) {
        if (expected.empty() || value >= expected.back())
            expected.push_back(value);
    }
    require(fetch((const uint64_t *)made.ours.d_control) == expected.size(), "stalin-sort's count");
    require((size_t)fetch(made.d_count) == expected.size(), "CUB's count");
    require(fetch_array((const int32_t *)made.ours.d_kept, expected.size()) == expected,
            "survivors");
    require(fetch_array(made.d_selected, expected.size()) == expected, "CUB's survivors");
}

void bench_stalin_sort(const char *name, const struct bench &bench)
{
    const size_t n = bench.values.size();
    const struct cuda_elements elements = {bench.d_values, n, nullptr, nullptr};
    struct survivors made = {};
    struct job job = {};

    job.operation = OPERATION_STALIN_SORT;
    element_parse("i32", &job.element);
    made.ours.d_kept = device_array<int32_t>(n);
    made.ours.d_control = device_array<char>(cuda_stalin_sort_control_bytes(n * sizeof(int32_t)));
    made.d_before = device_array<int32_t>(n);
    made.d_selected = device_array<int32_t>(n);
    made.d_count = device_array<int64_t>(1);
    auto ours = [&] {
        check(cuda_stalin_sort_launch(&bench.device, &job, &elements, nullptr, &made.ours, 0),
              "stalin-sort");
    };
    auto cubs = cubs_stalin_sort(bench, made);
    ours();
    cubs();
    check_survivors(bench, made);
    row(name, bench.bytes, ours, cubs);
    for (void *d_memory : {made.ours.d_kept, made.ours.d_control, (void *)made.d_before,
                           (void *)made.d_selected, (void *)made.d_count})
        cudaFree(d_memory);
}

/* A text format: `line` appends a line to the text, and the line's values to the values. */
struct text_kind {
    const char *name;
    struct text_rules rules;
    std::function<void(std::string &, std::vector<int64_t> &)> line;
};

struct text_rules text_rules_of(int32_t field, int delimiter,
                                enum text_notation notation = TEXT_INTEGERS, unsigned decimals = 0)
{
    struct text_rules rules = {};

    rules.field = field;
    rules.delimiter = delimiter;
    rules.notation = notation;
    rules.decimals = decimals;
    return rules;
}

/* Parses at least `bytes` bytes of such lines; returns GB/s. */
double text_speed(const struct ladder &ladder, const struct text_kind &kind, size_t bytes)
{
    struct job job = {};
    std::string text;
    std::vector<int64_t> expected;

    element_parse("i64", &job.element);
    job.is_text = true;
    job.text = kind.rules;
    job.columns[0].element = job.element;
    while (text.size() < bytes)
        kind.line(text, expected);
    char *d_text = device_array<char>(text.size());
    int64_t *d_values = device_array<int64_t>((text.size() + 1) / 2);
    char *d_control = device_array<char>(cuda_text_control_bytes(text.size()));
    check(cudaMemcpy(d_text, text.data(), text.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
    auto ours = [&] {
        check(cuda_text_launch(&ladder.device, &job.text, &job.columns[0], d_text, text.size(),
                               d_values, d_control, 0),
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

void bench_text(const struct ladder &ladder)
{
    std::mt19937 random(2);
    auto append = [&](std::string &text, std::vector<int64_t> &values, int64_t value) {
        text += std::to_string(value);
        values.push_back(value);
    };
    const struct text_kind kinds[] = {
        {"numbers of up to 7 digits, one a line", text_rules_of(0, TEXT_NO_DELIMITER),
         [&](std::string &text, std::vector<int64_t> &values) {
             append(text, values, random() % 10000000);
             text += '\n';
         }},
        {"8 numbers a line between commas, all", text_rules_of(0, ','),
         [&](std::string &text, std::vector<int64_t> &values) {
             for (int i = 0; i < 8; i++) {
                 append(text, values, random() % 1000000);
                 text += i < 7 ? ',' : '\n';
             }
         }},
        {"field 9 of a web server's log", text_rules_of(9, TEXT_NO_DELIMITER),
         [&](std::string &text, std::vector<int64_t> &values) {
             text += "203.0.113." + std::to_string(random() % 256);
             text += " - - [10/Oct/2000:13:55:36 -0700] \"GET /p/" + std::to_string(random());
             text += ".html HTTP/1.1\" ";
             append(text, values, 200 + random() % 300);
             text += ' ' + std::to_string(random() % 100000) + " \"-\" \"Mozilla/5.0 (X11)\"\n";
         }},
        {"numbers with 3 decimals, one a line", text_rules_of(0, TEXT_NO_DELIMITER, TEXT_FIXED, 3),
         [&](std::string &text, std::vector<int64_t> &values) {
             append(text, values, 1000 + random() % 10000000);
             text.insert(text.size() - 3, 1, '.');
             text += '\n';
         }},
        {"hexadecimal numbers of 8 digits, one a line",
         text_rules_of(0, TEXT_NO_DELIMITER, TEXT_HEX),
         [&](std::string &text, std::vector<int64_t> &values) {
             char line[16];
             values.push_back((uint32_t)random());
             text.append(line,
                         (size_t)snprintf(line, sizeof line, "%08x\n", (uint32_t)values.back()));
         }},
    };

    printf("\n| text to int64 | 4 MiB, GB/s | 256 MiB, GB/s |\n|---|---|---|\n");
    for (const struct text_kind &kind : kinds) {
        double small = text_speed(ladder, kind, (size_t)4 << 20);
        printf("| %s | %.0f | %.0f |\n", kind.name, small,
               text_speed(ladder, kind, (size_t)256 << 20));
    }
}

/* Gathers an element of each record of `bytes` bytes in total; returns GB/s. */
double records_speed(const struct ladder &ladder, const struct job &job, size_t bytes)
{
    const size_t width = job.element.bytes;
    const size_t count = bytes / job.record_bytes;
    std::mt19937 random(3);
    std::string records(bytes, '\0');
    std::string expected;

    for (char &byte : records)
        byte = (char)random();
    for (size_t i = 0; i < count; i++)
        expected.append(records, i * job.record_bytes + job.record_offset, width);
    char *d_records = device_array<char>(bytes);
    char *d_elements = device_array<char>(count * width);
    check(cudaMemcpy(d_records, records.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    auto ours = [&] {
        check(cuda_records_launch(&ladder.device, &job, d_records, count, d_elements, 0),
              "records");
    };
    ours();
    std::string found(count * width, '\0');
    check(cudaMemcpy(&found[0], d_elements, found.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    require(found == expected, "elements of records");
    double speed = (double)bytes / milliseconds(ours) / 1e6;
    cudaFree(d_records);
    cudaFree(d_elements);
    return speed;
}

void bench_records(const struct ladder &ladder)
{
    const struct {
        const char *type;
        size_t record_bytes;
        size_t offset;
    } kinds[] = {{"u16", 4, 2}, {"u32", 16, 12}, {"u64", 16, 8}, {"u64", 13, 5}, {"u64", 64, 8}};

    printf("\n| element, record, offset | 4 MiB, GB/s | 256 MiB, GB/s |\n|---|---|---|\n");
    for (const auto &kind : kinds) {
        struct job job = {};
        element_parse(kind.type, &job.element);
        job.record_bytes = kind.record_bytes;
        job.record_offset = kind.offset;
        double small = records_speed(ladder, job, (size_t)4 << 20);
        printf("| %s, %zu, %zu | %.0f | %.0f |\n", kind.type, kind.record_bytes, kind.offset, small,
               records_speed(ladder, job, (size_t)256 << 20));
    }
}

void upload(const struct bench &bench)
{
    check(cudaMemcpy(bench.d_values, bench.values.data(), (size_t)bench.bytes,
                     cudaMemcpyHostToDevice),
          "cudaMemcpy");
}

void bench_rivals(const struct ladder &ladder)
{
    constexpr size_t sorted_run = (size_t)1 << 20; /* divides the number of values */
    struct bench bench = {};
    std::mt19937 random(1);

    bench.device = ladder.device;
    bench.values.resize(ladder.values);
    for (int32_t &value : bench.values)
        value = (int32_t)random();
    bench.bytes = (double)(ladder.values * sizeof(int32_t));
    bench.d_values = device_array<int32_t>(ladder.values);
    upload(bench);

    printf("\n| kernels | ms | GB/s | CUB, ms | ratio |\n|---|---|---|---|---|\n");
    bench_reduce(bench);
    bench_count(bench);
    bench_stalin_sort("stalin-sort, random, against CUB's scan and select", bench);
    for (auto run = bench.values.begin(); run != bench.values.end(); run += sorted_run)
        std::sort(run, run + sorted_run);
    upload(bench);
    bench_stalin_sort("stalin-sort, sorted in runs of 1Mi, likewise", bench);
    std::sort(bench.values.begin(), bench.values.end());
    upload(bench);
    bench_stalin_sort("stalin-sort, sorted, likewise", bench);
    cudaFree(bench.d_values);
}

struct table {
    const char *name;
    void (*print)(const struct ladder &ladder);
};

const struct table tables[] = {
    {"rivals", bench_rivals},        {"text", bench_text},
    {"records", bench_records},      {"reduce", ladder_reduce},
    {"histogram", ladder_histogram}, {"uniq", ladder_uniq},
};

/* Sets the ladder's device and the speed of a copy; returns the GPU's name. */
std::string open_device(struct ladder &ladder)
{
    struct cudaDeviceProp properties;

    check(cudaGetDeviceProperties(&properties, 0), "no device");
    ladder.device.multiprocessors = properties.multiProcessorCount;
    ladder.device.shared_bytes = (int)properties.sharedMemPerBlockOptin;
    size_t bytes = ladder.values * sizeof(int32_t) / 2;
    char *d_from = device_array<char>(bytes);
    char *d_to = device_array<char>(bytes);
    double time = milliseconds([=] {
        check(cudaMemcpyAsync(d_to, d_from, bytes, cudaMemcpyDeviceToDevice, 0), "cudaMemcpy");
    });
    ladder.copy_speed = 2 * (double)bytes / time / 1e6;
    cudaFree(d_from);
    cudaFree(d_to);
    return properties.name;
}

} // namespace

int main(int argc, char **argv)
{
    struct ladder ladder = {};

    ladder.values = (size_t)(argc > 1 ? atoi(argv[1]) : 256) << 20;
    std::string name = open_device(ladder);
    printf("%s, %zu Mi int32, a copy reads and writes %.0f GB/s\n", name.c_str(),
           ladder.values >> 20, ladder.copy_speed);
    for (const struct table &table : tables) {
        bool wanted = argc <= 2;
        for (int i = 2; i < argc; i++)
            wanted |= std::string(table.name) == argv[i];
        if (wanted)
            table.print(ladder);
    }
    return 0;
}
