/*
 * Rows of histograms and the lines of plots, for bins of every form, and for rows that come from
 * elsewhere: against what the bins' edges say, row by row.
 */
#include "config.h"

#include "histogram.h"
#include "plot.h"
#include "rows_list.h"
#include "tap.h"

#include <string.h>

#define BATCH 7 /* rows read at a time, so that batches end anywhere */

static uint64_t random_state = 1;

static void make_job(struct job *job, enum binning_form form, bool is_wide)
{
    static const __int128 edges[] = {-100, -99, 0, 1, 10, 1000, 1001, 5000, 100000, 2000000000};
    struct failure failure;

    *job = (struct job){.operation = OPERATION_HISTOGRAM};
    element_parse(is_wide ? "i64" : "i32", &job->element);
    if (form == BINNING_EDGES)
        binning_init_edges(&job->binning, &job->element, edges, sizeof edges / sizeof *edges,
                           &failure);
    else if (form == BINNING_LOG2 || form == BINNING_LOG10_64)
        binning_init_powers(&job->binning, &job->element, form == BINNING_LOG2 ? 2 : 10);
    else if (form == BINNING_UNIT32)
        binning_init(&job->binning, &job->element, -500, 1500, 2000, &failure);
    else if (is_wide)
        binning_init_width(&job->binning, &job->element, -500, 1501, 3, &failure);
    else
        binning_init(&job->binning, &job->element, -500, 1501, 700, &failure);
}

/* Counts `filled` random values somewhere in the bins and outside. */
static struct histogram *make_histogram(const struct job *job, size_t filled)
{
    struct histogram *histogram = NULL;
    struct failure failure;
    uint64_t elements = 0;

    histogram_create(job, &histogram, &failure);
    for (size_t i = 0; i < filled; i++) {
        uint64_t count = 1 + tap_random(&random_state) % 1000;
        size_t entry = tap_random(&random_state) % histogram->entries;
        histogram_add_counts64(histogram, entry, &count, 1);
        elements += count;
    }
    histogram_finish(histogram, job, elements, &failure);
    return histogram;
}

static bool is_powers(const struct job *job)
{
    return job->binning.base > 0;
}

/* The rows that there should be, from the table itself. */
static size_t expected_rows(const struct job *job, const struct histogram *histogram, bool zeros,
                            struct rows_row *out)
{
    uint64_t first = 0;
    uint64_t end = job->binning.bins;
    size_t n = 0;

    while (is_powers(job) && end > 0 && histogram_count(histogram, end - 1) == 0)
        end--;
    while (is_powers(job) && first < end && histogram_count(histogram, first) == 0)
        first++;
    for (uint64_t bin = first; bin < end; bin++) {
        uint64_t count = histogram_count(histogram, bin);
        if (count > 0 || zeros)
            out[n++] = (struct rows_row){.low = binning_edge(&job->binning, bin),
                                         .high = binning_edge(&job->binning, bin + 1),
                                         .count = count};
    }
    return n;
}

static bool is_row(const struct rows_row *a, const struct rows_row *b)
{
    return a->low == b->low && a->high == b->high && a->count == b->count;
}

/* Whether the rows that are read are those. */
static bool reads(struct rows rows, const struct rows_row *expected, size_t n)
{
    struct rows_row batch[BATCH];
    size_t i = 0;
    size_t got;

    while ((got = rows.read(&rows, batch, BATCH)) > 0) {
        for (size_t j = 0; j < got; j++, i++) {
            if (i == n || !is_row(&batch[j], &expected[i]))
                return tap_note("row %zu of %zu", i, n);
        }
    }
    return i == n || tap_note("%zu rows, not %zu", i, n);
}

/* Whether the counts that are read alone, if they can be, are those of the rows. */
static bool reads_counts(struct rows rows, const struct rows_row *expected, size_t n)
{
    uint64_t batch[BATCH];
    size_t i = 0;
    size_t got;

    while (rows.read_counts && (got = rows.read_counts(&rows, batch, BATCH)) > 0) {
        for (size_t j = 0; j < got; j++, i++) {
            if (i == n || batch[j] != expected[i].count)
                return tap_note("count %zu of %zu", i, n);
        }
    }
    return !rows.read_counts || i == n || tap_note("%zu counts, not %zu", i, n);
}

