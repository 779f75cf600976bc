/* Implements groups.h: partitions, writers, the order of the groups, the rows of the tables. */
#include "config.h"

#include "count/groups.h"

#include "base/memory.h"
#include "count/reduce_words.h"
#include "partial/operation.h"
#include "table/table_order.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Few enough that the partition of a million groups fills a huge page. */
#define GROUPS_PARTITION_BITS 5
#define GROUPS_PARTITIONS     ((size_t)1 << GROUPS_PARTITION_BITS)

/* The least bits of a table (groups_table.h). */
#define GROUPS_TABLE_BITS_MIN 4

/*
 * Of a writer's table, which has at least room for a block. Nanoseconds for a value, 10^4, 10^5 and
 * 10^6 groups, sums: 512 KiB 20, 52, 78; 2 MiB 8, 46, 89; 4 MiB 8, 29, 90.
 */
#define GROUPS_WRITER_BYTES    ((size_t)2 << 20)
#define GROUPS_WRITER_BITS_MIN 9

/*
 * Rows of a writer between the one that is merged and the one that is fetched for. Nanoseconds for
 * a value, 10^6 groups: 95 with, 145 without.
 */
#define GROUPS_AHEAD 16

_Static_assert(3 * ((size_t)1 << GROUPS_WRITER_BITS_MIN) / 4 >= GROUPS_WRITER_BLOCK,
               "room for a block");

struct groups_partition {
    pthread_mutex_t lock; /* guards the table */
    struct groups_table table;
} __attribute__((aligned(128)));

struct groups {
    const struct job *job;
    struct groups_layout *layout;
    struct keyed_hash hash;
    uint64_t bytes_most;    /* that the partitions may take */
    _Atomic uint64_t bytes; /* that they take */
    struct groups_partition partitions[GROUPS_PARTITIONS];

    /* Set by finish. */
    struct table_entry *sorted; /* [count]: keys in unsigned order, and the addresses of rows */
    size_t count;
    uint64_t elements;
};

void groups_destroy(void *partial)
{
    struct groups *groups = partial;
    if (!groups)
        return;
    for (size_t i = 0; i < GROUPS_PARTITIONS; i++) {
        groups_table_destroy(&groups->partitions[i].table, groups->layout);
        pthread_mutex_destroy(&groups->partitions[i].lock);
    }
    free(groups->sorted);
    free(groups->layout);
    free(groups);
}

void *groups_create(const struct job *job, struct failure *failure)
{
    struct groups *made = aligned_alloc(_Alignof(struct groups), sizeof *made);
    struct groups_layout *layout = groups_layout_create(job);
    if (!made || !layout) {
        free(made);
        free(layout);
        status_fail(failure, STATUS_DATA, "no memory for groups");
        return NULL;
    }

    *made = (struct groups){
        .job = job,
        .layout = layout,
        .hash = keyed_hash_make(),
        .bytes_most = job->buffer_bytes > 0 ? job->buffer_bytes : memory_available() / 2,
    };
    for (size_t i = 0; i < GROUPS_PARTITIONS; i++) {
        pthread_mutex_init(&made->partitions[i].lock, NULL);
        made->partitions[i].table.skipped = GROUPS_PARTITION_BITS;
    }
    return made;
}

static size_t groups_find_partition(const struct groups *groups, const uint64_t *row)
{
    return keyed_hash_of(&groups->hash, row[GROUPS_ROW_KEY]) >> (64 - GROUPS_PARTITION_BITS);
}

/* Makes room for `more` rows in a partition, whose lock the caller holds. */
static enum status groups_reserve(struct groups *groups, struct groups_partition *partition,
                                  size_t more, struct failure *failure)
{
    struct groups_table *table = &partition->table;
    const uint64_t before = table->rows ? groups_table_bytes(groups->layout, table->bits) : 0;
    unsigned bits = before > 0 ? table->bits : GROUPS_TABLE_BITS_MIN;

    while (groups_table_room(bits) < table->used + more)
        bits++;
    if (before > 0 && bits == table->bits)
        return STATUS_OK;
    const uint64_t grown = groups_table_bytes(groups->layout, bits) - before;
    if (atomic_fetch_add(&groups->bytes, grown) + grown > groups->bytes_most)
        return status_fail(failure, STATUS_DATA,
                           "the groups take more than %llu bytes of memory (see --buffer-size)",
                           (unsigned long long)groups->bytes_most);
    if (groups_table_resize(table, groups->layout, &groups->hash, bits))
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "no memory for the groups");
}

