/*
 * Format svg: an image (svg.h) of bars, rects whose tooltips have the value or LOW..HIGH, the count
 * and the percentage. Many thin bars are one path, which has no seams, below transparent rects.
 *
 * Bins of equal width lie on a linear axis. Bars have equal widths and their own labels if they are
 * bins of powers or other bins of different widths, few single values that lie far apart, or rows
 * in the order of their counts.
 */
#include "config.h"

#include "lib/writer.h"
#include "result/axis.h"
#include "result/plot.h"
#include "result/print_heat_internal.h"
#include "result/print_rows.h"
#include "result/svg.h"

#include <stdio.h>
#include <string.h>

/* Maximum number of bars. More rows in bin order share bars; in another order they have none. */
#define PRINT_SVG_BARS_MAX 1000

/* Maximum number of single values with names, and the width in pixels below which bars have them.
 */
#define PRINT_SVG_NAMES_MAX 50
#define PRINT_SVG_NAMED_BAR 80

#define PRINT_SVG_RIGHT  9360
#define PRINT_SVG_BOTTOM 4300
#define PRINT_SVG_HEIGHT (PRINT_SVG_BOTTOM - SVG_TOP)
#define PRINT_SVG_TICK   500 /* distance of the labels of counts */

/* Minimum width of separate bars; gaps between thinner bars would show a pattern. */
#define PRINT_SVG_THIN (6 * SVG_PIXEL)

/* Maximum width of the bar of a single value or of the only bin. Other bins touch neighbours. */
#define PRINT_SVG_WIDE (40 * SVG_PIXEL)

/* The axis of values. */
enum print_svg_scale {
    PRINT_SVG_LINEAR,
    PRINT_SVG_EDGES, /* bars of equal width, labels between them */
    PRINT_SVG_NAMES, /* bars of equal width, a label below each */
};

struct print_svg {
    struct writer *writer;
    const struct print_input *input;
    enum print_svg_scale scale;
    struct plot plot;
    struct plot_line bars[PRINT_SVG_BARS_MAX];
    size_t count;
    uint64_t undrawn; /* number of rows without a bar */
    uint64_t empty;   /* number of empty rows without a bar */
    __int128 low;     /* linear: the start of the axis of values */
    __int128 high;
    enum axis_digits digits; /* the notation of values */
    size_t longest;          /* length of the longest name of a bar, in characters */
    bool is_tilted;          /* names are tilted, because they do not fit side by side */
    unsigned tilted;         /* the width and height of tilted names; else 0 */
    bool has_numbers;        /* the counts fit above the bars */
    unsigned left;           /* the start of the bars */
    struct element counted;  /* the numbers on the axis of counts: counts or percentages */
    uint64_t min;            /* the smallest of these numbers other than 0 */
    uint64_t max;            /* the largest of these numbers */
    struct axis counts;      /* linear: the axis of counts */
    uint64_t base;           /* logarithmic: the first tick, a power of ten */
};

static uint64_t print_svg_bars_max(const struct print_options *options)
{
    (void)options;
    return PRINT_SVG_BARS_MAX;
}

/* Returns the position of part / whole of the axis of values. */
static unsigned print_svg_x(const struct print_svg *svg, __int128 part, __int128 whole)
{
    return svg->left + (unsigned)((PRINT_SVG_RIGHT - svg->left) * part / whole);
}

/* Returns the position of a bar, and stores the space for it. */
static unsigned print_svg_bar_x(const struct print_svg *svg, size_t i, unsigned *space)
{
    const struct plot_line *bar = &svg->bars[i];
    const bool is_linear = svg->scale == PRINT_SVG_LINEAR;
    const __int128 low = is_linear ? bar->low - svg->low : (__int128)i;
    const __int128 high = is_linear ? bar->high - svg->low : low + 1;
    const __int128 whole = is_linear ? svg->high - svg->low : (__int128)svg->count;
    const unsigned x = print_svg_x(svg, low, whole);

    *space = print_svg_x(svg, high, whole) - x;
    return x;
}