/* Whether the parts of the rows, one behind the other, are those. */
static bool reads_parts(const struct rows *rows, const struct rows_row *expected, size_t n,
                        size_t parts)
{
    size_t most = ((size_t)rows->most + parts - 1) / parts;
    size_t i = 0;

    for (size_t part = 0; part < parts; part++) {
        struct rows_row batch[BATCH];
        struct rows own = *rows;
        size_t got;
        size_t end = i + most;
        rows->narrow(&own, part, parts);
        while ((got = own.read(&own, batch, BATCH)) > 0) {
            for (size_t j = 0; j < got; j++, i++) {
                if (i == n || i == end || !is_row(&batch[j], &expected[i]))
                    return tap_note("row %zu of %zu, in part %zu of %zu", i, n, part, parts);
            }
        }
    }
    return i == n || tap_note("%zu rows in %zu parts, not %zu", i, parts, n);
}

static void sort_by_count(struct rows_row *rows, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct rows_row row = rows[i];
        size_t j = i;
        for (; j > 0 && rows[j - 1].count < row.count; j--)
            rows[j] = rows[j - 1];
        rows[j] = row;
    }
}

static bool lists(const struct rows *rows, const struct rows_row *expected, size_t n, uint64_t top)
{
    struct rows_list list;
    struct failure failure;
    struct rows listed;
    size_t count = top > 0 && top < n ? (size_t)top : n;

    if (rows_list_make(&list, rows, top, true, &failure) != STATUS_OK)
        return tap_note("%s", failure.message);
    rows_list_begin(&listed, rows, &list);
    bool passed = reads(listed, expected, count) && reads_counts(listed, expected, count) &&
                  list.left == n - count;
    rows_list_destroy(&list);
    return passed;
}

/*
 * Whether the plot's lines hold the rows: each line's count is that of the rows within its bounds,
 * lines are in order and few, and all rows are in one.
 */
static bool plots(const struct rows *rows, const struct rows_row *expected, size_t n, size_t most)
{
    struct plot plot;
    struct plot_line line;
    size_t lines = 0;
    size_t row = 0;

    plot_begin(&plot, rows, true);
    for (; plot_next(&plot, &line); lines++) {
        uint64_t count = 0;
        bool was_first = lines == 0;
        if (line.is_gap && !was_first)
            continue;
        for (; row < n && expected[row].low < line.high; row++) {
            if (expected[row].low < line.low || expected[row].high > line.high)
                return tap_note("line %zu cuts row %zu", lines, row);
            count += expected[row].count;
        }
        if (line.is_gap || count != line.count)
            return tap_note("line %zu has another count", lines);
    }
    return (row == n || tap_note("%zu rows of %zu", row, n)) &&
           (lines <= most || tap_note("%zu lines", lines));
}

static void test_form(enum binning_form form, const char *name, bool is_wide)
{
    static struct rows_row expected[2000];
    static const size_t fills[] = {0, 1, 2, 20, 100, 700, 5000};
    struct job job;
    bool passed = true;
    bool is_plotted = true;

    make_job(&job, form, is_wide);
    for (size_t i = 0; i < 2 * sizeof fills / sizeof *fills && passed && is_plotted; i++) {
        bool zeros = i % 2;
        struct rows rows;
        struct histogram *histogram = make_histogram(&job, fills[i / 2]);
        size_t n = expected_rows(&job, histogram, zeros, expected);
        histogram_rows_begin(&rows, &job, histogram, !zeros);
        rows.zeros = zeros; /* may be changed before any are read */
        uint64_t sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += expected[j].count;
        passed = sum == rows.inside && reads(rows, expected, n) &&
                 (!zeros || (rows.read_counts && reads_counts(rows, expected, n)));
        for (size_t parts = 1; parts <= 3000 && passed; parts = 3 * parts - 1)
            passed = reads_parts(&rows, expected, n, parts);
        is_plotted = plots(&rows, expected, n, is_powers(&job) ? 129 : 2 * PLOT_LINES_MAX);
        sort_by_count(expected, n);
        passed = passed && lists(&rows, expected, n, 0) && lists(&rows, expected, n, 1) &&
                 lists(&rows, expected, n, 10) && lists(&rows, expected, n, 100000);
        histogram_destroy(histogram);
    }
    tap_ok(passed, "%s: rows, by bin and by count", name);
    tap_ok(is_plotted, "%s: the lines of a plot", name);
    job_destroy(&job);
}

