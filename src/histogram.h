/*
 * The partial of operation histogram: a 64-bit counter a bin, and two for the values outside.
 *
 * The result of a run is one such table, shared by every worker of every engine. Workers count in
 * memory of their own and add to it now and then; adding locks the *regions* of the table that it
 * touches, so that workers seldom meet. A region is as many bins as stay in a core's L2 while
 * staged values are counted straight into it (cpu_histogram_partitioned.c).
 *
 * The histogram_add_ functions are thread-safe; the others are not.
 */
#ifndef GPUHIST_HISTOGRAM_H
#define GPUHIST_HISTOGRAM_H

#include "job.h"
#include "status.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Bins in a region. 2^14 counters are 128 KiB. Measured with 5M uniform bins on two cores with
 * 1 MiB of L2 each: 2^13 263, 2^14 370, 2^15 347, 2^16 250 million values a second and core.
 */
#define HISTOGRAM_REGION_LOG2 14
#define HISTOGRAM_REGION_BINS ((size_t)1 << HISTOGRAM_REGION_LOG2)

struct histogram {
    uint64_t *counts; /* [entries]: bins 0 .. N - 1, then below, then above */
    size_t entries;   /* N + 2 */
    struct histogram_locks *locks;
};

/*
 * Makes an empty table for the binning of `job`. Fails with STATUS_DATA, before any memory is used,
 * if the machine has not enough for it. The caller destroys it.
 */
enum status histogram_create(const struct job *job, struct histogram **histogram,
                             struct failure *failure);

/* NULL is allowed. */
void histogram_destroy(struct histogram *histogram);

/* Adds counts[0..n) to the counters from `first` on. */
void histogram_add_counts32(struct histogram *histogram, size_t first, const uint32_t *counts,
                            size_t n);
void histogram_add_counts64(struct histogram *histogram, size_t first, const uint64_t *counts,
                            size_t n);

/* Counts n values of one region, each given as its bin less the region's first. */
void histogram_add_residuals(struct histogram *histogram, size_t region, const uint16_t *residuals,
                             size_t n);

/*
 * To be called once when all workers are done: checks that the counters add up to `elements`, the
 * number read (if not, something is broken: STATUS_DATA), and moves or drops the values outside
 * where the job says so (OUTSIDE_CLAMP, OUTSIDE_IGNORE).
 */
enum status histogram_finish(struct histogram *histogram, const struct job *job, uint64_t elements,
                             struct failure *failure);

/* How many values were below the first bin, and above the last. */
static inline uint64_t histogram_below(const struct histogram *histogram)
{
    return histogram->counts[histogram->entries - 2];
}

static inline uint64_t histogram_above(const struct histogram *histogram)
{
    return histogram->counts[histogram->entries - 1];
}

#endif
