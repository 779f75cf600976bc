/*
 * The aggregate of uniq: the count of each value, or of each bin of a width. It is a table
 * (table.h) whose keys are the numbers of the bins, floor(value / width), or for width 1 the
 * values. Keys of signed types have their upper bit inverted, so that keys and bins have the same
 * order.
 *
 * Workers count dense values in a window (growing_window.h) instead, a plain array of counters: 0.5
 * ns per value for 64Ki bins, where the table takes 15. A window may be added at any time, so a
 * value may have counts in the table and in several windows. At the end, uniq_join_windows moves
 * them to one counter: in the newest window if the value lies in it, else in the table. If the
 * table has runs on disk, all counts are moved to the table.
 *
 * Elements of weight 0 (plan_keeps_zeros) are counted in the table. At the end, their bins in the
 * newest window are marked as not empty (histogram_mark_nonempty).
 *
 * uniq_window, uniq_consider_window, uniq_make_keys and uniq_bin are thread-safe, uniq_join_windows
 * is not. The other functions read a finalized aggregate, and are thread-safe.
 */
#ifndef GPUHIST_UNIQ_H
#define GPUHIST_UNIQ_H

#include "aggregate/growing_window.h"
#include "aggregate/uniq_key.h"
#include "lib/table.h"
#include "value/plan.h"

struct uniq {
    const struct plan *plan;
    struct table *table;
    uint64_t sign_bias;          /* a bin's number XOR this is its key */
    struct uniq_divisor divisor; /* divides by the width */
    struct growing_windows windows;

    /* Set by finalize. */
    uint64_t elements;
    uint64_t below; /* ascending order: number of table entries below the newest window */
    __int128 first; /* ascending order: the bin of the first row */
    __int128 last;  /* ascending order: the bin of the last row; less than `first`: no rows */
};

struct store_size;

/* Create, finalize, destroy and measure a struct uniq (store.h). The plan must outlive it. */
void *uniq_create(const struct plan *plan, struct failure *failure);
enum status uniq_finalize(void *uniq, const struct plan *plan, uint64_t elements,
                          struct failure *failure);
void uniq_destroy(void *uniq);
struct store_size uniq_size(const void *uniq);

/* Returns the newest window, NULL if there is none. It lives as long as the aggregate. */
static inline const struct growing_window *uniq_window(const struct uniq *uniq)
{
    return growing_windows_newest(&uniq->windows);
}

/*
 * Adds a window if the keys of a sample are dense enough, and not multiples of a large width.
 * keys[0..n), n > 0, are a sample of the `values` values that the caller has seen; they are sorted
 * in place. `seen` is the newest window that the caller knows, or NULL; most of its latest values
 * should lie outside. Adds no window if another thread has added one since, or if there is no
 * memory.
 */
void uniq_consider_window(struct uniq *uniq, const struct growing_window *seen, uint64_t *keys,
                          size_t n, uint64_t values);

/*
 * Gives each value one counter, in the newest window or in the table, which must then be finalized.
 * There must be a window, and no worker may be at work. Uses table_threads threads. Fails like
 * table_finalize. Only finalize uses it.
 */
enum status uniq_join_windows(struct uniq *uniq, struct failure *failure);

/* Replaces words[0..n), the element_key of values, by the values' keys in the table. */
void uniq_make_keys(const struct uniq *uniq, uint64_t *words, size_t n);

/* Returns the number of the bin of a key. */
static inline __int128 uniq_bin(const struct uniq *uniq, uint64_t key)
{
    const uint64_t bin = key ^ uniq->sign_bias;
    return uniq->sign_bias != 0 ? (__int128)(int64_t)bin : (__int128)bin;
}

/* Returns the key of the first bin of a window; the keys of the next bins are consecutive. */
static inline uint64_t uniq_window_first(const struct uniq *uniq,
                                         const struct growing_window *window)
{
    return (uint64_t)window->first ^ uniq->sign_bias;
}

struct rows;

/*
 * Starts at the first row (rows.h) of a finalized aggregate, in any order if the plan allows that.
 * The plan and the aggregate must outlive `rows`. If a row cannot be read, the rows end too early,
 * and table_check fails.
 */
void uniq_rows_begin(struct rows *rows, const struct plan *plan, const struct uniq *uniq,
                     bool zeros);

#endif
