/*
 * Parses every token of a text, eight at a time: one in each 64-bit lane of a register.
 *
 * A block of 64 bytes is loaded at the first byte after the words parsed before. Masks have the
 * places where words begin and end in it. Their offsets are compressed out of the masks and spread
 * over the lanes, the digits of each word are permuted to the end of its lane, and neighbours are
 * joined, like in text_number.h. Mula, "SIMD-ized parsing of series of integers" (2018), also turns
 * the mask of separators into a permutation, with a table of patterns; VBMI2 needs no table.
 *
 * The parser of one token at a time (text_tokens.c) takes the rest: words that are not numbers,
 * values that are or may be out of range, and the last bytes of the text.
 *
 * Nanoseconds per number on one core, data in L2:
 *
 *   digits per line                here   one at a time
 *   1                               0.6             2.9
 *   7 to 8, signed or not           1.2             3.6
 *   any 64-bit value                4.4            13.7
 *   every eighth number too long    7.3             5.5
 *
 * Numbers with a point (TEXT_FIXED): the points are compressed out of the block and the masks, so
 * that the digits of a word are adjacent. The end of a word is moved by the decimal places that it
 * lacks, and the digits there count as 0.
 */
#include "config.h"

#include "text/text_block.h"
#include "text/text_internal.h"
#include "text/text_number.h"

#if defined(__x86_64__)

#define TEXT_LANES        8
#define TEXT_LANES_DIGITS 20 /* maximum number of digits of a word */

/* Maximum number of values that one block stores, in whole registers. */
#define TEXT_LANES_ROOM (TEXT_BLOCK / 2)

#define TEXT_LANES_INLINE CPU_ISA_TARGET_AVX512VBMI2 TEXT_INLINE

/*
 * Constants that stay in registers. GCC 12 would build those that repeat one number again for each
 * block, at 1.5 cycles each.
 */
#define TEXT_LANES_CONSTANTS(X)              \
    X(tab, _mm512_set1_epi8('\t'))           \
    X(whites, _mm512_set1_epi8('\r' - '\t')) \
    X(space, _mm512_set1_epi8(' '))          \
    X(zero, _mm512_set1_epi8('0'))           \
    X(nine, _mm512_set1_epi8(9))             \
    X(eight, _mm512_set1_epi8(8))            \
    X(sixteen, _mm512_set1_epi8(16))         \
    X(most, _mm512_set1_epi64((long long)most))

struct text_lanes_constants {
#define TEXT_LANES_MEMBER(name, value) __m512i name;
    TEXT_LANES_CONSTANTS(TEXT_LANES_MEMBER)
#undef TEXT_LANES_MEMBER
};

TEXT_LANES_INLINE struct text_lanes_constants text_lanes_make_constants(uint64_t most)
{
    struct text_lanes_constants made;

#define TEXT_LANES_KEEP(name, value) \
    made.name = value;               \
    __asm__("" : "+v"(made.name)); /* hides the value from the compiler */
    TEXT_LANES_CONSTANTS(TEXT_LANES_KEEP)
#undef TEXT_LANES_KEEP
    return made;
}

/* The words that end in a block. */
struct text_lanes_words {
    __m512i bytes;     /* the block, without points */
    uint64_t begins;   /* the first digit of each word */
    uint64_t ends;     /* the byte after each word */
    uint64_t negative; /* one bit for each word */
    size_t taken;      /* length of the text up to the end of the last word */
    uint64_t stops;    /* with points, in the original block: the point of each word or its end */
    uint64_t tails;    /* with points, in the original block: the byte after each word */
};

/*
 * Removes the signs from the words. `others` are the bytes that are neither digits nor white space.
 * Returns false if one of these is not a sign before digits.
 */
TEXT_LANES_INLINE bool text_lanes_take_signs(struct text_lanes_words *words, uint64_t others,
                                             uint64_t white)
{
    uint64_t minus = _mm512_cmpeq_epi8_mask(words->bytes, _mm512_set1_epi8('-')) & others;
    uint64_t plus = _mm512_cmpeq_epi8_mask(words->bytes, _mm512_set1_epi8('+')) & others;

    if (others != ((minus | plus) & words->begins) || (others << 1 & white))
        return false;
    words->negative = _pext_u64(minus, words->begins);
    words->begins += others; /* moves each bit by one; the words do not touch */
    return true;
}

