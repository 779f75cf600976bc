/* Implements growing_window.h: windows that stay within the values of a type. */
#include "config.h"

#include "aggregate/growing_window.h"

bool growing_window_find_ends(const struct growing_window *window, __int128 *first, __int128 *last)
{
    size_t start = histogram_skip_empty(window->histogram, 0, window->bins);
    size_t end = histogram_trim_empty(window->histogram, start, window->bins);

    *first = window->first + start;
    *last = window->first + end - 1;
    return start < end;
}

enum status growing_windows_add(struct growing_windows *windows, const struct plan *of,
                                __int128 first, uint64_t bins, uint64_t width,
                                struct failure *failure)
{
    const struct element *element = &of->element;
    const __int128 lowest = binning_floor(element_min(element), width);
    const __int128 end = binning_floor(element_limit(element) - 1, width) + 1;
    struct growing_window *window = &windows->list[windows->count];
    struct plan plan = {.element = *element, .context = of->context};

    if ((__int128)bins > end - lowest)
        bins = (uint64_t)(end - lowest);
    if (first > end - bins)
        first = end - bins;
    if (first < lowest)
        first = lowest;
    binning_init_window(&plan.binning, element, first * width, (uint32_t)bins, width);
    *window = (struct growing_window){
        .binning = plan.binning,
        .histogram = histogram_create(&plan, failure),
        .width = width,
        .first = first,
        .bins = bins,
    };
    if (!window->histogram)
        return failure->status;
    windows->count++;
    atomic_store_explicit(&windows->newest, window, memory_order_release);
    return STATUS_OK;
}

uint64_t growing_windows_total(const struct growing_windows *windows)
{
    uint64_t total = 0;

    for (size_t i = 0; i < windows->count; i++)
        total += histogram_sum_bins(windows->list[i].histogram);
    return total;
}

void growing_windows_destroy(struct growing_windows *windows)
{
    for (size_t i = 0; i < windows->count; i++)
        histogram_destroy(windows->list[i].histogram);
    pthread_mutex_destroy(&windows->lock);
}
