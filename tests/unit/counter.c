/* Compares the CPU's counters and the shared histogram with a plain count. */
#include "config.h"

#include "engine/cpu_counter.h"
#include "tap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

/* More than a stage of the partitioned counter holds, and a multiple of nothing. */
#define VALUES 200003

/* Distribution of the values over the entries 0 .. N + 1 of a table. */
enum distribution {
    UNIFORM,
    EQUAL,
    SORTED,
    TWO_VALUES,
    ALTERNATING,
    LAST_ENTRIES,
    DISTRIBUTION_COUNT
};

static const char *const distribution_names[DISTRIBUTION_COUNT] = {
    [UNIFORM] = "uniform",
    [EQUAL] = "all equal",
    [SORTED] = "sorted",
    [TWO_VALUES] = "two values",
    [ALTERNATING] = "two in turn, but some",
    [LAST_ENTRIES] = "last entries",
};

static uint32_t distributed(enum distribution distribution, size_t i, size_t entries,
                            uint64_t *state)
{
    switch (distribution) {
    case UNIFORM:
        return (uint32_t)(tap_random(state) % entries);
    case EQUAL:
        return (uint32_t)(entries / 2);
    case SORTED:
        return (uint32_t)(i * entries / VALUES);
    case TWO_VALUES:
        return (uint32_t)(tap_random(state) % 2 ? entries - 1 : entries / 3);
    case ALTERNATING:
        return (uint32_t)(tap_random(state) % 29 == 0 ? entries / 5
                          : i % 2                     ? entries - 1
                                                      : entries / 3);
    case LAST_ENTRIES:
        return (uint32_t)(entries - 1 - tap_random(state) % 3);
    case DISTRIBUTION_COUNT:
        break;
    }
    abort();
}

static void *must(void *memory)
{
    if (memory)
        return memory;
    printf("Bail out! no memory\n");
    exit(1);
}

/* A histogram for `bins` bins, and the expected plain count. */
struct table {
    struct plan plan;
    struct histogram *histogram;
    uint64_t *wanted; /* [histogram->entries] */
    uint64_t total;   /* sum of wanted */
};

/* Makes a histogram of this many values from 0 on. */
static void table_open_range(struct table *table, uint32_t values, uint32_t bins)
{
    struct failure failure;

    *table = (struct table){.plan = {.outside = OUTSIDE_REPORT}};
    if (!element_parse("i32", &table->plan.element) ||
        binning_init(&table->plan.binning, &table->plan.element, 0, values, bins, &failure) ||
        !(table->histogram = histogram_create(&table->plan, &failure))) {
        printf("Bail out! no histogram of %u bins\n", bins);
        exit(1);
    }
    table->wanted = must(calloc(table->histogram->entries, sizeof *table->wanted));
}

static void table_open(struct table *table, uint32_t bins)
{
    table_open_range(table, bins, bins);
}

static void table_close(struct table *table)
{
    histogram_destroy(table->histogram);
    free(table->wanted);
}

static bool table_matches(const struct table *table)
{
    size_t entries = table->histogram->entries;

    for (size_t i = 0; i < entries; i++) {
        uint64_t count = histogram_count(table->histogram, i);
        if (count != table->wanted[i])
            return tap_note("%zu entries: entry %zu has %llu, not %llu", entries, i,
                            (unsigned long long)count, (unsigned long long)table->wanted[i]);
    }
    return true;
}

static void table_want(struct table *table, const uint32_t *indexes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        table->wanted[indexes[i]]++;
    table->total += n;
}

static void *counter_open(const struct cpu_counter *counter, struct table *table)
{
    struct failure failure;
    void *state = NULL;

    if (counter->open(table->histogram, &state, &failure) != STATUS_OK) {
        printf("Bail out! %s\n", failure.message);
        exit(1);
    }
    return state;
}

/* Passes the indexes in pieces of many lengths, including 0. */
static void count_in_pieces(const struct cpu_counter *counter, void *state, const uint32_t *indexes,
                            size_t n)
{
    static const size_t lengths[] = {1, 4096, 7, 0, 8, 33, 4095, 9, 30011};

    for (size_t i = 0; n > 0; i++) {
        size_t length = lengths[i % ARRAY_LENGTH(lengths)];
        length = length < n ? length : n;
        counter->count(state, indexes, NULL, length);
        indexes += length;
        n -= length;
    }
}

