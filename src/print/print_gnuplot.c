/*
 * Format gnuplot: a script with the rows as inline data, in the form of tsv. Each box is as wide as
 * its bin. Bins of powers, whose widths differ by orders of magnitude, have boxes of equal width,
 * labelled with the value at which they begin. The script sets no terminal and no output; those are
 * the caller's choice.
 */
#include "config.h"

#include "base/decimal.h"
#include "output/writer.h"
#include "print/print_rows.h"

#include <string.h>

/* Two edges, a count, two tabs and a newline. */
#define PRINT_GNUPLOT_LINE_MAX (3 * DECIMAL_SIZE + 3)

static void print_gnuplot_text(struct writer *writer, const char *text)
{
    writer_write(writer, text, strlen(text));
}

/* Writes the data. Returns the greatest count and stores whether there are rows. */
static uint64_t print_gnuplot_data(struct writer *writer, struct rows rows, bool *has_rows)
{
    struct rows_row batch[PRINT_ROWS_BATCH];
    const unsigned decimals = rows.job->element.decimals;
    uint64_t most = 0;
    size_t n;

    *has_rows = false;
    print_gnuplot_text(writer, "$data << EOD\n");
    while ((n = rows_read(&rows, batch, PRINT_ROWS_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++) {
            char *line = writer_reserve(writer, PRINT_GNUPLOT_LINE_MAX);
            char *c = line + decimal_write_fixed(line, batch[i].low, decimals);
            *c++ = '\t';
            if (!rows.is_unit) {
                c += decimal_write_fixed(c, batch[i].high, decimals);
                *c++ = '\t';
            }
            c += decimal_write(c, batch[i].count);
            *c++ = '\n';
            writer_commit(writer, (size_t)(c - line));
            most = batch[i].count > most ? batch[i].count : most;
        }
        *has_rows = true;
    }
    print_gnuplot_text(writer, "EOD\n");
    return most;
}

/* Plots bins of one value each. */
static void print_gnuplot_units(struct writer *writer, unsigned decimals)
{
    char width[DECIMAL_SIZE];

    decimal_format_fixed(width, 1, decimals);
    print_gnuplot_text(writer, "plot $data using 1:2:(");
    print_gnuplot_text(writer, width);
    print_gnuplot_text(writer, ") with boxes\n");
}

/* What --other counts is no box, because it has no place on the axis. */
static void print_gnuplot_other(struct writer *writer, uint64_t other)
{
    char text[DECIMAL_SIZE + 64];
    char *c = stpcpy(text, "set label \"other: ");

    c += decimal_write(c, other);
    stpcpy(c, "\" at graph 0.98, graph 0.95 right\n");
    print_gnuplot_text(writer, text);
}

static enum status print_gnuplot_rows(struct writer *writer, const struct print_table *table,
                                      struct failure *failure)
{
    struct rows rows = table->rows;
    bool is_powers = rows.job->binning.base > 0;
    bool has_rows;

    (void)failure;
    rows.zeros = rows.zeros || is_powers;
    uint64_t most = print_gnuplot_data(writer, rows, &has_rows);
    print_gnuplot_text(writer, most > 0 ? "set yrange [0:*]\n" : "set yrange [0:1]\n");
    print_gnuplot_text(writer, "set xlabel \"value\"\n"
                               "set ylabel \"count\"\n"
                               "set style fill solid 0.7\n"
                               "unset key\n");
    if (table->options->other)
        print_gnuplot_other(writer, table->other);
    if (!has_rows)
        print_gnuplot_text(writer, "set xrange [0:1]\nplot -1\n");
    else if (is_powers)
        print_gnuplot_text(writer, "set boxwidth 0.9 relative\n"
                                   "set offsets 0.6, 0.6, 0, 0\n"
                                   "set xtics rotate\n"
                                   "plot $data using 0:3:xtic(1) with boxes\n");
    else if (rows.is_unit)
        print_gnuplot_units(writer, rows.job->element.decimals);
    else
        print_gnuplot_text(writer, "plot $data using (($1+$2)/2.0):3:($2-$1) with boxes\n");
    return STATUS_OK;
}

const struct print_format print_gnuplot = {
    .name = "gnuplot",
    .has_lines = true,
    .refused = PRINT_EXTRA_CUMULATIVE | PRINT_EXTRA_PERCENT | PRINT_EXTRA_QUANTILES,
    .rows = print_gnuplot_rows,
};
