/* Counts the keys of a partition in a hash table, and packs the result into blocks. */
#include "config.h"

#include "base/memory.h"
#include "table/table_internal.h"

#include <string.h>

/* The memory that may be used for each distinct key before they are packed again. */
#define TABLE_KEY_BYTES 28

/* The least keys and entries, in bytes, that pay for clearing and reading a hash table. */
#define TABLE_DUE_BYTES ((uint64_t)32 << 10)

/* Where keys are new: as many as have a hash table that fits the L2 cache, */
#define TABLE_DUE_BYTES_IF_NEW ((uint64_t)128 << 10)

/* but all partitions at most this part of the memory that the table may take. */
#define TABLE_DUE_SHARE 8

#define TABLE_SCRATCH_BITS_MIN 9

/* Slots that are packed at a time. */
#define TABLE_SCRATCH_GROUP ((size_t)256)

/*
 * Each packing looks up all distinct keys. So what came since waits as long as memory allows, and
 * where keys are new until they fill a hash table: 8M and 40M different keys then take 0.7 of the
 * time that they take if as many pending keys as are distinct, and 4,096, are enough.
 */
bool table_partition_is_due(const struct table *table, const struct table_partition *partition)
{
    const uint64_t packed = partition->packed.used * sizeof(struct table_entry) +
                            partition->singles.used * sizeof(uint64_t);
    const uint64_t came = partition->pending.used * sizeof(uint64_t) +
                          partition->added.used * sizeof(struct table_entry);

    if (came < TABLE_DUE_BYTES ||
        packed + came < TABLE_KEY_BYTES * table_partition_distinct(partition))
        return false;
    return !atomic_load_explicit(&table->has_new_keys, memory_order_relaxed) ||
           came >= TABLE_DUE_BYTES_IF_NEW ||
           came >= table->bytes_most / TABLE_DUE_SHARE / TABLE_PARTITIONS;
}

static enum status table_scratch_map(struct table_scratch *scratch, unsigned bits,
                                     struct failure *failure)
{
    void *slots = memory_map(sizeof *scratch->slots << bits);
    if (!slots)
        return status_fail(failure, STATUS_DATA, "no memory for a table of 2^%u keys", bits);

    *scratch = (struct table_scratch){.slots = slots, .bits = bits, .room_bits = bits};
    return STATUS_OK;
}

static void table_scratch_unmap(struct table_scratch *scratch)
{
    if (scratch->slots)
        memory_unmap(scratch->slots, sizeof *scratch->slots << scratch->room_bits);
    scratch->slots = NULL;
}

/*
 * Empties the table and makes it large enough for so many keys and those of a block: making it
 * larger maps memory, which may take longer than counting the keys.
 */
static enum status table_scratch_clear(struct table_scratch *scratch, uint64_t keys,
                                       struct failure *failure)
{
    unsigned bits = TABLE_SCRATCH_BITS_MIN;

    while ((uint64_t)3 << bits < 4 * (keys + TABLE_BLOCK_KEYS))
        bits++;
    if (!scratch->slots || scratch->room_bits < bits) {
        table_scratch_unmap(scratch);
        return table_scratch_map(scratch, bits, failure);
    }
    scratch->bits = bits;
    scratch->used = 0;
    memset(scratch->slots, 0, sizeof *scratch->slots << bits);
    return STATUS_OK;
}

/* The first slot of a key: by the bits of its hash behind those of the partition. */
static inline size_t table_scratch_first(const struct table *table, unsigned bits, uint64_t key)
{
    return table_hash(table, key) << TABLE_PARTITION_BITS >> (64 - bits);
}

/* The slot of a key, or the free one where it goes. */
static inline struct table_entry *table_scratch_find(const struct table *table,
                                                     struct table_entry *slots, unsigned bits,
                                                     uint64_t key)
{
    const size_t mask = ((size_t)1 << bits) - 1;
    size_t slot = table_scratch_first(table, bits, key);

    while (slots[slot].count > 0 && slots[slot].key != key)
        slot = (slot + 1) & mask;
    return &slots[slot];
}

/* Makes the table twice as large. */
static enum status table_scratch_grow(const struct table *table, struct table_scratch *scratch,
                                      struct failure *failure)
{
    struct table_scratch grown;