/* Counts, flushes twice, counts more, flushes twice: the table must be correct each time. */
static bool check_counter(const struct cpu_counter *counter, struct table *table,
                          const uint32_t *indexes, size_t n)
{
    void *state = counter_open(counter, table);
    size_t part = n / 3;
    bool right = true;

    for (size_t done = 0; done < n; done += part, part = n - done) {
        count_in_pieces(counter, state, indexes + done, part);
        table_want(table, indexes + done, part);
        counter->flush(state);
        right = right && (table_matches(table) || tap_note("after a flush"));
        counter->flush(state);
        right = right && (table_matches(table) || tap_note("after a second flush"));
    }
    counter->close(state);
    return right;
}

static bool check_distribution(const struct cpu_counter *counter, uint32_t bins,
                               enum distribution distribution, uint32_t *indexes)
{
    struct table table;
    struct failure failure;
    uint64_t state = bins;

    table_open(&table, bins);
    for (size_t i = 0; i < VALUES; i++)
        indexes[i] = distributed(distribution, i, table.histogram->entries, &state);
    bool right = check_counter(counter, &table, indexes, VALUES);
    if (right && histogram_finalize(table.histogram, &table.plan, VALUES, &failure) != STATUS_OK)
        right = tap_note("%s", failure.message);
    right = right && table_matches(&table);
    table_close(&table);
    return right || tap_note("%s values", distribution_names[distribution]);
}

static void test_counter(const struct cpu_counter *counter, const char *name)
{
    /*
     * 256 and 1022 are the last with eight and four copies of the private table; 16382 entries end
     * with a region.
     */
    static const uint32_t bins[] = {1,     2,     256,   257,   1000,   1022,   1023,
                                    16382, 16383, 16384, 16385, 200000, 5000000};
    uint32_t *indexes = must(malloc(VALUES * sizeof *indexes));

    /* A single thread: with ThreadSanitizer, the largest only takes long. */
    for (size_t i = 0; i < ARRAY_LENGTH(bins) - TAP_HAS_TSAN; i++) {
        bool right = true;
        for (int distribution = 0; distribution < DISTRIBUTION_COUNT; distribution++)
            right =
                check_distribution(counter, bins[i], (enum distribution)distribution, indexes) &&
                right;
        tap_ok(right, "%s, %u bin%s: every distribution, two flushes", name, bins[i],
               bins[i] == 1 ? "" : "s");
    }
    free(indexes);
}

static uint64_t histogram_total(const struct histogram *histogram)
{
    uint64_t total = 0;

    for (size_t i = 0; i < histogram->entries; i++)
        total += histogram_count(histogram, i);
    return total;
}

/* Flushes the counter and closes both; returns whether the counts are the expected ones. */
static bool counter_finish_limited(struct table *table, void *counter)
{
    cpu_counter_private.flush(counter);
    const bool right = table_matches(table);
    cpu_counter_private.close(counter);
    table_close(table);
    return right;
}

/*
 * A private counter with a limit must never hold more increments than the limit: at the real limit,
 * 2^32 - 1, a 32-bit counter would wrap.
 */
static bool check_limited(uint32_t bins, uint32_t limit)
{
    enum { PIECES = 60 };
    struct table table;
    uint64_t state = limit;
    uint32_t indexes[101];
    bool right = true;

    table_open(&table, bins);
    table.histogram->staged_limit = limit;
    void *counter = counter_open(&cpu_counter_private, &table);
    for (size_t i = 0; i < PIECES; i++) {
        size_t n = tap_random(&state) % (ARRAY_LENGTH(indexes) + 1);
        for (size_t j = 0; j < n; j++)
            indexes[j] = distributed(i % 2 ? UNIFORM : EQUAL, j, bins + 2u, &state);
        cpu_counter_private.count(counter, indexes, NULL, n);
        table_want(&table, indexes, n);
        if (table.total - histogram_total(table.histogram) > limit)
            right = tap_note("more than %u were held back", limit);
    }
    return counter_finish_limited(&table, counter) && right;
}

