/* Adds up the new keys and rows of a partition in a hash table, and packs the result into blocks.
 */
#include "config.h"

#include "lib/table_internal.h"

/* Minimum bytes of keys and rows that are worth clearing and reading a hash table. */
#define TABLE_DUE_BYTES ((uint64_t)32 << 10)

/* If keys are new, or fewer than TABLE_DUE_TIMES times the packed ones: as many bytes as a hash
 * table in the L2 cache can aggregate. */
#define TABLE_DUE_BYTES_MAX ((uint64_t)128 << 10)
#define TABLE_DUE_TIMES     8

/* All partitions wait for at most 1/SHARE of the table's memory limit. */
#define TABLE_DUE_SHARE 8

struct table_block *table_list_next(struct table *table, struct table_packer *packer,
                                    struct table_list *list, struct table_block *done)
{
    if (done)
        table_block_return(&table->blocks, &packer->blocks, done);
    struct table_block *block = list->blocks;
    if (block)
        list->blocks = block->next;
    return block;
}

/*
 * Adds up new keys and rows in the slots, and their counts to the total; a part of them, if the
 * slots are full. There are only slots for twice the known keys, so that few must be cleared and
 * read again.
 */
TABLE_INLINE enum status table_partition_add_up(const struct table_layout layout,
                                                struct table *table,
                                                struct table_partition *partition,
                                                struct table_packer *packer,
                                                struct failure *failure)
{
    const struct keyed_hash hash = table->hash;
    const uint64_t came = partition->pending.used + partition->added.used;
    const uint64_t known = 2 * (partition->packed.used + TABLE_BLOCK_KEYS);
    const uint64_t capacity = partition->packed.used == 0 || came < known ? came : known;
    const size_t words = table_input_words(layout);
    struct table_list *pending = &partition->pending;
    struct table_list *new_rows = &partition->added;
    uint64_t *rows[TABLE_BLOCK_KEYS];
    uint64_t values[TABLE_BLOCK_KEYS];
    struct table_block *block = NULL;
    uint64_t total = partition->total; /* no store to rows can change it */
    uint64_t used = 0;
    bool overflows = false;

    if (table_slots_clear(&packer->slots, &table->layout, capacity, failure) != STATUS_OK)
        return failure->status;
    packer->slots.skipped = TABLE_PARTITION_BITS;
    const struct table_slots slots = packer->slots; /* no store to rows can change it */
    while (pending->blocks && used + pending->blocks->used <= capacity) {
        block = table_list_next(table, packer, pending, NULL);
        pending->used -= block->used;
        for (size_t i = 0; i < block->used; i++) {
            const uint64_t *key = block->words + i * words;
            const uint64_t weight = layout.is_weighted ? key[words - 1] : 1;
            const uint64_t key_hash = table_hash(layout, &hash, key);
            rows[i] = table_slots_add(layout, &slots, key_hash, key, weight, &used, &overflows);
            values[i] = layout.accumulate ? key[layout.key_words] : 0;
            total += weight;
        }
        if (layout.accumulate)
            layout.accumulate(layout.context, rows, values, block->used);
        table_block_return(&table->blocks, &packer->blocks, block);
    }
    while (new_rows->blocks && used + new_rows->blocks->used <= capacity) {
        block = table_list_next(table, packer, new_rows, NULL);
        new_rows->used -= block->used;
        for (size_t i = 0; i < block->used; i++) {
            const uint64_t *added = block->words + i * layout.words;
            uint64_t *row =
                table_slots_find(layout, &slots, table_hash(layout, &hash, added), added);
            total += table_row_count(layout, added);
            if (table_slots_is_free(layout, &slots, row)) {
                table_row_copy(layout, row, added);
                if (layout.has_zeros && table_row_count(layout, row) == 0)
                    table_slots_mark(layout, &slots, row);
                used++;
            } else {
                overflows |= !table_row_merge(layout, row, added);
            }
        }
        table_block_return(&table->blocks, &packer->blocks, block);
    }
    const uint64_t seen = came - pending->used - new_rows->used;
    packer->slots.used = used;
    partition->total = total;
    if (overflows)
        atomic_store(&table->has_overflowed, true);
    atomic_store_explicit(&table->has_new_keys, 5 * used > 3 * seen, memory_order_relaxed);
    return STATUS_OK;
}

/*
 * Moves packed rows whose keys are in the slots to the slots; other rows stay, and blocks that
 * become empty are returned.
 */
TABLE_INLINE void table_partition_merge(const struct table_layout layout, struct table *table,
                                        struct table_partition *partition,
                                        struct table_packer *packer)
{
    const struct keyed_hash hash = table->hash;
    const struct table_slots slots = packer->slots;
    struct table_block **link = &partition->packed.blocks;
    struct table_block *block;
    bool overflows = false;

