/* Moves rows of a table that takes too much memory to sorted runs. */
#include "config.h"

#include "base/memory.h"
#include "table/table_internal.h"
#include "table/table_order.h"

#include <stdlib.h>
#include <string.h>

/*
 * What a run takes to make, as a part of the memory that the table may use: its rows are copied
 * and sorted, in two arrays of this size.
 */
#define TABLE_SPILL_SHARE 8

/* The least memory of a table: that of its writers (blocks, hot table, scratch), and of a run. */
#define TABLE_SPILL_BYTES_MIN    ((uint64_t)8 << 20)
#define TABLE_SPILL_WRITER_BYTES ((uint64_t)8 << 20)

/* The bytes that the table may take. */
static uint64_t table_spill_max(const struct table *table)
{
    uint64_t least = TABLE_SPILL_BYTES_MIN + TABLE_SPILL_WRITER_BYTES * table->writers_max;
    return table->bytes_max > least ? table->bytes_max : least;
}

/* The bytes that the table's blocks may take, and a run that it makes. */
static uint64_t table_spill_limit(const struct table *table, uint64_t *run_bytes)
{
    const uint64_t most = table_spill_max(table);

    *run_bytes = most / TABLE_SPILL_SHARE;
    return most - 2 * *run_bytes;
}

bool table_is_full(const struct table *table)
{
    uint64_t run_bytes;
    return table_blocks_used(&table->blocks) > table_spill_limit(table, &run_bytes);
}

/* Moves the rows of a packed partition to `rows`, and returns its blocks. */
static void table_spill_empty(struct table *table, struct table_partition *partition,
                              struct table_packer *packer, uint64_t *rows)
{
    const size_t words = table->layout.words;
    struct table_block *block = NULL;

    while ((block = table_list_next(table, packer, &partition->packed, block))) {
        memcpy(rows, block->words, block->used * words * sizeof *rows);
        rows += block->used * words;
    }
    while ((block = table_list_next(table, packer, &partition->singles, block))) {
        table_entries_of(block->words, block->used, (struct table_entry *)rows);
        rows += block->used * words;
    }
    table->spill.total += partition->total;
    partition->packed.used = 0;
    partition->singles.used = 0;
    partition->total = 0;
}

/*
 * Moves rows of the next partitions to `rows`, as many as fit. Stores how many. A partition that
 * does not fit alone is an error: *too_large, its number of rows.
 */
static enum status table_spill_collect(struct table *table, struct table_packer *packer,
                                       uint64_t *rows, size_t capacity, size_t *n,
                                       uint64_t *too_large, struct failure *failure)
{
    enum status status = STATUS_OK;
    bool fits = true;

    *n = 0;
    for (size_t i = 0; i < TABLE_PARTITIONS && status == STATUS_OK && fits; i++) {
        struct table_partition *partition = &table->partitions[table->spill.next];
        pthread_mutex_lock(&partition->lock);
        if (partition->pending.used + partition->added.used > 0)
            status = table_partition_pack(table, partition, packer, failure);
        const size_t some = (size_t)table_partition_distinct(partition);
        fits = some <= capacity - *n;
        if (status == STATUS_OK && fits) {
            table_spill_empty(table, partition, packer, rows + *n * table->layout.words);
            *n += some;
            table->spill.next = (table->spill.next + 1) % TABLE_PARTITIONS;
        }
        *too_large = fits || *n > 0 ? 0 : some;
        pthread_mutex_unlock(&partition->lock);
    }
    return status;
}

static int table_spill_compare(const void *a, const void *b)
{
    const uint64_t x = ((const struct table_run *)a)->rows;
    const uint64_t y = ((const struct table_run *)b)->rows;
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

/*
 * Moves a run's worth of rows to a run. Stores how many. Before there are too many runs, merges the
 * smaller ones: each row so takes part in few merges. The caller has the spill's lock.
 */
static enum status table_spill_run(struct table *table, struct table_packer *packer,
                                   uint64_t run_bytes, size_t *n, struct failure *failure)
{
    struct table_spill *spill = &table->spill;
    const size_t words = table->layout.words;
    const size_t spare_words = table_order_spare_words(&table->layout);
    size_t capacity = (size_t)(run_bytes / table_row_bytes(table));
    enum status status = STATUS_OK;
    uint64_t too_large = 0;

    if (spill->count == TABLE_RUNS_MAX) {
        qsort(spill->runs, spill->count, sizeof *spill->runs, table_spill_compare);
        status = table_spill_merge(table, TABLE_RUNS_MAX / 2, failure);
    }
    while (status == STATUS_OK) {
        const size_t bytes = (capacity + 1) * (words + spare_words) * sizeof(uint64_t);
        struct table_run_writer *writer = NULL;
        uint64_t *rows = memory_map(bytes);
        if (!rows)
            return status_fail(failure, STATUS_DATA, "no memory for moving counts to a file");
        status = table_spill_collect(table, packer, rows, capacity, n, &too_large, failure);
        if (status == STATUS_OK && *n > 0) {
            table_order_rows(&table->layout, rows, *n, rows + capacity * words);
            status = table_run_writer_open(&writer, &table->layout, table->directory, failure);
            if (status == STATUS_OK)
                status = table_run_write(writer, rows, *n, failure);
            if (status == STATUS_OK)
                status = table_run_writer_finish(writer, &spill->runs[spill->count], failure);
            table_run_writer_close(writer);
            spill->count += status == STATUS_OK;
        }
        memory_unmap(rows, bytes);
        if (too_large == 0)
            break;
        capacity = (size_t)too_large;
    }
    return status;
}

enum status table_spill_some(struct table *table, struct table_packer *packer,
                             struct failure *failure)
{
    enum status status = STATUS_OK;
    uint64_t run_bytes;
    size_t n;

    pthread_mutex_lock(&table->spill.lock);
    table_spill_limit(table, &run_bytes);
    if (table_is_full(table))
        status = table_spill_run(table, packer, run_bytes, &n, failure);
    table_block_cache_empty(&table->blocks, &packer->blocks);
    pthread_mutex_unlock(&table->spill.lock);
    return status;
}

bool table_is_too_large(const struct table *table)
{
    const uint64_t sorted_bytes = table->distinct * table_row_bytes(table);
    return table_is_full(table) ||
           sorted_bytes > table_spill_max(table) - table_blocks_used(&table->blocks);
}

enum status table_spill_all(struct table *table, struct failure *failure)
{
    struct table_packer packer = {.blocks = {.free = NULL}};
    enum status status = STATUS_OK;
    uint64_t run_bytes;
    size_t n = 1;

    table_spill_limit(table, &run_bytes);
    while (status == STATUS_OK && n > 0)
        status = table_spill_run(table, &packer, run_bytes, &n, failure);
    table_packer_destroy(table, &packer);
    return status == STATUS_OK ? table_spill_merge(table, 0, failure) : status;
}

void table_spill_destroy(struct table *table)
{
    while (table->spill.count > 0)
        table_run_destroy(&table->spill.runs[--table->spill.count]);
    pthread_mutex_destroy(&table->spill.lock);
}