/* Reads the lines of the plot that have bars, and chooses the axis of counts. */
static void print_svg_read(struct print_svg *svg)
{
    const struct print_options *options = svg->input->options;
    const bool has_empty = options->zeros || svg->scale == PRINT_SVG_EDGES;
    struct plot_line line;
    char text[PLOT_NAME_SIZE];
    size_t numbers = 0; /* length of the longest number above a bar */

    while (plot_next(&svg->plot, &line)) {
        if (line.is_gap || (line.count == 0 && !has_empty))
            continue;
        if (svg->count == PRINT_SVG_BARS_MAX) {
            svg->undrawn += line.count > 0;
            svg->empty += line.count == 0;
            continue;
        }
        svg->low = svg->count == 0 ? line.low : svg->low;
        svg->high = line.high;
        svg->bars[svg->count++] = line;
        if (axis_digits(&svg->input->rows.plan->element, line.low, line.high - line.is_single) ==
            AXIS_GROUPED)
            svg->digits = AXIS_GROUPED;
        plot_name(text, &line, &svg->input->rows.plan->element, AXIS_GROUPED, 0);
        svg->longest = strlen(text) > svg->longest ? strlen(text) : svg->longest;
        const uint64_t number = print_scale_number(options, line.count, svg->input->total);
        const size_t digits = print_scale_label(text, options, svg->input->rows.plan, number, true);
        numbers = digits > numbers ? digits : numbers;
        svg->max = number > svg->max ? number : svg->max;
        if (number > 0 && (svg->min == 0 || number < svg->min))
            svg->min = number;
    }
    svg->counted = print_scale_element(options, svg->input->rows.plan);
    for (svg->base = 1; svg->base <= svg->min / 10; svg->base *= 10)
        ;
    svg->counts = axis_make(0, svg->max > 0 ? svg->max : 1, &svg->counted, AXIS_GROUPED,
                            PRINT_SVG_HEIGHT, PRINT_SVG_TICK, 0);

    const size_t space = (PRINT_SVG_RIGHT - SVG_LEFT) / (svg->count > 0 ? svg->count : 1);
    const size_t number = print_scale_label(text, options, svg->input->rows.plan,
                                            axis_ceiling(&svg->counts, svg->max), true);
    svg->is_tilted =
        svg->scale == PRINT_SVG_NAMES && svg->longest * SVG_CHARACTER + SVG_SPACE / 2 > space;
    if (svg->is_tilted) /* the width and height of the longest name */
        svg->tilted = (unsigned)svg->longest * SVG_CHARACTER * 7 / 10;
    svg->left = (unsigned)number * SVG_CHARACTER + SVG_SPACE;
    svg->left = svg->left > SVG_LEFT ? svg->left : SVG_LEFT;
    svg->left = svg->tilted > svg->left ? svg->tilted : svg->left;
    svg->has_numbers = svg->count > 0;
    for (size_t i = 0; i < svg->count && svg->has_numbers; i++) {
        unsigned width;
        print_svg_bar_x(svg, i, &width);
        svg->has_numbers = numbers * SVG_CHARACTER <= width;
    }
}

/* Returns the position of a number on the axis of counts; a logarithmic one begins at base / 2. */
static unsigned print_svg_y(const struct print_svg *svg, __int128 number)
{
    __int128 whole = axis_ceiling(&svg->counts, svg->max);

    if (svg->input->options->log_count) {
        const int64_t base = (int64_t)axis_log2(svg->base) - (1 << AXIS_LOG2_BITS);
        number = number > 0 ? axis_log2((uint64_t)number) - base : 0;
        whole = axis_log2(svg->max) - base;
    }
    return PRINT_SVG_BOTTOM - (unsigned)(number * PRINT_SVG_HEIGHT / whole);
}

static unsigned print_svg_bar_height(const struct print_svg *svg, const struct plot_line *bar)
{
    const unsigned height =
        PRINT_SVG_BOTTOM -
        print_svg_y(svg, print_scale_number(svg->input->options, bar->count, svg->input->total));

    return height > SVG_PIXEL ? height : SVG_PIXEL;
}

