/*
 * Windows: bins that a run places where the values lie, for growing histograms
 * (growing_histogram.h) and uniq (uniq.h). A window is a sequence of adjacent bins of one width,
 * with a histogram that has their counts. Bin k is [k * width, (k + 1) * width).
 *
 * A window does not change once it is added, except for its histogram, which is thread-safe as
 * histogram.h says. Once no thread adds to it any more, growing_window_find_ends and
 * growing_window_count are thread-safe. The other functions are thread-safe on distinct windows.
 */
#ifndef GPUHIST_GROWING_WINDOW_H
#define GPUHIST_GROWING_WINDOW_H

#include "aggregate/histogram.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct growing_window {
    struct binning binning;
    struct histogram *histogram;
    uint64_t width; /* the width of each bin */
    __int128 first; /* the number of its first bin */
    uint64_t bins;  /* number of bins */
};

/*
 * Stores the numbers of the first and the last bin that are not empty. Returns false if all are
 * empty.
 */
bool growing_window_find_ends(const struct growing_window *window, __int128 *first, __int128 *last);

/*
 * A list of windows, to which windows are added. Counts are not moved from one to the next while
 * threads count. Zero-initialised, except the lock.
 */
#define GROWING_WINDOWS_MAX 64
struct growing_windows {
    _Atomic(const struct growing_window *) newest; /* the newest window; NULL: there is none */
    pthread_mutex_t lock; /* guards the members below; list[0..count) do not change any more */
    struct growing_window list[GROWING_WINDOWS_MAX];
    size_t count;
};

/* Returns the newest window, NULL if there is none. It lives as long as the list. Thread-safe. */
static inline const struct growing_window *growing_windows_newest(
    const struct growing_windows *windows)
{
    return atomic_load_explicit(&windows->newest, memory_order_acquire);
}

/*
 * Adds an empty window, the newest, of `bins` bins from bin `first`, for elements of a plan. It is
 * moved, or has fewer bins, so that it stays within the values of the type. The caller has the
 * lock, and there are fewer than GROWING_WINDOWS_MAX. Fails with STATUS_DATA if there is no memory.
 */
enum status growing_windows_add(struct growing_windows *windows, const struct plan *of,
                                __int128 first, uint64_t bins, uint64_t width,
                                struct failure *failure);

/* Returns the sum of all counts in bins of windows, while no thread counts. */
uint64_t growing_windows_total(const struct growing_windows *windows);

/* Frees the windows, and the lock. */
void growing_windows_destroy(struct growing_windows *windows);

/* Returns the count of bin first + i, i < bins. */
static inline uint64_t growing_window_count(const struct growing_window *window, uint64_t i)
{
    return histogram_count(window->histogram, i);
}

#endif
