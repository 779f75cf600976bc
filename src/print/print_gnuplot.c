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

/* Two edges, a count, two tabs and a newline. */
#define PRINT_GNUPLOT_LINE_MAX (3 * DECIMAL_SIZE + 3)

/* Writes the data. Returns the greatest count and stores whether there are rows. */
static uint64_t print_gnuplot_data(struct writer *writer, struct rows rows, bool *has_rows)
{
    struct rows_row batch[PRINT_ROWS_BATCH];
    const unsigned decimals = rows.job->element.decimals;
    uint64_t max = 0;
    size_t n;

    *has_rows = false;
    writer_write_text(writer, "$data << EOD\n");
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
            max = batch[i].count > max ? batch[i].count : max;
        }
        *has_rows = true;
    }
    writer_write_text(writer, "EOD\n");
    return max;
}

static void print_gnuplot_rows(struct writer *writer, const struct print_table *table)
{
    struct rows rows = table->rows;
    bool is_powers = rows.job->binning.base > 0;
    bool has_rows;
    char number[DECIMAL_SIZE];

    rows.zeros = rows.zeros || is_powers;
    uint64_t max = print_gnuplot_data(writer, rows, &has_rows);
    writer_write_text(writer, max > 0 ? "set yrange [0:*]\n" : "set yrange [0:1]\n");
    writer_write_text(writer, "set xlabel \"value\"\n"
                              "set ylabel \"count\"\n"
                              "set style fill solid 0.7\n"
                              "unset key\n");
    if (table->options->other) { /* no box, because it has no position on the axis */
        decimal_format_signed(number, table->other);
        writer_write_text(writer, "set label \"other: ");
        writer_write_text(writer, number);
        writer_write_text(writer, "\" at graph 0.98, graph 0.95 right\n");
    }
    if (!has_rows) {
        writer_write_text(writer, "set xrange [0:1]\nplot -1\n");
    } else if (is_powers) {
        writer_write_text(writer, "set boxwidth 0.9 relative\n"
                                  "set offsets 0.6, 0.6, 0, 0\n"
                                  "set xtics rotate\n"
                                  "plot $data using 0:3:xtic(1) with boxes\n");
    } else if (rows.is_unit) {
        decimal_format_fixed(number, 1, rows.job->element.decimals);
        writer_write_text(writer, "plot $data using 1:2:(");
        writer_write_text(writer, number);
        writer_write_text(writer, ") with boxes\n");
    } else {
        writer_write_text(writer, "plot $data using (($1+$2)/2.0):3:($2-$1) with boxes\n");
    }
}

const struct print_format print_gnuplot = {
    .name = "gnuplot",
    .has_lines = true,
    .refused = PRINT_EXTRA_CUMULATIVE | PRINT_EXTRA_PERCENT | PRINT_EXTRA_QUANTILES,
    .rows = print_gnuplot_rows,
};