/*
 * Takes the points out of the words that end in the block. Returns false if a word has two points,
 * or nothing else.
 */
TEXT_LANES_INLINE bool text_lanes_take_points(struct text_lanes_words *words, uint64_t points,
                                              uint64_t digits)
{
    uint64_t begins = words->begins & (UINT64_MAX >> (64 - words->taken));
    uint64_t at_points = begins & points;
    uint64_t kept = ~points;

    points &= UINT64_MAX >> (64 - words->taken);
    words->tails = words->ends;
    words->stops = ((digits + (begins & digits)) & ~digits) | at_points; /* carries end runs */
    words->stops &= UINT64_MAX >> (64 - words->taken);
    words->begins = _pext_u64(begins + at_points, kept);
    words->ends = _pext_u64(words->ends, kept);
    words->bytes = _mm512_maskz_compress_epi8(kept, words->bytes);
    return !(points & ~words->stops) && !(at_points << 1 & words->tails);
}

/*
 * Finds the words that end in a block. `rules` are those of TEXT_FIXED, or NULL for integers.
 * Returns false if there is no word, or one is not a number.
 */
TEXT_LANES_INLINE bool text_lanes_find(const struct text_lanes_constants *constants,
                                       const struct text_rules *rules, const char *block,
                                       struct text_lanes_words *words)
{
    __m512i bytes = _mm512_loadu_si512(block);
    uint64_t white =
        _mm512_cmple_epu8_mask(_mm512_sub_epi8(bytes, constants->tab), constants->whites) |
        _mm512_cmpeq_epi8_mask(bytes, constants->space);
    uint64_t digits =
        _mm512_cmple_epu8_mask(_mm512_sub_epi8(bytes, constants->zero), constants->nine);
    uint64_t points = rules ? _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('.')) : 0;
    uint64_t before = white << 1 | 1;
    uint64_t others = ~(white | digits | points);

    *words = (struct text_lanes_words){bytes, ~white & before, white & ~before, 0, 0, 0, 0};
    if (!words->ends || (others && !text_lanes_take_signs(words, others, white)))
        return false;
    words->taken = TEXT_BLOCK - (size_t)__builtin_clzll(words->ends);
    return !rules || text_lanes_take_points(words, points, digits);
}

/* The places of the digits of eight words, in each byte of a lane; missing digits are 0. */
struct text_lanes_places {
    __m512i begins;
    __m512i ends;  /* the byte after the last decimal place */
    __m512i given; /* with points: the byte after the last digit that is there */
};

/* Returns the value of eight digits of each word, those before its last `behind` digits. */
TEXT_LANES_INLINE __m512i text_lanes_join(bool has_points, __m512i digits,
                                          const struct text_lanes_places *words, char behind)
{
    __m512i places = _mm512_add_epi8(_mm512_sub_epi8(words->ends, _mm512_set1_epi8(behind)),
                                     _mm512_set1_epi64(-0x0001020304050608));
    __mmask64 inside = _mm512_cmpge_epi8_mask(places, words->begins);
    if (has_points)
        inside &= _mm512_cmplt_epi8_mask(places, words->given);
    __m512i pairs = _mm512_maddubs_epi16(_mm512_maskz_permutexvar_epi8(inside, places, digits),
                                         _mm512_set1_epi16(10 + (1 << 8)));
    __m512i fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(100 + (1 << 16)));

    return _mm512_add_epi64(_mm512_mul_epu32(fours, _mm512_set1_epi64(10000)),
                            _mm512_srli_epi64(fours, 32));
}

/*
 * Moves the ends of words by the decimal places that they lack; `stops` and `tails` are those of
 * the words. Returns false if a word has too many.
 */
TEXT_LANES_INLINE bool text_lanes_move_ends(unsigned decimals, __m512i stops, __m512i tails,
                                            struct text_lanes_places *words)
{
    __m512i given = _mm512_subs_epu8(_mm512_sub_epi8(tails, stops), _mm512_set1_epi8(1));
    __m512i lacking = _mm512_sub_epi8(_mm512_set1_epi8((char)decimals), given);

    words->given = words->ends;
    words->ends = _mm512_add_epi8(words->ends, lacking);
    return !_mm512_movepi8_mask(lacking);
}

/*
 * Converts eight words to magnitudes. Returns false if one has too many digits, or may be 2^64 or
 * more.
 */
