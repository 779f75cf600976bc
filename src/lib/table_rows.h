/*
 * Rows of a table, as words: their keys, merging, and the hash tables in which threads add them up.
 *
 * Functions with a layout as an argument are always inlined: if it is the constant `table_counts`
 * or `table_sums`, the compiler specialises them for rows of two words.
 */
#ifndef GPUHIST_TABLE_ROWS_H
#define GPUHIST_TABLE_ROWS_H

#include "lib/keyed_hash.h"
#include "lib/table.h"

#include <string.h>

#define TABLE_INLINE static inline __attribute__((always_inline))

/* The layouts of plain counts, and of sums, which may be 0. */
static const struct table_layout table_counts = {.key_words = 1, .words = 2};
static const struct table_layout table_sums = {.key_words = 1,
                                               .words = 2,
                                               .has_zeros = true,
                                               .is_weighted = true};

/* Returns the number of words of a key with its value and weight, if the layout has them. */
TABLE_INLINE size_t table_input_words(const struct table_layout layout)
{
    return layout.key_words + (layout.accumulate != NULL) + layout.is_weighted;
}

TABLE_INLINE bool table_keys_are_equal(const struct table_layout layout, const uint64_t *a,
                                       const uint64_t *b)
{
    for (size_t w = 0; w < layout.key_words; w++) {
        if (a[w] != b[w])
            return false;
    }
    return true;
}

/* Returns whether key a is less than key b. */
TABLE_INLINE bool table_key_is_less(const struct table_layout layout, const uint64_t *a,
                                    const uint64_t *b)
{
    size_t w = 0;

    while (w + 1 < layout.key_words && a[w] == b[w])
        w++;
    return a[w] < b[w];
}

TABLE_INLINE uint64_t table_hash(const struct table_layout layout, const struct keyed_hash *hash,
                                 const uint64_t *key)
{
    uint64_t mixed = keyed_hash_of(hash, key[0]);

    for (size_t w = 1; w < layout.key_words; w++)
        mixed = keyed_hash_of(hash, mixed ^ key[w]);
    return mixed;
}

static inline size_t table_hash_partition(uint64_t hash)
{
    return hash >> (64 - TABLE_PARTITION_BITS);
}

/* Copies a row, also onto itself. */
TABLE_INLINE void table_row_copy(const struct table_layout layout, uint64_t *to,
                                 const uint64_t *from)
{
    memmove(to, from, layout.words * sizeof *to);
}

/* Adds a row to a row with the same key. Returns false on overflow. */
TABLE_INLINE bool table_row_merge(const struct table_layout layout, uint64_t *into,
                                  const uint64_t *from)
{
    bool overflows = false;

    if (layout.merge)
        return layout.merge(layout.context, into, from);
    for (size_t w = layout.key_words; w < layout.words; w++)
        overflows |= __builtin_add_overflow(into[w], from[w], &into[w]);
    return !overflows;
}

/* Returns the first word after the key. */
TABLE_INLINE uint64_t table_row_count(const struct table_layout layout, const uint64_t *row)
{
    return row[layout.key_words];
}

/*
 * A hash table of rows with linear probing (Knuth, "The Art of Computer Programming", vol. 3, 6.4).
 * A search begins at the upper bits of the hash, so rows lie nearly in the order of their hashes,
 * and the rows of each partition are consecutive. Zero-initialised, it has no slots.
 */
struct table_slots {
    uint64_t *rows;         /* [1 << bits], owned. A row is free if its first word after the key is
                               0; in a layout with zeros, if its bit after the rows is not set */
    unsigned bits;          /* log2 of the number of slots, above 0 */
    unsigned capacity_bits; /* log2 of the number of slots with memory */
    unsigned skipped;       /* number of upper bits of the hash that all rows share */
    uint64_t used;          /* number of rows in use */
};

/* Returns the row at which the search for a hash begins. */
TABLE_INLINE uint64_t *table_slots_begin(const struct table_layout layout,
                                         const struct table_slots *slots, uint64_t hash)
{
    return slots->rows + (hash << slots->skipped >> (64 - slots->bits)) * layout.words;
}

/* Returns whether the bit of a row is set. */
TABLE_INLINE bool table_slots_is_marked(const struct table_layout layout,
                                        const struct table_slots *slots, const uint64_t *row)
{
    const size_t slot = (size_t)(row - slots->rows) / layout.words;

    return layout.has_zeros &&
           (slots->rows[(layout.words << slots->bits) + slot / 64] >> slot % 64 & 1) != 0;
}

/* Sets the bit of a row. */
TABLE_INLINE void table_slots_mark(const struct table_layout layout,
                                   const struct table_slots *slots, const uint64_t *row)
{
    const size_t slot = (size_t)(row - slots->rows) / layout.words;

    slots->rows[(layout.words << slots->bits) + slot / 64] |= (uint64_t)1 << slot % 64;
}

/* Returns whether a row is free. */
TABLE_INLINE bool table_slots_is_free(const struct table_layout layout,
                                      const struct table_slots *slots, const uint64_t *row)
{
    return table_row_count(layout, row) == 0 && !table_slots_is_marked(layout, slots, row);
}

/* Returns the row of a key, or a free row for it, which must exist. */
TABLE_INLINE uint64_t *table_slots_find(const struct table_layout layout,
                                        const struct table_slots *slots, uint64_t hash,
                                        const uint64_t *key)
{
    const size_t mask = ((size_t)1 << slots->bits) - 1;
    size_t slot = hash << slots->skipped >> (64 - slots->bits);

    for (;; slot = (slot + 1) & mask) {
        uint64_t *row = slots->rows + slot * layout.words;
        if (table_slots_is_free(layout, slots, row) || table_keys_are_equal(layout, row, key))
            return row;
    }
}

/*
 * Adds a weight to the count of the row of a key; a new row increments *used. Sets *overflows if
 * the count overflows.
 */
TABLE_INLINE uint64_t *table_slots_add(const struct table_layout layout,
                                       const struct table_slots *slots, uint64_t hash,
                                       const uint64_t *key, uint64_t weight, uint64_t *used,
                                       bool *overflows)
{
    uint64_t *row = table_slots_find(layout, slots, hash, key);
    uint64_t *count = row + layout.key_words;

    if (layout.words == 2 && !layout.has_zeros) { /* without a branch */
        row[0] = key[0];
        *used += *count == 0;
    } else if (table_slots_is_free(layout, slots, row)) {
        memcpy(row, key, layout.key_words * sizeof *row);
        for (size_t w = layout.key_words + 1; w < layout.words; w++)
            row[w] = layout.initial ? layout.initial[w] : 0;
        ++*used;
    }
    *overflows |= __builtin_add_overflow(*count, weight, count);
    if (layout.has_zeros && *count == 0)
        table_slots_mark(layout, slots, row);
    return row;
}

/* Returns the size in bytes of 1 << bits slots. */
static inline size_t table_slots_bytes(const struct table_layout *layout, unsigned bits)
{
    const size_t slots = (size_t)1 << bits;
    return slots * layout->words * sizeof(uint64_t) + (layout->has_zeros ? slots / 8 : 0);
}

/*
 * Empties the slots, and changes their number so that `rows` rows use at most three quarters of
 * them. Fails with STATUS_DATA if there is no memory.
 */
enum status table_slots_clear(struct table_slots *slots, const struct table_layout *layout,
                              uint64_t rows, struct failure *failure);

/* Frees the rows. */
void table_slots_destroy(struct table_slots *slots, const struct table_layout *layout);

#endif
