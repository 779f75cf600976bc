/* Implements svg.h. */
#include "config.h"

#include "result/svg.h"

#include "lib/printable.h"
#include "lib/writer.h"
#include "result/axis.h"
#include "result/print_rows.h"
#include "value/plan.h"

#include <stdio.h>
#include <string.h>

static const char svg_style[] =
    "<style>\n"
    "text{font:120px sans-serif;fill:#4a5260}\n"
    ".title{font-size:160px;font-weight:bold;fill:#1d2430}\n"
    ".end{text-anchor:end}.middle{text-anchor:middle}\n"
    "path{stroke:#e2e6ec;stroke-width:10}.axis{stroke:#8a93a1}\n"
    ".page{fill:#ffffff}.bars{fill:#3572b0}.bars path{stroke:none}\n"
    ".tips rect{fill-opacity:0}.bars rect:hover{fill:#d9822b;fill-opacity:1}\n"
    "@media (prefers-color-scheme:dark){\n"
    "text{fill:#aab3c0}.title{fill:#e8ecf2}\n"
    "path{stroke:#2b323c}.axis{stroke:#6c7684}\n"
    ".page{fill:#161b22}.bars{fill:#5fa3e6}.bars rect:hover{fill:#f0a95c}\n"
    "}\n"
    "</style>\n";

/* Size of the title's font, and width of its characters, like SVG_CHARACTER. */
#define SVG_TITLE_SIZE      160
#define SVG_TITLE_CHARACTER 100

/* Escapes text[0..end). U+FFFE and U+FFFF are not XML characters. */
static void svg_write_part(struct writer *writer, const char *text, const char *end)
{
    while (text < end) {
        size_t bytes = printable_bytes(text);
        if (strncmp(text, "\xef\xbf\xbe", 3) == 0 || strncmp(text, "\xef\xbf\xbf", 3) == 0)
            bytes = 0;
        if (*text == '&' || *text == '<' || *text == '>')
            writer_print(writer, "&#%d;", *text);
        else
            writer_write(writer, bytes > 0 ? text : "?", bytes > 0 ? bytes : 1);
        text += bytes > 0 ? bytes : 1;
    }
}

void svg_write_escaped(struct writer *writer, const char *text)
{
    svg_write_part(writer, text, text + strlen(text));
}

/* Returns the end of the text, at most `columns` columns wide. */
static const char *svg_skip(const char *text, size_t columns)
{
    for (size_t width = printable_width(text); width > columns;) {
        const size_t bytes = printable_bytes(text);
        width -= printable_columns(text);
        text += bytes > 0 ? bytes : 1;
    }
    return text;
}

void svg_write_cut(struct writer *writer, const char *text, size_t columns)
{
    const size_t width = printable_width(text);

    if (width <= columns) {
        svg_write_escaped(writer, text);
        return;
    }
    svg_write_part(writer, text, svg_skip(text, width - columns / 2));
    writer_write_text(writer, "\xe2\x80\xa6");
    svg_write_escaped(writer, svg_skip(text, (columns - 1) / 2));
}

size_t svg_format_total(char out[SVG_SUMMARY_SIZE], const struct plan *plan, uint64_t total)
{
    const struct element counted = print_count_element(plan);
    char number[AXIS_LABEL_SIZE];
    char field[PRINT_FIELD_SIZE];

    axis_write(number, &counted, total, AXIS_GROUPED);
    if (plan->has_weights)
        return (size_t)sprintf(out, "%s (sum of %.200s)", number, print_count_label(plan, field));
    return (size_t)sprintf(out, "%s %s", number, total == 1 ? "value" : "values");
}

void svg_write_note(struct writer *writer, bool *has_notes, const char *before, uint64_t number,
                    const char *after)
{
    char digits[AXIS_LABEL_SIZE];

    if (number == 0)
        return;
    axis_write(digits, NULL, number, AXIS_GROUPED);
    writer_print(writer, "%s%s%s%s", *has_notes ? "; " : "", before, digits, after);
    *has_notes = true;
}

void svg_write_count(struct writer *writer, const struct plan *plan, const char *before,
                     uint64_t count)
{
    const struct element counted = print_count_element(plan);
    char number[AXIS_LABEL_SIZE];

    if (count == 0)
        return;
    axis_write(number, &counted, count, AXIS_GROUPED);
    writer_print(writer, "; %s%s", before, number);
}

void svg_write_text(struct writer *writer, const char *class, unsigned x, unsigned y,
                    const char *text)
{
    writer_print(writer, "<text class=\"%s\" x=\"%u\" y=\"%u\">%s</text>\n", class, x, y, text);
}

void svg_write_label(struct writer *writer, bool is_tilted, unsigned y, unsigned x,
                     const char *label)
{
    const unsigned last = SVG_WIDTH - (unsigned)strlen(label) * SVG_CHARACTER / 2;

    if (is_tilted) {
        writer_print(writer,
                     "<text class=\"end\" transform=\"translate(%u %u)rotate(-45)\">%s</text>\n",
                     x + 40, y + 150, label);
        return;
    }
    writer_print(writer, "<path class=\"axis\" d=\"M%u %uv40\"/>", x, y);
    svg_write_text(writer, "middle", x < last ? x : last, y + 200, label);
}

void svg_write_date(struct writer *writer, unsigned y, unsigned x, const char *date)
{
    const unsigned last = SVG_WIDTH - (unsigned)strlen(date) * SVG_CHARACTER / 2;

    svg_write_text(writer, "middle", x < last ? x : last, y + 200 + SVG_LINE, date);
}

void svg_begin(struct writer *writer, unsigned height, unsigned left, const char *title)
{
    const size_t width = printable_width(title) * SVG_TITLE_CHARACTER;
    const unsigned space = SVG_WIDTH - SVG_SPACE - left;

    writer_print(writer,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
                 "viewBox=\"0 0 %u %u\">\n<title>",
                 SVG_WIDTH / SVG_PIXEL, height / SVG_PIXEL, SVG_WIDTH, height);
    svg_write_escaped(writer, title);
    writer_write_text(writer, "</title>\n");
    writer_write_text(writer, svg_style);
    writer_print(writer, "<rect class=\"page\" width=\"%u\" height=\"%u\"/>\n", SVG_WIDTH, height);
    writer_print(writer, "<text class=\"title\" x=\"%u\" y=\"280\"", left);
    if (width > space)
        writer_print(writer, " style=\"font-size:%upx\"",
                     (unsigned)(SVG_TITLE_SIZE * space / width));
    writer_write_text(writer, ">");
    svg_write_escaped(writer, title);
    writer_write_text(writer, "</text>\n");
}
