/*
 * The stalin-sort kernel on a GPU against a plain loop: every type and byte order, both orders,
 * strict or not, with a floor and without, the purged wanted or not; values of which few, many and
 * all survive, and in few tiles or in each; numbers of elements around those of tiles, known to the
 * host or to the GPU alone. And sorted values with something wrong in one place, above all where
 * parts of tiles meet. Skipped where no GPU can be used.
 */
#include "config.h"

#include "cuda/kernels.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

/* The kernels' tiles, and more tiles than a GPU processes at once. */
#define TILE_BYTES ((size_t)32 << 10)
#define BYTES_MAX  ((size_t)64 << 20)

enum values { RANDOM, SORTED, REVERSED, EQUAL, RISING, LATE, VALUES_COUNT };

static const char *const values_names[VALUES_COUNT] = {
    [RANDOM] = "random", [SORTED] = "sorted", [REVERSED] = "reversed",
    [EQUAL] = "equal",   [RISING] = "rising", [LATE] = "sorted at the end",
};

/* What is wrong in one place of sorted values. */
enum fault { LOWER, SAME, HIGHER, FAULT_COUNT };

static const char *const fault_names[FAULT_COUNT] = {
    [LOWER] = "lower than the one before",
    [SAME] = "the same as the one before",
    [HIGHER] = "higher than the next",
};

/* A GPU, its memory, and the same on the host. */
struct bench {
    struct cuda_device device;
    struct plan plan;
    bool is_counted; /* only the GPU knows the number of elements */
    unsigned char *data;
    unsigned char *kept; /* elements kept by the loop, followed by the dropped ones */
    unsigned char *found;
    void *d_data;
    void *d_kept;
    void *d_purged;
    void *d_control;
    uint32_t *d_count;
};

/* Returns the key of the type at position `x` < 2^63, from the smallest to the largest key. */
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
    case RISING: /* every few thousand elements, a larger one follows */
        return i % 5000 == 0 ? step * i : (step * i) / 2;
    case LATE:
        return i > count / 8 * 7 ? span / 2 + step / 2 * i : random / 2;
    default:
        return random;
    }
}

static void fill(struct bench *bench, enum values values, size_t count)
{
    const struct element *element = &bench->plan.element;
    uint64_t state = count;

    for (size_t i = 0; i < count; i++) {
        size_t place = bench->plan.stalin_sort.descending && values != REVERSED ? count - 1 - i : i;
        uint64_t key = key_at(element, position(values, place, count, &state));
        if (element->swapped)
            key = element_swap(key, element->bytes);
        memcpy(bench->data + i * element->bytes, &key, element->bytes);
    }
}

static bool passes(const struct plan *plan, uint64_t key, uint64_t last)
{
    bool less = plan->element.is_signed ? (int64_t)key < (int64_t)last : key < last;

    if (key == last)
        return !plan->stalin_sort.strict;
    return less == plan->stalin_sort.descending;
}

