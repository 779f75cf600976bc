/* The rows of an automatic histogram: its result, and the bins of its windows. */
#include "config.h"

#include "count/growing_histogram.h"
#include "partial/rows.h"

/*
 * Finds the first and the last bin of `width` that is not empty; `width` is a multiple of the width
 * of each window. Returns false if all are empty.
 */
static bool growing_histogram_find_ends(const struct growing_histogram *histogram, uint64_t width,
                                        __int128 *first, __int128 *last)
{
    bool is_empty = true;

    for (size_t w = 0; w < histogram->count; w++) {
        const struct growing_window *window = &histogram->windows[w];
        __int128 low;
        __int128 high;
        if (!growing_window_find_ends(window, &low, &high))
            continue;
        low = binning_floor(low * window->width, width);
        high = binning_floor(high * window->width, width);
        *first = is_empty || low < *first ? low : *first;
        *last = is_empty || high > *last ? high : *last;
        is_empty = false;
    }
    return !is_empty;
}

/*
 * Let u be the width of the last window, a power of ten. The final width is the smallest of u, 2u,
 * 5u, 10u, ... that makes at most 64 bins. No width below u would do: if u > 1, the known values
 * touched more than 511 bins of width u / 10 (growing_histogram_fit). The largest of 1,
 * 2 and 5 times a power of ten below u is u / 2; one of its bins covers 5 of those, so the values
 * touch more than 102 bins.
 *
 * The width of each window is a power of ten, at most u, and so divides the final width. Bins begin
 * at multiples of their width. Therefore each bin of a window lies in one bin of the result.
 */
void growing_histogram_add_up(struct growing_histogram *histogram)
{
    static const unsigned steps[] = {1, 2, 5};
    struct growing_histogram_result *result = &histogram->result;
    __int128 first = 0;
    __int128 last = -1;

    *result = (struct growing_histogram_result){.width = histogram->width};
    if (!growing_histogram_find_ends(histogram, histogram->width, &first, &last))
        return;
    for (uint64_t unit = 1, step = 0;; unit *= step == 2 ? 10 : 1, step = (step + 1) % 3) {
        uint64_t factor = unit * steps[step];
        result->first = binning_floor(first, factor);
        __int128 bins = binning_floor(last, factor) - result->first + 1;
        result->width = histogram->width * factor;
        result->bins = (size_t)bins;
        if (bins <= GROWING_HISTOGRAM_RESULT_BINS)
            break;
    }
    for (size_t w = 0; w < histogram->count; w++) {
        const struct growing_window *window = &histogram->windows[w];
        for (uint64_t i = 0; i < window->bins; i++) {
            __int128 low = (window->first + i) * window->width;
            uint64_t count = growing_window_count(window, i);
            if (count > 0)
                result->counts[binning_floor(low, result->width) - result->first] += count;
        }
    }
}

static struct rows_row growing_histogram_row(__int128 bin, uint64_t width, uint64_t count)
{
    return (struct rows_row){.low = bin * width, .high = (bin + 1) * width, .count = count};
}

static size_t growing_histogram_read_result(struct rows *rows, struct rows_row *out, size_t room)
{
    const struct growing_histogram_result *result =
        &((const struct growing_histogram *)rows->partial)->result;
    size_t n = 0;

    for (; n < room && rows->next[0] < result->bins; rows->next[0]++) {
        uint64_t count = result->counts[rows->next[0]];
        if (count > 0 || rows->zeros)
            out[n++] = growing_histogram_row(result->first + rows->next[0], result->width, count);
    }
    return n;
}

void growing_histogram_rows_begin(struct rows *rows, const struct job *job,
                                  const struct growing_histogram *histogram, bool zeros)
{
    *rows = (struct rows){
        .job = job,
        .partial = histogram,
        .zeros = zeros,
        .is_unit = histogram->result.width == 1,
        .inside = histogram->elements,
        .read = growing_histogram_read_result,
    };
}

/* The count of bin `bin` of `width`, a multiple of the width of each window. */
static uint64_t growing_histogram_count_fine(const struct growing_histogram *histogram,
                                             __int128 bin, uint64_t width)
{
    uint64_t count = 0;

    for (size_t w = 0; w < histogram->count; w++) {
        const struct growing_window *window = &histogram->windows[w];
        __int128 parts = width / window->width;
        __int128 from = bin * parts - window->first;
        __int128 to = from + parts;
        for (__int128 i = from < 0 ? 0 : from; i < to && i < window->bins; i++)
            count += growing_window_count(window, (uint64_t)i);
    }
    return count;
}

static size_t growing_histogram_read_fine(struct rows *rows, struct rows_row *out, size_t room)
{
    const struct growing_histogram *histogram = rows->partial;
    __int128 first = 0;
    __int128 last = -1;
    size_t n = 0;

    growing_histogram_find_ends(histogram, histogram->width, &first, &last);
    for (; n < room && first + rows->next[0] <= last; rows->next[0]++) {
        __int128 bin = first + rows->next[0];
        uint64_t count = growing_histogram_count_fine(histogram, bin, histogram->width);
        if (count > 0 || rows->zeros)
            out[n++] = growing_histogram_row(bin, histogram->width, count);
    }
    return n;
}

void growing_histogram_fine_rows_begin(struct rows *rows, const struct job *job,
                                       const struct growing_histogram *histogram)
{
    growing_histogram_rows_begin(rows, job, histogram, false);
    rows->is_unit = histogram->width == 1;
    rows->read = growing_histogram_read_fine;
}
