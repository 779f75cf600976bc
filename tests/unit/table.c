/*
 * Tables of keys and counts: added entries are read back from memory and from runs; runs and their
 * merging; the order of entries.
 */
#include "config.h"

#include "lib/table.h"

#include "lib/table_internal.h"
#include "lib/table_runs.h"
#include "tap.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof *(array))

/* Enough memory for all added entries. */
#define MUCH ((uint64_t)1 << 30)

/* More distinct keys than fit the smallest table with one writer. */
#define MANY ((size_t)600000)

static _Noreturn void bail_out(const char *what)
{
    printf("Bail out! %s: %s\n", what, strerror(errno));
    exit(1);
}

static void *must(void *memory)
{
    if (!memory)
        bail_out("no memory");
    return memory;
}

/* --- tables --------------------------------------------------------------------------------------
 */

/* A table and its expected entries. */
struct sample {
    struct table *table;
    struct table_entry *entries; /* [count] of distinct keys */
    size_t count;
};

/* Keys from 0, 1, 2, ... by a function without collisions. */
static uint64_t key_of(uint64_t i)
{
    uint64_t state = i;
    return tap_random(&state);
}

/* A sample of `count` keys with counts of 1 to 5. */
static struct sample sample_open(size_t count, uint64_t bytes)
{
    struct sample sample = {.count = count};
    struct failure failure;

    sample.entries = must(malloc((count + 1) * sizeof *sample.entries));
    for (size_t i = 0; i < count; i++)
        sample.entries[i] = (struct table_entry){.key = key_of(i), .count = 1 + i % 5};
    if (table_create(&sample.table, NULL, bytes, NULL, &failure) != STATUS_OK)
        bail_out(failure.message);
    return sample;
}

static void sample_close(struct sample *sample)
{
    table_destroy(sample->table);
    free(sample->entries);
}

static int compare_entries(const void *a, const void *b)
{
    const struct table_entry *x = a;
    const struct table_entry *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* A thread that adds entries first, first + step, ... of the sample. */
struct adder {
    const struct sample *sample;
    size_t first;
    size_t step;
    bool by_counts; /* every other entry is added with its count */
    uint64_t set;   /* all counts are added like those of this set; 0: no set */
    struct failure failure;
    bool failed;
};

static bool adder_add(struct adder *adder, struct table_writer *writer)
{
    const struct sample *sample = adder->sample;
    uint64_t keys[8];

    for (size_t i = adder->first; i < sample->count; i += adder->step) {
        const struct table_entry entry = sample->entries[i];
        if (adder->set > 0) {
            if (table_writer_add_distinct(writer, adder->set, &entry, 1, &adder->failure) !=
                STATUS_OK)
                return false;
            continue;
        }
        if (adder->by_counts && i % 2 == 1) {
            if (table_writer_add_rows(writer, &entry, 1, &adder->failure) != STATUS_OK)
                return false;
            continue;
        }
        for (uint64_t n = 0; n < entry.count; n++)
            keys[n] = entry.key;
        if (table_writer_add(writer, keys, entry.count, &adder->failure) != STATUS_OK)
            return false;
    }
    return table_writer_flush(writer, &adder->failure) == STATUS_OK;
}

static void *adder_run(void *argument)
{
    struct adder *adder = argument;
    struct table_writer *writer = NULL;

    adder->failed =
        table_writer_open(adder->sample->table, &writer, &adder->failure) != STATUS_OK ||
        !adder_add(adder, writer);
    table_writer_close(writer);
    return NULL;
}

#define ADDERS_MAX 8

/* Runs adders at once. */
static bool run_adders(struct adder *adders, size_t count)
{
    pthread_t threads[ADDERS_MAX];
    bool right = true;

    for (size_t i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, adder_run, &adders[i]) != 0)
            bail_out("pthread_create");
    }
    for (size_t i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        if (adders[i].failed)
            right = tap_note("%s", adders[i].failure.message);
    }
    return right;
}

/* Adds the sample with several writers at once. */
static bool add(const struct sample *sample, size_t writers, bool by_counts)
{
    struct adder adders[ADDERS_MAX];

    for (size_t i = 0; i < writers; i++)
        adders[i] =
            (struct adder){.sample = sample, .first = i, .step = writers, .by_counts = by_counts};
    return run_adders(adders, writers);
}

/* Adds the sample as a set by two writers, and at the same time once more by `others` (0 or 2). */
static bool add_set(const struct sample *sample, size_t others)
{
    const uint64_t set = table_new_set(sample->table);
    struct adder adders[ADDERS_MAX];

    for (size_t i = 0; i < 2 + others; i++)
        adders[i] = (struct adder){
            .sample = sample, .first = i % 2, .step = 2, .set = i < 2 ? set : 0, .by_counts = true};
    return run_adders(adders, 2 + others);
}

static bool finalize(struct sample *sample, enum table_order order)
{
    struct failure failure;

    if (table_finalize(sample->table, order, &failure) != STATUS_OK)
        return tap_note("%s", failure.message);
    return true;
}

/* Returns whether entries[0..count) are the sample with `times` the counts; sorts both. */
static bool is_sample(struct sample *sample, struct table_entry *entries, uint64_t times,
                      bool is_ascending)
{
    bool right = true;

    if (!is_ascending)
        qsort(entries, sample->count, sizeof *entries, compare_entries);
    qsort(sample->entries, sample->count, sizeof *entries, compare_entries);
    for (size_t i = 0; i < sample->count && right; i++) {
        right = entries[i].key == sample->entries[i].key &&
                entries[i].count == times * sample->entries[i].count;
        if (!right)
            tap_note("entry %zu: key %016llx, count %llu", i, (unsigned long long)entries[i].key,
                     (unsigned long long)entries[i].count);
    }
    return right;
}

/* Reads a finalized table in parts of changing sizes. Returns the number of entries. */
static size_t read_parts(const struct table *table, struct table_entry *entries, size_t most)
{
    const size_t parts = most % 3 + 1;
    size_t n = 0;

    for (size_t part = 0; part < parts; part++) {
        struct table_position position = table_begin_part(table, part, parts);
        size_t some = 1;
        for (size_t room = 1; some > 0 && n < most; room = room % 3000 + 7) {
            some = table_read(table, &position, entries + n, room < most - n ? room : most - n);
            n += some;
        }
        if (n == most && table_read(table, &position, entries + n, 1) > 0)
            return most + 1;
    }
    return n;
}

