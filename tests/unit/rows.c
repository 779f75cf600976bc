/*
 * Compares rows of histograms and the lines of plots with the bin edges, row by row: for bins of
 * every form, and for rows from other sources.
 */
#include "config.h"

#include "aggregate/histogram.h"
#include "aggregate/uniq.h"
#include "engine/stores.h"
#include "result/plot.h"
#include "result/rows_list.h"
#include "tap.h"
#include "value/context.h"

#include <stdlib.h>
#include <string.h>

#define BATCH     7    /* rows read at a time, so that batches end anywhere */
#define BATCH_MAX 1000 /* larger batch size for many rows */

static uint64_t random_state = 1;

static void make_plan(struct plan *plan, enum binning_form form, bool is_wide)
{
    static const __int128 edges[] = {-100, -99, 0, 1, 10, 1000, 1001, 5000, 100000, 2000000000};
    struct failure failure;

    *plan = (struct plan){.operation = OPERATION_HISTOGRAM};
    element_parse(is_wide ? "i64" : "i32", &plan->element);
    if (form == BINNING_EDGES)
        binning_init_edges(&plan->binning, &plan->element, edges, sizeof edges / sizeof *edges,
                           &failure);
    else if (form == BINNING_LOG2 || form == BINNING_LOG10)
        binning_init_powers(&plan->binning, &plan->element, form == BINNING_LOG2 ? 2 : 10);
    else if (form == BINNING_UNIT32)
        binning_init(&plan->binning, &plan->element, -500, 1500, 2000, &failure);
    else if (is_wide)
        binning_init_width(&plan->binning, &plan->element, -500, 1501, 3, &failure);
    else
        binning_init(&plan->binning, &plan->element, -500, 1501, 700, &failure);
}

/* Counts `filled` random values inside and outside the bins. */
static struct histogram *make_histogram(const struct plan *plan, size_t filled)
{
    struct histogram *histogram = NULL;
    struct failure failure;
    uint64_t elements = 0;

    histogram = histogram_create(plan, &failure);
    for (size_t i = 0; i < filled; i++) {
        uint64_t count = 1 + tap_random(&random_state) % 1000;
        size_t entry = tap_random(&random_state) % histogram->entries;
        histogram_add_counts64(histogram, entry, &count, 1);
        elements += count;
    }
    histogram_finalize(histogram, plan, elements, &failure);
    return histogram;
}

static bool is_powers(const struct plan *plan)
{
    return plan->binning.base > 0;
}

/* Makes the expected rows from the table itself. */
static size_t expected_rows(const struct plan *plan, const struct histogram *histogram, bool zeros,
                            struct rows_row *out)
{
    uint64_t first = 0;
    uint64_t end = plan->binning.bins;
    size_t n = 0;

    while (is_powers(plan) && end > 0 && histogram_count(histogram, end - 1) == 0)
        end--;
    while (is_powers(plan) && first < end && histogram_count(histogram, first) == 0)
        first++;
    for (uint64_t bin = first; bin < end; bin++) {
        uint64_t count = histogram_count(histogram, bin);
        if (count > 0 || zeros)
            out[n++] = (struct rows_row){.low = binning_edge(&plan->binning, bin),
                                         .high = binning_edge(&plan->binning, bin + 1),
                                         .count = count};
    }
    return n;
}

static bool is_row(const struct rows_row *a, const struct rows_row *b)
{
    return a->low == b->low && a->high == b->high && a->count == b->count;
}

/* Returns whether the rows that are read, up to `room` at a time, are those. */
static bool reads_by(size_t room, struct rows rows, const struct rows_row *expected, size_t n)
{
    struct rows_row batch[BATCH_MAX];
    size_t i = 0;
    size_t got;

    while ((got = rows.read(&rows, batch, room)) > 0) {
        for (size_t j = 0; j < got; j++, i++) {
            if (i == n || !is_row(&batch[j], &expected[i]))
                return tap_note("row %zu of %zu", i, n);
        }
    }
    return i == n || tap_note("%zu rows, not %zu", i, n);
}

