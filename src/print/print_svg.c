/*
 * Format svg: a picture (svg.h) that needs no other file. A bar is a rect with a tooltip, its
 * title: the value or LOW..HIGH, the count and the percentage.
 *
 * Bins of equal width lie on a linear axis. Bars have equal widths and labels of their own if they
 * stand for bins of powers or other bins of different widths, for few single values that lie far
 * apart, or for rows in the order of their counts.
 */
#include "config.h"

#include "plot/axis.h"
#include "plot/plot.h"
#include "print/print_rows.h"
#include "print/svg.h"

#include <string.h>

/* More rows in bin order share bars; of more rows in another order only the first are drawn. */
#define PRINT_SVG_BARS_MAX 1000

/* At most so many single values are named, and only if their bars would be narrower than this. */
#define PRINT_SVG_NAMES_MAX 50
#define PRINT_SVG_NAMED_BAR 80

#define PRINT_SVG_RIGHT  9360
#define PRINT_SVG_BOTTOM 4300
#define PRINT_SVG_HEIGHT (PRINT_SVG_BOTTOM - SVG_TOP)
#define PRINT_SVG_TICK   500 /* the distance of the labels of counts */

/* The axis of values. */
enum print_svg_scale {
    PRINT_SVG_LINEAR,
    PRINT_SVG_EDGES, /* bars of equal width, labels between them */
    PRINT_SVG_NAMES, /* bars of equal width, a label below each */
};

struct print_svg {
    struct writer *writer;
    const struct print_table *table;
    enum print_svg_scale scale;
    struct plot plot;
    struct plot_line bars[PRINT_SVG_BARS_MAX];
    size_t count;
    uint64_t undrawn;    /* rows without a bar */
    __int128 low;        /* linear: the axis of values */
    __int128 high;
    size_t longest;      /* the characters of the longest name of a bar */
    bool is_tilted;      /* names: they are too long to lie side by side, */
    unsigned tilted;     /* and take so much width and height; else 0 */
    bool has_numbers;    /* the counts fit above the bars */
    unsigned left;       /* where the bars begin */
    uint64_t min;        /* the smallest count that is not 0 */
    uint64_t max;        /* the greatest count */
    struct axis counts;  /* linear counts */
    bool is_logarithmic; /* the counts */
    uint64_t base;       /* logarithmic counts: the first tick, a power of ten */
};

static uint64_t print_svg_bars_max(const struct print_options *options)
{
    (void)options;
    return PRINT_SVG_BARS_MAX;
}

/* Reads the lines of the plot that have bars, and chooses the scale of counts. */
static void print_svg_read(struct print_svg *svg)
{
    const bool has_empty = svg->table->options->zeros || svg->scale == PRINT_SVG_EDGES;
    const unsigned pixels = PRINT_SVG_HEIGHT / SVG_PIXEL;
    struct plot_line line;
    char text[PLOT_NAME_SIZE];
    size_t used = 0;
    size_t low = 0;

    while (plot_next(&svg->plot, &line)) {
        if (line.is_gap || (line.count == 0 && !has_empty))
            continue;
        if (svg->count == PRINT_SVG_BARS_MAX) {
            svg->undrawn++;
            continue;
        }
        svg->low = svg->count == 0 ? line.low : svg->low;
        svg->high = line.high;
        svg->bars[svg->count++] = line;
        plot_name(text, &line, &svg->table->rows.job->element);
        svg->longest = strlen(text) > svg->longest ? strlen(text) : svg->longest;
        svg->max = line.count > svg->max ? line.count : svg->max;
        if (line.count > 0 && (svg->min == 0 || line.count < svg->min))
            svg->min = line.count;
    }
    /* Counts are logarithmic if otherwise at least half of the bars were less than a pixel high. */
    for (size_t i = 0; i < svg->count; i++) {
        const unsigned __int128 count = svg->bars[i].count;
        used += count > 0;
        low += count > 0 && count * pixels < svg->max;
    }
    svg->is_logarithmic = low > 0 && low >= used - low;
    for (svg->base = 1; svg->base <= svg->min / 10; svg->base *= 10)
        ;
    svg->counts =
        axis_make(0, svg->max > 0 ? svg->max : 1, NULL, PRINT_SVG_HEIGHT, PRINT_SVG_TICK, 0);

    const size_t space = (PRINT_SVG_RIGHT - SVG_LEFT) / (svg->count > 0 ? svg->count : 1);
    svg->has_numbers =
        svg->scale != PRINT_SVG_LINEAR && decimal_write(text, svg->max) * SVG_CHARACTER <= space;
    svg->is_tilted =
        svg->scale == PRINT_SVG_NAMES && svg->longest * SVG_CHARACTER + SVG_SPACE / 2 > space;
    if (svg->is_tilted) /* as wide and high as the longest name */
        svg->tilted = (unsigned)svg->longest * SVG_CHARACTER * 7 / 10;
    svg->left = svg->tilted > SVG_LEFT ? svg->tilted : SVG_LEFT;
}

