/* Sorts entries in memory. All functions are thread-safe on distinct entries. */
#ifndef GPUHIST_TABLE_ORDER_H
#define GPUHIST_TABLE_ORDER_H

#include "table/table.h"

/*
 * Sorts entries[0..n) by key, with `spare` of the same size as scratch: a radix sort from the
 * lowest byte up (Knuth, "The Art of Computer Programming", vol. 3, 5.2.5). Bytes that are equal in
 * all keys take no pass. Few entries are sorted by insertion.
 */
void table_order_entries(struct table_entry *entries, size_t n, struct table_entry *spare);

#endif
