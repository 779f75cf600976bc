/*
 * The aggregate of operation histogram: a counter for each bin, and two for the values outside.
 *
 * All workers of all engines share this table. They count, or collect bin numbers, in private
 * memory, and add these from time to time. Adding locks only the *regions* of the table that it
 * changes, so workers seldom contend. A region has as many bins as stay in a core's L2 while
 * partitioned values are counted directly into it (cpu_counter_partitioned.c).
 *
 * The functions histogram_add_* and histogram_*_region are thread-safe; the others are not.
 * histogram_add_unlocked and histogram_mark_nonempty are thread-safe only if each thread has
 * entries of its own, and no thread calls another function meanwhile.
 */
#ifndef GPUHIST_HISTOGRAM_H
#define GPUHIST_HISTOGRAM_H

#include "lib/status.h"
#include "value/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bins of a region: 2^14 32-bit counters are 64 KiB. Million values per second and core, for 5M
 * uniform bins on two cores with 1 MiB of L2 each: 2^13 263, 2^14 370, 2^15 347, 2^16 250.
 */
#define HISTOGRAM_REGION_LOG2 14
#define HISTOGRAM_REGION_BINS ((size_t)1 << HISTOGRAM_REGION_LOG2)

/*
 * A counter is the sum of a 64-bit part, `counts`, and a 32-bit part, `staged` (histogram_count).
 * Counting increments the 32-bit part, which is half the memory (5M bins: 1.25 times the speed).
 * Before the 32-bit part of a region can wrap, it is moved to the 64-bit part. Counts too large for
 * it are added to the 64-bit part. A part that is not used takes no memory.
 */
struct histogram {
    uint64_t *counts; /* [entries]: bins [0, N), then below, then above */
    uint32_t *staged; /* [entries] */
    size_t entries;   /* number of counters: N + 2 */
    struct histogram_region *regions;
    uint64_t counter_bytes; /* as in struct context */
    uint32_t staged_limit;  /* maximum increments of a region's 32-bit part; smaller in tests */
    uint64_t inside;        /* values in bins; histogram_finalize sets this and the next two */
    uint64_t below;
    uint64_t above;
    uint64_t ignored; /* number of values outside that histogram_finalize has dropped */
};

/*
 * Creates an empty struct histogram for the binning of `plan`. Returns NULL, with STATUS_DATA in
 * *failure, if there is not enough free memory, before it takes any. The caller destroys it.
 */
void *histogram_create(const struct plan *plan, struct failure *failure);

/* Frees a struct histogram. NULL is allowed. */
void histogram_destroy(void *histogram);

/* Add counts[0..n) to entries [first, first + n). */
void histogram_add_counts32(struct histogram *histogram, size_t first, const uint32_t *counts,
                            size_t n);
void histogram_add_counts64(struct histogram *histogram, size_t first, const uint64_t *counts,
                            size_t n);

/* Adds to the number of ignored values. */
void histogram_add_ignored(struct histogram *histogram, uint64_t ignored);

/*
 * Locks a region and returns its 32-bit counters, one for each of its bins. The caller adds at most
 * `increments` to them, which is at most staged_limit, and unlocks the region. If another thread
 * has locked it, waits or returns NULL.
 */
uint32_t *histogram_lock_region(struct histogram *histogram, size_t region, uint32_t increments,
                                bool waits);
void histogram_unlock_region(struct histogram *histogram, size_t region);

/*
 * Finalizes a struct histogram (store.h). Moves the values outside to the first and last bin
 * (OUTSIDE_CLAMP) or drops them (OUTSIDE_IGNORE).
 */
enum status histogram_finalize(void *histogram, const struct plan *plan, uint64_t elements,
                               struct failure *failure);

/* Returns the count of an entry: a bin, entries - 2 (below all bins) or entries - 1 (above them).
 */
static inline uint64_t histogram_count(const struct histogram *histogram, size_t entry)
{
    return histogram->counts[entry] + histogram->staged[entry];
}

/*
 * Returns the number of values counted, including ignored ones. This and the next two functions do
 * not read unused regions, so these take no memory.
 */
uint64_t histogram_elements(const struct histogram *histogram);

/* Returns the number of values counted in bins. */
uint64_t histogram_sum_bins(const struct histogram *histogram);

/* Copies the counters of entries [first, first + n) to counts[0..n). */
void histogram_copy_counts(const struct histogram *histogram, size_t first, size_t n,
                           uint64_t *counts);

/* Returns whether the region of an entry is in use. If not, all its counters are 0. */
bool histogram_is_used(const struct histogram *histogram, size_t entry);

/* Returns the first entry of [first, end) that is not empty, or `end`. */
size_t histogram_skip_empty(const struct histogram *histogram, size_t first, size_t end);

/* Returns the end of [first, end) without its trailing empty entries. */
size_t histogram_trim_empty(const struct histogram *histogram, size_t first, size_t end);

/* Adds `count` to an entry without a lock. */
void histogram_add_unlocked(struct histogram *histogram, size_t entry, uint64_t count);

/*
 * Makes an entry not empty: if its count is 0, its parts become 1 and -1, modulo 2^64.
 * histogram_lock_region must not be used after it.
 */
void histogram_mark_nonempty(struct histogram *histogram, size_t entry);

/*
 * Moves the counts of entries [first, first + n) to entries [to_first, to_first + n) of another
 * histogram. Entries that are not empty, but have a count of 0, stay. Thread-safe if each thread
 * has regions of `from` of its own, and no thread calls another function meanwhile.
 */
void histogram_move_counts(struct histogram *from, size_t first, struct histogram *to,
                           size_t to_first, size_t n);

/* Empties an entry and returns its count. */
uint64_t histogram_take(struct histogram *histogram, size_t entry);

struct rows;

/*
 * Starts at the first row (rows.h) of a finalized struct histogram, whose only group is 0. The plan
 * and the histogram must outlive `rows`.
 */
void histogram_rows_begin(struct rows *rows, const struct plan *plan, const void *histogram,
                          uint64_t group, bool zeros);

#endif