/* Merges a row into a partition that has room for it, and whose lock the caller holds. */
static void groups_merge(struct groups *groups, struct groups_partition *partition,
                         const uint64_t *row)
{
    struct groups_table *table = &partition->table;
    const uint64_t key = row[GROUPS_ROW_KEY];
    uint64_t *into =
        groups_table_find(table, groups->layout, keyed_hash_of(&groups->hash, key), key);

    table->used += into[GROUPS_ROW_COUNT] == 0;
    groups_row_merge(groups->layout, into, row);
}

enum status groups_add_row(struct groups *groups, const uint64_t *row, struct failure *failure)
{
    struct groups_partition *partition = &groups->partitions[groups_find_partition(groups, row)];

    pthread_mutex_lock(&partition->lock);
    enum status status = groups_reserve(groups, partition, 1, failure);
    if (status == STATUS_OK)
        groups_merge(groups, partition, row);
    pthread_mutex_unlock(&partition->lock);
    return status;
}

enum status groups_writer_open(struct groups *groups, struct groups_writer *writer,
                               struct failure *failure)
{
    const struct groups_layout *layout = groups->layout;
    unsigned bits = GROUPS_WRITER_BITS_MIN;

    while (groups_table_bytes(layout, bits + 1) <= GROUPS_WRITER_BYTES)
        bits++;
    writer->groups = groups;
    if (groups_table_resize(&writer->table, layout, &groups->hash, bits))
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "no memory for a thread's groups");
}

void groups_writer_close(struct groups_writer *writer)
{
    if (writer->groups)
        groups_table_destroy(&writer->table, writer->groups->layout);
}

enum status groups_writer_add(struct groups_writer *writer, const uint64_t *groups,
                              const uint64_t *keys, size_t n, struct failure *failure)
{
    const struct groups_layout *layout = writer->groups->layout;
    const struct keyed_hash hash = writer->groups->hash;
    struct groups_table *table = &writer->table;
    uint64_t *rows[GROUPS_WRITER_BLOCK];
    uint64_t hashes[GROUPS_WRITER_BLOCK];

    if (table->used + n > groups_table_room(table->bits) &&
        groups_writer_flush(writer, failure) != STATUS_OK)
        return failure->status;
    for (size_t i = 0; i < n; i++) {
        hashes[i] = keyed_hash_of(&hash, groups[i]);
        groups_table_prefetch(table, layout, hashes[i]);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t *row = groups_table_find(table, layout, hashes[i], groups[i]);
        if (row[GROUPS_ROW_COUNT] == 0) {
            groups_row_begin(layout, groups[i], row);
            table->used++;
        }
        row[GROUPS_ROW_COUNT]++;
        rows[i] = row;
    }
    groups_row_add(layout, rows, keys, n);
    return STATUS_OK;
}

/* Has the processor fetch where a row of a writer will be merged, if it is in use. */
static inline __attribute__((always_inline)) void groups_prefetch(
    const struct groups *groups, const struct groups_partition *partition, const uint64_t *row)
{
    if (row[GROUPS_ROW_COUNT] > 0)
        groups_table_prefetch(&partition->table, groups->layout,
                              keyed_hash_of(&groups->hash, row[GROUPS_ROW_KEY]));
}

/*
 * Merges the writer's rows of a partition, from row *i on, and advances *i to the next row that
 * belongs to another one. The partition gets room for `more` rows.
 */
static enum status groups_writer_flush_partition(struct groups_writer *writer, size_t *i,
                                                 size_t more, struct failure *failure)
{
    struct groups *groups = writer->groups;
    const size_t end = (size_t)1 << writer->table.bits;
    uint64_t *row = groups_table_row(&writer->table, groups->layout, *i);
    const size_t number = groups_find_partition(groups, row);
    struct groups_partition *partition = &groups->partitions[number];

    pthread_mutex_lock(&partition->lock);
    enum status status = groups_reserve(groups, partition, more, failure);
    for (; status == STATUS_OK && *i < end; ++*i) {
        if (*i + GROUPS_AHEAD < end)
            groups_prefetch(groups, partition,
                            groups_table_row(&writer->table, groups->layout, *i + GROUPS_AHEAD));
        row = groups_table_row(&writer->table, groups->layout, *i);
        if (row[GROUPS_ROW_COUNT] == 0)
            continue;
        if (groups_find_partition(groups, row) != number)
            break;
        groups_merge(groups, partition, row);
        row[GROUPS_ROW_COUNT] = 0;
    }
    pthread_mutex_unlock(&partition->lock);
    return status;
}