static void test_limited(void)
{
    static const uint32_t limits[] = {1, 2, 7, 8, 9, 1000};

    for (size_t i = 0; i < ARRAY_LENGTH(limits); i++)
        tap_ok(check_limited(1, limits[i]) && check_limited(256, limits[i]) &&
                   check_limited(1022, limits[i]) && check_limited(1023, limits[i]),
               "private, limit %u: no more is held back, nothing is lost", limits[i]);
}

/* --- adding to the histogram ------------------------------------------------------------------ */

static void test_add_ranges(void)
{
    enum { LONGEST = 3 * HISTOGRAM_REGION_BINS };
    static uint32_t counts32[LONGEST];
    static uint64_t counts64[LONGEST];
    struct table table;
    uint64_t state = 5;

    table_open(&table, 5 * HISTOGRAM_REGION_BINS);
    for (size_t round = 0; round < 40; round++) {
        size_t first = tap_random(&state) % table.histogram->entries;
        size_t room = table.histogram->entries - first;
        size_t n = tap_random(&state) % LONGEST;
        n = n < room ? n : room;
        for (size_t i = 0; i < n; i++) {
            counts32[i] = (uint32_t)tap_random(&state);
            counts64[i] = tap_random(&state) >> 10;
            table.wanted[first + i] += counts32[i] + counts64[i];
        }
        histogram_add_counts32(table.histogram, first, counts32, n);
        histogram_add_counts64(table.histogram, first, counts64, n);
    }
    tap_ok(table_matches(&table), "counts are added from any entry on, over several regions");
    table_close(&table);
}

/* An entry with count 0 that is not empty. */
static void test_mark_nonempty(void)
{
    const uint32_t most = UINT32_MAX;
    struct table table;

    table_open(&table, 100);
    histogram_mark_nonempty(table.histogram, 5);
    histogram_mark_nonempty(table.histogram, 90);
    tap_ok(table_matches(&table) && histogram_skip_empty(table.histogram, 6, 100) == 90 &&
               histogram_trim_empty(table.histogram, 6, 100) == 91,
           "an entry that is marked counts 0, and is not empty");
    table.wanted[5] = most;
    histogram_add_counts32(table.histogram, 5, &most, 1);
    histogram_mark_nonempty(table.histogram, 5);
    tap_ok(table_matches(&table) && histogram_take(table.histogram, 90) == 0 &&
               histogram_skip_empty(table.histogram, 6, 100) == 100,
           "it counts what is added, until it is taken");
    table_close(&table);
}

/* Runs of equal bins have a shortcut. */
static void test_runs(void)
{
    uint32_t indexes[203];
    struct table table;
    uint64_t state = 6;
    struct failure failure;
    void *counter = NULL;

    table_open(&table, 3 * HISTOGRAM_REGION_BINS);
    bool opened = cpu_counter_partitioned.open(table.histogram, &counter, &failure) == STATUS_OK;
    for (size_t round = 0; opened && round < 2000; round++) {
        size_t region = tap_random(&state) % 3;
        size_t n = tap_random(&state) % (ARRAY_LENGTH(indexes) + 1);
        for (size_t i = 0; i < n; i++) {
            bool repeat = i > 0 && tap_random(&state) % 8 > 0;
            indexes[i] = repeat ? indexes[i - 1]
                                : (uint32_t)(region * HISTOGRAM_REGION_BINS +
                                             tap_random(&state) % HISTOGRAM_REGION_BINS);
            table.wanted[indexes[i]]++;
        }
        cpu_counter_partitioned.count(counter, indexes, NULL, n);
        cpu_counter_partitioned.flush(counter);
    }
    tap_ok(opened && table_matches(&table),
           "partitioned: bins are counted, runs of one among them");
    cpu_counter_partitioned.close(counter);
    table_close(&table);
}

/* --- threads ---------------------------------------------------------------------------------- */

#define WORKERS       4
#define WORKER_ROUNDS (TAP_HAS_TSAN ? 2000 : 20000)
#define WORKER_PLACES 6 /* so few that workers collide all the time */
#define WORKER_VALUES 3

