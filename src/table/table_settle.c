/* Settling: packs all partitions, puts the entries in order, and reads them. */
#include "config.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/processors.h"
#include "table/table_internal.h"

#include <stdlib.h>
#include <string.h>

/* Packs the partitions that are left, on one thread. */
struct table_settling {
    struct table *table;
    _Atomic size_t taken; /* partitions */
    pthread_mutex_t lock; /* guards what follows */
    struct failure *failure;
    enum status status;
};

static void table_settle_some(void *context, size_t part)
{
    struct table_settling *settling = context;
    struct table *table = settling->table;
    struct table_counter counter = {.blocks = {.free = NULL}};
    struct failure failure;
    enum status status = STATUS_OK;
    size_t i;

    (void)part;
    while (status == STATUS_OK && (i = atomic_fetch_add(&settling->taken, 1)) < TABLE_PARTITIONS) {
        struct table_partition *partition = &table->partitions[i];
        if (partition->pending.used + partition->added.used > 0)
            status = table_partition_pack(table, partition, &counter, &failure);
    }
    table_counter_destroy(table, &counter);
    if (status == STATUS_OK)
        return;
    pthread_mutex_lock(&settling->lock);
    settling->status = status;
    *settling->failure = failure;
    pthread_mutex_unlock(&settling->lock);
}

static unsigned table_threads(const struct table *table)
{
    unsigned most = atomic_load(&table->writers_most);
    unsigned processors = processors_available();
    return most == 0 || most > processors ? processors : most;
}

/* Packs all partitions. */
static enum status table_settle_partitions(struct table *table, unsigned threads,
                                           struct failure *failure)
{
    struct table_settling settling = {.table = table, .failure = failure, .status = STATUS_OK};

    pthread_mutex_init(&settling.lock, NULL);
    parallel_run(threads, threads, table_settle_some, &settling);
    pthread_mutex_destroy(&settling.lock);
    table->distinct = 0;
    table->total = table->spill.total;
    for (size_t i = 0; i < TABLE_PARTITIONS; i++) {
        table->distinct += table_partition_distinct(&table->partitions[i]);
        table->total += table->partitions[i].total;
    }
    return settling.status;
}

/* Moves all counts to one run. */
static enum status table_settle_run(struct table *table, struct failure *failure)
{
    table->cache = calloc(1, sizeof *table->cache);
    if (!table->cache)
        return status_fail(failure, STATUS_DATA, "no memory for reading counts from a file");
    pthread_mutex_init(&table->cache->lock, NULL);
    if (table_spill_all(table, failure) != STATUS_OK)
        return failure->status;
    table->distinct = table->spill.runs[0].entries;
    return STATUS_OK;
}

enum status table_settle(struct table *table, enum table_order order, struct failure *failure)
{
    const unsigned threads = table_threads(table);

    table_unsort(table);
    enum status status = table_settle_partitions(table, threads, failure);
    if (status == STATUS_OK && atomic_load(&table->has_overflowed))
        status = status_fail(failure, STATUS_DATA, "a count does not fit in 64 bits");
    if (status != STATUS_OK)
        return status;
    if (table->spill.count > 0 || (order == TABLE_ASCENDING && table_is_too_large(table)))
        return table_settle_run(table, failure);
    return order == TABLE_ASCENDING ? table_sort(table, threads, failure) : STATUS_OK;
}

void table_unsort(struct table *table)
{
    if (table->sorted)
        memory_unmap(table->sorted, (table->distinct + 1) * sizeof *table->sorted);
    table->sorted = NULL;
    if (table->cache)
        pthread_mutex_destroy(&table->cache->lock);
    free(table->cache);
    table->cache = NULL;
}

/* Removes entries from partitions, on several threads. */
struct table_extraction {
    struct table *table;
    uint64_t first;
    uint64_t last;
    void (*take)(void *context, const struct table_entry *entries, size_t n);
    void *context;
};

/* Keeps the entries of a block that stay, and returns how many leave. */
static size_t table_extract_entries(const struct table_extraction *extraction,
                                    struct table_block *block, uint64_t *total)
{
    struct table_entry taken[TABLE_BLOCK_ENTRIES];
    const uint64_t span = extraction->last - extraction->first;
    size_t leave = 0;

    for (size_t i = 0; i < block->used; i++) {
        const struct table_entry entry = block->entries[i];
        const bool leaves = entry.key - extraction->first <= span;
        taken[leave] = entry;
        block->entries[i - leave] = entry;
        leave += leaves;
        *total += leaves ? entry.count : 0;
    }
    block->used -= leave;
    if (leave > 0)
        extraction->take(extraction->context, taken, leave);
    return leave;
}

/* Likewise of a block of keys that have come once. */
static size_t table_extract_keys(const struct table_extraction *extraction,
                                 struct table_block *block)
{
    struct table_entry taken[TABLE_BLOCK_KEYS];
    const uint64_t span = extraction->last - extraction->first;
    size_t leave = 0;

    for (size_t i = 0; i < block->used; i++) {
        const uint64_t key = block->keys[i];
        taken[leave] = (struct table_entry){.key = key, .count = 1};
        block->keys[i - leave] = key;
        leave += key - extraction->first <= span;
    }
    block->used -= leave;
    if (leave > 0)
        extraction->take(extraction->context, taken, leave);
    return leave;
}

