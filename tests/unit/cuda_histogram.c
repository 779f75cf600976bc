/*
 * Compares each histogram kernel on a GPU with a plain loop: every type and byte order, numbers of
 * bins on both sides of each kernel's limit, easy and hard distributions, numbers of elements
 * around those of vectors and tiles, one multiprocessor and all, and tables that are not empty at
 * the launch. Skipped if no GPU is usable.
 *
 * usage: tests/unit/cuda_histogram [TYPE]...     (all types, and large launches, by default)
 */
#include "config.h"

#include "cuda/histogram_kernels.h"
#include "tap.h"
#include "value/binning_index.h"

#include <stdlib.h>
#include <string.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

/* Counts before a launch, and those of values outside, which then carry. */
#define INITIAL_COUNT   UINT32_C(3000000000)
#define INITIAL_OUTSIDE UINT32_MAX

/* Elements of the largest launch: several tiles per block on any GPU. */
#define ELEMENTS_MAX ((size_t)9 << 20)

#define BINS_MAX ((size_t)1 << 24)

enum values { UNIFORM, EQUAL, TWO, SORTED, SKEWED, WARPS, ANYTHING, VALUES_COUNT };

static const char *const values_names[VALUES_COUNT] = {
    [UNIFORM] = "uniform", [EQUAL] = "all equal",         [TWO] = "two values", [SORTED] = "sorted",
    [SKEWED] = "skewed",   [WARPS] = "each warp its own", [ANYTHING] = "bits",
};

static const struct histogram_kernel *const kernels[] = {
    &histogram_kernel_shared,
    &histogram_kernel_windows,
    &histogram_kernel_cached,
};

/* Counts in the layout of device memory. */
struct counted {
    uint32_t *bins; /* [BINS_MAX] */
    uint64_t outside[BINNING_OUTSIDE];
};

/* A GPU, the elements and the counts. */
struct bench {
    struct cuda_device device;
    struct element element;
    struct binning binning;
    unsigned char *data;
    struct counted expected;
    struct counted found; /* counts of a launch */
};

/* The elements; most of them are in some bin, but where they are any bits. */
static void fill(struct bench *bench, enum values values, size_t elements)
{
    const struct element *element = &bench->element;
    const uint64_t low = bench->binning.low;
    const uint64_t last = bench->binning.last;
    const uint64_t span = last == UINT64_MAX ? last : last + 1;
    uint64_t state = elements;

    for (size_t i = 0; i < elements; i++) {
        uint64_t random = tap_random(&state);
        uint64_t x = random % span;
        if (values == EQUAL)
            x = last / 3;
        else if (values == TWO)
            x = random % 2 ? last : last / 2;
        else if (values == SORTED)
            x = (uint64_t)((unsigned __int128)span * i / elements);
        else if (values == SKEWED)
            x = (random >> random % 64) % span;
        else if (values == WARPS)
            x = (i / 128 * 0x9e3779b97f4a7c15) % span;
        uint64_t word = values == ANYTHING || random % 1024 == 0 ? random : low + x;
        if (element->swapped)
            word = element_swap(word, element->bytes);
        memcpy(bench->data + i * element->bytes, &word, element->bytes);
    }
}

static void begin(const struct bench *bench, struct counted *counted)
{
    for (size_t i = 0; i < bench->binning.bins; i++)
        counted->bins[i] = INITIAL_COUNT;
    for (size_t i = 0; i < BINNING_OUTSIDE; i++)
        counted->outside[i] = INITIAL_OUTSIDE;
}

/* The plain loop. */
static void expect(struct bench *bench, size_t elements)
{
    const struct element *element = &bench->element;
    const struct binning *binning = &bench->binning;

    begin(bench, &bench->expected);
    for (size_t i = 0; i < elements; i++) {
        uint64_t key = element_key(element, bench->data + i * element->bytes);
        uint32_t bin = binning_index(binning, binning->form, key);
        if (bin < binning->bins)
            bench->expected.bins[bin]++;
        else
            bench->expected.outside[bin - binning->bins]++;
    }
}

