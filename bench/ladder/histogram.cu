/*
 * The histogram's ladder: the kernels that tutorials arrive at, numbered; CUB's; and ours, one by
 * one. Every one of them is compared with a count on the CPU, for a part of the input, and with the
 * first one, for all of it, before it is timed.
 *
 *   1  an atomic addition to the global table for each element
 *   2  a table in each block's shared memory, added to the global one at the end
 *   3  likewise, but each block stores its table, and a second kernel adds them up
 *   4, 5, 6  the same with the global table, or tables, set to persist in L2
 */
#include "ladder.cuh"
#include "stages.cuh"

#include <chrono>
#include <cub/device/device_histogram.cuh>

namespace
{

constexpr unsigned BLOCK_THREADS = 256;
constexpr unsigned TABLES = 512; /* blocks, and so tables, of 2 and 3 */
constexpr size_t CHECKED = (size_t)4 << 20;
constexpr uint32_t CHECKED_BINS_MAX = 1 << 24;
constexpr size_t CHUNK_VALUES = (size_t)1 << 20; /* gpuhist streams chunks of 4 MiB */
constexpr int STREAMS = 16;
constexpr uint32_t TWO_LEVEL_BINS_MIN = 1000000;

using counter = uint32_t;

__global__ void histogram_1_kernel(const int32_t *d_values, size_t count, counter *d_counts)
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
                                   counter *d_counts)
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
                                          counter *d_counts)
{
    uint32_t bin = blockIdx.x * blockDim.x + threadIdx.x;
    counter sum = 0;

    if (bin >= bins)
        return;
    for (uint32_t i = 0; i < tables; i++)
        sum += d_tables[(size_t)i * bins + bin];
    d_counts[bin] += sum;
}

enum distribution { UNIFORM, SKEWED, EQUAL, SORTED, TWO, WARPS, DISTRIBUTIONS };

const char *const distribution_names[DISTRIBUTIONS] = {"uniform", "log-skewed", "all equal",
                                                       "sorted",  "two values", "one a warp"};

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

__global__ void differ_kernel(const counter *d_a, const counter *d_b, uint32_t bins,
                              unsigned *d_differ)
{
    uint32_t stride = gridDim.x * blockDim.x;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < bins; i += stride) {
        if (d_a[i] != d_b[i])
            *d_differ = 1;
    }
}

/* A number of bins, and memory for what is counted. */
struct rungs {
    struct cuda_device device;
    uint32_t bins;
    size_t values;
    int32_t *d_values;
    counter *d_counts;    /* [bins] */
    uint64_t *d_outside;  /* [BINNING_OUTSIDE], of ours */
    counter *d_reference; /* [bins], by kernel 1 */
    uint32_t *d_tables;   /* [TABLES][bins], or NULL if they do not fit shared memory */
    void *d_scratch;
    unsigned *d_differ;
    struct element element;
    struct binning binning;
};

/* A way to count so many of the values, on a stream; adds to d_counts. */
struct rung {
    std::string name;
    std::function<void(const int32_t *, size_t, cudaStream_t)> count;
    bool persists;
    const struct histogram_kernel *ours;     /* NULL: not ours */
    std::vector<std::vector<double>> stages; /* ours: [distribution], of each kernel */
    std::vector<std::string> stage_names;
};

void clear_counts(const struct rungs &rungs)
{
    check(cudaMemset(rungs.d_counts, 0, rungs.bins * sizeof(counter)), "cudaMemset");
}

/* Lets the table, or what fits, persist in L2 on the stream 0; or ends that. */
void persist(const struct rungs &rungs, bool on)
{
    cudaStreamAttrValue value = {};
    int window, l2;

    check(cudaDeviceGetAttribute(&window, cudaDevAttrMaxAccessPolicyWindowSize, 0), "attribute");
    check(cudaDeviceGetAttribute(&l2, cudaDevAttrMaxPersistingL2CacheSize, 0), "attribute");
    check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, on ? (size_t)l2 : 0), "limit");
    value.accessPolicyWindow.base_ptr = rungs.d_counts;
    value.accessPolicyWindow.num_bytes =
        on ? std::min((size_t)window, rungs.bins * sizeof(counter)) : 0;
    value.accessPolicyWindow.hitRatio =
        on ? std::min(1.0f, (float)l2 / (float)value.accessPolicyWindow.num_bytes) : 0;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    check(cudaStreamSetAttribute(0, cudaStreamAttributeAccessPolicyWindow, &value), "policy");
    if (!on)
        check(cudaCtxResetPersistingL2Cache(), "cudaCtxResetPersistingL2Cache");
}