static bool reads(struct rows rows, const struct rows_row *expected, size_t n)
{
    return reads_by(BATCH, rows, expected, n);
}

/* Returns whether the counts that are read alone, if they can be, are those of the rows. */
static bool reads_counts_by(size_t room, struct rows rows, const struct rows_row *expected,
                            size_t n)
{
    uint64_t batch[BATCH_MAX];
    size_t i = 0;
    size_t got;

    while (rows.read_counts && (got = rows.read_counts(&rows, batch, room)) > 0) {
        for (size_t j = 0; j < got; j++, i++) {
            if (i == n || batch[j] != expected[i].count)
                return tap_note("count %zu of %zu", i, n);
        }
    }
    return !rows.read_counts || i == n || tap_note("%zu counts, not %zu", i, n);
}

static bool reads_counts(struct rows rows, const struct rows_row *expected, size_t n)
{
    return reads_counts_by(BATCH, rows, expected, n);
}

/* Returns whether the parts of the rows, one behind the other, are those. */
static bool reads_parts(const struct rows *rows, const struct rows_row *expected, size_t n,
                        size_t parts)
{
    size_t most = ((size_t)rows->rows_max + parts - 1) / parts;
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

/* Likewise their counts alone. */
static bool reads_counts_parts(const struct rows *rows, const struct rows_row *expected, size_t n,
                               size_t parts)
{
    size_t i = 0;

    for (size_t part = 0; part < parts; part++) {
        uint64_t batch[BATCH];
        struct rows own = *rows;
        size_t got;
        rows->narrow(&own, part, parts);
        while ((got = own.read_counts(&own, batch, BATCH)) > 0) {
            for (size_t j = 0; j < got; j++, i++) {
                if (i == n || batch[j] != expected[i].count)
                    return tap_note("count %zu of %zu, in part %zu of %zu", i, n, part, parts);
            }
        }
    }
    return i == n || tap_note("%zu counts in %zu parts, not %zu", i, parts, n);
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

    if (rows_list_make(&list, rows, top, true, 0, &failure) != STATUS_OK)
        return tap_note("%s", failure.message);
    rows_list_begin(&listed, rows, &list);
    bool passed = reads(listed, expected, count) && reads_counts(listed, expected, count) &&
                  list.left == n - count;
    rows_list_destroy(&list);
    return passed;
}

enum { LINES_MAX = 64 };

/*
 * Returns whether the plot's lines contain the rows: each line has the count of the rows within its
 * bounds, the lines are in order and few, and each row is in one line.
 */
static bool plots(const struct rows *rows, const struct rows_row *expected, size_t n, size_t most)
{
    struct plot plot;
    struct plot_line line;
    size_t lines = 0;
    size_t row = 0;

    plot_begin(&plot, rows, true, LINES_MAX);
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
    struct plan plan;
    bool passed = true;
    bool is_plotted = true;

    make_plan(&plan, form, is_wide);
    for (size_t i = 0; i < 2 * sizeof fills / sizeof *fills && passed && is_plotted; i++) {
        bool zeros = i % 2;
        struct rows rows;
        struct histogram *histogram = make_histogram(&plan, fills[i / 2]);
        size_t n = expected_rows(&plan, histogram, zeros, expected);
        histogram_rows_begin(&rows, &plan, histogram, 0, !zeros);
        rows.zeros = zeros; /* can change before the first row is read */
        uint64_t sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += expected[j].count;
        passed = sum == rows.inside && reads(rows, expected, n) &&
                 (!zeros || (rows.read_counts && reads_counts(rows, expected, n)));
        for (size_t parts = 1; parts <= 3000 && passed; parts = 3 * parts - 1)
            passed = reads_parts(&rows, expected, n, parts) &&
                     (!zeros || reads_counts_parts(&rows, expected, n, parts));
        is_plotted = plots(&rows, expected, n, is_powers(&plan) ? 129 : 2 * LINES_MAX);
        sort_by_count(expected, n);
        passed = passed && lists(&rows, expected, n, 0) && lists(&rows, expected, n, 1) &&
                 lists(&rows, expected, n, 10) && lists(&rows, expected, n, 100000);
        histogram_destroy(histogram);
    }
    tap_ok(passed, "%s: rows, by bin and by count", name);
    tap_ok(is_plotted, "%s: the lines of a plot", name);
    plan_destroy(&plan);
}

/* Regions without a value have no rows, and no counts at their borders are lost. */
static void test_regions(void)
{
    enum { REGION = HISTOGRAM_REGION_BINS, REGIONS = 40 };
    static const size_t bins[] = {0,          3 * REGION - 1,  3 * REGION,  5 * REGION + 7,
                                  9 * REGION, 10 * REGION - 1, 11 * REGION, REGIONS * REGION - 1};
    enum { VALUES = sizeof bins / sizeof *bins };
    struct rows_row expected[VALUES];
    struct histogram *histogram = NULL;
    struct failure failure;
    struct plan plan = {.operation = OPERATION_HISTOGRAM};
    struct rows rows;
    uint64_t elements = 0;

    element_parse("i32", &plan.element);
    binning_init(&plan.binning, &plan.element, -5, REGIONS * REGION - 5, REGIONS * REGION,
                 &failure);
    histogram = histogram_create(&plan, &failure);
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
    bool passed = histogram_finalize(histogram, &plan, elements, &failure) == STATUS_OK;
    histogram_rows_begin(&rows, &plan, histogram, 0, false);
    tap_ok(passed && reads(rows, expected, VALUES), "rows far apart, at the borders of regions");
    histogram_destroy(histogram);
    plan_destroy(&plan);
}

enum { RANGES_REGION = HISTOGRAM_REGION_BINS, RANGES_BINS = 9 * RANGES_REGION - 1000 };

/* Counts at the borders of regions and elsewhere, except in regions 0 and 5. Returns their number.
 */
static uint64_t fill_ranges(struct histogram *histogram)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < 60; i++) {
        uint64_t region = 1 + tap_random(&random_state) % 4 + 5 * (i % 2);
        size_t bin = (size_t)(region * RANGES_REGION - 1 + i % 3);
        uint32_t count = (uint32_t)i + 1;
        if (bin / RANGES_REGION % 5 == 0 || bin >= RANGES_BINS)
            bin = RANGES_REGION + (size_t)i * 70;
        if (bin / RANGES_REGION % 2)
            histogram_add_counts32(histogram, bin, &count, 1);
        else
            histogram_add_counts64(histogram, bin, &(uint64_t){count}, 1);
        sum += count;
    }
    return sum;
}

