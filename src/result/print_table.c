/*
 * The table for terminals: the lines of tsv as aligned columns below their names, numbers right,
 * strings left. Single counts of values have bars and percentages, for which long strings are cut
 * in their middle. A result of one number is only the number.
 */
#include "config.h"

#include "lib/decimal.h"
#include "lib/printable.h"
#include "lib/writer.h"
#include "result/bar.h"
#include "result/print_rows.h"
#include "result/result.h"
#include "result/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of columns: of groups, and of values or reductions. */
#define PRINT_TABLE_COLUMNS_MAX 256

/* Number of blanks between columns. */
#define PRINT_TABLE_GAP 2

/* Minimum and maximum width of bars, and minimum width that a string is cut to. */
#define PRINT_TABLE_BAR_MIN  16
#define PRINT_TABLE_BAR_MAX  60
#define PRINT_TABLE_TEXT_MIN 16

/* Number of decimal places of a percentage that was not requested. */
#define PRINT_TABLE_SHARE 1

/* Size of a buffer for a percentage, or the name of a field. */
#define PRINT_TABLE_CELL_SIZE (PERCENTAGE_SHARE_SIZE + PRINT_FIELD_SIZE)

struct print_table_layout {
    const struct print_options *options;
    const struct plan *plan;
    struct terminal terminal;
    char *text; /* lines of cells, each cell with a NUL; owned */
    size_t bytes;
    size_t columns;
    size_t lines; /* number of lines, with the header row */
    size_t widths[PRINT_TABLE_COLUMNS_MAX];
    bool has_strings[PRINT_TABLE_COLUMNS_MAX];
    size_t bar;             /* the column of counts that bars show */
    struct bar_scale scale; /* the scale of bars; 0 columns: there are none */
};

/* Returns whether a cell is a number, or empty. */
static bool print_table_is_number(const char *cell)
{
    cell += *cell == '-' || *cell == '+';
    cell += strspn(cell, "0123456789");
    cell += *cell == '.';
    cell += strspn(cell, "0123456789");
    return *cell == '\0';
}

/*
 * Rounds a percentage of four decimal places that was not requested, but not to 0 unless the count
 * is 0, and appends a % sign to all. The cell follows that of the count.
 */
static const char *print_table_share(const struct print_table_layout *layout, const char *cell,
                                     char out[PRINT_TABLE_CELL_SIZE])
{
    size_t length = strlen(cell);
    __int128 share;

    if (!layout->options->percent && decimal_parse_fixed(cell, length, 4, &share)) {
        const __int128 unit = decimal_power(4 - PRINT_TABLE_SHARE);
        const __int128 rounded = (share + unit / 2) / unit;
        const bool is_none = strcmp(cell - 2, "0") == 0 && cell[-3] == '\0'; /* the count is 0 */
        const bool is_small = rounded == 0 && !is_none;
        out[0] = '<';
        length =
            is_small + decimal_write_fixed(out + is_small, rounded + is_small, PRINT_TABLE_SHARE);
    } else {
        memcpy(out, cell, length);
    }
    strcpy(out + length, "%");
    return out;
}

/* Returns the cell as it is shown. */
static const char *print_table_cell(const struct print_table_layout *layout, size_t line,
                                    size_t column, const char *cell,
                                    char out[PRINT_TABLE_CELL_SIZE])
{
    const bool is_share = layout->bar < layout->columns && column == layout->bar + 1;
    const bool has_several = layout->plan->value_count > 1; /* the first column names them */
    return line == 0
               ? print_reader_name(layout->options, layout->plan, column - has_several, cell, out)
           : is_share ? print_table_share(layout, cell, out)
                      : cell;
}

