/*
 * Parses every token of a text, one at a time. Tokens are the words between white space.
 *
 * The masks of a block have the places where words begin and end. Converting a word takes no branch
 * that depends on its length. An invalid token ends the call, which costs about 15 ns. GB/s and
 * nanoseconds per number on one core, data in L2:
 *
 *   digits/line     AVX-512     AVX2       plain
 *   1               0.7  2.9    0.7  2.9   0.4  4.8
 *   7               2.3  3.5    2.4  3.4   1.2  6.4
 *   9, mostly       2.7  3.7    2.9  3.4   1.2  8.3
 */
#include "config.h"

#include "text/text_internal.h"
#include "text/text_number.h"

/* The places where words begin and end in a block. */
struct text_words {
    uint64_t begins; /* the first byte of each word */
    uint64_t ends;   /* the byte after each word */
    bool inside;     /* the block ends inside a word */
};

TEXT_INLINE struct text_words text_tokens_find(enum cpu_isa isa, const char *block, bool inside)
{
    uint64_t white = text_block_white(isa, block);
    uint64_t before = white << 1 | !inside;
    return (struct text_words){~white & before, white & ~before, !(white >> 63)};
}

/*
 * Clears the lowest set bit of *mask, and returns its offset in the text; any offset for 0.
 */
TEXT_INLINE size_t text_tokens_next(size_t at, uint64_t *mask)
{
    size_t place = at + text_block_first(*mask | (uint64_t)1 << 63);
    *mask &= *mask - 1;
    return place;
}

/* Stores the word data[begin..end) as an element. Returns false if it is not valid for the type. */
TEXT_INLINE bool text_tokens_store(enum cpu_isa isa, const struct text_rules *rules,
                                   const struct text_number_limits *limits, const char *data,
                                   size_t begin, size_t end, char *place)
{
    struct text_number number;
    bool valid = text_number_read(isa, rules, data, begin, end, &number);
    uint64_t limit = number.is_negative ? limits->magnitude[true] : limits->magnitude[false];

    if (__builtin_expect(!valid || number.magnitude > limit, false))
        return false;
    element_store(place, number.is_negative ? -number.magnitude : number.magnitude, limits->bytes);
    return true;
}

/* A text_parse_function for a constant instruction set and type, and rules that may be constant. */
TEXT_INLINE enum text_event text_tokens_loop(enum cpu_isa isa, struct text_number_limits limits,
                                             const struct text_rules *rules,
                                             struct text_cursor *text)
{
    const char *data = text->data;
    const size_t bytes = text->bytes;
    const size_t capacity = text->capacity;
    char *values = text->values;
    char copy[TEXT_BLOCK];
    struct text_words words = {.inside = false};
    size_t begin = text->offset;
    size_t stored = 0;
    enum text_event event = TEXT_END;

    for (size_t at = begin; at < bytes || words.inside; at += TEXT_BLOCK) {
        bool inside = words.inside;
        words = text_tokens_find(isa, text_block_at(data, bytes, at, copy), inside);
        begin = inside ? begin : text_tokens_next(at, &words.begins);
        while (words.ends) {
            size_t end = text_tokens_next(at, &words.ends);
            if (__builtin_expect(stored == capacity, false)) {
                event = TEXT_FULL;
                goto stop;
            }
            if (!text_tokens_store(isa, rules, &limits, data, begin, end,
                                   values + stored * limits.bytes)) {
                text->invalid = (struct text_token){.offset = begin, .bytes = end - begin};
                begin = end;
                event = TEXT_INVALID;
                goto stop;
            }
            stored++;
            begin = text_tokens_next(at, &words.begins);
        }
    }
    begin = bytes;
stop:
    text->offset = begin;
    text->count = stored;
    return event;
}

/*
 * Parses other notations than integers in an instruction set. Not inlined for each type: the code
 * would be twice as large.
 */
#define TEXT_TOKENS_OTHER(isa, target, name)                                              \
    target TEXT_FLATTEN __attribute__((                                                   \
        noinline)) static enum text_event name##_##isa(struct text_number_limits limits,  \
                                                       struct text_cursor *text)          \
    {                                                                                     \
        const struct text_rules fixed = {.notation = TEXT_FIXED,                          \
                                         .decimals = text->rules->decimals,               \
                                         .is_rounded = text->rules->is_rounded};          \
        if (text->rules->notation == TEXT_FIXED)                                          \
            return text_tokens_loop((enum cpu_isa)TEXT_ISA_##isa, limits, &fixed, text);  \
        return text_tokens_loop((enum cpu_isa)TEXT_ISA_##isa, limits, text->rules, text); \
    }
CPU_ISA_VARIANTS(TEXT_TOKENS_OTHER, text_tokens_other)

static const struct text_rules text_tokens_integers = {.notation = TEXT_INTEGERS};

/* A text_parse_function. The rules of integers are a constant: testing them would take 4%. */
#define TEXT_TOKENS_PARSE(isa, other, limits, text)                  \
    (text)->rules->notation == TEXT_INTEGERS                         \
        ? text_tokens_loop(isa, limits, &text_tokens_integers, text) \
        : other(limits, text)

/* The functions for each type and instruction set, and their table. */
#define TEXT_TOKENS_WRAP(isa, target, id, name, ctype)                                    \
    TEXT_PARSE_DEFINE(text_tokens_##name##_##isa, target TEXT_FLATTEN, TEXT_TOKENS_PARSE, \
                      (enum cpu_isa)TEXT_ISA_##isa, text_tokens_other_##isa,              \
                      text_number_limits(ELEMENT_OF(id, name, ctype)))
#define TEXT_TOKENS_DEFINE(id, name, ctype) CPU_ISA_VARIANTS(TEXT_TOKENS_WRAP, id, name, ctype)
ELEMENT_TYPES(TEXT_TOKENS_DEFINE)

#define TEXT_TOKENS_ENTRY(isa, target, name) text_tokens_##name##_##isa,
#define TEXT_TOKENS_ROW(id, name, ctype) \
    [ELEMENT_##id] = {CPU_ISA_VARIANTS(TEXT_TOKENS_ENTRY, name)},

text_parse_function *text_tokens_choose(enum cpu_isa isa, enum element_type type)
{
    static text_parse_function *const functions[ELEMENT_TYPE_COUNT][CPU_ISA_COUNT] = {
        ELEMENT_TYPES(TEXT_TOKENS_ROW)};
    return functions[type][isa];
}