/*
 * Each partition gets room for all its rows at once: rows in the order of their hashes would fill
 * the beginning of a table that grows meanwhile, and so take quadratic time.
 */
enum status groups_writer_flush(struct groups_writer *writer, struct failure *failure)
{
    const struct groups *groups = writer->groups;
    const size_t end = (size_t)1 << writer->table.bits;
    size_t counts[GROUPS_PARTITIONS] = {0};

    for (size_t i = 0; i < end; i++) {
        const uint64_t *row = groups_table_row(&writer->table, groups->layout, i);
        if (row[GROUPS_ROW_COUNT] > 0)
            counts[groups_find_partition(groups, row)]++;
    }
    for (size_t i = 0; i < end;) {
        const uint64_t *row = groups_table_row(&writer->table, groups->layout, i);
        if (row[GROUPS_ROW_COUNT] == 0)
            i++;
        else if (groups_writer_flush_partition(writer, &i,
                                               counts[groups_find_partition(groups, row)],
                                               failure) != STATUS_OK)
            return failure->status;
    }
    writer->table.used = 0;
    return STATUS_OK;
}

/* Lists the rows of a partition, and checks that values can have them. */
static enum status groups_list(struct groups *groups, const struct groups_table *table,
                               struct failure *failure)
{
    const struct job *job = groups->job;
    const uint64_t flip = element_flip(&job->second_element);

    for (size_t i = 0; table->rows && i < (size_t)1 << table->bits; i++) {
        const uint64_t *row = groups_table_row(table, groups->layout, i);
        if (row[GROUPS_ROW_COUNT] == 0)
            continue;
        struct reduce reduce;
        reduce_words_unpack(job, row[GROUPS_ROW_COUNT], row + GROUPS_ROW_FIRST, &reduce);
        if (reduce_check(&reduce, job, failure) != STATUS_OK)
            return failure->status;
        groups->sorted[groups->count++] =
            (struct table_entry){.key = row[GROUPS_ROW_KEY] ^ flip, .count = (uintptr_t)row};
        groups->elements += row[GROUPS_ROW_COUNT];
    }
    return STATUS_OK;
}

/* Puts the rows in ascending order. */
static enum status groups_sort(struct groups *groups, struct failure *failure)
{
    size_t used = 0;

    for (size_t i = 0; i < GROUPS_PARTITIONS; i++)
        used += groups->partitions[i].table.used;
    free(groups->sorted);
    groups->sorted = malloc((2 * used + 1) * sizeof *groups->sorted);
    if (!groups->sorted)
        return status_fail(failure, STATUS_DATA, "no memory to put %zu groups in order", used);
    groups->count = 0;
    groups->elements = 0;
    for (size_t i = 0; i < GROUPS_PARTITIONS; i++) {
        if (groups_list(groups, &groups->partitions[i].table, failure) != STATUS_OK)
            return failure->status;
    }
    table_order_entries(groups->sorted, groups->count, groups->sorted + used);
    return STATUS_OK;
}

enum status groups_finish(void *partial, const struct job *job, uint64_t elements,
                          struct failure *failure)
{
    struct groups *groups = partial;
    (void)job;

    if (groups_sort(groups, failure) != STATUS_OK)
        return failure->status;
    return operation_check_elements(elements, groups->elements, failure);
}

size_t groups_words(const struct groups *groups)
{
    return groups->layout->words;
}

size_t groups_count(const struct groups *groups)
{
    return groups->count;
}

uint64_t groups_elements(const struct groups *groups)
{
    return groups->elements;
}

const uint64_t *groups_row(const struct groups *groups, size_t i)
{
    return (const uint64_t *)(uintptr_t)groups->sorted[i].count;
}
