/*
 * The groups of reduce and count that are printed, and their order: with --sort by a value, the
 * largest first; with --top the first ones; with --min-count those with that many rows or more.
 *
 * All functions are thread-safe on distinct arguments.
 */
#ifndef GPUHIST_PRINT_ORDER_H
#define GPUHIST_PRINT_ORDER_H

#include "result/print.h"

#include <stddef.h>
#include <stdint.h>

/* A zero-initialised one has no groups. */
struct print_order {
    const void *aggregate; /* the groups that are ordered */
    uint64_t *groups;      /* [count], owned: their indices in the aggregate */
    uint64_t count;
};

/*
 * Checks --sort, --top and --min-count of a plan whose values are known. Fails with STATUS_USAGE,
 * also for rows of bins.
 */
enum status print_order_check(const struct print_options *options, const struct plan *plan,
                              struct failure *failure);

/*
 * Returns the index of the column that sorts, of several, and stores the name of its value, a part
 * of options->sort that print_order_check has accepted. Pure.
 */
size_t print_order_column(const struct print_options *options, const struct plan *plan,
                          const char **value);

/*
 * Orders the groups of one column, whose aggregate is finalized: by the value options->sort, or as
 * options->leader has them, and then those that it does not have; else as they are. Groups of equal
 * values are ascending, those without one last. Fails with STATUS_DATA if there is no memory. The
 * caller destroys the order, also after a failure.
 */
enum status print_order_create(struct print_order *order, const struct print_options *options,
                               const struct plan *plan, const void *aggregate,
                               struct failure *failure);

void print_order_destroy(struct print_order *order);

#endif
