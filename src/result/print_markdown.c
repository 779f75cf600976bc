/*
 * Format markdown: the lines of csv as a table (GitHub Flavored Markdown, "Tables (extension)").
 * Columns of numbers are aligned to the right. In strings, characters that end a cell or a line, or
 * begin a tag, are escaped; the end of a line becomes a tag, because a cell has only one line.
 */
#include "config.h"

#include "result/print_rows.h"

#include <string.h>

static size_t print_escape_markdown(const char *text, size_t bytes, size_t *used, char out[8])
{
    *used = bytes > 1 && memcmp(text, "\r\n", 2) == 0 ? 2 : 1;
    if (*text == '\n' || *text == '\r') {
        memcpy(out, "<br>", 4);
        return 4;
    }
    if (*text != '|' && *text != '\\' && *text != '<')
        return 0;
    out[0] = '\\';
    out[1] = *text;
    return 2;
}

static const struct print_word_text print_words_markdown[] = {
    PRINT_WORDS_PLAIN("| ", " | ", " |\n")};

const struct print_format print_markdown = {
    .name = "markdown",
    .has_lines = true,
    .words = print_words_markdown,
    .header = PRINT_HEADER_ALWAYS,
    .rules = {"---:", ":---"},
    .escape = print_escape_markdown,
    .begin = print_write_header,
    .rows = print_delimited,
};
