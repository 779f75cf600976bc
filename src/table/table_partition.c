/* Adds up what came to a partition in a hash table, and packs the result into blocks. */
#include "config.h"

#include "table/table_internal.h"

/* The memory for each distinct key, in quarters of a row, before they are packed again. */
#define TABLE_KEY_QUARTERS 7

/* Keys and rows of fewer bytes do not pay for clearing and reading a hash table. */
#define TABLE_DUE_BYTES ((uint64_t)32 << 10)

/* Where keys are new: as many as have a hash table that fits the L2 cache, */
#define TABLE_DUE_BYTES_IF_NEW ((uint64_t)128 << 10)

/* but all partitions at most this part of the memory that the table may take. */
#define TABLE_DUE_SHARE 8

/* Slots that are packed at a time. */
#define TABLE_PACK_GROUP ((size_t)256)

/*
 * Each packing looks up all distinct keys. So what came since waits as long as memory allows, and
 * where keys are new until they fill a hash table: 8M and 40M different keys then take 0.7 of the
 * time that they take if as many pending keys as are distinct, and 4,096, are enough.
 */
bool table_partition_is_due(const struct table *table, const struct table_partition *partition)
{
    const uint64_t row_bytes = table_row_bytes(table);
    const uint64_t packed =
        partition->packed.used * row_bytes + partition->singles.used * sizeof(uint64_t);
    const uint64_t came =
        partition->pending.used * sizeof(uint64_t) + partition->added.used * row_bytes;

    if (came < TABLE_DUE_BYTES ||
        packed + came < TABLE_KEY_QUARTERS * row_bytes / 4 * table_partition_distinct(partition))
        return false;
    return !atomic_load_explicit(&table->has_new_keys, memory_order_relaxed) ||
           came >= TABLE_DUE_BYTES_IF_NEW ||
           came >= table->bytes_max / TABLE_DUE_SHARE / TABLE_PARTITIONS;
}

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

/* Adds up what came since in the slots, and its counts to the total. */
TABLE_INLINE enum status table_partition_add_up(const struct table_layout layout,
                                                struct table *table,
                                                struct table_partition *partition,
                                                struct table_packer *packer,
                                                struct failure *failure)
{
    const struct keyed_hash hash = table->hash;
    const uint64_t came = partition->pending.used + partition->added.used;
    struct table_block *block = NULL;
    uint64_t used = 0;
    bool overflows = false;

    if (table_slots_clear(&packer->slots, &table->layout, came, failure) != STATUS_OK)
        return failure->status;
    packer->slots.skipped = TABLE_PARTITION_BITS;
    const struct table_slots slots = packer->slots; /* no store to rows can change it */
    partition->total += partition->pending.used;
    while ((block = table_list_next(table, packer, &partition->pending, block))) {
        for (size_t i = 0; i < block->used; i++) {
            const uint64_t key = block->words[i];
            uint64_t *row = table_slots_find(layout, &slots, table_hash(layout, &hash, &key), &key);
            used += row[1] == 0;
            row[0] = key;
            overflows |= ++row[1] == 0;
        }
    }
    while ((block = table_list_next(table, packer, &partition->added, block))) {
        for (size_t i = 0; i < block->used; i++) {
            const uint64_t *added = block->words + i * layout.words;
            uint64_t *row =
                table_slots_find(layout, &slots, table_hash(layout, &hash, added), added);
            partition->total += table_row_count(layout, added);
            if (table_row_count(layout, row) == 0) {
                table_row_copy(layout, row, added);
                used++;
            } else {
                overflows |= !table_row_merge(layout, row, added);
            }
        }
    }
    packer->slots.used = used;
    partition->pending.used = 0;
    partition->added.used = 0;
    if (overflows)
        atomic_store(&table->has_overflowed, true);
    atomic_store_explicit(&table->has_new_keys, 5 * used > 3 * came, memory_order_relaxed);
    return STATUS_OK;
}

/*
 * Moves the packed rows and the singles whose keys are in the slots there; the others stay, and
 * blocks that are empty then are returned.
 */
TABLE_INLINE void table_partition_merge(const struct table_layout layout, struct table *table,
                                        struct table_partition *partition,
                                        struct table_packer *packer)
{
    struct table_list *const lists[] = {&partition->packed, &partition->singles};
    const struct keyed_hash hash = table->hash;
    const struct table_slots slots = packer->slots;
    bool overflows = false;

