/*
 * Format gnuplot: a script with the rows as inline data, in the form of tsv. Each box is as wide as
 * its bin. Bins of powers, whose widths differ by orders of magnitude, have boxes of equal width,
 * labelled with the value at which they begin. The script sets no terminal and no output; those are
 * the caller's choice.
 */
#include "config.h"

#include "base/decimal.h"
#include "base/printable.h"
#include "output/writer.h"
#include "print/print_rows.h"

#include <stdio.h>
#include <string.h>

/* Boxes of more rows have the colour of their borders, which then show no pattern. */
#define PRINT_GNUPLOT_BORDERS 200

/*
 * Writes `set WHAT "TEXT"` for any text: in single quotes nothing but these is special, and
 * "noenhanced" keeps _ and ^ as they are.
 */
static void print_gnuplot_text(struct writer *writer, const char *what, const char *text)
{
    writer_write_text(writer, "set ");
    writer_write_text(writer, what);
    writer_write_text(writer, " '");
    while (*text) {
        const size_t bytes = printable_bytes(text);
        writer_write(writer, "'", *text == '\'');
        writer_write(writer, bytes > 0 ? text : "?", bytes > 0 ? bytes : 1);
        text += bytes > 0 ? bytes : 1;
    }
    writer_write_text(writer, "' noenhanced\n");
}

static void print_gnuplot_rows(struct writer *writer, const struct print_table *table)
{
    const struct print_options *options = table->options;
    const struct job *job = table->rows.job;
    const bool is_powers = job->binning.base > 0;
    struct print_options plain = *options;
    struct print_table data = *table;
    struct rows_row batch[PRINT_ROWS_BATCH];
    struct rows rows;
    uint64_t count = 0;
    uint64_t min = 0; /* not 0 */
    char number[DECIMAL_SIZE];
    char factor[DECIMAL_SIZE + 8] = ""; /* of counts */
    char text[3 * DECIMAL_SIZE + 128];
    size_t n;

    plain.percent = false; /* counts become percentages in the script, with all their digits */
    data.options = &plain;
    data.format = &print_tsv;
    data.rows.zeros = data.rows.zeros || is_powers;
    rows = data.rows;
    while ((n = rows_read(&rows, batch, PRINT_ROWS_BATCH)) > 0) {
        count += n;
        for (size_t i = 0; i < n; i++) {
            if (batch[i].count > 0 && (min == 0 || batch[i].count < min))
                min = batch[i].count;
        }
    }
    writer_write_text(writer, "$data << EOD\n");
    print_lines(writer, &data);
    writer_write_text(writer, "EOD\n");

    decimal_format_fixed(number, table->total > 0 ? table->total : 1, 0);
    if (options->percent)
        sprintf(factor, "*100.0/%s", number);
    decimal_format_fixed(number, min, 0);
    sprintf(text, "set logscale y\nset yrange [0.5*%s%s:*]\n", number, factor);
    writer_write_text(writer, min == 0             ? "set yrange [0:1]\n"
                              : options->log_count ? text
                                                   : "set yrange [0:*]\n");
    if (options->title)
        print_gnuplot_text(writer, "title", options->title);
    print_gnuplot_text(writer, "xlabel", print_value_label(options, job));
    if (options->percent)
        writer_write_text(writer, "set format y '%g%%'\n");
    print_gnuplot_text(writer, "ylabel", job_count_name(job));
    writer_write_text(writer, count > PRINT_GNUPLOT_BORDERS ? "set style fill solid 1.0\n"
                                                            : "set style fill solid 0.7\n");
    writer_write_text(writer, "unset key\n");
    if (options->other) { /* no box, because it has no position on the axis */
        decimal_format_fixed(number, table->other, 0);
        writer_write_text(writer, "set label \"other: ");
        writer_write_text(writer, number);
        writer_write_text(writer, "\" at graph 0.98, graph 0.95 right\n");
    }
    decimal_format_fixed(number, 1, job->element.decimals);
    if (count == 0)
        strcpy(text, "set xrange [0:1]\nplot -1\n");
    else if (is_powers)
        sprintf(text,
                "set boxwidth 0.9 relative\n"
                "set offsets 0.6, 0.6, 0, 0\n"
                "set xtics rotate\n"
                "plot $data using 0:($3%s):xtic(1) with boxes\n",
                factor);
    else if (table->rows.is_unit)
        sprintf(text, "plot $data using 1:($2%s):(%s) with boxes\n", factor, number);
    else
        sprintf(text, "plot $data using (($1+$2)/2.0):($3%s):($2-$1) with boxes\n", factor);
    writer_write_text(writer, text);
}

const struct print_format print_gnuplot = {
    .name = "gnuplot",
    .has_lines = true,
    .is_picture = true,
    .refused = PRINT_EXTRA_CUMULATIVE | PRINT_EXTRA_QUANTILES,
    .rows = print_gnuplot_rows,
};
