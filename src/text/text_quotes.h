/*
 * Quoted parts of CSV (RFC 4180), in blocks of 64 bytes. A part that begins with a quote ends at
 * the next quote that is not doubled; delimiters and newlines between the two separate nothing. In
 * other parts quotes are ordinary bytes. A row has *wrong* quotes if something other than a
 * delimiter or the row's end follows a quoted part, or if blanks precede its first quote.
 *
 * The prefix XOR of the mask of quotes has a bit set for every byte between quotes: Langdale and
 * Lemire, "Parsing gigabytes of JSON per second", VLDB Journal 28, 2019. Ordinary quotes are
 * removed from the mask one by one; they are rare.
 *
 * Functions are pure and thread-safe. Some take the instruction set, as text_block.h says.
 */
#ifndef GPUHIST_TEXT_QUOTES_H
#define GPUHIST_TEXT_QUOTES_H

#include "text/text_block.h"

/* The state between two blocks. */
struct text_quotes {
    uint64_t begins; /* 1: a part may begin at the first byte */
    uint64_t closed; /* 1: the byte before the block is a quote that ends a part or is doubled */
    uint64_t inside; /* all bits set: the first byte is between quotes; else 0 */
};

/* The state at the start of a part. */
#define TEXT_QUOTES_NONE ((struct text_quotes){.begins = 1})

/* Masks of the bytes of a block where lines and fields end. */
struct text_ends {
    uint64_t newlines;
    uint64_t returns;    /* carriage returns before newlines, which also end a field */
    uint64_t separators; /* delimiters, or blanks between words */
    uint64_t wrong;      /* bytes that show that the row's quotes are wrong */
    uint64_t ordinary;   /* quotes that are ordinary bytes */
};

/*
 * Returns a word whose bit i is the XOR of bits 0 to i. A carry-less multiplication, which some of
 * the instruction sets lack, would take 2% off a run over a file full of quotes.
 */
TEXT_INLINE uint64_t text_quotes_prefix_xor(uint64_t bits)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

/* Returns whether data[begin..at) ends with blanks that begin a part. */
static inline bool text_quotes_follow_blanks(const char *data, char delimiter, size_t at)
{
    size_t i = at;

    while (i > 0 && (data[i - 1] == ' ' || data[i - 1] == '\t') && data[i - 1] != delimiter)
        i--;
    return i < at && (i == 0 || data[i - 1] == '\n' || data[i - 1] == delimiter);
}

/*
 * Removes what is between quotes from the ends of the block at data + at, and finds its wrong and
 * ordinary quotes. `block` are its bytes (text_block_at).
 */
TEXT_INLINE void text_quotes_find(enum cpu_isa isa, const char *data, size_t at, const char *block,
                                  char delimiter, struct text_ends *ends, struct text_quotes *carry)
{
    uint64_t quotes = text_block_equal(isa, block, '"');
    const struct text_quotes before = *carry;

    *carry = (struct text_quotes){.begins = (ends->newlines | ends->separators) >> 63};
    if (__builtin_expect((quotes | before.closed | before.inside) == 0, true))
        return;
    for (;;) {
        const uint64_t inside = text_quotes_prefix_xor(quotes) ^ before.inside;
        const uint64_t closing = quotes & ~inside;
        const uint64_t after = closing << 1 | before.closed;
        const uint64_t breaks = (ends->newlines | ends->separators) & ~inside;
        const uint64_t ordinary = quotes & inside & ~(breaks << 1 | before.begins | after);
        if (__builtin_expect(ordinary == 0, true)) {
            ends->newlines &= ~inside;
            ends->returns &= ~inside;
            ends->separators &= ~inside;
            ends->wrong |= after & ~(breaks | ends->returns | quotes);
            *carry = (struct text_quotes){
                .begins = breaks >> 63,
                .closed = closing >> 63,
                .inside = 0 - (inside >> 63),
            };
            return;
        }
        const uint64_t first = ordinary & -ordinary;
        quotes &= ~first;
        ends->ordinary |= first;
        if (text_quotes_follow_blanks(data, delimiter, at + text_block_first(first)))
            ends->wrong |= first;
    }
}

#endif
