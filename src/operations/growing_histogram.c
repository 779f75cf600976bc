/* Implements growing_histogram.h: when windows are made, and counting outside them. */
#include "config.h"

#include "operations/growing_histogram.h"

#include "base/memory.h"
#include "job/binning_index.h"
#include "operations/operation.h"
#include "operations/state_job.h"

#include <stdlib.h>

/* How often a window is opened elsewhere, for values that lie in several places. */
#define GROWING_HISTOGRAM_MOVES 4

/* The least values for which one is opened: fewer do not show where others will be. */
#define GROWING_HISTOGRAM_MOVED_MIN ((size_t)64)

/*
 * The bins that a window may have for each value: of the current block; and of all blocks for which
 * a window was asked, and of the hash table. Reading a bin of a window at the end takes some 2 ns,
 * counting a value in the hash table 100 ns and more.
 */
#define GROWING_HISTOGRAM_SPREAD_BLOCK 2048
#define GROWING_HISTOGRAM_SPREAD_ALL   512

/* Virtual memory of a bin: both parts of its counter (histogram.h). */
#define GROWING_HISTOGRAM_BIN_BYTES (sizeof(uint64_t) + sizeof(uint32_t))

enum status growing_histogram_create(const struct job *job, struct growing_histogram **histogram,
                                     struct failure *failure)
{
    struct growing_histogram *made = calloc(1, sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for a histogram");
    if (bin_map_create(&made->map, failure) != STATUS_OK) {
        free(made);
        return failure->status;
    }

    uint64_t affordable = memory_available() / GROWING_HISTOGRAM_BIN_BYTES / 4;
    made->job = job;
    made->width = job->bin_width > 0 ? job->bin_width : 1;
    made->limit = GROWING_HISTOGRAM_BINS_MIN;
    if (job->bin_width > 0 && affordable > made->limit)
        made->limit =
            affordable < GROWING_HISTOGRAM_BINS_MAX ? affordable : GROWING_HISTOGRAM_BINS_MAX;
    made->moves_left = GROWING_HISTOGRAM_MOVES;
    made->low = 1; /* low > high: no value is known */
    pthread_mutex_init(&made->lock, NULL);
    *histogram = made;
    return STATUS_OK;
}

void growing_histogram_destroy(struct growing_histogram *histogram)
{
    if (!histogram)
        return;
    for (size_t i = 0; i < histogram->count; i++)
        growing_window_destroy(&histogram->windows[i]);
    bin_map_free_entries(histogram->entries, histogram->entry_count);
    bin_map_destroy(histogram->map);
    pthread_mutex_destroy(&histogram->lock);
    free(histogram);
}

/* A range of values, empty if low > high. */
struct growing_histogram_range {
    __int128 low;
    __int128 high;
};

static void growing_histogram_include(struct growing_histogram_range *range, __int128 value)
{
    bool is_empty = range->low > range->high;

    if (is_empty || value < range->low)
        range->low = value;
    if (is_empty || value > range->high)
        range->high = value;
}

/* The number of bins of a width that a range touches. */
static unsigned __int128 growing_histogram_bins(const struct growing_histogram_range *range,
                                                uint64_t width)
{
    return (unsigned __int128)(binning_floor(range->high, width) -
                               binning_floor(range->low, width)) +
           1;
}

/*
 * Makes a window of `bins` bins around the range, which touches fewer. If the known range has grown
 * on one side, most of the free bins lie on that side. With an automatic width half of them lie on
 * each side, so that the number of windows of one width is limited (GROWING_HISTOGRAM_WINDOWS_MAX).
 */
static enum status growing_histogram_open_window(struct growing_histogram *self,
                                                 const struct growing_histogram_range *range,
                                                 uint64_t bins, struct failure *failure)
{
    uint64_t room = bins - (uint64_t)growing_histogram_bins(range, self->width);
    bool keeps_low = range->low == self->low;
    bool keeps_high = range->high == self->high;
    bool has_side = keeps_low != keeps_high && self->job->bin_width > 0;
    uint64_t before = !has_side ? room / 2 : keeps_low ? room / 8 : room - room / 8;
    struct growing_window *window = &self->windows[self->count];

    if (growing_window_init(window, &self->job->element,
                            binning_floor(range->low, self->width) - before, bins, self->width,
                            failure) != STATUS_OK)
        return failure->status;
    self->count++;
    self->low = range->low;
    self->high = range->high;
    atomic_store_explicit(&self->window, window, memory_order_release);
    return STATUS_OK;
}

/* Makes a window for the known values and the keys, with bins as wide as necessary. */
static enum status growing_histogram_widen_automatic(struct growing_histogram *self,
                                                     const uint64_t *keys, size_t n,
                                                     struct failure *failure)
{
    struct growing_histogram_range range = {.low = self->low, .high = self->high};

