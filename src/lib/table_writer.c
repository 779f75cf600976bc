/*
 * Implements table.h: writers add keys and rows to partitions.
 *
 * A writer fills blocks of its own, one per partition, and moves full blocks to their partitions.
 * Before that, it adds up frequent keys in the hot table or the local table.
 *
 * Gathering keys in cache lines first, and copying these past the caches (C. Balkesen et al.,
 * "Main-Memory Hash Joins on Multi-Core CPUs", ICDE 2013), took 0.85 of the time on Sapphire
 * Rapids, but 1.1 to 1.3 on Zen 4.
 */
#include "config.h"

#include "lib/table.h"

#include "lib/memory.h"
#include "lib/table_internal.h"

/*
 * Initial and maximum size of a writer's local table; at first it has at least slots for
 * TABLE_ACCUMULATE_MAX rows. It grows once, if the local tables of all writers stay below
 * 1 / TABLE_LOCAL_SHARE of the table's limit. A smaller initial size costs more than it
 * saves. Seconds for 153,000 pairs of a million rows:
 *
 *   MiB      2      4      8     16
 *   s    0.083  0.079  0.073  0.076
 */
#define TABLE_LOCAL_BYTES     ((size_t)2 << 20)
#define TABLE_LOCAL_BYTES_MAX ((size_t)8 << 20)
#define TABLE_LOCAL_SHARE     16
#define TABLE_LOCAL_BITS_MIN  9
#define TABLE_LOCAL_BITS_MORE 2

/*
 * A full local table grows if it had at least 5/4 look-ups per row. If it cannot grow, it is
 * emptied and filled again if it had at least 2; otherwise the next TABLE_LOCAL_PAUSE keys per row
 * bypass it.
 */
#define TABLE_LOCAL_GROWS(look_ups, rows) (4 * (look_ups) >= 5 * (rows))
#define TABLE_LOCAL_PAYS(look_ups, rows)  ((look_ups) >= 2 * (rows))
#define TABLE_LOCAL_PAUSE                 16

/* Maximum number of full blocks that a writer keeps while others have locked their partitions. */
#define TABLE_FILLED_MAX 64

_Static_assert(3 * ((size_t)1 << TABLE_LOCAL_BITS_MIN) / 4 >= TABLE_ACCUMULATE_MAX,
               "slots for a call");

static void table_filling_init(struct table_filling *filling, const struct table *table,
                               size_t words)
{
    const size_t block_bytes = table->blocks.block_bytes;
    const size_t used = table_block_words(block_bytes) / words * words;

    filling->words = words;
    filling->end = (sizeof(struct table_block) + used * sizeof(uint64_t)) % block_bytes;
    for (size_t i = 0; i < TABLE_PARTITIONS; i++)
        filling->next[i] = (uint64_t *)filling->end;
}

enum status table_writer_open(struct table *table, struct table_writer **writer,
                              struct failure *failure)
{
    struct table_writer *created = memory_map(sizeof *created);
    if (!created)
        return status_fail(failure, STATUS_DATA,
                           "not enough memory for a thread's part of a table");

    created->table = table;
    table_filling_init(&created->rows, table, table->layout.words);
    table_filling_init(&created->input, table, table_input_words(table->layout));
    created->hot.seed = (table->hash.seeds[2] ^ table->hash.seeds[0]) | 1;
    const unsigned open = atomic_fetch_add(&table->writers, 1) + 1;
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
    table_slots_destroy(&writer->local, &writer->table->layout);
    table_packer_destroy(writer->table, &writer->packer);
    atomic_fetch_sub(&writer->table->writers, 1);
    memory_unmap(writer, sizeof *writer);
}

/* Ends the block of a partition, if there is one: adds it to the filled blocks. */
static void table_filling_end_block(struct table_filling *filling, size_t block_bytes, size_t index)
{
    const uintptr_t next = (uintptr_t)filling->next[index];

    if (next == filling->end)
        return;
    struct table_block *block = (struct table_block *)((next - 1) & -block_bytes);
    block->used = (size_t)(filling->next[index] - block->words) / filling->words;
    block->next = filling->filled;
    filling->filled = block;
    filling->next[index] = (uint64_t *)filling->end;
}

