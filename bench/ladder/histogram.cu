/*
 * The histogram's ladder: checks each rung (rungs.cu), times it and prints a table for each number
 * of bins. A rung is checked on part of the values against a count on the CPU, and on all of them
 * against the first rung, before it is timed.
 */
#include "rungs.cuh"
#include "stages.cuh"

#include <chrono>

namespace
{

constexpr size_t CHECKED = (size_t)4 << 20; /* values that the CPU counts, too */
constexpr uint32_t CHECKED_BINS_MAX = 1 << 24;
constexpr size_t CHUNK_VALUES = (size_t)1 << 20; /* gpuhist reads chunks of 4 MiB */
constexpr int STREAMS = 16;

const char *const distribution_names[DISTRIBUTIONS] = {"uniform", "log-skewed", "all equal",
                                                       "sorted",  "two values", "one a warp"};

/* Milliseconds of a rung for each distribution. */
struct timings {
    std::vector<double> whole;               /* all values at once */
    std::vector<double> chunks;              /* RUNG_OURS: in chunks */
    std::vector<std::vector<double>> stages; /* RUNG_PARTITION: [distribution][kernel] */
    std::vector<std::string> stage_names;
};

__global__ void differ_kernel(const uint32_t *d_a, const uint32_t *d_b, uint32_t bins,
                              unsigned *d_differ)
{
    uint32_t stride = gridDim.x * blockDim.x;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < bins; i += stride) {
        if (d_a[i] != d_b[i])
            *d_differ = 1;
    }
}

bool counts_differ(const struct input &input)
{
    unsigned *d_differ = device_array<unsigned>(1);

    differ_kernel<<<1024, 256>>>(input.d_counts, input.d_reference, input.bins, d_differ);
    const bool differ = fetch(d_differ) != 0;
    cudaFree(d_differ);
    return differ;
}

void clear_counts(const struct input &input)
{
    check(cudaMemset(input.d_counts, 0, input.bins * sizeof *input.d_counts), "cudaMemset");
}

/* Makes the table, or the part that fits, persist in L2 on stream 0; or ends that. */
void persist(const struct input &input, bool on)
{
    cudaStreamAttrValue value = {};
    int window, l2;

    check(cudaDeviceGetAttribute(&window, cudaDevAttrMaxAccessPolicyWindowSize, 0), "attribute");
    check(cudaDeviceGetAttribute(&l2, cudaDevAttrMaxPersistingL2CacheSize, 0), "attribute");
    check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, on ? (size_t)l2 : 0), "limit");
    value.accessPolicyWindow.base_ptr = input.d_counts;
    value.accessPolicyWindow.num_bytes =
        on ? std::min((size_t)window, input.bins * sizeof *input.d_counts) : 0;
    value.accessPolicyWindow.hitRatio =
        on ? std::min(1.0f, (float)l2 / (float)value.accessPolicyWindow.num_bytes) : 0;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    check(cudaStreamSetAttribute(0, cudaStreamAttributeAccessPolicyWindow, &value), "policy");
    if (!on)
        check(cudaCtxResetPersistingL2Cache(), "cudaCtxResetPersistingL2Cache");
}

/* With more than CHECKED_BINS_MAX bins, a rung is only compared with the first rung. */
void check_rung(const struct input &input, const struct rung &rung)
{
    const size_t part = std::min(CHECKED, input.values) - 3;

    clear_counts(input);
    if (input.bins <= CHECKED_BINS_MAX) {
        std::vector<uint32_t> expected(input.bins);
        for (int32_t value : fetch_array(input.d_values, part))
            expected[value]++;
        rung.count(input.d_values, part, 0);
        require(fetch_array(input.d_counts, input.bins) == expected, rung.name);
        clear_counts(input);
    }
    rung.count(input.d_values, input.values, 0);
    require(!counts_differ(input), rung.name + ", all values");
}