/* Reads a finalized table, and compares it with the sample. */
static bool has_sample(struct sample *sample, uint64_t times, bool is_ascending)
{
    const struct table *table = sample->table;
    struct table_entry *entries = must(malloc((sample->count + 1) * sizeof *entries));
    struct failure failure;
    uint64_t total = 0;
    size_t n = read_parts(table, entries, sample->count);

    for (size_t i = 0; i < sample->count; i++)
        total += times * sample->entries[i].count;
    bool right = n == sample->count && table_distinct(table) == n && table_total(table) == total &&
                 table_check(table, &failure) == STATUS_OK;
    if (!right)
        tap_note("%zu entries of %zu, distinct %llu, total %llu", n, sample->count,
                 (unsigned long long)table_distinct(table), (unsigned long long)table_total(table));
    right = right && is_sample(sample, entries, times, is_ascending);
    free(entries);
    return right;
}

/* Reads single entries of a table in ascending order, at some places. */
static bool seeks_sample(struct sample *sample, uint64_t times)
{
    const size_t count = sample->count;
    struct table_entry entry;

    qsort(sample->entries, count, sizeof entry, compare_entries);
    for (size_t i = 0; i < 500; i++) {
        const uint64_t index = i == 0 ? 0 : i == 1 ? count - 1 : key_of(i) % count;
        struct table_position position = table_seek(sample->table, index);
        if (table_read(sample->table, &position, &entry, 1) != 1 ||
            entry.key != sample->entries[index].key ||
            entry.count != times * sample->entries[index].count)
            return tap_note("entry %llu", (unsigned long long)index);
    }
    struct table_position end = table_seek(sample->table, count);
    return table_read(sample->table, &end, &entry, 1) == 0;
}

static void test_memory(void)
{
    static const size_t counts[] = {0, 1, 2, 1000, 70000, 300001};

    for (size_t i = 0; i < ARRAY_LENGTH(counts) - TAP_HAS_TSAN; i++) {
        for (size_t writers = 1; writers <= ADDERS_MAX; writers *= 8) {
            struct sample sample = sample_open(counts[i], MUCH);
            bool right = add(&sample, writers, i % 2 == 0);
            right = right && finalize(&sample, TABLE_ANY_ORDER) && has_sample(&sample, 1, false);
            right = right && finalize(&sample, TABLE_ASCENDING) && has_sample(&sample, 1, true);
            right = right && (counts[i] == 0 || seeks_sample(&sample, 1));
            tap_ok(right, "%zu keys in memory, %zu writers", counts[i], writers);
            sample_close(&sample);
        }
    }
}

/* The smallest memory is that for one writer. */
static void test_runs(void)
{
    struct sample sample = sample_open(MANY, 1);
    bool right = add(&sample, 1, false) && finalize(&sample, TABLE_ASCENDING);

    right = right && has_sample(&sample, 1, true) && seeks_sample(&sample, 1);
    tap_ok(right && !table_is_in_memory(sample.table), "%zu keys in runs", MANY);
    right = add(&sample, 2, true) && finalize(&sample, TABLE_ANY_ORDER);
    tap_ok(right && has_sample(&sample, 2, true), "the same again, by two writers and as counts");
    right = finalize(&sample, TABLE_ASCENDING) && has_sample(&sample, 2, true);
    tap_ok(right, "finalized again, with nothing new");
    sample_close(&sample);
}

/* So many runs that some must be merged before the end. */
static void test_many_runs(void)
{
    const unsigned rounds = TAP_HAS_TSAN ? 8 : 40;
    struct sample sample = sample_open(120000, 1);
    bool right = true;

    for (unsigned i = 0; i < rounds && right; i++) {
        right = add(&sample, 1, false);
        for (size_t j = 0; j < sample.count; j++)
            sample.entries[j].key += 1000003;
    }
    for (size_t j = 0; j < sample.count; j++)
        sample.entries[j].key -= 1000003;
    right = right && (sample.table->spill.next > 0 || sample.table->spill.count > 0);
    right = right && finalize(&sample, TABLE_ASCENDING);
    uint64_t distinct = table_distinct(sample.table);
    tap_ok(right && distinct == rounds * sample.count,
           "%llu keys in more runs than are merged at once", (unsigned long long)distinct);
    sample_close(&sample);
}

/* Later entries are added to those already read. */
static void test_later(void)
{
    struct sample sample = sample_open(50000, MUCH);
    bool right = true;

    for (uint64_t times = 1; times <= 4 && right; times++) {
        bool is_ascending = times % 2 == 0;
        right = add(&sample, 3, times == 3) &&
                finalize(&sample, is_ascending ? TABLE_ASCENDING : TABLE_ANY_ORDER) &&
                has_sample(&sample, times, is_ascending);
    }
    tap_ok(right, "added and finalized in turn");
    sample_close(&sample);
}

/* Sets of distinct entries: into an empty table, together with keys, and with packed ones. */
static void test_sets(uint64_t bytes, const char *what)
{
    struct sample sample = sample_open(bytes == MUCH ? 50000 : MANY, bytes);
    bool right = add_set(&sample, 0) && finalize(&sample, TABLE_ANY_ORDER) &&
                 has_sample(&sample, 1, false) && add_set(&sample, 0) &&
                 finalize(&sample, TABLE_ASCENDING) && has_sample(&sample, 2, true) &&
                 add_set(&sample, 2) && finalize(&sample, TABLE_ANY_ORDER) &&
                 has_sample(&sample, 4, false);

    tap_ok(right, "sets, %s", what);
    sample_close(&sample);
    sample = sample_open(50000, bytes);
    right =
        add_set(&sample, 2) && finalize(&sample, TABLE_ASCENDING) && has_sample(&sample, 2, true);
    tap_ok(right, "a set beside keys, %s", what);
    sample_close(&sample);
}

/* Rows of a set, then others, which are packed with them, then again rows of that set. */
static void test_set_again(void)
{
    const size_t half = 5000;
    struct sample sample = sample_open(2 * half, MUCH);
    const uint64_t set = table_new_set(sample.table);
    const struct table_entry *others = sample.entries + half;
    struct table_writer *writer;
    struct failure failure;
    bool right = table_writer_open(sample.table, &writer, &failure) == STATUS_OK;

    for (unsigned round = 0; round < 2 && right; round++)
        right =
            (round > 0 ||
             table_writer_add_distinct(writer, set, sample.entries, half, &failure) == STATUS_OK) &&
            table_writer_add_distinct(writer, round > 0 ? set : 0, others, half, &failure) ==
                STATUS_OK &&
            table_writer_flush(writer, &failure) == STATUS_OK && finalize(&sample, TABLE_ANY_ORDER);
    table_writer_close(writer);
    for (size_t i = half; i < 2 * half; i++)
        sample.entries[i].count *= 2;
    tap_ok(right && has_sample(&sample, 1, false), "a set after other rows were packed beside it");
    sample_close(&sample);
}

