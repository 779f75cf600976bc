/*
 * Reductions of a row of accumulators (accumulator.h), and of rows of distinct values (distinct,
 * mode, median and quantiles): what is found, and its text. All functions are thread-safe.
 */
#ifndef GPUHIST_REDUCE_H
#define GPUHIST_REDUCE_H

#include "aggregate/accumulator.h"
#include "value/plan.h"

#include <stddef.h>
#include <stdint.h>

/* Returns true if a reduction of `count` values exists: of none, count, sum and distinct do. Pure.
 */
bool reduce_has(uint64_t count, enum reduction_id id);

/* The size of the text of any value and a NUL. */
#define REDUCE_SIZE ELEMENT_TEXT_SIZE

/*
 * What a reduction that takes a table of distinct values found: of distinct their number; of others
 * keys (element.h), undefined if there are no elements: the mode, of an address (element_address)
 * its low word and its high one, of a text its rank (groups.h); or the quantile's value, with
 * --interpolate also the value after it; of iqr those of both quartiles.
 */
struct reduce_found {
    uint64_t keys[4];
};

/* What is known of a group, or without groups of all values. */
struct reduce_values {
    const struct accumulators *accumulators;
    const uint64_t *row;                       /* of these */
    struct reduce_found found[REDUCTIONS_MAX]; /* by number of the reduction */
    const uint64_t *group;                     /* a row of the group (groups.h); NULL: none */
};

struct rows;

/*
 * Finds the reductions of a plan that take a table of distinct values: `rows` are these values in
 * ascending order, each of width 1, and their counts, which add up to `elements`. Stores what it
 * finds in found[i] for reduction i, for all reductions of the plan.
 */
void reduce_find(const struct plan *plan, struct rows rows, uint64_t elements,
                 struct reduce_found *found);

/* Adds rows, as reduce_find has them, to a row of accumulators. */
void reduce_add_rows(const struct accumulators *accumulators, uint64_t *row, struct rows rows);

/* What orders values of a reduction as their strings do: by the whole part, then by the real one.
 */
struct reduce_order {
    __int128 whole;
    long double
        real; /* all of a value that is no integer of its unit; with 17 digits, as printed */
};

/* Like reduce_find, but stores the order of the value of reduction `i`, which the row has. */
void reduce_find_order(struct reduce_order *order, const struct accumulators *accumulators,
                       const uint64_t *row, const struct reduce_found *found, unsigned i);

/*
 * Writes the value of reduction `i` of the plan, which a row of accumulators has (reduce_has);
 * `found` as of reduce_find: an integer in full, others with 17 significant digits (ratio.h),
 * without a NUL. Returns the length.
 */
size_t reduce_write(char out[REDUCE_SIZE], const struct accumulators *accumulators,
                    const uint64_t *row, const struct reduce_found *found, unsigned i);

#endif
