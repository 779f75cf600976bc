/*
 * Windows: bins that are made during the run where the values lie, for growing histograms
 * (growing_histogram.h) and uniq (uniq.h). A window is a run of adjacent bins of one width, with a
 * histogram that holds their counts. Bin k is [k * width, (k + 1) * width).
 *
 * A window does not change once it is made, except for its histogram, which is thread-safe as
 * histogram.h says. Once no thread adds to it any more, growing_window_find_ends and
 * growing_window_count are thread-safe. The other functions are thread-safe on distinct windows.
 */
#ifndef GPUHIST_GROWING_WINDOW_H
#define GPUHIST_GROWING_WINDOW_H

#include "count/histogram.h"

#include <stdbool.h>

struct growing_window {
    struct binning binning;
    struct histogram *histogram;
    uint64_t width; /* of each bin */
    __int128 first; /* the number of its first bin */
    uint64_t bins;  /* the number of bins */
};

/*
 * Makes an empty window of `bins` bins from bin `first` on, for elements of a type. It is moved, or
 * has fewer bins, so that it stays within the values of the type. Fails with STATUS_DATA if there
 * is no memory; else the caller destroys it.
 */
enum status growing_window_init(struct growing_window *window, const struct element *element,
                                __int128 first, uint64_t bins, uint64_t width,
                                struct failure *failure);

/* Frees the histogram of a window. */
void growing_window_destroy(struct growing_window *window);

/*
 * Stores the numbers of the first and the last bin that is not empty. Returns false if all are
 * empty.
 */
bool growing_window_find_ends(const struct growing_window *window, __int128 *first, __int128 *last);

/* The count of bin first + i, i < bins. */
static inline uint64_t growing_window_count(const struct growing_window *window, uint64_t i)
{
    return histogram_count(window->histogram, i);
}

#endif
