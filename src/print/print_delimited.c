/*
 * Formats tsv and csv. Each bin has a line: "value, count" for bins of width 1, else "low, high,
 * count" with an exclusive high, and then the optional columns percent, cumulative and cumulative
 * percent. The line of --other comes last. csv (RFC 4180, but lines end with a newline alone)
 * begins with a header. Quantiles are printed instead of the bins.
 */
#include "config.h"

#include "base/decimal.h"
#include "output/writer.h"
#include "print/percent.h"
#include "print/print_rows.h"

#include <string.h>

/* Two edges, two counts, two percentages, five separators and a newline. */
#define PRINT_DELIMITED_LINE_MAX (4 * DECIMAL_SIZE + 2 * PERCENT_SIZE + 6)
_Static_assert(64 << 10 >= PRINT_ROWS_BATCH * PRINT_DELIMITED_LINE_MAX, "what a writer reserves");

/* A line of a quantile: a percentage, two edges, two tabs and a newline. */
#define PRINT_DELIMITED_QUANTILE_MAX (PERCENTAGE_SIZE + 2 * DECIMAL_SIZE + 3)

/* Writes the optional columns. Returns the end. */
static char *print_delimited_extra(char *c, const struct print_table *table, uint64_t count,
                                   uint64_t cumulative)
{
    const char separator = table->format->separator;

    if (table->options->percent) {
        *c++ = separator;
        c += percent_write(c, count, table->total);
    }
    if (table->options->cumulative) {
        *c++ = separator;
        c += decimal_write(c, cumulative);
        if (table->options->percent) {
            *c++ = separator;
            c += percent_write(c, cumulative, table->total);
        }
    }
    return c;
}

/* Writes "value" or "low, high". Returns the end. */
static inline char *print_delimited_bin(char *c, const struct print_table *table, __int128 low,
                                        __int128 high)
{
    const unsigned decimals = table->rows.job->element.decimals;

    c += decimal_write_fixed(c, low, decimals);
    if (table->rows.is_unit)
        return c;
    *c++ = table->format->separator;
    return c + decimal_write_fixed(c, high, decimals);
}

static void print_delimited_bins(struct writer *writer, const struct print_table *table)
{
    struct rows_row batch[PRINT_ROWS_BATCH];
    struct rows rows = table->rows;
    bool has_extra = table->options->percent || table->options->cumulative;
    uint64_t cumulative = 0;
    size_t n;

    while ((n = rows_read(&rows, batch, PRINT_ROWS_BATCH)) > 0) {
        char *lines = writer_reserve(writer, n * PRINT_DELIMITED_LINE_MAX);
        char *c = lines;
        for (size_t i = 0; i < n; i++) {
            c = print_delimited_bin(c, table, batch[i].low, batch[i].high);
            *c++ = table->format->separator;
            c += decimal_write(c, batch[i].count);
            cumulative += batch[i].count;
            if (has_extra)
                c = print_delimited_extra(c, table, batch[i].count, cumulative);
            *c++ = '\n';
        }
        writer_commit(writer, (size_t)(c - lines));
    }
}

static void print_delimited_rows(struct writer *writer, const struct print_table *table)
{
    const struct print_options *options = table->options;
    const struct quantiles *quantiles = &options->quantiles;
    const char separator = table->format->separator;

    if (separator == ',') {
        const char *bin = table->rows.is_unit ? "value" : "low,high";
        const char *extra = options->percent && options->cumulative
                                ? ",percent,cumulative,cumulative_percent"
                            : options->percent    ? ",percent"
                            : options->cumulative ? ",cumulative"
                                                  : "";
        writer_write_text(writer, quantiles->count > 0 ? "quantile," : "");
        writer_write_text(writer, bin);
        writer_write_text(writer, quantiles->count > 0 ? "" : ",count");
        writer_write_text(writer, quantiles->count > 0 ? "" : extra);
        writer_write_text(writer, "\n");
    }
    if (quantiles->count == 0)
        print_rows_in_parts(writer, table, PRINT_DELIMITED_LINE_MAX, print_delimited_bins);
    for (size_t i = 0; table->quantiles && i < quantiles->count; i++) {
        char *line = writer_reserve(writer, PRINT_DELIMITED_QUANTILE_MAX);
        char *c = line + percentage_write(line, &quantiles->percents[i]);
        *c++ = separator;
        c = print_delimited_bin(c, table, table->quantiles[i].low, table->quantiles[i].high);
        *c++ = '\n';
        writer_commit(writer, (size_t)(c - line));
    }
    if (options->other) { /* the columns of the bins; of two edges, the second is empty */
        char *line = writer_reserve(writer, PRINT_DELIMITED_LINE_MAX);
        char *c = stpcpy(line, "other");
        *c++ = separator;
        if (!table->rows.is_unit)
            *c++ = separator;
        c += decimal_write(c, table->other);
        c = print_delimited_extra(c, table, table->other, table->rows.inside);
        *c++ = '\n';
        writer_commit(writer, (size_t)(c - line));
    }
}

const struct print_format print_tsv = {
    .name = "tsv",
    .separator = '\t',
    .has_values = true,
    .has_lines = true,
    .replaces_bins = true,
    .rows = print_delimited_rows,
};

const struct print_format print_csv = {
    .name = "csv",
    .separator = ',',
    .has_values = true,
    .has_lines = true,
    .replaces_bins = true,
    .rows = print_delimited_rows,
};
