/*
 * --plot: bars in the terminal. A line has the bin, "value" or "low..high" (exclusive), the count,
 * the optional columns, and a bar. The bar's length is proportional to the count, in steps of an
 * eighth of a character if Unicode is available, or with --log-count to its logarithm. The line of
 * --other has no bar, which would mostly make all others short. Percentiles are last.
 */
#include "config.h"

#include "lib/decimal.h"
#include "lib/printable.h"
#include "lib/writer.h"
#include "result/bar.h"
#include "result/plot.h"
#include "result/print_heat_internal.h"
#include "result/print_rows.h"
#include "result/terminal.h"

#include <stdio.h>
#include <string.h>

/* Minimum width of bars; in a narrower terminal lines wrap. */
#define PRINT_PLOT_BAR_MIN 10

/* Maximum and minimum number of bar lines, whatever the page height; more bins share lines. */
#define PRINT_PLOT_LINES_MAX 64
#define PRINT_PLOT_LINES_MIN 4

/* Number of other lines of a page: the command, notes, omitted rows, and the next prompt. */
#define PRINT_PLOT_OTHERS 4

/* Maximum width of a column because of its name. */
#define PRINT_PLOT_NAME_MAX 40

/* The columns before the bar: label, count, percent, cumulative, cumulative percent. */
#define PRINT_PLOT_CELLS 5

/* The text of a line before the bar. Cells of columns that are not wanted are empty. */
struct print_plot_cells {
    char text[PRINT_PLOT_CELLS][PLOT_NAME_SIZE];
};

/* How all lines are drawn. */
struct print_plot_style {
    struct terminal terminal;
    size_t widths[PRINT_PLOT_CELLS];
    unsigned bar_columns;
    uint64_t max;            /* the largest count */
    uint64_t min;            /* logarithmic: the smallest count other than 0; else 0 */
    struct axis_times times; /* timestamps: the parts of labels */
    unsigned zeros;          /* number of trailing zeros that all labels' fractions omit */
};

/* Returns whether there is a header row. */
static bool print_plot_has_names(const struct print_options *options)
{
    return options->label || options->log_count;
}

uint64_t print_plot_lines(const struct print_options *options)
{
    const size_t quantiles = options->quantiles.count;
    const unsigned named =
        (unsigned)(options->title != NULL) + (unsigned)print_plot_has_names(options);
    const uint64_t others =
        PRINT_PLOT_OTHERS + named + options->other + (quantiles > 0 ? quantiles + 1 : 0);

    return terminal_lines_beside(!options->output, others, PRINT_PLOT_LINES_MIN,
                                 PRINT_PLOT_LINES_MAX);
}

/*
 * Writes the cells of a line, or if it is NULL those of --other. The label of a timestamp is the
 * start of the line, with a date where that changes. `before` is the start of the last line, or
 * NULL.
 */
static void print_plot_cells(struct print_plot_cells *cells, const struct print_input *input,
                             const struct print_plot_style *style, const struct plot_line *line,
                             const __int128 *before, uint64_t cumulative)
{
    const struct print_options *options = input->options;
    const struct element *element = &input->rows.plan->element;
    const uint64_t count = line ? line->count : input->other;
    const unsigned decimals = plan_count_decimals(input->rows.plan);

    *cells = (struct print_plot_cells){.text = {"other"}};
    if (line && element_is_time(element))
        axis_write_time(cells->text[0], &style->times, element, line->low,
                        !before || axis_has_new_date(&style->times, element, line->low, *before));
    else if (line)
        plot_name(cells->text[0], line, element, AXIS_PRINTED, style->zeros);
    decimal_format_fixed(cells->text[1], count, decimals);
    if (options->percent)
        strcpy(cells->text[2] + percentage_write_share(cells->text[2], count, input->total), "%");
    if (options->cumulative)
        decimal_format_fixed(cells->text[3], cumulative, decimals);
    if (options->percent && options->cumulative)
        strcpy(cells->text[4] + percentage_write_share(cells->text[4], cumulative, input->total),
               "%");
}

/* Returns the name of a column before the bar. */
static const char *print_plot_column(const struct print_input *input, size_t column,
                                     char out[PRINT_FIELD_SIZE])
{
    return column == 0   ? print_value_label(input->options, input->rows.plan, out)
           : column == 1 ? print_count_label(input->rows.plan, out)
           : column == 3 ? "cumulative"
                         : "percent";
}

