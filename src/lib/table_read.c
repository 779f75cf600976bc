/* Finalizes a table: packs all partitions and puts the rows in order; and reads its rows. */
#include "config.h"

#include "lib/memory.h"
#include "lib/parallel.h"
#include "lib/resources.h"
#include "lib/table_internal.h"

#include <errno.h>

/* Approximate size of a block of the cache. */
#define TABLE_CACHE_BLOCK_BYTES ((size_t)16 << 10)

/* Minimum number of rows per thread that extracts them: starting a thread takes 0.1 ms. */
#define TABLE_EXTRACT_ROWS ((uint64_t)32 << 10)

/* The state of several threads that pack all partitions. */
struct table_packing {
    struct table *table;
    _Atomic size_t taken;    /* number of partitions taken so far */
    _Atomic bool has_failed; /* there is no memory */
};

static void table_pack_some(void *context, size_t part)
{
    struct table_packing *packing = context;
    struct table *table = packing->table;
    struct table_packer packer = {.blocks = {.free = NULL}};
    struct failure no_memory;
    size_t i;

    (void)part;
    while ((i = atomic_fetch_add(&packing->taken, 1)) < TABLE_PARTITIONS) {
        struct table_partition *partition = &table->partitions[i];
        if (partition->pending.used + partition->added.used > 0 &&
            table_partition_pack(table, partition, &packer, &no_memory) != STATUS_OK) {
            atomic_store(&packing->has_failed, true);
            break;
        }
    }
    table_packer_destroy(table, &packer);
}

/* Returns the number of rows of a block of the cache. */
static size_t table_cache_rows(const struct table *table)
{
    return TABLE_CACHE_BLOCK_BYTES / table_row_bytes(table) + 1;
}

static size_t table_cache_bytes(const struct table *table)
{
    return sizeof *table->cache +
           TABLE_CACHE_BLOCKS * table_cache_rows(table) * table_row_bytes(table);
}

void table_unsort(struct table *table)
{
    memory_unmap(table->sorted, (table->distinct + 1) * table_row_bytes(table));
    table->sorted = NULL;
    if (table->cache)
        pthread_mutex_destroy(&table->cache->lock);
    memory_unmap(table->cache, table_cache_bytes(table));
    table->cache = NULL;
}

unsigned table_threads(const struct table *table)
{
    const unsigned writers = atomic_load(&table->writers_max);
    const unsigned processors = resources_at_start()->processors;

    return writers == 0 || writers > processors ? processors : writers;
}

enum status table_finalize(struct table *table, enum table_order order, struct failure *failure)
{
    const unsigned threads = table_threads(table);
    struct table_packing packing = {.table = table};

    table_unsort(table);
    parallel_run(threads, threads, table_pack_some, &packing);
    table->distinct = 0;
    table->total = table->spill.total;
    for (size_t i = 0; i < TABLE_PARTITIONS; i++) {
        table->distinct += table->partitions[i].packed.used;
        table->total += table->partitions[i].total;
    }
    if (atomic_load(&packing.has_failed))
        return status_fail(failure, STATUS_DATA, TABLE_NO_MEMORY);
    if (atomic_load(&table->has_overflowed))
        return status_fail(failure, STATUS_DATA, "a count does not fit in 64 bits");
    if (table->spill.count > 0 || (order == TABLE_ASCENDING && table_is_too_large(table))) {
        table->cache = memory_map(table_cache_bytes(table));
        if (!table->cache)
            return status_fail(failure, STATUS_DATA,
                               "not enough memory for reading counts from a file");
        pthread_mutex_init(&table->cache->lock, NULL);
        if (table_spill_all(table, failure) != STATUS_OK)
            return failure->status;
        table->distinct = table->spill.runs[0].rows;
        return STATUS_OK;
    }
    if (order == TABLE_ASCENDING && !table_sort(table, NULL))
        return status_fail(failure, STATUS_DATA,
                           "not enough memory to sort %llu values (try a smaller -S)",
                           (unsigned long long)table->distinct);
    return STATUS_OK;
}

bool table_order_ranked(struct table *table, const struct table_ranks *ranks)
{
    if (table->spill.count > 0 || table_is_too_large(table) ||
        table->layout.key_words > TABLE_RANKED_WORDS_MAX)
        return false;
    if (table_sort(table, ranks))
        return true;
    table_unsort(table);
    return false;
}

/* The state of several threads that extract some keys. */
struct table_extraction {
    struct table *table;
    uint64_t first;
    uint64_t last;
    void (*take)(void *context, const struct table_entry *entries, size_t n);
    void *context;
};

static void table_extract_part(void *context, size_t part)
{
    const struct table_extraction *extraction = context;
    struct table_partition *partition = &extraction->table->partitions[part];
    const uint64_t first = extraction->first;
    const uint64_t last = extraction->last;
    struct table_entry taken[TABLE_BLOCK_KEYS / 2];

    for (struct table_block *block = partition->packed.blocks; block; block = block->next) {
        struct table_entry *entries = (struct table_entry *)block->words;
        size_t leave = 0;
        for (size_t i = 0; i < block->used; i++) {
            const struct table_entry entry = entries[i];
            const bool leaves = entry.key - first <= last - first;
            taken[leave] = entry;
            entries[i - leave] = entry;
            leave += leaves;
            partition->total -= leaves ? entry.count : 0;
        }
        block->used -= leave;
        partition->packed.used -= leave;
        extraction->take(extraction->context, taken, leave);
    }
}

