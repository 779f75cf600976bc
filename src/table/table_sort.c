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

/* Groups of partitions that threads take. */
#define TABLE_SORT_GROUPS     64
#define TABLE_SORT_GROUP_SIZE (TABLE_PARTITIONS / TABLE_SORT_GROUPS)

struct table_sort {
    struct table *table;
    size_t buckets;                             /* a power of 2 */
    uint64_t splitters[TABLE_SORT_BUCKETS_MAX]; /* the greatest key of each bucket but the last */
    size_t starts[TABLE_SORT_BUCKETS_MAX + 1];  /* of each bucket in table->sorted */
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

/* Calls `use` with each block of a group of partitions. */
#define TABLE_SORT_EACH_BLOCK(table, group, block)                                              \
    for (size_t p_ = (group)*TABLE_SORT_GROUP_SIZE; p_ < ((group) + 1) * TABLE_SORT_GROUP_SIZE; \
         p_++)                                                                                  \
        for (const struct table_block *block = (table)->partitions[p_].packed.blocks; block;    \
             block = block->next)

static void table_sort_count(void *context, size_t group)
{
    struct table_sort *sort = context;
    size_t *counts = sort->counts[group];

    TABLE_SORT_EACH_BLOCK(sort->table, group, block)
    {
        for (size_t i = 0; i < block->used; i++)
            counts[table_sort_bucket(sort, block->entries[i].key)]++;
    }
}

static void table_sort_distribute(void *context, size_t group)
{
    struct table_sort *sort = context;
    size_t *places = sort->counts[group];
    struct table_entry *sorted = sort->table->sorted;

    TABLE_SORT_EACH_BLOCK(sort->table, group, block)
    {
        for (size_t i = 0; i < block->used; i++)
            sorted[places[table_sort_bucket(sort, block->entries[i].key)]++] = block->entries[i];
    }
}

static void table_sort_one(void *context, size_t bucket)
{
    struct table_sort *sort = context;
    struct table_entry *entries = sort->table->sorted + sort->starts[bucket];
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

/* Chooses the splitters from the first partitions. Returns false if there is no memory. */
static bool table_sort_split(struct table_sort *sort)
{
    const size_t wanted = TABLE_SORT_SAMPLE * sort->buckets;
    struct table_entry *sample = malloc(2 * wanted * sizeof *sample);
    struct table_position position = table_begin(sort->table);

    if (!sample)
        return false;
    size_t n = table_read(sort->table, &position, sample, wanted);
    table_order_entries(sample, n, sample + wanted);
    for (size_t i = 0; i + 1 < sort->buckets; i++)
        sort->splitters[i] = sample[(i + 1) * n / sort->buckets].key;
    free(sample);
    return true;
}

static bool table_sort_run(struct table_sort *sort, unsigned threads)
{
    struct table *table = sort->table;

    sort->buckets = 1;
    while (sort->buckets < TABLE_SORT_BUCKETS_MAX &&
           sort->buckets * TABLE_SORT_BUCKET_ENTRIES < table->distinct)
        sort->buckets *= 2;
    sort->counts = calloc(TABLE_SORT_GROUPS, sizeof *sort->counts);
    if (!sort->counts || !table_sort_split(sort))
        return false;
    table->sorted = memory_map((table->distinct + 1) * sizeof *table->sorted);
    if (!table->sorted)
        return false;
    if (table->distinct <= TABLE_SORT_BUCKET_ENTRIES)
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
        free(sort->counts);
        free(sort);
    }
    if (is_sorted)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "no memory to put %llu values in order",
                       (unsigned long long)table->distinct);
}
