/*
 * The bins of --range auto: those of a histogram from the least value to the greatest, fewer if
 * there are fewer integers; and the automatic bins of times, at most that many, of a round width.
 * They are made of rows of single values (rows.h), once all are counted.
 * Not thread-safe.
 */
#ifndef GPUHIST_RANGE_HISTOGRAM_H
#define GPUHIST_RANGE_HISTOGRAM_H

#include "aggregate/histogram.h"

struct rows;

struct range_histogram {
    struct plan plan; /* of a histogram with these bins; shares what the plan of the values owns */
    struct histogram *histogram; /* NULL: there are no values */
};

/*
 * Makes the plan of `bins` bins, or with has_round_range of at most `bins`, of rows that have
 * values `low` to `last`, for the values of `plan`. Fails with STATUS_USAGE if there cannot be that
 * many. The caller destroys its binning.
 */
enum status range_histogram_make_plan(struct plan *made, const struct plan *plan, uint64_t bins,
                                      __int128 low, __int128 last, struct failure *failure);

/*
 * Stores the least value and the greatest of rows, of which none has been read. Returns false, and
 * stores nothing, if there are none.
 */
bool range_histogram_find_ends(struct rows values, __int128 *low, __int128 *last);

/*
 * Creates `bins` bins of rows, of which none has been read. Fails with STATUS_DATA if there is no
 * memory. The caller destroys it, also after a failure. The plan must outlive it.
 */
enum status range_histogram_create(struct range_histogram *range, const struct plan *plan,
                                   uint64_t bins, const struct rows *values,
                                   struct failure *failure);

/* Frees the counts and the bins. A zero-initialised struct is allowed. */
void range_histogram_destroy(struct range_histogram *range);

/*
 * Starts at the first row (rows.h) of the bins; without values, `values`, which has no row, stands
 * for them. Both must outlive `rows`.
 */
void range_histogram_rows_begin(struct rows *rows, const struct range_histogram *range,
                                const struct rows *values, bool zeros);

#endif
