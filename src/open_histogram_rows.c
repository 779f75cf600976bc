/* What an open histogram is read as: its windows and its map together, in ascending order. */
#include "config.h"

#include "open_histogram.h"
#include "rows.h"

/* next[1] when all was read. */
#define OPEN_HISTOGRAM_READ UINT64_MAX

/* The bins of `width` that are not empty, of bins of the windows' widths that divide it. */
static bool open_histogram_find_ends(const struct open_histogram *histogram, uint64_t width,
                                     __int128 *first, __int128 *last)
{
    bool is_empty = true;

    for (size_t w = 0; w < histogram->count; w++) {
        const struct open_window *window = &histogram->windows[w];
        for (uint64_t i = 0; i < window->bins; i++) {
            if (open_window_count(window, i) == 0)
                continue;
            __int128 bin = binning_floor((window->first + i) * window->width, width);
            *first = is_empty || bin < *first ? bin : *first;
            *last = is_empty || bin > *last ? bin : *last;
            is_empty = false;
        }
    }
    return !is_empty;
}

/*
 * With u, a power of ten, the width of the last window, the final width is the smallest u, 2u, 5u,
 * 10u, ... that makes 64 bins or fewer, and a smaller one would not do. If u > 1, values were known
 * that touched more than 511 bins of u / 10 (open_histogram_widen_automatic). Any 1, 2 or 5 times a
 * power of ten below u is u / 2 = 5 (u / 10) at most, a bin of which has 5 of those: the values
 * touch more than 102 of them.
 *
 * The width divides by those of all windows, each a power of ten not above u, and bins begin at
 * multiples of their widths: a bin of a window lies in one bin of the result.
 */
void open_histogram_add_up(struct open_histogram *histogram)
{
    static const unsigned steps[] = {1, 2, 5};
    struct open_histogram_result *result = &histogram->result;
    __int128 first = 0;
    __int128 last = -1;

    *result = (struct open_histogram_result){.width = histogram->width};
    if (!open_histogram_find_ends(histogram, histogram->width, &first, &last))
        return;
    for (uint64_t unit = 1, step = 0;; unit *= step == 2 ? 10 : 1, step = (step + 1) % 3) {
        uint64_t factor = unit * steps[step];
        result->first = binning_floor(first, factor);
        __int128 bins = binning_floor(last, factor) - result->first + 1;
        result->width = histogram->width * factor;
        result->bins = (size_t)bins;
        if (bins <= OPEN_HISTOGRAM_AUTOMATIC_BINS)
            break;
    }
    for (size_t w = 0; w < histogram->count; w++) {
        const struct open_window *window = &histogram->windows[w];
        for (uint64_t i = 0; i < window->bins; i++) {
            __int128 low = (window->first + i) * window->width;
            uint64_t count = open_window_count(window, i);
            if (count > 0)
                result->counts[binning_floor(low, result->width) - result->first] += count;
        }
    }
}

static struct rows_row open_histogram_row(__int128 bin, uint64_t width, uint64_t count)
{
    return (struct rows_row){.low = bin * width, .high = (bin + 1) * width, .count = count};
}

static size_t open_histogram_read_result(struct rows *rows, struct rows_row *out, size_t room)
{
    const struct open_histogram_result *result =
        &((const struct open_histogram *)rows->partial)->result;
    size_t n = 0;

    for (; n < room && rows->next[0] < result->bins; rows->next[0]++) {
        uint64_t count = result->counts[rows->next[0]];
        if (count > 0 || rows->zeros)
            out[n++] = open_histogram_row(result->first + rows->next[0], result->width, count);
    }
    return n;
}

/* A run of bins that the same windows have. */
struct open_histogram_stretch {
    const struct open_window *windows[OPEN_HISTOGRAM_WINDOWS_MAX];
    size_t count;
    __int128 end; /* the first bin behind it */
};

static void open_histogram_find_stretch(const struct open_histogram *histogram, __int128 bin,
                                        struct open_histogram_stretch *stretch)
{
    stretch->count = 0;
    stretch->end = histogram->last + 1;
    for (size_t i = 0; i < histogram->count; i++) {
        const struct open_window *window = &histogram->windows[i];
        __int128 end = window->first + window->bins;
        if (bin < window->first) {
            stretch->end = window->first < stretch->end ? window->first : stretch->end;
        } else if (bin < end) {
            stretch->windows[stretch->count++] = window;
            stretch->end = end < stretch->end ? end : stretch->end;
        }
    }
}

