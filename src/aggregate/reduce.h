/*
 * Finds and writes the reductions of a row of accumulators (accumulator.h), and of rows of distinct
 * values (distinct, mode, median and percentiles). All functions are thread-safe.
 */
#ifndef GPUHIST_REDUCE_H
#define GPUHIST_REDUCE_H

#include "aggregate/accumulator.h"
#include "value/plan.h"

#include <stddef.h>
#include <stdint.h>

/* Returns whether a reduction of `count` values exists. Without values, only count, sum and
 * distinct do. Pure. */
bool reduce_has(uint64_t count, enum reduction_id id);

/* Size of a buffer for any written reduction and a NUL. */
#define REDUCE_SIZE ELEMENT_TEXT_SIZE

/*
 * The result of a reduction that needs a table of distinct values. distinct: their number. Others:
 * keys (element.h), undefined if there are no elements. mode: the key, for an IP address
 * (element_address) its low and high word, for a string its rank (groups.h). Percentiles: the
 * value, with --interpolate also the next value. iqr: these of both quartiles.
 */
struct reduce_found {
    uint64_t keys[4];
};

/* The results of a group, or without groups of all values. */
struct reduce_values {
    const struct accumulators *accumulators;
    const uint64_t *row;                       /* the row of accumulators; not owned */
    struct reduce_found found[REDUCTIONS_MAX]; /* by the index of the reduction */
    const uint64_t *group; /* a row of the group (groups.h); not owned; NULL: no groups */
};

struct rows;

/*
 * Finds the reductions of a plan that need a table of distinct values, and stores that of reduction
 * i in found[i]. `rows` are the values in ascending order, each of width 1, with their counts,
 * whose sum is `elements`.
 */
void reduce_find(const struct plan *plan, struct rows rows, uint64_t elements,
                 struct reduce_found *found);

/* Adds rows, like those of reduce_find, to a row of accumulators. */
void reduce_add_rows(const struct accumulators *accumulators, uint64_t *row, struct rows rows);

/* A reduction's value for sorting, in the order of its written form: by `whole`, then by `real`. */
struct reduce_order {
    __int128 whole;
    long double real; /* a value that is not a multiple of the unit, with 17 digits, as printed */
};

/* Stores the sort value of reduction `i`, which the row has. */
void reduce_find_order(struct reduce_order *order, const struct accumulators *accumulators,
                       const uint64_t *row, const struct reduce_found *found, unsigned i);

/*
 * Writes the value of reduction `i` of the plan, without a NUL: an integer in full, other values
 * with 17 significant digits (ratio.h). The row of accumulators must have it (reduce_has); `found`
 * is from reduce_find. Returns the length.
 */
size_t reduce_write(char out[REDUCE_SIZE], const struct accumulators *accumulators,
                    const uint64_t *row, const struct reduce_found *found, unsigned i);

#endif
