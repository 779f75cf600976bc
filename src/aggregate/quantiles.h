/*
 * Quantiles of a histogram by nearest rank (percentage.h). A quantile is one of the counted values,
 * and known up to its bin.
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

/* The percentages asked for, in that order. */
struct quantiles {
    struct percentage *percents; /* [count], owned */
    size_t count;
};

/* A quantile v is known up to its bin: low <= v < high. */
struct quantiles_value {
    __int128 low;
    __int128 high;
    uint64_t rank; /* 1 is the smallest value */
};

/*
 * Adds a list such as 50,99,99.9, or p50,p99, to *quantiles, zero-initialised at first. Fails with
 * STATUS_USAGE, or with STATUS_DATA if there is no memory. The caller destroys *quantiles, also
 * after a failure.
 */
enum status quantiles_parse(struct quantiles *quantiles, const char *text, struct failure *failure);

/*
 * Prints a note on standard error if the percentages look like fractions of 1, as 0.5,0.99.
 * `prefix`: before a percentage where it was typed: "p" of reductions, "" of --quantiles.
 */
void quantiles_note(const struct quantiles *quantiles, const char *prefix);

/*
 * Finds all quantiles of the values counted, of which there must be some. Ranks count values
 * outside the bins, too; fails with STATUS_DATA if a requested rank falls on one of them. Leaves
 * `rows` unchanged, of which none may have been read, or be left out for its count. Stores
 * values[quantiles->count] in the order of the percentages.
 */
enum status quantiles_find(const struct quantiles *quantiles, const struct rows *rows,
                           struct quantiles_value *values, struct failure *failure);

#endif