struct worker {
    pthread_t thread;
    pthread_barrier_t *start;
    const struct cpu_counter *counter; /* NULL: the worker adds to the histogram directly */
    struct table *table;
    size_t base; /* the first of the places, WORKER_PLACES in all */
    uint64_t state;
};

/* Repeatedly adds some ones from a random place on. */
static void *worker_run(void *argument)
{
    struct worker *self = argument;
    void *counter = self->counter ? counter_open(self->counter, self->table) : NULL;
    const uint64_t ones[WORKER_VALUES] = {1, 1, 1};
    uint32_t indexes[WORKER_VALUES];

    pthread_barrier_wait(self->start);
    for (size_t round = 0; round < WORKER_ROUNDS; round++) {
        size_t first = self->base + tap_random(&self->state) % WORKER_PLACES;
        for (size_t i = 0; i < WORKER_VALUES; i++)
            indexes[i] = (uint32_t)(first + i);
        if (!counter) {
            histogram_add_counts64(self->table->histogram, first, ones, WORKER_VALUES);
            continue;
        }
        self->counter->count(counter, indexes, NULL, WORKER_VALUES);
        if (round % 4 == 0)
            self->counter->flush(counter);
    }
    if (counter) {
        self->counter->flush(counter);
        self->counter->close(counter);
    }
    return NULL;
}

/* The expected sum of all workers. */
static void workers_want(struct table *table, size_t base)
{
    for (size_t i = 0; i < WORKERS; i++) {
        uint64_t state = i;
        for (size_t round = 0; round < WORKER_ROUNDS; round++) {
            size_t first = base + tap_random(&state) % WORKER_PLACES;
            for (size_t j = 0; j < WORKER_VALUES; j++)
                table->wanted[first + j]++;
        }
    }
}

static bool check_threads(uint32_t bins, size_t base,
                          const struct cpu_counter *const counters[WORKERS])
{
    struct worker workers[WORKERS];
    pthread_barrier_t start;
    struct table table;

    table_open(&table, bins);
    table.histogram->staged_limit = 70000; /* little more than a stage, so it is often reached */
    workers_want(&table, base);
    pthread_barrier_init(&start, NULL, WORKERS);
    for (size_t i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){
            .start = &start, .counter = counters[i], .table = &table, .base = base, .state = i};
        if (pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]) != 0) {
            printf("Bail out! no thread\n");
            exit(1);
        }
    }
    for (size_t i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    pthread_barrier_destroy(&start);
    bool right = table_matches(&table);
    table_close(&table);
    return right;
}

static void test_threads(void)
{
    const size_t border = HISTOGRAM_REGION_BINS - WORKER_PLACES / 2 - 1;
    static const struct cpu_counter *const direct[WORKERS] = {NULL, NULL, NULL, NULL};
    static const struct cpu_counter *const private[WORKERS] = {&cpu_counter_private,
                                                               &cpu_counter_private,
                                                               &cpu_counter_private,
                                                               &cpu_counter_private};
    static const struct cpu_counter *const partitioned[WORKERS] = {&cpu_counter_partitioned,
                                                                   &cpu_counter_partitioned,
                                                                   &cpu_counter_partitioned,
                                                                   &cpu_counter_partitioned};
    static const struct cpu_counter *const mixed[WORKERS] = {&cpu_counter_private,
                                                             &cpu_counter_partitioned, NULL,
                                                             &cpu_counter_streamed};

    tap_ok(check_threads(6, 0, direct) && check_threads(20000, border, direct),
           "threads add counts to one histogram at once");
    tap_ok(check_threads(6, 0, private), "threads with private tables flush into one histogram");
    tap_ok(check_threads(6, 0, partitioned) && check_threads(20000, border, partitioned),
           "threads with stages flush into one histogram");
    tap_ok(check_threads(6, 0, mixed) && check_threads(20000, border, mixed),
           "threads of every kind share one histogram");
}

/* --- the end ---------------------------------------------------------------------------------- */