/* Compares the empty ends of first .. end, and its counts, with a look at each bin. */
static bool is_range(const struct histogram *histogram, size_t first, size_t end)
{
    static uint64_t counts[RANGES_BINS];
    size_t filled = first;
    size_t trimmed = end;

    while (filled < end && histogram_count(histogram, filled) == 0)
        filled++;
    while (trimmed > first && histogram_count(histogram, trimmed - 1) == 0)
        trimmed--;
    if (histogram_skip_empty(histogram, first, end) != filled ||
        histogram_trim_empty(histogram, first, end) != trimmed)
        return tap_note("bins %zu .. %zu are not from %zu to %zu", first, end, filled, trimmed);
    memset(counts, 0xff, sizeof counts);
    histogram_copy_counts(histogram, first, end - first, counts);
    for (size_t i = 0; i < RANGES_BINS; i++) {
        if (counts[i] != (i < end - first ? histogram_count(histogram, first + i) : UINT64_MAX))
            return tap_note("bins %zu .. %zu: bin %zu is not copied", first, end, i);
    }
    return true;
}

/* Functions that skip whole regions, for any part of a table. */
static void test_ranges(void)
{
    struct histogram *histogram = NULL;
    struct failure failure;
    struct plan plan = {.operation = OPERATION_HISTOGRAM};

    element_parse("i32", &plan.element);
    binning_init(&plan.binning, &plan.element, 0, RANGES_BINS, RANGES_BINS, &failure);
    histogram = histogram_create(&plan, &failure);
    uint64_t inside = fill_ranges(histogram);
    histogram_add_unlocked(histogram, RANGES_BINS, 1000);
    histogram_add_unlocked(histogram, RANGES_BINS + 1, 500);
    tap_ok(histogram_sum_bins(histogram) == inside &&
               histogram_elements(histogram) == inside + 1500,
           "the sum of the bins, and of all");
    bool passed = is_range(histogram, 0, RANGES_BINS);
    for (unsigned i = 0; i < 300 && passed; i++) {
        size_t first = tap_random(&random_state) % RANGES_BINS;
        size_t end = first + tap_random(&random_state) % (RANGES_BINS + 1 - first);
        if (i % 3 == 0) /* at the border of a region */
            first -= first % RANGES_REGION;
        passed = is_range(histogram, first, end);
    }
    tap_ok(passed, "what is empty at either end, and the counts");
    histogram_destroy(histogram);
    plan_destroy(&plan);
}