TEXT_LANES_INLINE bool text_lanes_convert(const struct text_lanes_constants *constants,
                                          bool has_points, __m512i digits,
                                          const struct text_lanes_places *words,
                                          __m512i *magnitudes)
{
    __m512i counts = _mm512_sub_epi8(words->ends, words->begins);

    *magnitudes = text_lanes_join(has_points, digits, words, 0);
    if (!_mm512_cmpgt_epi8_mask(counts, constants->eight))
        return true;
    __m512i middle = text_lanes_join(has_points, digits, words, 8);
    middle = _mm512_mul_epu32(middle, _mm512_set1_epi64(100000000));
    *magnitudes = _mm512_add_epi64(*magnitudes, middle);
    if (!_mm512_cmpgt_epi8_mask(counts, constants->sixteen))
        return true;
    __m512i high = text_lanes_join(has_points, digits, words, 16);
    uint64_t too_long = _mm512_cmpgt_epi8_mask(counts, _mm512_set1_epi8(TEXT_LANES_DIGITS));
    uint64_t large =
        _mm512_cmpge_epu64_mask(high, _mm512_set1_epi64(UINT64_MAX / 10000000000000000));
    high = _mm512_mullo_epi64(high, _mm512_set1_epi64(10000000000000000));
    *magnitudes = _mm512_add_epi64(*magnitudes, high);
    return !(too_long | large);
}

/* Stores all lanes as elements. */
TEXT_LANES_INLINE void text_lanes_store(__m512i values, char *place, size_t element_bytes)
{
    switch (element_bytes) {
    case 1:
        _mm_storel_epi64((__m128i *)(void *)place, _mm512_cvtepi64_epi8(values));
        break;
    case 2:
        _mm_storeu_si128((__m128i *)(void *)place, _mm512_cvtepi64_epi16(values));
        break;
    case 4:
        _mm256_storeu_si256((__m256i *)(void *)place, _mm512_cvtepi64_epi32(values));
        break;
    default:
        _mm512_storeu_si512(place, values);
        break;
    }
}

/* Gives magnitudes their signs. Returns false if one is out of range. */
TEXT_LANES_INLINE bool text_lanes_sign(const struct text_lanes_constants *constants, uint64_t least,
                                       uint64_t negative, __m512i *values)
{
    __m512i magnitudes = *values;
    __m512i limits = constants->most;

    if (negative) {
        __mmask8 lanes = (__mmask8)negative;
        limits = _mm512_mask_set1_epi64(limits, lanes, (long long)least);
        *values = _mm512_mask_sub_epi64(magnitudes, lanes, _mm512_setzero_si512(), magnitudes);
    }
    return !_mm512_cmpgt_epu64_mask(magnitudes, limits);
}

/* Stores the values of the words. Returns false if one has too many digits or is out of range. */
TEXT_LANES_INLINE bool text_lanes_take(const struct text_lanes_constants *constants,
                                       const struct text_rules *rules, uint64_t least,
                                       const struct text_lanes_words *words, char *values,
                                       size_t element_bytes)
{
    const __m512i numbers =
        _mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45,
                        44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26,
                        25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6,
                        5, 4, 3, 2, 1, 0);
    const size_t count = (size_t)__builtin_popcountll(words->ends);
    __m512i digits = _mm512_sub_epi8(words->bytes, constants->zero);
    __m512i begins = _mm512_maskz_compress_epi8(words->begins, numbers);
    __m512i ends = _mm512_maskz_compress_epi8(words->ends, numbers);
    __m512i stops = _mm512_maskz_compress_epi8(words->stops, numbers);
    __m512i tails = _mm512_maskz_compress_epi8(words->tails, numbers);
    __m512i lane = _mm512_set_epi64(0x0707070707070707, 0x0606060606060606, 0x0505050505050505,
                                    0x0404040404040404, 0x0303030303030303, 0x0202020202020202,
                                    0x0101010101010101, 0); /* its index, in each byte */

    for (size_t taken = 0; taken < count; taken += TEXT_LANES) {
        __m512i eight;
        struct text_lanes_places eight_words = {
            .begins = _mm512_permutexvar_epi8(lane, begins),
            .ends = _mm512_permutexvar_epi8(lane, ends),
        };
        if ((rules && !text_lanes_move_ends(rules->decimals, _mm512_permutexvar_epi8(lane, stops),
                                            _mm512_permutexvar_epi8(lane, tails), &eight_words)) ||
            !text_lanes_convert(constants, rules != NULL, digits, &eight_words, &eight) ||
            !text_lanes_sign(constants, least, words->negative >> taken, &eight))
            return false;
        text_lanes_store(eight, values + taken * element_bytes, element_bytes);
        lane = _mm512_add_epi8(lane, constants->eight);
    }
    return true;
}

