/* Finds where text may be cut into chunks, and names in a header line. */
#include "config.h"

#include "input/record.h"

#include "text/text.h"
#include "text/text_line.h"

#include <stdlib.h>
#include <string.h>

size_t record_cut(const struct record_format *format, const char *data, size_t known, size_t bytes,
                  enum text_scan_state *state)
{
    size_t end = bytes;

    if (!format->is_text)
        return bytes - bytes % format->element_bytes;
    const bool has_lines = record_has_lines(format);
    if (state && format->text.is_quoted) {
        end = text_scan_last(&format->text, data + known, bytes - known, state);
        return end > 0 ? known + end : 0;
    }
    while (end > known && data[end - 1] != '\n' && (has_lines || !record_is_space(data[end - 1])))
        end--;
    return end > known ? end : 0;
}

size_t record_find_end(const struct record_format *format, const char *data, size_t bytes,
                       enum text_scan_state state)
{
    size_t end = 0;

    if (record_has_lines(format))
        return text_scan_first(&format->text, data, bytes, state);
    while (end < bytes && !record_is_space(data[end]))
        end++;
    return end < bytes ? end + 1 : 0;
}

/* Returns the length of the word of a W3C or Zeek log after the '#' of line[0..bytes), and a blank.
 */
static size_t record_columns_word(const char *line, size_t bytes)
{
    static const char *const words[] = {"Fields:", "fields"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i]);
        if (bytes >= 1 + length && memcmp(line + 1, words[i], length) == 0 &&
            (bytes == 1 + length || text_line_is_blank(line[1 + length])))
            return length + (bytes > 1 + length);
    }
    return 0;
}

bool record_has_columns(const char *line, size_t bytes)
{
    return bytes > 0 && line[0] == '#' && record_columns_word(line, bytes) > 0;
}

size_t record_begin_header(struct text_rules *rules, const char *line, size_t bytes)
{
    const bool by_blanks = rules->delimiter == TEXT_NO_DELIMITER;
    size_t begin = text_has_mark(line, bytes) ? 3 : 0;
    size_t end = bytes;
    struct text_field field;
    bool is_name = false; /* the '#' before a delimiter is a name */

    rules->columns = 0;
    if (begin < end && line[begin] == '#') {
        size_t next = begin + 1;
        const char after = next < end ? line[next] : ' ';
        is_name = by_blanks ? after == '\t' : after == (char)rules->delimiter && after != ' ';
        next += record_columns_word(line + begin, end - begin);
        begin = is_name ? begin : next;
        while (!is_name && begin < end && line[begin] == ' ')
            begin++;
    }
    if (!by_blanks)
        return begin;
    for (size_t i = begin; i < end && text_line_is_blank(line[end - 1]);)
        end--;
    if (begin < end && memchr(line + begin, '\t', end - begin))
        rules->delimiter = '\t';
    if (rules->delimiter == '\t' && !is_name)
        return begin;
    for (size_t offset = begin; text_line_next(rules, line, bytes, &offset, &field);)
        rules->columns++;
    return begin;
}

int32_t record_find_name(const struct text_rules *rules, const char *line, size_t bytes,
                         const char *name)
{
    struct text_rules header = *rules;
    size_t offset = record_begin_header(&header, line, bytes);
    const size_t first = text_has_mark(line, bytes) ? 3 : 0;
    struct text_field field;
    int32_t found = 0;

    /* If the first cell is the name with its '#', the '#' does not mark a header. */
    if (offset > first && header.delimiter != TEXT_NO_DELIMITER && header.delimiter != ' ') {
        size_t next = first;
        if (text_line_next(&header, line, bytes, &next, &field)) {
            text_line_trim(line, &field.begin, &field.end);
            if (field.end - field.begin == strlen(name) &&
                memcmp(line + field.begin, name, field.end - field.begin) == 0)
                offset = first;
        }
    }
    const bool has_mark = offset > 0 && line[offset - 1] == '#';

    for (int32_t i = 1; text_line_next(&header, line, bytes, &offset, &field); i++) {
        const char *wanted = name + (i == 1 && has_mark && *name == '#');
        const bool is_quoted =
            header.is_quoted && field.begin < field.end && line[field.begin] == '"';
        field.begin += is_quoted;
        field.end -= is_quoted && !field.is_open;
        text_line_trim(line, &field.begin, &field.end);
        for (; field.begin < field.end && *wanted != '\0' && line[field.begin] == *wanted; wanted++)
            field.begin += (size_t)1 + (is_quoted && *wanted == '"'); /* a quote is doubled */
        if (field.begin >= field.end && *wanted == '\0')
            found = found == 0 ? i : -1;
    }
    return found;
}

bool record_copy_name(const struct text_rules *rules, const char *line, size_t bytes,
                      int32_t number, char **name)
{
    struct text_rules header = *rules;
    const size_t begin = record_begin_header(&header, line, bytes);
    struct text_field field;
    int32_t fields = 0;

    *name = NULL;
    for (size_t offset = begin;
         number < 0 && text_line_next(&header, line, bytes, &offset, &field);)
        fields++;
    number += number < 0 ? fields + 1 : 0;
    for (size_t offset = begin; text_line_next(&header, line, bytes, &offset, &field);) {
        if (--number != 0)
            continue;
        const bool is_quoted =
            header.is_quoted && field.begin < field.end && line[field.begin] == '"';
        field.begin += is_quoted;
        field.end -= is_quoted && !field.is_open;
        text_line_trim(line, &field.begin, &field.end);
        if (field.begin >= field.end)
            return true;
        char *end = *name = malloc(field.end - field.begin + 1);
        if (!end)
            return false;
        for (; field.begin < field.end; field.begin++) {
            *end++ = line[field.begin];
            field.begin += is_quoted && line[field.begin] == '"'; /* a quote is doubled */
        }
        *end = '\0';
        return true;
    }
    return true;
}

/* Sets the field number of a column; the first column is 0. */
static void record_set_field(struct text_rules *rules, size_t column, int32_t number)
{
    *(column == 0 ? &rules->field : &rules->more[column - 1]) = number;
}

const char *record_find_names(const struct record_format *format, const char *line, size_t bytes,
                              struct text_rules *rules, int32_t *number)
{
    bool is_whole[TEXT_COLUMNS_MAX] = {false}; /* the joined column's name is in the header */

    for (size_t i = 0; i < format->columns; i++) { /* halves are last */
        const size_t half = format->half[i];
        const char *name = format->names[i];
        *number = is_whole[i] ? 0
                  : name      ? record_find_name(&format->text, line, bytes, name)
                              : text_rules_field(&format->text, i);
        if (name && half > 0 && *number > 0)
            is_whole[half] = is_whole[half + 1] = true;
        if (name && !is_whole[i] && (*number < 0 || (*number == 0 && half == 0)))
            return name;
        record_set_field(rules, i, *number);
    }
    for (size_t i = 0; i < format->columns; i++) {
        if (format->half[i] > 0 && text_rules_field(rules, i) == 0)
            record_set_field(rules, i, text_rules_field(rules, format->half[i]));
    }
    return NULL;
}

bool record_has_same_columns(const struct record_format *format, const struct text_rules *rules,
                             const char *line, size_t bytes)
{
    struct text_rules header = format->text;
    struct text_rules found = *rules;
    int32_t number;

    record_begin_header(&header, line, bytes);
    return header.delimiter == rules->delimiter && header.columns == rules->columns &&
           !record_find_names(format, line, bytes, &found, &number) &&
           found.field == rules->field && memcmp(found.more, rules->more, sizeof found.more) == 0;
}