    for (size_t i = 0; i < n; i++)
        growing_histogram_include(&range, element_value(&self->job->element, keys[i]));
    while (growing_histogram_bins(&range, self->width) > GROWING_HISTOGRAM_BINS_MIN / 2)
        self->width *= 10;
    return growing_histogram_open_window(self, &range, GROWING_HISTOGRAM_BINS_MIN, failure);
}

/* The most bins of a window of the job's width, for a block of so many values. */
static uint64_t growing_histogram_most_bins(const struct growing_histogram *self, size_t block)
{
    uint64_t of_block = GROWING_HISTOGRAM_SPREAD_BLOCK * block;
    uint64_t of_all = GROWING_HISTOGRAM_SPREAD_ALL * (self->block_values + bin_map_bins(self->map));
    uint64_t most = of_block > of_all ? of_block : of_all;
    return most < self->limit ? most : self->limit;
}

/* How many bins must be added to the window so that it contains the range. */
static __int128 growing_histogram_beyond(const struct growing_window *window,
                                         const struct growing_histogram_range *range)
{
    __int128 below = window->first - binning_floor(range->low, window->width);
    __int128 above = binning_floor(range->high, window->width) - window->first - window->bins + 1;
    return (below > 0 ? below : 0) + (above > 0 ? above : 0);
}

/*
 * Makes the range of the known values and of those keys that fit with them in a window of `most`
 * bins: keys above, if those on both sides do not fit. Returns whether there are such keys, and
 * enough of them for the bins to add.
 */
static bool growing_histogram_reach(const struct growing_histogram *self, const uint64_t *keys,
                                    size_t n, uint64_t most, struct growing_histogram_range *range)
{
    const __int128 span = (__int128)most;
    __int128 lowest = (binning_floor(self->high, self->width) - span + 1) * self->width;
    __int128 end = (binning_floor(self->low, self->width) + span) * self->width;
    uint64_t near = 0;

    *range = (struct growing_histogram_range){.low = self->low, .high = self->high};
    for (size_t i = 0; i < n; i++) {
        __int128 value = element_value(&self->job->element, keys[i]);
        if (value < lowest || value >= end)
            continue;
        growing_histogram_include(range, value);
        near++;
    }
    if (growing_histogram_bins(range, self->width) > most)
        range->low = self->low;
    return growing_histogram_beyond(&self->windows[self->count - 1], range) <=
               GROWING_HISTOGRAM_SPREAD_BLOCK * near &&
           (range->low < self->low || range->high > self->high);
}

static int growing_histogram_compare(const void *a, const void *b)
{
    const __int128 *x = a;
    const __int128 *y = b;
    return (*x > *y) - (*x < *y);
}

/*
 * Makes the range of those keys that fit in a window of `most` bins around their median. Returns
 * false, and makes the range of the median alone, if they are less than half of the block.
 */
static bool growing_histogram_find_center(const struct growing_histogram *self,
                                          const uint64_t *keys, size_t n, size_t block,
                                          uint64_t most, struct growing_histogram_range *range)
{
    const __int128 half = (__int128)most / 2;
    __int128 values[GROWING_HISTOGRAM_BLOCK];
    size_t near = 0;

    for (size_t i = 0; i < n; i++)
        values[i] = element_value(&self->job->element, keys[i]);
    qsort(values, n, sizeof *values, growing_histogram_compare);
    __int128 median = binning_floor(values[n / 2], self->width);
    *range = (struct growing_histogram_range){.low = 1};
    for (size_t i = 0; i < n; i++) {
        __int128 bin = binning_floor(values[i], self->width);
        if (bin < median - half || bin >= median + half)
            continue;
        growing_histogram_include(range, values[i]);
        near++;
    }
    if (near >= block / 2)
        return true;
    *range = (struct growing_histogram_range){.low = values[n / 2], .high = values[n / 2]};
    return false;
}

/*
 * Makes a window of the job's width if it pays: the first one; or one that extends the newest to
 * keys near it; or one elsewhere for at least half of the block.
 */
static enum status growing_histogram_widen_fixed(struct growing_histogram *self,
                                                 const uint64_t *keys, size_t n, size_t block,
                                                 struct failure *failure)
{
    const struct growing_window *newest = self->count > 0 ? &self->windows[self->count - 1] : NULL;
    struct growing_histogram_range range;
    uint64_t bins = GROWING_HISTOGRAM_BINS_MIN;
    uint64_t most = growing_histogram_most_bins(self, block);

