/* Where text may be cut into chunks, and lines that are longer than a chunk. */
#include "config.h"

#include "input/record.h"

#include <string.h>

/* Digits that are kept of a value: more than any has. */
#define RECORD_DIGITS 40

static bool record_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool record_is_end(const struct record_format *format, char c)
{
    return c == '\n' || (record_is_space(c) && text_is_of_tokens(&format->text));
}

size_t record_cut(const struct record_format *format, const char *data, size_t known, size_t bytes)
{
    size_t end = bytes;

    if (!format->is_text)
        return bytes - bytes % format->element_bytes;
    while (end > known && !record_is_end(format, data[end - 1]))
        end--;
    return end > known ? end : 0;
}

static bool record_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool record_is_digit(const struct text_rules *rules, char c)
{
    bool is_letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');

    return (c >= '0' && c <= '9') || (rules->notation == TEXT_HEX && is_letter);
}

/* Whether a part that begins or ends with this character stands for the same if its line does. */
static bool record_is_solid(char c)
{
    return !record_is_blank(c) && c != '\r';
}

/* A part of a line, as fields are told apart. */
struct record_part {
    size_t begin;
    size_t end;
    bool is_complete; /* a separator follows */
    bool is_open;     /* it ends between quotes */
    bool is_wrong;    /* a quote is at a wrong place, or another byte follows the last quote */
};

/* Finds the end of a part that may be quoted. */
static void record_end_quoted(const char *data, size_t bytes, char delimiter,
                              struct record_part *part)
{
    for (; part->end < bytes && (part->is_open || data[part->end] != delimiter); part->end++) {
        bool is_quote = data[part->end] == '"';
        bool is_behind = part->end > part->begin && data[part->end - 1] == '"';
        bool is_first = part->end == part->begin;
        part->is_wrong |= !part->is_open && !is_first && is_quote != is_behind;
        part->is_open ^= is_quote;
    }
}

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
    if (rules->is_quoted)
        record_end_quoted(data, bytes, (char)rules->delimiter, part);
    while (
        !rules->is_quoted && part->end < bytes &&
        (by_blanks ? !record_is_blank(data[part->end]) : data[part->end] != (char)rules->delimiter))
        part->end++;
    part->is_complete = part->end < bytes;
    *offset = part->end + 1;
    return true;
}

/* As record_split, for parts that may be quoted. */
static size_t record_split_quoted(const struct text_rules *rules, const char *data, size_t bytes)
{
    struct record_part part;
    size_t offset = 0;
    size_t split = 0;

    while (record_next_part(rules, data, bytes, &offset, &part) && !part.is_wrong) {
        if (offset >= 2 && offset < bytes && record_is_solid(data[offset]) &&
            record_is_solid(data[offset - 2]))
            split = offset;
    }
    return split;
}

size_t record_split(const struct text_rules *rules, char *data, size_t bytes)
{
    if (rules->field != 0 || rules->delimiter == TEXT_NO_DELIMITER)
        return 0;
    size_t next = rules->is_quoted ? record_split_quoted(rules, data, bytes) : bytes - 1;
    for (; next >= 2; next--) {
        if (data[next - 1] == (char)rules->delimiter && record_is_solid(data[next]) &&
            record_is_solid(data[next - 2])) {
            data[next - 1] = '\n';
            return next;
        }
    }
    return 0;
}

/*
 * The offset of the digits from `from` on without leading zeros. Of hexadecimal digits one zero is
 * left, so that an x that follows a single zero does not look like a prefix.
 */
static size_t record_skip_zeros(const struct text_rules *rules, const char *value, size_t from,
                                size_t bytes)
{
    const size_t begin = from;

    while (from + 1 < bytes && value[from] == '0' && record_is_digit(rules, value[from + 1]))
        from++;
    return from - (from > begin && rules->notation == TEXT_HEX);
}

/*
 * Appends decimals to value[0..*to): no more than any value has, and a 1 for those behind if they
 * are not all zeros. Returns how many decimals there are.
 */
