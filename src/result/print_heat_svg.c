/*
 * Heat maps in format svg (svg.h). A cell is a path whose title is its group, its bin and its
 * count. On a dark page higher counts are brighter, on a light one darker; empty cells are the
 * page.
 */
#include "config.h"

#include "lib/writer.h"
#include "result/print_heat_internal.h"
#include "result/print_rows.h"
#include "result/svg.h"
#include "value/binning.h"

#include <stdio.h>

/* Maximum number of columns and rows of cells; more groups and bins share cells. */
#define PRINT_HEAT_SVG_COLUMNS_MAX 200
#define PRINT_HEAT_SVG_ROWS_MAX    64

#define PRINT_HEAT_SVG_RIGHT  8400 /* maximum end of the cells, left of the legend */
#define PRINT_HEAT_SVG_BOTTOM 4880
#define PRINT_HEAT_SVG_HEIGHT (PRINT_HEAT_SVG_BOTTOM - SVG_TOP)

/* The legend: its distance from the cells, its width with ticks, and the distance of its labels. */
#define PRINT_HEAT_SVG_LEGEND       260
#define PRINT_HEAT_SVG_LEGEND_WIDTH 160
#define PRINT_HEAT_SVG_LEGEND_TICKS 240
#define PRINT_HEAT_SVG_TICK         400

struct print_heat_svg {
    struct writer *writer;
    const struct print_heat *heat;
    unsigned left;  /* the left end of the cells */
    unsigned right; /* the right end of the cells */
    bool is_tilted; /* the labels of the groups are tilted */
};

/* Return the position of the start of column i, and of the lower side of row i. */
static unsigned print_heat_svg_x(const struct print_heat_svg *svg, size_t i)
{
    return svg->left + (unsigned)((svg->right - svg->left) * i / svg->heat->x.count);
}

static unsigned print_heat_svg_y(const struct print_heat_svg *svg, size_t i)
{
    return PRINT_HEAT_SVG_BOTTOM - (unsigned)(PRINT_HEAT_SVG_HEIGHT * i / svg->heat->y.count);
}

static void print_heat_svg_cells(const struct print_heat_svg *svg)
{
    const struct print_heat *heat = svg->heat;
    char group[PRINT_HEAT_NAME_SIZE];
    char bin[PRINT_HEAT_NAME_SIZE];
    char number[AXIS_LABEL_SIZE];

    writer_write_text(svg->writer, "<g class=\"heat\">\n");
    for (size_t y = 0; y < heat->y.count; y++) {
        const unsigned top = print_heat_svg_y(svg, y + 1);
        const unsigned height = print_heat_svg_y(svg, y) - top;
        print_heat_name(&heat->y, y, bin);
        for (size_t x = 0; x < heat->x.count; x++) {
            const uint64_t count = heat->counts[y * heat->x.count + x];
            const unsigned from = print_heat_svg_x(svg, x);
            const unsigned width = print_heat_svg_x(svg, x + 1) - from;
            if (count == 0)
                continue;
            print_heat_name(&heat->x, x, group);
            print_scale_label(number, heat->options, heat->plan, count, true);
            writer_print(svg->writer,
                         "<path class=\"c%u\" d=\"M%u %uh%uv%uH%uz\"><title>%s, %s: %s</title>"
                         "</path>\n",
                         print_heat_level(heat, count, PRINT_HEAT_COLOURS), from, top, width,
                         height, from, group, bin, number);
        }
    }
    writer_write_text(svg->writer, "</g>\n");
}