static void *device_memory(size_t bytes)
{
    void *d_memory = NULL;
    return cudaMalloc(&d_memory, bytes > 0 ? bytes : 1) == cudaSuccess ? d_memory : NULL;
}

/* Launches the kernel, or the automatically chosen one if NULL. The table is in two pieces. */
static cudaError_t launch(struct bench *bench, const struct histogram_kernel *kernel,
                          const struct cuda_elements *elements,
                          const struct cuda_histogram_table *table)
{
    const struct histogram_task task = {&bench->device, &bench->element, &bench->binning,
                                        elements,       table,           NULL};

    if (kernel)
        return kernel->launch(&task);
    return cuda_histogram_launch(&bench->device, &bench->element, &bench->binning, elements, table,
                                 NULL);
}

/* Returns whether the kernel counts the same as the loop. Memory has exactly the needed size. */
static bool count(struct bench *bench, const struct histogram_kernel *kernel, size_t elements,
                  bool told)
{
    struct counted *found = &bench->found;
    size_t bins_bytes = bench->binning.bins * sizeof *found->bins;
    size_t outside_bytes = sizeof found->outside;
    size_t bytes = elements * bench->element.bytes;
    uint32_t told_elements = (uint32_t)elements;
    /* A launch that reads the number of elements has space for more. */
    size_t most = told ? elements : elements + elements / 3 + 1;
    uint32_t *d_counts = device_memory(bins_bytes);
    uint64_t *d_outside = device_memory(outside_bytes);
    uint32_t *d_count = device_memory(sizeof told_elements);
    void *d_data = device_memory(bytes);
    const struct cuda_elements on_device = {.d_data = d_data,
                                            .count = most,
                                            .d_count = told ? NULL : d_count};
    const struct cuda_histogram_table table = {.d_counts = d_counts, .d_outside = d_outside};

    begin(bench, found);
    bool good =
        d_counts && d_outside && d_count && d_data &&
        cudaMemcpy(d_counts, found->bins, bins_bytes, cudaMemcpyHostToDevice) == cudaSuccess &&
        cudaMemcpy(d_outside, found->outside, outside_bytes, cudaMemcpyHostToDevice) ==
            cudaSuccess &&
        cudaMemcpy(d_count, &told_elements, sizeof told_elements, cudaMemcpyHostToDevice) ==
            cudaSuccess &&
        cudaMemcpy(d_data, bench->data, bytes, cudaMemcpyHostToDevice) == cudaSuccess &&
        launch(bench, kernel, &on_device, &table) == cudaSuccess &&
        cudaMemcpy(found->bins, d_counts, bins_bytes, cudaMemcpyDeviceToHost) == cudaSuccess &&
        cudaMemcpy(found->outside, d_outside, outside_bytes, cudaMemcpyDeviceToHost) == cudaSuccess;
    cudaFree(d_counts);
    cudaFree(d_outside);
    cudaFree(d_count);
    cudaFree(d_data);
    return good && memcmp(found->bins, bench->expected.bins, bins_bytes) == 0 &&
           memcmp(found->outside, bench->expected.outside, outside_bytes) == 0;
}

/* Returns whether a kernel takes elements of that type into such bins. */
static bool takes(const struct bench *bench, const struct histogram_kernel *kernel)
{
    const struct histogram_task task = {
        .device = &bench->device,
        .element = &bench->element,
        .binning = &bench->binning,
    };
    return kernel->takes(&task);
}

static bool check(struct bench *bench, const struct histogram_kernel *kernel, enum values values,
                  size_t elements, bool told)
{
    return count(bench, kernel, elements, told) ||
           tap_note("%zu elements, %s, %s", elements, values_names[values],
                    told ? "told how many" : "how many is on the device");
}

/*
 * Counts elements of all distributions, or of some, with every kernel that takes them, and with the
 * automatically chosen kernel.
 */