static void print_svg_bars(const struct print_svg *svg)
{
    unsigned space = PRINT_SVG_THIN;
    unsigned end = 0; /* the end of the last bar */
    const struct element counted = print_count_element(svg->input->rows.plan);
    char name[PLOT_NAME_SIZE];
    char number[AXIS_LABEL_SIZE];
    char percent[PERCENTAGE_SHARE_SIZE];

    if (svg->count > 0)
        print_svg_bar_x(svg, 0, &space);
    const bool is_thin = space < PRINT_SVG_THIN;
    writer_print(svg->writer, "<g class=\"bars%s\">\n", is_thin ? " tips" : "");
    if (is_thin) /* one path, in which neighbours have one outline */
        writer_write_text(svg->writer, "<path d=\"");
    for (size_t i = 0; is_thin && i < svg->count; i++) {
        if (svg->bars[i].count == 0)
            continue;
        const unsigned x = print_svg_bar_x(svg, i, &space);
        if (end > 0 && end != x)
            writer_print(svg->writer, "V%uz", PRINT_SVG_BOTTOM);
        if (end != x)
            writer_print(svg->writer, "M%u %u", x, PRINT_SVG_BOTTOM);
        end = x + (space > SVG_PIXEL / 2 ? space : SVG_PIXEL);
        writer_print(svg->writer, "V%uH%u",
                     PRINT_SVG_BOTTOM - print_svg_bar_height(svg, &svg->bars[i]), end);
    }
    if (is_thin)
        writer_print(svg->writer, "V%uz\"/>\n", PRINT_SVG_BOTTOM);
    for (size_t i = 0; i < svg->count; i++) {
        const struct plot_line *bar = &svg->bars[i];
        if (bar->count == 0)
            continue;
        unsigned x = print_svg_bar_x(svg, i, &space);
        unsigned width = is_thin || space < PRINT_SVG_THIN ? space
                         : svg->scale == PRINT_SVG_NAMES   ? space * 3 / 4
                                                           : space - SVG_PIXEL;
        const bool is_range = svg->scale == PRINT_SVG_EDGES ||
                              (svg->scale == PRINT_SVG_LINEAR && bar->high - bar->low > 1);
        if (width > PRINT_SVG_WIDE && (!is_range || svg->count == 1))
            width = PRINT_SVG_WIDE;
        width = width > SVG_PIXEL ? width : SVG_PIXEL;
        x += space > width ? (space - width) / 2 : 0;
        const unsigned height = print_svg_bar_height(svg, bar);
        plot_name(name, bar, &svg->input->rows.plan->element, svg->digits, 0);
        axis_write(number, &counted, bar->count, AXIS_GROUPED);
        size_t length = percentage_write_share(percent, bar->count, svg->input->total);
        while (percent[length - 1] == '0')
            length--;
        percent[length - (percent[length - 1] == '.')] = '\0';
        writer_print(svg->writer,
                     "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\">"
                     "<title>%s: %s (%s%%)</title></rect>\n",
                     x, PRINT_SVG_BOTTOM - height, width, height, name, number, percent);
        if (!svg->has_numbers)
            continue;
        print_scale_label(number, svg->input->options, svg->input->rows.plan,
                          print_scale_number(svg->input->options, bar->count, svg->input->total),
                          true);
        svg_write_text(svg->writer, "middle", x + width / 2, PRINT_SVG_BOTTOM - height - 50,
                       number);
    }
    writer_write_text(svg->writer, "</g>\n");
}

static void print_svg_counts(const struct print_svg *svg)
{
    const struct print_options *options = svg->input->options;
    const bool is_log = options->log_count;
    const __int128 top = is_log ? svg->max : axis_ceiling(&svg->counts, svg->max);
    char field[PRINT_FIELD_SIZE];
    char label[AXIS_LABEL_SIZE];

    /* A logarithmic axis has powers of ten, and if they are few also 2 and 5 times these. */
    for (__int128 tick = is_log ? svg->base : 0, next; tick <= top; tick = next) {
        next = !is_log                       ? tick + svg->counts.step
               : svg->max / 100 >= svg->base ? tick * 10
                                             : binning_next_round(tick);
        const unsigned y = top > 0 ? print_svg_y(svg, tick) : PRINT_SVG_BOTTOM;
        print_scale_label(label, options, svg->input->rows.plan, tick, true);
        writer_print(svg->writer, "<path d=\"M%u %uH%u\"/>", svg->left, y, PRINT_SVG_RIGHT);
        svg_write_text(svg->writer, "end", svg->left - 80, y + 40, label);
    }
    writer_print(svg->writer, "<text x=\"%u\" y=\"%u\">", svg->left, SVG_TOP - 200);
    svg_write_escaped(svg->writer, print_count_label(svg->input->rows.plan, field));
    writer_print(svg->writer, "%s%s</text>\n", options->percent ? " in percent" : "",
                 is_log ? " (logarithmic)" : "");
}

