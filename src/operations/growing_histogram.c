#include "config.h"

#include "operations/growing_histogram.h"

#include "base/memory.h"
#include "job/binning_index.h"
#include "operations/operation.h"
#include "operations/state_job.h"

#include <stdlib.h>

/* How often windows are opened elsewhere, for values that lie in several places. */
#define GROWING_HISTOGRAM_MOVES 4

/* Values that it takes for that: fewer are no sign of where the others will be. */
#define GROWING_HISTOGRAM_MOVED_MIN ((size_t)64)

/*
 * Bins that a window may have for each value of the block at hand, and for each of those that have
 * asked for one or were counted apart. A bin of a window takes some 2 ns to be looked at in the
 * end, a value that is counted apart 100 and more.
 */
#define GROWING_HISTOGRAM_SPREAD_AT_HAND 2048
#define GROWING_HISTOGRAM_SPREAD         512

/* Virtual memory of a bin in a window: both parts of its counter. */
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
    made->low = 1; /* none is known */
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

/* The bins of a width that a range touches. */
static unsigned __int128 growing_histogram_bins(const struct growing_histogram_range *range,
                                                uint64_t width)
{
    return (unsigned __int128)(binning_floor(range->high, width) -
                               binning_floor(range->low, width)) +
           1;
}

/*
 * Makes the newest window: it has the range, and `bins` bins, more than the range touches. They
 * leave most room where a range has grown on one side; but half on either if they are automatic, so
 * that the next window of the same width is as much larger in any case.
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

/* Makes a window for all that is known and the keys, as wide as it must be. */
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

/* The bins that a window of the job's width may touch, for a block of so many values. */
static uint64_t growing_histogram_most(const struct growing_histogram *self, size_t block)
{
    uint64_t at_hand = GROWING_HISTOGRAM_SPREAD_AT_HAND * block;
    uint64_t in_all = GROWING_HISTOGRAM_SPREAD * (self->asked + bin_map_bins(self->map));
    uint64_t most = at_hand > in_all ? at_hand : in_all;
    return most < self->limit ? most : self->limit;
}

/* The bins that the range touches, and those between, that the window has not. */
static __int128 growing_histogram_beyond(const struct growing_window *window,
                                         const struct growing_histogram_range *range)
{
    __int128 below = window->first - binning_floor(range->low, window->width);
    __int128 above = binning_floor(range->high, window->width) - window->first - window->bins + 1;
    return (below > 0 ? below : 0) + (above > 0 ? above : 0);
}

/*
 * Adds to the range of what is known those keys that a window of `most` bins can have with it:
 * those above, if not both. Returns whether there are any, and enough of them for the bins between.
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
               GROWING_HISTOGRAM_SPREAD_AT_HAND * near &&
           (range->low < self->low || range->high > self->high);
}

static int growing_histogram_compare(const void *a, const void *b)
{
    const __int128 *x = a;
    const __int128 *y = b;
    return (*x > *y) - (*x < *y);
}

/*
 * The range of those keys that a window can have around their median, if they are half of the block
 * or more; else that of the median alone, and returns false.
 */
static bool growing_histogram_settle(const struct growing_histogram *self, const uint64_t *keys,
                                     size_t n, size_t block, uint64_t most,
                                     struct growing_histogram_range *range)
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
 * Makes a window of the job's width if it pays: one that has more of what is near, or if nothing
 * is, one elsewhere that would have half of the block, or the first.
 */
static enum status growing_histogram_widen_fixed(struct growing_histogram *self,
                                                 const uint64_t *keys, size_t n, size_t block,
                                                 struct failure *failure)
{
    const struct growing_window *newest = self->count > 0 ? &self->windows[self->count - 1] : NULL;
    struct growing_histogram_range range;
    uint64_t bins = GROWING_HISTOGRAM_BINS_MIN;
    uint64_t most = growing_histogram_most(self, block);

    self->asked += block;
    if (newest && newest->bins < self->limit &&
        growing_histogram_reach(self, keys, n, most, &range)) {
        bins = 2 * newest->bins;
    } else {
        bool is_moved = n >= block / 2 && n >= GROWING_HISTOGRAM_MOVED_MIN && self->moves_left > 0;
        if (newest && !is_moved)
            return STATUS_OK;
        bool pays = growing_histogram_settle(self, keys, n, block, most, &range);
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
    self->limit = newest ? newest->bins : GROWING_HISTOGRAM_BINS_MIN; /* more is not to be had */
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

/* The number of a key's bin modulo 2^64; -v - 1 is ~v. */
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

/* Counts those of the keys that the window has, and moves the others, so many, to the front. */
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

/* Takes into account that bins first .. last are not empty. */
static void growing_histogram_extend(struct growing_histogram *self, __int128 first, __int128 last)
{
    bool is_empty = self->first > self->last;

    if (is_empty || first < self->first)
        self->first = first;
    if (is_empty || last > self->last)
        self->last = last;
}

/* The sum of a window; tells which of its bins, if the width is given, are not empty. */
static uint64_t growing_histogram_sum_window(struct growing_histogram *self,
                                             const struct growing_window *window)
{
    __int128 first;
    __int128 last;

    if (self->job->bin_width > 0 && growing_window_find_ends(window, &first, &last))
        growing_histogram_extend(self, first, last);
    return histogram_sum_bins(window->histogram);
}

/* The sum of all, sorted and ready to be read. */
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

/* To users it is the histogram that it is named like. */
const struct operation operation_growing_histogram = {
    .name = "histogram",
    .create = growing_histogram_create_partial,
    .finish = growing_histogram_finish,
    .verdict = growing_histogram_verdict,
    .state = &growing_histogram_state,
    .destroy = growing_histogram_destroy_partial,
};
