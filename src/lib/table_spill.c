/* Spills rows of a table that exceeds its memory limit to sorted runs. */
#include "config.h"

#include "lib/memory.h"
#include "lib/table_internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * A run is made in 1/SHARE of the table's memory limit: its rows are copied and sorted in two
 * arrays of this size.
 */
#define TABLE_SPILL_SHARE 8

/* Minimum memory of a table: for writers (blocks, hot table, scratch), and for a run. */
#define TABLE_SPILL_BYTES_MIN    ((uint64_t)8 << 20)
#define TABLE_SPILL_WRITER_BYTES ((uint64_t)8 << 20)

/* Returns the memory limit of the table. */
static uint64_t table_spill_max(const struct table *table)
{
    const uint64_t min = TABLE_SPILL_BYTES_MIN + TABLE_SPILL_WRITER_BYTES * table->writers_max;
    return table->bytes_max > min ? table->bytes_max : min;
}

static bool table_is_full(const struct table *table)
{
    const uint64_t max = table_spill_max(table);
    return table_blocks_used(&table->blocks) > max - 2 * (max / TABLE_SPILL_SHARE);
}

bool table_is_too_large(const struct table *table)
{
    const uint64_t sorted_bytes =
        table->distinct * (table_row_bytes(table) + sizeof(uint16_t)); /* with row_buckets */
    return table_is_full(table) ||
           sorted_bytes > table_spill_max(table) - table_blocks_used(&table->blocks);
}

/* Moves the rows of a packed partition to `rows`, and returns its blocks. */
static void table_spill_partition(struct table *table, struct table_partition *partition,
                                  struct table_packer *packer, uint64_t *rows)
{
    const size_t words = table->layout.words;
    struct table_block *block = NULL;

    while ((block = table_list_next(table, packer, &partition->packed, block))) {
        memcpy(rows, block->words, block->used * words * sizeof *rows);
        rows += block->used * words;
    }
    table->spill.total += partition->total;
    partition->packed.used = 0;
    partition->total = 0;
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
    if (table_runs_merge(spill->runs + first, spill->count - first, &table->layout,
                         table->directory, table->stage, &merged, failure) != STATUS_OK)
        return failure->status;
    spill->runs[first] = merged;
    spill->count = first + 1;
    return STATUS_OK;
}

/*
 * Moves the rows of the next partitions to a run, as many as fit in its memory, which grows for a
 * partition that is larger. Stores their number. Before there are too many runs, merges the smaller
 * half: each row thus takes part in few merges. The caller holds the spill's lock.
 */
static enum status table_spill_run(struct table *table, struct table_packer *packer, size_t *n,
                                   struct failure *failure)
{
    struct table_spill *spill = &table->spill;
    const size_t words = table->layout.words;
    const size_t row_bytes = words * sizeof(uint64_t);
    const size_t spare_bytes = table_order_spare_words(&table->layout) * sizeof(uint64_t);
    size_t capacity = (size_t)(table_spill_max(table) / TABLE_SPILL_SHARE / row_bytes + 1);
    uint64_t *rows = memory_map(capacity * row_bytes);
    uint64_t *spare = NULL;
    enum status status = STATUS_OK;
    bool fits = rows != NULL;

    *n = 0;
    for (size_t i = 0; i < TABLE_PARTITIONS && status == STATUS_OK && fits; i++) {
        struct table_partition *partition = &table->partitions[spill->next];
        pthread_mutex_lock(&partition->lock);
        if (partition->pending.used + partition->added.used > 0)
            status = table_partition_pack(table, partition, packer, failure);
        const size_t distinct = (size_t)partition->packed.used;
        if (*n == 0 && distinct > capacity) {
            memory_unmap(rows, capacity * row_bytes);
            capacity = distinct;
            rows = memory_map(capacity * row_bytes);
        }
        fits = rows && distinct <= capacity - *n;
        if (status == STATUS_OK && fits) {
            table_spill_partition(table, partition, packer, rows + *n * words);
            *n += distinct;
            spill->next = (spill->next + 1) % TABLE_PARTITIONS;
        }
        pthread_mutex_unlock(&partition->lock);
    }
    if (*n > 0)
        spare = memory_map(*n * spare_bytes);
    if (status == STATUS_OK && (!rows || (*n > 0 && !spare)))
        status = status_fail(failure, STATUS_DATA, TABLE_NO_MEMORY);
    if (status == STATUS_OK && *n > 0 && spill->count == TABLE_RUNS_MAX) {
        qsort(spill->runs, spill->count, sizeof *spill->runs, table_spill_compare);
        status = table_spill_merge(table, TABLE_RUNS_MAX / 2, failure);
    }
    if (status == STATUS_OK && *n > 0) {
        struct table_run *run = &spill->runs[spill->count];
        table_order_rows(&table->layout, rows, *n, spare);
        status = table_run_create(run, table->directory, failure);
        spill->count += status == STATUS_OK;
        if (status == STATUS_OK)
            status = table_run_append(run, &table->layout, rows, *n, failure);
    }
    memory_unmap(rows, capacity * row_bytes);
    memory_unmap(spare, *n * spare_bytes);
    return status;
}

enum status table_spill_some(struct table *table, struct table_packer *packer,
                             struct failure *failure)
{
    enum status status = STATUS_OK;
    size_t n;

    if (!table_is_full(table))
        return STATUS_OK;
    pthread_mutex_lock(&table->spill.lock);
    if (table_is_full(table)) /* no other thread has just spilled rows */
        status = table_spill_run(table, packer, &n, failure);
    table_block_cache_empty(&table->blocks, &packer->blocks);
    pthread_mutex_unlock(&table->spill.lock);
    return status;
}

enum status table_spill_all(struct table *table, struct failure *failure)
{
    struct table_packer packer = {.blocks = {.free = NULL}};
    enum status status = STATUS_OK;
    size_t n = 1;

    while (status == STATUS_OK && n > 0)
        status = table_spill_run(table, &packer, &n, failure);
    table_packer_destroy(table, &packer);
    return status == STATUS_OK ? table_spill_merge(table, 0, failure) : status;
}

void table_spill_destroy(struct table *table)
{
    while (table->spill.count > 0)
        table_run_destroy(&table->spill.runs[--table->spill.count]);
    pthread_mutex_destroy(&table->spill.lock);
}