/* Writes the counts in the cells, if all fit: dark on light colours, light on dark ones. */
static void print_heat_svg_counts(const struct print_heat_svg *svg)
{
    const struct print_heat *heat = svg->heat;
    const size_t width = print_heat_longest_count(heat, true) * SVG_CHARACTER + SVG_SPACE / 2;
    char number[AXIS_LABEL_SIZE];

    if (width * heat->x.count > svg->right - svg->left ||
        SVG_LINE * heat->y.count > PRINT_HEAT_SVG_HEIGHT)
        return;
    writer_write_text(svg->writer, "<g class=\"counts\">\n");
    for (size_t i = 0; i < heat->x.count * heat->y.count; i++) {
        const size_t x = i % heat->x.count;
        const size_t y = i / heat->x.count;
        if (heat->counts[i] == 0)
            continue;
        const unsigned level = print_heat_level(heat, heat->counts[i], PRINT_HEAT_COLOURS);
        print_scale_label(number, heat->options, heat->plan, heat->counts[i], true);
        writer_print(svg->writer, "<text class=\"middle%s%s\" x=\"%u\" y=\"%u\">%s</text>\n",
                     print_heat_is_dark(PRINT_HEAT_COLOURS - 1 - level) ? " high" : "",
                     print_heat_is_dark(level) ? " low" : "",
                     (print_heat_svg_x(svg, x) + print_heat_svg_x(svg, x + 1)) / 2,
                     (print_heat_svg_y(svg, y) + print_heat_svg_y(svg, y + 1)) / 2 + 40, number);
    }
    writer_write_text(svg->writer, "</g>\n");
}

/*
 * Writes the labels of the groups, below, or of the bins, on the left: for single values in the
 * middle of their cells, for groups tilted if names do not fit side by side; else at the start of
 * cells.
 */
static void print_heat_svg_labels(const struct print_heat_svg *svg, bool is_x)
{
    const struct print_heat_axis *axis = is_x ? &svg->heat->x : &svg->heat->y;
    const bool is_single = print_heat_is_single(axis);
    const size_t space = !is_x            ? SVG_LINE + SVG_SPACE / 2
                         : svg->is_tilted ? SVG_LINE
                                          : print_heat_longest(axis) * SVG_CHARACTER + SVG_SPACE;
    const size_t length = is_x ? svg->right - svg->left : PRINT_HEAT_SVG_HEIGHT;
    unsigned (*const find)(const struct print_heat_svg *, size_t) =
        is_x ? print_heat_svg_x : print_heat_svg_y;
    char label[AXIS_LABEL_SIZE];
    const struct print_heat_labels labels =
        print_heat_labels(axis, (space * axis->count + length - 1) / length);
    size_t before = print_heat_next_label(axis, &labels, 0);

    for (size_t i = before; i < axis->count + !is_single && axis->count > 0;
         before = i, i = print_heat_next_label(axis, &labels, i + 1)) {
        const unsigned begin = find(svg, i);
        const unsigned at = is_single ? (begin + find(svg, i + 1)) / 2 : begin;
        print_heat_label(axis, &labels.times, i, axis->has_names || !is_x, label);
        if (is_x) {
            svg_write_label(svg->writer, svg->is_tilted, PRINT_HEAT_SVG_BOTTOM, at, label);
            if (!axis->has_names && print_heat_date(axis, &labels.times, i, before, label))
                svg_write_date(svg->writer, PRINT_HEAT_SVG_BOTTOM, at, label);
            continue;
        }
        writer_print(svg->writer, "<path class=\"axis\" d=\"M%u %uh-40\"/>", svg->left, at);
        svg_write_text(svg->writer, "end", svg->left - 80, at + 40, label);
    }
}