/* Distant rows of width 10 that reach below 64 bits; also empty ones between them. */
static size_t read_sparse(struct rows *rows, struct rows_row *out, size_t room)
{
    const uint64_t *apart = rows->aggregate;
    uint64_t step = rows->zeros ? 1 : *apart;
    __int128 start = -((__int128)1 << 63) - 2; /* a multiple of 10 */
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
    struct plan plan;

    make_plan(&plan, BINNING_UNIT32, true);
    plan.operation = OPERATION_UNIQ;
    plan.binning.bins = 0;
    struct rows rows = {.plan = &plan, .aggregate = &apart, .read = read_sparse};
    struct rows copy = rows;
    size_t n = read_sparse(&copy, expected, 100);
    bool passed = plots(&rows, expected, n, LINES_MAX);
    sort_by_count(expected, n);
    tap_ok(passed && lists(&rows, expected, n, 0) && lists(&rows, expected, n, 3),
           "rows from elsewhere, %llu apart", (unsigned long long)apart);
    plan_destroy(&plan);
}

/* An aggregate of uniq, and its expected counts as rows. */
struct counted {
    struct plan plan;
    struct uniq *uniq;
    struct table_writer *writer;
    struct rows_row *rows; /* [COUNTED_ROWS_MAX] */
    size_t n;
    uint64_t elements;
};

#define COUNTED_ROWS_MAX ((size_t)1 << 20)
#define COUNTED_BLOCK    4096

/* Cases that the aggregates covered. */
static struct {
    bool has_overlaps; /* bins in several windows */
    bool has_gaps;     /* gaps between windows */
    bool has_below;    /* entries of the table below the newest window */
    bool has_above;    /* entries of the table above it */
    bool has_unused;   /* unused regions before used ones of a window */
    bool has_staged;   /* counts also in the 32-bit part */
} counted_shape;

static bool counted_shape_is_full(void)
{
    return counted_shape.has_overlaps && counted_shape.has_gaps && counted_shape.has_below &&
           counted_shape.has_above && counted_shape.has_unused && counted_shape.has_staged;
}

static void must(bool is_so, const char *what)
{
    if (is_so)
        return;
    printf("Bail out! %s\n", what);
    exit(1);
}

static struct context context = {.table_bytes = (uint64_t)1 << 30};

static void counted_begin(struct counted *counted, const char *type, uint64_t width)
{
    struct failure failure;
    void *aggregate = NULL;

    *counted = (struct counted){
        .plan = {.operation = OPERATION_UNIQ, .bin_width = width, .context = &context},
    };
    counted->rows = malloc(COUNTED_ROWS_MAX * sizeof *counted->rows);
    must(counted->rows && element_parse(type, &counted->plan.element) &&
             (aggregate = store_table.create(&counted->plan, &failure)) != NULL,
         "no aggregate");
    counted->uniq = aggregate;
    must(table_writer_open(counted->uniq->table, &counted->writer, &failure) == STATUS_OK,
         "no writer");
}

