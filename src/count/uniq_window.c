/* When uniq counts in a window, where it lies, and how counts come together in the end. */
#include "config.h"

#include "count/uniq.h"

#include <stdlib.h>

/* Windows take memory. */
#define UNIQ_WINDOWS_MAX 16

/* A window of so many bins is always worth its memory. */
#define UNIQ_WINDOW_BINS_MIN ((uint64_t)64 << 10)

/* The most bins of a window: 4 bytes each, in the parts that are used. */
#define UNIQ_WINDOW_BINS_MAX ((uint64_t)64 << 20)

/* The bins that a window may have for each value seen. Reading a bin at the end takes some 2 ns. */
#define UNIQ_WINDOW_BINS_PER_VALUE 128

/* The part of the memory for counts that a window may take, with both parts of each counter. */
#define UNIQ_WINDOW_SHARE 4

/* Counts that are moved together. */
#define UNIQ_WINDOW_BATCH 1024

/* Adjacent keys, first and last. */
struct uniq_range {
    uint64_t first;
    uint64_t last;
};

static int uniq_compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Extends a range on each side, as far as there are keys. */
static void uniq_range_extend(struct uniq_range *range, uint64_t before, uint64_t behind)
{
    range->first = range->first > before ? range->first - before : 0;
    range->last = range->last < UINT64_MAX - behind ? range->last + behind : UINT64_MAX;
}

/* The range of the newest window. Returns false if there is none. */
static bool uniq_window_range(const struct uniq *uniq, struct uniq_range *range)
{
    const struct growing_window *window = uniq_window(uniq);

    if (!window)
        return false;
    range->first = (uint64_t)window->first ^ uniq->flip;
    range->last = (uint64_t)(window->first + (__int128)window->bins - 1) ^ uniq->flip;
    return true;
}

/*
 * Extends the range of a sample by what the sample may have missed. If values have left the newest
 * window, as those of an ascending stream do, the new one has both, and as much again on the side
 * where they lie, unless that is too large.
 */
static void uniq_window_extend(const struct uniq *uniq, struct uniq_range *range, uint64_t most)
{
    const uint64_t margin = (range->last - range->first) / 16 + 16;
    struct uniq_range old;

    if (uniq_window_range(uniq, &old)) {
        struct uniq_range both = {
            .first = old.first < range->first ? old.first : range->first,
            .last = old.last > range->last ? old.last : range->last,
        };
        const uint64_t span = both.last - both.first;
        if (span < most / 3) {
            uniq_range_extend(&both, range->first < old.first ? span : 0,
                              range->last > old.last ? span : 0);
            *range = both;
            return;
        }
    }
    uniq_range_extend(range, margin, margin);
}

/*
 * Finds a range of at most half of `most` keys that has most of keys[0..n), which are sorted: all
 * but some outliers on each side, first few, then more.
 */
static bool uniq_window_find(const uint64_t *keys, size_t n, uint64_t most,
                             struct uniq_range *range)
{
    static const size_t parts[] = {64, 8};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const size_t outliers = n / parts[i];
        range->first = keys[outliers];
        range->last = keys[n - 1 - outliers];
        if (range->last - range->first < most / 2)
            return true;
    }
    return false;
}

void uniq_consider_window(struct uniq *uniq, const struct growing_window *seen, uint64_t *keys,
                          size_t n, uint64_t values)
{
    const uint64_t affordable =
        table_bytes_max(uniq->table) / UNIQ_WINDOW_SHARE / (sizeof(uint64_t) + sizeof(uint32_t));
    uint64_t most = UNIQ_WINDOW_BINS_MAX;
    struct uniq_range range;
    struct failure no_memory;

    if (values < UNIQ_WINDOW_BINS_MAX / UNIQ_WINDOW_BINS_PER_VALUE)
        most = UNIQ_WINDOW_BINS_PER_VALUE * values;
    if (most < UNIQ_WINDOW_BINS_MIN)
        most = UNIQ_WINDOW_BINS_MIN;
    if (most > affordable)
        most = affordable;
    qsort(keys, n, sizeof *keys, uniq_compare_keys);
    if (!uniq_window_find(keys, n, most, &range))
        return;
    pthread_mutex_lock(&uniq->windows.lock);
    if (uniq_window(uniq) == seen && uniq->windows.count < UNIQ_WINDOWS_MAX) {
        uniq_window_extend(uniq, &range, most);
        growing_windows_add(&uniq->windows, &uniq->job->element, uniq_bin(uniq, range.first),
                            range.last - range.first + 1, uniq->job->bin_width,
                            &no_memory); /* values are then counted in the table */
    }
    pthread_mutex_unlock(&uniq->windows.lock);
}

/* Takes entries of the table that lie in the newest window. */
static void uniq_window_take(void *context, const struct table_entry *entries, size_t n)
{
    const struct uniq *uniq = context;
    const struct growing_window *window = uniq_window(uniq);
    const uint64_t first = (uint64_t)window->first ^ uniq->flip;

    for (size_t i = 0; i < n; i++) {
        const size_t bin = (size_t)(entries[i].key - first);
        const uint32_t narrow = (uint32_t)entries[i].count;
        if (entries[i].count == narrow)
            histogram_add_counts32(window->histogram, bin, &narrow, 1);
        else
            histogram_add_counts64(window->histogram, bin, &entries[i].count, 1);
    }
}

/* Moves the counts of a window to `to`, the newest one's range, as far as they lie there; the
 * others to the table. */
static enum status uniq_window_move(struct uniq *uniq, const struct growing_window *window,
                                    const struct uniq_range *to, struct table_writer *writer,
                                    struct failure *failure)
{
    struct histogram *histogram = window->histogram;
    const uint64_t first = (uint64_t)window->first ^ uniq->flip;
    const size_t bins = (size_t)window->bins;
    struct table_entry entries[UNIQ_WINDOW_BATCH];
    enum status status = STATUS_OK;
    size_t n = 0;

    for (size_t i = 0; status == STATUS_OK && (i = histogram_skip_empty(histogram, i, bins)) < bins;
         i++) {
        const struct table_entry entry = {.key = first + i, .count = histogram_take(histogram, i)};
        if (to && entry.key >= to->first && entry.key <= to->last) {
            uniq_window_take(uniq, &entry, 1);
            continue;
        }
        entries[n++] = entry;
        if (n == UNIQ_WINDOW_BATCH) {
            status = table_writer_add_rows(writer, entries, n, failure);
            n = 0;
        }
    }
    return status == STATUS_OK ? table_writer_add_rows(writer, entries, n, failure) : status;
}

enum status uniq_join_windows(struct uniq *uniq, struct failure *failure)
{
    const bool keeps_newest = table_is_in_memory(uniq->table);
    const size_t moved = keeps_newest ? uniq->windows.count - 1 : uniq->windows.count;
    struct table_writer *writer;
    struct uniq_range newest = {0, 0};
    enum status status = STATUS_OK;

    uniq_window_range(uniq, &newest);
    if (keeps_newest)
        table_extract(uniq->table, newest.first, newest.last, uniq_window_take, uniq);
    if (table_writer_open(uniq->table, &writer, failure) != STATUS_OK)
        return failure->status;
    for (size_t i = 0; i < moved && status == STATUS_OK; i++)
        status = uniq_window_move(uniq, &uniq->windows.list[i], keeps_newest ? &newest : NULL,
                                  writer, failure);
    if (status == STATUS_OK)
        status = table_writer_flush(writer, failure);
    table_writer_close(writer);
    return status;
}