/* The blocks leave memory to make a run: twice an eighth of the table's maximum. */
static void test_memory_of_runs(void)
{
    const uint64_t bytes = (uint64_t)16 << 20;
    struct sample sample = sample_open(0, bytes);
    struct table_writer *writer;
    struct failure failure;
    uint64_t keys[1024];
    uint64_t used_max = 0;
    bool right = table_writer_open(sample.table, &writer, &failure) == STATUS_OK;

    for (uint64_t i = 0; i < 4 * MANY && right; i += ARRAY_LENGTH(keys)) {
        for (size_t k = 0; k < ARRAY_LENGTH(keys); k++)
            keys[k] = key_of(i + k);
        right = table_writer_add(writer, keys, ARRAY_LENGTH(keys), &failure) == STATUS_OK;
        const uint64_t used = table_blocks_used(&sample.table->blocks);
        used_max = used > used_max ? used : used_max;
    }
    table_writer_close(writer);
    tap_ok(right && sample.table->spill.count > 0 && used_max < bytes,
           "blocks of %llu of %llu bytes at most", (unsigned long long)used_max,
           (unsigned long long)bytes);
    sample_close(&sample);
}

/* A frequent key is counted beyond 32 bits. */
static void test_hot(void)
{
    static struct table_hot hot = {.seed = 1, .state = TABLE_HOT_COUNTS};
    static struct table_entry entries[TABLE_HOT_SLOTS];
    uint64_t cold[TABLE_HOT_BLOCK];
    const uint64_t *keys = &(const uint64_t){0};

    hot.slots[0] = (struct table_entry){.key = 0, .count = UINT32_MAX};
    const size_t left = table_hot_count(&hot, &keys, 1, cold);
    tap_ok(left == 0 && table_hot_empty(&hot, entries) == 1 &&
               entries[0].count == (uint64_t)UINT32_MAX + 1,
           "a frequent key, 2^32 times");
}

/* The destination of drained entries. */
struct drain {
    struct table_writer *writer; /* adds them to the table again; NULL: they are dropped */
    uint64_t total;
    uint64_t room; /* fails after this many entries */
};

static enum status drain_take(void *context, const struct table_entry *entries, size_t n,
                              struct failure *failure)
{
    struct drain *drain = context;

    for (size_t i = 0; i < n; i++)
        drain->total += entries[i].count;
    if (drain->total > drain->room)
        return status_fail(failure, STATUS_DATA, "no room");
    return drain->writer ? table_writer_add_rows(drain->writer, entries, n, failure) : STATUS_OK;
}

/* Drains all partitions. Returns the sum of counts, UINT64_MAX after a failure. */
static uint64_t drain_all(const struct sample *sample, bool back, uint64_t room)
{
    struct drain drain = {.total = 0, .room = room};
    struct table_writer *writer;
    struct failure failure;
    bool right = table_writer_open(sample->table, &writer, &failure) == STATUS_OK;

    drain.writer = back ? writer : NULL;
    for (size_t i = 0; i < TABLE_PARTITIONS && right; i++)
        right = table_writer_drain(writer, i, drain_take, &drain, &failure) == STATUS_OK;
    right = right && table_writer_flush(writer, &failure) == STATUS_OK;
    table_writer_close(writer);
    return right ? drain.total : UINT64_MAX;
}

/* Returns whether a number estimated from a sample is right to a fifth. */
static bool is_about(uint64_t found, uint64_t wanted)
{
    return (found > wanted - wanted / 5 && found < wanted + wanted / 5) ||
           tap_note("%llu, not about %llu", (unsigned long long)found, (unsigned long long)wanted);
}

/* Drains packed entries, keys and counts: drops them, or adds them again. */
static void test_drain(void)
{
    struct sample sample = sample_open(50000, MUCH);
    uint64_t total = 0;

    for (size_t i = 0; i < sample.count; i++)
        total += sample.entries[i].count;
    bool right = add(&sample, 3, true) && finalize(&sample, TABLE_ANY_ORDER) &&
                 table_held(sample.table) == sample.count && add(&sample, 3, true) &&
                 table_held(sample.table) > sample.count;
    tap_ok(right && is_about(table_rows_about(sample.table), sample.count),
           "so many are seen while more come");
    tap_ok(right && drain_all(&sample, true, UINT64_MAX) == 2 * total &&
               finalize(&sample, TABLE_ASCENDING) && has_sample(&sample, 2, true),
           "drained, and added again");
    tap_ok(add(&sample, 2, true) && add_set(&sample, 2) &&
               drain_all(&sample, false, UINT64_MAX) == 5 * total &&
               table_held(sample.table) == 0 && table_rows_about(sample.table) == 0 &&
               finalize(&sample, TABLE_ANY_ORDER) && table_distinct(sample.table) == 0 &&
               table_total(sample.table) == 0,
           "drained, and empty");
    tap_ok(add_set(&sample, 0) && finalize(&sample, TABLE_ASCENDING) &&
               has_sample(&sample, 1, true),
           "a set in a table that was drained");
    tap_ok(drain_all(&sample, false, total / 2) == UINT64_MAX, "a failure to take entries");
    sample_close(&sample);
}

/* Entries of a range leave: every second key has come once. */
struct extraction {
    pthread_mutex_t lock; /* guards the sum */
    uint64_t keys;
    uint64_t counts;
    uint64_t sum; /* sum of the keys */
};

static void extraction_take(void *context, const struct table_entry *entries, size_t n)
{
    struct extraction *extraction = context;

    pthread_mutex_lock(&extraction->lock);
    for (size_t i = 0; i < n; i++) {
        extraction->keys++;
        extraction->counts += entries[i].count;
        extraction->sum += entries[i].key;
    }
    pthread_mutex_unlock(&extraction->lock);
}

/* Whether keys `first` to `last` leave, of which every second one has come once and others twice.
 */
static bool extracts(struct table *table, uint64_t first, uint64_t last)
{
    struct extraction extraction = {.lock = PTHREAD_MUTEX_INITIALIZER};
    const uint64_t keys = last - first + 1;

    table_extract(table, first, last, extraction_take, &extraction);
    return extraction.keys == keys && extraction.counts == keys + keys / 2 &&
           extraction.sum == (first + last) * keys / 2;
}

