/* Implements text_rewrite.h with tables of units and of formats. */
#include "config.h"

#include "text/text_rewrite.h"

#include "text/row_scanner.h"
#include "text/text.h"
#include "text/text_line.h"
#include "text/text_scan.h"
#include "value/kind.h"
#include "value/kind_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of rows on which a format is tried. */
#define TEXT_REWRITE_ROWS 200

#define TEXT_REWRITE_FORMAT_SIZE 48

/*
 * Finds the field of a line by its number from 1, or the whole line. Returns false if it is
 * missing.
 */
static bool text_rewrite_find_field(const struct text_rules *rules, const char *line, size_t bytes,
                                    int64_t number, struct text_field *field)
{
    size_t next = 0;

    *field = (struct text_field){.end = bytes};
    if (number == TEXT_WHOLE_LINE || number == 0)
        return number != 0 && bytes > 0;
    for (int64_t i = 0; i < number; i++) {
        if (!text_line_next(rules, line, bytes, &next, field))
            return false;
    }
    if (rules->is_quoted && field->end > field->begin + 1 && line[field->begin] == '"') {
        field->begin++;
        field->end--;
    }
    return number > 0 && field->end > field->begin;
}

bool text_rewrite_column(const struct text_rules *rules, const char *line, size_t bytes,
                         const char *name, char out[TEXT_ADVICE_SIZE])
{
    const char *slash = strrchr(name, '/');
    const char *colon = slash ? memrchr(name, ':', (size_t)(slash - name)) : NULL;
    const size_t where = (size_t)((colon ? colon : slash ? slash : name) - name);
    const size_t digits = strspn(name, "0123456789");
    const bool is_number = digits == where && where > 0 && where < 9;
    const bool is_count = slash && slash[1] >= '1' && slash[1] <= '9' &&
                          slash[1 + strspn(slash + 1, "0123456789")] == '\0';
    const struct kind_time_rules time = {.is_cell = text_has_cells(rules)};
    struct kind_time_bucket bucket;
    struct text_field field;
    int64_t value;

    const char *point = memrchr(name, '.', where); /* the line has the last key of a path */
    const char *key = point ? point + 1 : name;
    if (where == 0 || where > TEXT_ADVICE_SIZE / 4 ||
        (!is_number && !memmem(line, bytes, key, (size_t)(name + where - key))))
        return false;
    if (colon) { /* a timestamp kind with a width without a unit */
        const size_t kind = (size_t)(slash - colon - 1);
        for (size_t i = 0; is_count && i < KINDS; i++) {
            if (kind_rows[i].scale == KIND_INSTANTS && strlen(kind_rows[i].name) == kind &&
                memcmp(kind_rows[i].name, colon + 1, kind) == 0) {
                snprintf(out, TEXT_ADVICE_SIZE, "try %.100ss", name);
                return true;
            }
        }
        return false;
    }
    const bool is_of_times =
        slash && kind_time_bucket_parse(slash + 1, strlen(slash + 1), 0, &bucket);
    if (!is_of_times && !is_count)
        return false;
    if (is_number) { /* the line is a row */
        if (!text_rewrite_find_field(rules, line, bytes, strtol(name, NULL, 10), &field))
            return false;
        const char *text = line + field.begin;
        const size_t length = field.end - field.begin;
        const size_t rest = time.is_cell ? length : bytes - field.begin;
        const size_t sign = *text == '-';
        if (is_of_times ? kind_time_read(&time, text, length, rest, &value, NULL) == 0
                        : strspn(text + sign, "0123456789") + sign < length)
            return false;
    }
    snprintf(out, TEXT_ADVICE_SIZE, "try %.*s:%s/%.16s", (int)where, name,
             is_of_times ? "time" : "int", slash + 1);
    return true;
}

/* Date formats and the characters after them. Each pair of the first rows swaps day and month. */
static const char *const text_rewrite_dates[] = {
    "%m/%d/%Y", "%d/%m/%Y", "%m-%d-%Y",  "%d-%m-%Y",  "%m.%d.%Y",    "%d.%m.%Y",
    "%m/%d/%y", "%d/%m/%y", "%b %d, %Y", "%d. %b %Y", "%d %b %Y",    "%b %d %Y",
    "%b %d",    "%a %b %d", "%a %d %b",  "%d-%b-%y",  "%a %d %b %Y", "%a, %d %b %Y",
};
#define TEXT_REWRITE_DATES     (sizeof text_rewrite_dates / sizeof *text_rewrite_dates)
#define TEXT_REWRITE_EXCHANGED 8 /* number of rows in these pairs */
static const char *const text_rewrite_clocks[] = {
    "",       " %H:%M", " %T",       " %I:%M %p", " %I:%M:%S %p", " %I:%M%p", " %T %z",
    " %T %Y", " %T %Z", " %T %Z %Y", ", %H:%M",   ", %T",         ":%T",      "T%T",
};
#define TEXT_REWRITE_CLOCKS (sizeof text_rewrite_clocks / sizeof *text_rewrite_clocks)

