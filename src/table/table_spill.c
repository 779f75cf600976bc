/* Moves counts of a table that takes too much memory to sorted runs. */
#include "config.h"

#include "base/memory.h"
#include "table/table_internal.h"
#include "table/table_order.h"

#include <stdlib.h>
#include <string.h>

/*
 * What a run takes to make, as a part of the memory that the table may use: its entries are copied
 * and sorted, in two arrays of this size.
 */
#define TABLE_SPILL_SHARE 8

/* The least memory of a table: that of its writers (blocks, hot table, scratch), and of a run. */
#define TABLE_SPILL_BYTES_MIN    ((uint64_t)8 << 20)
#define TABLE_SPILL_WRITER_BYTES ((uint64_t)8 << 20)

/* The bytes that the table may take. */
static uint64_t table_spill_most(const struct table *table)
{
    uint64_t least = TABLE_SPILL_BYTES_MIN + TABLE_SPILL_WRITER_BYTES * table->writers_most;
    return table->bytes_most > least ? table->bytes_most : least;
}

/* The bytes that the table's blocks may take, and a run that it makes. */
static uint64_t table_spill_limit(const struct table *table, uint64_t *run_bytes)
{
    const uint64_t most = table_spill_most(table);

    *run_bytes = most / TABLE_SPILL_SHARE;
    return most - 2 * *run_bytes;
}

bool table_is_full(const struct table *table)
{
    uint64_t run_bytes;
    return table_blocks_used(&table->blocks) > table_spill_limit(table, &run_bytes);
}

/* Moves the counts of a partition to `entries`, and returns its blocks. */
static void table_spill_empty(struct table *table, struct table_partition *partition,
                              struct table_counter *counter, struct table_entry *entries)
{
    struct table_block *block = NULL;

    while ((block = table_list_next(table, counter, &partition->packed, block))) {
        memcpy(entries, block->entries, block->used * sizeof *entries);
        entries += block->used;
    }
    while ((block = table_list_next(table, counter, &partition->singles, block))) {
        table_entries_of(block->keys, block->used, entries);
        entries += block->used;
    }
    table->spill.total += partition->total;
    partition->packed.used = 0;
    partition->singles.used = 0;
    partition->total = 0;
}

/*
 * Moves entries of the next partitions to `entries`, as many as fit. Stores how many, and how many
 * partitions were emptied. A partition that does not fit alone is an error: *too_large.
 */
static enum status table_spill_collect(struct table *table, struct table_counter *counter,
                                       struct table_entry *entries, size_t room, size_t *n,
                                       uint64_t *too_large, struct failure *failure)
{
    enum status status = STATUS_OK;
    bool fits = true;

    *n = 0;
    for (size_t i = 0; i < TABLE_PARTITIONS && status == STATUS_OK && fits; i++) {
        struct table_partition *partition = &table->partitions[table->spill.next];
        pthread_mutex_lock(&partition->lock);
        if (partition->pending.used + partition->added.used > 0)
            status = table_partition_pack(table, partition, counter, failure);
        const size_t some = (size_t)table_partition_distinct(partition);
        fits = some <= room - *n;
        if (status == STATUS_OK && fits) {
            table_spill_empty(table, partition, counter, entries + *n);
            *n += some;
            table->spill.next = (table->spill.next + 1) % TABLE_PARTITIONS;
        }
        *too_large = fits || *n > 0 ? 0 : some;
        pthread_mutex_unlock(&partition->lock);
    }
    return status;
}

static enum status table_spill_write(struct table *table, const struct table_entry *entries,
                                     size_t n, struct table_run *run, struct failure *failure)
{
    struct table_run_writer *writer = NULL;

    enum status status = table_run_writer_open(&writer, table->directory, failure);
    if (status == STATUS_OK)
        status = table_run_write(writer, entries, n, failure);
    if (status == STATUS_OK)
        status = table_run_writer_finish(writer, run, failure);
    table_run_writer_close(writer);
    return status;
}