static void test_extract(void)
{
    const struct table_entry expected[] = {{0, 2}, {1, 1}, {12002, 2}, {14001, 1}};
    struct sample sample = sample_open(10, MUCH);
    struct table_entry read[ARRAY_LENGTH(expected) + 1];
    struct table_position position;
    struct table_writer *writer;
    struct failure failure;

    if (table_writer_open(sample.table, &writer, &failure) != STATUS_OK)
        bail_out(failure.message);
    bool right = true;
    for (uint64_t key = 0; key < 14002 && right; key++) {
        const uint64_t keys[] = {key, key};
        right = table_writer_add(writer, keys, 2 - key % 2, &failure) == STATUS_OK;
    }
    right = right && table_writer_flush(writer, &failure) == STATUS_OK;
    table_writer_close(writer);
    tap_ok(right && finalize(&sample, TABLE_ANY_ORDER) && extracts(sample.table, 4000, 12001) &&
               finalize(&sample, TABLE_ANY_ORDER) && table_distinct(sample.table) == 14002 - 8002,
           "keys leave, from a packed one to a single");
    tap_ok(extracts(sample.table, 2, 3999) && extracts(sample.table, 12003, 14000) &&
               finalize(&sample, TABLE_ASCENDING) && table_total(sample.table) == 6,
           "others, to a packed one");
    position = table_begin(sample.table);
    size_t n = table_read(sample.table, &position, read, ARRAY_LENGTH(read));
    right = n == ARRAY_LENGTH(expected);
    for (size_t i = 0; right && i < n; i++)
        right = read[i].key == expected[i].key && read[i].count == expected[i].count;
    tap_ok(right, "and these are left");
    sample_close(&sample);
}

/* A writer continues after a flush; without a flush, its entries are not finalized. */
static void test_flush(void)
{
    struct sample sample = sample_open(10, MUCH);
    struct table_writer *writer;
    struct failure failure;
    bool right = table_writer_open(sample.table, &writer, &failure) == STATUS_OK;
    uint64_t key = 7;

    for (uint64_t i = 1; i <= 600000 && right; i++) {
        right = table_writer_add(writer, &key, 1, &failure) == STATUS_OK;
        if (right && i % 150000 == 0)
            right = table_writer_flush(writer, &failure) == STATUS_OK &&
                    finalize(&sample, TABLE_ANY_ORDER) && table_distinct(sample.table) == 1 &&
                    table_total(sample.table) == i;
    }
    tap_ok(right, "a writer that is flushed again and again");
    table_writer_close(writer);
    table_writer_close(NULL);
    table_destroy(NULL);
    sample_close(&sample);
}

/* Keys that share bits, or that a table could use internally. */
static void test_keys(void)
{
    struct sample sample = sample_open(4 * 64 * 256, MUCH);
    size_t n = 0;

    for (uint64_t i = 0; i < 64 * 256; i++) {
        const uint64_t byte = i % 256;
        const unsigned shift = (unsigned)(i / 256);
        sample.entries[n++].key = byte << shift;
        sample.entries[n++].key = ~(byte << shift);
        sample.entries[n++].key = i << 48;
        sample.entries[n++].key = i;
    }
    /* only the distinct ones are the sample; counts stay 1 to 5 */
    qsort(sample.entries, n, sizeof *sample.entries, compare_entries);
    sample.count = 1;
    for (size_t i = 1; i < n; i++) {
        if (sample.entries[i].key != sample.entries[sample.count - 1].key)
            sample.entries[sample.count++] = sample.entries[i];
    }
    bool right = add(&sample, 2, true) && finalize(&sample, TABLE_ASCENDING);
    tap_ok(right && has_sample(&sample, 1, true), "%zu keys with equal bits, zeros and ones",
           sample.count);
    sample_close(&sample);
}

static bool fails_to_finalize(struct sample *sample, enum table_order order)
{
    struct failure failure;

    return table_finalize(sample->table, order, &failure) == STATUS_DATA &&
           strcmp(failure.message, "a count does not fit in 64 bits") == 0;
}

static void test_overflow(void)
{
    struct sample sample = sample_open(1, MUCH);

    sample.entries[0].count = UINT64_MAX - 1;
    bool right = false;
    /* adder_run adds the entries of odd numbers as counts */
    sample.entries = must(realloc(sample.entries, 2 * sizeof *sample.entries));
    sample.entries[1] = sample.entries[0];
    sample.entries[0].count = 1;
    sample.count = 2;
    right = add(&sample, 1, true) && finalize(&sample, TABLE_ASCENDING) &&
            table_distinct(sample.table) == 1 && table_total(sample.table) == UINT64_MAX;
    tap_ok(right, "a count of 2^64 - 1");
    sample.entries[1].count = 1;
    right = add(&sample, 1, true);
    tap_ok(right && fails_to_finalize(&sample, TABLE_ASCENDING), "and more of it: an error");
    tap_ok(fails_to_finalize(&sample, TABLE_ANY_ORDER), "also for whoever asks again");
    sample_close(&sample);
}

/* The counts of a key are in several runs; only their sum does not fit. */
static void test_overflow_of_runs(void)
{
    struct sample sample = sample_open(MANY, 1);

    sample.entries[1].count = UINT64_MAX;
    bool right = add(&sample, 1, true) && finalize(&sample, TABLE_ASCENDING);
    right = right && !table_is_in_memory(sample.table) && table_distinct(sample.table) == MANY &&
            add(&sample, 1, true);
    tap_ok(right && fails_to_finalize(&sample, TABLE_ASCENDING), "counts of runs that do not fit");
    sample_close(&sample);
}

/*
 * Rows of `words` words with counts of 0: each key comes three times, as a key that is found and as
 * a row, with weight 0, or at the end, for every other key, 5. Key 0 is one of them.
 */
static void test_zeros(size_t words, size_t count, uint64_t bytes)
{
    const struct table_layout layout = {.key_words = 1,
                                        .words = words,
                                        .has_zeros = true,
                                        .is_weighted = true};
    struct table *table = NULL;
    struct table_writer *writer;
    struct failure failure;
    uint64_t keys[TABLE_ACCUMULATE_MAX];
    uint64_t weights[TABLE_ACCUMULATE_MAX];
    uint64_t row[4] = {0};
    size_t n = 0; /* number of keys to add */
    bool right = true;
    uint64_t fives = 0;

    if (table_create(&table, &layout, bytes, NULL, &failure) != STATUS_OK ||
        table_writer_open(table, &writer, &failure) != STATUS_OK)
        bail_out(failure.message);
    for (size_t i = 0; i < 3 * count && right; i++) {
        const uint64_t key = i % count == 0 ? 0 : key_of(i % count);
        const uint64_t weight = i >= 2 * count && i % 2 == 1 ? 5 : 0;
        fives += weight / 5;
        row[0] = keys[n] = key;
        row[1] = weights[n] = weight;
        if (i % 3 == 0)
            right = table_writer_add_rows(writer, row, 1, &failure) == STATUS_OK;
        else if (++n >= TABLE_ACCUMULATE_MAX - i % 2) {
            right = table_writer_accumulate(writer, keys, NULL, weights, n, &failure) == STATUS_OK;
            n = 0;
        }
    }
    right = right &&
            table_writer_accumulate(writer, keys, NULL, weights, n, &failure) == STATUS_OK &&
            table_writer_flush(writer, &failure) == STATUS_OK;
    table_writer_close(writer);
    right = right && table_finalize(table, TABLE_ASCENDING, &failure) == STATUS_OK &&
            table_distinct(table) == count && table_total(table) == 5 * fives;
    uint64_t zeros = 0;
    uint64_t before = 0;
    for (size_t i = 0; i < count && right; i++) {
        const uint64_t *read = table_row(table, i, row);
        zeros += read[1] == 0;
        right = (read[1] == 0 || read[1] == 5) && (i == 0 ? read[0] == 0 : read[0] > before);
        before = read[0];
    }
    tap_ok(right && zeros == count - fives && table_is_in_memory(table) == (bytes == MUCH),
           "%zu rows of %zu words, some of count 0, in %s", count, words,
           bytes == MUCH ? "memory" : "runs");
    table_destroy(table);
}