/* Reads rows of a stretch from `*bin` on, and moves it and the place in the map behind them. */
static size_t open_histogram_read_stretch(struct rows *rows,
                                          const struct open_histogram_stretch *stretch,
                                          __int128 *bin, struct rows_row *out, size_t room)
{
    const struct open_histogram *histogram = rows->partial;
    const struct element *element = &rows->job->element;
    const struct bin_map_entry *entries = histogram->entries;
    const uint64_t width = rows->job->bin_width;
    size_t n = 0;

    while (n < room && *bin < stretch->end) {
        uint64_t count = 0;
        for (size_t i = 0; i < stretch->count; i++) {
            const struct open_window *window = stretch->windows[i];
            count += open_window_count(window, (uint64_t)(*bin - window->first));
        }
        uint64_t *place = &rows->next[1];
        bool is_left = *place < histogram->entry_count;
        __int128 spilled = is_left ? element_value(element, entries[*place].key) : stretch->end;
        if (spilled == *bin && is_left)
            count += entries[(*place)++].count;
        if (count > 0 || rows->zeros)
            out[n++] = open_histogram_row(*bin, width, count);
        bool jumps = stretch->count == 0 && !rows->zeros && spilled > *bin;
        *bin = !jumps ? *bin + 1 : spilled < stretch->end ? spilled : stretch->end;
    }
    return n;
}

static size_t open_histogram_read(struct rows *rows, struct rows_row *out, size_t room)
{
    const struct open_histogram *histogram = rows->partial;
    __int128 bin = histogram->first + rows->next[0];
    size_t n = 0;

    if (rows->next[1] == OPEN_HISTOGRAM_READ)
        return 0;
    while (n < room && bin <= histogram->last) {
        struct open_histogram_stretch stretch;
        open_histogram_find_stretch(histogram, bin, &stretch);
        n += open_histogram_read_stretch(rows, &stretch, &bin, out + n, room - n);
    }
    rows->next[0] = (uint64_t)(bin - histogram->first);
    if (bin > histogram->last)
        rows->next[1] = OPEN_HISTOGRAM_READ;
    return n;
}

void open_histogram_rows_begin(struct rows *rows, const struct job *job,
                               const struct open_histogram *histogram, bool zeros)
{
    bool is_automatic = job->bin_width == 0;

    *rows = (struct rows){
        .job = job,
        .partial = histogram,
        .zeros = zeros,
        .is_unit = (is_automatic ? histogram->result.width : job->bin_width) == 1,
        .inside = histogram->elements,
        .read = is_automatic ? open_histogram_read_result : open_histogram_read,
    };
}

/* What all windows have in bin number `bin` of `width`, a multiple of theirs. */
static uint64_t open_histogram_count_fine(const struct open_histogram *histogram, __int128 bin,
                                          uint64_t width)
{
    uint64_t count = 0;

    for (size_t w = 0; w < histogram->count; w++) {
        const struct open_window *window = &histogram->windows[w];
        __int128 parts = width / window->width;
        __int128 from = bin * parts - window->first;
        __int128 to = from + parts;
        for (__int128 i = from < 0 ? 0 : from; i < to && i < window->bins; i++)
            count += open_window_count(window, (uint64_t)i);
    }
    return count;
}

static size_t open_histogram_read_fine(struct rows *rows, struct rows_row *out, size_t room)
{
    const struct open_histogram *histogram = rows->partial;
    __int128 first = 0;
    __int128 last = -1;
    size_t n = 0;

    open_histogram_find_ends(histogram, histogram->width, &first, &last);
    for (; n < room && first + rows->next[0] <= last; rows->next[0]++) {
        __int128 bin = first + rows->next[0];
        uint64_t count = open_histogram_count_fine(histogram, bin, histogram->width);
        if (count > 0 || rows->zeros)
            out[n++] = open_histogram_row(bin, histogram->width, count);
    }
    return n;
}

void open_histogram_fine_rows_begin(struct rows *rows, const struct job *job,
                                    const struct open_histogram *histogram)
{
    open_histogram_rows_begin(rows, job, histogram, false);
    rows->is_unit = histogram->width == 1;
    if (job->bin_width == 0)
        rows->read = open_histogram_read_fine;
}
