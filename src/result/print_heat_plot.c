/*
 * Heat maps in the terminal (--plot), which fit its width and height. A line has a bin and the
 * cells of its row, the highest bin first; below are the groups, and the smallest count of each
 * colour. Without colour, cells are shades.
 */
#include "config.h"

#include "lib/writer.h"
#include "result/print_heat_internal.h"
#include "result/print_rows.h"
#include "result/terminal.h"

#include <string.h>

/* Maximum number of lines of cells, and the other lines: names, groups, legend, cursor. */
#define PRINT_HEAT_PLOT_ROWS_MAX 200
#define PRINT_HEAT_PLOT_OTHERS   4

/* Minimum numbers of rows and of columns; in a smaller terminal lines wrap. */
#define PRINT_HEAT_PLOT_ROWS_MIN    4
#define PRINT_HEAT_PLOT_COLUMNS_MIN 10

/* Maximum number of columns of a name in the legend, and of colours in it. */
#define PRINT_HEAT_PLOT_NAME  40
#define PRINT_HEAT_PLOT_SHOWN 9

/*
 * Colours of the palette of 256 (16 + 36 r + 6 g + b) that are close to every fourth colour of the
 * scale: each brighter in OKLab than the one before, from violet to yellow.
 */
static const uint8_t print_heat_plot_palette[] = {54, 55, 25, 31, 37, 72, 78, 150, 222};

/* The lower eighths of a block; there are only four shades. */
static const char *const print_heat_plot_unicode[] = {
    "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83", "\xe2\x96\x84",
    "\xe2\x96\x85", "\xe2\x96\x86", "\xe2\x96\x87", "\xe2\x96\x88",
};
#define PRINT_HEAT_PLOT_UNICODE (sizeof print_heat_plot_unicode / sizeof *print_heat_plot_unicode)

static const char print_heat_plot_ascii[] = ".:-=+*#%@";

struct print_heat_plot {
    struct writer *writer;
    struct print_heat *heat;
    struct terminal terminal;
    unsigned levels; /* number of colours or shades */
    bool has_ranges; /* lines begin with LOW..HIGH, else with LOW */
    size_t left;     /* number of characters before the cells */
    size_t cell;     /* number of characters of a cell */
    size_t number;   /* number of these for the count; 0: counts do not fit */
};

/* If there is colour, begins the colour of a level; -1 ends it. */
static void print_heat_plot_begin(const struct print_heat_plot *plot, int level)
{
    if (level < 0 || !plot->terminal.has_colour)
        return;
    if (plot->terminal.has_true_colour) {
        const struct print_heat_colour colour = print_heat_colour((unsigned)level);
        writer_print(plot->writer, "\033[48;2;%u;%u;%um", colour.red, colour.green, colour.blue);
    } else {
        writer_print(plot->writer, "\033[48;5;%um", print_heat_plot_palette[level]);
    }
}

static void print_heat_plot_end(const struct print_heat_plot *plot, int level)
{
    if (level >= 0 && plot->terminal.has_colour)
        writer_write_text(plot->writer, "\033[0m");
}

/* Writes `size` characters of the colour or shade of a level; -1: blanks. */
static void print_heat_plot_cell(const struct print_heat_plot *plot, int level, size_t size)
{
    char ascii[] = " ";
    const char *shade = ascii;

    if (level >= 0 && !plot->terminal.has_colour && plot->terminal.has_unicode)
        shade = print_heat_plot_unicode[level];
    else if (level >= 0 && !plot->terminal.has_colour)
        *ascii = print_heat_plot_ascii[level];
    print_heat_plot_begin(plot, level);
    for (size_t i = 0; i < size; i++)
        writer_write_text(plot->writer, shade);
    print_heat_plot_end(plot, level);
}

/* Writes a cell with its count, aligned in its column, on its colour or before its shade. */
static void print_heat_plot_count(const struct print_heat_plot *plot, uint64_t count)
{
    const size_t used = plot->number + !plot->terminal.has_colour;
    const size_t before = (plot->cell - used) / 2;
    const int level = (int)print_heat_level(plot->heat, count, plot->levels);
    const bool is_dark = print_heat_is_dark((unsigned)level * PRINT_HEAT_COLOURS / plot->levels);
    char number[AXIS_LABEL_SIZE];

    print_scale_label(number, plot->heat->options, plot->heat->plan, count, false);
    print_heat_plot_begin(plot, level);
    if (plot->terminal.has_colour)
        writer_write_text(plot->writer, is_dark ? "\033[97m" : "\033[30m");
    writer_print(plot->writer, "%*s", (int)(before + plot->number), number);
    if (!plot->terminal.has_colour)
        print_heat_plot_cell(plot, level, 1);
    writer_print(plot->writer, "%*s", (int)(plot->cell - used - before), "");
    print_heat_plot_end(plot, level);
}