/*
 * The front is as full as possible, with half of the sums 0. It grows at a call with only known
 * keys, the last call.
 */
static void test_growth(void)
{
    enum { CALL = 256, CALLS = 384 }; /* together 3/4 of 2^17 rows of two words */
    struct table *table = NULL;
    struct table_writer *writer;
    struct failure failure;
    uint64_t keys[CALL];
    uint64_t weights[CALL];
    bool right = true;

    if (table_create(&table, &table_sums, MUCH, NULL, &failure) != STATUS_OK ||
        table_writer_open(table, &writer, &failure) != STATUS_OK)
        bail_out(failure.message);
    for (uint64_t call = 0; call < 2 * CALLS + 1 && right; call++) {
        for (uint64_t k = 0; k < CALL; k++) {
            keys[k] = call == 2 * CALLS ? key_of(k) : key_of(call / 2 * CALL + k);
            weights[k] = k % 2;
        }
        right = table_writer_accumulate(writer, keys, NULL, weights, CALL, &failure) == STATUS_OK;
    }
    right = right && table_writer_flush(writer, &failure) == STATUS_OK;
    table_writer_close(writer);
    right = right && table_finalize(table, TABLE_ASCENDING, &failure) == STATUS_OK;
    tap_ok(right && table_distinct(table) == CALL * CALLS &&
               table_total(table) == CALL * CALLS + CALL / 2,
           "a full front grows where no new key follows");
    table_destroy(table);
}

/* Blocks of locked partitions stay with the writer, and are not lost. */
static void test_locked(void)
{
    const size_t count = 8 * TABLE_BLOCK_KEYS;
    struct sample sample = sample_open(0, MUCH);
    struct table *table = sample.table;
    struct table_partition *partition = &table->partitions[7];
    struct table_writer *writer;
    struct failure failure;
    bool right = table_writer_open(table, &writer, &failure) == STATUS_OK;

    pthread_mutex_lock(&partition->lock);
    for (uint64_t i = 0, added = 0; added < count && right; i++) {
        const uint64_t key = key_of(i);
        if (table_hash_partition(keyed_hash_of(&table->hash, key)) != 7)
            continue;
        right = table_writer_add(writer, &key, 1, &failure) == STATUS_OK;
        added++;
    }
    const bool is_empty = partition->pending.used == 0;
    pthread_mutex_unlock(&partition->lock);
    right = right && table_writer_flush(writer, &failure) == STATUS_OK;
    table_writer_close(writer);
    right = right && finalize(&sample, TABLE_ANY_ORDER);
    tap_ok(right && is_empty && table_distinct(table) == count,
           "%zu keys of a locked partition wait", count);
    sample_close(&sample);
}

/* A thread that adds keys until it has to wait. */
struct waiter {
    struct table *table;
    uint64_t count;
    _Atomic uint64_t added;
    bool failed;
};

static void *waiter_run(void *argument)
{
    struct waiter *waiter = argument;
    struct table_writer *writer;
    struct failure failure;
    bool right = table_writer_open(waiter->table, &writer, &failure) == STATUS_OK;

    for (uint64_t i = 0; i < waiter->count && right; i++) {
        const uint64_t key = key_of(i);
        right = table_writer_add(writer, &key, 1, &failure) == STATUS_OK;
        atomic_store(&waiter->added, i + 1);
    }
    waiter->failed = !right || table_writer_flush(writer, &failure) != STATUS_OK;
    table_writer_close(writer);
    return NULL;
}

/* A writer whose partitions are all locked keeps few full blocks, and then waits. */
static void test_kept(void)
{
    enum { TICKS = 50, KEPT = 1024 }; /* milliseconds without a key; blocks, mostly of the pool */
    struct sample sample = sample_open(0, MUCH);
    struct table *table = sample.table;
    struct waiter waiter = {.table = table, .count = 3 * TABLE_PARTITIONS * TABLE_BLOCK_KEYS};
    const struct timespec tick = {.tv_nsec = 1000000};
    pthread_t thread;

    for (size_t i = 0; i < TABLE_PARTITIONS; i++)
        pthread_mutex_lock(&table->partitions[i].lock);
    if (pthread_create(&thread, NULL, waiter_run, &waiter) != 0)
        bail_out("pthread_create");
    for (uint64_t before = 0, same = 0; same < TICKS && before < waiter.count;) {
        const uint64_t added = atomic_load(&waiter.added);
        same = added == before ? same + 1 : 0;
        before = added;
        nanosleep(&tick, NULL);
    }
    const uint64_t used = table_blocks_used(&table->blocks) / table->blocks.block_bytes;
    for (size_t i = 0; i < TABLE_PARTITIONS; i++)
        pthread_mutex_unlock(&table->partitions[i].lock);
    pthread_join(thread, NULL);
    tap_ok(!waiter.failed && used <= TABLE_PARTITIONS + KEPT &&
               finalize(&sample, TABLE_ANY_ORDER) && table_distinct(table) == waiter.count,
           "%zu blocks beside one per partition while all are locked",
           used > TABLE_PARTITIONS ? (size_t)used - TABLE_PARTITIONS : 0);
    sample_close(&sample);
}

/* --- wide rows -----------------------------------------------------------------------------------
 */

/* A key of three words, the number of values, their sum modulo 2^64, and their minimum. */
enum { WIDE_KEY_WORDS = 3, WIDE_COUNT = 3, WIDE_SUM, WIDE_MIN, WIDE_WORDS };

/* Merges two rows; fails if the context demands it. */
static void wide_accumulate(const void *context, uint64_t *const *rows, const uint64_t *values,
                            size_t n)
{
    (void)context;
    for (size_t i = 0; i < n; i++) {
        rows[i][WIDE_SUM] += values[i];
        rows[i][WIDE_MIN] = values[i] < rows[i][WIDE_MIN] ? values[i] : rows[i][WIDE_MIN];
    }
}