/* Writes round values. The tick of a value with a bar of its own is in the middle of the bar. */
static void print_svg_values(const struct print_svg *svg)
{
    const __int128 low = svg->low;
    const struct plot_line *bar = &svg->bars[0];
    const bool is_unit = bar->is_single && bar->high - bar->low == 1;
    const __int128 last = svg->high - is_unit;
    const struct element *element = &svg->input->rows.plan->element;
    const struct axis axis = axis_make(low, last, element, svg->digits, PRINT_SVG_RIGHT - svg->left,
                                       SVG_SPACE, SVG_CHARACTER);
    const struct axis_times dates = {.has_month = true, .has_day = true};
    const __int128 first = axis_ceiling(&axis, low);
    __int128 before = first;
    char label[AXIS_LABEL_SIZE];

    for (__int128 tick = first; tick <= last; before = tick, tick = axis_ceiling(&axis, tick + 1)) {
        const unsigned x = print_svg_x(svg, 2 * (tick - low) + is_unit, 2 * (svg->high - low));
        axis_label(label, &axis, tick);
        svg_write_label(svg->writer, svg->is_tilted, PRINT_SVG_BOTTOM, x, label);
        if (tick == first ? !axis.times.has_hour
                          : !axis_has_new_date(&axis.times, element, tick, before))
            continue;
        axis_write_time(label, &dates, element, tick, true);
        svg_write_date(svg->writer, PRINT_SVG_BOTTOM, x, label);
    }
}

/* Writes the label of edge i. Bins of powers below 0 begin after a power. */
static void print_svg_edge(const struct print_svg *svg, size_t i, char out[AXIS_LABEL_SIZE])
{
    const struct plan *plan = svg->input->rows.plan;
    const __int128 edge = i < svg->count ? svg->bars[i].low : svg->bars[i - 1].high;

    axis_write(out, &plan->element, plan->binning.base > 0 ? edge - (edge < 0) : edge, svg->digits);
}

/* Writes labels that do not touch each other, among them that of the bins' origin. */
static void print_svg_edges(const struct print_svg *svg)
{
    const __int128 from = binning_floor(svg->plot.first, svg->plot.per_group);
    const size_t width = PRINT_SVG_RIGHT - svg->left;
    char label[AXIS_LABEL_SIZE];
    size_t longest = 0;
    uint64_t each = 1;

    for (size_t i = 0; i <= svg->count; i++) {
        print_svg_edge(svg, i, label);
        longest = strlen(label) > longest ? strlen(label) : longest;
    }
    while ((svg->count / each + 1) * (longest * SVG_CHARACTER + SVG_SPACE) > width &&
           each < svg->count)
        each = plot_scale_next_step(&svg->plot.scale, each);
    for (size_t i = (size_t)(-binning_floor(-from, each) * (__int128)each - from); i <= svg->count;
         i += each) {
        print_svg_edge(svg, i, label);
        svg_write_label(svg->writer, svg->is_tilted, PRINT_SVG_BOTTOM,
                        print_svg_x(svg, (__int128)i, (__int128)svg->count), label);
    }
}

/* Writes the width of bins. */
static void print_svg_width(char out[AXIS_LABEL_SIZE], const struct element *element,
                            __int128 width)
{
    const struct kind_time_bucket bucket = {.digits = element->decimals, .width = (int64_t)width};

    if (element_is_time(element))
        kind_time_bucket_describe(out, &bucket);
    else
        axis_write(out, element, width, AXIS_GROUPED);
}