/* A histogram of counts 10, 20, 30, ... with 5 below and 7 above. */
static void fill(struct table *table, uint32_t bins)
{
    const uint64_t outside[2] = {5, 7};

    table_open(table, bins);
    for (size_t i = 0; i < bins; i++)
        table->wanted[i] = 10 * (i + 1);
    table->wanted[bins] = outside[0];
    table->wanted[bins + 1] = outside[1];
    histogram_add_counts64(table->histogram, 0, table->wanted, table->histogram->entries);
    table->total = histogram_total(table->histogram);
}

static bool check_policy(uint32_t bins, enum outside_policy policy)
{
    struct table table;
    struct failure failure;

    fill(&table, bins);
    table.plan.outside = policy;
    if (policy == OUTSIDE_CLAMP) {
        table.wanted[0] += 5;
        table.wanted[bins - 1] += 7;
    }
    if (policy == OUTSIDE_CLAMP || policy == OUTSIDE_IGNORE)
        table.wanted[bins] = table.wanted[bins + 1] = 0;
    bool right =
        histogram_finalize(table.histogram, &table.plan, table.total, &failure) == STATUS_OK &&
        table_matches(&table) && histogram_count(table.histogram, bins) == table.wanted[bins] &&
        histogram_count(table.histogram, bins + 1) == table.wanted[bins + 1];
    table_close(&table);
    return right;
}

static void test_policies(void)
{
    tap_ok(check_policy(1, OUTSIDE_REPORT) && check_policy(9, OUTSIDE_REPORT),
           "finish, report: values outside stay where they are");
    tap_ok(check_policy(1, OUTSIDE_CLAMP) && check_policy(2, OUTSIDE_CLAMP) &&
               check_policy(9, OUTSIDE_CLAMP),
           "finish, clamp: values outside go to the first and last bin");
    tap_ok(check_policy(1, OUTSIDE_IGNORE) && check_policy(9, OUTSIDE_IGNORE),
           "finish, ignore: values outside are dropped");
}

/* Returns whether finish refuses a total of `elements` with both numbers for every policy. */
static bool refuses_total(struct table *table, uint64_t elements)
{
    char read[32];
    char counted[32];
    bool right = true;

    snprintf(read, sizeof read, "%llu elements", (unsigned long long)elements);
    snprintf(counted, sizeof counted, "%llu counted", (unsigned long long)table->total);
    for (int policy = OUTSIDE_REPORT; policy <= OUTSIDE_IGNORE; policy++) {
        struct failure failure = {.status = STATUS_OK};
        table->plan.outside = (enum outside_policy)policy;
        right =
            right &&
            histogram_finalize(table->histogram, &table->plan, elements, &failure) == STATUS_DATA &&
            failure.status == STATUS_DATA && strstr(failure.message, read) &&
            strstr(failure.message, counted);
    }
    return right;
}

static void test_totals(void)
{
    struct table table;

    fill(&table, 9);
    tap_ok(refuses_total(&table, table.total - 1) && refuses_total(&table, table.total + 1) &&
               refuses_total(&table, 0) && refuses_total(&table, table.total + ((uint64_t)1 << 32)),
           "finish: a total that is not the number of elements is an error");
    table_close(&table);
}