static bool wide_merge(const void *context, uint64_t *into, const uint64_t *from)
{
    into[WIDE_COUNT] += from[WIDE_COUNT];
    into[WIDE_SUM] += from[WIDE_SUM];
    into[WIDE_MIN] = from[WIDE_MIN] < into[WIDE_MIN] ? from[WIDE_MIN] : into[WIDE_MIN];
    return !context;
}

static const uint64_t wide_initial[WIDE_WORDS] = {[WIDE_MIN] = UINT64_MAX};

/* Makes key i: its words have few and many values; some keys differ only in the last word. */
static void wide_key(uint64_t i, uint64_t key[WIDE_KEY_WORDS])
{
    key[0] = i % 7 << 60;
    key[1] = i % 3 == 0 ? 5 : key_of(i / 4);
    key[2] = i;
}

/* Adds key i of 0 .. count - 1 (i modulo 3) + 1 times; the values are functions of both. */
struct wide_adder {
    struct table *table;
    uint64_t first;
    uint64_t step;
    uint64_t count;
    struct failure failure;
    bool failed;
};

static uint64_t wide_value(uint64_t i, uint64_t time)
{
    return key_of(i + time) >> 1;
}

static void *wide_adder_run(void *argument)
{
    struct wide_adder *adder = argument;
    struct failure *failure = &adder->failure;
    struct table_writer *writer = NULL;
    uint64_t keys[TABLE_ACCUMULATE_MAX][WIDE_KEY_WORDS];
    uint64_t values[TABLE_ACCUMULATE_MAX];
    size_t n = 0;

    bool right = table_writer_open(adder->table, &writer, failure) == STATUS_OK;
    for (uint64_t i = adder->first; i < adder->count && right; i += adder->step) {
        for (uint64_t time = 0; time <= i % 3 && right; time++) {
            wide_key(i, keys[n]);
            values[n] = wide_value(i, time);
            if (i % 5 == 0) { /* added as a row */
                uint64_t row[WIDE_WORDS] = {keys[n][0], keys[n][1], i, 1, values[n], values[n]};
                right = table_writer_add_rows(writer, row, 1, failure) == STATUS_OK;
                continue;
            }
            if (++n < TABLE_ACCUMULATE_MAX - i % 2)
                continue;
            right = table_writer_accumulate(writer, keys[0], values, NULL, n, failure) == STATUS_OK;
            n = 0;
        }
    }
    right =
        right && table_writer_accumulate(writer, keys[0], values, NULL, n, failure) == STATUS_OK;
    adder->failed = !right || table_writer_flush(writer, failure) != STATUS_OK;
    table_writer_close(writer);
    return NULL;
}

static int wide_compare(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;

    for (size_t w = 0; w < WIDE_KEY_WORDS; w++) {
        if (x[w] != y[w])
            return x[w] < y[w] ? -1 : 1;
    }
    return 0;
}

/*
 * Adds with threads, `times` times, and compares with the rows sorted by qsort. `is_ranked`: the
 * last words of the keys are ranks.
 */
static void test_wide(uint64_t count, uint64_t bytes, size_t threads, uint64_t times,
                      bool is_ranked)
{
    const struct table_layout layout = {.key_words = WIDE_KEY_WORDS,
                                        .words = WIDE_WORDS,
                                        .merge = wide_merge,
                                        .accumulate = wide_accumulate,
                                        .initial = wide_initial};
    uint64_t(*expected)[WIDE_WORDS] = must(calloc(count + 1, sizeof *expected));
    uint64_t(*read)[WIDE_WORDS] = must(calloc(count + 1, sizeof *read));
    uint64_t row[WIDE_WORDS];
    struct wide_adder adders[ADDERS_MAX];
    pthread_t ids[ADDERS_MAX];
    struct failure failure;
    struct table *table;
    uint64_t total = 0;
    uint32_t *numbers = must(malloc((count + 1) * sizeof *numbers));
    const bool is_number[WIDE_KEY_WORDS] = {[WIDE_KEY_WORDS - 1] = true};
    const struct table_ranks ranks = {numbers, is_number};
    bool right = table_create(&table, &layout, bytes, NULL, &failure) == STATUS_OK;

    for (uint64_t i = 0; i < count; i++) { /* a random permutation */
        const uint64_t k = key_of(i) % (i + 1);
        numbers[i] = numbers[k];
        numbers[k] = (uint32_t)i;
    }
    for (uint64_t t = 0; t < times; t++) {
        for (size_t i = 0; i < threads; i++) {
            adders[i] = (struct wide_adder){table, i, threads, count, {0}, true};
            if (pthread_create(&ids[i], NULL, wide_adder_run, &adders[i]) != 0)
                bail_out("pthread_create");
        }
        for (size_t i = 0; i < threads; i++) {
            pthread_join(ids[i], NULL);
            right = right && !adders[i].failed;
        }
        right = right && table_finalize(table, is_ranked ? TABLE_ANY_ORDER : TABLE_ASCENDING,
                                        &failure) == STATUS_OK;
        right = right && (!is_ranked || table_order_ranked(table, &ranks) == (bytes > 1));
    }
    is_ranked &= bytes > 1;
    for (uint64_t i = 0; i < count; i++) {
        wide_key(i, expected[i]);
        expected[i][WIDE_KEY_WORDS - 1] = is_ranked ? numbers[i] : i;
        expected[i][WIDE_MIN] = UINT64_MAX;
        for (uint64_t time = 0; time <= i % 3; time++) {
            const uint64_t value = wide_value(i, time);
            expected[i][WIDE_COUNT] += times;
            expected[i][WIDE_SUM] += times * value;
            if (value < expected[i][WIDE_MIN])
                expected[i][WIDE_MIN] = value;
        }
        total += expected[i][WIDE_COUNT];
    }
    qsort(expected, count, sizeof *expected, wide_compare);
    right = right && table_distinct(table) == count && table_total(table) == total &&
            (bytes > 1 || !table_is_in_memory(table));
    size_t n = 0;
    for (size_t part = 0; part < 3 && right; part++) {
        struct table_position position = table_begin_part(table, part, 3);
        for (size_t some; (some = table_read(table, &position, read[n], count - n + 1)) > 0;)
            n += some;
    }
    right = right && n == count && memcmp(read, expected, count * sizeof *read) == 0;
    for (uint64_t i = 0; i < count && right;
         i += 1 + count / 12) /* each entry in runs needs a search */
        right = memcmp(table_row(table, i, row), expected[i], sizeof row) == 0;
    tap_ok(right && table_check(table, &failure) == STATUS_OK,
           "%llu keys of three words, %zu threads, %llu times, in %s%s", (unsigned long long)count,
           threads, (unsigned long long)times, bytes > 1 ? "memory" : "runs",
           is_ranked ? ", ranks" : "");
    table_destroy(table);
    free(numbers);
    free(expected);
    free(read);
}