void add_published(const struct rungs &rungs, bool persists, std::vector<struct rung> &all)
{
    const std::string suffix = persists ? ", persisting L2" : "";
    const int first = persists ? 4 : 1;
    const unsigned blocks = 8 * (unsigned)rungs.device.multiprocessors;
    const size_t bytes = rungs.bins * sizeof(uint32_t);

    all.push_back({std::to_string(first) + " global atomics" + suffix,
                   [=](const int32_t *d_values, size_t n, cudaStream_t stream) {
                       histogram_1_kernel<<<blocks, BLOCK_THREADS, 0, stream>>>(d_values, n,
                                                                                rungs.d_counts);
                   },
                   persists,
                   nullptr,
                   {},
                   {}});
    if (!rungs.d_tables)
        return;
    check(cudaFuncSetAttribute(histogram_2_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               rungs.device.shared_bytes),
          "shared memory");
    check(cudaFuncSetAttribute(histogram_3_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               rungs.device.shared_bytes),
          "shared memory");
    all.push_back({std::to_string(first + 1) + " shared" + suffix,
                   [=](const int32_t *d_values, size_t n, cudaStream_t stream) {
                       histogram_2_kernel<<<TABLES, BLOCK_THREADS, bytes, stream>>>(d_values, n,
                                                                                    rungs.bins,
                                                                                    rungs.d_counts);
                   },
                   persists,
                   nullptr,
                   {},
                   {}});
    all.push_back({std::to_string(first + 2) + " shared + reduction" + suffix,
                   [=](const int32_t *d_values, size_t n, cudaStream_t stream) {
                       histogram_3_kernel<<<TABLES, BLOCK_THREADS, bytes, stream>>>(d_values, n,
                                                                                    rungs.bins,
                                                                                    rungs.d_tables);
                       histogram_3_reduce_kernel<<<rungs.bins / BLOCK_THREADS + 1, BLOCK_THREADS, 0,
                                                   stream>>>(rungs.d_tables, TABLES, rungs.bins,
                                                             rungs.d_counts);
                   },
                   persists,
                   nullptr,
                   {},
                   {}});
}

void add_ours(const struct rungs &rungs, std::vector<struct rung> &all)
{
    const struct histogram_kernel *const kernels[] = {&histogram_kernel_shared,
                                                      &histogram_kernel_windows,
                                                      &histogram_kernel_partition,
                                                      &histogram_kernel_two_level,
                                                      &histogram_kernel_cached};
    const struct cuda_elements some = {rungs.d_values, 1, nullptr};

    for (const struct histogram_kernel *kernel : kernels) {
        const struct histogram_task task = {&rungs.device, &rungs.element,  &rungs.binning, &some,
                                            nullptr,       rungs.d_scratch, nullptr};
        bool is_rival = kernel != &histogram_kernel_two_level || rungs.bins >= TWO_LEVEL_BINS_MIN;
        if (!is_rival || !kernel->takes(&task))
            continue;
        all.push_back(
            {std::string("ours: ") + kernel->name,
             [=, &rungs](const int32_t *d_values, size_t n, cudaStream_t stream) {
                 const struct cuda_histogram_table table = {rungs.d_counts, rungs.d_outside};
                 const struct cuda_elements elements = {d_values, n, nullptr};
                 const struct histogram_task whole = {&rungs.device,  &rungs.element,
                                                      &rungs.binning, &elements,
                                                      &table,         rungs.d_scratch,
                                                      stream};
                 check(kernel->launch(&whole), kernel->name);
             },
             false,
             kernel,
             {},
             {}});
    }
}

