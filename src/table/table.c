/* Implements table.h: writers add keys and rows to partitions. */
#include "config.h"

#include "table/table.h"

#include "base/memory.h"
#include "table/table_internal.h"

#include <stdlib.h>

/* The minimum of rows of a block. */
#define TABLE_BLOCK_ROWS_MIN 4

/*
 * The rows that a writer holds, which have at least slots for TABLE_FIND_MAX. Nanoseconds for a
 * value, 10^4, 10^5 and 10^6 groups, sums: 512 KiB 20, 52, 78; 2 MiB 8, 46, 89; 4 MiB 8, 29, 90.
 */
#define TABLE_FRONT_BYTES    ((size_t)2 << 20)
#define TABLE_FRONT_BITS_MIN 9

/* The parts of a front at which writers begin to empty it; the next writer begins a golden section
 * of the front further on. */
#define TABLE_FRONT_STARTS 64
#define TABLE_FRONT_STRIDE 39

_Static_assert(3 * ((size_t)1 << TABLE_FRONT_BITS_MIN) / 4 >= TABLE_FIND_MAX, "slots for a call");

enum status table_create(struct table **table, const struct table_layout *layout, uint64_t bytes,
                         const char *directory, struct failure *failure)
{
    struct table *created = memory_map(sizeof *created);
    size_t block_bytes = TABLE_BLOCK_BYTES;
    if (!created)
        return status_fail(failure, STATUS_DATA, "no memory for a table");

    created->layout = layout ? *layout : table_counts;
    created->has_counts = table_layout_is_plain(&created->layout);
    while (table_block_words(block_bytes) < TABLE_BLOCK_ROWS_MIN * created->layout.words)
        block_bytes *= 2;
    if (block_bytes > TABLE_BLOCK_BYTES_MAX) {
        memory_unmap(created, sizeof *created);
        return status_fail(failure, STATUS_DATA, "no memory for rows of %zu numbers",
                           layout->words);
    }
    created->block_rows = table_block_words(block_bytes) / created->layout.words;
    created->bytes_max = bytes > 0 ? bytes : memory_available() / 2;
    created->directory = directory ? directory : getenv("TMPDIR");
    if (!created->directory || !*created->directory)
        created->directory = "/tmp";
    pthread_mutex_init(&created->spill.lock, NULL);
    created->hash = keyed_hash_create();
    table_blocks_init(&created->blocks, block_bytes);
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

enum status table_writer_open(struct table *table, struct table_writer **writer,
                              struct failure *failure)
{
    struct table_writer *created = memory_map(sizeof *created);
    if (!created)
        return status_fail(failure, STATUS_DATA, "no memory for a thread's part of a table");

    created->table = table;
    created->hot.seed = (table->hash.seeds[2] ^ table->hash.seeds[0]) | 1;
    unsigned open = atomic_fetch_add(&table->writers, 1) + 1;
    created->start = open * TABLE_FRONT_STRIDE % TABLE_FRONT_STARTS;
    unsigned max = atomic_load(&table->writers_max);
    while (max < open && !atomic_compare_exchange_weak(&table->writers_max, &max, open))
        ;
    *writer = created;
    return STATUS_OK;
}

void table_writer_close(struct table_writer *writer)
{
    if (!writer)
        return;
    table_slots_destroy(&writer->front, &writer->table->layout);
    table_packer_destroy(writer->table, &writer->packer);
    atomic_fetch_sub(&writer->table->writers, 1);
    memory_unmap(writer, sizeof *writer);
}

/*
 * Moves the block that a writer fills with keys of a partition to its list, if there is one. The
 * caller holds the lock of the partition.
 */
static void table_writer_push_block(struct table_writer *writer, size_t index)
{
    struct table_partition *partition = &writer->table->partitions[index];
    uint64_t *next = writer->next[index];

    if (!next)
        return;
    uintptr_t address = ((uintptr_t)next - 1) / TABLE_BLOCK_BYTES * TABLE_BLOCK_BYTES;
    struct table_block *block = (struct table_block *)address;
    block->used = (uint64_t)(next - block->words);
    writer->next[index] = NULL;
    block->next = partition->pending.blocks;
    partition->pending.blocks = block;
    partition->pending.used += block->used;
}

/* Moves the full block of a partition to its list and begins another one. Returns NULL on a
 * failure. */
static __attribute__((noinline)) uint64_t *table_writer_refill(struct table_writer *writer,
                                                               size_t index,
                                                               struct failure *failure)
{
    struct table_partition *partition = &writer->table->partitions[index];

    pthread_mutex_lock(&partition->lock);
    table_writer_push_block(writer, index);
    enum status status =
        table_partition_pack_due(writer->table, partition, &writer->packer, failure);
    pthread_mutex_unlock(&partition->lock);
    if (status != STATUS_OK)
        return NULL;
    struct table_block *block = table_block_take(&writer->table->blocks, &writer->packer.blocks);
    if (block)
        return block->words;
    status_fail(failure, STATUS_DATA, "no memory for counts");
    return NULL;
}

/* Moves the counts of the hot table to the partitions. */
static enum status table_writer_empty_hot(struct table_writer *writer, struct failure *failure)
{
    struct table_entry entries[TABLE_HOT_SLOTS];
    size_t n = table_hot_empty(&writer->hot, entries);

    return table_writer_add_rows(writer, entries, n, failure);
}

enum status table_writer_add(struct table_writer *writer, const uint64_t *keys, size_t n,
                             struct failure *failure)
{
    struct table *table = writer->table;

    for (size_t i = 0, some; i < n; i += some) {
        const uint64_t *cold = keys + i;
        some = n - i < TABLE_HOT_BLOCK ? n - i : TABLE_HOT_BLOCK;
        if (table_spill_some(table, &writer->packer, failure) != STATUS_OK)
            return failure->status;
        const size_t left = table_hot_count(&writer->hot, &cold, some, writer->cold);
        for (size_t k = 0; k < left; k++) {
            const uint64_t key = cold[k];
            const size_t index = table_hash_partition(keyed_hash_of(&table->hash, key));
            uint64_t *next = writer->next[index];
            if ((uintptr_t)next % TABLE_BLOCK_BYTES == 0) { /* full, or none */
                next = table_writer_refill(writer, index, failure);
                if (!next)
                    return failure->status;
            }
            *next = key;
            writer->next[index] = next + 1;
        }
        if (table_hot_is_stale(&writer->hot) &&
            table_writer_empty_hot(writer, failure) != STATUS_OK)
            return failure->status;
    }
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

/*
 * Adds rows to their partitions, of which it locks one at a time; free slots, whose count is 0, are
 * skipped. The packed rows of a set are of that set alone: others are to be packed again.
 */
TABLE_INLINE enum status table_writer_scatter(const struct table_layout layout,
                                              struct table_writer *writer, uint64_t set,
                                              const uint64_t *rows, size_t n,
                                              struct failure *failure)
{
    struct table *table = writer->table;
    struct table_partition *locked = NULL;
    enum status status = STATUS_OK;

    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        const uint64_t *row = rows + i * layout.words;
        if (table_row_count(layout, row) == 0)
            continue;
        const uint64_t hash = table_hash(layout, &table->hash, row);
        struct table_partition *partition = &table->partitions[table_hash_partition(hash)];
        struct table_list *list = set > 0 ? &partition->packed : &partition->added;
        if (partition != locked) {
            if (locked)
                pthread_mutex_unlock(&locked->lock);
            pthread_mutex_lock(&partition->lock);
            locked = partition;
        }
        if (set > 0 && partition->only != set) {
            table_list_move(&partition->added, &partition->packed);
            partition->total = 0;
            partition->only = set;
        }
        struct table_block *block = list->blocks;
        if (!block || block->used == table->block_rows) {
            block = table_block_take(&table->blocks, &writer->packer.blocks);
            if (!block) {
                status = status_fail(failure, STATUS_DATA, "no memory for counts");
                break;
            }
            block->used = 0;
            block->next = list->blocks;
            list->blocks = block;
        }
        table_row_copy(layout, block->words + block->used++ * layout.words, row);
        list->used++;
        if (set > 0)
            partition->total += table_row_count(layout, row);
        else
            status = table_partition_pack_due(writer->table, partition, &writer->packer, failure);
    }
    if (locked)
        pthread_mutex_unlock(&locked->lock);
    return status;
}

uint64_t table_new_set(struct table *table)
{
    return atomic_fetch_add(&table->sets, 1) + 1;
}

enum status table_writer_add_distinct(struct table_writer *writer, uint64_t set, const void *rows,
                                      size_t n, struct failure *failure)
{
    if (table_spill_some(writer->table, &writer->packer, failure) != STATUS_OK)
        return failure->status;
    return writer->table->has_counts
               ? table_writer_scatter(table_counts, writer, set, rows, n, failure)
               : table_writer_scatter(writer->table->layout, writer, set, rows, n, failure);
}

enum status table_writer_add_rows(struct table_writer *writer, const void *rows, size_t n,
                                  struct failure *failure)
{
    return table_writer_add_distinct(writer, 0, rows, n, failure);
}

/*
 * Moves the rows of the front to the partitions. They lie in the order of these, nearly, and all
 * partitions are due to be packed at about the same time. So writers begin at different ones: else
 * all would wait behind the first, which packs one after the other.
 */
static enum status table_writer_empty_front(struct table_writer *writer, struct failure *failure)
{
    struct table_slots *front = &writer->front;
    const size_t slots = front->used > 0 ? (size_t)1 << front->bits : 0;
    const size_t first = slots / TABLE_FRONT_STARTS * writer->start;
    const uint64_t *rows = front->rows;
    enum status status = STATUS_OK;

    if (slots > 0)
        status = table_writer_add_rows(writer, rows + first * writer->table->layout.words,
                                       slots - first, failure);
    if (first > 0 && status == STATUS_OK)
        status = table_writer_add_rows(writer, rows, first, failure);
    if (slots > 0)
        memset(front->rows, 0, slots * table_row_bytes(writer->table));
    front->used = 0;
    return status;
}

/* table_writer_find, once there are free slots. Returns whether no count has overflowed. */
TABLE_INLINE bool table_writer_look_up(const struct table_layout layout,
                                       struct table_writer *writer, const uint64_t *keys,
                                       const uint64_t *weights, size_t n, uint64_t **rows)
{
    const struct keyed_hash hash = writer->table->hash;
    const struct table_slots front = writer->front;
    const size_t key_words = layout.key_words;
    uint64_t hashes[TABLE_FIND_MAX];
    bool overflows = false;

    for (size_t i = 0; i < n; i++) {
        hashes[i] = table_hash(layout, &hash, keys + i * key_words);
        const uint64_t *row = table_slots_begin(layout, &front, hashes[i]);
        __builtin_prefetch(row);
        __builtin_prefetch(row + layout.words - 1);
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t *key = keys + i * key_words;
        uint64_t *row = table_slots_find(layout, &front, hashes[i], key);
        if (row[key_words] == 0) {
            memcpy(row, key, key_words * sizeof *row);
            for (size_t w = key_words + 1; w < layout.words; w++)
                row[w] = layout.initial ? layout.initial[w] : 0;
            writer->front.used++;
        }
        overflows |=
            __builtin_add_overflow(row[key_words], weights ? weights[i] : 1, &row[key_words]);
        rows[i] = row;
    }
    return !overflows;
}

enum status table_writer_find(struct table_writer *writer, const uint64_t *keys,
                              const uint64_t *weights, size_t n, uint64_t **rows,
                              struct failure *failure)
{
    const struct table_layout *layout = &writer->table->layout;
    unsigned bits = TABLE_FRONT_BITS_MIN;

    if (!writer->front.rows) {
        while (layout->words * sizeof(uint64_t) << (bits + 1) <= TABLE_FRONT_BYTES)
            bits++;
        if (table_slots_clear(&writer->front, layout, ((uint64_t)3 << bits) / 4, failure) !=
            STATUS_OK)
            return failure->status;
    }
    if (4 * (writer->front.used + n) > (uint64_t)3 << writer->front.bits &&
        table_writer_empty_front(writer, failure) != STATUS_OK)
        return failure->status;
    /* the compiler specialises the first two for keys of one word */
    struct table_layout single = *layout;
    single.key_words = 1;
    const bool fits = writer->table->has_counts
                          ? table_writer_look_up(table_counts, writer, keys, weights, n, rows)
                      : layout->key_words == 1
                          ? table_writer_look_up(single, writer, keys, weights, n, rows)
                          : table_writer_look_up(*layout, writer, keys, weights, n, rows);
    if (!fits)
        atomic_store(&writer->table->has_overflowed, true);
    return STATUS_OK;
}

enum status table_writer_drain(struct table_writer *writer, size_t partition, table_take *take,
                               void *context, struct failure *failure)
{
    struct table *table = writer->table;
    struct table_partition *drained = &table->partitions[partition];
    struct table_entry counted[TABLE_BLOCK_KEYS];
    struct table_block *block = NULL;
    enum status status = STATUS_OK;

    pthread_mutex_lock(&drained->lock);
    table_list_move(&drained->added, &drained->packed);
    struct table_list keys = drained->pending;
    struct table_list entries = drained->added;
    drained->pending = drained->added = (struct table_list){.used = 0};
    drained->total = 0;
    drained->only = 0;
    pthread_mutex_unlock(&drained->lock);
    while (status == STATUS_OK && (block = table_list_next(table, &writer->packer, &keys, block))) {
        for (size_t i = 0; i < block->used; i++)
            counted[i] = (struct table_entry){.key = block->words[i], .count = 1};
        status = take(context, counted, block->used, failure);
    }
    while (status == STATUS_OK &&
           (block = table_list_next(table, &writer->packer, &entries, block)))
        status = take(context, (struct table_entry *)block->words, block->used, failure);
    return status;
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

enum status table_writer_flush(struct table_writer *writer, struct failure *failure)
{
    struct table_partition *partitions = writer->table->partitions;

    if (table_writer_empty_front(writer, failure) != STATUS_OK ||
        table_writer_empty_hot(writer, failure) != STATUS_OK)
        return failure->status;
    if (!writer->table->has_counts)
        return STATUS_OK;
    for (size_t i = 0; i < TABLE_PARTITIONS; i++) {
        pthread_mutex_lock(&partitions[i].lock);
        table_writer_push_block(writer, i); /* not packed: table_finalize packs all */
        pthread_mutex_unlock(&partitions[i].lock);
    }
    return STATUS_OK;
}