uint64_t print_heat_plot_lines(const struct print_options *options)
{
    return terminal_lines_beside(!options->output,
                                 PRINT_HEAT_PLOT_OTHERS + (options->title != NULL),
                                 PRINT_HEAT_PLOT_ROWS_MIN, PRINT_HEAT_PLOT_ROWS_MAX);
}

static void print_heat_plot_bin(const struct print_heat_plot *plot, size_t y,
                                char out[PRINT_HEAT_NAME_SIZE])
{
    if (plot->has_ranges)
        print_heat_name(&plot->heat->y, y, out);
    else
        print_heat_label(&plot->heat->y, &plot->heat->y.times, y, true, out);
}

/* Returns the length of the longest name of a bin. */
static size_t print_heat_plot_measure(const struct print_heat_plot *plot)
{
    char name[PRINT_HEAT_NAME_SIZE];
    size_t longest = 0;

    for (size_t y = 0; y < plot->heat->y.count; y++) {
        print_heat_plot_bin(plot, y, name);
        longest = strlen(name) > longest ? strlen(name) : longest;
    }
    return longest;
}

/* Writes the rows; equal neighbours are written together. */
static void print_heat_plot_rows(const struct print_heat_plot *plot)
{
    const struct print_heat *heat = plot->heat;
    char name[PRINT_HEAT_NAME_SIZE];

    for (size_t y = heat->y.count; y-- > 0;) {
        const uint64_t *counts = heat->counts + y * heat->x.count;
        size_t end = heat->x.count;
        while (end > 0 && counts[end - 1] == 0)
            end--;
        print_heat_plot_bin(plot, y, name);
        writer_print(plot->writer, "%*s  ", (int)plot->left - 2, name);
        for (size_t x = 0; plot->number > 0 && x < end; x++) {
            if (counts[x] > 0)
                print_heat_plot_count(plot, counts[x]);
            else
                print_heat_plot_cell(plot, -1, plot->cell);
        }
        for (size_t x = plot->number > 0 ? end : 0, n; x < end; x += n) {
            const int level =
                counts[x] > 0 ? (int)print_heat_level(heat, counts[x], plot->levels) : -1;
            for (n = 1; x + n < end; n++) {
                const uint64_t next = counts[x + n];
                if ((next > 0 ? (int)print_heat_level(heat, next, plot->levels) : -1) != level)
                    break;
            }
            print_heat_plot_cell(plot, level, n * plot->cell);
        }
        writer_write_text(plot->writer, "\n");
    }
}

/*
 * Writes the lines below the cells: labels, and the dates of times of day. The label of a single
 * value is in the middle if it fits.
 */
static void print_heat_plot_groups(const struct print_heat_plot *plot)
{
    const struct print_heat_axis *axis = &plot->heat->x;
    const bool is_single = print_heat_is_single(axis);
    const struct print_heat_labels labels =
        print_heat_labels(axis, print_heat_longest(axis) / plot->cell + 1);
    char label[AXIS_LABEL_SIZE];
    bool has_dates = false;

    for (unsigned line = 0; line == 0 || (line == 1 && has_dates); line++) {
        size_t column = 0;
        size_t before = print_heat_next_label(axis, &labels, 0);
        const size_t first = before;
        for (size_t i = first; i < axis->count;
             before = i, i = print_heat_next_label(axis, &labels, i + 1)) {
            if (line == 0)
                print_heat_label(axis, &labels.times, i, axis->has_names, label);
            else if (!print_heat_date(axis, &labels.times, i, before, label))
                continue;
            const size_t length = strlen(label);
            const size_t free = is_single && length < plot->cell ? (plot->cell - length) / 2 : 0;
            const size_t from = plot->left + i * plot->cell + free;
            if (i > first && from + length > plot->terminal.columns)
                break;
            print_heat_plot_cell(plot, -1, from - column);
            writer_write_text(plot->writer, label);
            column = from + length;
        }
        writer_write_text(plot->writer, "\n");
        has_dates = !axis->has_names && print_heat_date(axis, &labels.times, first, first, label) &&
                    first < axis->count;
    }
}

