/*
 * --plot: bars in the terminal. A line holds the bin, "value" or "low..high" (exclusive), the
 * count, the optional columns, and a bar. The bar's length is proportional to the count, in steps
 * of an eighth of a character if Unicode is available. The line of --other has no bar, which would
 * mostly make all others short. Quantiles follow after an empty line.
 */
#include "config.h"

#include "base/decimal.h"
#include "output/writer.h"
#include "plot/plot.h"
#include "plot/terminal.h"
#include "print/percent.h"
#include "print/print_rows.h"

#include <stdio.h>
#include <string.h>

/* The least width for bars; in a narrower terminal lines wrap. */
#define PRINT_PLOT_BAR_MIN 10

/* More rows share lines. */
#define PRINT_PLOT_LINES_MAX 64

/* The columns before the bar: label, count, percent, cumulative, cumulative percent. */
#define PRINT_PLOT_CELLS 5

/* The text of a line. Cells of columns that are not wanted are empty. */
struct print_plot_cells {
    char text[PRINT_PLOT_CELLS][PLOT_NAME_SIZE];
};

/* How all lines are drawn. */
struct print_plot_style {
    struct terminal terminal;
    size_t widths[PRINT_PLOT_CELLS];
    unsigned bar_columns;
    uint64_t most; /* the greatest count */
};

/* Writes the cells of the columns, but for the label. */
static void print_plot_columns(struct print_plot_cells *cells, const struct print_table *table,
                               uint64_t count, uint64_t cumulative)
{
    const struct print_options *options = table->options;

    *cells = (struct print_plot_cells){.text = {""}};
    decimal_write(cells->text[1], count);
    if (options->percent)
        strcpy(cells->text[2] + percent_write(cells->text[2], count, table->total), "%");
    if (options->cumulative)
        decimal_write(cells->text[3], cumulative);
    if (options->percent && options->cumulative)
        strcpy(cells->text[4] + percent_write(cells->text[4], cumulative, table->total), "%");
}

static void print_plot_cells(struct print_plot_cells *cells, const struct print_table *table,
                             const struct plot_line *line, uint64_t cumulative)
{
    print_plot_columns(cells, table, line->count, cumulative);
    plot_name(cells->text[0], line, table->rows.job->element.decimals);
}

static void print_plot_other_cells(struct print_plot_cells *cells, const struct print_table *table)
{
    print_plot_columns(cells, table, table->other, table->rows.inside);
    strcpy(cells->text[0], "other");
}

/* Widens the columns so that they hold the cells. */
static void print_plot_widen(struct print_plot_style *style, const struct print_plot_cells *cells)
{
    for (size_t i = 0; i < PRINT_PLOT_CELLS; i++) {
        size_t length = strlen(cells->text[i]);
        style->widths[i] = length > style->widths[i] ? length : style->widths[i];
    }
}

/* Reads all lines to find the widths of the columns and the greatest count. */
static struct print_plot_style print_plot_measure(const struct print_table *table,
                                                  const struct plot *from)
{
    struct print_plot_style style = {.terminal = terminal_describe(!table->options->output)};
    struct print_plot_cells cells;
    struct plot_line line;
    struct plot plot = *from;
    uint64_t cumulative = 0;
    size_t columns = 0;

    while (plot_next(&plot, &line)) {
        if (line.is_gap)
            continue;
        cumulative += line.count;
        print_plot_cells(&cells, table, &line, cumulative);
        print_plot_widen(&style, &cells);
        style.most = line.count > style.most ? line.count : style.most;
    }
    if (table->options->other) {
        print_plot_other_cells(&cells, table);
        print_plot_widen(&style, &cells);
    }
    for (size_t i = 0; i < PRINT_PLOT_CELLS; i++)
        columns += style.widths[i] > 0 ? style.widths[i] + 2 : 0;
    style.bar_columns = style.terminal.columns > columns + PRINT_PLOT_BAR_MIN
                            ? style.terminal.columns - (unsigned)columns
                            : PRINT_PLOT_BAR_MIN;
    return style;
}

/* count / greatest count * whole, rounded; at least 1 if the count is not 0. */
static unsigned print_plot_share(const struct print_plot_style *style, uint64_t count,
                                 unsigned whole)
{
    if (count == 0)
        return 0;
    unsigned __int128 twice = (unsigned __int128)count * whole * 2 + style->most;
    unsigned share = (unsigned)(twice / ((unsigned __int128)style->most * 2));
    return share > 0 ? share : 1;
}

