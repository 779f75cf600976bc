/*
 * Tokens, eight at once: one in each 64-bit lane of a register.
 *
 * A window of 64 bytes moves over the text. Its masks say where words begin and end; the places of
 * up to eight words are compressed out of the masks, the digits of each are permuted to the end of
 * its lane, and neighbours are joined, two, four and eight digits. That a mask of separators
 * becomes a permutation which spreads numbers over lanes is of Mula, "SIMD-ized parsing of series
 * of integers" (2018), there by a table of patterns for each mask; VBMI2 makes it without one.
 * Joining is as in text_number.h.
 *
 * All that is unusual is left to the parser that takes one token after the other: words that are no
 * numbers, values that are out of range or may be, and the text's last bytes.
 *
 * Nanoseconds a number, from L2, and those of the other parser: 0.0.
 */
#include "config.h"

#include "text_block.h"
#include "text_internal.h"
#include "text_number.h"

#if defined(__x86_64__)

#define TEXT_LANES        8
#define TEXT_LANES_DIGITS 20 /* that a word may have here */

#define TEXT_LANES_INLINE CPU_ISA_TARGET_AVX512VBMI2 TEXT_INLINE

/* The type of the values. */
struct text_lanes_type {
    uint64_t limit[2]; /* the largest magnitude of values from 0 up, and of negative ones */
    size_t bytes;
};

/* The words of a window, at most TEXT_LANES of them. */
struct text_lanes_words {
    __m512i bytes;
    uint64_t begins; /* their first digits */
    uint64_t ends;   /* the white space behind them */
    __mmask8 negative;
};

/*
 * Takes signs out of the words: `others` are the bytes that are neither digits nor white. False if
 * there is anything but a sign before digits.
 */
TEXT_LANES_INLINE bool text_lanes_take_signs(struct text_lanes_words *words, uint64_t others,
                                             uint64_t white)
{
    uint64_t minus = _mm512_cmpeq_epi8_mask(words->bytes, _mm512_set1_epi8('-')) & others;
    uint64_t plus = _mm512_cmpeq_epi8_mask(words->bytes, _mm512_set1_epi8('+')) & others;

    if (others != ((minus | plus) & words->begins) || (others << 1 & white))
        return false;
    words->negative = (__mmask8)_pext_u64(minus, words->begins);
    words->begins += others; /* each a place further; words do not touch */
    return true;
}

/* Finds the words that end in a window. False if there is none, or one that is no number. */
TEXT_LANES_INLINE bool text_lanes_find(const char *window, struct text_lanes_words *words)
{
    __m512i bytes = _mm512_loadu_si512(window);
    uint64_t digits =
        _mm512_cmple_epu8_mask(_mm512_sub_epi8(bytes, _mm512_set1_epi8('0')), _mm512_set1_epi8(9));
    uint64_t white = text_block_white_avx512(window);
    uint64_t before = white << 1 | 1;
    uint64_t ends = white & ~before;
    uint64_t eighth = _pdep_u64((uint64_t)1 << (TEXT_LANES - 1), ends);

    ends &= eighth ^ (eighth - 1); /* all if there is no eighth */
    if (!ends)
        return false;
    uint64_t taken = UINT64_MAX >> __builtin_clzll(ends);
    uint64_t others = ~(white | digits) & taken;
    *words = (struct text_lanes_words){bytes, ~white & before & taken, ends, 0};
    return !others || text_lanes_take_signs(words, others, white);
}

/* The number of each bit that is set, the lowest first, each in all bytes of its lane; 0 behind. */
TEXT_LANES_INLINE __m512i text_lanes_places(uint64_t mask)
{
    const __m512i lanes =
        _mm512_set_epi64(0x0707070707070707, 0x0606060606060606, 0x0505050505050505,
                         0x0404040404040404, 0x0303030303030303, 0x0202020202020202,
                         0x0101010101010101, 0);
    const __m512i numbers =
        _mm512_set_epi8(63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45,
                        44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26,
                        25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6,
                        5, 4, 3, 2, 1, 0);

    return _mm512_permutexvar_epi8(lanes, _mm512_maskz_compress_epi8(mask, numbers));
}

/* The value of the eight digits of each word that `behind` others follow; missing ones are 0. */
TEXT_LANES_INLINE __m512i text_lanes_join(__m512i bytes, __m512i begins, __m512i ends, char behind)
{
    const __m512i eight = _mm512_set1_epi64(-0x0001020304050608); /* bytes of -8 to -1 */
    __m512i places = _mm512_add_epi8(_mm512_sub_epi8(ends, _mm512_set1_epi8(behind)), eight);
    __mmask64 inside = _mm512_cmpge_epi8_mask(places, begins);
    __m512i digits = _mm512_maskz_permutexvar_epi8(inside, places,
                                                   _mm512_sub_epi8(bytes, _mm512_set1_epi8('0')));
    __m512i pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(10 + (1 << 8)));
    __m512i fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(100 + (1 << 16)));

    return _mm512_add_epi64(_mm512_mul_epu32(fours, _mm512_set1_epi64(10000)),
                            _mm512_srli_epi64(fours, 32));
}

