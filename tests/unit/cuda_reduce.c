/*
 * Compares reductions on a GPU with a plain loop: every type and byte order, numbers of elements
 * around those of words, vectors and blocks, one multiprocessor and all, and an aggregate near the
 * limits of its words at the launch. Skipped if no GPU is usable.
 */
#include "config.h"

#include "aggregate/scalar.h"
#include "cuda/cuda_operation.h"
#include "engine/stores.h"
#include "must_cuda.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

#define ROW_WORDS (1 + ACCUMULATOR_WORDS_ALL)

/* So many elements that each thread of a few blocks has thousands of words. */
#define LARGE_BYTES ((size_t)96 << 20)

enum values { RANDOM, SMALLEST, LARGEST, EXTREMES, VALUES_COUNT };

static const char *const values_names[VALUES_COUNT] = {
    [RANDOM] = "random",
    [SMALLEST] = "smallest",
    [LARGEST] = "largest",
    [EXTREMES] = "smallest and largest",
};

/* A GPU with a plan, its aggregate, and memory for a chunk on both sides. */
struct bench {
    struct plan plan;
    struct accumulators *accumulators; /* accumulators of the plan */
    struct cuda_shared shared;
    void *d_data;
    struct cuda_chunk chunk;
    unsigned char *data;
};

/* Writes the elements in the plan's byte order. */
static void fill(struct bench *bench, enum values values, size_t elements)
{
    const struct element *element = &bench->plan.element;
    uint64_t smallest = (uint64_t)element_min(element);
    uint64_t largest = (uint64_t)(element_limit(element) - 1);
    uint64_t state = elements;

    for (size_t i = 0; i < elements; i++) {
        uint64_t random = tap_random(&state);
        bool low = values == SMALLEST || (values == EXTREMES && random % 2);
        uint64_t word = values == RANDOM ? random : low ? smallest : largest;
        if (element->swapped)
            word = element_swap(word, element->bytes);
        memcpy(bench->data + i * element->bytes, &word, element->bytes);
    }
}

static void empty(const struct bench *bench, uint64_t *row)
{
    memcpy(row, bench->accumulators->initial, bench->accumulators->words * sizeof *row);
}

/* Adds the elements to a row one by one. */
static void expect(const struct bench *bench, size_t elements, uint64_t *row)
{
    for (size_t i = 0; i < elements; i++) {
        const uint64_t key =
            element_key(&bench->plan.element, bench->data + i * bench->plan.element.bytes);
        accumulators_add_values(bench->accumulators, &row, &key, 1);
        row[0]++;
    }
}

static bool equal(const struct bench *bench, const uint64_t *a, const uint64_t *b)
{
    return memcmp(a, b, bench->accumulators->words * sizeof *a) == 0;
}

/* Launches over the elements and collects into *result; the aggregate starts as *initial or empty.
 */
static bool launch(struct bench *bench, size_t elements,
                   const struct cuda_reduce_aggregate *initial, uint64_t *result)
{
    struct failure failure;
    char staging[4096];
    void *aggregate = NULL;

    if (!(aggregate = store_scalar.create(&bench->plan, &failure)))
        return false;
    bench->shared.aggregate = aggregate;
    bench->chunk.elements = (struct cuda_elements){.d_data = bench->d_data, .count = elements};
    bool good = cuda_reduce.prepare(&bench->shared) == cudaSuccess &&
                (!initial || cudaMemcpy(bench->shared.d_aggregate, initial, sizeof *initial,
                                        cudaMemcpyHostToDevice) == cudaSuccess) &&
                cudaMemcpy(bench->d_data, bench->data, elements * bench->plan.element.bytes,
                           cudaMemcpyHostToDevice) == cudaSuccess &&
                cuda_reduce.accumulate(&bench->shared, &bench->chunk) == cudaSuccess &&
                cuda_reduce.collect(&bench->shared, staging, sizeof staging, &failure) == STATUS_OK;
    memcpy(result, ((const struct scalar *)aggregate)->row,
           bench->accumulators->words * sizeof *result);
    store_scalar.destroy(aggregate);
    return good;
}

static bool check(struct bench *bench, enum values values, size_t elements)
{
    uint64_t result[ROW_WORDS];
    uint64_t expected[ROW_WORDS];

    fill(bench, values, elements);
    empty(bench, expected);
    expect(bench, elements, expected);
    return (launch(bench, elements, NULL, result) && equal(bench, result, expected)) ||
           tap_note("%zu elements, %s", elements, values_names[values]);
}