/* Writes the number of values, their bins, and the number of empty bins. Returns the length. */
static size_t print_svg_summary(const struct print_svg *svg, char out[SVG_SUMMARY_SIZE])
{
    const struct print_input *input = svg->input;
    const struct binning *binning = &input->rows.plan->binning;
    const struct plot_survey *survey = &svg->plot.survey;
    const struct element *element = &input->rows.plan->element;
    const bool is_of_powers = binning_is_of_powers(binning);
    const uint64_t used = survey->rows - survey->empty;
    const uint64_t bins = binning->bins > 0 && !is_of_powers
                              ? binning->bins
                              : (uint64_t)(svg->plot.last - svg->plot.first + 1);
    char number[AXIS_LABEL_SIZE];
    char width[AXIS_LABEL_SIZE];
    const uint64_t outside = input->rows.below + input->rows.above; /* out of range */
    char *c = out + svg_format_total(out, input->rows.plan, input->total - outside);

    if (survey->rows == 0)
        return (size_t)(c - out);
    axis_write(number, NULL, input->rows.is_unit ? used : bins, AXIS_GROUPED);
    if (input->rows.is_unit) {
        if (input->is_complete && used > 0 && input->total > 1)
            c += sprintf(c, ", %s distinct", number);
        const struct kind_width *bucket = &input->rows.plan->columns[0].width;
        print_svg_width(width, element, bucket->units);
        if (kind_time_bucket_exists(&bucket->bucket))
            kind_time_bucket_describe(width, &bucket->bucket);
        if (column_has_width(&input->rows.plan->columns[0]))
            c += sprintf(c, "; buckets of %s", width);
        return (size_t)(c - out);
    }
    c += sprintf(c, " in %s%s", input->is_complete ? number : "",
                 !input->is_complete ? "bins "
                 : bins == 1         ? " bin "
                                     : " bins ");
    print_svg_width(width, element, survey->narrow);
    if (is_of_powers) {
        c += sprintf(c, "by powers of %u", binning->base == 10 ? 10 : 2);
        if (binning->parts > 0)
            c += sprintf(c, ", each in %u parts", 1U << binning->parts);
    } else if (!plot_is_even(&svg->plot)) {
        c = stpcpy(c, "of different widths");
    } else {
        c += sprintf(c, "of width %s", width);
        print_svg_width(width, element, survey->wide);
        if (survey->narrow < survey->wide)
            c += sprintf(c, " or %s", width);
    }
    axis_write(number, NULL, bins - used, AXIS_GROUPED);
    if (input->is_complete && used < bins)
        c += sprintf(c, ", %s of them empty", number);
    return (size_t)(c - out);
}

void print_svg_head(struct writer *writer, const struct print_input *input, unsigned height,
                    unsigned left, const char *summary, uint64_t undrawn, uint64_t empty)
{
    const struct print_options *options = input->options;
    char title[PRINT_TITLE_SIZE];
    bool has_notes = true;

    print_default_title(title, options, input->rows.plan, NULL);
    svg_begin(writer, height, left, options->title ? options->title : title);
    writer_print(writer, "<text x=\"%u\" y=\"480\">", left);
    svg_write_escaped(writer, summary);
    svg_write_note(writer, &has_notes, "only the top ", options->top, "");
    svg_write_note(writer, &has_notes, "only counts of ", options->min_count, " or more");
    svg_write_note(writer, &has_notes, "", input->rows_left + undrawn,
                   element_is_name(&input->rows.plan->element)
                       ? " values of lower counts are not drawn"
                       : " bins of lower counts are not drawn");
    svg_write_note(writer, &has_notes, "", input->empty_left + empty, " empty bins are not drawn");
    svg_write_count(writer, input->rows.plan, "other: ", options->other ? input->other : 0);
    svg_write_count(writer, input->rows.plan, "below the bins: ", input->rows.below);
    svg_write_count(writer, input->rows.plan, "above the bins: ", input->rows.above);
    writer_write_text(writer, "</text>\n");
}