static void long_accumulate(const void *context, uint64_t *const *rows, const uint64_t *values,
                            size_t n)
{
    for (size_t i = 0; i < n; i++)
        rows[i][*(const size_t *)context - 1] += values[i];
}

/* Rows longer than the smallest block of counts. */
static void test_long_rows(void)
{
    enum { WORDS = 3000, KEYS = TAP_HAS_TSAN ? 500 : 2000 };
    static const size_t words = WORDS;
    const struct table_layout layout = {.key_words = 2,
                                        .words = WORDS,
                                        .accumulate = long_accumulate,
                                        .context = &words,
                                        .is_weighted = true};
    const struct table_layout endless = {.key_words = 1, .words = 1 << 20};
    const struct table_layout keyless = {.words = WORDS,
                                         .accumulate = long_accumulate,
                                         .context = &words};
    static uint64_t row[WORDS];
    struct table_writer *writer;
    struct failure failure;
    struct table *table;

    if (table_create(&table, &layout, 1, NULL, &failure) != STATUS_OK ||
        table_writer_open(table, &writer, &failure) != STATUS_OK)
        bail_out(failure.message);
    bool right = true;
    for (uint64_t i = 0; i < 2 * KEYS && right; i++) {
        const uint64_t key[2] = {7, KEYS - 1 - i % KEYS};
        const uint64_t weight = i + 1;
        const uint64_t value = 3;
        right = table_writer_accumulate(writer, key, &value, &weight, 1, &failure) == STATUS_OK;
    }
    right = right && table_writer_flush(writer, &failure) == STATUS_OK &&
            table_finalize(table, TABLE_ASCENDING, &failure) == STATUS_OK &&
            table_distinct(table) == KEYS && !table_is_in_memory(table);
    for (uint64_t i = 0; i < KEYS && right; i++) {
        const uint64_t *found = table_row(table, i, row);
        right = found[0] == 7 && found[1] == i && found[2] == 2 * (KEYS - i) + KEYS &&
                found[3] == 0 && found[WORDS - 1] == 6;
    }
    tap_ok(right, "rows of %u words, in runs", WORDS);
    table_writer_close(writer);
    table_destroy(table);
    tap_ok(table_create(&table, &endless, 1, NULL, &failure) == STATUS_DATA &&
               strstr(failure.message, "not enough memory for rows of 1048576 numbers"),
           "rows that are too long for any block");
    tap_ok(table_create(&table, &keyless, MUCH, NULL, &failure) == STATUS_DATA &&
               strstr(failure.message, "a table needs keys"),
           "rows without keys");
}

static const char failing;

/* A merge that fails in memory; counts of several words, and weights that do not fit. */
static void test_wide_overflow(void)
{
    const struct table_layout layouts[] = {
        {.key_words = 1, .words = WIDE_WORDS, .merge = wide_merge, .context = &failing},
        {.key_words = 2, .words = 4},
        {.key_words = 1, .words = 2, .is_weighted = true},
    };
    const uint64_t row[WIDE_WORDS] = {1, 1, UINT64_MAX, UINT64_MAX};
    const uint64_t key[2] = {1, 1};
    const uint64_t weights[2] = {UINT64_MAX, 1};

    for (size_t i = 0; i < ARRAY_LENGTH(layouts); i++) {
        struct table_writer *writer;
        struct failure failure;
        struct table *table;
        if (table_create(&table, &layouts[i], MUCH, NULL, &failure) != STATUS_OK ||
            table_writer_open(table, &writer, &failure) != STATUS_OK)
            bail_out(failure.message);
        for (size_t k = 0; k < 2; k++) {
            enum status status =
                layouts[i].words == 2
                    ? table_writer_accumulate(writer, key, NULL, &weights[k], 1, &failure)
                    : table_writer_add_rows(writer, row, 1, &failure);
            if (status != STATUS_OK || table_writer_flush(writer, &failure) != STATUS_OK)
                bail_out(failure.message);
        }
        tap_ok(table_finalize(table, TABLE_ASCENDING, &failure) == STATUS_DATA &&
                   strcmp(failure.message, "a count does not fit in 64 bits") == 0,
               "rows of %zu words that do not fit when they are merged", layouts[i].words);
        table_writer_close(writer);
        table_destroy(table);
    }
}

/* --- runs ----------------------------------------------------------------------------------------
 */

static const struct table_layout plain = {.key_words = 1, .words = 2};

/* Entries per read. */
#define RUN_ENTRIES 1024

static const char *directory(void)
{
    const char *set = getenv("TMPDIR");
    return set && *set ? set : "/tmp";
}

/* Writes a run of entries[0..n). */
static void run_make(struct table_run *run, const struct table_entry *entries, size_t n)
{
    const uint64_t *rows = (const uint64_t *)entries;
    struct failure failure;

    if (table_run_create(run, directory(), &failure) != STATUS_OK ||
        table_run_append(run, &plain, rows, n / 3, &failure) != STATUS_OK ||
        table_run_append(run, &plain, rows + n / 3 * 2, n - n / 3, &failure) != STATUS_OK)
        bail_out(failure.message);
}

/* Returns whether the run has these entries. */
static bool run_has(const struct table_run *run, const struct table_entry *entries, size_t n)
{
    struct table_entry read[RUN_ENTRIES];

    for (size_t done = 0, some; done < n && run->rows == n; done += some) {
        some = n - done < RUN_ENTRIES ? n - done : RUN_ENTRIES;
        if (!table_run_read(run, &plain, done, (uint64_t *)read, some))
            return tap_note("%s", strerror(errno));
        if (memcmp(read, entries + done, some * sizeof *read) != 0)
            return tap_note("entries from %zu on", done);
    }
    return run->rows == n;
}

static void test_run(void)
{
    static const size_t counts[] = {0, 1, 2, 1023, 1024, 1025, 5000, 200000};
    struct table_entry *entries = must(malloc(200000 * sizeof *entries));

    for (size_t c = 0; c < ARRAY_LENGTH(counts); c++) {
        const size_t n = counts[c];
        struct table_run run;
        for (size_t i = 0; i < n; i++)
            entries[i] = (struct table_entry){.key = key_of(i), .count = 1 + (key_of(i) >> i % 64)};
        if (n > 0)
            entries[0] = (struct table_entry){.key = UINT64_MAX, .count = UINT64_MAX};
        qsort(entries, n, sizeof *entries, compare_entries);
        run_make(&run, entries, n);
        tap_ok(run_has(&run, entries, n), "a run of %zu entries", n);
        table_run_destroy(&run);
    }
    free(entries);
}