static size_t record_squeeze_decimals(const struct text_rules *rules, const char *decimals,
                                      size_t bytes, char *value, size_t *to)
{
    size_t from = 0;
    bool is_more = false;

    for (; from < bytes && record_is_digit(rules, decimals[from]); from++) {
        if (from < RECORD_DIGITS)
            value[(*to)++] = decimals[from];
        is_more = is_more || (from >= RECORD_DIGITS && decimals[from] != '0');
    }
    if (is_more)
        value[(*to)++] = '1';
    return from;
}

/*
 * Shortens what stands for a value to what is known of it: blanks, a sign, a prefix, digits without
 * leading zeros and no more than any value has, blanks, and the first character that does not
 * belong there.
 */
static size_t record_squeeze_value(const struct text_rules *rules, char *value, size_t bytes)
{
    size_t from = 0;
    size_t to = 0;

    while (from + 1 < bytes && record_is_blank(value[from]))
        from++;
    if (from < bytes && (value[from] == '+' || value[from] == '-'))
        value[to++] = value[from++];
    if (rules->notation == TEXT_HEX && from + 1 < bytes && value[from] == '0' &&
        (value[from + 1] == 'x' || value[from + 1] == 'X')) {
        value[to++] = value[from++];
        value[to++] = value[from++];
    }
    from = record_skip_zeros(rules, value, from, bytes);
    for (; from < bytes && record_is_digit(rules, value[from]); from++) {
        if (to < RECORD_DIGITS)
            value[to++] = value[from];
    }
    if (rules->notation == TEXT_FIXED && from < bytes && value[from] == '.') {
        value[to++] = value[from++];
        from += record_squeeze_decimals(rules, value + from, bytes - from, value, &to);
    }
    if (from < bytes && record_is_blank(value[from]))
        value[to++] = value[from++];
    while (from < bytes && record_is_blank(value[from]))
        from++;
    if (from < bytes)
        value[to++] = value[from];
    return to;
}

/* Returns the part without the blanks at its ends. */
static struct record_part record_trim(const char *data, struct record_part part)
{
    while (part.begin < part.end && record_is_blank(data[part.begin]))
        part.begin++;
    while (part.begin < part.end && record_is_blank(data[part.end - 1]))
        part.end--;
    return part;
}

/* Whether a part of a header line is this name. */
static bool record_is_name(const struct text_rules *rules, const char *data,
                           struct record_part part, const char *name)
{
    bool is_quoted = rules->is_quoted && part.begin < part.end && data[part.begin] == '"';

    part.begin += is_quoted;
    part.end -= is_quoted && !part.is_open;
    part = record_trim(data, part);
    while (part.begin < part.end && *name != '\0' && data[part.begin] == *name) {
        part.begin += (size_t)1 + (is_quoted && *name == '"'); /* it is doubled */
        name++;
    }
    return part.begin >= part.end && *name == '\0';
}