/* Writes the line of the colours, as many as fit, with the smallest count of each. */
static void print_heat_plot_legend(const struct print_heat_plot *plot)
{
    const struct print_heat *heat = plot->heat;
    const char *scale = heat->is_logarithmic ? " (logarithmic)" : "";
    char number[AXIS_LABEL_SIZE];
    char max[AXIS_LABEL_SIZE];
    size_t length = plot->terminal.columns;
    unsigned each = (plot->levels + PRINT_HEAT_PLOT_SHOWN - 2) / PRINT_HEAT_PLOT_SHOWN;

    print_scale_label(max, heat->options, heat->plan, heat->max, false);
    writer_write_text(plot->writer, heat->count_before);
    size_t used = strlen(heat->count_before) +
                  print_columns(plot->writer, heat->count_name, PRINT_HEAT_PLOT_NAME) +
                  strlen(heat->count_after) + strlen(" to ") + strlen(max) + strlen(scale);
    writer_write_text(plot->writer, heat->count_after);
    for (bool is_fit = false; !is_fit && each < plot->levels; each *= is_fit ? 1 : 2) {
        length = used;
        for (unsigned i = 0; i < plot->levels; i += each) {
            print_scale_label(number, heat->options, heat->plan,
                              print_heat_level_count(heat, i, plot->levels), false);
            length += strlen(number) + 5;
        }
        is_fit = length <= plot->terminal.columns;
    }
    uint64_t before = 0;
    for (unsigned i = 0; i < plot->levels; i += each) {
        const uint64_t count = print_heat_level_count(heat, i, plot->levels);
        if (count == before) /* the scale has few counts */
            continue;
        before = count;
        print_scale_label(number, heat->options, heat->plan, count, false);
        writer_write_text(plot->writer, "  ");
        print_heat_plot_cell(plot, (int)print_heat_level(heat, count, plot->levels), 2);
        writer_print(plot->writer, " %s", number);
    }
    if (before < heat->max)
        writer_print(plot->writer, " to %s", max);
    writer_print(plot->writer, "%s\n", scale);
}

enum status print_heat_plot(struct writer *writer, struct print_heat *heat, struct failure *failure)
{
    struct print_heat_plot plot = {
        .writer = writer,
        .heat = heat,
        .terminal = terminal_describe(!heat->options->output),
        .has_ranges = true,
    };
    const unsigned columns = plot.terminal.columns;

    print_heat_divide(&heat->y, (size_t)print_heat_plot_lines(heat->options));
    plot.left = print_heat_plot_measure(&plot) + 2;
    if (plot.left > columns / 3) {
        plot.has_ranges = false;
        plot.left = print_heat_plot_measure(&plot) + 2;
    }
    const size_t space = columns > plot.left + PRINT_HEAT_PLOT_COLUMNS_MIN
                             ? columns - plot.left
                             : PRINT_HEAT_PLOT_COLUMNS_MIN;
    print_heat_divide(&heat->x, space);
    if (print_heat_count(heat, failure) != STATUS_OK)
        return failure->status;
    const size_t label = print_heat_longest(&heat->x);
    const size_t number = print_heat_longest_count(heat, false) + !plot.terminal.has_colour;
    const size_t wide = (number > label ? number : label) + 2;
    plot.cell = heat->x.count > 0 ? space / heat->x.count : 1;
    plot.number = plot.cell >= wide ? number - !plot.terminal.has_colour : 0;
    plot.cell = plot.number > 0 ? wide : plot.cell < label + 1 ? plot.cell : label + 1;
    plot.levels = !plot.terminal.has_colour
                      ? plot.terminal.has_unicode ? PRINT_HEAT_PLOT_UNICODE : 9
                  : plot.terminal.has_true_colour ? PRINT_HEAT_COLOURS
                                                  : 9;

    if (heat->options->title) {
        print_columns(writer, heat->options->title, columns);
        writer_write_text(writer, "\n");
    }
    print_columns(writer, heat->value_name, PRINT_HEAT_PLOT_NAME);
    writer_write_text(writer, " by ");
    print_columns(writer, heat->group_name, PRINT_HEAT_PLOT_NAME);
    writer_write_text(writer, "\n");
    print_heat_plot_rows(&plot);
    print_heat_plot_groups(&plot);
    if (heat->max > 0)
        print_heat_plot_legend(&plot);
    return STATUS_OK;
}
