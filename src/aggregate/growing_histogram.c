/* Implements growing_histogram.h: adds windows, and sums them up as rows. */
#include "config.h"

#include "aggregate/growing_histogram.h"

#include "aggregate/rows.h"
#include "aggregate/store.h"
#include "value/binning_index.h"

#include <stdlib.h>

void *growing_histogram_create(const struct plan *plan, struct failure *failure)
{
    struct growing_histogram *histogram = calloc(1, sizeof *histogram);
    if (!histogram) {
        status_fail(failure, STATUS_DATA, "not enough memory for a histogram");
        return NULL;
    }
    histogram->plan = plan;
    histogram->width = column_width(&plan->columns[0]);
    histogram->low = 1; /* low > high: no value is known */
    pthread_mutex_init(&histogram->windows.lock, NULL);
    return histogram;
}

void growing_histogram_destroy(void *aggregate)
{
    struct growing_histogram *histogram = aggregate;
    if (!histogram)
        return;
    growing_windows_destroy(&histogram->windows);
    free(histogram);
}

/*
 * The window has the known values and the keys, with bins as wide as necessary. Half of the free
 * bins lie on each side, so that the number of windows of one width is limited.
 */
enum status growing_histogram_widen(struct growing_histogram *histogram,
                                    const struct growing_window *seen, const uint64_t *keys,
                                    size_t n, const struct growing_window **window,
                                    struct failure *failure)
{
    enum status status = STATUS_OK;

    pthread_mutex_lock(&histogram->windows.lock);
    if (growing_histogram_window(histogram) == seen) {
        const struct element *element = &histogram->plan->element;
        __int128 low = histogram->low;
        __int128 high = histogram->high;
        __int128 used;
        for (size_t i = 0; i < n; i++) {
            const __int128 value = element_value(element, keys[i]);
            const bool is_first = low > high;
            low = is_first || value < low ? value : low;
            high = is_first || value > high ? value : high;
        }
        while ((used = binning_floor(high, histogram->width) -
                       binning_floor(low, histogram->width) + 1) > GROWING_HISTOGRAM_BINS / 2)
            histogram->width *= 10;
        const __int128 first =
            binning_floor(low, histogram->width) - (GROWING_HISTOGRAM_BINS - used) / 2;
        status = growing_windows_add(&histogram->windows, histogram->plan, first,
                                     GROWING_HISTOGRAM_BINS, histogram->width, failure);
        if (status == STATUS_OK) {
            histogram->low = low;
            histogram->high = high;
        }
    }
    *window = growing_histogram_window(histogram);
    pthread_mutex_unlock(&histogram->windows.lock);
    return status;
}

enum status growing_histogram_add(struct growing_histogram *histogram, uint64_t *keys,
                                  uint64_t *counts, size_t n, struct failure *failure)
{
    const struct growing_window *window = growing_histogram_window(histogram);
    const uint64_t one = 1;

    while (n > 0) {
        size_t outside = 0;
        for (size_t i = 0; i < n; i++) {
            const uint64_t *count = counts ? &counts[i] : &one;
            const uint32_t bin =
                window ? binning_index(&window->binning, window->binning.form, keys[i]) : 0;
            if (window && bin < window->binning.bins) {
                histogram_add_counts64(window->histogram, bin, count, 1);
                continue;
            }
            keys[outside] = keys[i];
            if (counts)
                counts[outside] = *count;
            outside++;
        }
        n = outside;
        if (n > 0 &&
            growing_histogram_widen(histogram, window, keys, n, &window, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

/*
 * Let u be the width of the last window, a power of ten in units. The final width is the smallest
 * of u, 2u, 5u, 10u, ... that makes at most 64 bins. No width below u would do: if u is more than a
 * unit, the known values touched more than 511 bins of width u / 10 (growing_histogram_widen). The
 * largest of 1, 2 and 5 times a power of ten units below u is u / 2; one of its bins covers 5 of
 * those, so the values touch more than 102 bins.
 *
 * The width of each window is a power of ten units, at most u, and so divides the final width. Bins
 * begin at multiples of their width. Therefore each bin of a window lies in one bin of the result.
 */
static void growing_histogram_find_bins(struct growing_histogram *histogram)
{
    const uint64_t width = histogram->width;
    bool is_empty = true;

    histogram->first = 0;
    histogram->last = -1;
    for (size_t w = 0; w < histogram->windows.count; w++) {
        const struct growing_window *window = &histogram->windows.list[w];
        __int128 low;
        __int128 high;
        if (!growing_window_find_ends(window, &low, &high))
            continue;
        low = binning_floor(low * window->width, width);
        high = binning_floor(high * window->width, width);
        histogram->first = is_empty || low < histogram->first ? low : histogram->first;
        histogram->last = is_empty || high > histogram->last ? high : histogram->last;
        is_empty = false;
    }
}

uint64_t growing_histogram_width(const struct growing_histogram *histogram, uint64_t bins)
{
    __int128 factor = 1;

    while (binning_floor(histogram->last, factor) - binning_floor(histogram->first, factor) >=
           (__int128)bins)
        factor = binning_next_round(factor);
    return histogram->width * (uint64_t)factor;
}

enum status growing_histogram_finalize(void *aggregate, const struct plan *plan, uint64_t elements,
                                       struct failure *failure)
{
    struct growing_histogram *self = aggregate;

    (void)plan;
    self->elements = growing_windows_total(&self->windows);
    growing_histogram_find_bins(self);
    return store_check_elements(elements, self->elements, failure);
}

/* next[0] is the number of bins read, next[1] the width of each: a multiple of each window's. */
static size_t growing_histogram_rows_read(struct rows *rows, struct rows_row *out, size_t capacity)
{
    const struct growing_histogram *histogram = rows->aggregate;
    const uint64_t width = rows->next[1];
    const __int128 first = binning_floor(histogram->first * histogram->width, width);
    const __int128 last = binning_floor(histogram->last * histogram->width, width);
    size_t n = 0;

    for (; n < capacity && first + rows->next[0] <= last; rows->next[0]++) {
        const __int128 bin = first + rows->next[0];
        uint64_t count = 0;
        for (size_t w = 0; w < histogram->windows.count; w++) {
            const struct growing_window *window = &histogram->windows.list[w];
            const __int128 parts = width / window->width;
            const __int128 from = bin * parts - window->first;
            for (__int128 i = from < 0 ? 0 : from; i < from + parts && i < window->bins; i++)
                count += growing_window_count(window, (uint64_t)i);
        }
        if (count > 0 || rows->zeros)
            out[n++] =
                (struct rows_row){.low = bin * width, .high = (bin + 1) * width, .count = count};
    }
    return n;
}

void growing_histogram_rows_begin(struct rows *rows, const struct plan *plan,
                                  const struct growing_histogram *histogram, uint64_t width,
                                  bool zeros)
{
    *rows = (struct rows){
        .plan = plan,
        .aggregate = histogram,
        .zeros = zeros,
        .is_unit = width == 1,
        .inside = histogram->elements,
        .next = {0, width},
        .read = growing_histogram_rows_read,
    };
}