/* Reads all lines to find the widths of the columns, and the smallest and largest count. */
static struct print_plot_style print_plot_measure(const struct print_input *input,
                                                  const struct plot *from)
{
    struct print_plot_style style = {.terminal = terminal_describe(!input->options->output)};
    struct print_plot_cells cells;
    struct plot_line line;
    struct plot plot = *from;
    uint64_t cumulative = 0;
    const struct print_options *options = input->options;
    size_t columns = 0;
    char field[PRINT_FIELD_SIZE];
    bool is_other = false;
    const struct element *element = &input->rows.plan->element;
    const bool is_time = element_is_time(element);

    style.zeros = is_time ? 0 : element->decimals;
    for (struct plot labels = *from; plot_next(&labels, &line);) {
        if (is_time)
            axis_times_add(&style.times, element, line.low);
        else if (!line.is_gap && plot_zeros(&line, element) < style.zeros)
            style.zeros = plot_zeros(&line, element);
    }
    while (!is_other) {
        is_other = !plot_next(&plot, &line);
        if (is_other ? !options->other : line.is_gap)
            continue;
        cumulative += is_other ? 0 : line.count;
        if (!is_other && line.count > style.max)
            style.max = line.count;
        if (!is_other && options->log_count && line.count > 0 &&
            (style.min == 0 || line.count < style.min))
            style.min = line.count;
        print_plot_cells(&cells, input, &style, is_other ? NULL : &line, NULL,
                         is_other ? input->rows.inside : cumulative);
        for (size_t i = 0; i < PRINT_PLOT_CELLS; i++) {
            size_t length = strlen(cells.text[i]);
            style.widths[i] = length > style.widths[i] ? length : style.widths[i];
        }
    }
    for (size_t i = 0; print_plot_has_names(options) && i < PRINT_PLOT_CELLS; i++) {
        const size_t width = printable_width(print_plot_column(input, i, field));
        if (style.widths[i] > 0 && width > style.widths[i])
            style.widths[i] = width < PRINT_PLOT_NAME_MAX ? width : PRINT_PLOT_NAME_MAX;
    }
    for (size_t i = 0; i < PRINT_PLOT_CELLS; i++)
        columns += style.widths[i] > 0 ? style.widths[i] + 2 : 0;
    style.bar_columns = style.terminal.columns > columns + PRINT_PLOT_BAR_MIN
                            ? style.terminal.columns - (unsigned)columns
                            : PRINT_PLOT_BAR_MIN;
    return style;
}

static void print_plot_line(struct writer *writer, const struct print_plot_style *style,
                            const struct print_plot_cells *cells, uint64_t count)
{
    const struct bar_scale scale = {&style->terminal, style->bar_columns, style->max, style->min};
    char *line = writer_reserve(writer, PRINT_PLOT_CELLS * (PLOT_NAME_SIZE + 2) + BAR_SIZE + 8);
    char *c = line;
    unsigned columns;

    for (size_t i = 0; i < PRINT_PLOT_CELLS; i++) {
        if (style->widths[i] > 0)
            c += sprintf(c, "%s%*s", i > 0 ? "  " : "", (int)style->widths[i], cells->text[i]);
    }
    if (count > 0) {
        c = stpcpy(c, "  ");
        c += bar_write(c, &scale, count, &columns);
    }
    *c++ = '\n';
    writer_commit(writer, (size_t)(c - line));
}

static void print_plot_rows(struct writer *writer, const struct print_input *input)
{
    const struct print_options *options = input->options;
    const struct quantiles *quantiles = &options->quantiles;
    struct print_plot_cells cells;
    struct plot_line line;
    struct plot plot;
    __int128 before = 0;  /* the start of the last line, unless is_first */
    bool is_first = true; /* there is no earlier line */
    char joined[PLOT_JOIN_SIZE];
    char field[PRINT_FIELD_SIZE];
    uint64_t cumulative = 0;

    plot_begin(&plot, &input->rows, input->is_complete, print_plot_lines(options));
    struct print_plot_style style = print_plot_measure(input, &plot);
    if (options->title) {
        print_columns(writer, options->title, style.terminal.columns);
        writer_write_text(writer, "\n");
    }
    if (plot_describe_join(joined, &plot) > 0)
        writer_print(writer, "each line combines %s\n", joined);
    for (size_t i = 0; print_plot_has_names(options) && i < PRINT_PLOT_CELLS; i++) {
        const char *name = print_plot_column(input, i, field);
        if (style.widths[i] == 0)
            continue;
        writer_write_text(writer, i > 0 ? "  " : "");
        for (size_t width = printable_width(name); width < style.widths[i]; width++)
            writer_write_text(writer, " ");
        print_columns(writer, name, style.widths[i]);
    }
    if (print_plot_has_names(options))
        writer_write_text(writer, options->log_count ? "  (logarithmic)\n" : "\n");
    while (plot_next(&plot, &line)) {
        if (line.is_gap) {
            writer_print(writer, "%*s  %llu empty bins\n", (int)style.widths[0], "...",
                         (unsigned long long)line.bins);
            continue;
        }
        cumulative += line.count;
        print_plot_cells(&cells, input, &style, &line, is_first ? NULL : &before, cumulative);
        before = line.low;
        is_first = false;
        print_plot_line(writer, &style, &cells, line.count);
    }
    if (input->rows_left > 0)
        writer_print(writer, "... and %llu more\n", (unsigned long long)input->rows_left);
    if (input->empty_left > 0)
        writer_print(writer, "... and %llu empty bins\n", (unsigned long long)input->empty_left);
    if (options->other) {
        print_plot_cells(&cells, input, &style, NULL, NULL, input->rows.inside);
        print_plot_line(writer, &style, &cells, 0);
    }
    for (size_t i = 0; input->quantiles && i < quantiles->count; i++) {
        const struct plot_line value = {.is_single = input->rows.is_unit,
                                        .low = input->quantiles[i].low,
                                        .high = input->quantiles[i].high};
        char percent[PERCENTAGE_SIZE];
        char name[PLOT_NAME_SIZE];
        percent[percentage_write(percent, &quantiles->percents[i])] = '\0';
        plot_name(name, &value, &input->rows.plan->element, AXIS_PRINTED, 0);
        writer_print(writer, "%s%s%%  %s\n", i == 0 ? "\n" : "", percent, name);
    }
}

static uint64_t print_plot_bins(const struct print_options *options, bool has_groups)
{
    return has_groups ? print_heat_plot_lines(options) : print_plot_lines(options);
}

const struct print_format print_plot = {
    .name = "plot",
    .has_lines = true,
    .is_picture = true,
    .names_values = true,
    .list_lines = print_plot_lines,
    .automatic_bins = print_plot_bins,
    .heat = print_heat_plot,
    .rows = print_plot_rows,
};