/* Divides the lines of tsv into cells, and finds the widths of the columns. */
static void print_table_measure(struct print_table_layout *layout, bool has_other)
{
    char out[PRINT_TABLE_CELL_SIZE];
    size_t column = 0;
    char *cell = layout->text;

    for (size_t i = 0; i < layout->bytes; i++) { /* a NUL is shown like other control characters */
        char *c = &layout->text[i];
        *c = *c == '\0' ? '\x01' : *c;
        if (*c != '\t' && *c != '\n')
            continue;
        const bool is_end = *c == '\n';
        *c = '\0';
        if (column < PRINT_TABLE_COLUMNS_MAX) {
            const size_t width =
                printable_width(print_table_cell(layout, layout->lines, column, cell, out));
            const bool is_other = has_other && strcmp(cell, "other") == 0;
            layout->widths[column] =
                width > layout->widths[column] ? width : layout->widths[column];
            if (layout->lines > 0 && !is_other && !print_table_is_number(cell))
                layout->has_strings[column] = true;
        }
        column++;
        cell = c + 1;
        if (is_end) {
            layout->lines++;
            layout->columns = column > layout->columns ? column : layout->columns;
            column = 0;
        }
    }
}

/* Reads a cell of the column of counts. Returns false if it is not a count. */
static bool print_table_read_count(const struct print_table_layout *layout, const char *cell,
                                   uint64_t *count)
{
    __int128 value;

    if (!decimal_parse_fixed(cell, strlen(cell), plan_count_decimals(layout->plan), &value))
        return false;
    *count = (uint64_t)value;
    return true;
}

/* Finds the largest count, and the smallest other than 0. */
static void print_table_scale(struct print_table_layout *layout, size_t lines)
{
    struct bar_scale *scale = &layout->scale;
    const char *cell = layout->text;
    uint64_t count;

    for (size_t line = 0; line < lines; line++) {
        for (size_t i = 0; i < layout->columns; i++, cell += strlen(cell) + 1) {
            if (line == 0 || i != layout->bar || !print_table_read_count(layout, cell, &count))
                continue;
            scale->max = count > scale->max ? count : scale->max;
            if (layout->options->log_count && count > 0 && (scale->min == 0 || count < scale->min))
                scale->min = count;
        }
    }
}

/* Makes the widest columns of strings narrower until a line with its bar fits the terminal. */
static void print_table_fit(struct print_table_layout *layout, bool has_bars)
{
    const size_t bars = has_bars ? PRINT_TABLE_BAR_MIN + PRINT_TABLE_GAP : 0;
    const size_t space = layout->terminal.columns;
    size_t used = bars;

    for (size_t i = 0; i < layout->columns; i++)
        used += layout->widths[i] + (i > 0 ? PRINT_TABLE_GAP : 0);
    while (used > space) {
        size_t widest = layout->columns;
        for (size_t i = 0; i < layout->columns; i++) {
            if (layout->has_strings[i] && layout->widths[i] > PRINT_TABLE_TEXT_MIN &&
                (widest == layout->columns || layout->widths[i] > layout->widths[widest]))
                widest = i;
        }
        if (widest == layout->columns)
            break;
        layout->widths[widest]--;
        used--;
    }
    if (!has_bars || used > space)
        return;
    const size_t free = space - used + PRINT_TABLE_BAR_MIN;
    layout->scale.columns = (unsigned)(free < PRINT_TABLE_BAR_MAX ? free : PRINT_TABLE_BAR_MAX);
}

static void print_table_spaces(struct writer *writer, size_t count)
{
    for (size_t i = 0; i < count; i++)
        writer_write(writer, " ", 1);
}

/* Writes a cell, `columns` columns wide; cuts a longer string in its middle. */
static void print_table_write(struct writer *writer, const struct print_table_layout *layout,
                              const char *cell, size_t columns, bool is_left, bool is_last)
{
    const char *dots = layout->terminal.has_unicode ? "\xe2\x80\xa6" : "...";
    const size_t dots_columns = layout->terminal.has_unicode ? 1 : 3;
    size_t width = printable_width(cell);

    if (width <= columns) {
        print_table_spaces(writer, is_left ? 0 : columns - width);
        print_columns(writer, cell, width);
        print_table_spaces(writer, is_left && !is_last ? columns - width : 0);
        return;
    }
    const size_t tail = (columns - dots_columns) / 2;
    size_t used = print_columns(writer, cell, columns - dots_columns - tail);
    writer_write_text(writer, dots);
    for (; width > tail; width = printable_width(cell)) {
        const size_t bytes = printable_bytes(cell);
        cell += bytes > 0 ? bytes : 1;
    }
    used += dots_columns + print_columns(writer, cell, width);
    print_table_spaces(writer, is_last ? 0 : columns - used);
}

