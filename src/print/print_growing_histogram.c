/* Prints automatic histograms as rows. */
#include "config.h"

#include "base/decimal.h"
#include "count/growing_histogram.h"
#include "print/print_rows.h"

/* So many different values at most are few, if they are one in so many of such a range. */
#define PRINT_GROWING_HISTOGRAM_FEW   64
#define PRINT_GROWING_HISTOGRAM_APART 4
#define PRINT_GROWING_HISTOGRAM_RANGE 500
_Static_assert(PRINT_GROWING_HISTOGRAM_RANGE <= GROWING_HISTOGRAM_BINS / 2,
               "in any order they are counted in bins of width 1");

/* A bin with so many percent of the values hides them. */
#define PRINT_GROWING_HISTOGRAM_MOST 90

/* Whether the rows are few single values that lie apart. */
static bool print_growing_histogram_is_sparse(struct rows rows)
{
    struct rows_row batch[PRINT_GROWING_HISTOGRAM_FEW + 1];
    size_t count = 0;
    size_t n;

    while (count <= PRINT_GROWING_HISTOGRAM_FEW &&
           (n = rows_read(&rows, batch + count, PRINT_GROWING_HISTOGRAM_FEW + 1 - count)) > 0)
        count += n;
    if (!rows.is_unit || count == 0 || count > PRINT_GROWING_HISTOGRAM_FEW)
        return false;
    const __int128 range = batch[count - 1].high - batch[0].low;
    return range >= (__int128)count * PRINT_GROWING_HISTOGRAM_APART &&
           range <= PRINT_GROWING_HISTOGRAM_RANGE;
}

/*
 * Begins the rows: the automatic bins, or in pictures the values if they are few, such as statuses.
 * Returns whether they are bins wider than 1.
 */
static bool print_growing_histogram_begin(struct rows *rows, const struct job *job,
                                          const struct growing_histogram *histogram,
                                          const struct print_options *options)
{
    struct rows values;

    growing_histogram_rows_begin(rows, job, histogram, options->zeros);
    growing_histogram_fine_rows_begin(&values, job, histogram);
    if (rows->is_unit || options->zeros || !print_rows_format(options)->names_values ||
        !print_growing_histogram_is_sparse(values))
        return !rows->is_unit;
    *rows = values;
    rows->is_sparse = true;
    return false;
}

static enum status print_growing_histogram_result(struct writer *writer, const struct job *job,
                                                  const void *partial,
                                                  const struct print_options *options,
                                                  struct failure *failure)
{
    struct rows rows;

    print_growing_histogram_begin(&rows, job, partial, options);
    return print_rows(writer, &rows, options, failure);
}

/* In a picture with nearly all values in one bin, other bins would show more. */
static void print_growing_histogram_note(const struct job *job, const void *partial,
                                         const struct print_options *options)
{
    struct rows_row row;
    struct rows rows;
    char low[DECIMAL_SIZE];
    char high[DECIMAL_SIZE];

    if (!print_rows_format(options)->names_values ||
        !print_growing_histogram_begin(&rows, job, partial, options))
        return;
    while (rows_read(&rows, &row, 1) > 0) {
        const unsigned __int128 percent = (unsigned __int128)row.count * 100 / rows.inside;
        if (percent < PRINT_GROWING_HISTOGRAM_MOST)
            continue;
        decimal_format_fixed(low, row.low, job->element.decimals);
        decimal_format_fixed(high, row.high, job->element.decimals);
        status_print("note: %u%% of the values are in one bin; to see more, try --log2 or "
                     "--range %s:%s",
                     (unsigned)percent, low, high);
    }
}

const struct print_operation print_growing_histogram = {
    .result = print_growing_histogram_result,
    .note = print_growing_histogram_note,
};
