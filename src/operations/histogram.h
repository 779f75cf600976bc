/*
 * The partial of operation histogram: a counter a bin, and two for the values outside.
 *
 * The result of a run is one such table, shared by every worker of every engine. Workers count in
 * memory of their own and add to it now and then; adding locks the *regions* of the table that it
 * touches, so that workers seldom meet. A region is as many bins as stay in a core's L2 while
 * staged values are counted straight into it (cpu_counter_partitioned.c).
 *
 * The histogram_add_ functions are thread-safe; the others are not.
 */
#ifndef GPUHIST_HISTOGRAM_H
#define GPUHIST_HISTOGRAM_H

#include "base/status.h"
#include "job/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bins in a region. 2^14 staged counters are 64 KiB. Measured with 5M uniform bins on two cores
 * with 1 MiB of L2 each: 2^13 263, 2^14 370, 2^15 347, 2^16 250 million values a second and core.
 */
#define HISTOGRAM_REGION_LOG2 14
#define HISTOGRAM_REGION_BINS ((size_t)1 << HISTOGRAM_REGION_LOG2)

/*
 * A counter is the sum of a 64-bit part and a 32-bit one (histogram_count). What is counted goes to
 * the 32-bit part, which is half as much memory to fetch for each (5M bins: 1.25 times the speed);
 * a region's is moved to the 64-bit part before it can wrap, and counts that it has no room for are
 * added to the 64-bit part. A part that is not used takes no memory.
 */
struct histogram {
    uint64_t *counts; /* [entries]: bins 0 .. N - 1, then below, then above */
    uint32_t *staged; /* [entries] */
    size_t entries;   /* N + 2 */
    struct histogram_region *regions;
    uint32_t staged_limit; /* increments a region's 32-bit part can take; less in tests alone */
    uint64_t inside;       /* values in bins, as histogram_finish has found them */
    uint64_t ignored;      /* values outside that it has dropped */
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

/*
 * Counts n values of one region, each given as its bin less the region's first; no more than
 * staged_limit at a time. The second does nothing and returns false if another thread is just
 * adding to that region.
 */
void histogram_add_residuals(struct histogram *histogram, size_t region, const uint16_t *residuals,
                             size_t n);
bool histogram_try_add_residuals(struct histogram *histogram, size_t region,
                                 const uint16_t *residuals, size_t n);

/*
 * Adds the 32-bit counters of a whole region (as many as it has), whose sum is `increments`, no
 * more than staged_limit.
 */
void histogram_add_region(struct histogram *histogram, size_t region, const uint32_t *counts,
                          uint32_t increments);

/* Counts n residuals in counts[HISTOGRAM_REGION_BINS], which must have room for n increments. */
void histogram_count_residuals(uint32_t *counts, const uint16_t *residuals, size_t n);

/*
 * To be called when all that was read is in the table: checks that the counters add up to
 * `elements`, the number read (if not, something is broken: STATUS_DATA), and moves or drops the
 * values outside where the job says so (OUTSIDE_CLAMP, OUTSIDE_IGNORE). More may be added
 * afterwards; then it is to be called again.
 */
enum status histogram_finish(struct histogram *histogram, const struct job *job, uint64_t elements,
                             struct failure *failure);

/* How many values were counted in an entry: a bin, entries - 2 for below, entries - 1 for above. */
static inline uint64_t histogram_count(const struct histogram *histogram, size_t entry)
{
    return histogram->counts[entry] + histogram->staged[entry];
}

/*
 * How many values were counted or ignored, in all: the sum of the counters. Parts of the table that
 * are not in use are not read, and thus take no memory.
 */
uint64_t histogram_elements(const struct histogram *histogram);

/* How many values were counted in the bins, and not outside; likewise. */
uint64_t histogram_sum_bins(const struct histogram *histogram);

/* Adds the counters of entries first .. first + n to sums[0..n); likewise. */
void histogram_accumulate(const struct histogram *histogram, size_t first, size_t n,
                          uint64_t *sums);

/* The first entry behind the region that an entry is in. */
static inline size_t histogram_region_end(size_t entry)
{
    return (entry | (HISTOGRAM_REGION_BINS - 1)) + 1;
}

/* Whether the region that an entry is in is in use; else all there is empty. */
bool histogram_is_used(const struct histogram *histogram, size_t entry);

/* The first entry from `first` on that is not empty, or `end`. */
size_t histogram_skip_empty(const struct histogram *histogram, size_t first, size_t end);

/* The entry behind the last one of first .. end that is not empty, or `first`. */
size_t histogram_trim_empty(const struct histogram *histogram, size_t first, size_t end);

/* Counts so many values in an entry. */
void histogram_put(struct histogram *histogram, size_t entry, uint64_t count);

/* Takes out all that was counted in an entry. */
uint64_t histogram_take(struct histogram *histogram, size_t entry);

static inline uint64_t histogram_below(const struct histogram *histogram)
{
    return histogram_count(histogram, histogram->entries - 2);
}

static inline uint64_t histogram_above(const struct histogram *histogram)
{
    return histogram_count(histogram, histogram->entries - 1);
}

#endif