/* Writes full blocks (U+2588) and a partial one for the rest (U+258F is one eighth). */
static char *print_plot_blocks(char *c, unsigned eighths)
{
    for (; eighths > 0; eighths -= eighths < 8 ? eighths : 8) {
        memcpy(c, "\xe2\x96", 2);
        c[2] = (char)(0x90 - (eighths < 8 ? eighths : 8));
        c += 3;
    }
    return c;
}

static char *print_plot_bar(char *c, const struct print_plot_style *style, uint64_t count)
{
    if (count == 0)
        return c;
    c = stpcpy(c, "  ");
    if (style->terminal.has_colour)
        c = stpcpy(c, "\033[36m");
    if (style->terminal.has_unicode) {
        c = print_plot_blocks(c, print_plot_share(style, count, style->bar_columns * 8));
    } else {
        unsigned length = print_plot_share(style, count, style->bar_columns);
        memset(c, '#', length);
        c += length;
    }
    if (style->terminal.has_colour)
        c = stpcpy(c, "\033[0m");
    return c;
}

static void print_plot_line(struct writer *writer, const struct print_plot_style *style,
                            const struct print_plot_cells *cells, uint64_t count)
{
    size_t size = PRINT_PLOT_CELLS * (PLOT_NAME_SIZE + 2) + 3 * TERMINAL_COLUMNS_MAX + 32;
    char *line = writer_reserve(writer, size);
    char *c = line;

    for (size_t i = 0; i < PRINT_PLOT_CELLS; i++) {
        if (style->widths[i] > 0)
            c += sprintf(c, "%s%*s", i > 0 ? "  " : "", (int)style->widths[i], cells->text[i]);
    }
    c = print_plot_bar(c, style, count);
    *c++ = '\n';
    writer_commit(writer, (size_t)(c - line));
}

/* The line of empty bins. */
static void print_plot_gap(struct writer *writer, const struct print_plot_style *style,
                           uint64_t bins)
{
    char text[PLOT_NAME_SIZE + 64];
    int length = sprintf(text, "%*s  %llu empty bins\n", (int)style->widths[0], "...",
                         (unsigned long long)bins);

    writer_write(writer, text, (size_t)length);
}

static void print_plot_quantile(struct writer *writer, const struct percentage *percent,
                                const struct quantiles_value *value, const struct rows *rows)
{
    const unsigned decimals = rows->job->element.decimals;
    char text[PERCENTAGE_SIZE + PLOT_NAME_SIZE + 8];
    char *c = text + percentage_write(text, percent);

    c = stpcpy(c, "%  ");
    c += decimal_write_fixed(c, value->low, decimals);
    if (!rows->is_unit) {
        c = stpcpy(c, "..");
        c += decimal_write_fixed(c, value->high, decimals);
    }
    *c++ = '\n';
    writer_write(writer, text, (size_t)(c - text));
}

static void print_plot_rest(struct writer *writer, const struct print_table *table,
                            const struct print_plot_style *style)
{
    const struct quantiles *quantiles = &table->options->quantiles;
    struct print_plot_cells cells;
    char text[64];

    if (table->rows_left > 0)
        writer_write(writer, text,
                     (size_t)sprintf(text, "... and %llu more\n",
                                     (unsigned long long)table->rows_left));
    if (table->options->other) {
        print_plot_other_cells(&cells, table);
        print_plot_line(writer, style, &cells, 0);
    }
    for (size_t i = 0; table->quantiles && i < quantiles->count; i++) {
        if (i == 0)
            writer_write(writer, "\n", 1);
        print_plot_quantile(writer, &quantiles->percents[i], &table->quantiles[i], &table->rows);
    }
}

static enum status print_plot_rows(struct writer *writer, const struct print_table *table,
                                   struct failure *failure)
{
    struct print_plot_cells cells;
    struct plot_line line;
    struct plot plot;
    uint64_t cumulative = 0;

    (void)failure;
    plot_begin(&plot, &table->rows, table->is_complete, PRINT_PLOT_LINES_MAX);
    struct print_plot_style style = print_plot_measure(table, &plot);
    while (plot_next(&plot, &line)) {
        if (line.is_gap) {
            print_plot_gap(writer, &style, line.bins);
            continue;
        }
        cumulative += line.count;
        print_plot_cells(&cells, table, &line, cumulative);
        print_plot_line(writer, &style, &cells, line.count);
    }
    print_plot_rest(writer, table, &style);
    return STATUS_OK;
}

const struct print_format print_plot = {
    .name = "plot",
    .has_lines = true,
    .names_values = true,
    .list_rows_max = PRINT_PLOT_LINES_MAX,
    .rows = print_plot_rows,
};