static void print_heat_svg_legend(const struct print_heat_svg *svg)
{
    const struct print_heat *heat = svg->heat;
    const unsigned left = svg->right + PRINT_HEAT_SVG_LEGEND;
    const unsigned right = left + PRINT_HEAT_SVG_LEGEND_WIDTH;
    const bool is_log = heat->is_logarithmic;
    const struct element element = print_scale_element(heat->options, heat->plan);
    const struct axis axis = axis_make(0, heat->max > 0 ? heat->max : 1, &element, AXIS_GROUPED,
                                       PRINT_HEAT_SVG_HEIGHT, PRINT_HEAT_SVG_TICK, 0);
    char label[AXIS_LABEL_SIZE];

    writer_write_text(svg->writer, "<g class=\"heat\">\n");
    for (unsigned i = 0; i < PRINT_HEAT_COLOURS; i++) {
        const unsigned low = PRINT_HEAT_SVG_HEIGHT * i / PRINT_HEAT_COLOURS;
        const unsigned high = PRINT_HEAT_SVG_HEIGHT * (i + 1) / PRINT_HEAT_COLOURS;
        writer_print(svg->writer, "<path class=\"c%u\" d=\"M%u %uh%uv%uH%uz\"/>\n", i, left,
                     PRINT_HEAT_SVG_BOTTOM - high, PRINT_HEAT_SVG_LEGEND_WIDTH, high - low, left);
    }
    writer_write_text(svg->writer, "</g>\n");
    /* A logarithmic scale has powers of ten, and if they are few also 2 and 5 times these. */
    for (__int128 tick = is_log ? 1 : 0, next; tick <= heat->max; tick = next) {
        unsigned __int128 part = (unsigned __int128)tick;
        unsigned __int128 whole = heat->max > 0 ? heat->max : 1;
        next = !is_log                        ? tick + axis.step
               : heat->max / 100 >= heat->min ? tick * 10
                                              : binning_next_round(tick);
        if (is_log && tick < heat->min)
            continue;
        if (is_log) {
            part = axis_log2((uint64_t)tick) - axis_log2(heat->min);
            whole = axis_log2(heat->max) - axis_log2(heat->min);
        }
        print_scale_label(label, heat->options, heat->plan, tick, true);
        const unsigned y = PRINT_HEAT_SVG_BOTTOM - (unsigned)(PRINT_HEAT_SVG_HEIGHT * part / whole);
        writer_print(svg->writer, "<path class=\"axis\" d=\"M%u %uh40\"/>", right, y);
        svg_write_text(svg->writer, "", right + 80, y + 40, label);
    }
    writer_print(svg->writer, "<text class=\"end\" x=\"%u\" y=\"%u\">%s", SVG_WIDTH - 160,
                 SVG_TOP - 200, heat->count_before);
    svg_write_escaped(svg->writer, heat->count_name);
    writer_print(svg->writer, "%s%s</text>\n", heat->count_after,
                 heat->is_logarithmic ? " (logarithmic)" : "");
}

enum status print_heat_svg(struct writer *writer, struct print_heat *heat, struct failure *failure)
{
    const struct binning *binning = &heat->plan->binning;
    struct print_heat_svg svg = {.writer = writer, .heat = heat, .left = SVG_LEFT};
    const char *title = heat->options->title;
    char default_title[PRINT_TITLE_SIZE];
    char summary[SVG_SUMMARY_SIZE];
    char groups[AXIS_LABEL_SIZE];
    bool has_notes = true;

    heat->x.digits = heat->y.digits = AXIS_SHORT;
    print_heat_divide(&heat->x, PRINT_HEAT_SVG_COLUMNS_MAX);
    print_heat_divide(&heat->y, PRINT_HEAT_SVG_ROWS_MAX);
    if (print_heat_count(heat, failure) != STATUS_OK)
        return failure->status;
    const size_t labels = print_heat_longest(&heat->y) * SVG_CHARACTER + SVG_SPACE;
    const size_t longest = print_heat_longest(&heat->x);
    svg.left = labels > SVG_LEFT ? (unsigned)labels : SVG_LEFT;
    svg.right = SVG_WIDTH - PRINT_HEAT_SVG_LEGEND - PRINT_HEAT_SVG_LEGEND_TICKS -
                (unsigned)print_scale_label(summary, heat->options, heat->plan, heat->max, true) *
                    SVG_CHARACTER;
    svg.right = svg.right < PRINT_HEAT_SVG_RIGHT ? svg.right : PRINT_HEAT_SVG_RIGHT;
    svg.is_tilted = heat->x.has_names && (longest * SVG_CHARACTER + SVG_SPACE / 2) * heat->x.count >
                                             svg.right - svg.left;
    const unsigned tilted = svg.is_tilted ? (unsigned)longest * SVG_CHARACTER * 7 / 10 : 0;
    svg.left = tilted > svg.left ? tilted : svg.left;

