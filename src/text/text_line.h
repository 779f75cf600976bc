/*
 * Lines and their fields, in blocks of 64 bytes (text_block.h) and byte by byte, for the parsers.
 *
 * Functions are pure and thread-safe. Some take the instruction set, as text_block.h says.
 */
#ifndef GPUHIST_TEXT_LINE_H
#define GPUHIST_TEXT_LINE_H

#include "job/text_rules.h"
#include "text/text_quotes.h"

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

/* The end of a line's content: without the carriage return before the newline, if there is one. */
TEXT_INLINE size_t text_line_content_end(const char *data, size_t begin, size_t newline)
{
    return newline - (newline > begin && data[newline - 1] == '\r');
}

/* Whether data[begin..end) holds only blanks. */
TEXT_INLINE bool text_line_is_blanks(const char *data, size_t begin, size_t end)
{
    while (begin < end && text_line_is_blank(data[begin]))
        begin++;
    return begin == end;
}

/* Masks of the bytes of a block where lines and fields end. */
struct text_ends {
    uint64_t newlines;
    uint64_t returns;    /* carriage returns before newlines: they end a field, too */
    uint64_t separators; /* delimiters, or blanks between words */
    uint64_t wrong;      /* bytes that show wrong quotes (text_quotes.h) */
};

/* Finds them in the block of data[0..bytes) at `at`. `carry`: from the block before to the next. */
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
    if (is_quoted)
        ends.wrong =
            text_quotes_find(isa, block, ends.newlines, ends.returns, &ends.separators, carry);
    return ends;
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

/* The same for parts between delimiters. The line has no wrong quotes. */
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

/* The same for a column's field, a word or a part. */
TEXT_INLINE bool text_line_find_last(const char *data, const struct text_rules *rules,
                                     bool is_quoted, size_t *begin, size_t *end)
{
    uint64_t n = (uint64_t) - (int64_t)rules->field;

    if (rules->delimiter == TEXT_NO_DELIMITER)
        return text_line_find_last_word(data, n, begin, end);
    return text_line_find_last_part(data, is_quoted, (char)rules->delimiter, n, begin, end);
}

/* The index of the set bit that has `rank` set bits below it. */
TEXT_INLINE unsigned text_line_select(uint64_t mask, uint64_t rank)
{
    while (rank-- > 0)
        mask &= mask - 1;
    return text_block_first(mask);
}

#endif
