/* The rows of a histogram that has a counter for each bin (rows.h). */
#include "config.h"

#include "count/histogram.h"
#include "partial/rows.h"

#include <string.h>

/*
 * Starts reading. next[0] is the next bin. next[1] is the bin behind the last one, plus 1; 0 means
 * that reading has not started. With bins by powers, which the user has not given one by one, empty
 * bins at the ends are no rows, unless all are wanted.
 */
static void histogram_start_rows(struct rows *rows)
{
    const struct histogram *histogram = rows->partial;
    const struct binning *binning = &rows->job->binning;

    rows->next[1] = binning->bins;
    if (rows->zeros && !rows->all && binning_is_of_powers(binning)) {
        rows->next[1] = histogram_trim_empty(histogram, 0, rows->next[1]);
        rows->next[0] = histogram_skip_empty(histogram, 0, rows->next[1]);
    }
    rows->next[1]++;
}

static size_t histogram_read_rows(struct rows *rows, struct rows_row *out, size_t room)
{
    const struct histogram *histogram = rows->partial;
    const struct binning *binning = &rows->job->binning;
    uint64_t known = UINT64_MAX; /* the bin that begins at `edge` */
    __int128 edge = 0;
    size_t n = 0;

    if (rows->next[1] == 0)
        histogram_start_rows(rows);
    uint64_t end = rows->next[1] - 1;
    uint64_t bin = rows->next[0];
    for (; n < room; bin++) {
        if (!rows->zeros && bin < end && histogram_count(histogram, bin) == 0)
            bin = histogram_skip_empty(histogram, bin, end);
        if (bin >= end)
            break;
        __int128 low = bin == known ? edge : binning_edge(binning, bin);
        known = bin + 1;
        edge = rows->is_unit ? low + 1 : binning_edge(binning, known);
        out[n++] =
            (struct rows_row){.low = low, .high = edge, .count = histogram_count(histogram, bin)};
    }
    rows->next[0] = bin;
    return n;
}

static size_t histogram_read_counts(struct rows *rows, uint64_t *counts, size_t room)
{
    const struct histogram *histogram = rows->partial;

    if (rows->next[1] == 0)
        histogram_start_rows(rows);
    size_t left = (size_t)(rows->next[1] - 1 - rows->next[0]);
    size_t n = left < room ? left : room;
    memset(counts, 0, n * sizeof *counts);
    histogram_accumulate(histogram, (size_t)rows->next[0], n, counts);
    rows->next[0] += n;
    return n;
}

static uint64_t histogram_most_rows(const struct rows *rows)
{
    return rows->job->binning.bins;
}

static void histogram_narrow_rows(struct rows *rows, uint64_t part, uint64_t parts)
{
    histogram_start_rows(rows);
    uint64_t first = rows->next[0];
    uint64_t bins = rows->next[1] - 1 - first;

    rows->next[0] = first + bins * part / parts;
    rows->next[1] = first + bins * (part + 1) / parts + 1;
}

void histogram_rows_begin(struct rows *rows, const struct job *job,
                          const struct histogram *histogram, bool zeros)
{
    *rows = (struct rows){
        .job = job,
        .partial = histogram,
        .zeros = zeros,
        .is_unit = binning_is_unit(&job->binning),
        .inside = histogram->inside,
        .below = histogram_below(histogram),
        .above = histogram_above(histogram),
        .read = histogram_read_rows,
        .read_counts = histogram_read_counts,
        .narrow = histogram_narrow_rows,
        .most = histogram_most_rows,
    };
}
