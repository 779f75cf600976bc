/* Where text may be cut into chunks, and the names in a header line. */
#include "config.h"

#include "input/record.h"

#include <string.h>

size_t record_cut(const struct record_format *format, const char *data, size_t known, size_t bytes,
                  enum text_scan_state *state)
{
    const bool has_lines = record_has_lines(format);
    size_t end = bytes;

    if (!format->is_text)
        return bytes - bytes % format->element_bytes;
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

static bool record_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* A part of a line, as fields are told apart. */
struct record_part {
    size_t begin;
    size_t end;
    bool is_open; /* it ends between quotes */
};

/* The part from `offset` on, if there is one. */
static bool record_next_part(const struct text_rules *rules, const char *data, size_t bytes,
                             size_t *offset, struct record_part *part)
{
    bool by_blanks = rules->delimiter == TEXT_NO_DELIMITER;

    while (by_blanks && *offset < bytes && record_is_blank(data[*offset]))
        ++*offset;
    if (*offset >= bytes + !by_blanks)
        return false;
    *part = (struct record_part){.begin = *offset, .end = *offset};
    for (; part->end < bytes; part->end++) {
        const char c = data[part->end];
        if (!part->is_open && (by_blanks ? record_is_blank(c) : c == (char)rules->delimiter))
            break;
        part->is_open ^= rules->is_quoted && c == '"';
    }
    *offset = part->end + 1;
    return true;
}

/* Whether a part of a header line is this name. */
static bool record_is_name(const struct text_rules *rules, const char *data,
                           struct record_part part, const char *name)
{
    bool is_quoted = rules->is_quoted && part.begin < part.end && data[part.begin] == '"';

    part.begin += is_quoted;
    part.end -= is_quoted && !part.is_open;
    while (part.begin < part.end && record_is_blank(data[part.begin]))
        part.begin++;
    while (part.begin < part.end && record_is_blank(data[part.end - 1]))
        part.end--;
    while (part.begin < part.end && *name != '\0' && data[part.begin] == *name) {
        part.begin += (size_t)1 + (is_quoted && *name == '"'); /* it is doubled */
        name++;
    }
    return part.begin >= part.end && *name == '\0';
}

/* The length of the word of a W3C or a Zeek log after the '#' of line[0..bytes), and a blank. */
static size_t record_columns_word(const char *line, size_t bytes)
{
    static const char *const words[] = {"Fields:", "fields"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i]);
        if (bytes >= 1 + length && memcmp(line + 1, words[i], length) == 0 &&
            (bytes == 1 + length || record_is_blank(line[1 + length])))
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
    static const char mark[] = "\xef\xbb\xbf";
    const bool by_blanks = rules->delimiter == TEXT_NO_DELIMITER;
    size_t begin = bytes >= 3 && memcmp(line, mark, 3) == 0 ? 3 : 0;
    size_t end = bytes;
    struct record_part part;
    bool is_name = false; /* the '#' is one, before a delimiter */

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
    for (size_t i = begin; i < end && record_is_blank(line[end - 1]);)
        end--;
    if (begin < end && memchr(line + begin, '\t', end - begin))
        rules->delimiter = '\t';
    if (rules->delimiter == '\t' && !is_name)
        return begin;
    for (size_t offset = begin; record_next_part(rules, line, bytes, &offset, &part);)
        rules->columns++;
    return begin;
}

int32_t record_find_name(const struct text_rules *rules, const char *line, size_t bytes,
                         const char *name)
{
    struct text_rules header = *rules;
    size_t offset = record_begin_header(&header, line, bytes);
    const bool has_mark = offset > 0 && line[offset - 1] == '#';
    struct record_part part;
    int32_t found = 0;

    for (int32_t i = 1; record_next_part(&header, line, bytes, &offset, &part); i++) {
        const char *wanted = name + (i == 1 && has_mark && *name == '#');
        if (record_is_name(&header, line, part, wanted))
            found = found == 0 ? i : -1;
    }
    return found;
}