/*
 * Moves full blocks to their partitions, which are packed if that is due. Blocks whose partitions
 * other writers have locked stay, if they are few; otherwise all writers would soon wait for one
 * that packs. At the end, no block stays, and table_finalize packs all.
 */
static enum status table_writer_push(struct table_writer *writer, struct table_filling *filling,
                                     bool is_end, struct failure *failure)
{
    struct table *table = writer->table;
    struct table_block *block = filling->filled;
    enum status status = STATUS_OK;
    size_t kept = 0;

    if (!is_end && table_spill_some(table, &writer->packer, failure) != STATUS_OK)
        return failure->status;
    filling->filled = NULL;
    for (struct table_block *next; block && status == STATUS_OK; block = next) {
        const uint64_t hash = table_hash(table->layout, &table->hash, block->words);
        struct table_partition *partition = &table->partitions[table_hash_partition(hash)];
        struct table_list *list =
            filling == &writer->input ? &partition->pending : &partition->added;
        next = block->next;
        if (is_end || kept == TABLE_FILLED_MAX) {
            pthread_mutex_lock(&partition->lock);
        } else if (pthread_mutex_trylock(&partition->lock) != 0) {
            block->next = filling->filled;
            filling->filled = block;
            kept++;
            continue;
        }
        block->next = list->blocks;
        list->blocks = block;
        list->used += block->used;
        if (!is_end)
            status = table_partition_pack_due(table, partition, &writer->packer, failure);
        pthread_mutex_unlock(&partition->lock);
    }
    return status;
}

/*
 * Begins a block of a partition, after moving full blocks. Returns the place of its first key or
 * row, or NULL on a failure.
 */
static __attribute__((noinline)) uint64_t *table_writer_begin_block(struct table_writer *writer,
                                                                    struct table_filling *filling,
                                                                    size_t index,
                                                                    struct failure *failure)
{
    struct table *table = writer->table;

    table_filling_end_block(filling, table->blocks.block_bytes, index);
    if (filling->filled && table_writer_push(writer, filling, false, failure) != STATUS_OK)
        return NULL;
    struct table_block *block = table_block_take(&table->blocks, &writer->packer.blocks);
    if (block)
        return filling->next[index] = block->words;
    status_fail(failure, STATUS_DATA, TABLE_NO_MEMORY);
    return NULL;
}

/*
 * Returns the place of the next key or row of a partition, which has `words` words, or NULL on a
 * failure. `end` is filling->end.
 */
TABLE_INLINE uint64_t *table_writer_next(struct table_writer *writer, struct table_filling *filling,
                                         size_t index, size_t words, uintptr_t end,
                                         struct failure *failure)
{
    uint64_t *next = filling->next[index];

