/*
 * The aggregate of an automatic histogram: bins over all values, of the smallest width of 1, 2 or 5
 * times a power of ten *units* that makes at most 64 bins from the smallest to the largest value. A
 * unit is 1, or the width of the column, of which all values are multiples. It needs one pass and
 * is exact. The result does not depend on the order of the values.
 *
 * Values are counted in *windows* (growing_window.h): arrays of bins, as fast as those of any
 * histogram. The first has bins of one unit. If values lie outside the newest window, another one
 * is added: if the known values do not fit in half a window, its width is multiplied by 10 until
 * they do. Counts are not moved; at the end the windows are added up. growing_histogram.c shows why
 * the final width is a multiple of the width of each window.
 *
 * growing_histogram_window, _widen and _add are thread-safe; the other functions are not.
 */
#ifndef GPUHIST_GROWING_HISTOGRAM_H
#define GPUHIST_GROWING_HISTOGRAM_H

#include "aggregate/growing_window.h"

/* Maximum number of bins of the result. */
#define GROWING_HISTOGRAM_RESULT_BINS 64

/*
 * Number of bins of a window. With the two counters of values outside, four private copies of
 * 32-bit counters fit in L1 (cpu_counter_private.c).
 */
#define GROWING_HISTOGRAM_BINS ((uint64_t)1022)

/*
 * There are fewer windows than GROWING_WINDOWS_MAX: after three of one width the known values do
 * not fit in half a window, and there are 18 widths.
 */
_Static_assert(GROWING_WINDOWS_MAX >= 3 * 18, "all windows fit");

struct growing_histogram {
    const struct plan *plan;
    struct growing_windows windows; /* their lock guards the members below */
    __int128 low;                   /* the known values, which windows cover: low to high */
    __int128 high;
    uint64_t width; /* the width of the next window's bins */

    /* Set by finalize. */
    uint64_t elements;
    __int128 first; /* the first bin of `width` that is not empty */
    __int128 last;  /* the last bin that is not empty; less than `first` if all are empty */
};

/*
 * Create, finalize and destroy a struct growing_histogram (store.h). The plan must outlive it.
 */
void *growing_histogram_create(const struct plan *plan, struct failure *failure);
enum status growing_histogram_finalize(void *histogram, const struct plan *plan, uint64_t elements,
                                       struct failure *failure);
void growing_histogram_destroy(void *histogram);

/* Returns the newest window, NULL if there is none. It lives as long as the histogram. */
static inline const struct growing_window *growing_histogram_window(
    struct growing_histogram *histogram)
{
    return growing_windows_newest(&histogram->windows);
}

/*
 * Adds a window for keys[0..n), n > 0, unless there is a newer one than `seen`, the newest that the
 * caller knows; the keys lie outside it. Stores the window to try next. Fails with STATUS_DATA if
 * there is no memory.
 */
enum status growing_histogram_widen(struct growing_histogram *histogram,
                                    const struct growing_window *seen, const uint64_t *keys,
                                    size_t n, const struct growing_window **window,
                                    struct failure *failure);

/*
 * Adds counts[i] (NULL: 1) for each of keys[0..n), and windows for them. For values outside the
 * window of a thread or a device, and for states. Overwrites both arrays. Fails with STATUS_DATA.
 */
enum status growing_histogram_add(struct growing_histogram *histogram, uint64_t *keys,
                                  uint64_t *counts, size_t n, struct failure *failure);

struct rows;

/*
 * Returns the bin width of a finalized histogram: the smallest of 1, 2 or 5 times a power of ten
 * units that makes at most `bins` bins. `bins` is 1 to GROWING_HISTOGRAM_RESULT_BINS. Pure.
 */
uint64_t growing_histogram_width(const struct growing_histogram *histogram, uint64_t bins);

/*
 * Starts at the first row (rows.h) of a finalized histogram with bins of that width:
 * histogram->width, or growing_histogram_width. The plan and the histogram must outlive `rows`.
 */
void growing_histogram_rows_begin(struct rows *rows, const struct plan *plan,
                                  const struct growing_histogram *histogram, uint64_t width,
                                  bool zeros);

#endif