static void counted_record(struct counted *counted, __int128 bin, uint64_t count)
{
    const uint64_t width = counted->plan.bin_width;

    must(counted->n < COUNTED_ROWS_MAX, "too many rows");
    counted->rows[counted->n++] =
        (struct rows_row){.low = bin * width, .high = (bin + 1) * width, .count = count};
    counted->elements += count;
}

/* Makes a block of the keys of n values first, first + step, ... */
static void counted_make_keys(struct counted *counted, uint64_t first, uint64_t step, size_t n,
                              uint64_t *keys)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = first + i * step;
    uniq_make_keys(counted->uniq, keys, n);
}

/* Counts such values in the table. */
static void counted_put(struct counted *counted, uint64_t first, uint64_t step, size_t n)
{
    const struct element *element = &counted->plan.element;
    uint64_t keys[COUNTED_BLOCK];
    struct failure failure;

    for (size_t i = 0; i < n; i++)
        counted_record(counted,
                       binning_floor(element_value(element, first + i * step),
                                     counted->plan.bin_width),
                       1);
    counted_make_keys(counted, first, step, n, keys);
    must(table_writer_add(counted->writer, keys, n, &failure) == STATUS_OK,
         "values are not counted");
}

/* Makes a window for such values, like for a sample of many. */
static void counted_look(struct counted *counted, uint64_t first, uint64_t step, size_t n)
{
    const size_t before = counted->uniq->windows.count;
    uint64_t keys[COUNTED_BLOCK];

    counted_make_keys(counted, first, step, n, keys);
    uniq_consider_window(counted->uniq, uniq_window(counted->uniq), keys, n, 1 << 20);
    must(counted->uniq->windows.count == before + 1, "no window");
}

/* Counts in bins start, start + step, ... of the newest window, n of them, in the 32-bit part. */
static void counted_stage(struct counted *counted, uint64_t start, uint64_t step, size_t n)
{
    const struct growing_window *window = uniq_window(counted->uniq);

    for (size_t i = 0; i < n; i++) {
        uint64_t bin = start + i * step;
        uint32_t count = 1 + (uint32_t)(i % 3);
        must(bin < window->bins, "no such bin");
        histogram_add_counts32(window->histogram, bin, &count, 1);
        counted_record(counted, window->first + bin, count);
    }
}

static int compare_rows(const void *a, const void *b)
{
    __int128 x = ((const struct rows_row *)a)->low;
    __int128 y = ((const struct rows_row *)b)->low;
    return (x > y) - (x < y);
}

static void counted_note_window(const struct counted *counted, const struct growing_window *window)
{
    const struct growing_window *newest = uniq_window(counted->uniq);

    for (size_t i = HISTOGRAM_REGION_BINS; i < window->bins; i += HISTOGRAM_REGION_BINS)
        counted_shape.has_unused |=
            !histogram_is_used(window->histogram, i - 1) && histogram_is_used(window->histogram, i);
    if (window != newest && window->first < newest->first + newest->bins &&
        newest->first < window->first + window->bins)
        counted_shape.has_overlaps = true;
    else
        counted_shape.has_gaps |= window != newest;
    for (size_t i = 0; i < window->bins; i++)
        counted_shape.has_staged |= window->histogram->staged[i] > 0;
}

/* Sorts the expected counts, each bin once, and finishes the aggregate. */
static bool counted_finish(struct counted *counted)
{
    struct uniq *uniq = counted->uniq;
    struct failure failure;
    size_t n = 0;

    qsort(counted->rows, counted->n, sizeof *counted->rows, compare_rows);
    for (size_t i = 0; i < counted->n; i++) {
        if (n > 0 && counted->rows[n - 1].low == counted->rows[i].low)
            counted->rows[n - 1].count += counted->rows[i].count;
        else
            counted->rows[n++] = counted->rows[i];
    }
    counted->n = n;
    for (size_t i = 0; i < uniq->windows.count; i++)
        counted_note_window(counted, &uniq->windows.list[i]);
    bool passed =
        table_writer_flush(counted->writer, &failure) == STATUS_OK &&
        store_table.finalize(uniq, &counted->plan, counted->elements, &failure) == STATUS_OK;
    counted_shape.has_below |= passed && uniq_window(uniq) && uniq->below > 0;
    counted_shape.has_above |=
        passed && uniq_window(uniq) && uniq->below < table_distinct(uniq->table);
    return passed || tap_note("%s", failure.message);
}

