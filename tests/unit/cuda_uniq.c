/*
 * Compares uniq on a GPU with sorted keys: every type and byte order, bins of some widths,
 * distributions from one value to all distinct values, and tables that never grow, that grow during
 * chunks, and that are too small; without a window on the host, and with one for some of the
 * values, some of them already counted. Like the engine, several threads count chunks on two
 * streams each. Skipped if no GPU is usable.
 *
 * usage: tests/unit/cuda_uniq [TYPE [ELEMENTS]]     (all types, and large inputs, by default)
 */
#include "config.h"

#include "aggregate/rows.h"
#include "aggregate/uniq.h"
#include "cuda/cuda_uniq.h"
#include "engine/stores.h"
#include "must_cuda.h"
#include "tap.h"
#include "value/context.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

#define ELEMENTS_MAX ((size_t)2 << 20)
#define FEEDERS      4
#define SLOTS        2

enum values { UNIFORM, EQUAL, TWO, SORTED, SKEWED, DIFFERENT, FEW, MARKED, VALUES_COUNT };

static const char *const values_names[VALUES_COUNT] = {
    [UNIFORM] = "any bits", [EQUAL] = "all equal",
    [TWO] = "two values",   [SORTED] = "sorted in pairs",
    [SKEWED] = "skewed",    [DIFFERENT] = "all different",
    [FEW] = "5,000 values", [MARKED] = "that of a free slot",
};

/* A table's size and maximum size. */
struct size {
    const char *name;
    unsigned bits;
    unsigned bits_max;
};

static const struct size sizes[] = {
    {"a large table", 20, 20},           {"a table that grows", 11, 24},
    {"a table that grows once", 11, 12}, {"a table that is too small", 11, 11},
    {"a table that is full", 16, 16},
};

struct bench {
    struct plan plan;
    struct cuda_shared shared;
    unsigned char *data;
    uint64_t *keys; /* expected keys, sorted */
    size_t elements;
    const struct growing_window *window; /* window of the host; NULL: none */
    /* How the GPU gets them. */
    size_t chunk_elements;
    bool told;   /* the host passes the number of elements; else the device reads it */
    size_t some; /* number of elements of most inputs */
    _Atomic size_t taken;
    atomic_bool has_failed;
};

/* A chunk in progress, like in the engine. */
struct slot {
    struct cuda_chunk chunk;
    uint32_t *d_count;
    char result[64];
    bool busy;
};

static void *device_memory(size_t bytes)
{
    void *d_memory = NULL;
    must_cuda(cudaMalloc(&d_memory, bytes > 0 ? bytes : 1));
    return d_memory;
}

static uint64_t make_value(enum values values, size_t i, uint64_t random, uint64_t marked)
{
    switch (values) {
    case EQUAL:
        return 77;
    case TWO:
        return random % 2 ? UINT64_MAX : 0;
    case SORTED:
        return i / 2 - 1000;
    case SKEWED:
        return random >> random % 64;
    case DIFFERENT:
        return i * 0x9e3779b97f4a7c15;
    case FEW:
        return random % 5000 * 0x9e3779b97f4a7c15;
    case MARKED:
        return random % 4 < 3 ? marked : random % 16;
    default:
        return random;
    }
}