/* The first values against the CPU, unless there are too many bins; all against kernel 1. */
void check_rung(const struct rungs &rungs, const struct rung &rung)
{
    size_t part = std::min(CHECKED, rungs.values) - 3;
    std::vector<int32_t> values = fetch_array(rungs.d_values, part);

    clear_counts(rungs);
    if (rungs.bins <= CHECKED_BINS_MAX) {
        std::vector<counter> expected(rungs.bins);
        for (int32_t value : values)
            expected[value]++;
        rung.count(rungs.d_values, part, 0);
        require(fetch_array(rungs.d_counts, rungs.bins) == expected, rung.name);
        clear_counts(rungs);
    }
    rung.count(rungs.d_values, rungs.values, 0);
    differ_kernel<<<1024, 256>>>(rungs.d_counts, rungs.d_reference, rungs.bins, rungs.d_differ);
    require(fetch(rungs.d_differ) == 0, rung.name + ", all values");
}

/* Milliseconds for all values in chunks, each on one of several streams. */
double streamed(const struct rungs &rungs, const struct rung &rung)
{
    std::vector<cudaStream_t> streams(STREAMS);
    std::vector<double> times;

    for (cudaStream_t &stream : streams)
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    for (int run = 0; run < 3; run++) {
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        auto start = std::chrono::steady_clock::now();
        for (size_t i = 0; i * CHUNK_VALUES < rungs.values; i++)
            rung.count(rungs.d_values + i * CHUNK_VALUES,
                       std::min(CHUNK_VALUES, rungs.values - i * CHUNK_VALUES),
                       streams[i % STREAMS]);
        check(cudaDeviceSynchronize(), rung.name.c_str());
        std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
        times.push_back(time.count());
    }
    for (cudaStream_t stream : streams)
        cudaStreamDestroy(stream);
    std::sort(times.begin(), times.end());
    return times[1];
}

void print_row(const std::string &name, const std::vector<double> &times, double numerator,
               const char *format)
{
    printf("| %s", name.c_str());
    for (double time : times) {
        printf(" | ");
        printf(format, numerator > 0 ? numerator / time : time);
    }
    printf(" |\n");
    fflush(stdout);
}

void fill(const struct rungs &rungs, enum distribution distribution)
{
    fill_kernel<<<2048, 256>>>(rungs.d_values, rungs.values, rungs.bins, distribution);
    clear_counts(rungs);
    histogram_1_kernel<<<1024, BLOCK_THREADS>>>(rungs.d_values, rungs.values, rungs.d_counts);
    check(cudaMemcpy(rungs.d_reference, rungs.d_counts, rungs.bins * sizeof(counter),
                     cudaMemcpyDeviceToDevice),
          "cudaMemcpy");
}

/*
 * times[rung][distribution], of ours those of its kernels, and the same for the values in chunks,
 * but for those that need scratch memory, of which there is one.
 */
void time_rungs(const struct rungs &rungs, std::vector<struct rung> &all,
                std::vector<std::vector<double>> &times,
                std::vector<std::vector<double>> &streamed_times)
{
    for (int d = 0; d < DISTRIBUTIONS; d++) {
        fill(rungs, (enum distribution)d);
        for (size_t i = 0; i < all.size(); i++) {
            check_rung(rungs, all[i]);
            if (all[i].persists)
                persist(rungs, true);
            times[i].push_back(
                milliseconds([&] { all[i].count(rungs.d_values, rungs.values, 0); }));
            if (all[i].persists)
                persist(rungs, false);
            if (all[i].ours)
                all[i].stages.push_back(stage_times(
                    [&](cudaStream_t stream) {
                        all[i].count(rungs.d_values, rungs.values, stream);
                    },
                    all[i].stage_names));
            if (all[i].ours && !all[i].ours->scratch_bytes)
                streamed_times[i].push_back(streamed(rungs, all[i]));
        }
    }
}

