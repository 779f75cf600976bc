/* Implements table.h: the life of a table. */
#include "config.h"

#include "lib/table.h"

#include "lib/memory.h"
#include "lib/table_internal.h"

#include <stdlib.h>

/* Minimum number of rows of a block. */
#define TABLE_BLOCK_ROWS_MIN 4

/* One partition in this many is in a sample. A hash spreads keys evenly. */
#define TABLE_SAMPLED 16

enum status table_create(struct table **table, const struct table_layout *layout, uint64_t bytes,
                         const char *directory, struct failure *failure)
{
    if (layout && layout->key_words == 0) /* threads could not share the only row */
        return status_fail(failure, STATUS_DATA, "a table needs keys");
    struct table *created = memory_map(sizeof *created);
    size_t block_bytes = TABLE_BLOCK_BYTES;
    if (!created)
        return status_fail(failure, STATUS_DATA, "not enough memory for a table");

    created->layout = layout ? *layout : table_counts;
    const bool is_plain = created->layout.key_words == 1 && created->layout.words == 2 &&
                          !created->layout.merge && !created->layout.accumulate;
    created->has_counts = is_plain && !created->layout.has_zeros && !created->layout.is_weighted;
    created->has_sums = is_plain && created->layout.has_zeros && created->layout.is_weighted;
    while (table_block_words(block_bytes) < TABLE_BLOCK_ROWS_MIN * created->layout.words)
        block_bytes *= 2;
    if (block_bytes > TABLE_BLOCK_BYTES_MAX) {
        memory_unmap(created, sizeof *created);
        return status_fail(failure, STATUS_DATA, "not enough memory for rows of %zu numbers",
                           layout->words);
    }
    created->block_rows = table_block_words(block_bytes) / created->layout.words;
    created->bytes_max = bytes;
    created->directory = directory ? directory : getenv("TMPDIR");
    if (!created->directory || !*created->directory)
        created->directory = "/tmp";
    pthread_mutex_init(&created->spill.lock, NULL);
    created->hash = keyed_hash_create();
    table_blocks_init(&created->blocks, block_bytes, created->bytes_max);
    for (size_t i = 0; i < TABLE_PARTITIONS; i++)
        pthread_mutex_init(&created->partitions[i].lock, NULL);
    *table = created;
    return STATUS_OK;
}

void table_destroy(struct table *table)
{
    if (!table)
        return;
    table_unsort(table);
    table_spill_destroy(table);
    for (size_t i = 0; i < TABLE_PARTITIONS; i++)
        pthread_mutex_destroy(&table->partitions[i].lock);
    table_blocks_destroy(&table->blocks);
    memory_unmap(table, sizeof *table);
}

void table_set_stage(struct table *table, struct stage *stage)
{
    table->stage = stage;
}

uint64_t table_bytes_max(const struct table *table)
{
    return table->bytes_max;
}

void table_seeds(const struct table *table, uint64_t seeds[3])
{
    memcpy(seeds, table->hash.seeds, sizeof table->hash.seeds);
}

uint64_t table_new_set(struct table *table)
{
    return atomic_fetch_add(&table->sets, 1) + 1;
}

uint64_t table_rows_about(struct table *table)
{
    uint64_t rows = 0;

    for (size_t i = 0; i < TABLE_PARTITIONS; i += TABLE_SAMPLED) {
        struct table_partition *partition = &table->partitions[i];
        pthread_mutex_lock(&partition->lock);
        const uint64_t came = partition->pending.used + partition->added.used;
        rows += partition->packed.used > 0 ? partition->packed.used : came;
        pthread_mutex_unlock(&partition->lock);
    }
    return TABLE_SAMPLED * rows;
}

uint64_t table_held(const struct table *table)
{
    uint64_t held = 0;

    for (size_t i = 0; i < TABLE_PARTITIONS; i++) {
        const struct table_partition *partition = &table->partitions[i];
        held += partition->packed.used + partition->pending.used + partition->added.used;
    }
    return held;
}