static void test_binning(struct bench *bench, const char *name, bool all, const size_t *lengths,
                         size_t length_count)
{
    bool good[ARRAY_LENGTH(kernels) + 1];

    memset(good, true, sizeof good);
    for (enum values values = 0; values < VALUES_COUNT; values++) {
        if (!all && values != UNIFORM && values != ANYTHING)
            continue;
        for (size_t i = 0; i < length_count; i++) {
            fill(bench, values, lengths[i]);
            expect(bench, lengths[i]);
            for (size_t k = 0; k <= ARRAY_LENGTH(kernels); k++) {
                const struct histogram_kernel *kernel =
                    k < ARRAY_LENGTH(kernels) ? kernels[k] : NULL;
                if (!kernel || takes(bench, kernel))
                    good[k] &= check(bench, kernel, values, lengths[i], i % 2 == 0);
            }
        }
    }
    for (size_t k = 0; k <= ARRAY_LENGTH(kernels); k++) {
        const struct histogram_kernel *kernel = k < ARRAY_LENGTH(kernels) ? kernels[k] : NULL;
        if (!kernel || takes(bench, kernel))
            tap_ok(good[k], "%s%s, %s, %d multiprocessors: %s", bench->element.name,
                   bench->element.swapped ? " swapped" : "", name, bench->device.multiprocessors,
                   kernel ? kernel->name : "the chosen");
    }
}

struct range {
    const char *name;
    __int128 low;
    __int128 high;
    uint64_t bins;
};

/* Ranges for all types, on both sides of what a kernel takes, and one for each form of binning. */
static const struct range ranges[] = {
    {"1 bin", 0, 1, 1},
    {"100 bins", 0, 100, 100},
    {"1,000 bins from -500", -500, 500, 1000},
    {"256 bins of a wide range", -100000, 1000003, 256},
    {"5,000 bins", 0, 5000, 5000},
    {"3,582 bins", 0, 3582, 3582},
    {"3,583 bins", 0, 3583, 3583},
    {"58,110 bins", 0, 58110, 58110},
    {"58,111 bins", 0, 58111, 58111},
    {"65,534 bins", 0, 65534, 65534},
    {"65,535 bins", 0, 65535, 65535},
    {"116,222 bins", 0, 116222, 116222},
    {"116,223 bins", 0, 116223, 116223},
    {"1,000,000 bins of a wide range", -1000000000, 1000000007, 1000000},
    {"5,000,000 bins of 64 bits", -((__int128)1 << 62), (__int128)1 << 61, 5000000},
    {"2^24 - 2 bins", 0, (1 << 24) - 2, (1 << 24) - 2},
    {"2^24 - 1 bins", 0, (1 << 24) - 1, (1 << 24) - 1},
};

static bool set_range(struct bench *bench, const struct range *range)
{
    struct failure failure;
    if (bench->element.type == ELEMENT_U64 && range->low < 0)
        return false;
    return binning_init(&bench->binning, &bench->element, range->low, range->high, range->bins,
                        &failure) == STATUS_OK;
}

static void test_type(struct bench *bench, const char *type)
{
    static const size_t few[] = {0, 1, 3, 4, 5, 15, 16, 17, 4097};
    static const size_t some[] = {100003, 49152};
    static const size_t around_tiles[] = {16383, 16384, 16385, 8191, 8193, 300001};
    const int multiprocessors = bench->device.multiprocessors;

    element_parse(type, &bench->element);
    for (size_t i = 0; i < ARRAY_LENGTH(ranges); i++) {
        bool many = ranges[i].bins > 1000000; /* takes long, because tables are compared */
        if ((many && bench->element.bytes < 4) || !set_range(bench, &ranges[i]))
            continue;
        test_binning(bench, ranges[i].name, false, some, ARRAY_LENGTH(some));
        if (many)
            continue;
        test_binning(bench, ranges[i].name, false, few, ARRAY_LENGTH(few));
        bench->device.multiprocessors = i % 2 == 0 ? 1 : 3;
        test_binning(bench, ranges[i].name, true, around_tiles, ARRAY_LENGTH(around_tiles));
        bench->device.multiprocessors = multiprocessors;
    }
}