/* Of those that are several kernels, the time of each. */
void print_stages(const struct rung &rung)
{
    for (size_t stage = 0; rung.stage_names.size() > 1 && stage < rung.stage_names.size();
         stage++) {
        std::vector<double> times;
        for (const std::vector<double> &stages : rung.stages)
            times.push_back(stages[stage]);
        print_row("... of which " + rung.stage_names[stage], times, 0, "%.3f");
    }
}

void climb(const struct ladder &ladder, struct rungs &rungs)
{
    const double gigabytes = (double)(rungs.values * sizeof(int32_t)) / 1e9;
    std::vector<struct rung> all;
    add_published(rungs, false, all);
    if (rungs.bins <= 5000000) {
        add_published(rungs, true, all);
        all.push_back(
            {"CUB",
             [&rungs](const int32_t *d_values, size_t n, cudaStream_t stream) {
                 static void *d_memory;
                 static size_t size;
                 size_t bytes = 0;
                 auto call = [&](void *d_temporary) {
                     check(cub::DeviceHistogram::HistogramEven(d_temporary, bytes, d_values,
                                                               rungs.d_counts, (int)rungs.bins + 1,
                                                               0, (int)rungs.bins, (int)n, stream),
                           "CUB");
                 };
                 call(nullptr);
                 if (bytes > size) {
                     cudaFree(d_memory);
                     d_memory = device_array<char>(bytes);
                     size = bytes;
                 }
                 call(d_memory);
             },
             false,
             nullptr,
             {},
             {}});
    }
    add_ours(rungs, all);

    std::vector<std::vector<double>> times(all.size()), streamed_times(all.size());
    time_rungs(rungs, all, times, streamed_times);
    printf("\n| %u bins, ms", rungs.bins);
    for (const char *name : distribution_names)
        printf(" | %s", name);
    printf(" |\n|---%s|\n", "|---|---|---|---|---|---");
    for (size_t i = 0; i < all.size(); i++) {
        print_row(all[i].name, times[i], 0, "%.3f");
        if (all[i].ours) {
            print_stages(all[i]);
            print_row("... GB/s", times[i], gigabytes * 1e3, "%.0f");
            print_row("... of a copy's speed", times[i], gigabytes * 1e3 / ladder.copy_speed,
                      "%.2f");
        }
        if (!streamed_times[i].empty())
            print_row("... in chunks of 4 MiB on 16 streams, ms", streamed_times[i], 0, "%.2f");
    }
}

} // namespace

void ladder_histogram(const struct ladder &ladder)
{
    for (uint32_t bins : {256u, 4096u, 16384u, 65536u, 1000000u, 5000000u, 16000000u, 1u << 28}) {
        struct rungs rungs = {};
        struct failure failure;

        rungs.device = ladder.device;
        rungs.bins = bins;
        rungs.values = ladder.values;
        element_parse("i32", &rungs.element);
        if (binning_init(&rungs.binning, &rungs.element, 0, bins, bins, &failure) != STATUS_OK)
            continue;
        rungs.d_values = device_array<int32_t>(rungs.values);
        rungs.d_counts = device_array<counter>(bins);
        rungs.d_outside = device_array<uint64_t>(BINNING_OUTSIDE);
        rungs.d_reference = device_array<counter>(bins);
        rungs.d_differ = device_array<unsigned>(1);
        if (bins * sizeof(uint32_t) <= (size_t)rungs.device.shared_bytes)
            rungs.d_tables = device_array<uint32_t>((size_t)TABLES * bins);
        size_t scratch = std::max(
            histogram_kernel_partition.scratch_bytes(&rungs.element, &rungs.binning, rungs.values),
            histogram_kernel_two_level.scratch_bytes(&rungs.element, &rungs.binning, rungs.values));
        rungs.d_scratch = scratch > 0 ? device_array<char>(scratch) : nullptr;
        climb(ladder, rungs);
        for (void *d_memory : {(void *)rungs.d_values, (void *)rungs.d_counts,
                               (void *)rungs.d_reference, (void *)rungs.d_outside,
                               (void *)rungs.d_differ, (void *)rungs.d_tables, rungs.d_scratch})
            cudaFree(d_memory);
    }
}
