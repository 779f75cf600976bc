/*
 * Percentiles of a histogram by nearest rank (percentage.h). A percentile is one of the counted
 * values, known up to its bin.
 *
 * Functions are thread-safe on distinct arguments.
 */
#ifndef GPUHIST_QUANTILES_H
#define GPUHIST_QUANTILES_H

#include "aggregate/rows.h"
#include "lib/status.h"
#include "value/percentage.h"

#include <stddef.h>
#include <stdint.h>

/* The requested percentages, in order. */
struct quantiles {
    struct percentage *percents; /* [count], owned */
    size_t count;
};

/* A percentile v is known up to its bin: low <= v < high. */
struct quantiles_value {
    __int128 low;
    __int128 high;
    uint64_t rank; /* the rank of v; 1 is the smallest value */
};

/*
 * Adds a list such as 50,99,99.9, or p50,p99, to *quantiles, zero-initialised at first. Fails with
 * STATUS_USAGE, or with STATUS_DATA if there is no memory. The caller destroys *quantiles, also
 * after a failure.
 */
enum status quantiles_parse(struct quantiles *quantiles, const char *text, struct failure *failure);

/*
 * Prints a note on standard error if the percentages look like fractions of 1, such as 0.5,0.99.
 * `prefix` precedes a typed percentage: "p" in reductions, "" in --quantiles.
 */
void quantiles_note(const struct quantiles *quantiles, const char *prefix);

/*
 * Stores all percentiles of the counted values, at least one, in values[0..quantiles->count), in
 * the order of the percentages. Ranks include values outside the bins; fails with STATUS_DATA if a
 * requested rank is that of one. Does not change `rows`; no row may have been read, and rows must
 * not be left out for their counts.
 */
enum status quantiles_find(const struct quantiles *quantiles, const struct rows *rows,
                           struct quantiles_value *values, struct failure *failure);

#endif
