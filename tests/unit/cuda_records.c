/*
 * Compares the gathering of records' elements on a GPU with a loop on the host: every width of
 * elements, records of 1 to 40 bytes and more, offsets, and up to several records per thread. The
 * records end where their memory ends, so that compute-sanitizer detects reads after them.
 */
#include "config.h"

#include "cuda/kernels.h"
#include "must_cuda.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

#define RECORDS_BYTES ((size_t)8 << 20)
#define GUARD_BYTES   ((size_t)256)
#define GUARD         0xaa

static const char *const types[] = {"u8", "i16", "u32", "i64"};

struct bench {
    struct cuda_device device;
    struct plan plan;
    unsigned char *records;  /* [RECORDS_BYTES], random */
    unsigned char *elements; /* [RECORDS_BYTES + 2 * GUARD_BYTES], like the next two */
    unsigned char *expected;
    unsigned char *d_elements;
    unsigned char *d_records; /* [RECORDS_BYTES] */
};

/* Gathers the last `count` records, between guards. */
static bool check(struct bench *bench, size_t record_bytes, size_t offset, size_t count)
{
    const size_t width = bench->plan.element.bytes;
    const size_t first = RECORDS_BYTES - count * record_bytes;
    const size_t bytes = count * width + 2 * GUARD_BYTES;

    bench->plan.record_bytes = record_bytes;
    bench->plan.record_offset = offset;
    memset(bench->expected, GUARD, bytes);
    for (size_t i = 0; i < count; i++)
        memcpy(bench->expected + GUARD_BYTES + i * width,
               bench->records + first + i * record_bytes + offset, width);
    must_cuda(cudaMemset(bench->d_elements, GUARD, bytes));
    must_cuda(cuda_records_launch(&bench->device, &bench->plan, bench->d_records + first, count,
                                  bench->d_elements + GUARD_BYTES, NULL));
    must_cuda(cudaMemcpy(bench->elements, bench->d_elements, bytes, cudaMemcpyDeviceToHost));
    return memcmp(bench->elements, bench->expected, bytes) == 0 ||
           tap_note("%zu records of %zu bytes, offset %zu", count, record_bytes, offset);
}

static void test_type(struct bench *bench)
{
    static const size_t counts[] = {0, 1, 2049}; /* a launch has 2048 threads at most */
    const size_t width = bench->plan.element.bytes;
    bool good = true;

    bench->device.multiprocessors = 1;
    for (size_t record_bytes = width; record_bytes <= 40; record_bytes++) {
        for (size_t offset = 0; offset < 16 && offset + width <= record_bytes; offset++) {
            for (size_t i = 0; i < ARRAY_LENGTH(counts); i++)
                good = check(bench, record_bytes, offset, counts[i]) && good;
        }
        good = check(bench, record_bytes, record_bytes - width, 5000) && good;
    }
    tap_ok(good, "%s: records of up to 40 bytes", bench->plan.element.name);
}

static void test_large(struct bench *bench, int multiprocessors)
{
    static const size_t sizes[] = {8, 16, 1000, 65537, RECORDS_BYTES};
    bool good = true;

    bench->device.multiprocessors = multiprocessors;
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
        const size_t last = sizes[i] - bench->plan.element.bytes;
        good = check(bench, sizes[i], 0, RECORDS_BYTES / sizes[i]) && good;
        good = check(bench, sizes[i], last, RECORDS_BYTES / sizes[i]) && good;
        good = check(bench, sizes[i], last, 1) && good;
    }
    tap_ok(good, "%s: 8 MiB of records", bench->plan.element.name);
}

static void open_bench(struct bench *bench)
{
    const size_t room = RECORDS_BYTES + 2 * GUARD_BYTES;
    uint64_t state = 1;

    bench->records = malloc(RECORDS_BYTES);
    bench->elements = malloc(room);
    bench->expected = malloc(room);
    must(bench->records && bench->elements && bench->expected, "no memory");
    for (size_t i = 0; i < RECORDS_BYTES; i++)
        bench->records[i] = (unsigned char)tap_random(&state);
    must_cuda(cudaMalloc((void **)&bench->d_elements, room));
    must_cuda(cudaMalloc((void **)&bench->d_records, RECORDS_BYTES));
    must_cuda(cudaMemcpy(bench->d_records, bench->records, RECORDS_BYTES, cudaMemcpyHostToDevice));
}

static void close_bench(struct bench *bench)
{
    free(bench->records);
    free(bench->elements);
    free(bench->expected);
    cudaFree(bench->d_elements);
    cudaFree(bench->d_records);
}

int main(void)
{
    struct bench bench = {.plan = {.operation = OPERATION_REDUCE}};
    int devices = 0;
    int multiprocessors;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        tap_ok(true, "records on a GPU # SKIP no GPU");
        return tap_done();
    }
    open_bench(&bench);
    must_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    for (size_t i = 0; i < ARRAY_LENGTH(types); i++) {
        must(element_parse(types[i], &bench.plan.element), "no such type");
        test_type(&bench);
        test_large(&bench, multiprocessors);
    }
    close_bench(&bench);
    return tap_done();
}
