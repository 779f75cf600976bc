/*
 * Quoted parts of CSV lines (RFC 4180), in blocks of 64 bytes. A part that begins with a quote ends
 * at the next quote that is not doubled; delimiters between the two do not separate parts. A line
 * has wrong quotes if a quote is anywhere else, or if a quoted part is still open at its end.
 *
 * The prefix XOR of the mask of quotes has a bit set for every byte between quotes: Langdale and
 * Lemire, "Parsing gigabytes of JSON per second", VLDB Journal 28, 2019. A chunk never begins
 * between quotes, because no part goes over the end of its line; so the state at its beginning need
 * not be guessed, as by Ge et al., "Speculative distributed CSV data parsing", SIGMOD 2019.
 *
 * Functions are pure and thread-safe. Some take the instruction set, as text_block.h says.
 */
#ifndef GPUHIST_TEXT_QUOTES_H
#define GPUHIST_TEXT_QUOTES_H

#include "text/text_block.h"

/* The state between two blocks. */
struct text_quotes {
    uint64_t begins; /* 1: a part may begin at the first byte */
    uint64_t closed; /* 1: the byte before the first is a quote that ends a part, or is doubled */
    uint64_t inside; /* all bits: the first byte is between quotes; else 0 */
};

/* The state at the start of a part. */
#define TEXT_QUOTES_NONE ((struct text_quotes){.begins = 1})

/*
 * Bit i is the XOR of bits 0 to i. A carry-less multiplication instead, which not all of the
 * instruction sets have, takes 2% off a run over a file full of quotes.
 */
TEXT_INLINE uint64_t text_quotes_prefix_xor(uint64_t bits)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

/*
 * Removes the delimiters between quotes from *separators. Returns a mask of the bytes at which a
 * line turns out to have wrong quotes. Only the first such byte of a line means anything, and the
 * results are undefined from there to the end of the text. `returns` are the carriage returns that
 * end lines.
 */
TEXT_INLINE uint64_t text_quotes_find(enum cpu_isa isa, const char *block, uint64_t newlines,
                                      uint64_t returns, uint64_t *separators,
                                      struct text_quotes *carry)
{
    const uint64_t quotes = text_block_equal(isa, block, '"');
    struct text_quotes before = *carry;

    *carry = (struct text_quotes){.begins = (newlines | *separators) >> 63};
    if (__builtin_expect((quotes | before.closed | before.inside) == 0, true))
        return 0;
    uint64_t inside = text_quotes_prefix_xor(quotes) ^ before.inside;
    uint64_t closing = quotes & ~inside;
    uint64_t behind = closing << 1 | before.closed;
    *separators &= ~inside;
    uint64_t breaks = newlines | *separators;
    uint64_t may_open = breaks << 1 | before.begins | behind;
    *carry = (struct text_quotes){
        .begins = breaks >> 63,
        .closed = closing >> 63,
        .inside = 0 - (inside >> 63),
    };
    return (quotes & inside & ~may_open) | (behind & ~(breaks | returns | quotes)) |
           (inside & newlines);
}

/*
 * Returns where the first part with wrong quotes begins. There must be one among the parts of
 * data[begin..end), which is the content of a line.
 */
static inline size_t text_quotes_find_wrong(const char *data, char delimiter, size_t begin,
                                            size_t end)
{
    for (size_t at = begin;; at = begin) {
        bool is_quoted = at < end && data[at] == '"';
        if (is_quoted) {
            do
                for (at++; at < end && data[at] != '"'; at++)
                    continue;
            while (++at < end && data[at] == '"');
        } else {
            while (at < end && data[at] != delimiter && data[at] != '"')
                at++;
        }
        if (at >= end || data[at] != delimiter)
            return begin;
        begin = at + 1;
    }
}

#endif
