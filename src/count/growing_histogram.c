/* Implements growing_histogram.h: when windows are made. */
#include "config.h"

#include "count/growing_histogram.h"

#include "job/binning_index.h"
#include "partial/operation.h"

#include <stdlib.h>

void *growing_histogram_create(const struct job *job, struct failure *failure)
{
    struct growing_histogram *made = calloc(1, sizeof *made);
    if (!made) {
        status_fail(failure, STATUS_DATA, "no memory for a histogram");
        return NULL;
    }
    made->job = job;
    made->width = 1;
    made->low = 1; /* low > high: no value is known */
    pthread_mutex_init(&made->windows.lock, NULL);
    return made;
}

void growing_histogram_destroy(void *partial)
{
    struct growing_histogram *histogram = partial;
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
        const struct element *element = &histogram->job->element;
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
        status = growing_windows_add(&histogram->windows, element, first, GROWING_HISTOGRAM_BINS,
                                     histogram->width, failure);
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

enum status growing_histogram_finish(void *partial, const struct job *job, uint64_t elements,
                                     struct failure *failure)
{
    struct growing_histogram *self = partial;

    (void)job;
    self->elements = growing_windows_total(&self->windows);
    growing_histogram_find_bins(self);
    return operation_check_elements(elements, self->elements, failure);
}
