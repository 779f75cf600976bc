/*
 * Every token of a text: the words between white space, wherever lines end.
 *
 * The masks of a block say where words begin and end; each word is then converted without a branch
 * that depends on its length. GB/s on one core, and nanoseconds a number, from L2: lines of 7
 * digits AVX-512 2.3 and 3.5, AVX2 2.4 and 3.4, plain 1.2 and 6.4; of 9 digits and mostly 10
 * bytes 2.7 and 3.7, 2.9 and 3.4, 1.2 and 8.3; of one digit 0.7 and 2.9, 0.7 and 2.9, 0.4 and 4.8.
 * What is invalid ends a call, which takes some 15 nanoseconds.
 */
#include "config.h"

#include "text/text_internal.h"
#include "text/text_number.h"

/* The words in a block: where they begin, and the white space that they end before. */
struct text_words {
    uint64_t begins;
    uint64_t ends;
    bool inside; /* the block ends inside a word */
};

TEXT_INLINE struct text_words text_tokens_find(enum cpu_isa isa, const char *block, bool inside)
{
    uint64_t white = text_block_white(isa, block);
    uint64_t before = white << 1 | !inside;
    return (struct text_words){~white & before, white & ~before, !(white >> 63)};
}

/* The lowest bit of *mask as a place in the text, and the bit cleared; anything if there is none.
 */
TEXT_INLINE size_t text_tokens_next(size_t at, uint64_t *mask)
{
    size_t place = at + text_block_first(*mask | (uint64_t)1 << 63);
    *mask &= *mask - 1;
    return place;
}

/* For each type, the loop. */
#define TEXT_TOKENS_DEFINE(id, name, ctype)                                                       \
    TEXT_INLINE enum text_event text_tokens_##name(enum cpu_isa isa, const char *data,            \
                                                   size_t bytes, size_t *offset, void *values,    \
                                                   size_t room, size_t *count,                    \
                                                   struct text_token *invalid)                    \
    {                                                                                             \
        char copy[TEXT_BLOCK];                                                                    \
        struct text_words words = {.inside = false};                                              \
        size_t begin = *offset;                                                                   \
        size_t stored = 0;                                                                        \
        enum text_event event = TEXT_END;                                                         \
        for (size_t at = *offset; at < bytes || words.inside; at += TEXT_BLOCK) {                 \
            bool inside = words.inside;                                                           \
            words = text_tokens_find(isa, text_block_at(data, bytes, at, copy), inside);          \
            begin = inside ? begin : text_tokens_next(at, &words.begins);                         \
            while (words.ends) {                                                                  \
                size_t end = text_tokens_next(at, &words.ends);                                   \
                struct text_number number;                                                        \
                if (__builtin_expect(stored == room, false)) {                                    \
                    event = TEXT_FULL;                                                            \
                    goto stop;                                                                    \
                }                                                                                 \
                bool valid = text_number_read(isa, data, begin, end, &number);                    \
                uint64_t limit =                                                                  \
                    number.is_negative ? TEXT_NUMBER_MIN(ctype) : TEXT_NUMBER_MAX(ctype);         \
                if (__builtin_expect(!valid || number.magnitude > limit, false)) {                \
                    *invalid = (struct text_token){begin, end - begin};                           \
                    begin = end;                                                                  \
                    event = TEXT_INVALID;                                                         \
                    goto stop;                                                                    \
                }                                                                                 \
                ctype value = (ctype)(number.is_negative ? -number.magnitude : number.magnitude); \
                memcpy((char *)values + stored++ * sizeof value, &value, sizeof value);           \
                begin = text_tokens_next(at, &words.begins);                                      \
            }                                                                                     \
        }                                                                                         \
        begin = bytes;                                                                            \
    stop:                                                                                         \
        *offset = begin;                                                                          \
        *count = stored;                                                                          \
        return event;                                                                             \
    }
ELEMENT_TYPES(TEXT_TOKENS_DEFINE)

/* Wrapped for each instruction set, and the table of them. */
#define TEXT_TOKENS_WRAP(isa, target, name)                                                        \
    target TEXT_FLATTEN static enum text_event text_tokens_##name##_##isa(                         \
        const struct text_rules *rules, const char *data, size_t bytes, size_t *offset,            \
        void *values, size_t room, size_t *count, struct text_token *invalid)                      \
    {                                                                                              \
        (void)rules;                                                                               \
        return text_tokens_##name((enum cpu_isa)TEXT_ISA_##isa, data, bytes, offset, values, room, \
                                  count, invalid);                                                 \
    }
#define TEXT_TOKENS_WRAP_ALL(id, name, ctype) CPU_ISA_VARIANTS(TEXT_TOKENS_WRAP, name)
ELEMENT_TYPES(TEXT_TOKENS_WRAP_ALL)

#define TEXT_TOKENS_ENTRY(isa, target, name) text_tokens_##name##_##isa,
#define TEXT_TOKENS_ROW(id, name, ctype) \
    [ELEMENT_##id] = {CPU_ISA_VARIANTS(TEXT_TOKENS_ENTRY, name)},

text_parse_function *text_tokens_choose(enum cpu_isa isa, enum element_type type)
{
    static text_parse_function *const functions[ELEMENT_TYPE_COUNT][CPU_ISA_COUNT] = {
        ELEMENT_TYPES(TEXT_TOKENS_ROW)};
    return functions[type][isa];
}