/* The position of part / whole of the axis of values. */
static unsigned print_svg_x(const struct print_svg *svg, __int128 part, __int128 whole)
{
    return svg->left + (unsigned)((PRINT_SVG_RIGHT - svg->left) * part / whole);
}

/* The position of a count. Logarithmic counts begin at half of the first tick. */
static unsigned print_svg_y(const struct print_svg *svg, __int128 count)
{
    __int128 whole = axis_ceiling(&svg->counts, svg->max);

    if (svg->is_logarithmic) {
        const uint32_t base = axis_log2(svg->base) - (1U << AXIS_LOG2_BITS);
        count = axis_log2((uint64_t)count) - base;
        whole = axis_log2(svg->max) - base;
    }
    return PRINT_SVG_BOTTOM - (unsigned)(count * PRINT_SVG_HEIGHT / whole);
}

static void print_svg_bars(const struct print_svg *svg)
{
    char name[PLOT_NAME_SIZE];
    char number[DECIMAL_SIZE];
    char percent[PERCENTAGE_SHARE_SIZE];

    svg_write(svg->writer, "<g class=\"bars\">\n");
    for (size_t i = 0; i < svg->count; i++) {
        const struct plot_line *bar = &svg->bars[i];
        __int128 low = (__int128)i;
        __int128 high = low + 1;
        __int128 whole = (__int128)svg->count;
        if (bar->count == 0)
            continue;
        if (svg->scale == PRINT_SVG_LINEAR) {
            low = bar->low - svg->low;
            high = bar->high - svg->low;
            whole = svg->high - svg->low;
        }
        unsigned x = print_svg_x(svg, low, whole);
        const unsigned space = print_svg_x(svg, high, whole) - x;
        unsigned width = space > 5 ? space + 5 : SVG_PIXEL; /* thin neighbours touch */
        if (space > 4 * SVG_PIXEL)
            width = svg->scale == PRINT_SVG_NAMES ? space * 3 / 4 : space - SVG_PIXEL;
        x += space > width ? (space - width) / 2 : 0;
        unsigned height = PRINT_SVG_BOTTOM - print_svg_y(svg, bar->count);
        height = height > SVG_PIXEL ? height : SVG_PIXEL;
        plot_name(name, bar, &svg->table->rows.job->element);
        decimal_format_fixed(number, bar->count, 0);
        percent[percentage_write_share(percent, bar->count, svg->table->total)] = '\0';
        svg_write(svg->writer,
                  "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\">"
                  "<title>%s: %s (%s%%)</title></rect>\n",
                  x, PRINT_SVG_BOTTOM - height, width, height, name, number, percent);
        if (svg->has_numbers)
            svg_write_text(svg->writer, "middle", x + width / 2, PRINT_SVG_BOTTOM - height - 50,
                           number);
    }
    svg_write(svg->writer, "</g>\n");
}

static void print_svg_counts(const struct print_svg *svg)
{
    const __int128 top = axis_ceiling(&svg->counts, svg->max);
    char label[AXIS_LABEL_SIZE];

    for (__int128 tick = svg->is_logarithmic ? svg->base : 0;
         svg->is_logarithmic ? tick <= svg->max : tick <= top;
         tick = svg->is_logarithmic ? tick * 10 : tick + svg->counts.step) {
        const unsigned y = top > 0 ? print_svg_y(svg, tick) : PRINT_SVG_BOTTOM;
        if (svg->is_logarithmic)
            axis_label_power(label, tick, 10, 0);
        else
            axis_label(label, &svg->counts, tick);
        svg_write(svg->writer, "<path d=\"M%u %uH%u\"/>", svg->left, y, PRINT_SVG_RIGHT);
        svg_write_text(svg->writer, "end", svg->left - 80, y + 40, label);
    }
    svg_write_text(svg->writer, "", svg->left, SVG_TOP - 200,
                   svg->is_logarithmic ? "count (logarithmic)" : "count");
}