/* Returns the rows including empty ones; NULL: too many or none. The caller frees them. */
static struct rows_row *counted_fill(const struct counted *counted, size_t *n)
{
    const uint64_t width = counted->plan.bin_width;

    *n = 0;
    if (counted->n == 0)
        return NULL;
    __int128 low = counted->rows->low;
    if ((counted->rows[counted->n - 1].high - low) / width > (__int128)COUNTED_ROWS_MAX)
        return NULL;
    struct rows_row *filled = malloc(COUNTED_ROWS_MAX * sizeof *filled);
    must(filled != NULL, "no memory");
    for (size_t i = 0; i < counted->n; low += width) {
        bool is_empty = low < counted->rows[i].low;
        filled[(*n)++] = (struct rows_row){.low = low,
                                           .high = low + width,
                                           .count = is_empty ? 0 : counted->rows[i].count};
        i += !is_empty;
    }
    return filled;
}

/* Reads it in every way. */
static bool counted_reads(const struct counted *counted, const struct rows *rows, const char *name)
{
    static const size_t rooms[] = {1, BATCH, 256, BATCH_MAX};
    bool passed = true;
    size_t n;
    struct rows_row *filled = counted_fill(counted, &n);
    struct rows with_zeros;

    for (size_t i = 0; i < sizeof rooms / sizeof *rooms && passed; i++)
        passed = reads_by(rooms[i], *rows, counted->rows, counted->n);
    for (size_t parts = 1; parts <= 3000 && passed; parts = 3 * parts - 1)
        passed = reads_parts(rows, counted->rows, counted->n, parts);
    tap_ok(passed, "%s: rows", name);
    uniq_rows_begin(&with_zeros, &counted->plan, counted->uniq, true);
    for (size_t i = 0; filled && i < sizeof rooms / sizeof *rooms && passed; i++)
        passed = reads_by(rooms[i], with_zeros, filled, n);
    if (filled)
        tap_ok(passed, "%s: rows with empty ones", name);
    free(filled);
    return passed;
}

/* In any order: the same rows, sorted here. */
static bool counted_reads_any(struct counted *counted)
{
    struct rows_row *found = malloc(COUNTED_ROWS_MAX * sizeof *found);
    struct failure failure;
    struct rows rows;
    size_t n = 0;
    size_t some;

    must(found != NULL, "no memory");
    counted->plan.any_order = true;
    bool passed = store_table.finalize(counted->uniq, &counted->plan, counted->elements,
                                       &failure) == STATUS_OK;
    uniq_rows_begin(&rows, &counted->plan, counted->uniq, false);
    while (passed && n + BATCH <= COUNTED_ROWS_MAX && (some = rows.read(&rows, found + n, BATCH)))
        n += some;
    qsort(found, n, sizeof *found, compare_rows);
    for (size_t i = 0; i < n && passed && n == counted->n; i++)
        passed = found[i].low == counted->rows[i].low && found[i].high == counted->rows[i].high &&
                 found[i].count == counted->rows[i].count;
    passed = passed && n == counted->n;
    free(found);
    return passed;
}

/* Finishes it and reads it. */
static void counted_check(struct counted *counted, const char *name)
{
    struct rows rows;
    bool passed = counted_finish(counted);

    uniq_rows_begin(&rows, &counted->plan, counted->uniq, false);
    tap_ok(passed && rows.inside == counted->elements && rows.below == 0 && rows.above == 0,
           "%s: the sum", name);
    passed = passed && counted_reads(counted, &rows, name);
    tap_ok(passed && counted_reads_any(counted), "%s: in any order", name);
    table_writer_close(counted->writer);
    store_table.destroy(counted->uniq);
    free(counted->rows);
}