static void table_extract_partition(void *context, size_t part)
{
    const struct table_extraction *extraction = context;
    struct table_partition *partition = &extraction->table->partitions[part];
    uint64_t total = 0;

    for (struct table_block *block = partition->packed.blocks; block; block = block->next)
        partition->packed.used -= table_extract_entries(extraction, block, &total);
    for (struct table_block *block = partition->singles.blocks; block; block = block->next) {
        const size_t leave = table_extract_keys(extraction, block);
        partition->singles.used -= leave;
        total += leave;
    }
    partition->total -= total;
}

void table_extract(struct table *table, uint64_t first, uint64_t last,
                   void (*take)(void *context, const struct table_entry *entries, size_t n),
                   void *context)
{
    struct table_extraction extraction = {table, first, last, take, context};

    if (table->distinct > 0)
        parallel_run(table_threads(table), TABLE_PARTITIONS, table_extract_partition, &extraction);
}

bool table_is_in_memory(const struct table *table)
{
    return table->spill.count == 0;
}

uint64_t table_bytes_most(const struct table *table)
{
    return table->bytes_most;
}

uint64_t table_distinct(const struct table *table)
{
    return table->distinct;
}

uint64_t table_total(const struct table *table)
{
    return table->total;
}

/* Whether the entries have numbers, in ascending order; else they lie in partitions. */
static bool table_is_listed(const struct table *table)
{
    return table->sorted || table->cache;
}

struct table_position table_begin_part(const struct table *table, size_t part, size_t parts)
{
    const unsigned __int128 places = table_is_listed(table) ? table->distinct : TABLE_LISTS;

    return (struct table_position){
        .next = {(uint64_t)(places * part / parts), 0, 0, (uint64_t)(places * (part + 1) / parts)}};
}

struct table_position table_begin(const struct table *table)
{
    return table_begin_part(table, 0, 1);
}

struct table_position table_seek(const struct table *table, uint64_t index)
{
    return (struct table_position){.next = {index, 0, 0, table->distinct}};
}

/*
 * Entries in partitions: the position is the number of the next list (table_list_at), a block of
 * the list before, an entry of the block, and the number of the list at which it ends.
 */
static const struct table_block *table_find_block(const struct table *table,
                                                  struct table_position *position)
{
    const struct table_block *block = (const struct table_block *)(uintptr_t)position->next[1];

    while (!block || position->next[2] == block->used) {
        position->next[2] = 0;
        if (block)
            block = block->next;
        while (!block && position->next[0] < position->next[3])
            block = table_list_at(table, position->next[0]++)->blocks;
        if (!block)
            break;
    }
    position->next[1] = (uintptr_t)block;
    return block;
}

static size_t table_read_blocks(const struct table *table, struct table_position *position,
                                struct table_entry *entries, size_t room)
{
    const struct table_block *block;
    size_t n = 0;

    while (n < room && (block = table_find_block(table, position))) {
        const size_t first = (size_t)position->next[2];
        const size_t left = (size_t)block->used - first;
        const size_t some = left < room - n ? left : room - n;
        const bool are_singles = position->next[0] % 2 == 0;
        if (are_singles)
            table_entries_of(block->keys + first, some, entries + n);
        else
            memcpy(entries + n, block->entries + first, some * sizeof *entries);
        position->next[2] += some;
        n += some;
    }
    return n;
}

/* Reads up to `room` entries of a block of the run. Returns how many; 0 after a failure. */
static size_t table_read_block(const struct table *table, size_t block, size_t first,
                               struct table_entry *entries, size_t room)
{
    struct table_cache *cache = table->cache;
    const size_t slot = block % TABLE_CACHE_BLOCKS;
    size_t n = 0;

    pthread_mutex_lock(&cache->lock);
    if (cache->numbers[slot] != block + 1 && !cache->has_failed) {
        struct failure failure;
        cache->numbers[slot] = block + 1;
        if (table_run_read(&table->spill.runs[0], block, cache->entries[slot], &n, &failure) !=
            STATUS_OK) {
            cache->failure = failure;
            cache->has_failed = true;
        }
    }
    n = cache->has_failed ? 0 : TABLE_RUN_ENTRIES - first;
    n = n < room ? n : room;
    memcpy(entries, cache->entries[slot] + first, n * sizeof *entries);
    pthread_mutex_unlock(&cache->lock);
    return n;
}

size_t table_read(const struct table *table, struct table_position *position,
                  struct table_entry *entries, size_t room)
{
    if (!table_is_listed(table))
        return table_read_blocks(table, position, entries, room);
    const uint64_t index = position->next[0];
    const uint64_t left = position->next[3] - index;
    size_t n = left < room ? (size_t)left : room;
    if (n == 0)
        return 0;
    if (table->cache)
        n = table_read_block(table, (size_t)(index / TABLE_RUN_ENTRIES), index % TABLE_RUN_ENTRIES,
                             entries, n);
    else
        memcpy(entries, table->sorted + index, n * sizeof *entries);
    position->next[0] += n;
    return n;
}

enum status table_check(const struct table *table, struct failure *failure)
{
    if (!table->cache || !table->cache->has_failed)
        return STATUS_OK;
    *failure = table->cache->failure;
    return failure->status;
}
