/*
 * The stalin-sort kernel on a GPU against a plain loop: every type and byte order, both orders,
 * strict or not, with a floor and without, the purged wanted or not; values of which few, many and
 * all survive, and in few tiles or in each; numbers of elements around those of tiles. Skipped
 * where no GPU can be used.
 */
#include "config.h"

#include "kernels.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

/* More tiles of 16 KiB than a GPU works on at once. */
#define BYTES_MAX ((size_t)64 << 20)

enum values { RANDOM, SORTED, REVERSED, EQUAL, RISING, LATE, VALUES_COUNT };

static const char *const values_names[VALUES_COUNT] = {
    [RANDOM] = "random", [SORTED] = "sorted", [REVERSED] = "reversed",
    [EQUAL] = "equal",   [RISING] = "rising", [LATE] = "sorted at the end",
};

/* A GPU, its memory, and the same on the host. */
struct bench {
    struct cuda_device device;
    struct job job;
    unsigned char *data;
    unsigned char *kept; /* by the loop; behind them the purged */
    unsigned char *found;
    void *d_data;
    void *d_kept;
    void *d_purged;
    void *d_control;
};

/* An order of keys that the type has: position `x` < 2^63 of them, from the least to the greatest.
 */
static uint64_t key_at(const struct element *element, uint64_t x)
{
    const unsigned bits = element->bytes * 8;
    uint64_t rank = bits == 64 ? x * 2 : x >> (63 - bits);
    return element->is_signed ? rank ^ (uint64_t)1 << (bits - 1) : rank;
}

static uint64_t position(enum values values, size_t i, size_t count, uint64_t *state)
{
    const uint64_t span = (uint64_t)1 << 63;
    uint64_t random = tap_random(state) >> 1;
    uint64_t step = span / (count + 1);

    switch (values) {
    case SORTED:
        return step * i;
    case REVERSED:
        return step * (count - i);
    case EQUAL:
        return span / 3;
    case RISING: /* each few thousand elements there is a greater one */
        return i % 5000 == 0 ? step * i : (step * i) / 2;
    case LATE:
        return i > count / 8 * 7 ? span / 2 + step / 2 * i : random / 2;
    default:
        return random;
    }
}

static void fill(struct bench *bench, enum values values, size_t count)
{
    const struct element *element = &bench->job.element;
    uint64_t state = count;

    for (size_t i = 0; i < count; i++) {
        size_t place = bench->job.stalin_sort.descending && values != REVERSED ? count - 1 - i : i;
        uint64_t key = key_at(element, position(values, place, count, &state));
        if (element->swapped)
            key = element_swap(key, element->bytes);
        memcpy(bench->data + i * element->bytes, &key, element->bytes);
    }
}

static bool passes(const struct job *job, uint64_t key, uint64_t last)
{
    bool less = job->element.is_signed ? (int64_t)key < (int64_t)last : key < last;

    if (key == last)
        return !job->stalin_sort.strict;
    return less == job->stalin_sort.descending;
}

/* The plain loop; returns how many survive. */
static size_t expect(struct bench *bench, size_t count, const uint64_t *floor)
{
    const size_t bytes = bench->job.element.bytes;
    unsigned char *purged = malloc(count * bytes + 1);
    uint64_t last = floor ? *floor : 0;
    bool has_last = floor != NULL;
    size_t kept = 0, others = 0;

    if (!purged)
        abort();
    for (size_t i = 0; i < count; i++) {
        const unsigned char *element = bench->data + i * bytes;
        uint64_t key = element_key(&bench->job.element, element);
        if (!has_last || passes(&bench->job, key, last)) {
            memcpy(bench->kept + kept++ * bytes, element, bytes);
            last = key;
            has_last = true;
        } else {
            memcpy(purged + others++ * bytes, element, bytes);
        }
    }
    memcpy(bench->kept + kept * bytes, purged, others * bytes);
    free(purged);
    return kept;
}