/* The plain loop. Returns the number of kept elements. */
static size_t expect(struct bench *bench, size_t count, const uint64_t *floor)
{
    const size_t bytes = bench->plan.element.bytes;
    unsigned char *purged = malloc(count * bytes + 1);
    uint64_t last = floor ? *floor : 0;
    bool has_last = floor != NULL;
    size_t kept = 0, others = 0;

    if (!purged)
        abort();
    for (size_t i = 0; i < count; i++) {
        const unsigned char *element = bench->data + i * bytes;
        uint64_t key = element_key(&bench->plan.element, element);
        if (!has_last || passes(&bench->plan, key, last)) {
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

/* Returns whether the kernel keeps what the loop does, and purges the rest if that is wanted. */
static bool sort(struct bench *bench, size_t count, const uint64_t *floor)
{
    const bool purged = bench->plan.stalin_sort.purged;
    const size_t width = bench->plan.element.bytes;
    const size_t most = bench->is_counted ? count + count / 2 + 1 : count;
    const uint32_t counted = (uint32_t)count;
    const struct cuda_elements elements = {.d_data = bench->d_data,
                                           .count = most,
                                           .d_count = bench->is_counted ? bench->d_count : NULL};
    const struct cuda_stalin_sort_buffers buffers = {bench->d_kept, purged ? bench->d_purged : NULL,
                                                     bench->d_control};
    const size_t expected = expect(bench, count, floor);
    uint64_t kept = 0;

    if (cudaMemcpy(bench->d_data, bench->data, count * width, cudaMemcpyHostToDevice) ||
        cudaMemcpy(bench->d_count, &counted, sizeof counted, cudaMemcpyHostToDevice) ||
        cudaMemset(bench->d_control, 0xff, cuda_stalin_sort_control_bytes(most * width)) ||
        cudaMemset(bench->d_kept, 0x5a, most * width) ||
        cudaMemset(bench->d_purged, 0x5a, most * width) ||
        cuda_stalin_sort_launch(&bench->device, &bench->plan, &elements, floor, &buffers, NULL) ||
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

/* All values with all rules. */
static void test_type(struct bench *bench, const char *type, const size_t *bytes,
                      size_t bytes_count)
{
    element_parse(type, &bench->plan.element);
    for (unsigned rules = 0; rules < 16; rules++) {
        bool good = true;
        bench->plan.stalin_sort.strict = rules & 1;
        bench->plan.stalin_sort.descending = rules & 2;
        bench->plan.stalin_sort.purged = rules & 4;
        uint64_t floor = element_key(&bench->plan.element, "\x20\x20\x20\x20\x20\x20\x20\x20");
        for (enum values values = 0; values < VALUES_COUNT; values++) {
            for (size_t i = 0; i < bytes_count; i++) {
                size_t count = bytes[i] / bench->plan.element.bytes;
                fill(bench, values, count);
                if (!sort(bench, count, rules & 8 ? &floor : NULL))
                    good = tap_note("%zu elements, %s", count, values_names[values]);
            }
        }
        tap_ok(good, "%s%s%s%s%s%s, %d multiprocessors", bench->plan.element.name,
               bench->plan.element.swapped ? " swapped" : "", rules & 1 ? ", strict" : "",
               rules & 2 ? ", descending" : "", rules & 4 ? ", purged" : "",
               rules & 8 ? ", floor" : "", bench->device.multiprocessors);
    }
}

/* Returns the element at a rank in the plan's order. */
static void put(const struct bench *bench, unsigned char *element, uint64_t rank)
{
    const struct element *type = &bench->plan.element;
    const unsigned bits = type->bytes * 8;
    uint64_t key = bench->plan.stalin_sort.descending ? ~rank : rank;

    key ^= type->is_signed ? (uint64_t)1 << (bits - 1) : 0;
    if (type->swapped)
        key = element_swap(key, type->bytes);
    memcpy(element, &key, type->bytes);
}

static uint64_t rank_most(const struct bench *bench)
{
    return UINT64_MAX >> (64 - bench->plan.element.bytes * 8);
}

/* Ranks from 1 on, each higher than the previous one if the type has enough values. */
static uint64_t rank_at(const struct bench *bench, size_t i, size_t count)
{
    const uint64_t most = rank_most(bench);
    return 1 + (count <= most ? i : i * most / count);
}

static void fill_ascending(struct bench *bench, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(bench, bench->data + i * bench->plan.element.bytes, rank_at(bench, i, count));
}

/* Like sort; `what` is wrong with the element at `place`. */
static bool sort_noting(struct bench *bench, size_t count, const uint64_t *floor, const char *what,
                        size_t place)
{
    const struct plan *plan = &bench->plan;

    bench->is_counted = !bench->is_counted;
    return sort(bench, count, floor) ||
           tap_note("%zu elements, %s at %zu%s%s%s%s%s", count, what, place,
                    plan->stalin_sort.strict ? ", strict" : "",
                    plan->stalin_sort.descending ? ", descending" : "",
                    plan->stalin_sort.purged ? ", purged" : "", floor ? ", floor" : "",
                    bench->is_counted ? ", counted" : "");
}

/* Sorted values after floors around the first one and far above. */
static bool sort_after_floors(struct bench *bench, size_t count)
{
    const uint64_t ranks[] = {0, 1, 2, rank_most(bench) / 2, rank_most(bench)};
    bool good = true;

    fill_ascending(bench, count);
    for (size_t i = 0; i < ARRAY_LENGTH(ranks); i++) {
        unsigned char element[sizeof(uint64_t)];
        put(bench, element, ranks[i]);
        uint64_t floor = element_key(&bench->plan.element, element);
        good &= sort_noting(bench, count, &floor, "nothing", 0);
    }
    return good;
}

/* Sorted values, up to whole tiles and beyond. */
static bool sort_sorted(struct bench *bench)
{
    const size_t tile = TILE_BYTES / bench->plan.element.bytes;
    const size_t few[] = {1, tile - 1, tile, tile + 1, 3 * tile};
    const size_t many[] = {12 * tile, 12 * tile + 5};
    bool good = true;

    for (size_t i = 0; i < ARRAY_LENGTH(few); i++) {
        good &= sort_after_floors(bench, few[i]);
        good &= sort_noting(bench, few[i], NULL, "nothing", 0);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(many); i++) {
        fill_ascending(bench, many[i]);
        good &= sort_noting(bench, many[i], NULL, "nothing", 0);
        good &= sort_noting(bench, many[i], NULL, "nothing", 0);
    }
    return good;
}

static bool sort_with_fault(struct bench *bench, size_t count, enum fault fault, size_t place)
{
    unsigned char *element = bench->data + place * bench->plan.element.bytes;
    uint64_t own = rank_at(bench, place, count);
    uint64_t before = place > 0 ? rank_at(bench, place - 1, count) : own;
    uint64_t rank = fault == LOWER ? before - 1 : fault == SAME ? before : own + 2;

    put(bench, element, rank > rank_most(bench) ? rank_most(bench) : rank);
    bool good = sort_noting(bench, count, NULL, fault_names[fault], place);
    put(bench, element, own);
    return good;
}

/* Sorted values except for one, at the ends of the part of a thread, warp or block, or of all. */
static bool sort_with_faults(struct bench *bench)
{
    static const size_t bytes[] = {16, 512, 2048, TILE_BYTES, 2 * TILE_BYTES};
    const size_t width = bench->plan.element.bytes;
    const size_t count = 2 * TILE_BYTES / width + 2;
    bool good = true;

    fill_ascending(bench, count);
    for (enum fault fault = 0; fault < FAULT_COUNT; fault++) {
        good &= sort_with_fault(bench, count, fault, 0);
        good &= sort_with_fault(bench, count, fault, count - 1);
        for (size_t i = 0; i < ARRAY_LENGTH(bytes); i++) {
            for (size_t place = bytes[i] / width - 1; place <= bytes[i] / width + 1; place++)
                good &= sort_with_fault(bench, count, fault, place);
        }
    }
    return good;
}

/* Sorted values up to some place, then random ones. */
static bool sort_with_random_tails(struct bench *bench)
{
    const size_t width = bench->plan.element.bytes;
    const size_t count = 6 * TILE_BYTES / width + 3;
    uint64_t state = width;
    size_t end = count;
    bool good = true;

    fill_ascending(bench, count);
    while (end > 256) { /* each time earlier */
        size_t place = tap_random(&state) % end;
        for (size_t i = place; i < end; i++)
            put(bench, bench->data + i * width, tap_random(&state));
        good &= sort_noting(bench, count, NULL, "random from there on", place);
        end = place;
    }
    return good;
}

/* Sorted and nearly sorted values with all rules. */
static void test_nearly_sorted(struct bench *bench, const char *type)
{
    bool good = true;

    element_parse(type, &bench->plan.element);
    for (unsigned rules = 0; rules < 8; rules++) {
        bench->plan.stalin_sort.strict = rules & 1;
        bench->plan.stalin_sort.descending = rules & 2;
        bench->plan.stalin_sort.purged = rules & 4;
        good &= sort_sorted(bench);
        good &= sort_with_faults(bench);
        good &= sort_with_random_tails(bench);
    }
    bench->is_counted = false;
    tap_ok(good, "%s, sorted or nearly so, %d multiprocessors", type,
           bench->device.multiprocessors);
}

static bool open_bench(struct bench *bench)
{
    int devices = 0;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 ||
        cudaDeviceGetAttribute(&bench->device.multiprocessors, cudaDevAttrMultiProcessorCount, 0) !=
            cudaSuccess)
        return false;
    bench->plan.operation = OPERATION_STALIN_SORT;
    bench->data = malloc(BYTES_MAX);
    bench->kept = malloc(BYTES_MAX);
    bench->found = malloc(BYTES_MAX);
    return bench->data && bench->kept && bench->found &&
           cudaMalloc(&bench->d_data, BYTES_MAX) == cudaSuccess &&
           cudaMalloc(&bench->d_kept, BYTES_MAX) == cudaSuccess &&
           cudaMalloc(&bench->d_purged, BYTES_MAX) == cudaSuccess &&
           cudaMalloc(&bench->d_control, cuda_stalin_sort_control_bytes(BYTES_MAX)) ==
               cudaSuccess &&
           cudaMalloc((void **)&bench->d_count, sizeof *bench->d_count) == cudaSuccess;
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
    cudaFree(bench->d_count);
}

int main(void)
{
    static const char *const types[] = {"i8",    "u8",  "i16",   "u16be", "i32",
                                        "i32be", "u32", "i64be", "i64",   "u64"};
    static const char *const all_types[] = {"i8",    "u8",    "i16",   "i16be", "u16",
                                            "u16be", "i32",   "i32be", "u32",   "u32be",
                                            "i64",   "i64be", "u64",   "u64be"};
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
    for (size_t i = 0; i < ARRAY_LENGTH(all_types); i++) {
        bench.device.multiprocessors = i % 3 == 0 ? multiprocessors : 1;
        test_nearly_sorted(&bench, all_types[i]);
    }
    bench.device.multiprocessors = multiprocessors;
    test_type(&bench, "i64", large, ARRAY_LENGTH(large));
    close_bench(&bench);
    return tap_done();
}