/* Round values. The tick of a value that has a bar of its own is in the middle of the bar. */
static void print_svg_values(const struct print_svg *svg)
{
    const __int128 low = svg->low;
    const bool is_unit = svg->table->rows.is_unit && svg->plot.per_group == 1;
    const __int128 last = svg->high - is_unit;
    const struct axis axis = axis_make(low, last, &svg->table->rows.job->element,
                                       PRINT_SVG_RIGHT - svg->left, SVG_SPACE, SVG_CHARACTER);
    char label[AXIS_LABEL_SIZE];

    for (__int128 tick = axis_ceiling(&axis, low); tick <= last; tick += axis.step) {
        axis_label(label, &axis, tick);
        svg_write_label(svg->writer, svg->is_tilted, PRINT_SVG_BOTTOM,
                        print_svg_x(svg, 2 * (tick - low) + is_unit, 2 * (svg->high - low)),
                        label);
    }
}

/* The label of edge i. Bins of powers below 0 begin after a power. */
static void print_svg_edge(const struct print_svg *svg, size_t i, char out[AXIS_LABEL_SIZE])
{
    const struct job *job = svg->table->rows.job;
    const __int128 edge = i < svg->count ? svg->bars[i].low : svg->bars[i - 1].high;
    const struct axis plain = {.step = 1, .element = &job->element};

    if (job->binning.base > 0)
        axis_label_power(out, edge - (edge < 0), job->binning.base, job->element.decimals);
    else
        axis_label(out, &plain, edge);
}

/* Labels every so many edges that they do not touch, among them the first above 0. */
static void print_svg_edges(const struct print_svg *svg)
{
    char label[AXIS_LABEL_SIZE];
    size_t longest = 0;
    size_t first = 0;

    for (size_t i = 0; i <= svg->count; i++) {
        print_svg_edge(svg, i, label);
        longest = strlen(label) > longest ? strlen(label) : longest;
        first += i < svg->count && svg->bars[i].low <= 0;
    }
    const size_t label_width = longest * SVG_CHARACTER + SVG_SPACE;
    const size_t each = svg->count / ((PRINT_SVG_RIGHT - svg->left) / label_width) + 1;
    for (size_t i = first % each; i <= svg->count; i += each) {
        print_svg_edge(svg, i, label);
        svg_write_label(svg->writer, svg->is_tilted, PRINT_SVG_BOTTOM,
                        print_svg_x(svg, (__int128)i, (__int128)svg->count), label);
    }
}

/* A name below each bar, or below every so many if they would touch. */
static void print_svg_names(const struct print_svg *svg)
{
    const size_t lines = (PRINT_SVG_RIGHT - svg->left) / SVG_LINE;
    const size_t each = svg->is_tilted ? svg->count / (lines + 1) + 1 : 1;
    char name[PLOT_NAME_SIZE];

    for (size_t i = 0; i < svg->count; i += each) {
        plot_name(name, &svg->bars[i], &svg->table->rows.job->element);
        svg_write_label(svg->writer, svg->is_tilted, PRINT_SVG_BOTTOM,
                        print_svg_x(svg, 2 * (__int128)i + 1, 2 * (__int128)svg->count), name);
    }
}

/* Writes the width of bins; of times, in the greatest unit that it is a multiple of. */
static void print_svg_width(char out[DECIMAL_SIZE], const struct element *element, __int128 width)
{
    static const struct {
        uint32_t seconds;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}};
    const bool is_time = element_is_time(element);
    const __int128 second = (__int128)decimal_powers[element->decimals];

    decimal_format_fixed(out, width, element->decimals);
    for (size_t i = 0; is_time && i < sizeof units / sizeof *units; i++) {
        const __int128 unit = units[i].seconds * second;
        if (width % unit != 0 && units[i].seconds > 1)
            continue;
        const unsigned decimals = width % unit == 0 ? 0 : element->decimals;
        decimal_format_fixed(out, decimals > 0 ? width : width / unit, decimals);
        strncat(out, units[i].name, 1);
        return;
    }
}

/* Says how many values there are, and in what bins. */
static void print_svg_title(const struct print_svg *svg)
{
    const struct print_table *table = svg->table;
    const struct plot_survey *survey = &svg->plot.survey;
    const struct element *element = &table->rows.job->element;
    char width[DECIMAL_SIZE];

    svg_write_number(svg->writer, table->total);
    svg_write(svg->writer, table->total == 1 ? " value" : " values");
    if (table->rows.job->binning.base > 0) {
        svg_write(svg->writer, " in bins by powers of %u", table->rows.job->binning.base);
    } else if (!plot_is_even(&svg->plot)) {
        svg_write(svg->writer, " in bins of different widths");
    } else if (!table->rows.is_unit && survey->rows > 0) {
        print_svg_width(width, element, survey->narrow);
        svg_write(svg->writer, " in bins of width %s", width);
        print_svg_width(width, element, survey->wide);
        if (survey->narrow < survey->wide)
            svg_write(svg->writer, " or %s", width);
    } else if (table->is_complete && !table->options->zeros && survey->rows > 0) {
        svg_write(svg->writer, ", ");
        svg_write_number(svg->writer, survey->rows);
        svg_write(svg->writer, " different");
    }
}