    self->block_values += block;
    if (newest && newest->bins < self->limit &&
        growing_histogram_reach(self, keys, n, most, &range)) {
        bins = 2 * newest->bins;
    } else {
        bool is_moved = n >= block / 2 && n >= GROWING_HISTOGRAM_MOVED_MIN && self->moves_left > 0;
        if (newest && !is_moved)
            return STATUS_OK;
        bool pays = growing_histogram_find_center(self, keys, n, block, most, &range);
        if (newest && !pays)
            return STATUS_OK;
        self->moves_left -= newest != NULL;
    }
    uint64_t needed = (uint64_t)growing_histogram_bins(&range, self->width);
    if (bins < needed + needed / 4)
        bins = needed + needed / 4;
    if (bins > self->limit)
        bins = self->limit;
    if (growing_histogram_open_window(self, &range, bins, failure) == STATUS_OK)
        return STATUS_OK;
    self->limit =
        newest ? newest->bins : GROWING_HISTOGRAM_BINS_MIN; /* there is no memory for more */
    return newest ? STATUS_OK : failure->status;
}

enum status growing_histogram_widen(struct growing_histogram *histogram,
                                    const struct growing_window *seen, const uint64_t *keys,
                                    size_t n, size_t block, const struct growing_window **window,
                                    struct failure *failure)
{
    enum status status = STATUS_OK;

    pthread_mutex_lock(&histogram->lock);
    if (growing_histogram_window(histogram) == seen &&
        histogram->count < GROWING_HISTOGRAM_WINDOWS_MAX)
        status = histogram->job->bin_width > 0
                     ? growing_histogram_widen_fixed(histogram, keys, n, block, failure)
                     : growing_histogram_widen_automatic(histogram, keys, n, failure);
    *window = growing_histogram_window(histogram);
    pthread_mutex_unlock(&histogram->lock);
    return status;
}

/* The number of a key's bin modulo 2^64, rounded down. For a negative v, -v - 1 is ~v. */
static uint64_t growing_histogram_bin(const struct job *job, uint64_t key)
{
    bool is_negative = job->element.is_signed && (int64_t)key < 0;

    if (job->bin_width == 1)
        return key;
    return is_negative ? ~(~key / job->bin_width) : key / job->bin_width;
}

enum status growing_histogram_spill(struct growing_histogram *histogram,
                                    struct bin_map_batch *batch, const uint64_t *keys, size_t n,
                                    struct failure *failure)
{
    for (size_t i = 0; i < n; i++) {
        if (batch->count == BIN_MAP_BATCH &&
            bin_map_add(histogram->map, batch, failure) != STATUS_OK)
            return failure->status;
        batch->keys[batch->count++] = growing_histogram_bin(histogram->job, keys[i]);
    }
    return STATUS_OK;
}

enum status growing_histogram_add_count(struct growing_histogram *histogram,
                                        const struct growing_window *window, uint64_t key,
                                        uint64_t count, struct failure *failure)
{
    uint32_t bin = UINT32_MAX;

    if (window)
        bin = binning_index(&window->binning, window->binning.form, key);
    if (!window || bin >= window->binning.bins)
        return bin_map_add_count(histogram->map, growing_histogram_bin(histogram->job, key), count,
                                 failure);
    histogram_add_counts64(window->histogram, bin, &count, 1);
    return STATUS_OK;
}

/*
 * Counts the keys that lie in the window. Moves the others to the front of `keys` and returns how
 * many they are.
 */
static size_t growing_histogram_count(const struct growing_window *window, uint64_t *keys, size_t n)
{
    const struct binning *binning = &window->binning;
    const uint64_t one = 1;
    size_t outside = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t bin = binning_index(binning, binning->form, keys[i]);
        if (bin < window->binning.bins)
            histogram_add_counts64(window->histogram, bin, &one, 1);
        else
            keys[outside++] = keys[i];
    }
    return outside;
}

