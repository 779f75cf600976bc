/* When uniq counts in a window, where it lies, and how counts come together in the end. */
#include "config.h"

#include "count/uniq.h"

#include <stdlib.h>

/* Windows take memory. */
#define UNIQ_WINDOWS_MAX 16

/* A window of so many bins is always worth its memory. */
#define UNIQ_WINDOW_BINS_MIN ((uint64_t)64 << 10)

/* The maximum of bins of a window: 4 bytes each, in the parts that are used. */
#define UNIQ_WINDOW_BINS_MAX ((uint64_t)64 << 20)

/* The bins that a window may have for each value seen. Reading a bin at the end takes some 2 ns. */
#define UNIQ_WINDOW_BINS_PER_VALUE 128

/* The part of the memory for counts that all windows may take, with both parts of each counter. */
#define UNIQ_WINDOW_SHARE 4

/* Counts that are moved together. */
#define UNIQ_WINDOW_BATCH 1024

/* Outliers on each side of a sample: few, or some, as parts of it. */
#define UNIQ_WINDOW_FEW  64
#define UNIQ_WINDOW_SOME 8

/* The first and the last key of a window. */
static uint64_t uniq_window_first(const struct uniq *uniq, const struct growing_window *window)
{
    return (uint64_t)window->first ^ uniq->flip;
}

static uint64_t uniq_window_last(const struct uniq *uniq, const struct growing_window *window)
{
    return uniq_window_first(uniq, window) + (window->bins - 1);
}

static int uniq_compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/*
 * The window has the keys of the sample but for some outliers on each side, first few, then more,
 * in at most half of the bins that it may have, and a margin for what the sample has missed. If
 * values have left the newest window, as those of an ascending stream do, it has the bins of both,
 * and as many again on the side where they lie, unless these are too many.
 */
void uniq_consider_window(struct uniq *uniq, const struct growing_window *seen, uint64_t *keys,
                          size_t n, uint64_t values)
{
    uint64_t affordable =
        table_bytes_max(uniq->table) / UNIQ_WINDOW_SHARE / (sizeof(uint64_t) + sizeof(uint32_t));
    uint64_t bins_max = UNIQ_WINDOW_BINS_MAX;
    size_t outliers = n / UNIQ_WINDOW_FEW;
    struct failure no_memory;

    if (values < UNIQ_WINDOW_BINS_MAX / UNIQ_WINDOW_BINS_PER_VALUE)
        bins_max = UNIQ_WINDOW_BINS_PER_VALUE * values;
    if (bins_max < UNIQ_WINDOW_BINS_MIN)
        bins_max = UNIQ_WINDOW_BINS_MIN;
    pthread_mutex_lock(&uniq->windows.lock);
    for (size_t i = 0; i < uniq->windows.count; i++)
        affordable -=
            affordable < uniq->windows.list[i].bins ? affordable : uniq->windows.list[i].bins;
    pthread_mutex_unlock(&uniq->windows.lock);
    if (bins_max > affordable)
        bins_max = affordable;
    qsort(keys, n, sizeof *keys, uniq_compare_keys);
    if (keys[n - 1 - outliers] - keys[outliers] >= bins_max / 2)
        outliers = n / UNIQ_WINDOW_SOME;
    uint64_t first = keys[outliers];
    uint64_t last = keys[n - 1 - outliers];
    if (last - first >= bins_max / 2)
        return;
    uint64_t before = (last - first) / 16 + 16;
    uint64_t after = before;
    pthread_mutex_lock(&uniq->windows.lock);
    if (uniq_window(uniq) == seen && uniq->windows.count < UNIQ_WINDOWS_MAX) {
        if (seen) {
            const uint64_t old_first = uniq_window_first(uniq, seen);
            const uint64_t old_last = uniq_window_last(uniq, seen);
            const uint64_t low = old_first < first ? old_first : first;
            const uint64_t span = (old_last > last ? old_last : last) - low;
            if (span < bins_max / 3) {
                before = first < old_first ? span : 0;
                after = last > old_last ? span : 0;
                first = low;
                last = low + span;
            }
        }
        first = first > before ? first - before : 0;
        last += after; /* modulo 2^64: windows stay within the type */
        growing_windows_add(&uniq->windows, uniq->job, uniq_bin(uniq, first), last - first + 1,
                            uniq->job->bin_width,
                            &no_memory); /* values are then counted in the table */
    }
    pthread_mutex_unlock(&uniq->windows.lock);
}

/* Adds entries whose keys lie in the newest window to it. */
static void uniq_window_take(void *context, const struct table_entry *entries, size_t n)
{
    const struct uniq *uniq = context;
    const struct growing_window *window = uniq_window(uniq);
    const uint64_t first = uniq_window_first(uniq, window);

    for (size_t i = 0; i < n; i++) {
        const size_t bin = (size_t)(entries[i].key - first);
        if (entries[i].count > 0)
            histogram_add_counts64(window->histogram, bin, &entries[i].count, 1);
        else
            histogram_mark_nonempty(window->histogram, bin);
    }
}

/*
 * Counts that lie in the newest window are moved there if it is kept, which takes that the table is
 * in memory; all others to the table.
 */
enum status uniq_join_windows(struct uniq *uniq, struct failure *failure)
{
    const struct growing_window *newest = uniq_window(uniq);
    const uint64_t newest_first = uniq_window_first(uniq, newest);
    const bool keeps_newest = table_is_in_memory(uniq->table);
    const size_t moved = uniq->windows.count - keeps_newest;
    struct table_entry entries[UNIQ_WINDOW_BATCH];
    struct table_writer *writer;
    enum status status = STATUS_OK;
    size_t n = 0;

    if (keeps_newest)
        table_extract(uniq->table, newest_first, uniq_window_last(uniq, newest), uniq_window_take,
                      uniq);
    if (table_writer_open(uniq->table, &writer, failure) != STATUS_OK)
        return failure->status;
    for (size_t w = 0; w < moved; w++) {
        const struct growing_window *window = &uniq->windows.list[w];
        const uint64_t first = uniq_window_first(uniq, window);
        const size_t bins = (size_t)window->bins;
        struct histogram *histogram = window->histogram;
        for (size_t i = 0;
             status == STATUS_OK && (i = histogram_skip_empty(histogram, i, bins)) < bins; i++) {
            entries[n] =
                (struct table_entry){.key = first + i, .count = histogram_take(histogram, i)};
            if (keeps_newest && entries[n].key - newest_first < newest->bins) {
                uniq_window_take(uniq, &entries[n], 1);
            } else if (++n == UNIQ_WINDOW_BATCH) {
                status = table_writer_add_rows(writer, entries, n, failure);
                n = 0;
            }
        }
    }
    if (status == STATUS_OK)
        status = table_writer_add_rows(writer, entries, n, failure);
    if (status == STATUS_OK)
        status = table_writer_flush(writer, failure);
    table_writer_close(writer);
    return status;
}
