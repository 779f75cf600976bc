/*
 * Puts the entries of a settled table in ascending order: a sample sort (W. D. Frazer, A. C.
 * McKellar, "Samplesort", JACM 1970). The entries are distributed to buckets between splitters, and
 * each bucket is sorted in the cache. Since partitions are chosen by a hash, some partitions are a
 * random sample of the keys.
 */
#include "config.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "table/table_internal.h"
#include "table/table_order.h"

#include <stdlib.h>

/* Entries of a bucket, about: 128 KiB. */
#define TABLE_SORT_BUCKET_ENTRIES 8192

#define TABLE_SORT_BUCKETS_MAX ((size_t)1024)

/* Keys of the sample for each splitter. */
#define TABLE_SORT_SAMPLE 16

/* The part of all entries that the sample is chosen from. */
#define TABLE_SORT_SAMPLE_SHARE 64

/* Parts of the table that threads take, and entries that they read at a time. */
#define TABLE_SORT_GROUPS 64
#define TABLE_SORT_BATCH  ((size_t)512)

struct table_sort {
    const struct table *table;
    struct table_entry *sorted;                 /* the entries of all buckets */
    size_t buckets;                             /* a power of 2 */
    uint64_t splitters[TABLE_SORT_BUCKETS_MAX]; /* the greatest key of each bucket but the last */
    size_t starts[TABLE_SORT_BUCKETS_MAX + 1];  /* of each bucket in `sorted` */
    size_t (*counts)[TABLE_SORT_BUCKETS_MAX];   /* [groups]: entries of each bucket; then where
                                                   the next one goes */
    _Atomic bool has_failed;                    /* no memory */
};

/* The number of splitters below the key, by a binary search without branches. */
static inline size_t table_sort_bucket(const struct table_sort *sort, uint64_t key)
{
    size_t bucket = 0;

    for (size_t half = sort->buckets / 2; half > 0; half /= 2)
        bucket += sort->splitters[bucket + half - 1] < key ? half : 0;
    return bucket;
}

static void table_sort_count(void *context, size_t group)
{
    struct table_sort *sort = context;
    struct table_position position = table_begin_part(sort->table, group, TABLE_SORT_GROUPS);
    struct table_entry entries[TABLE_SORT_BATCH];
    size_t n;

    while ((n = table_read(sort->table, &position, entries, TABLE_SORT_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++)
            sort->counts[group][table_sort_bucket(sort, entries[i].key)]++;
    }
}

static void table_sort_distribute(void *context, size_t group)
{
    struct table_sort *sort = context;
    struct table_position position = table_begin_part(sort->table, group, TABLE_SORT_GROUPS);
    struct table_entry entries[TABLE_SORT_BATCH];
    size_t *places = sort->counts[group];
    size_t n;

    while ((n = table_read(sort->table, &position, entries, TABLE_SORT_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++)
            sort->sorted[places[table_sort_bucket(sort, entries[i].key)]++] = entries[i];
    }
}

static void table_sort_one(void *context, size_t bucket)
{
    struct table_sort *sort = context;
    struct table_entry *entries = sort->sorted + sort->starts[bucket];
    size_t n = sort->starts[bucket + 1] - sort->starts[bucket];
    struct table_entry *spare = malloc((n + 1) * sizeof *spare);

    if (spare)
        table_order_entries(entries, n, spare);
    else
        atomic_store(&sort->has_failed, true);
    free(spare);
}

/* Turns the counts into places. */
static void table_sort_place(struct table_sort *sort)
{
    size_t place = 0;

    for (size_t bucket = 0; bucket < sort->buckets; bucket++) {
        sort->starts[bucket] = place;
        for (size_t group = 0; group < TABLE_SORT_GROUPS; group++) {
            size_t count = sort->counts[group][bucket];
            sort->counts[group][bucket] = place;
            place += count;
        }
    }
    sort->starts[sort->buckets] = place;
}

/*
 * Reads a sample of up to `wanted` entries, evenly from a part of the table: entries that follow
 * each other have similar counts. Returns how many.
 */
static size_t table_sort_take_sample(const struct table *table, struct table_entry *sample,
                                     size_t wanted)
{
    const uint64_t step = table_distinct(table) / TABLE_SORT_SAMPLE_SHARE / wanted + 1;
    struct table_position position = table_begin(table);
    struct table_entry entries[TABLE_SORT_BATCH];
    uint64_t seen = 0;
    size_t taken = 0;
    size_t n;

    while (taken < wanted && (n = table_read(table, &position, entries, TABLE_SORT_BATCH)) > 0) {
        for (size_t i = 0; i < n && taken < wanted; i++) {
            if (seen++ % step == 0)
                sample[taken++] = entries[i];
        }
    }
    return taken;
}

/* Chooses the splitters from a sample. Returns false if there is no memory. */
static bool table_sort_split(struct table_sort *sort)
{
    const size_t wanted = TABLE_SORT_SAMPLE * sort->buckets;
    struct table_entry *sample = malloc(2 * wanted * sizeof *sample);

    if (!sample)
        return false;
    size_t n = table_sort_take_sample(sort->table, sample, wanted);
    table_order_entries(sample, n, sample + wanted);
    for (size_t i = 0; i + 1 < sort->buckets; i++)
        sort->splitters[i] = sample[(i + 1) * n / sort->buckets].key;
    free(sample);
    return true;
}

static bool table_sort_run(struct table_sort *sort, unsigned threads)
{
    const uint64_t distinct = table_distinct(sort->table);

    sort->buckets = 1;
    while (sort->buckets < TABLE_SORT_BUCKETS_MAX &&
           sort->buckets * TABLE_SORT_BUCKET_ENTRIES < distinct)
        sort->buckets *= 2;
    sort->counts = calloc(TABLE_SORT_GROUPS, sizeof *sort->counts);
    if (!sort->counts || !table_sort_split(sort))
        return false;
    sort->sorted = memory_map((distinct + 1) * sizeof *sort->sorted);
    if (!sort->sorted)
        return false;
    if (distinct <= TABLE_SORT_BUCKET_ENTRIES)
        threads = 1;
    parallel_run(threads, TABLE_SORT_GROUPS, table_sort_count, sort);
    table_sort_place(sort);
    parallel_run(threads, TABLE_SORT_GROUPS, table_sort_distribute, sort);
    parallel_run(threads, sort->buckets, table_sort_one, sort);
    return !atomic_load(&sort->has_failed);
}

enum status table_sort(struct table *table, unsigned threads, struct failure *failure)
{
    struct table_sort *sort = calloc(1, sizeof *sort);
    bool is_sorted = false;

    if (sort) {
        sort->table = table;
        is_sorted = table_sort_run(sort, threads);
        table->sorted = sort->sorted;
        free(sort->counts);
        free(sort);
    }
    if (is_sorted)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "no memory to put %llu values in order",
                       (unsigned long long)table->distinct);
}
