/*
 * Format svg for strings and IP addresses: horizontal bars, each with its name on the left, and its
 * count and percentage after it. Long names are cut in their middle; tooltips have them in full.
 */
#include "config.h"

#include "aggregate/groups.h"
#include "lib/printable.h"
#include "lib/writer.h"
#include "result/axis.h"
#include "result/print_rows.h"
#include "result/svg.h"

#include <stdio.h>
#include <string.h>

/* Maximum number of rows with bars: those with the highest counts. */
#define PRINT_SVG_NAMES_ROWS 50

/* Heights of a row and of its bar. */
#define PRINT_SVG_NAMES_LINE 220
#define PRINT_SVG_NAMES_BAR  160

#define PRINT_SVG_NAMES_RIGHT 9440

/* Maximum number of columns of a name on the left. */
#define PRINT_SVG_NAMES_COLUMNS 44

/* Size of a name; longer strings are cut. And the size of a count and its percentage. */
#define PRINT_SVG_NAMES_SIZE   4096
#define PRINT_SVG_NAMES_NUMBER (AXIS_LABEL_SIZE + 16)

struct print_svg_names {
    struct writer *writer;
    const struct print_input *input;
    struct rows_row rows[PRINT_SVG_NAMES_ROWS];
    size_t count;
    uint64_t undrawn; /* number of rows without a bar */
    uint64_t max;     /* the largest number (print_scale_number) */
    uint64_t base;  /* logarithmic: the number at the start of bars, half a power of ten; else 0 */
    unsigned left;  /* the start of the bars */
    unsigned right; /* the end of the longest bar */
};

/* Writes the name of a row and a NUL. */
static void print_svg_names_format(const struct print_svg_names *svg, const struct rows_row *row,
                                   char out[PRINT_SVG_NAMES_SIZE])
{
    const struct element *element = &svg->input->rows.plan->element;
    size_t bytes;

    if (!element_is_string(element)) {
        out[element_write(out, element, row->low)] = '\0';
        return;
    }
    const char *text = groups_text(svg->input->rows.groups, (uint64_t)row->low, &bytes);
    bytes = bytes < PRINT_SVG_NAMES_SIZE ? bytes : PRINT_SVG_NAMES_SIZE - 1;
    for (size_t i = 0; i < bytes; i++) /* a NUL is shown like other control characters */
        out[i] = text[i] == '\0' ? '\x01' : text[i];
    out[bytes] = '\0';
}

/*
 * Writes the text after a bar, a count and its percentage, which is 0 only if the count is. Returns
 * the length.
 */
static size_t print_svg_names_number(const struct print_svg_names *svg, uint64_t count,
                                     char out[PRINT_SVG_NAMES_NUMBER])
{
    const struct element counted = print_count_element(svg->input->rows.plan);
    const unsigned __int128 total = svg->input->total > 0 ? svg->input->total : 1;
    const unsigned tenths = (unsigned)(((unsigned __int128)count * 2000 + total) / (2 * total));
    const size_t length = axis_write(out, &counted, count, AXIS_GROUPED);

    return length + (size_t)(tenths == 0 && count > 0
                                 ? sprintf(out + length, " (<0.1%%)")
                                 : sprintf(out + length, " (%u.%u%%)", tenths / 10, tenths % 10));
}