/* Whether the kernel keeps what the loop does, and purges the rest if that is wanted. */
static bool sort(struct bench *bench, size_t count, const uint64_t *floor)
{
    const struct cuda_elements elements = {bench->d_data, count, NULL};
    const bool purged = bench->job.stalin_sort.purged;
    const size_t width = bench->job.element.bytes;
    const struct cuda_stalin_sort_buffers buffers = {bench->d_kept, purged ? bench->d_purged : NULL,
                                                     bench->d_control};
    const size_t expected = expect(bench, count, floor);
    uint64_t kept = 0;

    if (cudaMemcpy(bench->d_data, bench->data, count * width, cudaMemcpyHostToDevice) ||
        cudaMemset(bench->d_control, 0xff, cuda_stalin_sort_control_bytes(count * width)) ||
        cuda_stalin_sort_launch(&bench->device, &bench->job, &elements, floor, &buffers, NULL) ||
        cudaMemcpy(&kept, bench->d_control, sizeof kept, cudaMemcpyDeviceToHost))
        return tap_note("CUDA: %s", cudaGetErrorString(cudaGetLastError()));
    if (kept != expected)
        return tap_note("%llu survive, not %zu", (unsigned long long)kept, expected);
    if (cudaMemcpy(bench->found, bench->d_kept, expected * width, cudaMemcpyDeviceToHost) ||
        (purged && cudaMemcpy(bench->found + expected * width, bench->d_purged,
                              (count - expected) * width, cudaMemcpyDeviceToHost)))
        return tap_note("CUDA: cannot copy");
    return memcmp(bench->found, bench->kept, (purged ? count : expected) * width) == 0;
}

/* All values, in both orders and so on. */
static void test_type(struct bench *bench, const char *type, const size_t *bytes,
                      size_t bytes_count)
{
    element_parse(type, &bench->job.element);
    for (unsigned rules = 0; rules < 16; rules++) {
        bool good = true;
        bench->job.stalin_sort.strict = rules & 1;
        bench->job.stalin_sort.descending = rules & 2;
        bench->job.stalin_sort.purged = rules & 4;
        uint64_t floor = element_key(&bench->job.element, "\x20\x20\x20\x20\x20\x20\x20\x20");
        for (enum values values = 0; values < VALUES_COUNT; values++) {
            for (size_t i = 0; i < bytes_count; i++) {
                size_t count = bytes[i] / bench->job.element.bytes;
                fill(bench, values, count);
                if (!sort(bench, count, rules & 8 ? &floor : NULL))
                    good = tap_note("%zu elements, %s", count, values_names[values]);
            }
        }
        tap_ok(good, "%s%s%s%s%s%s, %d multiprocessors", bench->job.element.name,
               bench->job.element.swapped ? " swapped" : "", rules & 1 ? ", strict" : "",
               rules & 2 ? ", descending" : "", rules & 4 ? ", purged" : "",
               rules & 8 ? ", floor" : "", bench->device.multiprocessors);
    }
}

static bool open_bench(struct bench *bench)
{
    int devices = 0;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 ||
        cudaDeviceGetAttribute(&bench->device.multiprocessors, cudaDevAttrMultiProcessorCount, 0) !=
            cudaSuccess)
        return false;
    bench->job.operation = OPERATION_STALIN_SORT;
    bench->data = malloc(BYTES_MAX);
    bench->kept = malloc(BYTES_MAX);
    bench->found = malloc(BYTES_MAX);
    return bench->data && bench->kept && bench->found &&
           cudaMalloc(&bench->d_data, BYTES_MAX) == cudaSuccess &&
           cudaMalloc(&bench->d_kept, BYTES_MAX) == cudaSuccess &&
           cudaMalloc(&bench->d_purged, BYTES_MAX) == cudaSuccess &&
           cudaMalloc(&bench->d_control, cuda_stalin_sort_control_bytes(BYTES_MAX)) == cudaSuccess;
}

static void close_bench(struct bench *bench)
{
    free(bench->data);
    free(bench->kept);
    free(bench->found);
    cudaFree(bench->d_data);
    cudaFree(bench->d_kept);
    cudaFree(bench->d_purged);
    cudaFree(bench->d_control);
}

int main(void)
{
    static const char *const types[] = {"i8",    "u8",  "i16",   "u16be", "i32",
                                        "i32be", "u32", "i64be", "i64",   "u64"};
    static const size_t some[] = {0, 8, 16, 1000, 16384, 32760, 32768, 32776, 1 << 20, 5000000};
    static const size_t large[] = {BYTES_MAX};
    struct bench bench = {0};

    if (!open_bench(&bench)) {
        puts("1..0 # SKIP no GPU");
        return 0;
    }
    const int multiprocessors = bench.device.multiprocessors;
    for (size_t i = 0; i < ARRAY_LENGTH(types); i++) {
        bench.device.multiprocessors = i % 3 == 0 ? 1 : multiprocessors;
        test_type(&bench, types[i], some, ARRAY_LENGTH(some));
    }
    bench.device.multiprocessors = multiprocessors;
    test_type(&bench, "i64", large, ARRAY_LENGTH(large));
    close_bench(&bench);
    return tap_done();
}