static void print_table_lines(struct writer *writer, const struct print_table_layout *layout,
                              bool has_other)
{
    const bool is_number = layout->columns == 1 && layout->lines <= 2;
    const unsigned bars = layout->scale.columns;
    const char *cell = layout->text;
    char out[PRINT_TABLE_CELL_SIZE];
    char bar[BAR_SIZE];
    uint64_t count;

    for (size_t line = 0; line < layout->lines; line++) {
        const bool is_other = has_other && line + 1 == layout->lines;
        for (size_t i = 0; i < layout->columns; i++, cell += strlen(cell) + 1) {
            const bool is_last = i + 1 == layout->columns && (i != layout->bar || bars == 0);
            const char *shown = print_table_cell(layout, line, i, cell, out);
            if (line == 0 && is_number)
                continue;
            print_table_spaces(writer, i > 0 ? PRINT_TABLE_GAP : 0);
            print_table_write(writer, layout, shown,
                              is_number ? printable_width(shown) : layout->widths[i],
                              layout->has_strings[i], is_last);
            if (i != layout->bar || bars == 0)
                continue;
            unsigned used = 0;
            size_t length = 0;
            if (line > 0 && !is_other && print_table_read_count(layout, cell, &count))
                length = bar_write(bar, &layout->scale, count, &used);
            print_table_spaces(writer, PRINT_TABLE_GAP);
            writer_write(writer, bar, length);
            print_table_spaces(writer, i + 1 < layout->columns ? bars - used : 0);
        }
        if (line > 0 || !is_number)
            writer_write(writer, "\n", 1);
    }
}

/* Writes the whole result; keeps all of its text in memory. */
static enum status print_table_result(struct writer *writer, const struct plan *plan,
                                      const void *aggregate, const struct print_options *options,
                                      struct failure *failure)
{
    const bool is_counted = plan->operation == OPERATION_UNIQ && plan->group_count == 0 &&
                            options->quantiles.count == 0;
    const bool has_bars = is_counted && options->plot != PRINT_PLOT_NEVER;
    struct print_table_layout layout = {.options = options,
                                        .plan = plan,
                                        .terminal = terminal_describe(!options->output)};
    struct print_options own = *options;
    struct writer *memory = writer_create_memory((size_t)64 << 10);

    if (!memory)
        return status_fail(failure, STATUS_DATA, "not enough memory for a table");
    own.format = &print_tsv;
    own.header_out = true;
    own.percent = options->percent || has_bars;
    enum status status = result_print(memory, plan, aggregate, &own, failure);
    const char *text = writer_memory(memory, &layout.bytes);
    layout.text = text ? malloc(layout.bytes + 1) : NULL;
    if (status == STATUS_OK && !layout.text)
        status = status_fail(failure, STATUS_DATA, "not enough memory for a table");
    if (status == STATUS_OK) {
        const char *names_end = memchr(text, '\n', layout.bytes);
        size_t names = 1;
        memcpy(layout.text, text, layout.bytes);
        for (const char *c = text; names_end && c < names_end; c++)
            names += *c == '\t';
        /* The percentage and the cumulative counts follow the count. */
        layout.bar =
            own.percent && is_counted ? names - 2 - (options->cumulative ? 2 : 0) : SIZE_MAX;
        layout.columns = names;
        layout.scale.terminal = &layout.terminal;
        print_table_measure(&layout, options->other);
        print_table_scale(&layout, layout.lines - options->other);
        print_table_fit(&layout, has_bars);
        if (options->title) {
            print_columns(writer, options->title, layout.terminal.columns);
            writer_write(writer, "\n", 1);
        }
        print_table_lines(writer, &layout, options->other);
    }
    free(layout.text);
    writer_discard(memory);
    return status;
}

static const struct print_word_text print_words_table[] = {PRINT_WORDS_PLAIN("", "\t", "\n")};

const struct print_format print_table = {
    .name = "the table",
    .has_lines = true,
    .is_picture = true,
    .words = print_words_table,
    .result = print_table_result,
};
