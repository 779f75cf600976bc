/* Sorts rows in memory. All functions are thread-safe on distinct rows. */
#ifndef GPUHIST_TABLE_ORDER_H
#define GPUHIST_TABLE_ORDER_H

#include "table/table.h"

/*
 * Sorts entries[0..n) by key, with `spare` of the same size as scratch: a radix sort from the
 * lowest byte up (Knuth, "The Art of Computer Programming", vol. 3, 5.2.5). Bytes that are equal in
 * all keys take no pass. Few entries are sorted by insertion. Entries of equal keys keep their
 * order.
 */
void table_order_entries(struct table_entry *entries, size_t n, struct table_entry *spare);

/*
 * Sorts rows[0..n) by key, with n * table_order_spare_words words as scratch: their numbers are
 * sorted by each word of the key, the last one first, and then the rows are copied.
 */
void table_order_rows(const struct table_layout *layout, uint64_t *rows, size_t n, uint64_t *spare);

/* Pure. */
static inline size_t table_order_spare_words(const struct table_layout *layout)
{
    return layout->key_words == 1 && layout->words == 2 ? 2 : layout->words + 2;
}

#endif