    for (size_t l = 0; l < 2; l++) {
        struct table_block **link = &lists[l]->blocks;
        struct table_block *block;
        lists[l]->used = 0;
        while ((block = *link)) {
            size_t kept = 0;
            for (size_t i = 0; i < block->used && l == 0; i++) {
                uint64_t *packed = block->words + i * layout.words;
                uint64_t *row =
                    table_slots_find(layout, &slots, table_hash(layout, &hash, packed), packed);
                const bool stays = table_row_count(layout, row) == 0;
                if (!stays)
                    overflows |= !table_row_merge(layout, row, packed);
                if (layout.words == 2 || kept != i)
                    table_row_copy(layout, block->words + kept * layout.words, packed);
                kept += stays;
            }
            for (size_t i = 0; i < block->used && l == 1; i++) {
                const uint64_t key = block->words[i];
                uint64_t *row =
                    table_slots_find(layout, &slots, table_hash(layout, &hash, &key), &key);
                const bool stays = row[1] == 0;
                block->words[kept] = key;
                kept += stays;
                if (!stays)
                    overflows |= ++row[1] == 0;
            }
            block->used = kept;
            lists[l]->used += kept;
            if (kept > 0) {
                link = &block->next;
            } else {
                *link = block->next;
                table_block_return(&table->blocks, &packer->blocks, block);
            }
        }
    }
    if (overflows)
        atomic_store(&table->has_overflowed, true);
}

/* The blocks of a list, to be filled from the first that is not full. */
struct table_filling {
    struct table_list *list;
    struct table_block **link; /* to the next block that is not full; there may be none */
    size_t item_words;         /* of keys or rows */
};

/* Appends items to a list. */
static enum status table_filling_add(struct table_filling *filling, struct table *table,
                                     struct table_packer *packer, const void *items, size_t n,
                                     struct failure *failure)
{
    const size_t item_words = filling->item_words;
    const size_t item_bytes = item_words * sizeof(uint64_t);
    const size_t capacity = table_block_words(table->blocks.block_bytes) / item_words;

    filling->list->used += n;
    for (size_t done = 0, some; done < n; done += some) {
        while (*filling->link && (*filling->link)->used == capacity)
            filling->link = &(*filling->link)->next;
        struct table_block *block = *filling->link;
        if (!block) {
            block = table_block_take(&table->blocks, &packer->blocks);
            if (!block)
                return status_fail(failure, STATUS_DATA, "no memory for counts");
            *filling->link = block;
            block->next = NULL;
            block->used = 0;
        }
        some = n - done < capacity - block->used ? n - done : capacity - block->used;
        memcpy(block->words + block->used * item_words, (const char *)items + done * item_bytes,
               some * item_bytes);
        block->used += some;
    }
    return STATUS_OK;
}

/* Packs the counts in the slots: a key that came once is a single. */
static enum status table_partition_write_counts(struct table *table,
                                                struct table_partition *partition,
                                                struct table_packer *packer,
                                                struct failure *failure)
{
    const struct table_entry *slots = (const struct table_entry *)packer->slots.rows;
    struct table_entry entries[TABLE_PACK_GROUP];
    uint64_t keys[TABLE_PACK_GROUP];
    struct table_filling packed = {&partition->packed, &partition->packed.blocks, 2};
    struct table_filling singles = {&partition->singles, &partition->singles.blocks, 1};

    for (size_t first = 0; first < (size_t)1 << packer->slots.bits; first += TABLE_PACK_GROUP) {
        size_t n = 0;
        size_t ones = 0; /* keys */
        for (size_t i = first; i < first + TABLE_PACK_GROUP; i++) {
            entries[n] = slots[i];
            n += slots[i].count > 1;
            keys[ones] = slots[i].key;
            ones += slots[i].count == 1;
        }
        if (table_filling_add(&packed, table, packer, entries, n, failure) != STATUS_OK ||
            table_filling_add(&singles, table, packer, keys, ones, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

/* Packs the rows in the slots. */
static enum status table_partition_write_rows(struct table *table,
                                              struct table_partition *partition,
                                              struct table_packer *packer, struct failure *failure)
{
    const struct table_layout layout = table->layout;
    struct table_filling packed = {&partition->packed, &partition->packed.blocks, layout.words};
    const uint64_t *row = packer->slots.rows;

    for (uint64_t left = packer->slots.used; left > 0; row += layout.words) {
        if (table_row_count(layout, row) == 0)
            continue;
        if (table_filling_add(&packed, table, packer, row, 1, failure) != STATUS_OK)
            return failure->status;
        left--;
    }
    return STATUS_OK;
}

enum status table_partition_pack(struct table *table, struct table_partition *partition,
                                 struct table_packer *packer, struct failure *failure)
{
    enum status status;

    partition->only = 0;
    status = table->has_counts
                 ? table_partition_add_up(table_counts, table, partition, packer, failure)
                 : table_partition_add_up(table->layout, table, partition, packer, failure);
    if (status != STATUS_OK)
        return status;
    if (table->has_counts)
        table_partition_merge(table_counts, table, partition, packer);
    else
        table_partition_merge(table->layout, table, partition, packer);
    return table->has_counts ? table_partition_write_counts(table, partition, packer, failure)
                             : table_partition_write_rows(table, partition, packer, failure);
}

void table_packer_destroy(struct table *table, struct table_packer *packer)
{
    table_slots_destroy(&packer->slots, &table->layout);
    table_block_cache_empty(&table->blocks, &packer->blocks);
}