/* Converts the words to magnitudes. False if one has too many digits, or may be 2^64 or more. */
TEXT_LANES_INLINE bool text_lanes_convert(const struct text_lanes_words *words, __m512i *magnitudes)
{
    __m512i begins = text_lanes_places(words->begins);
    __m512i ends = text_lanes_places(words->ends);
    __m512i counts = _mm512_sub_epi8(ends, begins);

    *magnitudes = text_lanes_join(words->bytes, begins, ends, 0);
    if (!_mm512_cmpgt_epu8_mask(counts, _mm512_set1_epi8(8)))
        return true;
    __m512i middle = text_lanes_join(words->bytes, begins, ends, 8);
    middle = _mm512_mul_epu32(middle, _mm512_set1_epi64(100000000));
    *magnitudes = _mm512_add_epi64(*magnitudes, middle);
    if (!_mm512_cmpgt_epu8_mask(counts, _mm512_set1_epi8(16)))
        return true;
    __m512i high = text_lanes_join(words->bytes, begins, ends, 16);
    uint64_t long_ones = _mm512_cmpgt_epu8_mask(counts, _mm512_set1_epi8(TEXT_LANES_DIGITS));
    uint64_t large =
        _mm512_cmpge_epu64_mask(high, _mm512_set1_epi64(UINT64_MAX / 10000000000000000));
    high = _mm512_mullo_epi64(high, _mm512_set1_epi64(10000000000000000));
    *magnitudes = _mm512_add_epi64(*magnitudes, high);
    return !(long_ones | large);
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

/*
 * Stores values and advances *offset behind their tokens as long as all is usual and there is room
 * for all lanes. Returns their number.
 */
TEXT_LANES_INLINE size_t text_lanes_read(struct text_lanes_type type, const char *data,
                                         size_t bytes, size_t *offset, char *values, size_t room)
{
    const __m512i most = _mm512_set1_epi64((long long)type.limit[0]);
    const __m512i least = _mm512_set1_epi64((long long)type.limit[1]);
    size_t at = *offset;
    size_t stored = 0;

    while (at < bytes && bytes - at >= TEXT_BLOCK && room - stored >= TEXT_LANES) {
        struct text_lanes_words words;
        __m512i magnitudes;
        if (!text_lanes_find(data + at, &words) || !text_lanes_convert(&words, &magnitudes))
            break;
        __m512i limits = _mm512_mask_blend_epi64(words.negative, most, least);
        if (_mm512_cmpgt_epu64_mask(magnitudes, limits))
            break;
        text_lanes_store(_mm512_mask_sub_epi64(magnitudes, words.negative, _mm512_setzero_si512(),
                                               magnitudes),
                         values + stored * type.bytes, type.bytes);
        stored += (size_t)__builtin_popcountll(words.ends);
        at += TEXT_BLOCK - (size_t)__builtin_clzll(words.ends);
    }
    *offset = at;
    return stored;
}

/* For each type, the parser: what lanes leave is parsed one by one, up to a window's worth. */
#define TEXT_LANES_DEFINE(id, name, ctype)                                                       \
    CPU_ISA_TARGET_AVX512VBMI2 static enum text_event text_lanes_##name(                         \
        const struct text_rules *rules, const char *data, size_t bytes, size_t *offset,          \
        void *values, size_t room, size_t *count, struct text_token *invalid)                    \
    {                                                                                            \
        const struct text_lanes_type type = {{TEXT_NUMBER_MAX(ctype), TEXT_NUMBER_MIN(ctype)},   \
                                             sizeof(ctype)};                                     \
        text_parse_function *one_by_one = text_tokens_choose(CPU_ISA_AVX512VBMI2, ELEMENT_##id); \
        enum text_event event;                                                                   \
        size_t stored = 0;                                                                       \
        do {                                                                                     \
            size_t more;                                                                         \
            stored += text_lanes_read(type, data, bytes, offset,                                 \
                                      (char *)values + stored * sizeof(ctype), room - stored);   \
            size_t left = room - stored < TEXT_LANES ? room - stored : TEXT_LANES;               \
            event = one_by_one(rules, data, bytes, offset,                                       \
                               (char *)values + stored * sizeof(ctype), left, &more, invalid);   \
            stored += more;                                                                      \
        } while (event == TEXT_FULL && stored < room);                                           \
        *count = stored;                                                                         \
        return event;                                                                            \
    }
ELEMENT_TYPES(TEXT_LANES_DEFINE)

text_parse_function *text_lanes_choose(enum element_type type)
{
    static text_parse_function *const functions[ELEMENT_TYPE_COUNT] = {
#define TEXT_LANES_ENTRY(id, name, ctype) [ELEMENT_##id] = text_lanes_##name,
        ELEMENT_TYPES(TEXT_LANES_ENTRY)
#undef TEXT_LANES_ENTRY
    };
    return cpu_isa_best() == CPU_ISA_AVX512VBMI2 ? functions[type] : NULL;
}

#else

text_parse_function *text_lanes_choose(enum element_type type)
{
    (void)type;
    return NULL;
}

#endif