/* Makes a format from a date and a clock. Returns false if they do not combine. */
static bool text_rewrite_make_format(size_t date, size_t clock, char out[TEXT_REWRITE_FORMAT_SIZE],
                                     struct kind_time_format *format)
{
    struct failure ignored;

    snprintf(out, TEXT_REWRITE_FORMAT_SIZE, "%s%s", text_rewrite_dates[date],
             text_rewrite_clocks[clock]);
    if (kind_time_format_parse(format, out, &ignored) != STATUS_OK)
        return false;
    format->year = format->lacks_year ? 2000 : 0; /* a leap year */
    return true;
}

size_t text_rewrite_read(const struct text_reading *reading, const struct kind_time_format *format,
                         const char *text, size_t length, size_t bytes)
{
    const struct text_rules *rules = reading->rules;
    const bool is_cell =
        reading->scanner->names_columns || rules->field == TEXT_WHOLE_LINE || text_has_cells(rules);
    const struct kind_time_rules time = {.is_cell = is_cell, .format = format};
    int64_t value;
    const size_t used = kind_time_read(&time, text, length, is_cell ? length : bytes, &value, NULL);

    return is_cell && used != length ? 0 : used;
}

/*
 * Returns whether a format reads the column's values in the rows after the token.
 */
static bool text_rewrite_reads_rows(const struct text_reading *reading, size_t offset,
                                    const struct kind_time_format *format)
{
    const struct text_rules *rules = reading->rules;
    const char *end = reading->data + reading->bytes;
    const char *line = reading->data + offset;
    struct text_field field;

    if (reading->scanner->names_columns || rules->field == 0)
        return true;
    for (unsigned i = 0; i < TEXT_REWRITE_ROWS; i++) {
        line += text_scan_first(rules, line, (size_t)(end - line), TEXT_SCAN_ROW);
        const size_t row = text_scan_first(rules, line, (size_t)(end - line), TEXT_SCAN_ROW);
        if (row == 0)
            return true;
        const size_t bytes = row - 1 - (row > 1 && line[row - 2] == '\r');
        if (text_rewrite_find_field(rules, line, bytes, rules->field, &field) &&
            text_rewrite_read(reading, format, line + field.begin, field.end - field.begin,
                              bytes - field.begin) == 0)
            return false;
    }
    return true;
}

bool text_rewrite_time(const struct text_reading *reading, const struct text_token *token,
                       char out[TEXT_ADVICE_SIZE])
{
    const char *text = reading->data + token->offset;
    const size_t left = reading->bytes - token->offset;
    const char *end = memchr(text, '\n', left);
    const size_t bytes = end ? (size_t)(end - text) : left;
    char format[TEXT_REWRITE_FORMAT_SIZE];
    char other[TEXT_REWRITE_FORMAT_SIZE];
    struct kind_time_format parsed;
    size_t most = 0; /* number of values that the best format reads */
    size_t date = 0;
    size_t clock = 0;

    if (reading->format || token->bytes == 0)
        return false;
    for (size_t i = 0; i < TEXT_REWRITE_DATES * TEXT_REWRITE_CLOCKS; i++) {
        const size_t of_date = i / TEXT_REWRITE_CLOCKS;
        if (!text_rewrite_make_format(of_date, i % TEXT_REWRITE_CLOCKS, format, &parsed))
            continue;
        const size_t used = text_rewrite_read(reading, &parsed, text, token->bytes, bytes);
        if (used > most && text_rewrite_reads_rows(reading, token->offset, &parsed)) {
            most = used;
            date = of_date;
            clock = i % TEXT_REWRITE_CLOCKS;
        }
    }
    if (most == 0)
        return false;
    text_rewrite_make_format(date, clock, format, &parsed);
    const bool may_be_exchanged =
        date < TEXT_REWRITE_EXCHANGED && date % 2 == 0 &&
        text_rewrite_make_format(date + 1, clock, other, &parsed) &&
        text_rewrite_read(reading, &parsed, text, token->bytes, bytes) == most &&
        text_rewrite_reads_rows(reading, token->offset, &parsed);
    snprintf(out, TEXT_ADVICE_SIZE, "'%s'%s%s%s", format, may_be_exchanged ? ", or '" : "",
             may_be_exchanged ? other : "", may_be_exchanged ? "' if the day is first" : "");
    return true;
}