/* Milliseconds for all values in chunks, each on one of several streams, by the host's clock. */
double time_chunks(const struct input &input, const struct rung &rung)
{
    std::vector<cudaStream_t> streams(STREAMS);
    std::vector<double> times;

    for (cudaStream_t &stream : streams)
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    for (int run = 0; run < 3; run++) {
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        auto start = std::chrono::steady_clock::now();
        for (size_t i = 0; i * CHUNK_VALUES < input.values; i++)
            rung.count(input.d_values + i * CHUNK_VALUES,
                       std::min(CHUNK_VALUES, input.values - i * CHUNK_VALUES),
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

void time_rung(const struct input &input, const struct rung &rung, struct timings &timings)
{
    const bool persists = rung.kind == RUNG_PERSISTING;

    if (persists)
        persist(input, true);
    timings.whole.push_back(milliseconds([&] { rung.count(input.d_values, input.values, 0); }));
    if (persists)
        persist(input, false);
    if (rung.kind == RUNG_OURS)
        timings.chunks.push_back(time_chunks(input, rung));
    if (rung.kind == RUNG_PARTITION)
        timings.stages.push_back(stage_times(
            [&](cudaStream_t stream) { rung.count(input.d_values, input.values, stream); },
            timings.stage_names));
}

void print_row(const std::string &name, const std::vector<double> &cells, const char *format)
{
    printf("| %s", name.c_str());
    for (double cell : cells) {
        printf(" | ");
        printf(format, cell);
    }
    printf(" |\n");
    fflush(stdout);
}

/* numerator / time */
std::vector<double> ratios(double numerator, std::vector<double> times)
{
    for (double &time : times)
        time = numerator / time;
    return times;
}

void print_rung(const struct rung &rung, const struct timings &timings, double megabytes,
                double copy_speed)
{
    print_row(rung.name, timings.whole, "%.3f");
    if (rung.kind != RUNG_OURS && rung.kind != RUNG_PARTITION)
        return;
    for (size_t stage = 0; stage < timings.stage_names.size(); stage++) {
        std::vector<double> times;
        for (const std::vector<double> &stages : timings.stages)
            times.push_back(stages[stage]);
        print_row("... of which " + timings.stage_names[stage], times, "%.3f");
    }
    print_row("... GB/s", ratios(megabytes, timings.whole), "%.0f");
    print_row("... of a copy's speed", ratios(megabytes / copy_speed, timings.whole), "%.2f");
    if (!timings.chunks.empty())
        print_row("... in chunks of 4 MiB on 16 streams, ms", timings.chunks, "%.2f");
}

/* Counts the values by the first rung. */
void set_reference(const struct input &input, const struct rung &first)
{
    clear_counts(input);
    first.count(input.d_values, input.values, 0);
    check(cudaMemcpy(input.d_reference, input.d_counts, input.bins * sizeof *input.d_counts,
                     cudaMemcpyDeviceToDevice),
          "cudaMemcpy");
}

void climb(const struct ladder &ladder, const struct input &input)
{
    const double megabytes = (double)(input.values * sizeof(int32_t)) / 1e6;
    const std::vector<struct rung> rungs = ladder_rungs(input);
    std::vector<struct timings> timings(rungs.size());

    for (int i = 0; i < DISTRIBUTIONS; i++) {
        ladder_fill(input, (enum distribution)i);
        set_reference(input, rungs[0]);
        for (size_t k = 0; k < rungs.size(); k++) {
            check_rung(input, rungs[k]);
            time_rung(input, rungs[k], timings[k]);
        }
    }
    printf("\n| %u bins, ms", input.bins);
    for (const char *name : distribution_names)
        printf(" | %s", name);
    printf(" |\n|---%s|\n", "|---|---|---|---|---|---");
    for (size_t k = 0; k < rungs.size(); k++)
        print_rung(rungs[k], timings[k], megabytes, ladder.copy_speed);
}

} // namespace

void ladder_histogram(const struct ladder &ladder)
{
    for (uint32_t bins : {256u, 4096u, 16384u, 65536u, 1000000u, 5000000u, 16000000u, 1u << 28}) {
        struct input input = {};
        struct failure failure;

        input.device = ladder.device;
        input.bins = bins;
        input.values = ladder.values;
        element_parse("i32", &input.element);
        if (binning_init(&input.binning, &input.element, 0, bins, bins, &failure) != STATUS_OK)
            continue;
        input.d_values = device_array<int32_t>(input.values);
        input.d_counts = device_array<uint32_t>(bins);
        input.d_reference = device_array<uint32_t>(bins);
        input.d_outside = device_array<uint64_t>(BINNING_OUTSIDE);
        climb(ladder, input);
        for (void *d_memory : {(void *)input.d_values, (void *)input.d_counts,
                               (void *)input.d_reference, (void *)input.d_outside})
            cudaFree(d_memory);
    }
}
