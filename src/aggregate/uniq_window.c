/* Decides when uniq counts in a window and where it lies, and joins the counts at the end. */
#include "config.h"

#include "aggregate/uniq.h"

#include "lib/parallel.h"
#include "value/kind.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Maximum number of windows, which need memory. */
#define UNIQ_WINDOWS_MAX 16

/* Number of bins up to which a window is always worth its memory. */
#define UNIQ_WINDOW_BINS_MIN ((uint64_t)64 << 10)

/* Maximum number of bins of a window: 4 bytes each, in the used parts. */
#define UNIQ_WINDOW_BINS_MAX ((uint64_t)64 << 20)

/* Maximum number of bins per value seen. Reading a bin at the end takes about 2 ns. */
#define UNIQ_WINDOW_BINS_PER_VALUE 128

/* Maximum width of a column's buckets: all other bins of a window stay empty. */
#define UNIQ_WINDOW_WIDTH_MAX 8

/* All windows may use 1/SHARE of the memory for counts, with both parts of each counter. */
#define UNIQ_WINDOW_SHARE 4

/* Number of counts that are moved to the table together. */
#define UNIQ_WINDOW_BATCH 1024

/* Minimum number of bins that a thread moves: it takes 0.1 ms to start. */
#define UNIQ_MOVE_BINS ((uint64_t)256 << 10)

/* 1/FEW, or else 1/SOME, of the sample on each side are outliers, which a window need not have. */
#define UNIQ_WINDOW_FEW  64
#define UNIQ_WINDOW_SOME 8

/* Returns whether the column's width leaves most bins of a window empty. */
static bool uniq_is_sparse(const struct plan *plan)
{
    const struct column *column = &plan->columns[0];
    const struct kind *kind = &kind_rows[column->element.kind];

    return kind->next && kind->next(column, 0) > UNIQ_WINDOW_WIDTH_MAX * (__int128)plan->bin_width;
}

/* Returns the last key of a window. */
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
 * The window has the keys of the sample except outliers on each side, first few, then more, in at
 * most half of the bins that it may have, and a margin for keys that the sample has missed. If
 * values have left the newest window, as in an ascending stream, the new one has the bins of both,
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

    if (uniq_is_sparse(uniq->plan))
        return;
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
        growing_windows_add(&uniq->windows, uniq->plan, uniq_bin(uniq, first), last - first + 1,
                            uniq->plan->bin_width,
                            &no_memory); /* if it fails, the table counts the values */
    }
    pthread_mutex_unlock(&uniq->windows.lock);
}

/* Adds a thread's entries, whose keys lie in the newest window, to it. */
static void uniq_window_take(void *context, const struct table_entry *entries, size_t n)
{
    const struct uniq *uniq = context;
    const struct growing_window *window = uniq_window(uniq);
    const uint64_t first = uniq_window_first(uniq, window);

    for (size_t i = 0; i < n; i++) {
        const size_t bin = (size_t)(entries[i].key - first);
        if (entries[i].count > 0)
            histogram_add_unlocked(window->histogram, bin, entries[i].count);
        else
            histogram_mark_nonempty(window->histogram, bin);
    }
}

/* The state of several threads that move the counts of a window. */
struct uniq_move {
    struct uniq *uniq;
    const struct growing_window *from;
    const struct growing_window *to; /* receives the counts in it; NULL: the table gets all */
    _Atomic size_t taken;            /* number of bins taken; a thread takes a region at a time */
    pthread_mutex_t lock;            /* guards the members below */
    struct failure *failure;
    enum status status;
};

/* Moves bins [begin, end) of a region; bins in the other window are moved as arrays. */
static enum status uniq_move_region(const struct uniq_move *move, struct table_writer *writer,
                                    size_t begin, size_t end, struct failure *failure)
{
    const uint64_t first = uniq_window_first(move->uniq, move->from);
    struct histogram *histogram = move->from->histogram;
    struct table_entry entries[UNIQ_WINDOW_BATCH];
    enum status status = STATUS_OK;

    if (move->to) {
        const __int128 shift = move->to->first - move->from->first;
        const __int128 low = shift > (__int128)begin ? shift : (__int128)begin;
        const __int128 past = shift + (__int128)move->to->bins;
        const __int128 high = past < (__int128)end ? past : (__int128)end;
        if (low < high)
            histogram_move_counts(histogram, (size_t)low, move->to->histogram,
                                  (size_t)(low - shift), (size_t)(high - low));
    }
    for (size_t i = begin, n = 0; status == STATUS_OK && i < end; n = 0) {
        for (; n < UNIQ_WINDOW_BATCH && (i = histogram_skip_empty(histogram, i, end)) < end; i++)
            entries[n++] =
                (struct table_entry){.key = first + i, .count = histogram_take(histogram, i)};
        status = table_writer_add_rows(writer, entries, n, failure);
    }
    return status;
}

static void uniq_move_part(void *context, size_t part)
{
    struct uniq_move *move = context;
    const size_t bins = (size_t)move->from->bins;
    struct table_writer *writer = NULL;
    struct failure failure;
    size_t begin;

    (void)part;
    enum status status = table_writer_open(move->uniq->table, &writer, &failure);
    while (status == STATUS_OK &&
           (begin = atomic_fetch_add(&move->taken, HISTOGRAM_REGION_BINS)) < bins) {
        const size_t left = bins - begin;
        const size_t end = begin + (left < HISTOGRAM_REGION_BINS ? left : HISTOGRAM_REGION_BINS);
        if (histogram_is_used(move->from->histogram, begin))
            status = uniq_move_region(move, writer, begin, end, &failure);
    }
    if (status == STATUS_OK)
        status = table_writer_flush(writer, &failure);
    table_writer_close(writer);
    if (status == STATUS_OK)
        return;
    pthread_mutex_lock(&move->lock);
    move->status = status;
    *move->failure = failure;
    pthread_mutex_unlock(&move->lock);
}

/* Moves all counts of a window to another window, if it is not NULL and they lie in it, else to the
 * table. */
static enum status uniq_move_window(struct uniq *uniq, const struct growing_window *from,
                                    const struct growing_window *to, struct failure *failure)
{
    struct uniq_move move = {.uniq = uniq, .from = from, .to = to, .failure = failure};
    const unsigned threads =
        parallel_threads(table_threads(uniq->table), from->bins, UNIQ_MOVE_BINS);

    pthread_mutex_init(&move.lock, NULL);
    parallel_run(threads, threads, uniq_move_part, &move);
    pthread_mutex_destroy(&move.lock);
    return move.status;
}

/* If the table has runs on disk, all counts are moved to it. */
enum status uniq_join_windows(struct uniq *uniq, struct failure *failure)
{
    const struct growing_window *newest = uniq_window(uniq);
    enum status status = STATUS_OK;

    for (size_t i = 0; i + 1 < uniq->windows.count && status == STATUS_OK; i++)
        status = uniq_move_window(uniq, &uniq->windows.list[i], newest, failure);
    if (status != STATUS_OK)
        return status;
    if (!table_is_in_memory(uniq->table))
        return uniq_move_window(uniq, newest, NULL, failure);
    if (table_finalize(uniq->table, TABLE_ANY_ORDER, failure) != STATUS_OK)
        return failure->status;
    table_extract(uniq->table, uniq_window_first(uniq, newest), uniq_window_last(uniq, newest),
                  uniq_window_take, uniq);
    return STATUS_OK;
}
