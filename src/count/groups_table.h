/*
 * A hash table of the rows of groups (groups_row.h), with linear probing (Knuth, "The Art of
 * Computer Programming", vol. 3, 6.4). A row's place begins with the upper bits of its hash
 * (keyed_hash.h), so rows lie nearly in the order of their hashes, and all those of one partition
 * follow each other.
 *
 * Not thread-safe.
 */
#ifndef GPUHIST_GROUPS_TABLE_H
#define GPUHIST_GROUPS_TABLE_H

#include "count/groups_row.h"

/* A table. Zero-initialised but for `skipped`, it is empty and without room. */
struct groups_table {
    uint64_t *rows;   /* [1 << bits] of the layout's words; NULL: none */
    unsigned bits;    /* above 0 */
    unsigned skipped; /* upper bits of the hash that all rows have in common */
    size_t used;      /* rows in use */
};

/* The rows that a table of 1 << bits may use: three quarters of them. Pure. */
static inline size_t groups_table_room(unsigned bits)
{
    return ((size_t)3 << bits) / 4;
}

/* The memory of a table of 1 << bits rows. Pure. */
static inline size_t groups_table_bytes(const struct groups_layout *layout, unsigned bits)
{
    return layout->words * sizeof(uint64_t) << bits;
}

/* Row i. */
static inline uint64_t *groups_table_row(const struct groups_table *table,
                                         const struct groups_layout *layout, size_t i)
{
    return table->rows + i * layout->words;
}

/*
 * Returns the row of the group `key`, whose hash is `hash`, or the row that it gets; the caller
 * then counts it in `used`. There must be a row that is not in use.
 */
static inline uint64_t *groups_table_find(const struct groups_table *table,
                                          const struct groups_layout *layout, uint64_t hash,
                                          uint64_t key)
{
    const size_t last = ((size_t)1 << table->bits) - 1;
    size_t i = hash << table->skipped >> (64 - table->bits);

    for (;; i = (i + 1) & last) {
        uint64_t *row = groups_table_row(table, layout, i);
        if (row[GROUPS_ROW_COUNT] == 0 || row[GROUPS_ROW_KEY] == key)
            return row;
    }
}

/*
 * Has the processor fetch the row where the search for a group of that hash begins. Always inline:
 * GCC 12 drops calls of functions that only prefetch.
 */
static inline __attribute__((always_inline)) void groups_table_prefetch(
    const struct groups_table *table, const struct groups_layout *layout, uint64_t hash)
{
    const uint64_t *row =
        groups_table_row(table, layout, hash << table->skipped >> (64 - table->bits));

    __builtin_prefetch(row);
    __builtin_prefetch(row + layout->words - 1);
}

struct keyed_hash;

/*
 * Moves the rows to a table of 1 << bits rows, more than are in use. Returns false if there is no
 * memory; the table is then as before.
 */
bool groups_table_resize(struct groups_table *table, const struct groups_layout *layout,
                         const struct keyed_hash *hash, unsigned bits);

/* Frees the rows. */
void groups_table_destroy(struct groups_table *table, const struct groups_layout *layout);

#endif
