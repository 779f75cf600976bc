/* Operation count on a GPU: device counters beyond 2^32 and 2^40, and every kernel. */
#include "config.h"

#include "aggregate/scalar.h"
#include "cuda/cuda_operation.h"
#include "must_cuda.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

/* Intervals for launches of 8, 4, 2 and 1 of them, and two sets. */
enum { INTERVALS = 15, BITMAP = INTERVALS, SORTED, PREDICATES };

enum { VALUES = 100003 };

static struct predicate predicates[PREDICATES];
static struct plan plan = {.operation = OPERATION_COUNT, .predicates = predicates};

static void make_predicate(enum predicate_relation relation, const char *text)
{
    struct failure failure;
    enum status status = predicate_init(&predicates[plan.predicate_count++], relation, text,
                                        &plan.element, &failure);
    must(status == STATUS_OK, failure.message);
}

static void make_set(const uint64_t *keys, size_t count)
{
    struct failure failure;
    enum status status = predicate_init_any_of(&predicates[plan.predicate_count++], "a list",
                                               &plan.element, keys, count, &failure);
    must(status == STATUS_OK, failure.message);
}

/* Makes a plan. Predicate i: the value is less than 1000 * (i + 1). */
static void make_plan(size_t intervals, bool sets)
{
    static char limits[INTERVALS][12];

    plan.predicate_count = 0;
    for (size_t i = 0; i < intervals; i++) {
        snprintf(limits[i], sizeof limits[i], "%zu", 1000 * (i + 1));
        make_predicate(PREDICATE_LT, limits[i]);
    }
    if (sets) {
        make_set((const uint64_t[]){0, 5, 99999}, 3);
        make_set((const uint64_t[]){7, 11, 100002, 1000000000}, 4);
    }
}

static void open_device(struct cuda_shared *shared, struct scalar *count)
{
    size_t bytes = cuda_count.bytes(&plan, 0).aggregate;

    *shared = (struct cuda_shared){.plan = &plan, .aggregate = count};
    must_cuda(
        cudaDeviceGetAttribute(&shared->device.multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    must_cuda(cudaMalloc(&shared->d_aggregate, bytes));
    must_cuda(cudaMemset(shared->d_aggregate, 0, bytes));
    must_cuda(cuda_count.prepare(shared));
}

/* Counts the values 0 .. n - 1 on the device. */
static void count_values(const struct cuda_shared *shared, int32_t n)
{
    struct failure failure;
    size_t bytes = (size_t)n * sizeof(int32_t);
    int32_t *values = malloc(bytes + 1);
    struct cuda_chunk chunk = {.elements = {.count = (size_t)n}, .count = (size_t)n};
    void *d_values = NULL;

    must(values != NULL, "no memory");
    for (int32_t i = 0; i < n; i++)
        values[i] = i;
    must_cuda(cudaMalloc(&d_values, bytes + 1));
    must_cuda(cudaMemcpy(d_values, values, bytes, cudaMemcpyHostToDevice));
    chunk.elements.d_data = d_values;
    must_cuda(cuda_count.accumulate(shared, &chunk));
    must_cuda(cudaDeviceSynchronize());
    cuda_count.complete(shared, &chunk, &failure);
    must_cuda(cudaFree(d_values));
    free(values);
}

/* Returns how many of 0 .. n - 1 satisfy predicate i. */
static uint64_t wanted_hits(size_t intervals, size_t i, int32_t n)
{
    static const int32_t bitmap[] = {0, 5, 99999};
    static const int32_t sorted[] = {7, 11, 100002};
    uint64_t hits = 0;

    if (i < intervals)
        return (uint64_t)(n < 1000 * ((int32_t)i + 1) ? n : 1000 * ((int32_t)i + 1));
    for (size_t j = 0; j < 3; j++)
        hits += (i == intervals ? bitmap : sorted)[j] < n;
    return hits;
}

/* Counts n values with counters that start at `preload`. */
static bool check(size_t intervals, bool sets, int32_t n, uint64_t preload)
{
    struct failure failure;
    struct scalar *count = NULL;
    struct cuda_shared shared;
    uint64_t staging[512];
    bool right = true;

    make_plan(intervals, sets);
    must((count = scalar_create(&plan, &failure)) != NULL, "no memory");
    open_device(&shared, count);
    for (size_t i = 0; i < plan.predicate_count; i++)
        staging[i] = preload;
    must_cuda(cudaMemcpy(shared.d_aggregate, staging, plan.predicate_count * sizeof *staging,
                         cudaMemcpyHostToDevice));
    count_values(&shared, n);
    must(cuda_count.collect(&shared, staging, sizeof staging, &failure) == STATUS_OK,
         "the hits cannot be copied");
    for (size_t i = 0; i < plan.predicate_count; i++) {
        uint64_t wanted = preload + wanted_hits(intervals, i, n);
        if (count->row[1 + i] != wanted)
            right = tap_note("predicate %zu of %d values: %llu, not %llu", i, n,
                             (unsigned long long)count->row[1 + i], (unsigned long long)wanted);
    }
    must_cuda(cudaFree(shared.d_aggregate));
    right = right && count->row[0] == (uint64_t)n;
    scalar_destroy(count);
    for (size_t i = 0; i < plan.predicate_count; i++)
        predicate_destroy(&predicates[i]);
    return right;
}

static void test_launches(void)
{
    static const int32_t sizes[] = {0, 1, 3, 4, 5, 4095, VALUES};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bool right = true;
        for (size_t intervals = 0; intervals <= INTERVALS; intervals++)
            right = check(intervals, true, sizes[i], 0) && right;
        tap_ok(right && check(9, false, sizes[i], 0), "0 to 15 intervals and two sets, %d values",
               sizes[i]);
    }
}

static void test_large(void)
{
    tap_ok(check(INTERVALS, true, VALUES, UINT32_MAX - 10),
           "counters of the device go on beyond 2^32");
    tap_ok(check(INTERVALS, true, VALUES, ((uint64_t)1 << 40) - 10),
           "counters of the device go on beyond 2^40");
    tap_ok(check(INTERVALS, true, VALUES, UINT64_MAX - VALUES),
           "counters of the device reach 2^64");
}

int main(void)
{
    int devices = 0;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 ||
        cudaFree(NULL) != cudaSuccess) {
        printf("1..0 # SKIP no GPU here\n");
        return 0;
    }
    element_parse("i32", &plan.element);
    test_launches();
    test_large();
    return tap_done();
}