/*
 * Stores values after those of the call and advances text->offset after their tokens, until there
 * is no whole block of text or no room for its values, or a block is not for this parser.
 * `rules` are those of TEXT_FIXED, or NULL for integers.
 */
TEXT_LANES_INLINE void text_lanes_read(struct element element, const struct text_rules *rules,
                                       struct text_cursor *text)
{
    char *values = text->values;
    const size_t bytes = text->bytes;
    const size_t capacity = text->capacity;
    const struct text_number_limits limits = text_number_limits(element);
    const struct text_lanes_constants kept = text_lanes_make_constants(limits.magnitude[false]);
    const struct text_lanes_constants *constants = &kept;
    size_t at = text->offset;
    size_t stored = text->count;

    while (at + TEXT_BLOCK <= bytes && capacity - stored >= TEXT_LANES_ROOM) {
        struct text_lanes_words words;
        if (!text_lanes_find(constants, rules, text->data + at, &words) ||
            !text_lanes_take(constants, rules, limits.magnitude[true], &words,
                             values + stored * element.bytes, element.bytes))
            break;
        stored += (size_t)__builtin_popcountll(words.ends);
        at += words.taken;
    }
    text->offset = at;
    text->count = stored;
}

/*
 * A text_parse_function for a type and its text_lanes_read. First, and wherever text_lanes_read
 * stops, parses TEXT_LANES tokens one by one: an invalid token is often followed by another.
 */
static enum text_event text_lanes_parse(void (*read)(struct text_cursor *), struct element element,
                                        struct text_cursor *text)
{
    text_parse_function *parse_one_by_one = text_tokens_choose(CPU_ISA_AVX512VBMI2, element.type);
    enum text_event event;

    for (text->count = 0;;) {
        const size_t left = text->capacity - text->count;
        struct text_cursor few = *text;
        few.values = (char *)text->values + text->count * element.bytes;
        few.capacity = left < TEXT_LANES ? left : TEXT_LANES;
        event = parse_one_by_one(&few);
        text->offset = few.offset;
        text->count += few.count;
        text->invalid = few.invalid;
        if (event != TEXT_FULL || text->count == text->capacity)
            break;
        read(text);
    }
    return event;
}

/* For each type, the loops, which are not inlined so that their constants stay in registers. */
#define TEXT_LANES_LOOP(kind, constant_rules, id, name, ctype)              \
    CPU_ISA_TARGET_AVX512VBMI2 static void text_lanes_read_##kind##_##name( \
        struct text_cursor *text)                                           \
    {                                                                       \
        text_lanes_read(ELEMENT_OF(id, name, ctype), constant_rules, text); \
    }                                                                       \
    TEXT_PARSE_DEFINE(text_lanes_##kind##_##name, , text_lanes_parse,       \
                      text_lanes_read_##kind##_##name, ELEMENT_OF(id, name, ctype))
#define TEXT_LANES_DEFINE(id, name, ctype)           \
    TEXT_LANES_LOOP(integers, NULL, id, name, ctype) \
    TEXT_LANES_LOOP(fixed, text->rules, id, name, ctype)
ELEMENT_TYPES(TEXT_LANES_DEFINE)

text_parse_function *text_lanes_choose(enum text_notation notation, enum element_type type)
{
    static text_parse_function *const functions[ELEMENT_TYPE_COUNT][2] = {
#define TEXT_LANES_ENTRY(id, name, ctype) \
    [ELEMENT_##id] = {text_lanes_integers_##name, text_lanes_fixed_##name},
        ELEMENT_TYPES(TEXT_LANES_ENTRY)
#undef TEXT_LANES_ENTRY
    };
    bool is_known = notation == TEXT_INTEGERS || notation == TEXT_FIXED;

    return is_known && cpu_isa_best() == CPU_ISA_AVX512VBMI2
               ? functions[type][notation == TEXT_FIXED]
               : NULL;
}

#else

text_parse_function *text_lanes_choose(enum text_notation notation, enum element_type type)
{
    (void)notation;
    (void)type;
    return NULL;
}

#endif