static int table_spill_compare(const void *a, const void *b)
{
    const uint64_t x = ((const struct table_run *)a)->entries;
    const uint64_t y = ((const struct table_run *)b)->entries;
    return (x < y) - (x > y);
}

/* Merges runs[first..count) into one. */
static enum status table_spill_merge(struct table *table, size_t first, struct failure *failure)
{
    struct table_spill *spill = &table->spill;
    struct table_run merged;

    if (spill->count < first + 2)
        return STATUS_OK;
    if (table_runs_merge(spill->runs + first, spill->count - first, table->directory, &merged,
                         failure) != STATUS_OK)
        return failure->status;
    spill->runs[first] = merged;
    spill->count = first + 1;
    return STATUS_OK;
}

/* Makes room for one more run. Each entry so takes part in few merges. */
static enum status table_spill_reserve(struct table *table, struct failure *failure)
{
    struct table_spill *spill = &table->spill;

    if (spill->count < TABLE_RUNS_MAX)
        return STATUS_OK;
    qsort(spill->runs, spill->count, sizeof *spill->runs, table_spill_compare);
    return table_spill_merge(table, TABLE_RUNS_MAX / 2, failure);
}

/* Moves a run's worth of entries to a run. Stores how many. The caller has the spill's lock. */
static enum status table_spill_run(struct table *table, struct table_counter *counter,
                                   uint64_t run_bytes, size_t *n, struct failure *failure)
{
    size_t room = (size_t)(run_bytes / sizeof(struct table_entry));
    struct table_spill *spill = &table->spill;
    enum status status = table_spill_reserve(table, failure);
    uint64_t too_large = 0;

    while (status == STATUS_OK) {
        struct table_entry *entries = memory_map(2 * room * sizeof *entries);
        if (!entries)
            return status_fail(failure, STATUS_DATA, "no memory for moving counts to a file");
        status = table_spill_collect(table, counter, entries, room, n, &too_large, failure);
        if (status == STATUS_OK && *n > 0) {
            table_order_entries(entries, *n, entries + room);
            status = table_spill_write(table, entries, *n, &spill->runs[spill->count], failure);
            spill->count += status == STATUS_OK;
        }
        memory_unmap(entries, 2 * room * sizeof *entries);
        if (too_large == 0)
            break;
        room = (size_t)too_large;
    }
    return status;
}

enum status table_spill_some(struct table *table, struct table_counter *counter,
                             struct failure *failure)
{
    enum status status = STATUS_OK;
    uint64_t run_bytes;
    size_t n;

    pthread_mutex_lock(&table->spill.lock);
    table_spill_limit(table, &run_bytes);
    if (table_is_full(table))
        status = table_spill_run(table, counter, run_bytes, &n, failure);
    table_block_cache_empty(&table->blocks, &counter->blocks);
    pthread_mutex_unlock(&table->spill.lock);
    return status;
}

bool table_is_too_large(const struct table *table)
{
    const uint64_t sorted_bytes = table->distinct * sizeof(struct table_entry);
    return table_is_full(table) ||
           sorted_bytes > table_spill_most(table) - table_blocks_used(&table->blocks);
}

enum status table_spill_all(struct table *table, struct failure *failure)
{
    struct table_counter counter = {.blocks = {.free = NULL}};
    enum status status = STATUS_OK;
    uint64_t run_bytes;
    size_t n = 1;

    table_spill_limit(table, &run_bytes);
    while (status == STATUS_OK && n > 0)
        status = table_spill_run(table, &counter, run_bytes, &n, failure);
    table_counter_destroy(table, &counter);
    return status == STATUS_OK ? table_spill_merge(table, 0, failure) : status;
}

void table_spill_destroy(struct table *table)
{
    while (table->spill.count > 0)
        table_run_destroy(&table->spill.runs[--table->spill.count]);
    pthread_mutex_destroy(&table->spill.lock);
}