size_t record_begin_header(struct text_rules *rules, const char *line, size_t bytes)
{
    static const char mark[] = "\xef\xbb\xbf";
    static const char *const words[] = {"Fields:", "fields"};
    const bool by_blanks = rules->delimiter == TEXT_NO_DELIMITER;
    size_t begin = bytes >= 3 && memcmp(line, mark, 3) == 0 ? 3 : 0;
    size_t end = bytes;
    struct record_part part;
    bool is_name = false; /* the '#' is one, before a delimiter */

    rules->columns = 0;
    if (begin < end && line[begin] == '#') {
        size_t next = begin + 1;
        const char behind = next < end ? line[next] : ' ';
        is_name = by_blanks ? behind == '\t' : behind == (char)rules->delimiter && behind != ' ';
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            const size_t length = strlen(words[i]);
            if (end - next >= length && memcmp(line + next, words[i], length) == 0 &&
                (end - next == length || record_is_blank(line[next + length])))
                next += length + (end - next > length);
        }
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

/* The parts of a line that may be wanted, counted from 1: up to `head`, and from `tail` on. */
struct record_wanted {
    size_t head;
    size_t tail; /* SIZE_MAX: none is counted from the end of the line */
};

static struct record_wanted record_find_wanted(const struct text_rules *rules, const char *data,
                                               size_t bytes)
{
    const int64_t fields[] = {rules->field,
                              rules->second_field ? rules->second_field : rules->field};
    struct record_wanted wanted = {.tail = rules->field == 0 ? 1 : SIZE_MAX};
    struct record_part part;
    size_t offset = 0;
    size_t parts = 0;
    size_t last = 0; /* they count, and the one that is growing */

    if (rules->columns > 0) /* one more says that there are too many */
        wanted.head = (size_t)rules->columns + 1;
    for (size_t i = 0; i < 2; i++) {
        if (fields[i] > 0 && (size_t)fields[i] > wanted.head)
            wanted.head = (size_t)fields[i];
        if (fields[i] < 0 && (size_t)-fields[i] > last)
            last = (size_t)-fields[i];
    }
    while (last > 0 && record_next_part(rules, data, bytes, &offset, &part))
        parts++;
    if (last > 0)
        wanted.tail = parts > last + 1 ? parts - last : 1;
    return wanted;
}

/*
 * Of a line whose n-th part is wanted: parts before it are of no matter, but count; those behind it
 * do not even count. But the line must not become blank if it is not: where parts were dropped, an
 * x stands for them, in a part that is not wanted, whatever follows. Of two wanted parts, the
 * shortened numbers of the first's notation are also those of decimal integers.
 */
static size_t record_squeeze_line(const struct text_rules *rules, char *data, size_t bytes)
{
    const char separator = rules->delimiter == TEXT_NO_DELIMITER ? ' ' : (char)rules->delimiter;
    const struct record_wanted wanted = record_find_wanted(rules, data, bytes);
    struct record_part part;
    size_t offset = 0;
    size_t to = 0;
    bool dropped = false;

    for (size_t i = 1; record_next_part(rules, data, bytes, &offset, &part); i++) {
        size_t length = part.end - part.begin;
        if (i > wanted.head && i < wanted.tail) {
            part = record_trim(data, part);
            dropped = dropped || part.begin < part.end;
            continue;
        }
        const bool is_counted = rules->columns > 0 && part.is_complete && i < wanted.tail &&
                                i != (size_t)rules->field && i != (size_t)rules->second_field;
        if (is_counted || (i == wanted.tail && dropped)) {
            data[to++] = 'x';
        } else {
            memmove(data + to, data + part.begin, length);
            to += record_squeeze_value(rules, data + to, length);
        }
        if (part.is_complete)
            data[to++] = separator;
    }
    if (wanted.tail == SIZE_MAX && dropped)
        data[to++] = 'x';
    return to;
}

/*
 * The same for a line with quoted parts: keeps all parts, each shortened like a value. From the
 * first part with wrong quotes on, only the fact that they are wrong is kept.
 */
static size_t record_squeeze_quoted(const struct text_rules *rules, char *data, size_t bytes)
{
    bool has_return = bytes > 0 && data[bytes - 1] == '\r'; /* may belong to the line's end */
    struct record_part part;
    size_t offset = 0;
    size_t to = 0;

    while (record_next_part(rules, data, bytes - has_return, &offset, &part)) {
        if (part.is_wrong) {
            data[to++] = '0'; /* which is no delimiter */
            data[to++] = '"';
            return to;
        }
        bool is_quoted = part.begin < part.end && data[part.begin] == '"';
        size_t length = part.end - part.begin - (is_quoted && !part.is_open);
        char *value = data + to;
        memmove(value, data + part.begin, length);
        to += is_quoted + record_squeeze_value(rules, value + is_quoted, length - is_quoted);
        if (is_quoted && data + to > value + 1 && data[to - 1] == '"')
            data[to - 1] = 'x'; /* half of a doubled one */
        if (is_quoted && !part.is_open)
            data[to++] = '"';
        if (part.is_complete)
            data[to++] = (char)rules->delimiter;
    }
    if (has_return)
        data[to++] = '\r';
    return to;
}

size_t record_squeeze(const struct text_rules *rules, char *data, size_t bytes)
{
    if (rules->is_quoted)
        return record_squeeze_quoted(rules, data, bytes);
    return text_is_of_tokens(rules) ? record_squeeze_value(rules, data, bytes)
                                    : record_squeeze_line(rules, data, bytes);
}