/* Numbers too large for a test run to count. */
static void test_large(void)
{
    const uint64_t large[3] = {UINT32_MAX, ((uint64_t)1 << 40) + 3, ((uint64_t)1 << 63) - 1};
    const uint32_t most32[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    const uint32_t indexes[4] = {0, 1, 2, 2};
    const struct cpu_counter *const counters[] = {&cpu_counter_private, &cpu_counter_partitioned,
                                                  &cpu_counter_streamed};
    struct table table;
    struct failure failure;

    table_open(&table, 3);
    histogram_add_counts64(table.histogram, 0, large, 3);
    histogram_add_counts32(table.histogram, 0, most32, 3);
    histogram_add_counts32(table.histogram, 0, most32, 3);
    for (size_t i = 0; i < 3; i++) {
        table.wanted[i] = large[i] + (uint64_t)2 * UINT32_MAX;
        table.total += table.wanted[i];
    }
    for (size_t i = 0; i < ARRAY_LENGTH(counters); i++) {
        void *state = counter_open(counters[i], &table);
        counters[i]->count(state, indexes, NULL, ARRAY_LENGTH(indexes));
        counters[i]->flush(state);
        counters[i]->close(state);
        table_want(&table, indexes, ARRAY_LENGTH(indexes));
    }
    tap_ok(histogram_finalize(table.histogram, &table.plan, table.total, &failure) == STATUS_OK &&
               table_matches(&table),
           "counts beyond 2^32, and up to 2^63, are kept and added to");
    table_close(&table);
}

/* Returns the sum of the 32-bit part of a region. */
static uint64_t staged_sum(const struct histogram *histogram, size_t region)
{
    size_t end = (region + 1) * HISTOGRAM_REGION_BINS;
    uint64_t sum = 0;

    for (size_t i = region * HISTOGRAM_REGION_BINS; i < end && i < histogram->entries; i++)
        sum += histogram->staged[i];
    return sum;
}

/* Counts residuals, bins minus the first one of the region, one by one in a locked region. */
static void add_locked(struct histogram *histogram, size_t region, const uint16_t *residuals,
                       size_t n)
{
    uint32_t *counts = histogram_lock_region(histogram, region, (uint32_t)n, true);

    for (size_t i = 0; i < n; i++)
        counts[residuals[i]]++;
    histogram_unlock_region(histogram, region);
}

/* The 32-bit part of a region is moved before it overflows. */
static void test_staged_limit(void)
{
    enum { BINS = 20000, LIMIT = 1000 };
    uint16_t residuals[LIMIT];
    struct table table;
    bool held = true;

    table_open(&table, BINS);
    table.histogram->staged_limit = LIMIT;
    for (size_t round = 1; round <= 50; round++) {
        size_t n = round * 37 % LIMIT + 1;
        for (size_t i = 0; i < n; i++) {
            residuals[i] = (uint16_t)(i * round % 5);
            table.wanted[HISTOGRAM_REGION_BINS + residuals[i]]++;
        }
        add_locked(table.histogram, 1, residuals, n);
        held = held && staged_sum(table.histogram, 0) == 0 &&
               staged_sum(table.histogram, 1) <= LIMIT && table_matches(&table);
    }
    tap_ok(held, "staged counters never hold more than their limit, and lose nothing");
    table_close(&table);
}

/* A hot region is added to the histogram before its increments can overflow the histogram. */
static void test_hot_limit(void)
{
    enum { BINS = 20000, LIMIT = 70000, ROUNDS = 300, PART = 1000 }; /* a buffer holds 65,568 */
    enum { LOCKED = 66 }; /* the buffer is full after this many rounds */
    uint32_t indexes[PART];
    struct table table;
    bool held = true;

    table_open(&table, BINS);
    table.histogram->staged_limit = LIMIT;
    void *state = counter_open(&cpu_counter_partitioned, &table);
    histogram_lock_region(table.histogram, 0, 0, true); /* like a thread that counts in it */
    for (size_t round = 0; round < ROUNDS; round++) {
        if (round == LOCKED)
            histogram_unlock_region(table.histogram, 0);
        for (size_t i = 0; i < PART; i++)
            indexes[i] = (uint32_t)(i * round % 5);
        cpu_counter_partitioned.count(state, indexes, NULL, PART);
        table_want(&table, indexes, PART);
        held = held && staged_sum(table.histogram, 0) <= LIMIT;
    }
    cpu_counter_partitioned.flush(state);
    held = held && staged_sum(table.histogram, 0) <= LIMIT && table_matches(&table);
    tap_ok(held, "a hot region never holds more than the limit, and loses nothing");
    cpu_counter_partitioned.close(state);
    table_close(&table);
}

/* Adds n times `count` from an entry on, with 32 bits. */
static void add_equal32(struct table *table, size_t first, uint32_t count, size_t n)
{
    uint32_t *counts = must(calloc(n, sizeof *counts));

    for (size_t i = 0; i < n; i++) {
        counts[i] = count;
        table->wanted[first + i] += count;
    }
    histogram_add_counts32(table->histogram, first, counts, n);
    free(counts);
}

/* Counts that fit the 32-bit part of their region go there, others to the 64-bit part. */
static void test_add_staged(uint32_t limit)
{
    enum { REGION = HISTOGRAM_REGION_BINS };
    struct table table;

    table_open(&table, 3 * REGION);
    const struct histogram *histogram = table.histogram;
    table.histogram->staged_limit = limit;
    add_equal32(&table, 5, limit, 1);
    tap_ok(histogram->staged[5] == limit && table_matches(&table),
           "limit %u: a sum at the limit stays in 32 bits", limit);
    add_equal32(&table, 5, 0, 3);
    add_equal32(&table, 6, 1, 1);
    tap_ok(staged_sum(histogram, 0) == limit && histogram->counts[6] == 1 && table_matches(&table),
           "limit %u: one more goes to 64 bits, and moves nothing", limit);
    add_equal32(&table, REGION, limit / 2, 2);
    add_equal32(&table, REGION, limit, 2);
    tap_ok(staged_sum(histogram, 1) == limit / 2 * 2 && histogram->counts[REGION + 1] == limit &&
               table_matches(&table),
           "limit %u: a sum beyond the limit goes to 64 bits altogether", limit);
    add_equal32(&table, 2 * REGION - 2, limit / 3, 4);
    tap_ok(staged_sum(histogram, 2) == limit / 3 * 2 &&
               histogram->counts[2 * REGION - 1] == limit / 3 && table_matches(&table),
           "limit %u: of counts in two regions each part goes where it has room", limit);
    table_close(&table);
}

/* Adds ones to a region, given as residuals, in one of two ways. */
static void add_ones(struct table *table, size_t way, size_t region, const uint16_t *residuals,
                     size_t n)
{
    static uint32_t counts[HISTOGRAM_REGION_BINS];
    size_t first = region * HISTOGRAM_REGION_BINS;

    memset(counts, 0, sizeof counts);
    for (size_t i = 0; i < n; i++) {
        counts[residuals[i]]++;
        table->wanted[first + residuals[i]]++;
    }
    if (way == 0)
        add_locked(table->histogram, region, residuals, n);
    else
        histogram_add_counts32(table->histogram, first, counts, HISTOGRAM_REGION_BINS);
}

/* Alternates all ways to add: no region exceeds its limit, and no count is lost. */
static void test_add_mixed(void)
{
    enum { REGIONS = 3, LIMIT = 5000, MOST = 600 };
    uint64_t counts64[MOST];
    uint16_t residuals[MOST];
    struct table table;
    uint64_t state = 8;
    bool held = true;

    table_open(&table, REGIONS * HISTOGRAM_REGION_BINS);
    table.histogram->staged_limit = LIMIT;
    for (size_t round = 0; round < 2000 && held; round++) {
        size_t region = tap_random(&state) % REGIONS;
        size_t n = tap_random(&state) % MOST + 1;
        for (size_t i = 0; i < n; i++)
            residuals[i] = (uint16_t)(tap_random(&state) % HISTOGRAM_REGION_BINS);
        add_ones(&table, round % 2, region, residuals, n);
        held = staged_sum(table.histogram, region) <= LIMIT;
        if (round % 50 > 0)
            continue;
        size_t first = tap_random(&state) % (table.histogram->entries - n);
        for (size_t i = 0; i < n; i++)
            table.wanted[first + i] += counts64[i] = tap_random(&state) >> 20;
        histogram_add_counts64(table.histogram, first, counts64, n);
        held = held && table_matches(&table) &&
               histogram_elements(table.histogram) == histogram_total(table.histogram);
    }
    tap_ok(held && table_matches(&table), "all ways to add in turn lose nothing");
    table_close(&table);
}

static void test_null(void)
{
    histogram_destroy(NULL);
    cpu_counter_private.close(NULL);
    cpu_counter_partitioned.close(NULL);
    tap_ok(true, "NULL can be closed");
}

int main(void)
{
    test_counter(&cpu_counter_private, "private");
    test_counter(&cpu_counter_partitioned, "partitioned");
    test_counter(&cpu_counter_streamed, "streamed");
    test_limited();
    test_add_ranges();
    test_mark_nonempty();
    test_runs();
    test_threads();
    test_policies();
    test_totals();
    test_large();
    test_staged_limit();
    test_hot_limit();
    test_add_staged(100);
    test_add_staged(UINT32_MAX);
    test_add_mixed();
    test_null();
    return tap_done();
}
