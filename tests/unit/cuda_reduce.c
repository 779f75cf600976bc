/*
 * Reduction on a GPU against a plain loop: every type and byte order, numbers of elements around
 * those of words, vectors and blocks, one multiprocessor and all, and a partial that is near the
 * limits of its words when the launch begins. Skipped where no GPU can be used.
 */
#include "config.h"

#include "count/reduce.h"
#include "cuda/cuda_operation.h"
#include "ops/operations.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

/* So much that each thread of a few blocks has thousands of words. */
#define LARGE_BYTES ((size_t)96 << 20)

enum values { RANDOM, SMALLEST, LARGEST, EXTREMES, VALUES_COUNT };

static const char *const values_names[VALUES_COUNT] = {
    [RANDOM] = "random",
    [SMALLEST] = "smallest",
    [LARGEST] = "largest",
    [EXTREMES] = "smallest and largest",
};

/* A GPU with a job, its partial, and a chunk's room on both sides. */
struct bench {
    struct job job;
    struct cuda_shared shared;
    void *d_data;
    struct cuda_chunk chunk;
    unsigned char *data;
};

/* Writes the elements in the job's byte order. */
static void fill(struct bench *bench, enum values values, size_t elements)
{
    const struct element *element = &bench->job.element;
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

/* The plain loop. */
static struct reduce expect(const struct bench *bench, size_t elements)
{
    const struct element *element = &bench->job.element;
    struct reduce expected = reduce_empty;

    for (size_t i = 0; i < elements; i++) {
        uint64_t key = element_key(element, bench->data + i * element->bytes);
        __int128 value = element_value(element, key);
        struct wide square = wide_from((unsigned __int128)(value < 0 ? -value : value));
        square = wide_multiply(&square, &square);
        struct reduce one = {
            .count = 1,
            .sum = (unsigned __int128)value,
            .min = value,
            .max = value,
            .and_bits = key,
            .or_bits = key,
            .xor_bits = key,
        };
        if (bench->job.reductions.needs & REDUCTIONS_NEED_SQUARES)
            one.squares = square;
        reduce_merge(&expected, &one);
    }
    return expected;
}

static bool equal(const struct reduce *a, const struct reduce *b)
{
    return a->count == b->count && a->sum == b->sum &&
           wide_compare(&a->squares, &b->squares) == 0 && a->min == b->min && a->max == b->max &&
           a->and_bits == b->and_bits && a->or_bits == b->or_bits && a->xor_bits == b->xor_bits;
}

/* Launches over the elements and collects into *result; the partial begins as *initial, if any. */
static bool launch(struct bench *bench, size_t elements, const struct cuda_reduce_partial *initial,
                   struct reduce *result)
{
    struct failure failure;
    char staging[4096];
    void *partial = NULL;

    if (!(partial = op_reduce.create(&bench->job, &failure)))
        return false;
    bench->shared.partial = partial;
    bench->chunk.elements = (struct cuda_elements){.d_data = bench->d_data, .count = elements};
    bool good = cuda_reduce.prepare(&bench->shared) == cudaSuccess &&
                (!initial || cudaMemcpy(bench->shared.d_partial, initial, sizeof *initial,
                                        cudaMemcpyHostToDevice) == cudaSuccess) &&
                cudaMemcpy(bench->d_data, bench->data, elements * bench->job.element.bytes,
                           cudaMemcpyHostToDevice) == cudaSuccess &&
                cuda_reduce.absorb(&bench->shared, &bench->chunk) == cudaSuccess &&
                cuda_reduce.collect(&bench->shared, staging, sizeof staging, &failure) == STATUS_OK;
    *result = ((const struct reduce_shared *)partial)->reduce;
    op_reduce.destroy(partial);
    return good;
}

static bool check(struct bench *bench, enum values values, size_t elements)
{
    struct reduce result;

    fill(bench, values, elements);
    struct reduce expected = expect(bench, elements);
    return (launch(bench, elements, NULL, &result) && equal(&result, &expected)) ||
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
    tap_ok(good, "%s%s, %s", bench->job.element.name, bench->job.element.swapped ? " swapped" : "",
           bench->job.reductions.needs & REDUCTIONS_NEED_SQUARES ? "all" : "without squares");
}

/* So many equal elements that each thread of as few blocks as may be has thousands of words. */
static void test_large(struct bench *bench)
{
    int multiprocessors = bench->shared.device.multiprocessors;
    size_t elements = LARGE_BYTES / bench->job.element.bytes - 1;
    struct reduce expected = reduce_empty;
    struct reduce result;

    fill(bench, LARGEST, elements);
    struct reduce power = expect(bench, 1);
    for (size_t rest = elements; rest > 0; rest >>= 1) {
        if (rest & 1)
            reduce_merge(&expected, &power);
        struct reduce same = power;
        reduce_merge(&power, &same);
    }
    bench->shared.device.multiprocessors = 1;
    tap_ok(launch(bench, elements, NULL, &result) && equal(&result, &expected),
           "%s: thousands of words a thread", bench->job.element.name);
    bench->shared.device.multiprocessors = multiprocessors;
}

/* The partial's words are full, so that every block may have to carry through all of them. */
static void test_carries(struct bench *bench)
{
    static const struct cuda_reduce_partial full = {
        .count = (uint64_t)1 << 63,
        .sum = {UINT64_MAX - 7, UINT64_MAX >> 1},
        .squares = {UINT64_MAX - 7, UINT64_MAX, UINT64_MAX >> 1},
        .min = UINT64_MAX,
        .and_bits = UINT64_MAX,
    };
    struct reduce before = reduce_empty;
    struct reduce result;
    size_t elements = 300007;

    before.count = full.count;
    before.sum = (unsigned __int128)full.sum[1] << 64 | full.sum[0];
    memcpy(before.squares.words, full.squares, sizeof full.squares);
    for (enum values values = 0; values < VALUES_COUNT; values++) {
        fill(bench, values, elements);
        struct reduce expected = expect(bench, elements);
        reduce_merge(&expected, &before);
        tap_ok(launch(bench, elements, &full, &result) && equal(&result, &expected),
               "%s: carries into a full partial, %s", bench->job.element.name,
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
    bench->shared.job = &bench->job;
    bench->data = malloc(LARGE_BYTES);
    return bench->data &&
           cudaMalloc(&bench->shared.d_partial, sizeof(struct cuda_reduce_partial)) ==
               cudaSuccess &&
           cudaMalloc(&bench->d_data, LARGE_BYTES) == cudaSuccess;
}

static void test_type(struct bench *bench, const char *type)
{
    element_parse(type, &bench->job.element);
    reductions_default(&bench->job.reductions, 0);
    test_lengths(bench);
    bench->job.element.swapped = !bench->job.element.swapped;
    test_lengths(bench);
    bench->job.element.swapped = !bench->job.element.swapped;
    test_carries(bench);
    if (bench->job.element.bytes <= 2)
        test_large(bench);
    reductions_parse("sum,max", &bench->job.reductions);
    test_lengths(bench);
}

int main(void)
{
    static const char *const types[] = {"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"};
    struct bench bench = {.job = {.operation = OPERATION_REDUCE}};

    if (!open_bench(&bench)) {
        puts("1..0 # SKIP no GPU");
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(types); i++)
        test_type(&bench, types[i]);
    cudaFree(bench.shared.d_partial);
    cudaFree(bench.d_data);
    free(bench.data);
    return tap_done();
}
