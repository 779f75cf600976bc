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
    pthread_mutex_init(&made->lock, NULL);
    return made;
}

void growing_histogram_destroy(void *partial)
{
    struct growing_histogram *histogram = partial;
    if (!histogram)
        return;
    for (size_t i = 0; i < histogram->count; i++)
        growing_window_destroy(&histogram->windows[i]);
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
 * Makes a window around the range, which touches fewer bins. Half of the free bins lie on each
 * side, so that the number of windows of one width is limited (GROWING_HISTOGRAM_WINDOWS_MAX).
 */
static enum status growing_histogram_open_window(struct growing_histogram *self,
                                                 const struct growing_histogram_range *range,
                                                 struct failure *failure)
{
    const uint64_t bins = GROWING_HISTOGRAM_BINS;
    uint64_t room = bins - (uint64_t)growing_histogram_bins(range, self->width);
    struct growing_window *window = &self->windows[self->count];

    if (growing_window_init(window, &self->job->element,
                            binning_floor(range->low, self->width) - room / 2, bins, self->width,
                            failure) != STATUS_OK)
        return failure->status;
    self->count++;
    self->low = range->low;
    self->high = range->high;
    atomic_store_explicit(&self->window, window, memory_order_release);
    return STATUS_OK;
}

/* Makes a window for the known values and the keys, with bins as wide as necessary. */
static enum status growing_histogram_fit(struct growing_histogram *self, const uint64_t *keys,
                                         size_t n, struct failure *failure)
{
    struct growing_histogram_range range = {.low = self->low, .high = self->high};

    for (size_t i = 0; i < n; i++)
        growing_histogram_include(&range, element_value(&self->job->element, keys[i]));
    while (growing_histogram_bins(&range, self->width) > GROWING_HISTOGRAM_BINS / 2)
        self->width *= 10;
    return growing_histogram_open_window(self, &range, failure);
}

enum status growing_histogram_widen(struct growing_histogram *histogram,
                                    const struct growing_window *seen, const uint64_t *keys,
                                    size_t n, const struct growing_window **window,
                                    struct failure *failure)
{
    enum status status = STATUS_OK;

    pthread_mutex_lock(&histogram->lock);
    if (growing_histogram_window(histogram) == seen)
        status = growing_histogram_fit(histogram, keys, n, failure);
    *window = growing_histogram_window(histogram);
    pthread_mutex_unlock(&histogram->lock);
    return status;
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

enum status growing_histogram_add(struct growing_histogram *histogram, uint64_t *keys, size_t n,
                                  struct failure *failure)
{
    const struct growing_window *window = growing_histogram_window(histogram);

    for (;;) {
        n = window ? growing_histogram_count(window, keys, n) : n;
        if (n == 0)
            return STATUS_OK;
        if (growing_histogram_widen(histogram, window, keys, n, &window, failure) != STATUS_OK)
            return failure->status;
    }
}

enum status growing_histogram_finish(void *partial, const struct job *job, uint64_t elements,
                                     struct failure *failure)
{
    struct growing_histogram *self = partial;

    (void)job;
    self->elements = 0;
    for (size_t i = 0; i < self->count; i++)
        self->elements += histogram_sum_bins(self->windows[i].histogram);
    growing_histogram_add_up(self);
    return operation_check_elements(elements, self->elements, failure);
}