/* Windows that grow over values in the table, but not over all. */
static void test_counted_windows(void)
{
    static struct counted counted;

    counted_begin(&counted, "i32", 1);
    counted_put(&counted, 0, 1, 1000);
    counted_put(&counted, 60000, 1, 3);
    counted_put(&counted, (uint64_t)-70000, 0, 2);
    counted_look(&counted, 0, 25, 4000);
    counted_put(&counted, 0, 25, 4000);
    counted_stage(&counted, 5, 7, 300);
    counted_stage(&counted, 40000, 1, 20000);
    counted_look(&counted, 70000, 1, 4000);
    counted_stage(&counted, 1, 3, 3000);
    counted_put(&counted, (uint64_t)-100000, 37, 5);
    counted_put(&counted, 200000, 0, 1);
    counted_put(&counted, 65000, 1, 1);
    counted_check(&counted, "windows, negative values, too");
}

/* Bins of a width; a distant window; the smallest and the largest value. */
static void test_counted_wide(void)
{
    static struct counted counted;

    counted_begin(&counted, "i64", 3);
    counted_look(&counted, (uint64_t)-31000, 20, 3000);
    counted_stage(&counted, 7, 5, 3000);
    counted_look(&counted, (uint64_t)1 << 40, 2, 4000);
    counted_stage(&counted, 0, 1, 900);
    for (uint64_t i = 0; i < 20; i++)
        counted_put(&counted, i * 3000 - 31000, 1, 3000);
    counted_put(&counted, ((uint64_t)1 << 39) + 1, 0, 7);
    counted_put(&counted, (uint64_t)INT64_MIN, 1, 7);
    counted_put(&counted, INT64_MAX - 6, 1, 7);
    counted_check(&counted, "bins of 3 over all of i64");
}

/* As many bins as 64 bits can count, and bins far apart. */
static void test_counted_far(void)
{
    static struct counted counted;

    counted_begin(&counted, "u64", 1);
    counted_put(&counted, 0, 1, 100);
    counted_put(&counted, UINT64_MAX - 2, 1, 3);
    counted_put(&counted, (uint64_t)1 << 63, 1, 3);
    counted_check(&counted, "0 and 2^64 - 1");
    counted_begin(&counted, "u64", 1);
    counted_look(&counted, UINT64_MAX - 5000, 1, 4000);
    counted_put(&counted, UINT64_MAX - 5000, 1, 4000);
    counted_put(&counted, UINT64_MAX - 2, 1, 3);
    counted_check(&counted, "a window at the end");
    counted_begin(&counted, "i64", 1000);
    for (unsigned i = 0; i < 20; i++)
        counted_put(&counted, tap_random(&random_state), (uint64_t)1 << 51, 1000);
    counted_check(&counted, "bins far apart");
}

/* None, one, and few of many; windows that end where the type does. */
static void test_counted_few(void)
{
    static struct counted counted;

    counted_begin(&counted, "u8", 1);
    counted_check(&counted, "no values");
    counted_begin(&counted, "i8", 1);
    counted_look(&counted, 0, 1, 100);
    counted_put(&counted, (uint64_t)-128, 1, 256);
    counted_check(&counted, "all values of i8");
    counted_begin(&counted, "i64", UINT64_MAX);
    counted_put(&counted, (uint64_t)-1, 1, 2);
    counted_check(&counted, "two bins");
    counted_begin(&counted, "i32", 7);
    counted_put(&counted, 0, 1723, 4000);
    counted_check(&counted, "few bins of many");
}

int main(void)
{
    test_form(BINNING_UNIT32, "bins one wide", false);
    test_form(BINNING_SCALED64, "equal bins", false);
    test_form(BINNING_SCALED64, "bins of a width", true);
    test_form(BINNING_EDGES, "edges", false);
    test_form(BINNING_LOG2, "powers of 2", true);
    test_form(BINNING_LOG10, "powers of 10", true);
    test_regions();
    test_ranges();
    test_sparse(1);
    test_sparse(3);
    test_sparse(10000000000000000);
    test_counted_windows();
    test_counted_wide();
    test_counted_far();
    test_counted_few();
    tap_ok(counted_shape_is_full(), "they have windows and entries of all kinds");
    return tap_done();
}
