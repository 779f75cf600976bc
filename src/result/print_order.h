/*
 * Selects and orders the groups of reduce and count for printing: --sort orders by a value, the
 * largest first; --top selects the first ones; --min-count those with at least that many rows.
 *
 * All functions are thread-safe on distinct arguments.
 */
#ifndef GPUHIST_PRINT_ORDER_H
#define GPUHIST_PRINT_ORDER_H

#include "result/print.h"

#include <stddef.h>
#include <stdint.h>

/* A zero-initialised order has no groups. */
struct print_order {
    const void *aggregate; /* the aggregate of the groups; not owned */
    uint64_t *groups;      /* [count], owned: their indices in the aggregate */
    uint64_t count;
};

/*
 * Checks --sort, --top and --min-count for a plan whose values are known, also if it has rows of
 * bins. Fails with STATUS_USAGE.
 */
enum status print_order_check(const struct print_options *options, const struct plan *plan,
                              struct failure *failure);

/*
 * Returns the index of the value column that sorts, and stores the name of its value, a part of
 * options->sort that print_order_check has accepted. Pure.
 */
size_t print_order_column(const struct print_options *options, const struct plan *plan,
                          const char **value);

/*
 * Orders the groups of one column, whose aggregate is finalized: by the value options->sort; or in
 * the order of options->leader, followed by the groups that it lacks; else ascending. Groups of
 * equal values are ascending, those without a value last. Fails with STATUS_DATA if there is no
 * memory. The caller destroys the order, also after a failure.
 */
enum status print_order_create(struct print_order *order, const struct print_options *options,
                               const struct plan *plan, const void *aggregate,
                               struct failure *failure);

void print_order_destroy(struct print_order *order);

#endif