static void print_svg_rows(struct writer *writer, const struct print_table *table)
{
    struct print_svg svg = {.writer = writer, .table = table};
    const struct plot_survey *survey = &svg.plot.survey;
    const struct binning *binning = &table->rows.job->binning;
    const struct print_options *options = table->options;
    const unsigned bars = (PRINT_SVG_RIGHT - SVG_LEFT) / PRINT_SVG_NAMED_BAR;
    struct rows rows = table->rows;
    bool has_notes = false;

    /* Edges are labelled: with empty bins, each bar begins where the one before it ends. */
    rows.zeros = rows.zeros || binning->base > 0 || binning->form == BINNING_EDGES ||
                 binning->form == BINNING_EDGES_EQUAL;
    plot_begin(&svg.plot, &rows, table->is_by_bin, PRINT_SVG_BARS_MAX);
    svg.scale = PRINT_SVG_LINEAR;
    if (!table->is_by_bin)
        svg.scale = PRINT_SVG_NAMES;
    else if (binning->base > 0 || !plot_is_even(&svg.plot))
        svg.scale = table->is_complete ? PRINT_SVG_EDGES : PRINT_SVG_NAMES;
    else if (rows.is_unit && survey->rows <= PRINT_SVG_NAMES_MAX &&
             survey->high - survey->low > bars)
        svg.scale = PRINT_SVG_NAMES;
    print_svg_read(&svg);

    const unsigned height = PRINT_SVG_BOTTOM + SVG_FOOT + svg.tilted;
    svg_begin(writer, height);
    print_svg_title(&svg);
    svg_write(writer, "</title>\n");
    svg_write_page(writer, height);
    svg_write(writer, "<text class=\"title\" x=\"%u\" y=\"280\">", svg.left);
    print_svg_title(&svg);
    svg_write(writer, "</text>\n<text x=\"%u\" y=\"480\">", svg.left);
    svg_write_note(writer, &has_notes, "each bar combines ",
                   svg.plot.per_group > 1 ? svg.plot.per_group : 0, " bins");
    svg_write_note(writer, &has_notes, "only the ", options->top, " highest counts");
    svg_write_note(writer, &has_notes, "only counts of ", options->min_count, " or more");
    svg_write_note(writer, &has_notes, "", table->rows_left + svg.undrawn,
                   " bins of lower counts are not drawn");
    svg_write_note(writer, &has_notes, "other: ", options->other ? table->other : 0, "");
    svg_write_note(writer, &has_notes, "below the bins: ", rows.below, "");
    svg_write_note(writer, &has_notes, "above the bins: ", rows.above, "");
    svg_write(writer, "</text>\n");

    print_svg_counts(&svg);
    print_svg_bars(&svg);
    if (svg.count > 0 && svg.scale == PRINT_SVG_LINEAR)
        print_svg_values(&svg);
    else if (svg.count > 0 && svg.scale == PRINT_SVG_EDGES)
        print_svg_edges(&svg);
    else
        print_svg_names(&svg);
    svg_write(writer, "<path class=\"axis\" d=\"M%u %uH%u\"/>\n", svg.left, PRINT_SVG_BOTTOM,
              PRINT_SVG_RIGHT);
    svg_write(writer, "<text class=\"end\" x=\"%u\" y=\"%u\">", PRINT_SVG_RIGHT, height - 120);
    svg_write_escaped(writer, options->value_name ? options->value_name : "value");
    if (svg.scale == PRINT_SVG_EDGES)
        svg_write(writer, binning->base > 0 ? " (logarithmic)" : " (bins are drawn equally wide)");
    svg_write(writer, "</text>\n</svg>\n");
}

const struct print_format print_svg = {
    .name = "svg",
    .has_lines = true,
    .names_values = true,
    .refused = PRINT_EXTRA_CUMULATIVE | PRINT_EXTRA_PERCENT | PRINT_EXTRA_QUANTILES,
    .list_lines = print_svg_bars_max,
    .rows = print_svg_rows,
};
