/* The stores: store_<name>, defined in store_<name>.c, and the filter. */
#ifndef GPUHIST_STORES_H
#define GPUHIST_STORES_H

#include "aggregate/store.h"

extern const struct store store_array;   /* histogram: a counter for each bin (histogram.h) */
extern const struct store store_window;  /* histogram: automatic bins (growing_histogram.h) */
extern const struct store store_table;   /* uniq: values and their counts (uniq.h) */
extern const struct store store_scalar;  /* reduce and count: a row of accumulators (scalar.h) */
extern const struct store store_groups;  /* --by, and strings: a table of groups (groups.h) */
extern const struct store store_columns; /* several value columns: a store for each (columns.h) */

extern const struct store filter_stalin_sort; /* writes its result while it runs */

struct uniq;

/*
 * Writes the rows of a finalized struct uniq in the form of states of uniq and reduce. Fails with
 * STATUS_DATA if a row cannot be read.
 */
enum status store_table_save_rows(struct state_writer *state, const struct uniq *uniq,
                                  struct failure *failure);

#endif