/* Reads the rows, and keeps those with the highest counts, in their order. */
static void print_svg_names_read(struct print_svg_names *svg)
{
    struct rows rows = svg->input->rows;
    struct rows_row batch[ROWS_BATCH];
    size_t lowest = 0; /* index of the lowest kept row, if the maximum number is kept */
    size_t n;

    while ((n = rows_read(&rows, batch, ROWS_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++) {
            if (svg->count == PRINT_SVG_NAMES_ROWS) {
                svg->undrawn++;
                if (batch[i].count <= svg->rows[lowest].count)
                    continue;
                svg->count--;
                memmove(&svg->rows[lowest], &svg->rows[lowest + 1],
                        (svg->count - lowest) * sizeof *svg->rows);
            }
            svg->rows[svg->count++] = batch[i];
            for (size_t k = lowest = 0; k < svg->count; k++)
                lowest = svg->rows[k].count <= svg->rows[lowest].count ? k : lowest;
        }
    }
}

/* Measures the names and numbers. */
static void print_svg_names_layout(struct print_svg_names *svg)
{
    const struct print_options *options = svg->input->options;
    char text[PRINT_SVG_NAMES_SIZE];
    size_t names = 0;
    size_t numbers = 0;
    uint64_t min = UINT64_MAX;

    for (size_t i = 0; i < svg->count; i++) {
        const uint64_t number = print_scale_number(options, svg->rows[i].count, svg->input->total);
        svg->max = number > svg->max ? number : svg->max;
        min = number > 0 && number < min ? number : min;
        print_svg_names_format(svg, &svg->rows[i], text);
        const size_t width = printable_width(text);
        names = width > names ? width : names;
        const size_t length = print_svg_names_number(svg, svg->rows[i].count, text);
        numbers = length > numbers ? length : numbers;
    }
    for (svg->base = options->log_count; svg->base > 0 && svg->base <= min / 10;)
        svg->base *= 10;
    names = names < PRINT_SVG_NAMES_COLUMNS ? names : PRINT_SVG_NAMES_COLUMNS;
    svg->left = (unsigned)names * SVG_CHARACTER + SVG_SPACE;
    svg->left = svg->left > SVG_LEFT ? svg->left : SVG_LEFT;
    svg->right = PRINT_SVG_NAMES_RIGHT - (unsigned)numbers * SVG_CHARACTER - SVG_SPACE / 2;
}

/* Returns the length of the bar of a count, at least a pixel if it is not 0. */
static unsigned print_svg_names_length(const struct print_svg_names *svg, uint64_t count)
{
    const uint64_t number = print_scale_number(svg->input->options, count, svg->input->total);
    unsigned __int128 part = number;
    unsigned __int128 whole = svg->max;

    if (number == 0)
        return 0;
    if (svg->base > 0) {
        const uint32_t base = axis_log2(svg->base);
        part = axis_log2(number) + (1U << AXIS_LOG2_BITS) - base;
        whole = axis_log2(svg->max) + (1U << AXIS_LOG2_BITS) - base;
    }
    const unsigned length = (unsigned)((svg->right - svg->left) * part / whole);
    return length > SVG_PIXEL ? length : SVG_PIXEL;
}

static void print_svg_names_bars(const struct print_svg_names *svg)
{
    char name[PRINT_SVG_NAMES_SIZE];
    char number[PRINT_SVG_NAMES_NUMBER];

    writer_write_text(svg->writer, "<g class=\"bars\">\n");
    for (size_t i = 0; i < svg->count; i++) {
        const unsigned y = SVG_TOP + (unsigned)i * PRINT_SVG_NAMES_LINE;
        const unsigned length = print_svg_names_length(svg, svg->rows[i].count);
        const unsigned text = y + PRINT_SVG_NAMES_LINE / 2 + 40;
        print_svg_names_format(svg, &svg->rows[i], name);
        print_svg_names_number(svg, svg->rows[i].count, number);
        writer_print(svg->writer, "<text class=\"end\" x=\"%u\" y=\"%u\">", svg->left - 80, text);
        svg_write_cut(svg->writer, name, PRINT_SVG_NAMES_COLUMNS);
        writer_print(svg->writer,
                     "</text><rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\"><title>", svg->left,
                     y + (PRINT_SVG_NAMES_LINE - PRINT_SVG_NAMES_BAR) / 2, length,
                     PRINT_SVG_NAMES_BAR);
        svg_write_escaped(svg->writer, name);
        writer_write_text(svg->writer, ": ");
        svg_write_escaped(svg->writer, number);
        writer_print(svg->writer, "</title></rect><text x=\"%u\" y=\"%u\">",
                     svg->left + length + 80, text);
        svg_write_escaped(svg->writer, number);
        writer_write_text(svg->writer, "</text>\n");
    }
    writer_write_text(svg->writer, "</g>\n");
}

void print_svg_names(struct writer *writer, const struct print_input *input)
{
    const struct print_options *options = input->options;
    const struct plan *plan = input->rows.plan;
    struct print_svg_names svg = {.writer = writer, .input = input};
    char summary[SVG_SUMMARY_SIZE];
    char number[AXIS_LABEL_SIZE];
    char field[PRINT_FIELD_SIZE];

    print_svg_names_read(&svg);
    print_svg_names_layout(&svg);
    const unsigned bottom = SVG_TOP + (unsigned)svg.count * PRINT_SVG_NAMES_LINE;
    size_t length = svg_format_total(summary, plan, input->total);
    axis_write(number, NULL, svg.count + svg.undrawn, AXIS_GROUPED);
    if (input->is_complete && input->total > 1)
        sprintf(summary + length, ", %s distinct", number);
    print_svg_head(writer, input, bottom + SVG_LINE, svg.left, summary, svg.undrawn, 0);
    writer_print(writer, "<text x=\"%u\" y=\"%u\">", svg.left, SVG_TOP - 200);
    svg_write_escaped(writer, print_count_label(plan, field));
    writer_print(writer, "%s</text>\n", svg.base > 0 ? " (logarithmic)" : "");
    print_svg_names_bars(&svg);
    writer_print(writer, "<path class=\"axis\" d=\"M%u %uV%u\"/>\n", svg.left, SVG_TOP, bottom);
    writer_print(writer, "<text class=\"end\" x=\"%u\" y=\"%u\">", svg.left - 80, SVG_TOP - 200);
    svg_write_escaped(writer, print_value_label(options, plan, field));
    writer_write_text(writer, "</text>\n</svg>\n");
}