void table_extract(struct table *table, uint64_t first, uint64_t last,
                   void (*take)(void *context, const struct table_entry *entries, size_t n),
                   void *context)
{
    struct table_extraction extraction = {table, first, last, take, context};
    const unsigned threads =
        parallel_threads(table_threads(table), table->distinct, TABLE_EXTRACT_ROWS);

    parallel_run(threads, TABLE_PARTITIONS, table_extract_part, &extraction);
}

bool table_is_in_memory(const struct table *table)
{
    return table->spill.count == 0;
}

uint64_t table_distinct(const struct table *table)
{
    return table->distinct;
}

uint64_t table_total(const struct table *table)
{
    return table->total;
}

struct table_position table_begin_part(const struct table *table, size_t part, size_t parts)
{
    const bool is_ordered = table->sorted || table->cache; /* else positions are partitions */
    const unsigned __int128 all = is_ordered ? table->distinct : TABLE_PARTITIONS;

    return (struct table_position){
        .next = {(uint64_t)(all * part / parts), 0, 0, (uint64_t)(all * (part + 1) / parts)}};
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
 * Reads rows in partitions. The position has the number of the next partition, a block of the
 * partition before, a row of the block, and the number of the partition at which it ends.
 */
static size_t table_read_blocks(const struct table *table, struct table_position *position,
                                uint64_t *rows, size_t capacity)
{
    const struct table_block *block = (const struct table_block *)(uintptr_t)position->next[1];
    const size_t words = table->layout.words;
    size_t n = 0;

    while (n < capacity) {
        while (!block || position->next[2] == block->used) {
            position->next[2] = 0;
            if (block)
                block = block->next;
            while (!block && position->next[0] < position->next[3])
                block = table->partitions[position->next[0]++].packed.blocks;
            if (!block)
                break;
        }
        position->next[1] = (uintptr_t)block;
        if (!block)
            break;
        const size_t first = (size_t)position->next[2];
        const size_t left = (size_t)block->used - first;
        const size_t some = left < capacity - n ? left : capacity - n;
        memcpy(rows + n * words, block->words + first * words, some * words * sizeof *rows);
        position->next[2] += some;
        n += some;
    }
    return n;
}

/*
 * Reads up to `capacity` rows of the block of the run that has row `index`. Returns their number; 0
 * after a failure.
 */
static size_t table_read_run(const struct table *table, uint64_t index, uint64_t *rows,
                             size_t capacity)
{
    const size_t block_rows = table_cache_rows(table);
    const uint64_t block = index / block_rows;
    const uint64_t first = block * block_rows;
    const uint64_t left = table->distinct - first;
    const size_t read = left < block_rows ? (size_t)left : block_rows;
    const size_t words = table->layout.words;
    const size_t slot = block % TABLE_CACHE_BLOCKS;
    struct table_cache *cache = table->cache;
    uint64_t *cached = cache->rows + slot * block_rows * words;
    size_t n = read - (size_t)(index - first);

    n = n < capacity ? n : capacity;
    pthread_mutex_lock(&cache->lock);
    if (cache->blocks[slot] != block + 1 && cache->read_errno == 0) {
        cache->blocks[slot] = block + 1;
        if (!table_run_read(&table->spill.runs[0], &table->layout, first, cached, read))
            cache->read_errno = errno;
    }
    n = cache->read_errno == 0 ? n : 0;
    memcpy(rows, cached + (index - first) * words, n * words * sizeof *rows);
    pthread_mutex_unlock(&cache->lock);
    return n;
}

size_t table_read(const struct table *table, struct table_position *position, void *rows,
                  size_t capacity)
{
    const uint64_t index = position->next[0];

    if (!table->sorted && !table->cache)
        return table_read_blocks(table, position, rows, capacity);
    const uint64_t left = position->next[3] - index;
    size_t n = left < capacity ? (size_t)left : capacity;
    if (n == 0)
        return 0;
    if (table->cache)
        n = table_read_run(table, index, rows, n);
    else
        memcpy(rows, table->sorted + index * table->layout.words, n * table_row_bytes(table));
    position->next[0] += n;
    return n;
}

const uint64_t *table_row(const struct table *table, uint64_t index, uint64_t *row)
{
    struct table_position position = table_seek(table, index);

    if (table->sorted)
        return table->sorted + index * table->layout.words;
    if (table_read(table, &position, row, 1) == 0)
        memset(row, 0, table_row_bytes(table));
    return row;
}

enum status table_check(const struct table *table, struct failure *failure)
{
    errno = table->cache ? table->cache->read_errno : 0;
    return errno == 0 ? STATUS_OK : table_run_fail(&table->spill.runs[0], "read", failure);
}
