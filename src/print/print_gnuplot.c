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

static void print_gnuplot_rows(struct writer *writer, const struct print_table *table)
{
    const unsigned decimals = table->rows.job->element.decimals;
    const bool is_powers = table->rows.job->binning.base > 0;
    struct print_table data = *table;
    struct rows_row first;
    char number[DECIMAL_SIZE];

    data.format = &print_tsv;
    data.rows.zeros = data.rows.zeros || is_powers;
    writer_write_text(writer, "$data << EOD\n");
    print_lines(writer, &data);
    writer_write_text(writer, "EOD\n");
    const bool has_rows = rows_read(&data.rows, &first, 1) > 0;
    writer_write_text(writer, has_rows && table->rows.inside > 0 ? "set yrange [0:*]\n"
                                                                 : "set yrange [0:1]\n");
    writer_write_text(writer, "set xlabel \"value\"\n"
                              "set ylabel \"count\"\n"
                              "set style fill solid 0.7\n"
                              "unset key\n");
    if (table->options->other) { /* no box, because it has no position on the axis */
        decimal_format_fixed(number, table->other, 0);
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
    } else if (table->rows.is_unit) {
        decimal_format_fixed(number, 1, decimals);
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
