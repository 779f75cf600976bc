/*
 * The partial of a growing histogram: bins over all values that come. The bins have the job's width
 * or, if that is 0, an *automatic* one: the smallest of 1, 2 or 5 times a power of ten that makes
 * at most 64 bins from the smallest to the largest value. It takes one pass and is exact. The
 * result does not depend on the order of the values.
 *
 * Values are counted in *windows* (growing_window.h): arrays of bins, as fast as those of any
 * histogram. If values lie outside the newest window, a larger one is made, and counting continues
 * there. Counts are not moved; in the end the windows are added up.
 *
 * With a given width, each window has at least twice as many bins as the one before, up to a limit,
 * and only if enough of its bins can be expected to be used. Values farther away are counted in a
 * hash table (bin_map.h). The first window is placed where most of the first values lie, whatever
 * the others are. If whole blocks of values lie elsewhere later, a window is opened there; this
 * happens a few times only.
 *
 * Automatic windows have few bins. The first has bins of width 1. When the known values do not fit
 * in half a window, the width is multiplied by 10 until they do. growing_histogram_rows.c shows why
 * the final width is a multiple of the width of each window.
 *
 * growing_histogram_window, _widen, _spill, _add and _add_count are thread-safe; the other
 * functions are not.
 */
#ifndef GPUHIST_GROWING_HISTOGRAM_H
#define GPUHIST_GROWING_HISTOGRAM_H

#include "operations/bin_map.h"
#include "operations/growing_window.h"

#include <pthread.h>
#include <stdatomic.h>

/* The most values of a block. */
#define GROWING_HISTOGRAM_BLOCK ((size_t)4096)

/* The most bins of an automatic result. */
#define GROWING_HISTOGRAM_AUTOMATIC_BINS 64

/*
 * Bins of the smallest window, and of every automatic one. With the two counters of values outside,
 * eight private copies of 32-bit counters fit in L1 (cpu_counter_private.c).
 */
#define GROWING_HISTOGRAM_BINS_MIN ((uint64_t)1022)

/* Bins of the largest window: 4 bytes each, in the parts that are used. */
#define GROWING_HISTOGRAM_BINS_MAX ((uint64_t)64 << 20)

/*
 * More windows than there can be. Automatic: after three of one width the known values do not fit
 * in half a window, and there are 18 widths. Otherwise: windows double at most 16 times, from the
 * first and from each of those opened elsewhere.
 */
#define GROWING_HISTOGRAM_WINDOWS_MAX 128

/* The result of an automatic width: adjacent bins and their counts. */
struct growing_histogram_result {
    uint64_t width;
    __int128 first;
    size_t bins;
    uint64_t counts[GROWING_HISTOGRAM_AUTOMATIC_BINS];
};

struct growing_histogram {
    const struct job *job;
    struct bin_map *map; /* values outside all windows; key: the number of the bin modulo 2^64 */
    _Atomic(const struct growing_window *) window; /* the newest; NULL: there is none */

    pthread_mutex_t lock; /* guards what follows; windows[0..count) do not change any more */
    struct growing_window windows[GROWING_HISTOGRAM_WINDOWS_MAX];
    size_t count;
    __int128 low; /* the known values, for which windows were made: low..high */
    __int128 high;
    uint64_t width;        /* of the next window */
    uint64_t limit;        /* the most bins of the next window */
    uint64_t block_values; /* values of all blocks for which a window was asked */
    unsigned moves_left;   /* how often a window may still be opened elsewhere */

    /* Set by finish. */
    uint64_t elements;
    __int128 first; /* the number of the first bin that is not empty */
    __int128 last;  /* the same of the last bin; less than `first` if all are empty */
    struct bin_map_entry *entries; /* [entry_count], the map in ascending order */
    size_t entry_count;
    struct growing_histogram_result result; /* if the width is automatic */
};

/*
 * Makes an empty one. Fails with STATUS_DATA if there is no memory. The job must outlive it; the
 * caller destroys it.
 */
enum status growing_histogram_create(const struct job *job, struct growing_histogram **histogram,
                                     struct failure *failure);

/* Frees a growing histogram. NULL is allowed. */
void growing_histogram_destroy(struct growing_histogram *histogram);

/* The newest window, NULL if there is none. It lives until the histogram is destroyed. */
static inline const struct growing_window *growing_histogram_window(
    struct growing_histogram *histogram)
{
    return atomic_load_explicit(&histogram->window, memory_order_acquire);
}

/*
 * Asks for a window for keys[0..n), n > 0, which lie outside `seen`, the newest window that the
 * caller knows. They are those of a block of `block` values, at most GROWING_HISTOGRAM_BLOCK.
 * Stores the newest window: another one, which the caller tries next, or `seen` if the keys are not
 * worth a window. Then the caller spills them. With an automatic width it is never `seen`. Fails
 * with STATUS_DATA if there is no memory.
 */
enum status growing_histogram_widen(struct growing_histogram *histogram,
                                    const struct growing_window *seen, const uint64_t *keys,
                                    size_t n, size_t block, const struct growing_window **window,
                                    struct failure *failure);

/*
 * Counts keys[0..n) in the hash table. They stay in the batch until it is full, or until the caller
 * adds it with bin_map_add. Fails as bin_map_add does.
 */
enum status growing_histogram_spill(struct growing_histogram *histogram,
                                    struct bin_map_batch *batch, const uint64_t *keys, size_t n,
                                    struct failure *failure);

/*
 * Counts keys[0..n), one by one, in windows or in the hash table: for few keys, such as those that
 * a device has found outside its window. `block` is as for growing_histogram_widen, `batch` as for
 * growing_histogram_spill. Overwrites the keys.
 */
enum status growing_histogram_add(struct growing_histogram *histogram, struct bin_map_batch *batch,
                                  uint64_t *keys, size_t n, size_t block, struct failure *failure);

/*
 * Adds `count` to the bin of a key: in the window, which may be NULL, or if it lies outside it, in
 * the hash table. With an automatic width the key must lie in the window. Fails as bin_map_add
 * does.
 */
enum status growing_histogram_add_count(struct growing_histogram *histogram,
                                        const struct growing_window *window, uint64_t key,
                                        uint64_t count, struct failure *failure);

/* The number of bins from the first to the last that is not empty. It must be finished. */
static inline unsigned __int128 growing_histogram_span(const struct growing_histogram *histogram)
{
    bool is_automatic = histogram->job->bin_width == 0;
    return is_automatic ? histogram->result.bins
                        : (unsigned __int128)(histogram->last - histogram->first + 1);
}

/* Makes `result` of the windows, for an automatic width. Used by finish alone. */
void growing_histogram_add_up(struct growing_histogram *histogram);

struct rows;

/* Starts at the first row (rows.h) of a finished one. The job and it must outlive `rows`. */
void growing_histogram_rows_begin(struct rows *rows, const struct job *job,
                                  const struct growing_histogram *histogram, bool zeros);

/* The same, but with rows of the width of the newest window if the width is automatic. */
void growing_histogram_fine_rows_begin(struct rows *rows, const struct job *job,
                                       const struct growing_histogram *histogram);

#endif