static void test_lengths(struct bench *bench)
{
    static const size_t lengths[] = {4095, 4096, 4097, 65535, 98304, 300007};
    bool good = true;

    for (enum values values = 0; values < VALUES_COUNT; values++) {
        for (size_t elements = 1; elements < 36; elements++)
            good = check(bench, values, elements) && good;
        for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++)
            good = check(bench, values, lengths[i]) && good;
    }
    tap_ok(good, "%s%s, %s", bench->plan.element.name,
           bench->plan.element.swapped ? " swapped" : "",
           bench->plan.reductions.needs & REDUCTIONS_NEED_SQUARES ? "all" : "without squares");
}

/* So many equal elements that each thread of the fewest possible blocks has thousands of words. */
static void test_large(struct bench *bench)
{
    int multiprocessors = bench->shared.device.multiprocessors;
    size_t elements = LARGE_BYTES / bench->plan.element.bytes - 1;
    uint64_t result[ROW_WORDS];
    uint64_t expected[ROW_WORDS];
    uint64_t power[ROW_WORDS];
    uint64_t same[ROW_WORDS];

    fill(bench, LARGEST, elements);
    empty(bench, expected);
    empty(bench, power);
    expect(bench, 1, power);
    for (size_t rest = elements; rest > 0; rest >>= 1) {
        if (rest & 1)
            accumulators_merge(bench->accumulators, expected, power);
        memcpy(same, power, bench->accumulators->words * sizeof *same);
        accumulators_merge(bench->accumulators, power, same);
    }
    bench->shared.device.multiprocessors = 1;
    tap_ok(launch(bench, elements, NULL, result) && equal(bench, result, expected),
           "%s: thousands of words a thread", bench->plan.element.name);
    bench->shared.device.multiprocessors = multiprocessors;
}

/* The aggregate's words are full, so that every block can carry through all of them. */
static void test_carries(struct bench *bench)
{
    static const struct cuda_reduce_aggregate full = {
        .count = (uint64_t)1 << 63,
        .sum = {UINT64_MAX - 7, UINT64_MAX >> 1},
        .squares = {UINT64_MAX - 7, UINT64_MAX, UINT64_MAX >> 1},
        .min = UINT64_MAX,
        .and_bits = UINT64_MAX,
    };
    const size_t elements = 300007;
    uint64_t result[ROW_WORDS];
    uint64_t expected[ROW_WORDS];

    for (enum values values = 0; values < VALUES_COUNT; values++) {
        fill(bench, values, elements);
        empty(bench, expected);
        expected[0] = full.count;
        memcpy(expected + 1, full.sum, sizeof full.sum);
        memcpy(expected + 3, full.squares, sizeof full.squares);
        expect(bench, elements, expected);
        tap_ok(launch(bench, elements, &full, result) && equal(bench, result, expected),
               "%s: carries into a full aggregate, %s", bench->plan.element.name,
               values_names[values]);
    }
}

static bool open_bench(struct bench *bench)
{
    int devices = 0;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 ||
        cudaDeviceGetAttribute(&bench->shared.device.multiprocessors,
                               cudaDevAttrMultiProcessorCount, 0) != cudaSuccess)
        return false;
    bench->shared.plan = &bench->plan;
    bench->data = malloc(LARGE_BYTES);
    return bench->data &&
           cudaMalloc(&bench->shared.d_aggregate, sizeof(struct cuda_reduce_aggregate)) ==
               cudaSuccess &&
           cudaMalloc(&bench->d_data, LARGE_BYTES) == cudaSuccess;
}

/* The accumulators of the plan. */
static void begin_plan(struct bench *bench)
{
    free(bench->accumulators);
    bench->accumulators = accumulators_create(&bench->plan, 0, bench->plan.reductions.needs);
    must(bench->accumulators != NULL, "no memory");
}

static void test_type(struct bench *bench, const char *type)
{
    element_parse(type, &bench->plan.element);
    reductions_default(&bench->plan.reductions, 0);
    begin_plan(bench);
    test_lengths(bench);
    bench->plan.element.swapped = !bench->plan.element.swapped;
    test_lengths(bench);
    bench->plan.element.swapped = !bench->plan.element.swapped;
    test_carries(bench);
    if (bench->plan.element.bytes <= 2)
        test_large(bench);
    reductions_parse("sum,max", &bench->plan.reductions);
    begin_plan(bench);
    test_lengths(bench);
}

int main(void)
{
    static const char *const types[] = {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"};
    struct bench bench = {.plan = {.operation = OPERATION_REDUCE}};

    if (!open_bench(&bench)) {
        puts("1..0 # SKIP no GPU");
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(types); i++)
        test_type(&bench, types[i]);
    cudaFree(bench.shared.d_aggregate);
    cudaFree(bench.d_data);
    free(bench.data);
    free(bench.accumulators);
    return tap_done();
}
