/*
 * The partial of an growing histogram: bins over whatever values come. Their width is the job's,
 * or, if that is 0, *automatic*: the smallest of 1, 2 and 5 times a power of ten that makes no more
 * than 64 bins of all that lies between the smallest and the largest value. One pass, exact, and
 * the same in whatever order the values come.
 *
 * Values are counted in *windows* (growing_window.h), arrays of bins that are as quick as the bins
 * of any histogram. When values lie outside the newest one, a wider one is made, and counting goes
 * on there. Nothing is moved: in the end the windows are added up.
 *
 * Of a given width, windows at least double, up to a limit, and no farther than a part of their
 * bins can be expected to be used: a few values all over a large range need none. What lies farther
 * away is counted in a hash table (bin_map.h). The first window lies where most of the first values
 * are, so that a few far ones do not push all others there; and if later whole blocks of values lie
 * elsewhere, a window is opened for them, a few times.
 *
 * Automatic windows have few bins. The first ones are 1 wide; when the values known do not fit in
 * half a window, the width grows by tens until they do. See growing_histogram_rows.c for why the
 * final width is a multiple of the last window's, and thus of all.
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

/* The most values that are looked at together. */
#define GROWING_HISTOGRAM_BLOCK ((size_t)4096)

/* Bins that an automatic result has at most. */
#define GROWING_HISTOGRAM_AUTOMATIC_BINS 64

/*
 * Bins of a small window; with the two entries outside, eight private copies of 32-bit counters fit
 * the L1 (cpu_counter_private.c). Automatic windows have no more.
 */
#define GROWING_HISTOGRAM_BINS_MIN ((uint64_t)1022)

/* Bins of the largest window; 4 bytes of memory each, where they are used. */
#define GROWING_HISTOGRAM_BINS_MAX ((uint64_t)64 << 20)

/*
 * More than there can be of automatic ones: at each of 18 widths the values known outgrow half a
 * window after three. Others double 16 times at most between two that are opened elsewhere.
 */
#define GROWING_HISTOGRAM_WINDOWS_MAX 128

/* Bins of one width side by side, with their counts. */
struct growing_histogram_result {
    uint64_t width;
    __int128 first;
    size_t bins;
    uint64_t counts[GROWING_HISTOGRAM_AUTOMATIC_BINS];
};

struct growing_histogram {
    const struct job *job;
    struct bin_map *map; /* what no window has; by the number of the bin modulo 2^64 */
    _Atomic(const struct growing_window *) window; /* the newest; NULL: there is none */

    pthread_mutex_t lock; /* guards what follows; the windows below `count` are const */
    struct growing_window windows[GROWING_HISTOGRAM_WINDOWS_MAX];
    size_t count;
    __int128 low; /* values known, those that windows were made for: low .. high */
    __int128 high;
    uint64_t width;      /* of the next window */
    uint64_t limit;      /* bins that it may have */
    uint64_t asked;      /* values of blocks that a window was asked for */
    unsigned moves_left; /* how often a window may still be opened elsewhere */

    /* of a finished one */
    uint64_t elements;
    __int128 first; /* the number of the first bin that is not empty, and of the last; */
    __int128 last;  /* less than `first` if all are empty */
    struct bin_map_entry *entries; /* [entry_count], the map in ascending order */
    size_t entry_count;
    struct growing_histogram_result result; /* if automatic */
};

/*
 * Makes an empty one. Fails with STATUS_DATA. The job must live as long; the caller destroys it.
 */
enum status growing_histogram_create(const struct job *job, struct growing_histogram **histogram,
                                     struct failure *failure);

/* NULL is allowed. */
void growing_histogram_destroy(struct growing_histogram *histogram);

/* The newest window, NULL if there is none. It stays until the histogram is destroyed. */
static inline const struct growing_window *growing_histogram_window(
    struct growing_histogram *histogram)
{
    return atomic_load_explicit(&histogram->window, memory_order_acquire);
}

/*
 * Asks for a window that has more of keys[0..n), n > 0, which `seen`, the newest that the caller
 * knows, has not; they are some of the `block` values, GROWING_HISTOGRAM_BLOCK at most, that the
 * caller looks at. Stores the newest window: another one, in which they may be; or `seen` again, if
 * they are not worth a window and are to be spilled, which never happens if the width is automatic.
 * Fails with STATUS_DATA.
 */
enum status growing_histogram_widen(struct growing_histogram *histogram,
                                    const struct growing_window *seen, const uint64_t *keys,
                                    size_t n, size_t block, const struct growing_window **window,
                                    struct failure *failure);

/*
 * Counts keys[0..n) apart from the windows. They may stay in the batch until bin_map_add is called
 * for it, or more are spilled. Fails as bin_map_add does.
 */
enum status growing_histogram_spill(struct growing_histogram *histogram,
                                    struct bin_map_batch *batch, const uint64_t *keys, size_t n,
                                    struct failure *failure);

/*
 * Counts keys[0..n), wherever they belong, one by one: for few of them, such as those that a device
 * has found outside its window. `block` is as for growing_histogram_widen, `batch` as for
 * growing_histogram_spill. The keys are overwritten.
 */
enum status growing_histogram_add(struct growing_histogram *histogram, struct bin_map_batch *batch,
                                  uint64_t *keys, size_t n, size_t block, struct failure *failure);

/*
 * Adds `count` to the bin of the key, which the window, NULL if there is none, has or not; if the
 * width is automatic it has. Fails as bin_map_add does.
 */
enum status growing_histogram_add_count(struct growing_histogram *histogram,
                                        const struct growing_window *window, uint64_t key,
                                        uint64_t count, struct failure *failure);

/* Of a finished one: the bins from the first to the last that is not empty. */
static inline unsigned __int128 growing_histogram_span(const struct growing_histogram *histogram)
{
    bool is_automatic = histogram->job->bin_width == 0;
    return is_automatic ? histogram->result.bins
                        : (unsigned __int128)(histogram->last - histogram->first + 1);
}

/* Of one to be finished, automatic: makes `result` of the windows (growing_histogram_rows.c). */
void growing_histogram_add_up(struct growing_histogram *histogram);

struct rows;

/* The rows of a finished one, from the first on (rows.h). The job and it must live as long. */
void growing_histogram_rows_begin(struct rows *rows, const struct job *job,
                                  const struct growing_histogram *histogram, bool zeros);

/* Likewise those of the width that is counted in, of which automatic bins are made. */
void growing_histogram_fine_rows_begin(struct rows *rows, const struct job *job,
                                       const struct growing_histogram *histogram);

#endif
