/* Implements table.h: writers scatter keys to partitions; settling and reading. */
#include "config.h"

#include "table/table.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/processors.h"
#include "table/table_internal.h"

#include <stdlib.h>
#include <string.h>

enum status table_create(struct table **table, uint64_t bytes, const char *directory,
                         struct failure *failure)
{
    struct table *made = memory_map(sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for a table");

    made->bytes_most = bytes > 0 ? bytes : memory_available() / 2;
    made->directory = directory ? directory : getenv("TMPDIR");
    if (!made->directory || !*made->directory)
        made->directory = "/tmp";
    pthread_mutex_init(&made->spill.lock, NULL);
    made->hash = keyed_hash_make();
    table_blocks_init(&made->blocks);
    for (size_t i = 0; i < TABLE_PARTITIONS; i++)
        pthread_mutex_init(&made->partitions[i].lock, NULL);
    *table = made;
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

void table_seeds(const struct table *table, uint64_t seeds[3])
{
    memcpy(seeds, table->hash.seeds, sizeof table->hash.seeds);
}

enum status table_writer_open(struct table *table, struct table_writer **writer,
                              struct failure *failure)
{
    struct table_writer *made = memory_map(sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for a thread's part of a table");

    made->table = table;
    table_hot_init(&made->hot, table->hash.seeds[2] ^ table->hash.seeds[0]);
    unsigned open = atomic_fetch_add(&table->writers, 1) + 1;
    unsigned most = atomic_load(&table->writers_most);
    while (most < open && !atomic_compare_exchange_weak(&table->writers_most, &most, open))
        ;
    *writer = made;
    return STATUS_OK;
}

void table_writer_close(struct table_writer *writer)
{
    if (!writer)
        return;
    table_counter_destroy(writer->table, &writer->counter);
    atomic_fetch_sub(&writer->table->writers, 1);
    memory_unmap(writer, sizeof *writer);
}

static bool table_block_is_full(const uint64_t *next)
{
    return (uintptr_t)next % TABLE_BLOCK_BYTES == 0;
}

/*
 * Hands the block that a writer fills for a partition to it, if there is one. The caller holds the
 * lock of the partition.
 */
static void table_writer_hand_over(struct table_writer *writer, size_t index)
{
    struct table_partition *partition = &writer->table->partitions[index];
    uint64_t *next = writer->next[index];

    if (!next)
        return;
    uintptr_t address = ((uintptr_t)next - 1) / TABLE_BLOCK_BYTES * TABLE_BLOCK_BYTES;
    struct table_block *block = (struct table_block *)address;
    block->used = (uint64_t)(next - block->keys);
    writer->next[index] = NULL;
    block->next = partition->pending.blocks;
    partition->pending.blocks = block;
    partition->pending.used += block->used;
}

/* Packs a partition if it is due. The caller holds its lock. */
static enum status table_writer_pack(struct table_writer *writer, struct table_partition *partition,
                                     struct failure *failure)
{
    if (!table_partition_is_due(writer->table, partition))
        return STATUS_OK;
    return table_partition_pack(writer->table, partition, &writer->counter, failure);
}

/* Hands over the full block of a partition and begins another one. Returns NULL on a failure. */
static __attribute__((noinline)) uint64_t *table_writer_refill(struct table_writer *writer,
                                                               size_t index,
                                                               struct failure *failure)
{
    struct table_partition *partition = &writer->table->partitions[index];

    pthread_mutex_lock(&partition->lock);
    table_writer_hand_over(writer, index);
    enum status status = table_writer_pack(writer, partition, failure);
    pthread_mutex_unlock(&partition->lock);
    if (status != STATUS_OK)
        return NULL;
    struct table_block *block = table_block_take(&writer->table->blocks, &writer->counter.blocks);
    if (block)
        return block->keys;
    status_fail(failure, STATUS_DATA, "no memory for counts");
    return NULL;
}

static enum status table_writer_scatter(struct table_writer *writer, const uint64_t *keys, size_t n,
                                        struct failure *failure)
{
    const struct table *table = writer->table;

    for (size_t i = 0; i < n; i++) {
        const uint64_t key = keys[i];
        const size_t index = table_hash_partition(table_hash(table, key));
        uint64_t *next = writer->next[index];
        if (table_block_is_full(next)) {
            next = table_writer_refill(writer, index, failure);
            if (!next)
                return failure->status;
        }
        *next = key;
        writer->next[index] = next + 1;
    }
    return STATUS_OK;
}

/* Moves the counts of the hot table to the partitions. */
static enum status table_writer_cool(struct table_writer *writer, struct failure *failure)
{
    struct table_entry entries[TABLE_HOT_SLOTS];
    size_t n = table_hot_empty(&writer->hot, entries);

    return table_writer_add_counts(writer, entries, n, failure);
}

/* Moves counts to a run if the table is full. */
static enum status table_writer_check_room(struct table_writer *writer, struct failure *failure)
{
    if (!table_is_full(writer->table))
        return STATUS_OK;
    return table_spill_some(writer->table, &writer->counter, failure);
}

enum status table_writer_add(struct table_writer *writer, const uint64_t *keys, size_t n,
                             struct failure *failure)
{
    for (size_t i = 0, some; i < n; i += some) {
        const uint64_t *cold = keys + i;
        some = n - i < TABLE_HOT_BLOCK ? n - i : TABLE_HOT_BLOCK;
        if (table_writer_check_room(writer, failure) != STATUS_OK)
            return failure->status;
        size_t left = table_hot_count(&writer->hot, &cold, some, writer->cold);
        if (table_writer_scatter(writer, cold, left, failure) != STATUS_OK)
            return failure->status;
        if (table_hot_is_stale(&writer->hot) && table_writer_cool(writer, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

/* Appends an entry to a list of a partition. The caller holds the lock. */
static enum status table_list_append(struct table_writer *writer, struct table_list *list,
                                     struct table_entry entry, struct failure *failure)
{
    struct table_block *block = list->blocks;

    if (!block || block->used == TABLE_BLOCK_ENTRIES) {
        block = table_block_take(&writer->table->blocks, &writer->counter.blocks);
        if (!block)
            return status_fail(failure, STATUS_DATA, "no memory for counts");
        block->used = 0;
        block->next = list->blocks;
        list->blocks = block;
    }
    block->entries[block->used++] = entry;
    list->used++;
    return STATUS_OK;
}

/* Moves all blocks of a list to another one. */
static void table_list_move(struct table_list *to, struct table_list *from)
{
    struct table_block **end = &to->blocks;

    while (*end)
        end = &(*end)->next;
    *end = from->blocks;
    to->used += from->used;
    *from = (struct table_list){.used = 0};
}

/* Makes a partition's packed entries those of a set alone: the others are to be packed again. */
static void table_partition_begin_set(struct table_partition *partition, uint64_t set)
{
    table_list_move(&partition->added, &partition->packed);
    table_list_move(&partition->pending, &partition->singles);
    partition->total = 0;
    partition->only = set;
}

/* Adds an entry of a set, or of none (0), to a partition. The caller holds its lock. */
static enum status table_partition_add(struct table_writer *writer,
                                       struct table_partition *partition, uint64_t set,
                                       struct table_entry entry, struct failure *failure)
{
    if (set > 0) {
        if (partition->only != set)
            table_partition_begin_set(partition, set);
        partition->total += entry.count;
        return table_list_append(writer, &partition->packed, entry, failure);
    }
    if (table_list_append(writer, &partition->added, entry, failure) != STATUS_OK)
        return failure->status;
    return table_writer_pack(writer, partition, failure);
}

uint64_t table_new_set(struct table *table)
{
    return atomic_fetch_add(&table->sets, 1) + 1;
}

enum status table_writer_add_distinct(struct table_writer *writer, uint64_t set,
                                      const struct table_entry *entries, size_t n,
                                      struct failure *failure)
{
    struct table *table = writer->table;
    struct table_partition *held = NULL; /* locked */
    enum status status = table_writer_check_room(writer, failure);

    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        size_t index = table_hash_partition(table_hash(table, entries[i].key));
        struct table_partition *partition = &table->partitions[index];
        if (partition != held) {
            if (held)
                pthread_mutex_unlock(&held->lock);
            pthread_mutex_lock(&partition->lock);
            held = partition;
        }
        status = table_partition_add(writer, partition, set, entries[i], failure);
    }
    if (held)
        pthread_mutex_unlock(&held->lock);
    return status;
}

enum status table_writer_add_counts(struct table_writer *writer, const struct table_entry *entries,
                                    size_t n, struct failure *failure)
{
    return table_writer_add_distinct(writer, 0, entries, n, failure);
}

/* Passes keys to `take` as entries that count 1. */
static enum status table_take_keys(const struct table_block *block, table_take *take, void *context,
                                   struct failure *failure)
{
    struct table_entry entries[TABLE_BLOCK_KEYS];

    table_entries_of(block->keys, block->used, entries);
    return take(context, entries, block->used, failure);
}

enum status table_writer_drain(struct table_writer *writer, size_t partition, table_take *take,
                               void *context, struct failure *failure)
{
    struct table *table = writer->table;
    struct table_partition *drained = &table->partitions[partition];
    struct table_block *block = NULL;
    enum status status = STATUS_OK;

    pthread_mutex_lock(&drained->lock);
    table_list_move(&drained->pending, &drained->singles);
    table_list_move(&drained->added, &drained->packed);
    struct table_list keys = drained->pending;
    struct table_list entries = drained->added;
    drained->pending = drained->added = (struct table_list){.used = 0};
    drained->total = 0;
    drained->only = 0;
    pthread_mutex_unlock(&drained->lock);
    while (status == STATUS_OK && (block = table_list_next(table, &writer->counter, &keys, block)))
        status = table_take_keys(block, take, context, failure);
    while (status == STATUS_OK &&
           (block = table_list_next(table, &writer->counter, &entries, block)))
        status = take(context, block->entries, block->used, failure);
    return status;
}

uint64_t table_held(const struct table *table)
{
    uint64_t held = 0;

    for (size_t i = 0; i < TABLE_PARTITIONS; i++) {
        const struct table_partition *partition = &table->partitions[i];
        held +=
            table_partition_distinct(partition) + partition->pending.used + partition->added.used;
    }
    return held;
}

enum status table_writer_flush(struct table_writer *writer, struct failure *failure)
{
    struct table_partition *partitions = writer->table->partitions;

    if (table_writer_cool(writer, failure) != STATUS_OK)
        return failure->status;
    for (size_t i = 0; i < TABLE_PARTITIONS; i++) {
        pthread_mutex_lock(&partitions[i].lock);
        table_writer_hand_over(writer, i); /* not packed: table_settle packs all */
        pthread_mutex_unlock(&partitions[i].lock);
    }
    return STATUS_OK;
}
