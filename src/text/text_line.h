/*
 * Lines and their fields, in blocks of 64 bytes (text_block.h) and byte by byte, for the parsers.
 *
 * Functions are pure and thread-safe. Some take the instruction set, as text_block.h says.
 */
#ifndef GPUHIST_TEXT_LINE_H
#define GPUHIST_TEXT_LINE_H

#include "text/text_quotes.h"
#include "value/text_rules.h"

TEXT_INLINE bool text_line_is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* Trims the blanks at both ends of data[*begin..*end). */
TEXT_INLINE void text_line_trim(const char *data, size_t *begin, size_t *end)
{
    while (*begin < *end && text_line_is_blank(data[*begin]))
        ++*begin;
    while (*begin < *end && text_line_is_blank(data[*end - 1]))
        --*end;
}

/* Returns the end of a line's content, without a carriage return right before the newline. */
TEXT_INLINE size_t text_line_content_end(const char *data, size_t begin, size_t newline)
{
    return newline - (newline > begin && data[newline - 1] == '\r');
}

/* Returns whether data[begin..end) holds only blanks. */
TEXT_INLINE bool text_line_is_blanks(const char *data, size_t begin, size_t end)
{
    while (begin < end && text_line_is_blank(data[begin]))
        begin++;
    return begin == end;
}

/*
 * Finds where lines and fields end in the block of data[0..bytes) at `at`. `carry` is the state
 * from the block before, and for the next. If the data end inside quotes, the row also ends there,
 * and has wrong quotes.
 */
TEXT_INLINE struct text_ends text_line_find_ends(enum cpu_isa isa, bool is_quoted, const char *data,
                                                 size_t bytes, int delimiter, size_t at,
                                                 struct text_quotes *carry)
{
    char copy[TEXT_BLOCK];
    const char *block = text_block_at(data, bytes, at, copy);
    size_t next = at + TEXT_BLOCK;
    uint64_t newline_next = next >= bytes || data[next] == '\n';
    struct text_ends ends = {.newlines = text_block_equal(isa, block, '\n')};

    ends.returns = text_block_equal(isa, block, '\r') & (ends.newlines >> 1 | newline_next << 63);
    if (delimiter == TEXT_NO_DELIMITER)
        ends.separators = text_block_equal(isa, block, ' ') | text_block_equal(isa, block, '\t');
    else
        ends.separators = text_block_equal(isa, block, (char)delimiter) & ~ends.returns;
    if (is_quoted) {
        text_quotes_find(isa, data, at, block, (char)delimiter, &ends, carry);
        if (__builtin_expect(next > bytes && carry->inside, false)) {
            const uint64_t end = (uint64_t)1 << (bytes - at);
            ends.newlines |= end;
            ends.wrong |= end;
        }
    }
    return ends;
}

/* A field of a line. */
struct text_field {
    size_t begin;
    size_t end;
    bool is_wrong; /* its quotes are wrong (text_quotes.h) */
    bool is_open;  /* it begins with a quote that is never closed */
};

/*
 * Finds, byte by byte, the next field of a line's content line[0..bytes) at or after *offset, 0 at
 * first, and advances *offset. Returns false if there is none.
 */
static inline bool text_line_next(const struct text_rules *rules, const char *line, size_t bytes,
                                  size_t *offset, struct text_field *field)
{
    const bool by_blanks = rules->delimiter == TEXT_NO_DELIMITER;
    size_t i = *offset;

    while (by_blanks && i < bytes && text_line_is_blank(line[i]))
        i++;
    if (i >= bytes + !by_blanks)
        return false;
    *field = (struct text_field){.begin = i};
    if (rules->is_quoted && i < bytes && line[i] == '"') {
        do {
            for (i++; i < bytes && line[i] != '"'; i++)
                continue;
            field->is_open = i == bytes;
            i += i < bytes;
        } while (i < bytes && line[i] == '"');
        field->is_wrong = i < bytes && line[i] != (char)rules->delimiter;
    } else if (rules->is_quoted) {
        while (i < bytes && text_line_is_blank(line[i]) && line[i] != (char)rules->delimiter)
            i++;
        field->is_wrong = i > field->begin && i < bytes && line[i] == '"';
    }
    while (i < bytes &&
           !(by_blanks ? text_line_is_blank(line[i]) : line[i] == (char)rules->delimiter))
        i++;
    field->end = i;
    *offset = i + 1;
    return true;
}

