/*
 * Windows: what an growing histogram (growing_histogram.h) counts in. A window is a run of bins of
 * one width at multiples of that width, bin k being [k * width, (k + 1) * width), with a histogram
 * of its own.
 *
 * Const once made, but for the histogram, which is thread-safe as histogram.h says. All functions
 * but growing_window_init and growing_window_destroy are thread-safe.
 */
#ifndef GPUHIST_OPEN_WINDOW_H
#define GPUHIST_OPEN_WINDOW_H

#include "operations/histogram.h"

#include <stdbool.h>

struct growing_window {
    struct binning binning;
    struct histogram *histogram;
    uint64_t width; /* of each bin */
    __int128 first; /* the number of its first bin */
    uint64_t bins;  /* how many it has */
};

/*
 * Makes a window for elements of that type, empty: the one that has bin `first` or as near to it as
 * the type's values go, and `bins` bins, or as many as the type has. Fails with STATUS_DATA if
 * there is no memory; else the caller destroys it.
 */
enum status growing_window_init(struct growing_window *window, const struct element *element,
                                __int128 first, uint64_t bins, uint64_t width,
                                struct failure *failure);

void growing_window_destroy(struct growing_window *window);

/*
 * Stores the numbers of the first and the last of its bins that is not empty; false if all are.
 * Nobody adds meanwhile.
 */
bool growing_window_find_ends(const struct growing_window *window, __int128 *first, __int128 *last);

/* What was counted in its bin first + i, i < bins; nobody adds meanwhile. */
static inline uint64_t growing_window_count(const struct growing_window *window, uint64_t i)
{
    return histogram_count(window->histogram, i);
}

#endif
