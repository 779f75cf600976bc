/*
 * Format gnuplot: a script with the rows as inline data, in the form of tsv. Each box is as wide as
 * its bin. Bins of powers, whose widths differ by orders of magnitude, have boxes of equal width,
 * labelled with their lower edges. The script sets no terminal and no output; the caller chooses
 * them.
 */
#include "config.h"

#include "lib/decimal.h"
#include "lib/printable.h"
#include "lib/writer.h"
#include "result/print_rows.h"

#include <stdio.h>
#include <string.h>

/* Maximum number of boxes with borders; with more, borders would show a pattern. */
#define PRINT_GNUPLOT_BORDERS 200

/*
 * Writes `set WHAT "TEXT"` for any text: in single quotes nothing but these is special, and
 * "noenhanced" keeps _ and ^ as they are.
 */
static void print_gnuplot_text(struct writer *writer, const char *what, const char *text)
{
    writer_print(writer, "set %s '", what);
    while (*text) {
        const size_t bytes = printable_bytes(text);
        writer_write(writer, "'", *text == '\'');
        writer_write(writer, bytes > 0 ? text : "?", bytes > 0 ? bytes : 1);
        text += bytes > 0 ? bytes : 1;
    }
    writer_write_text(writer, "' noenhanced\n");
}

static void print_gnuplot_rows(struct writer *writer, const struct print_input *input)
{
    const struct print_options *options = input->options;
    const struct plan *plan = input->rows.plan;
    const bool is_powers = plan->binning.base > 0;
    struct print_options plain = *options;
    struct print_input data = *input;
    struct rows_row batch[ROWS_BATCH];
    struct rows rows;
    uint64_t count = 0;
    uint64_t min = 0; /* the minimum other than 0 */
    const unsigned decimals = plan_count_decimals(plan);
    char number[DECIMAL_SIZE];
    char width[DECIMAL_SIZE];
    char field[PRINT_FIELD_SIZE];
    char factor[DECIMAL_SIZE + 8] = ""; /* the factor of counts */
    size_t n;

    plain.percent = false; /* counts become percentages in the script, with all their digits */
    data.options = &plain;
    data.format = &print_tsv;
    data.count_word = print_tsv.words[PRINT_WORD_COUNT].text;
    data.rows.zeros = data.rows.zeros || is_powers;
    rows = data.rows;
    while ((n = rows_read(&rows, batch, ROWS_BATCH)) > 0) {
        count += n;
        for (size_t i = 0; i < n; i++) {
            if (batch[i].count > 0 && (min == 0 || batch[i].count < min))
                min = batch[i].count;
        }
    }
    writer_write_text(writer, "$data << EOD\n");
    print_lines(writer, &data);
    writer_write_text(writer, "EOD\n");

    if (options->percent) {
        decimal_format_fixed(number, input->total > 0 ? input->total : 1, decimals);
        sprintf(factor, "*100.0/%s", number);
    }
    decimal_format_fixed(number, min, decimals);
    if (min == 0)
        writer_write_text(writer, "set yrange [0:1]\n");
    else if (options->log_count)
        writer_print(writer, "set logscale y\nset yrange [0.5*%s%s:*]\n", number, factor);
    else
        writer_write_text(writer, "set yrange [0:*]\n");
    if (options->title)
        print_gnuplot_text(writer, "title", options->title);
    print_gnuplot_text(writer, "xlabel", print_value_label(options, plan, field));
    if (options->percent)
        writer_write_text(writer, "set format y '%g%%'\n");
    print_gnuplot_text(writer, "ylabel", print_count_label(plan, field));
    writer_print(writer, "set style fill solid %s\nunset key\n",
                 count > PRINT_GNUPLOT_BORDERS ? "1.0" : "0.7");
    decimal_format_fixed(number, input->other, decimals);
    if (options->other) /* it has no box, because it has no position on the axis */
        writer_print(writer, "set label \"other: %s\" at graph 0.98, graph 0.95 right\n", number);
    decimal_format_fixed(width, 1, plan->element.decimals);
    if (count == 0)
        writer_write_text(writer, "set xrange [0:1]\nplot -1\n");
    else if (is_powers)
        writer_print(writer,
                     "set boxwidth 0.9 relative\n"
                     "set offsets 0.6, 0.6, 0, 0\n"
                     "set xtics rotate\n"
                     "plot $data using 0:($3%s):xtic(1) with boxes\n",
                     factor);
    else if (input->rows.is_unit)
        writer_print(writer, "plot $data using 1:($2%s):(%s) with boxes\n", factor, width);
    else
        writer_print(writer, "plot $data using (($1+$2)/2.0):($3%s):($2-$1) with boxes\n", factor);
}

const struct print_format print_gnuplot = {
    .name = "gnuplot",
    .has_lines = true,
    .is_picture = true,
    .refuses_times = true,
    .refused = PRINT_EXTRA_CUMULATIVE | PRINT_EXTRA_QUANTILES,
    .rows = print_gnuplot_rows,
};