/* Whole regions without a value are no rows, and no counters are lost that lie at their borders. */
static void test_regions(void)
{
    enum { REGION = HISTOGRAM_REGION_BINS, REGIONS = 40 };
    static const size_t bins[] = {0,          3 * REGION - 1,  3 * REGION,  5 * REGION + 7,
                                  9 * REGION, 10 * REGION - 1, 11 * REGION, REGIONS * REGION - 1};
    enum { VALUES = sizeof bins / sizeof *bins };
    struct rows_row expected[VALUES];
    struct histogram *histogram = NULL;
    struct failure failure;
    struct job job = {.operation = OPERATION_HISTOGRAM};
    struct rows rows;
    uint64_t elements = 0;

    element_parse("i32", &job.element);
    binning_init(&job.binning, &job.element, -5, REGIONS * REGION - 5, REGIONS * REGION, &failure);
    histogram_create(&job, &histogram, &failure);
    for (size_t i = 0; i < VALUES; i++) {
        const uint64_t count64 = i + 1;
        const uint32_t count32 = (uint32_t)count64;
        if (i % 2)
            histogram_add_counts32(histogram, bins[i], &count32, 1);
        else
            histogram_add_counts64(histogram, bins[i], &count64, 1);
        __int128 low = (__int128)bins[i] - 5;
        expected[i] = (struct rows_row){.low = low, .high = low + 1, .count = count64};
        elements += count64;
    }
    bool passed = histogram_finish(histogram, &job, elements, &failure) == STATUS_OK;
    histogram_rows_begin(&rows, &job, histogram, false);
    tap_ok(passed && reads(rows, expected, VALUES), "rows far apart, at the borders of regions");
    histogram_destroy(histogram);
    job_destroy(&job);
}

/* Rows of width 10 that reach below what 64 bits hold, far apart; empty ones in between as well. */
static size_t read_sparse(struct rows *rows, struct rows_row *out, size_t room)
{
    const uint64_t *apart = rows->partial;
    uint64_t step = rows->zeros ? 1 : *apart;
    __int128 start = -((__int128)1 << 63) - 8;
    size_t n = 0;

    for (; n < room && rows->next[0] <= 99 * *apart; rows->next[0] += step, n++) {
        __int128 low = start + (__int128)rows->next[0] * 10;
        uint64_t count = rows->next[0] % *apart == 0 ? rows->next[0] + 1 : 0;
        out[n] = (struct rows_row){.low = low, .high = low + 10, .count = count};
    }
    return n;
}

static void test_sparse(uint64_t apart)
{
    struct rows_row expected[100];
    struct job job;

    make_job(&job, BINNING_UNIT32, true);
    struct rows rows = {.job = &job, .partial = &apart, .read = read_sparse};
    struct rows copy = rows;
    size_t n = read_sparse(&copy, expected, 100);
    bool passed = plots(&rows, expected, n, PLOT_LINES_MAX);
    sort_by_count(expected, n);
    tap_ok(passed && lists(&rows, expected, n, 0) && lists(&rows, expected, n, 3),
           "rows from elsewhere, %llu apart", (unsigned long long)apart);
    job_destroy(&job);
}

int main(void)
{
    test_form(BINNING_UNIT32, "bins one wide", false);
    test_form(BINNING_SCALED32, "equal bins", false);
    test_form(BINNING_SCALED64, "bins of a width", true);
    test_form(BINNING_EDGES, "edges", false);
    test_form(BINNING_LOG2, "powers of 2", true);
    test_form(BINNING_LOG10_64, "powers of 10", true);
    test_regions();
    test_sparse(1);
    test_sparse(3);
    test_sparse(10000000000000000);
    return tap_done();
}