enum status growing_histogram_add(struct growing_histogram *histogram, struct bin_map_batch *batch,
                                  uint64_t *keys, size_t n, size_t block, struct failure *failure)
{
    const struct growing_window *window = growing_histogram_window(histogram);
    const struct growing_window *seen;

    do {
        seen = window;
        n = seen ? growing_histogram_count(seen, keys, n) : n;
        if (n == 0)
            return STATUS_OK;
        if (growing_histogram_widen(histogram, seen, keys, n, block, &window, failure) != STATUS_OK)
            return failure->status;
    } while (window != seen);
    return growing_histogram_spill(histogram, batch, keys, n, failure);
}

/* Extends the range of used bins by first..last. */
static void growing_histogram_extend(struct growing_histogram *self, __int128 first, __int128 last)
{
    bool is_empty = self->first > self->last;

    if (is_empty || first < self->first)
        self->first = first;
    if (is_empty || last > self->last)
        self->last = last;
}

/* The sum of the counts of a window. With a given width, also extends the range of used bins. */
static uint64_t growing_histogram_sum_window(struct growing_histogram *self,
                                             const struct growing_window *window)
{
    __int128 first;
    __int128 last;

    if (self->job->bin_width > 0 && growing_window_find_ends(window, &first, &last))
        growing_histogram_extend(self, first, last);
    return histogram_sum_bins(window->histogram);
}

/* The sum of all counts. Also finds the range of used bins, or makes the automatic result. */
static uint64_t growing_histogram_sum(struct growing_histogram *self)
{
    const struct element *element = &self->job->element;
    uint64_t sum = 0;

    self->first = 1;
    self->last = 0;
    for (size_t i = 0; i < self->count; i++)
        sum += growing_histogram_sum_window(self, &self->windows[i]);
    for (size_t i = 0; i < self->entry_count; i++)
        sum += self->entries[i].count;
    if (self->entry_count > 0)
        growing_histogram_extend(self, element_value(element, self->entries[0].key),
                                 element_value(element, self->entries[self->entry_count - 1].key));
    if (self->job->bin_width == 0)
        growing_histogram_add_up(self);
    return sum;
}

static enum status growing_histogram_create_partial(const struct job *job, void **partial,
                                                    struct failure *failure)
{
    struct growing_histogram *histogram = NULL;
    enum status status = growing_histogram_create(job, &histogram, failure);
    *partial = histogram;
    return status;
}

static enum status growing_histogram_finish(void *partial, const struct job *job, uint64_t elements,
                                            struct failure *failure)
{
    struct growing_histogram *self = partial;

    bin_map_free_entries(self->entries, self->entry_count);
    self->entries = NULL;
    self->entry_count = 0;
    if (bin_map_sort(self->map, job->element.is_signed, &self->entries, &self->entry_count,
                     failure) != STATUS_OK)
        return failure->status;
    self->elements = growing_histogram_sum(self);
    if (self->elements == elements)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA,
                       "internal error: %llu elements were read, but %llu counted",
                       (unsigned long long)elements, (unsigned long long)self->elements);
}

static enum status growing_histogram_verdict(const struct job *job, const void *partial,
                                             struct failure *failure)
{
    const struct growing_histogram *self = partial;
    return job_check_values(job, self->elements > 0, failure);
}

static void growing_histogram_destroy_partial(void *partial)
{
    growing_histogram_destroy(partial);
}

/* For users it is the operation histogram. */
const struct operation operation_growing_histogram = {
    .name = "histogram",
    .create = growing_histogram_create_partial,
    .finish = growing_histogram_finish,
    .verdict = growing_histogram_verdict,
    .state = &growing_histogram_state,
    .destroy = growing_histogram_destroy_partial,
};