    if ((uintptr_t)next % TABLE_BLOCK_BYTES == end) { /* the block is full, or there is none */
        next = table_writer_begin_block(writer, filling, index, failure);
        if (!next)
            return NULL;
    }
    filling->next[index] = next + words;
    return next;
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
        const size_t left = table_hot_count(&writer->hot, &cold, some, writer->cold);
        for (size_t k = 0; k < left; k++) {
            const uint64_t key = cold[k];
            const size_t index = table_hash_partition(keyed_hash_of(&table->hash, key));
            uint64_t *next = table_writer_next(writer, &writer->input, index, 1, 0, failure);
            if (!next)
                return failure->status;
            *next = key;
        }
        if (table_hot_is_stale(&writer->hot) &&
            table_writer_empty_hot(writer, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

/* Moves all blocks of a list to another list. */
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
 * Adds rows to their partitions, locking one at a time; in a layout without zeros, skips rows whose
 * count is 0. Rows of a set are added as packed rows only to rows of the same set; others are to be
 * packed again.
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
        if (table_row_count(layout, row) == 0 && !layout.has_zeros)
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
                status = status_fail(failure, STATUS_DATA, TABLE_NO_MEMORY);
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

enum status table_writer_add_distinct(struct table_writer *writer, uint64_t set, const void *rows,
                                      size_t n, struct failure *failure)
{
    if (table_spill_some(writer->table, &writer->packer, failure) != STATUS_OK)
        return failure->status;
    return writer->table->has_counts
               ? table_writer_scatter(table_counts, writer, set, rows, n, failure)
           : writer->table->has_sums
               ? table_writer_scatter(table_sums, writer, set, rows, n, failure)
               : table_writer_scatter(writer->table->layout, writer, set, rows, n, failure);
}

enum status table_writer_add_rows(struct table_writer *writer, const void *rows, size_t n,
                                  struct failure *failure)
{
    return table_writer_add_distinct(writer, 0, rows, n, failure);
}

/*
 * Empties the local table: moves its rows to blocks of the writer, or if `shares`, to blocks that
 * all writers share.
 */
static enum status table_writer_empty_local(struct table_writer *writer, bool shares,
                                            struct failure *failure)
{
    const struct table_layout layout = writer->table->layout;
    struct table_filling *own = &writer->rows;
    struct table_slots *local = &writer->local;
    const size_t slots = local->used > 0 ? (size_t)1 << local->bits : 0;
    size_t n = 0;

    for (size_t i = 0; i < slots; i++) {
        const uint64_t *row = local->rows + i * layout.words;
        if (table_slots_is_free(layout, local, row))
            continue;
        uint64_t *copy = local->rows + n++ * layout.words; /* consecutive rows */
        if (!shares) {
            const size_t index =
                table_hash_partition(table_hash(layout, &writer->table->hash, row));
            copy = table_writer_next(writer, own, index, layout.words, own->end, failure);
            if (!copy)
                return failure->status;
        }
        table_row_copy(layout, copy, row);
    }
    if (shares && table_writer_add_rows(writer, local->rows, n, failure) != STATUS_OK)
        return failure->status;
    writer->has_rows |= !shares && n > 0;
    if (slots > 0)
        memset(local->rows, 0, table_slots_bytes(&layout, local->bits));
    local->used = 0;
    writer->local_look_ups = 0;
    return STATUS_OK;
}

/* Enlarges or empties the local table, which is full. */
static enum status table_writer_make_slots(struct table_writer *writer, struct failure *failure)
{
    const struct table *table = writer->table;
    const struct table_layout layout = table->layout;
    const size_t row_bytes = table_row_bytes(table);
    struct table_slots *local = &writer->local;
    const struct table_slots old = *local;
    unsigned bits = old.rows ? old.bits + TABLE_LOCAL_BITS_MORE : TABLE_LOCAL_BITS_MIN;

    while (!old.rows && row_bytes << (bits + 1) <= TABLE_LOCAL_BYTES)
        bits++;
    const size_t bytes = row_bytes << bits;
    if (!old.rows ||
        (bytes <= TABLE_LOCAL_BYTES_MAX &&
         bytes * atomic_load(&table->writers_max) <= table->bytes_max / TABLE_LOCAL_SHARE &&
         TABLE_LOCAL_GROWS(writer->local_look_ups, old.used))) {
        *local = (struct table_slots){.rows = NULL};
        if (table_slots_clear(local, &layout, ((uint64_t)3 << bits) / 4, failure) != STATUS_OK) {
            *local = old;
            return failure->status;
        }
        for (size_t i = 0; i < (old.rows ? (size_t)1 << old.bits : 0); i++) {
            const uint64_t *row = old.rows + i * layout.words;
            const uint64_t hash = table_hash(layout, &table->hash, row);
            if (table_slots_is_free(layout, &old, row))
                continue;
            uint64_t *copy = table_slots_find(layout, local, hash, row);
            table_row_copy(layout, copy, row);
            if (layout.has_zeros && table_row_count(layout, row) == 0)
                table_slots_mark(layout, local, copy);
        }
        local->used = old.used;
        table_slots_destroy(&(struct table_slots){old.rows, .capacity_bits = old.capacity_bits},
                            &layout);
        return STATUS_OK;
    }
    /* A writer has blocks of its own only if blocks are small. */
    const bool shares = table->blocks.block_bytes > TABLE_BLOCK_BYTES;
    const bool pays = TABLE_LOCAL_PAYS(writer->local_look_ups, local->used);
    writer->direct = pays || shares ? 0 : TABLE_LOCAL_PAUSE * local->used;
    return table_writer_empty_local(writer, shares, failure);
}

TABLE_INLINE enum status table_writer_accumulate_layout(
    const struct table_layout layout, struct table_writer *writer, const uint64_t *keys,
    const uint64_t *values, const uint64_t *weights, size_t n, struct failure *failure)
{
    const struct keyed_hash hash = writer->table->hash;
    const struct table_slots local = writer->local; /* no store to rows can change it */
    const size_t input_words = table_input_words(layout);
    uint64_t hashes[TABLE_ACCUMULATE_MAX];
    uint64_t *rows[TABLE_ACCUMULATE_MAX];
    uint64_t used = local.used;
    bool overflows = false;

    for (size_t i = 0; i < n; i++)
        hashes[i] = table_hash(layout, &hash, keys + i * layout.key_words);
    if (writer->direct > 0) {
        writer->direct -= n < writer->direct ? n : writer->direct;
        for (size_t i = 0; i < n; i++) {
            const size_t index = table_hash_partition(hashes[i]);
            uint64_t *to = table_writer_next(writer, &writer->input, index, input_words,
                                             writer->input.end, failure);
            if (!to)
                return failure->status;
            for (size_t w = 0; w < layout.key_words; w++)
                to[w] = keys[i * layout.key_words + w];
            if (layout.accumulate)
                to[layout.key_words] = values[i];
            if (layout.is_weighted)
                to[input_words - 1] = weights[i];
        }
        return STATUS_OK;
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t *row = table_slots_begin(layout, &local, hashes[i]);
        __builtin_prefetch(row);
        __builtin_prefetch(row + layout.words - 1);
    }
    for (size_t i = 0; i < n; i++)
        rows[i] = table_slots_add(layout, &local, hashes[i], keys + i * layout.key_words,
                                  layout.is_weighted ? weights[i] : 1, &used, &overflows);
    if (layout.accumulate)
        layout.accumulate(layout.context, rows, values, n);
    writer->local.used = used;
    writer->local_look_ups += n;
    if (overflows)
        atomic_store(&writer->table->has_overflowed, true);
    return STATUS_OK;
}

enum status table_writer_accumulate(struct table_writer *writer, const uint64_t *keys,
                                    const uint64_t *values, const uint64_t *weights, size_t n,
                                    struct failure *failure)
{
    const struct table_layout *layout = &writer->table->layout;
    struct table_slots *local = &writer->local;

    if ((!local->rows || 4 * (local->used + n) > (uint64_t)3 << local->bits) &&
        table_writer_make_slots(writer, failure) != STATUS_OK)
        return failure->status;
    /* the compiler specialises all but the last for keys of one word */
    struct table_layout single = *layout;
    single.key_words = 1;
    return writer->table->has_sums ? table_writer_accumulate_layout(table_sums, writer, keys,
                                                                    values, weights, n, failure)
           : layout->key_words == 1
               ? table_writer_accumulate_layout(single, writer, keys, values, weights, n, failure)
               : table_writer_accumulate_layout(*layout, writer, keys, values, weights, n, failure);
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

enum status table_writer_flush(struct table_writer *writer, struct failure *failure)
{
    const size_t block_bytes = writer->table->blocks.block_bytes;

    if (table_writer_empty_local(writer, !writer->has_rows, failure) != STATUS_OK ||
        table_writer_empty_hot(writer, failure) != STATUS_OK)
        return failure->status;
    for (size_t i = 0; i < TABLE_PARTITIONS; i++) {
        table_filling_end_block(&writer->input, block_bytes, i);
        table_filling_end_block(&writer->rows, block_bytes, i);
    }
    writer->has_rows = false;
    if (table_writer_push(writer, &writer->input, true, failure) != STATUS_OK)
        return failure->status;
    return table_writer_push(writer, &writer->rows, true, failure);
}