    partition->packed.used = 0;
    while ((block = *link)) {
        size_t kept = 0;
        for (size_t i = 0; i < block->used; i++) {
            uint64_t *packed = block->words + i * layout.words;
            uint64_t *row =
                table_slots_find(layout, &slots, table_hash(layout, &hash, packed), packed);
            const bool stays = table_slots_is_free(layout, &slots, row);
            if (!stays)
                overflows |= !table_row_merge(layout, row, packed);
            if (kept != i)
                table_row_copy(layout, block->words + kept * layout.words, packed);
            kept += stays;
        }
        block->used = kept;
        partition->packed.used += kept;
        if (kept > 0) {
            link = &block->next;
        } else {
            *link = block->next;
            table_block_return(&table->blocks, &packer->blocks, block);
        }
    }
    if (overflows)
        atomic_store(&table->has_overflowed, true);
}

/* Appends the rows in the slots to the packed rows: fills incomplete blocks first, then new ones.
 */
TABLE_INLINE enum status table_partition_append(const struct table_layout layout,
                                                struct table *table,
                                                struct table_partition *partition,
                                                struct table_packer *packer,
                                                struct failure *failure)
{
    struct table_block **link = &partition->packed.blocks;
    const uint64_t *row = packer->slots.rows;
    const uint64_t *end = row + (layout.words << packer->slots.bits);
    const size_t capacity = table->block_rows; /* no store to rows can change it */
    uint64_t left = packer->slots.used;

    /* A count that overflowed to 0, which becomes an error, is not a row. */
    partition->packed.used += left;
    for (; left > 0 && row < end; link = &(*link)->next) {
        struct table_block *block = *link;
        if (!block) {
            block = table_block_take(&table->blocks, &packer->blocks);
            if (!block)
                return status_fail(failure, STATUS_DATA, TABLE_NO_MEMORY);
            block->next = NULL;
            block->used = 0;
            *link = block;
        }
        size_t used = block->used;
        for (; used < capacity && row < end; row += layout.words) {
            const bool is_used = (table_row_count(layout, row) > 0) |
                                 table_slots_is_marked(layout, &packer->slots, row);
            if (layout.words == 2 || is_used) /* a copy takes less time than a branch */
                table_row_copy(layout, block->words + used * layout.words, row);
            used += is_used;
            left -= is_used;
        }
        block->used = used;
    }
    partition->packed.used -= left;
    return STATUS_OK;
}

TABLE_INLINE enum status table_partition_pack_layout(const struct table_layout layout,
                                                     struct table *table,
                                                     struct table_partition *partition,
                                                     struct table_packer *packer,
                                                     struct failure *failure)
{
    partition->only = 0;
    do {
        if (table_partition_add_up(layout, table, partition, packer, failure) != STATUS_OK)
            return failure->status;
        table_partition_merge(layout, table, partition, packer);
        if (table_partition_append(layout, table, partition, packer, failure) != STATUS_OK)
            return failure->status;
    } while (partition->pending.blocks || partition->added.blocks);
    return STATUS_OK;
}

enum status table_partition_pack(struct table *table, struct table_partition *partition,
                                 struct table_packer *packer, struct failure *failure)
{
    return table->has_counts
               ? table_partition_pack_layout(table_counts, table, partition, packer, failure)
           : table->has_sums
               ? table_partition_pack_layout(table_sums, table, partition, packer, failure)
               : table_partition_pack_layout(table->layout, table, partition, packer, failure);
}

/*
 * Each packing looks up all distinct keys. Therefore new keys wait as long as memory allows, and if
 * they are mostly distinct, until they fill a hash table: 8M and 40M distinct keys then take 0.7 of
 * the time of packing as soon as 4,096 keys, and as many as are packed, are pending.
 */
enum status table_partition_pack_due(struct table *table, struct table_partition *partition,
                                     struct table_packer *packer, struct failure *failure)
{
    const uint64_t row_bytes = table_row_bytes(table);
    const uint64_t packed = partition->packed.used * row_bytes;
    const uint64_t came =
        partition->pending.used * table_input_words(table->layout) * sizeof(uint64_t) +
        partition->added.used * row_bytes;

    if (came < TABLE_DUE_BYTES || came < packed)
        return STATUS_OK;
    if ((came < TABLE_DUE_TIMES * packed ||
         atomic_load_explicit(&table->has_new_keys, memory_order_relaxed)) &&
        came < TABLE_DUE_BYTES_MAX && came < table->bytes_max / TABLE_DUE_SHARE / TABLE_PARTITIONS)
        return STATUS_OK;
    return table_partition_pack(table, partition, packer, failure);
}

void table_packer_destroy(struct table *table, struct table_packer *packer)
{
    table_slots_destroy(&packer->slots, &table->layout);
    table_block_cache_empty(&table->blocks, &packer->blocks);
}