/* Several tiles for every block of the whole GPU. */
static void test_large(struct bench *bench, const char *type)
{
    static const size_t large[] = {ELEMENTS_MAX, ELEMENTS_MAX - 4099};
    static const struct range some[] = {
        {"256 bins", 0, 256, 256},
        {"65,536 bins", 0, 65536, 65536},
        {"5,000,000 bins", 0, 5000000, 5000000},
    };

    element_parse(type, &bench->element);
    for (size_t i = 0; i < ARRAY_LENGTH(some); i++) {
        if (set_range(bench, &some[i]))
            test_binning(bench, some[i].name, true, large, ARRAY_LENGTH(large));
    }
}

/* The largest of some counters, at any place. */
static void test_greatest(struct bench *bench)
{
    static const size_t lengths[] = {1, 31, 256, 257, 100003, BINS_MAX};
    uint32_t *counts = bench->found.bins;
    uint32_t *d_counts = device_memory(BINS_MAX * sizeof *counts);
    uint32_t *d_greatest = device_memory(sizeof *d_greatest);
    bool good = d_counts && d_greatest;

    for (size_t k = 0; k < 3 * ARRAY_LENGTH(lengths) && good; k++) {
        const size_t length = lengths[k / 3];
        const size_t place = k % 3 * (length - 1) / 2;
        const uint32_t wanted = UINT32_MAX - (uint32_t)k;
        uint32_t greatest = 0;
        for (size_t i = 0; i < length; i++)
            counts[i] = (uint32_t)(i * 0x9e3779b9u) >> 1;
        counts[place] = wanted;
        good = cudaMemcpy(d_counts, counts, length * sizeof *counts, cudaMemcpyHostToDevice) ==
                   cudaSuccess &&
               cudaMemset(d_greatest, 0, sizeof *d_greatest) == cudaSuccess &&
               cuda_histogram_greatest_launch(&bench->device, d_counts, length, d_greatest, NULL) ==
                   cudaSuccess &&
               cudaMemcpy(&greatest, d_greatest, sizeof greatest, cudaMemcpyDeviceToHost) ==
                   cudaSuccess &&
               greatest == wanted;
        if (!good)
            tap_note("%zu counters, the greatest at %zu", length, place);
    }
    tap_ok(good, "the greatest of counters");
    cudaFree(d_counts);
    cudaFree(d_greatest);
}

static bool open_bench(struct bench *bench)
{
    int devices = 0;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 ||
        cudaDeviceGetAttribute(&bench->device.multiprocessors, cudaDevAttrMultiProcessorCount, 0) !=
            cudaSuccess ||
        cudaDeviceGetAttribute(&bench->device.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                               0) != cudaSuccess)
        return false;
    bench->data = malloc(ELEMENTS_MAX * sizeof(uint64_t));
    bench->expected.bins = malloc(BINS_MAX * sizeof(uint32_t));
    bench->found.bins = malloc(BINS_MAX * sizeof(uint32_t));
    return bench->data && bench->expected.bins && bench->found.bins;
}

int main(int argc, char **argv)
{
    static const char *const types[] = {"i8",    "u8",  "i16", "i16be", "u16",  "i32",
                                        "i32be", "u32", "i64", "u64",   "u64be"};
    static const char *const large_types[] = {"u8", "u16", "i32", "i64"};
    struct bench bench = {0};

    if (!open_bench(&bench)) {
        puts("1..0 # SKIP no GPU");
        return 0;
    }
    test_greatest(&bench);
    for (int i = 1; i < argc; i++)
        test_type(&bench, argv[i]);
    for (size_t i = 0; argc == 1 && i < ARRAY_LENGTH(types); i++)
        test_type(&bench, types[i]);
    for (size_t i = 0; argc == 1 && i < ARRAY_LENGTH(large_types); i++)
        test_large(&bench, large_types[i]);
    free(bench.data);
    free(bench.expected.bins);
    free(bench.found.bins);
    return tap_done();
}