    if (table_scratch_map(&grown, scratch->bits + 1, failure) != STATUS_OK)
        return failure->status;
    for (size_t i = 0; i < (size_t)1 << scratch->bits; i++) {
        const struct table_entry *entry = &scratch->slots[i];
        if (entry->count > 0)
            *table_scratch_find(table, grown.slots, grown.bits, entry->key) = *entry;
    }
    grown.used = scratch->used;
    table_scratch_unmap(scratch);
    *scratch = grown;
    return STATUS_OK;
}

/* Makes room for `more` keys. */
static enum status table_scratch_reserve(const struct table *table, struct table_scratch *scratch,
                                         uint64_t more, struct failure *failure)
{
    while (4 * (scratch->used + more) > (uint64_t)3 << scratch->bits) {
        if (table_scratch_grow(table, scratch, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

/* Adds a count to a slot. */
static inline void table_slot_add(struct table *table, struct table_entry *slot, uint64_t count)
{
    if (__builtin_add_overflow(slot->count, count, &slot->count))
        atomic_store(&table->has_overflowed, true);
}

/* Moves those entries of a block whose keys are in the hash table to it. */
static void table_scratch_merge(struct table *table, const struct table_scratch *scratch,
                                struct table_block *block)
{
    struct table_entry *const slots = scratch->slots;
    const unsigned bits = scratch->bits;
    size_t kept = 0;

    for (size_t i = 0; i < block->used; i++) {
        const struct table_entry entry = block->entries[i];
        struct table_entry *slot = table_scratch_find(table, slots, bits, entry.key);
        block->entries[kept] = entry;
        kept += slot->count == 0;
        if (slot->count > 0)
            table_slot_add(table, slot, entry.count);
    }
    block->used = kept;
}

/* Moves those keys of a block that are in the hash table to it; each counts 1. */
static void table_scratch_merge_keys(struct table *table, const struct table_scratch *scratch,
                                     struct table_block *block)
{
    struct table_entry *const slots = scratch->slots;
    const unsigned bits = scratch->bits;
    size_t kept = 0;

    for (size_t i = 0; i < block->used; i++) {
        const uint64_t key = block->keys[i];
        struct table_entry *slot = table_scratch_find(table, slots, bits, key);
        block->keys[kept] = key;
        kept += slot->count == 0;
        if (slot->count > 0)
            table_slot_add(table, slot, 1);
    }
    block->used = kept;
}

/* Counts the keys of a block. */
static void table_scratch_count(struct table *table, struct table_scratch *scratch,
                                const struct table_block *block)
{
    struct table_entry *const slots = scratch->slots;
    const unsigned bits = scratch->bits;
    bool has_overflowed = false;
    uint64_t used = 0;

    for (size_t i = 0; i < block->used; i++) {
        const uint64_t key = block->keys[i];
        struct table_entry *slot = table_scratch_find(table, slots, bits, key);
        used += slot->count == 0;
        slot->key = key;
        has_overflowed |= ++slot->count == 0;
    }
    scratch->used += used;
    if (has_overflowed)
        atomic_store(&table->has_overflowed, true);
}

/* Adds the entries of a block. Returns the sum of their counts. */
static uint64_t table_scratch_add(struct table *table, struct table_scratch *scratch,
                                  const struct table_block *block)
{
    uint64_t total = 0;

    for (size_t i = 0; i < block->used; i++) {
        const struct table_entry entry = block->entries[i];
        struct table_entry *slot =
            table_scratch_find(table, scratch->slots, scratch->bits, entry.key);
        scratch->used += slot->count == 0;
        slot->key = entry.key;
        table_slot_add(table, slot, entry.count);
        total += entry.count;
    }
    return total;
}

/* The blocks of a list, to be filled from the first that has room. */
struct table_filling {
    struct table_list *list;
    struct table_block **link; /* to the next block with room; there may be none */
    size_t item_bytes;
};

/* Appends items to a list. */
static enum status table_filling_add(struct table_filling *filling, struct table *table,
                                     struct table_counter *counter, const void *items, size_t n,
                                     struct failure *failure)
{
    const size_t item_bytes = filling->item_bytes;
    const size_t most = (TABLE_BLOCK_BYTES - offsetof(struct table_block, keys)) / item_bytes;

    filling->list->used += n;
    for (size_t done = 0, some; done < n; done += some) {
        while (*filling->link && (*filling->link)->used == most)
            filling->link = &(*filling->link)->next;
        struct table_block *block = *filling->link;
        if (!block) {
            block = table_block_take(&table->blocks, &counter->blocks);
            if (!block)
                return status_fail(failure, STATUS_DATA, "no memory for counts");
            *filling->link = block;
            block->next = NULL;
            block->used = 0;
        }
        some = n - done < most - block->used ? n - done : most - block->used;
        memcpy((char *)block->keys + block->used * item_bytes,
               (const char *)items + done * item_bytes, some * item_bytes);
        block->used += some;
    }
    return STATUS_OK;
}

/* Packs the keys of the hash table. */
static enum status table_partition_write(struct table *table, struct table_partition *partition,
                                         struct table_counter *counter, struct failure *failure)
{
    const struct table_scratch *scratch = &counter->scratch;
    struct table_entry entries[TABLE_SCRATCH_GROUP];
    uint64_t keys[TABLE_SCRATCH_GROUP];
    struct table_filling packed = {&partition->packed, &partition->packed.blocks, sizeof *entries};
    struct table_filling singles = {&partition->singles, &partition->singles.blocks, sizeof *keys};

    for (size_t first = 0; first < (size_t)1 << scratch->bits; first += TABLE_SCRATCH_GROUP) {
        size_t n = 0;
        size_t ones = 0; /* keys */
        for (size_t i = first; i < first + TABLE_SCRATCH_GROUP; i++) {
            entries[n] = scratch->slots[i];
            n += scratch->slots[i].count > 1;
            keys[ones] = scratch->slots[i].key;
            ones += scratch->slots[i].count == 1;
        }
        if (table_filling_add(&packed, table, counter, entries, n, failure) != STATUS_OK ||
            table_filling_add(&singles, table, counter, keys, ones, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

struct table_block *table_list_next(struct table *table, struct table_counter *counter,
                                    struct table_list *list, struct table_block *done)
{
    if (done)
        table_block_return(&table->blocks, &counter->blocks, done);
    struct table_block *block = list->blocks;
    if (block)
        list->blocks = block->next;
    return block;
}

/* Counts what came since in the hash table, and adds its sum to the total. */
static enum status table_partition_count(struct table *table, struct table_partition *partition,
                                         struct table_counter *counter, struct failure *failure)
{
    struct table_scratch *scratch = &counter->scratch;
    const uint64_t came = partition->pending.used + partition->added.used;
    uint64_t keys = 2 * table_partition_distinct(partition); /* a guess: the table may grow */
    struct table_block *block = NULL;

    if (keys == 0 || keys > came)
        keys = came;
    if (table_scratch_clear(scratch, keys, failure) != STATUS_OK)
        return failure->status;
    partition->total += partition->pending.used;
    while ((block = table_list_next(table, counter, &partition->pending, block))) {
        if (table_scratch_reserve(table, scratch, block->used, failure) != STATUS_OK)
            return failure->status;
        table_scratch_count(table, scratch, block);
    }
    while ((block = table_list_next(table, counter, &partition->added, block))) {
        if (table_scratch_reserve(table, scratch, block->used, failure) != STATUS_OK)
            return failure->status;
        partition->total += table_scratch_add(table, scratch, block);
    }
    partition->pending.used = 0;
    partition->added.used = 0;
    atomic_store_explicit(&table->has_new_keys, 5 * scratch->used > 3 * came, memory_order_relaxed);
    return STATUS_OK;
}

/* Moves what is in the hash table from a list to it, with a function for each block. */
static inline void table_list_merge(struct table *table, struct table_counter *counter,
                                    struct table_list *list,
                                    void (*merge)(struct table *table,
                                                  const struct table_scratch *scratch,
                                                  struct table_block *block))
{
    struct table_block **link = &list->blocks;
    struct table_block *block;

    list->used = 0;
    while ((block = *link)) {
        merge(table, &counter->scratch, block);
        list->used += block->used;
        if (block->used > 0) {
            link = &block->next;
        } else {
            *link = block->next;
            table_block_return(&table->blocks, &counter->blocks, block);
        }
    }
}

enum status table_partition_pack(struct table *table, struct table_partition *partition,
                                 struct table_counter *counter, struct failure *failure)
{
    if (table_partition_count(table, partition, counter, failure) != STATUS_OK)
        return failure->status;
    table_list_merge(table, counter, &partition->packed, table_scratch_merge);
    table_list_merge(table, counter, &partition->singles, table_scratch_merge_keys);
    partition->only = 0;
    return table_partition_write(table, partition, counter, failure);
}

void table_counter_destroy(struct table *table, struct table_counter *counter)
{
    table_scratch_unmap(&counter->scratch);
    table_block_cache_empty(&table->blocks, &counter->blocks);
}