/* Returns the start of the first field of data[begin..end) with wrong or open quotes. It exists. */
static inline size_t text_line_find_wrong(const struct text_rules *rules, const char *data,
                                          size_t begin, size_t end)
{
    struct text_field field = {.begin = 0};

    for (size_t offset = 0; text_line_next(rules, data + begin, end - begin, &offset, &field);) {
        if (field.is_wrong || field.is_open)
            return begin + field.begin;
    }
    return begin;
}

/*
 * Finds the n-th word from the end of the line content [*begin, *end), and stores its bounds there.
 * Returns false if there are fewer words.
 */
TEXT_INLINE bool text_line_find_last_word(const char *data, uint64_t n, size_t *begin, size_t *end)
{
    const size_t line = *begin;

    *begin = *end;
    do {
        *end = *begin;
        while (*end > line && text_line_is_blank(data[*end - 1]))
            --*end;
        *begin = *end;
        while (*begin > line && !text_line_is_blank(data[*begin - 1]))
            --*begin;
    } while (*begin < *end && --n > 0);
    return *begin < *end;
}

/* Like text_line_find_last_word, but for delimited parts. Quotes may only enclose a part. */
TEXT_INLINE bool text_line_find_last_part(const char *data, bool is_quoted, char delimiter,
                                          uint64_t n, size_t *begin, size_t *end)
{
    const size_t line = *begin;

    *begin = *end;
    for (;;) {
        bool is_inside = false;
        while (*begin > line && (data[*begin - 1] != delimiter || is_inside))
            is_inside ^= data[--*begin] == '"' && is_quoted;
        if (--n == 0)
            return true;
        if (*begin == line)
            return false;
        *end = --*begin;
    }
}

/*
 * Like text_line_find_last_part, but parts may have ordinary quotes. It reads the line from its
 * start.
 */
static inline bool text_line_find_last_slowly(const struct text_rules *rules, const char *data,
                                              uint64_t n, size_t *begin, size_t *end)
{
    const char *line = data + *begin;
    const size_t bytes = *end - *begin;
    struct text_field field = {.begin = 0};
    uint64_t fields = 0;

    for (size_t offset = 0; text_line_next(rules, line, bytes, &offset, &field);)
        fields++;
    if (fields < n)
        return false;
    size_t offset = 0;
    for (uint64_t i = 0; i <= fields - n; i++)
        text_line_next(rules, line, bytes, &offset, &field);
    *end = *begin + field.end;
    *begin += field.begin;
    return true;
}

/*
 * Calls the function above that suits the column's field. `has_ordinary`: the line has ordinary
 * quotes.
 */
TEXT_INLINE bool text_line_find_last(const char *data, const struct text_rules *rules,
                                     bool is_quoted, bool has_ordinary, size_t *begin, size_t *end)
{
    uint64_t n = (uint64_t) - (int64_t)rules->field;

    if (rules->delimiter == TEXT_NO_DELIMITER)
        return text_line_find_last_word(data, n, begin, end);
    if (is_quoted && __builtin_expect(has_ordinary, false))
        return text_line_find_last_slowly(rules, data, n, begin, end);
    return text_line_find_last_part(data, is_quoted, (char)rules->delimiter, n, begin, end);
}

/* Returns the index of the set bit that has `rank` set bits below it. */
TEXT_INLINE unsigned text_line_select(uint64_t mask, uint64_t rank)
{
    while (rank-- > 0)
        mask &= mask - 1;
    return text_block_first(mask);
}

#endif