/* Returns the key of an element by definition. */
static uint64_t expect_key(const struct plan *plan, const void *element)
{
    const __int128 value = element_value(&plan->element, element_key(&plan->element, element));
    const __int128 width = plan->bin_width;
    __int128 bin = value / width;

    if (value < 0 && bin * width != value)
        bin--;
    return (uint64_t)bin ^ (plan->element.is_signed ? (uint64_t)1 << 63 : 0);
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Returns the value whose word in the table is 0; for a narrow type, some value. */
static uint64_t find_marked(const struct uniq *uniq)
{
    uint64_t seeds[3];

    table_seeds(uniq->table, seeds);
    return seeds[0] ^ uniq->sign_bias;
}

static void fill(struct bench *bench, enum values values, size_t elements, uint64_t marked)
{
    const struct element *element = &bench->plan.element;
    uint64_t state = elements;

    bench->elements = elements;
    for (size_t i = 0; i < elements; i++) {
        uint64_t word = make_value(values, i, tap_random(&state), marked);
        unsigned char *place = bench->data + i * element->bytes;
        if (element->swapped)
            word = element_swap(word, element->bytes);
        memcpy(place, &word, element->bytes);
        bench->keys[i] = expect_key(&bench->plan, place);
    }
    qsort(bench->keys, elements, sizeof *bench->keys, compare_keys);
}

static bool complete(const struct bench *bench, struct slot *slot)
{
    struct failure failure;

    if (!slot->busy)
        return true;
    slot->busy = false;
    must_cuda(cudaStreamSynchronize(slot->chunk.stream));
    return cuda_uniq.complete(&bench->shared, &slot->chunk, &failure) == STATUS_OK ||
           tap_note("%s", failure.message);
}

/* Queues the work on elements [first, first + n). */
static void accumulate(const struct bench *bench, struct slot *slot, size_t first, size_t n)
{
    const size_t bytes = bench->plan.element.bytes;
    struct cuda_chunk *chunk = &slot->chunk;
    const uint32_t count = (uint32_t)n;

    must_cuda(cudaMemcpyAsync((void *)(uintptr_t)chunk->elements.d_data,
                              bench->data + first * bytes, n * bytes, cudaMemcpyHostToDevice,
                              chunk->stream));
    must_cuda(cudaMemcpyAsync(slot->d_count, &count, sizeof count, cudaMemcpyHostToDevice,
                              chunk->stream));
    must_cuda(cudaStreamSynchronize(chunk->stream)); /* afterwards `count` has been read */
    chunk->elements.count = bench->told ? n : bench->chunk_elements;
    chunk->elements.d_count = bench->told ? NULL : slot->d_count;
    chunk->count = n;
    must_cuda(cuda_uniq.accumulate(&bench->shared, chunk));
    slot->busy = true;
}

static void open_slot(const struct bench *bench, struct slot *slot)
{
    const size_t bytes = bench->chunk_elements * bench->plan.element.bytes;

    *slot = (struct slot){.busy = false};
    must(cuda_uniq.bytes(&bench->plan, bytes).result <= sizeof slot->result, "a large result");
    slot->chunk.result = slot->result;
    slot->chunk.elements.d_data = device_memory(bytes);
    slot->chunk.d_scratch = device_memory(cuda_uniq.bytes(&bench->plan, bytes).scratch);
    slot->d_count = device_memory(sizeof *slot->d_count);
    must_cuda(cudaStreamCreateWithFlags(&slot->chunk.stream, cudaStreamNonBlocking));
}

static void close_slot(struct slot *slot)
{
    must_cuda(cudaStreamDestroy(slot->chunk.stream));
    must_cuda(cudaFree((void *)(uintptr_t)slot->chunk.elements.d_data));
    must_cuda(cudaFree(slot->chunk.d_scratch));
    must_cuda(cudaFree(slot->d_count));
}

static void *feed(void *argument)
{
    struct bench *bench = argument;
    const size_t most = bench->chunk_elements;
    struct slot slots[SLOTS];
    bool good = true;
    size_t first;

    must_cuda(cudaSetDevice(0));
    for (size_t i = 0; i < SLOTS; i++)
        open_slot(bench, &slots[i]);
    for (size_t i = 0; (first = atomic_fetch_add(&bench->taken, most)) < bench->elements; i++) {
        struct slot *slot = &slots[i % SLOTS];
        good = complete(bench, slot) && good;
        accumulate(bench, slot, first,
                   bench->elements - first < most ? bench->elements - first : most);
    }
    for (size_t i = 0; i < SLOTS; i++)
        good = complete(bench, &slots[i]) && good;
    for (size_t i = 0; i < SLOTS; i++)
        close_slot(&slots[i]);
    if (!good)
        atomic_store(&bench->has_failed, true);
    return NULL;
}

/* Counts all elements with some threads, and collects the device's counts. */
static bool count(struct bench *bench)
{
    static uint64_t staging[8192];
    pthread_t threads[FEEDERS];
    struct failure failure;

    bench->taken = 0;
    atomic_store(&bench->has_failed, false);
    for (size_t i = 0; i < FEEDERS; i++)
        must(pthread_create(&threads[i], NULL, feed, bench) == 0, "no thread");
    for (size_t i = 0; i < FEEDERS; i++)
        pthread_join(threads[i], NULL);
    if (atomic_load(&bench->has_failed))
        return false;
    /* The smallest staging memory of an engine, and more. */
    if (cuda_uniq.collect(&bench->shared, staging, bench->told ? 4096 : sizeof staging, &failure) !=
        STATUS_OK)
        return tap_note("%s", failure.message);
    must_cuda(cudaMemset(bench->shared.d_aggregate, 0, cuda_uniq.bytes(&bench->plan, 0).aggregate));
    must_cuda(cudaDeviceSynchronize());
    return true;
}

/*
 * Returns whether the count of each key is its number in keys[0..elements), `times` over, and once
 * more if the window contains it.
 */
static bool equal(const struct bench *bench, const struct uniq *uniq, uint64_t times)
{
    const struct growing_window *window = bench->window;
    struct rows_row batch[256];
    struct rows rows;
    size_t seen = 0;
    size_t n;

    uniq_rows_begin(&rows, &bench->plan, uniq, false);
    while ((n = rows.read(&rows, batch, ARRAY_LENGTH(batch))) > 0) {
        for (size_t i = 0; i < n; i++) {
            const uint64_t bin = (uint64_t)(batch[i].low / (__int128)bench->plan.bin_width);
            const uint64_t key = bin ^ uniq->sign_bias;
            const bool is_dense = window && key - uniq_window_first(uniq, window) < window->bins;
            size_t end = seen;
            while (end < bench->elements && bench->keys[end] == bench->keys[seen])
                end++;
            if (end == seen || key != bench->keys[seen] ||
                batch[i].count != (end - seen) * (times + is_dense))
                return tap_note("key %llx came %llu times", (unsigned long long)key,
                                (unsigned long long)batch[i].count);
            seen = end;
        }
    }
    return seen == bench->elements || tap_note("%zu elements counted", seen);
}

/*
 * Makes a window of the middle half of the values if they are dense enough, and counts the values
 * in its range like a CPU thread. Returns their number.
 */
static size_t make_window(struct bench *bench, struct uniq *uniq)
{
    uint64_t keys[1024];
    const size_t quarter = bench->elements / 4;
    const size_t n = 2 * quarter < ARRAY_LENGTH(keys) ? 2 * quarter : ARRAY_LENGTH(keys);
    size_t counted = 0;

    if (n == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        keys[i] = bench->keys[quarter + i * 2 * quarter / n];
    uniq_consider_window(uniq, NULL, keys, n, bench->elements);
    bench->window = uniq_window(uniq);
    for (size_t i = 0; bench->window && i < bench->elements; i++) {
        const uint64_t one = 1;
        const uint64_t bin = bench->keys[i] - uniq_window_first(uniq, bench->window);
        if (bin >= bench->window->bins)
            continue;
        histogram_add_counts64(bench->window->histogram, (size_t)bin, &one, 1);
        counted++;
    }
    return counted;
}

/* Counts all elements twice, the second time after the table was collected. */
static bool check_uniq(struct bench *bench, struct uniq *uniq, bool has_window)
{
    struct failure failure;

    bench->window = NULL;
    const size_t in_window = has_window ? make_window(bench, uniq) : 0;

    for (uint64_t times = 1; times <= 2; times++) {
        if (!count(bench))
            return false;
        if (store_table.finalize(uniq, &bench->plan, times * bench->elements + in_window,
                                 &failure) != STATUS_OK)
            return tap_note("%s", failure.message);
        if (!equal(bench, uniq, times))
            return false;
    }
    return true;
}

/* The same with a table of that size. Fills in `values`: one depends on the seeds. */
static bool check(struct bench *bench, const struct size *size, enum values values, size_t elements)
{
    const bool has_window = (values + size->bits) % 2 == 0;
    struct failure failure;
    void *aggregate = NULL;

    must((aggregate = store_table.create(&bench->plan, &failure)) != NULL, "no memory");
    fill(bench, values, elements, find_marked(aggregate));
    bench->shared.aggregate = aggregate;
    bench->shared.d_aggregate = device_memory(cuda_uniq.bytes(&bench->plan, 0).aggregate);
    must_cuda(cudaMemset(bench->shared.d_aggregate, 0, cuda_uniq.bytes(&bench->plan, 0).aggregate));
    bool good =
        (cuda_uniq_open_bits(&bench->shared, size->bits, size->bits_max, &failure) == STATUS_OK ||
         tap_note("%s", failure.message)) &&
        check_uniq(bench, aggregate, has_window);
    cuda_uniq.close(&bench->shared);
    bench->shared.host = NULL;
    must_cuda(cudaFree(bench->shared.d_aggregate));
    store_table.destroy(aggregate);
    return good || tap_note("%zu elements, %s, %s, told %d, window %d", elements,
                            values_names[values], size->name, bench->told, has_window);
}

static const uint64_t widths[] = {1, 2, 1000003};

/* With the widths from `first` to `last`. */
static void test_type(struct bench *bench, const char *type, size_t first, size_t last)
{
    static const size_t few[] = {0, 1, 17, 8191, 8192, 8193, 16385};

    must(element_parse(type, &bench->plan.element), "no such type");
    for (size_t w = first; w <= last; w++) {
        bench->plan.bin_width = widths[w];
        for (size_t s = 0; s < ARRAY_LENGTH(sizes); s++) {
            bool good = true;
            bench->told = (w + s) % 2 == 0;
            bench->chunk_elements = 1999 + 10007 * s;
            for (enum values values = 0; values < VALUES_COUNT; values++)
                good = check(bench, &sizes[s], values, bench->some) && good;
            tap_ok(good, "%s%s, width %llu, %s", type, bench->told ? "" : ", lengths on the device",
                   (unsigned long long)widths[w], sizes[s].name);
        }
    }
    bool good = true;
    bench->plan.bin_width = 1;
    bench->chunk_elements = ELEMENTS_MAX;
    for (size_t i = 0; i < ARRAY_LENGTH(few); i++) {
        bench->told = i % 2 == 0;
        bench->chunk_elements = few[i] > 0 ? few[i] : 1;
        good = check(bench, &sizes[1], UNIFORM, few[i]) && good;
    }
    tap_ok(good, "%s, few elements", type);
}

/* Chunks of the engine's size, and tables that grow several times. */
static void test_large(struct bench *bench, const char *type)
{
    static const struct size grows = {"a table that grows", 14, 26};
    static const struct size full = {"a table that is too small", 18, 19};

    must(element_parse(type, &bench->plan.element), "no such type");
    bench->plan.bin_width = 1;
    bench->chunk_elements = ((size_t)4 << 20) / bench->plan.element.bytes / 4;
    for (enum values values = 0; values < VALUES_COUNT; values++) {
        bench->told = values % 2 == 0;
        tap_ok(check(bench, &grows, values, ELEMENTS_MAX) &&
                   check(bench, &full, values, ELEMENTS_MAX - 4099),
               "%s, %s, %zu elements", type, values_names[values], ELEMENTS_MAX);
    }
}

static bool open_bench(struct bench *bench)
{
    int devices = 0;

    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 ||
        cudaDeviceGetAttribute(&bench->shared.device.multiprocessors,
                               cudaDevAttrMultiProcessorCount, 0) != cudaSuccess)
        return false;
    bench->plan.operation = OPERATION_UNIQ;
    static struct context context = {.table_bytes = (uint64_t)1 << 32};
    bench->plan.context = &context;
    bench->shared.plan = &bench->plan;
    bench->data = malloc(ELEMENTS_MAX * sizeof(uint64_t));
    bench->keys = malloc(ELEMENTS_MAX * sizeof *bench->keys);
    return bench->data && bench->keys;
}

int main(int argc, char **argv)
{
    static const char *const types[] = {"i8",    "u8",  "i16", "i16be", "u16",  "i32",
                                        "i32be", "u32", "i64", "u64",   "u64be"};
    static const char *const large_types[] = {"i32", "u64"};
    struct bench bench = {.some = argc > 2 ? strtoul(argv[2], NULL, 10) : 60013};

    if (!open_bench(&bench)) {
        puts("1..0 # SKIP no GPU");
        return 0;
    }
    if (argc > 1)
        test_type(&bench, argv[1], 0, ARRAY_LENGTH(widths) - 1);
    for (size_t i = 0; argc == 1 && i < ARRAY_LENGTH(types); i++) /* one width per type */
        test_type(&bench, types[i], i % ARRAY_LENGTH(widths), i % ARRAY_LENGTH(widths));
    for (size_t i = 0; argc == 1 && i < ARRAY_LENGTH(large_types); i++)
        test_large(&bench, large_types[i]);
    free(bench.data);
    free(bench.keys);
    return tap_done();
}
