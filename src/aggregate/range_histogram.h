/*
 * The bins of --range auto: those of a histogram from the minimum to the maximum of the data, fewer
 * if there are fewer integers; and automatic bins of timestamps, of a round width. They are made
 * from the rows of single values (rows.h), once all are counted. Not thread-safe.
 */
#ifndef GPUHIST_RANGE_HISTOGRAM_H
#define GPUHIST_RANGE_HISTOGRAM_H

#include "aggregate/histogram.h"

struct rows;

struct range_histogram {
    struct plan plan; /* a histogram with these bins; the plan of the values owns its members */
    struct histogram *histogram; /* the counts; owned; NULL: there are no values */
};

/*
 * Makes the plan of a histogram of `bins` bins, or with has_round_range at most `bins`, over the
 * values `low` to `last` of `plan`. Fails with STATUS_USAGE if that number is impossible. The
 * caller destroys its binning.
 */
enum status range_histogram_make_plan(struct plan *made, const struct plan *plan, uint64_t bins,
                                      __int128 low, __int128 last, struct failure *failure);

/*
 * Stores the minimum and maximum of the values of unread rows. Returns false, and stores nothing,
 * if there are no rows.
 */
bool range_histogram_find_ends(struct rows values, __int128 *low, __int128 *last);

/*
 * Creates `bins` bins from unread rows. Fails with STATUS_DATA if there is no memory. The caller
 * destroys them, also after a failure. The plan must outlive them.
 */
enum status range_histogram_create(struct range_histogram *range, const struct plan *plan,
                                   uint64_t bins, const struct rows *values,
                                   struct failure *failure);

/* Frees the counts and the bins. A zero-initialised struct is allowed. */
void range_histogram_destroy(struct range_histogram *range);

/*
 * Starts at the first row (rows.h) of the bins. Without values, `rows` becomes `values`, which is
 * empty. `range` and `values` must outlive `rows`.
 */
void range_histogram_rows_begin(struct rows *rows, const struct range_histogram *range,
                                const struct rows *values, bool zeros);

#endif
