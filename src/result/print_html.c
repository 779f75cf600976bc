/*
 * Format html: one page with the command line, the SVG image of the result, if there is one, and
 * the lines of csv as a table that a click on a header sorts. The page loads nothing, which it also
 * tells the browser, and follows the reader's choice of light or dark.
 */
#include "config.h"

#include "lib/printable.h"
#include "lib/writer.h"
#include "result/print_rows.h"
#include "result/result.h"

#include <stdio.h>
#include <string.h>

static const char print_html_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<style>\n"
    "body{margin:2em;font:15px sans-serif;color:#1d2430;background:#fff}\n"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere}svg{max-width:100%;height:auto}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.25em .8em;text-align:right;white-space:pre-wrap;overflow-wrap:anywhere}\n"
    ".text{text-align:left}thead{border-bottom:2px solid #8a93a1}\n"
    "th{cursor:pointer}tbody tr:nth-child(even){background:#f2f4f7}\n"
    "th[aria-sort=ascending]::after{content:\" \\2191\"}\n"
    "th[aria-sort=descending]::after{content:\" \\2193\"}\n"
    "@media (prefers-color-scheme:dark){body{color:#e8ecf2;background:#161b22}\n"
    "thead{border-color:#6c7684}tbody tr:nth-child(even){background:#1f2630}}\n"
    "</style>\n<title>";

/* Sorts the rows: numbers by value, strings by their characters; equal rows keep their order. */
static const char print_html_script[] =
    "<script>\n"
    "const table = document.querySelector('table');\n"
    "const heads = [...table.querySelectorAll('th')];\n"
    "function compare(a, b, isText) {\n"
    "  const difference = isText ? 0 : parseFloat(a) - parseFloat(b);\n"
    "  if (difference) return difference;\n"
    "  if (!isText && a.length !== b.length)\n"
    "    return a[0] === '-' ? b.length - a.length : a.length - b.length;\n"
    "  return a < b ? -1 : a > b ? 1 : 0;\n"
    "}\n"
    "function sort(head, i) {\n"
    "  const sign = head.getAttribute('aria-sort') === 'ascending' ? -1 : 1;\n"
    "  const body = table.tBodies[0];\n"
    "  const isText = head.className === 'text';\n"
    "  heads.forEach(other => other.removeAttribute('aria-sort'));\n"
    "  head.setAttribute('aria-sort', sign > 0 ? 'ascending' : 'descending');\n"
    "  body.append(...[...body.rows].sort((a, b) => sign *\n"
    "    compare(a.cells[i]?.textContent ?? '', b.cells[i]?.textContent ?? '', isText)));\n"
    "}\n"
    "heads.forEach((head, i) => {\n"
    "  if (head.className)\n"
    "    document.styleSheets[0].insertRule(`td:nth-child(${i + 1}){text-align:left}`);\n"
    "  head.addEventListener('click', () => sort(head, i));\n"
    "  head.addEventListener('keydown', event => { if (event.key === 'Enter') sort(head, i); });\n"
    "});\n"
    "</script>\n";

static size_t print_escape_html(const char *text, size_t bytes, size_t *used, char out[8])
{
    const unsigned char c = (unsigned char)*text;
    uint32_t code;

    *used = 1;
    if (strchr("&<>\"'\t\n\r", c) && c != '\0')
        return (size_t)snprintf(out, 8, "&#%u;", c);
    if (c >= ' ' && c < 0x7f)
        return 0;
    *used = printable_decode(text, bytes, &code);
    /* not HTML characters: controls, and the last two of each plane */
    if (*used > 0 && code >= 0xa0 && (code & 0xfffe) != 0xfffe && (code < 0xfdd0 || code > 0xfdef))
        return 0;
    *used = *used > 0 ? *used : 1;
    memcpy(out, PRINT_REPLACEMENT, strlen(PRINT_REPLACEMENT));
    return strlen(PRINT_REPLACEMENT);
}

/* Writes the command line, quoted for a shell. */
static void print_html_command(struct writer *writer, const struct print_options *options)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=.,:/@%";

    writer_write_text(writer, "gpuhist");
    for (char *const *word = options->words; word && *word; word++) {
        const bool is_plain = **word && (*word)[strspn(*word, plain)] == '\0';
        writer_write_text(writer, is_plain ? " " : " &#39;");
        for (const char *part = *word; *part; part++) {
            const size_t bytes = strcspn(part, "'");
            print_write_text(writer, part, bytes, &print_html);
            part += bytes;
            if (*part == '\0')
                break;
            writer_write_text(writer, "&#39;\\&#39;&#39;");
        }
        writer_write_text(writer, is_plain ? "" : "&#39;");
    }
}

/* Begins the table. If there are several, the first column names their value columns. */
static void print_html_begin(struct writer *writer, const struct print_result *result)
{
    const struct print_options *options = result->options;
    char field[PRINT_FIELD_SIZE];
    struct print_column column;

    if (options->group)
        return;
    if (!options->column)
        writer_write_text(writer, "<table>\n");
    if (!result->column || options->is_next_column)
        return;
    writer_write_text(writer, "<thead>\n<tr>");
    for (size_t i = 0; (column = result->column(result, i)).words[0]; i++) {
        writer_print(writer, "<th tabindex=\"0\"%s>", column.is_text ? " class=\"text\"" : "");
        column.words[0] = print_reader_name(options, result->plan, i - (options->column != NULL),
                                            column.words[0], field);
        print_write_name(writer, &column, result->format);
        writer_write_text(writer, "</th>");
    }
    writer_write_text(writer, "</tr>\n</thead>\n<tbody>\n");
}

static void print_html_end(struct writer *writer, const struct print_result *result)
{
    if (!result->options->group && !result->options->column)
        writer_write_text(writer, "</tbody>\n</table>\n");
}

/* Writes the SVG image of a result, if svg supports it with these options. */
static enum status print_html_picture(struct writer *writer, const struct plan *plan,
                                      const void *aggregate, const struct print_options *options,
                                      struct failure *failure)
{
    struct print_options own = *options;
    struct failure ignored;

    own.format = &print_svg;
    own.cumulative = false; /* only the table has that column */
    return print_check_format(&own, plan, &ignored) == STATUS_OK
               ? result_print(writer, plan, aggregate, &own, failure)
               : STATUS_OK;
}

static enum status print_html_result(struct writer *writer, const struct plan *plan,
                                     const void *aggregate, const struct print_options *options,
                                     struct failure *failure)
{
    writer_write_text(writer, print_html_head);
    if (options->title)
        print_write_text(writer, options->title, strlen(options->title), &print_html);
    else
        print_html_command(writer, options);
    writer_write_text(writer, "</title>\n</head>\n<body>\n<pre>");
    print_html_command(writer, options);
    writer_write_text(writer, "</pre>\n");
    enum status status = print_html_picture(writer, plan, aggregate, options, failure);
    if (status == STATUS_OK)
        status = result_print(writer, plan, aggregate, options, failure);
    writer_write_text(writer, print_html_script);
    writer_write_text(writer, "</body>\n</html>\n");
    return status;
}

static const struct print_word_text print_words_html[] = {
    PRINT_WORDS_PLAIN("<tr><td>", "</td><td>", "</td></tr>\n")};

const struct print_format print_html = {
    .name = "html",
    .has_lines = true,
    .is_picture = true,
    .words = print_words_html,
    .header = PRINT_HEADER_ALWAYS,
    .is_unicode = true,
    .escape = print_escape_html,
    .begin = print_html_begin,
    .rows = print_delimited,
    .end = print_html_end,
    .result = print_html_result,
};