static void print_svg_rows(struct writer *writer, const struct print_input *input)
{
    struct print_svg svg = {.writer = writer, .input = input, .digits = AXIS_SHORT};
    const struct plot_survey *survey = &svg.plot.survey;
    const struct binning *binning = &input->rows.plan->binning;
    const struct print_options *options = input->options;
    const unsigned bars = (PRINT_SVG_RIGHT - SVG_LEFT) / PRINT_SVG_NAMED_BAR;
    struct rows rows = input->rows;
    char summary[SVG_SUMMARY_SIZE];
    char field[PRINT_FIELD_SIZE];
    char name[PLOT_NAME_SIZE];
    char joined[PLOT_JOIN_SIZE];

    if (element_is_name(&input->rows.plan->element)) {
        print_svg_names(writer, input);
        return;
    }
    /* Edges are labelled: with empty bins, each bar begins where the one before it ends. */
    rows.zeros = rows.zeros || binning->base > 0 || binning->form == BINNING_EDGES ||
                 binning->form == BINNING_EDGES_EQUAL;
    plot_begin(&svg.plot, &rows, input->is_by_bin, PRINT_SVG_BARS_MAX);
    svg.scale = PRINT_SVG_LINEAR;
    if (!input->is_by_bin)
        svg.scale = PRINT_SVG_NAMES;
    else if (element_is_time(&input->rows.plan->element))
        svg.scale = PRINT_SVG_LINEAR;
    else if (binning->base > 0 || !plot_is_even(&svg.plot))
        svg.scale = input->is_complete ? PRINT_SVG_EDGES : PRINT_SVG_NAMES;
    else if (rows.is_unit && survey->rows <= PRINT_SVG_NAMES_MAX &&
             survey->high - survey->low > bars)
        svg.scale = PRINT_SVG_NAMES;
    print_svg_read(&svg);

    const unsigned height = PRINT_SVG_BOTTOM + SVG_FOOT + svg.tilted;
    const size_t length = print_svg_summary(&svg, summary);
    if (plot_describe_join(joined, &svg.plot) > 0)
        sprintf(summary + length, "; each bar combines %s", joined);
    print_svg_head(writer, input, height, svg.left, summary, svg.undrawn, svg.empty);

    print_svg_counts(&svg);
    print_svg_bars(&svg);
    if (svg.count > 0 && svg.scale == PRINT_SVG_LINEAR)
        print_svg_values(&svg);
    else if (svg.count > 0 && svg.scale == PRINT_SVG_EDGES)
        print_svg_edges(&svg);
    /* A name below each bar, or below every `each` bars if the names would touch. */
    const size_t lines = (PRINT_SVG_RIGHT - svg.left) / SVG_LINE;
    const size_t each = svg.is_tilted ? svg.count / (lines + 1) + 1 : 1;
    for (size_t i = 0; svg.scale == PRINT_SVG_NAMES && i < svg.count; i += each) {
        plot_name(name, &svg.bars[i], &input->rows.plan->element, svg.digits, 0);
        svg_write_label(writer, svg.is_tilted, PRINT_SVG_BOTTOM,
                        print_svg_x(&svg, 2 * (__int128)i + 1, 2 * (__int128)svg.count), name);
    }
    writer_print(writer, "<path class=\"axis\" d=\"M%u %uH%u\"/>\n", svg.left, PRINT_SVG_BOTTOM,
                 PRINT_SVG_RIGHT);
    writer_print(writer, "<text class=\"end\" x=\"%u\" y=\"%u\">", PRINT_SVG_RIGHT, height - 120);
    svg_write_escaped(writer, print_value_label(options, input->rows.plan, field));
    if (svg.scale == PRINT_SVG_EDGES)
        writer_write_text(writer, binning_is_of_powers(binning) ? " (logarithmic)"
                                                                : " (bins are drawn equally wide)");
    writer_write_text(writer, "</text>\n</svg>\n");
}

const struct print_format print_svg = {
    .name = "svg",
    .has_lines = true,
    .is_picture = true,
    .names_values = true,
    .draws_names = true,
    .refused = PRINT_EXTRA_CUMULATIVE | PRINT_EXTRA_QUANTILES,
    .list_lines = print_svg_bars_max,
    .rows = print_svg_rows,
    .heat = print_heat_svg,
};