    const unsigned height = PRINT_HEAT_SVG_BOTTOM + SVG_FOOT + tilted;
    char *c =
        summary + svg_format_total(summary, heat->plan, heat->below + heat->inside + heat->above);
    axis_write(groups, NULL, heat->groups->count, AXIS_GROUPED);
    sprintf(c, " in %s %s by %.100s", groups, heat->groups->count == 1 ? "group" : "groups",
            heat->group_name);
    print_default_title(default_title, heat->options, heat->plan, heat->group_name);
    svg_begin(writer, height, svg.left, title ? title : default_title);
    writer_write_text(
        writer, "<style>\n.heat path{stroke:none;shape-rendering:crispEdges}\n"
                ".counts text{pointer-events:none;fill:#1d2430}.counts .high{fill:#ffffff}\n");
    for (unsigned is_dark = 0; is_dark < 2; is_dark++) { /* the classes of the levels */
        writer_write_text(writer, is_dark ? "@media (prefers-color-scheme:dark){\n" : "");
        for (unsigned i = 0; i < PRINT_HEAT_COLOURS; i++) {
            const struct print_heat_colour colour =
                print_heat_colour(is_dark ? i : PRINT_HEAT_COLOURS - 1 - i);
            writer_print(writer, ".c%u{fill:#%02x%02x%02x}%s", i, colour.red, colour.green,
                         colour.blue, i % 4 == 3 || i == PRINT_HEAT_COLOURS - 1 ? "\n" : "");
        }
    }
    writer_write_text(writer,
                      ".counts .high{fill:#1d2430}.counts .low{fill:#ffffff}\n}\n</style>\n");
    writer_print(writer, "<text x=\"%u\" y=\"480\">", svg.left);
    svg_write_escaped(writer, summary);
    svg_write_note(writer, &has_notes, "each column combines ", heat->x.step > 1 ? heat->x.step : 0,
                   heat->x.scale.unit == 1 ? " values of the group" : " neighbouring groups");
    svg_write_note(writer, &has_notes, "each row combines ", heat->y.step > 1 ? heat->y.step : 0,
                   heat->y.is_unit ? " values" : " bins");
    svg_write_count(writer, heat->plan, "below the bins: ", heat->below);
    svg_write_count(writer, heat->plan, "above the bins: ", heat->above);
    writer_print(writer, "</text>\n<text x=\"%u\" y=\"%u\">", svg.left, SVG_TOP - 200);
    svg_write_escaped(writer, heat->value_name);
    if (binning->bins > 0 && binning_is_of_powers(binning))
        writer_write_text(writer, " (logarithmic)");
    else if (binning->form == BINNING_EDGES || binning->form == BINNING_EDGES_EQUAL)
        writer_write_text(writer, " (bins are drawn equally wide)");
    writer_write_text(writer, "</text>\n");

    print_heat_svg_cells(&svg);
    print_heat_svg_counts(&svg);
    print_heat_svg_labels(&svg, true);
    print_heat_svg_labels(&svg, false);
    writer_print(writer, "<path class=\"axis\" d=\"M%u %uV%uH%u\" fill=\"none\"/>\n", svg.left,
                 SVG_TOP, PRINT_HEAT_SVG_BOTTOM, svg.right);
    if (heat->max > 0)
        print_heat_svg_legend(&svg);
    writer_print(writer, "<text class=\"end\" x=\"%u\" y=\"%u\">", svg.right, height - 120);
    svg_write_escaped(writer, heat->group_name);
    writer_write_text(writer, "</text>\n</svg>\n");
    return STATUS_OK;
}