/* Runs of every third, every fifth, ... number; one run is empty, one is elsewhere. */
static void test_merge(void)
{
    static const uint64_t steps[] = {3, 5, 7, 1000000, 2};
    enum { RUNS = ARRAY_LENGTH(steps), NUMBERS = 30000 };
    struct table_entry *expected = must(calloc(NUMBERS, sizeof *expected));
    struct table_entry *entries = must(calloc(NUMBERS, sizeof *entries));
    struct table_run runs[RUNS];
    struct table_run merged;
    struct failure failure;
    size_t n = 0;

    for (size_t r = 0; r < RUNS; r++) {
        n = 0;
        for (uint64_t key = 1; key < NUMBERS; key++) {
            if (key % steps[r] == 0)
                entries[n++] = (struct table_entry){.key = key, .count = r + 1};
            expected[key].key = key;
            expected[key].count += key % steps[r] == 0 ? r + 1 : 0;
        }
        run_make(&runs[r], entries, n);
    }
    n = 0;
    for (uint64_t key = 1; key < NUMBERS; key++) {
        if (expected[key].count > 0)
            expected[n++] = expected[key];
    }
    bool right =
        table_runs_merge(runs, RUNS, &plain, directory(), NULL, &merged, &failure) == STATUS_OK;
    tap_ok(right && run_has(&merged, expected, n), "runs merged, one of them empty");
    table_run_destroy(&merged);
    free(expected);
    free(entries);
}

static void test_merge_overflow(void)
{
    static const struct table_entry halves[] = {{3, 9}, {UINT64_MAX, (uint64_t)1 << 63}};
    struct table_run runs[2];
    struct table_run merged;
    struct failure failure;

    run_make(&runs[0], halves, 2);
    run_make(&runs[1], halves, 2);
    tap_ok(table_runs_merge(runs, 2, &plain, directory(), NULL, &merged, &failure) == STATUS_DATA &&
               strcmp(failure.message, "a count does not fit in 64 bits") == 0,
           "runs whose counts do not fit together");
    tap_ok(run_has(&runs[0], halves, 2), "which stay as they are");
    table_run_destroy(&runs[0]);
    table_run_destroy(&runs[1]);
}

static void test_cut(void)
{
    static const struct table_entry entries[] = {{1, 2}, {3, 4}, {5, 6}};
    struct table_entry read[ARRAY_LENGTH(entries)];
    struct table_run runs[2];
    struct table_run merged;
    struct failure failure;

    run_make(&runs[0], entries, ARRAY_LENGTH(entries));
    run_make(&runs[1], entries, ARRAY_LENGTH(entries));
    bool right = ftruncate(runs[0].fd, sizeof entries - 1) == 0 &&
                 table_run_read(&runs[0], &plain, 0, (uint64_t *)read, 2) &&
                 memcmp(read, entries, 2 * sizeof *read) == 0 &&
                 !table_run_read(&runs[0], &plain, 0, (uint64_t *)read, 3) && errno == EIO;
    tap_ok(right &&
               table_runs_merge(runs, 2, &plain, directory(), NULL, &merged, &failure) ==
                   STATUS_DATA &&
               strstr(failure.message, "cannot read a temporary file of counts in "),
           "a run that was cut");
    table_run_destroy(&runs[0]);
    table_run_destroy(&runs[1]);
}

static void test_no_directory(void)
{
    struct table_run run;
    struct failure failure;

    tap_ok(table_run_create(&run, "/nonexistent", &failure) == STATUS_DATA &&
               strstr(failure.message, "in /nonexistent: No such file"),
           "a run in no directory");
    table_run_destroy(&run);
}

/* --- the order of entries ------------------------------------------------------------------------
 */

static int compare_all(const void *a, const void *b)
{
    const struct table_entry *x = a;
    const struct table_entry *y = b;
    int by_key = compare_entries(a, b);
    return by_key != 0 ? by_key : (x->count > y->count) - (x->count < y->count);
}

/* Entries with equal keys keep their order. Most keys lack upper bits; a few are outliers. */
static void test_order(void)
{
    static const size_t counts[] = {0, 1, 2, 47, 48, 49, 1000, 8192, 100000};
    static const uint64_t masks[] = {UINT64_MAX, 0xff, (uint64_t)0xff << 56, 0, 0xff00ff0000ff00};
    struct table_entry *entries = must(malloc(3 * 100000 * sizeof *entries));
    bool right = true;

    for (size_t c = 0; c < ARRAY_LENGTH(counts); c++) {
        for (size_t m = 0; m < 2 * ARRAY_LENGTH(masks); m++) {
            const uint64_t mask = masks[m / 2];
            const size_t n = counts[c];
            struct table_entry *sorted = entries + n;
            for (size_t i = 0; i < n; i++)
                entries[i] = (struct table_entry){.key = key_of(i) &
                                                         (m % 2 && i % 64 ? mask & 0xffffff : mask),
                                                  .count = i};
            memcpy(sorted, entries, n * sizeof *entries);
            table_order_entries(entries, n, entries + 2 * n);
            qsort(sorted, n, sizeof *sorted, compare_all);
            right = right && memcmp(entries, sorted, n * sizeof *entries) == 0;
        }
    }
    tap_ok(right, "entries are sorted as qsort does");
    free(entries);
}

int main(void)
{
    const bool is_quick = getenv("GPUHIST_TEST_SHARE");

    test_memory();
    test_runs();
    test_many_runs();
    test_later();
    test_sets(MUCH, "in memory");
    test_sets(1, "in runs");
    test_set_again();
    test_memory_of_runs();
    test_hot();
    test_drain();
    test_extract();
    test_flush();
    test_keys();
    test_overflow();
    test_overflow_of_runs();
    test_zeros(2, 1, MUCH);
    test_zeros(2, 300001, MUCH);
    test_zeros(4, 70001, MUCH);
    if (!TAP_HAS_TSAN)
        test_zeros(2, MANY + 1, 1);
    if (!is_quick)
        test_zeros(3, MANY + 1, 1);
    test_growth();
    test_locked();
    if (!TAP_HAS_TSAN) /* which takes few locks held at once */
        test_kept();
    for (unsigned is_ranked = is_quick && !TAP_HAS_TSAN; is_ranked < 2 - TAP_HAS_TSAN;
         is_ranked++) {
        test_wide(0, MUCH, 1, 1, is_ranked);
        test_wide(1000, MUCH, 1, 1, is_ranked);
        test_wide(100000, MUCH, 3, 2, is_ranked);
        test_wide(200000, 1, 2, 2, is_ranked);
    }
    if (!is_quick)
        test_long_rows();
    test_wide_overflow();
    test_run();
    test_merge();
    test_merge_overflow();
    test_cut();
    test_no_directory();
    test_order();
    return tap_done();
}
