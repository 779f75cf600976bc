/* The rows of a growing histogram: the bins of its windows and its map, in ascending order. */
#include "config.h"

#include "operations/growing_histogram.h"
#include "operations/rows.h"

#include <string.h>

/* The value of next[1] at the end. */
#define GROWING_HISTOGRAM_READ UINT64_MAX

/* Bins whose counts are added up together; most readers ask for as many rows. */
#define GROWING_HISTOGRAM_ROWS_BLOCK 256

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
 * touched more than 511 bins of width u / 10 (growing_histogram_widen_automatic). The largest of 1,
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
        if (bins <= GROWING_HISTOGRAM_AUTOMATIC_BINS)
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

/*
 * Rows of a given width. next[0] is the next bin minus the histogram's first. next[1] is an index
 * of the map's entries; all before it are read, and it is not behind the next bin. next[2] is the
 * number of bins at the end that belong to other parts.
 */

/* The number of the bin of a map entry; `none` if there is no such entry. */
static __int128 growing_histogram_spilled(const struct rows *rows, uint64_t place, __int128 none)
{
    const struct growing_histogram *histogram = rows->partial;
    bool is_there = place < histogram->entry_count;
    return is_there ? element_value(&rows->job->element, histogram->entries[place].key) : none;
}

/* The first map entry whose bin is not below `bin`. */
static uint64_t growing_histogram_find_place(const struct rows *rows, __int128 bin)
{
    const struct growing_histogram *histogram = rows->partial;
    uint64_t low = 0;
    uint64_t high = histogram->entry_count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (growing_histogram_spilled(rows, middle, bin) < bin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Advances next[1] to the first map entry whose bin is not below `bin`. */
static void growing_histogram_catch_up(struct rows *rows, __int128 bin)
{
    while (growing_histogram_spilled(rows, rows->next[1], bin) < bin)
        rows->next[1]++;
}

/* A run of bins that lie in the same windows. */
struct growing_histogram_stretch {
    const struct growing_window *windows[GROWING_HISTOGRAM_WINDOWS_MAX];
    size_t count;
    __int128 end; /* the bin behind the last */
};

/* Finds the longest stretch from `bin` on that ends at or before `end`. */
static void growing_histogram_find_stretch(const struct growing_histogram *histogram, __int128 bin,
                                           __int128 end, struct growing_histogram_stretch *stretch)
{
    stretch->count = 0;
    stretch->end = end;
    for (size_t i = 0; i < histogram->count; i++) {
        const struct growing_window *window = &histogram->windows[i];
        __int128 behind = window->first + window->bins;
        if (bin < window->first) {
            stretch->end = window->first < stretch->end ? window->first : stretch->end;
        } else if (bin < behind) {
            stretch->windows[stretch->count++] = window;
            stretch->end = behind < stretch->end ? behind : stretch->end;
        }
    }
}

/*
 * The same, but the stretch stays within one region of each window, and windows whose region is not
 * in use are left out.
 */
static void growing_histogram_find_used(const struct growing_histogram *histogram, __int128 bin,
                                        __int128 end, struct growing_histogram_stretch *stretch)
{
    size_t kept = 0;

    growing_histogram_find_stretch(histogram, bin, end, stretch);
    for (size_t i = 0; i < stretch->count; i++) {
        const struct growing_window *window = stretch->windows[i];
        size_t entry = (size_t)(bin - window->first);
        __int128 behind = window->first + histogram_region_end(entry);
        stretch->end = behind < stretch->end ? behind : stretch->end;
        if (histogram_is_used(window->histogram, entry))
            stretch->windows[kept++] = window;
    }
    stretch->count = kept;
}

/* Adds up the counts of bins bin .. bin + n of a stretch, of its windows and of the map. */
static void growing_histogram_read_block(struct rows *rows,
                                         const struct growing_histogram_stretch *stretch,
                                         __int128 bin, size_t n, uint64_t *counts)
{
    const struct growing_histogram *histogram = rows->partial;
    const __int128 end = bin + n;
    __int128 spilled;

    memset(counts, 0, n * sizeof *counts);
    for (size_t i = 0; i < stretch->count; i++) {
        const struct growing_window *window = stretch->windows[i];
        histogram_accumulate(window->histogram, (size_t)(bin - window->first), n, counts);
    }
    growing_histogram_catch_up(rows, bin);
    for (uint64_t i = rows->next[1]; (spilled = growing_histogram_spilled(rows, i, end)) < end; i++)
        counts[spilled - bin] += histogram->entries[i].count;
}

/*
 * Makes rows of counts[0..*bins), the counts of the bins from `bin` on. Stores in *bins how many of
 * them it has read, and returns the number of rows.
 */
static size_t growing_histogram_make_rows(const struct rows *rows, __int128 bin,
                                          const uint64_t *counts, size_t *bins,
                                          struct rows_row *out, size_t room)
{
    const uint64_t width = rows->job->bin_width;
    const bool zeros = rows->zeros;
    const size_t end = *bins;
    size_t i = 0;
    size_t n = 0;

    for (; n < room; i++) {
        while (i < end && counts[i] == 0 && !zeros)
            i++;
        if (i == end)
            break;
        __int128 low = (bin + i) * width;
        out[n++] = (struct rows_row){.low = low, .high = low + width, .count = counts[i]};
    }
    *bins = i;
    return n;
}

/* Reads rows of a stretch from *bin on, and advances *bin. Returns their number. */
static size_t growing_histogram_read_stretch(struct rows *rows,
                                             const struct growing_histogram_stretch *stretch,
                                             __int128 *bin, struct rows_row *out, size_t room)
{
    uint64_t counts[GROWING_HISTOGRAM_ROWS_BLOCK];
    size_t n = 0;

    while (n < room && *bin < stretch->end) {
        __int128 left = stretch->end - *bin;
        size_t bins =
            left < GROWING_HISTOGRAM_ROWS_BLOCK ? (size_t)left : GROWING_HISTOGRAM_ROWS_BLOCK;
        growing_histogram_read_block(rows, stretch, *bin, bins, counts);
        n += growing_histogram_make_rows(rows, *bin, counts, &bins, out + n, room - n);
        *bin += bins;
    }
    return n;
}

/* The same for a stretch in no window: reads the bins of the map. */
static size_t growing_histogram_read_spilled(struct rows *rows, __int128 *bin, __int128 end,
                                             struct rows_row *out, size_t room)
{
    const struct growing_histogram *histogram = rows->partial;
    size_t n = 0;
    __int128 spilled;

    growing_histogram_catch_up(rows, *bin);
    while (n < room && (spilled = growing_histogram_spilled(rows, rows->next[1], end)) < end) {
        uint64_t count = histogram->entries[rows->next[1]++].count;
        out[n++] = growing_histogram_row(spilled, rows->job->bin_width, count);
        *bin = spilled + 1;
    }
    if (n < room)
        *bin = end;
    return n;
}

/* Stores the next bin and the one behind the last. Returns false if none is left. */
static bool growing_histogram_resume(const struct rows *rows, __int128 *bin, __int128 *end)
{
    const struct growing_histogram *histogram = rows->partial;

    *bin = histogram->first + rows->next[0];
    *end = histogram->last + 1 - rows->next[2];
    return rows->next[1] != GROWING_HISTOGRAM_READ && *bin < *end;
}

/* Saves the position. */
static void growing_histogram_pause(struct rows *rows, __int128 bin, __int128 end)
{
    const struct growing_histogram *histogram = rows->partial;

    rows->next[0] = (uint64_t)(bin - histogram->first);
    if (bin == end)
        rows->next[1] = GROWING_HISTOGRAM_READ;
}

static size_t growing_histogram_read(struct rows *rows, struct rows_row *out, size_t room)
{
    struct growing_histogram_stretch stretch;
    __int128 bin;
    __int128 end;
    size_t n = 0;

    if (!growing_histogram_resume(rows, &bin, &end))
        return 0;
    while (n < room && bin < end) {
        growing_histogram_find_used(rows->partial, bin, end, &stretch);
        if (stretch.count > 0 || rows->zeros)
            n += growing_histogram_read_stretch(rows, &stretch, &bin, out + n, room - n);
        else
            n += growing_histogram_read_spilled(rows, &bin, stretch.end, out + n, room - n);
    }
    growing_histogram_pause(rows, bin, end);
    return n;
}

static size_t growing_histogram_read_counts(struct rows *rows, uint64_t *counts, size_t room)
{
    struct growing_histogram_stretch stretch;
    __int128 bin;
    __int128 end;
    size_t n = 0;

    if (!growing_histogram_resume(rows, &bin, &end))
        return 0;
    while (n < room && bin < end) {
        growing_histogram_find_used(rows->partial, bin, end, &stretch);
        __int128 left = stretch.end - bin;
        size_t block = left < (__int128)(room - n) ? (size_t)left : room - n;
        growing_histogram_read_block(rows, &stretch, bin, block, counts + n);
        bin += block;
        n += block;
    }
    growing_histogram_pause(rows, bin, end);
    return n;
}

/*
 * The most rows of a stretch from `bin` on: the number of its bins; or, if it lies in no window and
 * empty bins are no rows, the number of its map entries.
 */
static uint64_t growing_histogram_stretch_rows(const struct rows *rows,
                                               const struct growing_histogram_stretch *stretch,
                                               __int128 bin)
{
    if (stretch->count > 0 || rows->zeros)
        return (uint64_t)(stretch->end - bin);
    return growing_histogram_find_place(rows, stretch->end) -
           growing_histogram_find_place(rows, bin);
}

/*
 * With empty bins there are at most BINNING_BINS_MAX rows, or they are not printed; so products of
 * the result and a number of parts do not overflow.
 */
static uint64_t growing_histogram_most_rows(const struct rows *rows)
{
    const struct growing_histogram *histogram = rows->partial;
    const __int128 end = histogram->last + 1;
    struct growing_histogram_stretch stretch;
    uint64_t most = 0;

    for (__int128 bin = histogram->first; bin < end; bin = stretch.end) {
        growing_histogram_find_stretch(histogram, bin, end, &stretch);
        most += growing_histogram_stretch_rows(rows, &stretch, bin);
    }
    return most;
}

/* The bin at which the first `before` rows, as growing_histogram_most_rows counts them, end. */
static __int128 growing_histogram_cut(const struct rows *rows, uint64_t before)
{
    const struct growing_histogram *histogram = rows->partial;
    const __int128 end = histogram->last + 1;
    struct growing_histogram_stretch stretch;

    for (__int128 bin = histogram->first; bin < end; bin = stretch.end) {
        growing_histogram_find_stretch(histogram, bin, end, &stretch);
        uint64_t here = growing_histogram_stretch_rows(rows, &stretch, bin);
        if (before < here && (stretch.count > 0 || rows->zeros))
            return bin + before;
        if (before < here)
            return growing_histogram_spilled(rows, growing_histogram_find_place(rows, bin) + before,
                                             end);
        before -= here;
    }
    return end;
}

static void growing_histogram_narrow(struct rows *rows, uint64_t part, uint64_t parts)
{
    const struct growing_histogram *histogram = rows->partial;
    uint64_t most = growing_histogram_most_rows(rows);
    __int128 bin = growing_histogram_cut(rows, most * part / parts);
    __int128 end = growing_histogram_cut(rows, most * (part + 1) / parts);

    rows->next[0] = (uint64_t)(bin - histogram->first);
    rows->next[1] = bin < end ? growing_histogram_find_place(rows, bin) : GROWING_HISTOGRAM_READ;
    rows->next[2] = (uint64_t)(histogram->last + 1 - end);
}

void growing_histogram_rows_begin(struct rows *rows, const struct job *job,
                                  const struct growing_histogram *histogram, bool zeros)
{
    bool is_automatic = job->bin_width == 0;

    *rows = (struct rows){
        .job = job,
        .partial = histogram,
        .zeros = zeros,
        .is_unit = (is_automatic ? histogram->result.width : job->bin_width) == 1,
        .inside = histogram->elements,
        .read = growing_histogram_read_result,
    };
    if (is_automatic)
        return;
    rows->read = growing_histogram_read;
    rows->read_counts = growing_histogram_read_counts;
    rows->narrow = growing_histogram_narrow;
    rows->most = growing_histogram_most_rows;
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
    if (job->bin_width == 0)
        rows->read = growing_histogram_read_fine;
}
