/*
 * Converts one number in the notation of the rules to its magnitude and sign.
 *
 * Functions are pure and thread-safe. Some take the instruction set, as text_block.h says.
 */
#ifndef GPUHIST_TEXT_NUMBER_H
#define GPUHIST_TEXT_NUMBER_H

#include "lib/decimal.h"
#include "text/text_block.h"
#include "value/element.h"
#include "value/text_rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_number {
    uint64_t magnitude;
    bool is_negative;
};

/* The limits of a type's values. */
struct text_number_limits {
    uint64_t magnitude[2]; /* the largest magnitude of [0] values from 0 up, [1] negative values */
    size_t bytes;          /* size of an element */
};

TEXT_INLINE struct text_number_limits text_number_limits(struct element element)
{
    uint64_t most = UINT64_MAX >> (64 - 8 * element.bytes + element.is_signed);
    uint64_t least = element.is_signed ? most + 1 : 0;
    return (struct text_number_limits){{most, least}, element.bytes};
}

/*
 * For each place of a point in a vector, and for none: a shuffle that removes the point and moves
 * the bytes before it by one place. The first byte is then 0.
 */
extern const unsigned char text_number_orders[17][16];

/* Maximum number of digits of a fast conversion, which always reads this many bytes up to the end.
 */
#define TEXT_NUMBER_DIGITS ((size_t)16)

/*
 * Converts a number of any length and notation. Returns false if token[0..bytes) is not a number,
 * also if it is empty, or if its magnitude is 2^64 or more.
 */
bool text_number_read_any(const struct text_rules *rules, const char *token, size_t bytes,
                          struct text_number *number);

/* The fault of a number. */
enum text_number_fault {
    TEXT_NUMBER_VALID,
    TEXT_NUMBER_NONE,    /* the token is not a number */
    TEXT_NUMBER_INEXACT, /* it has more decimal places than the rules, which do not round */
    TEXT_NUMBER_LARGE,   /* it is 2^64 units or more */
};

/*
 * Converts the unsigned number digits[0..bytes), of any length, with or without a point and an
 * exponent, to a multiple of 10^-decimals of the rules (TEXT_FIXED; else to an integer). It rounds
 * half to even if the rules say so.
 */
enum text_number_fault text_number_read_decimal(const struct text_rules *rules, const char *digits,
                                                size_t bytes, uint64_t *number);

/* Converts the `count` (1 to 16) digits before `end`. Returns false if one is not a digit. */
static inline bool text_number_join_plain(const char *end, size_t count, uint64_t *number)
{
    uint64_t low = bytes_load(end - 8) ^ BYTES_OF('0');
    uint64_t high = bytes_load(end - 16) ^ BYTES_OF('0');

    if (count <= 8) {
        low &= UINT64_MAX << (64 - 8 * count);
        *number = bytes_join_eight(low);
        return bytes_no_digits(low) == 0;
    }
    high &= UINT64_MAX << (128 - 8 * count);
    *number = bytes_join_eight(high) * 100000000 + bytes_join_eight(low);
    return (bytes_no_digits(low) | bytes_no_digits(high)) == 0;
}

#if defined(__x86_64__)
/* The digits' values in the last `count` (1 to 16) bytes before `end`; 0 before these. */
CPU_ISA_TARGET_AVX2 static inline __m128i text_number_load_avx2(const char *end, size_t count)
{
    const __m128i from_end = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(end - TEXT_NUMBER_DIGITS));
    __m128i kept = _mm_cmpgt_epi8(_mm_set1_epi8((char)count), from_end);

    return _mm_and_si128(_mm_sub_epi8(bytes, _mm_set1_epi8('0')), kept);
}

/*
 * Like text_number_join_plain, but takes the digits' values: joins neighbours in vectors of 16
 * bytes, 8 16-bit words, 4 and 2 32-bit words (Mula).
 */
CPU_ISA_TARGET_AVX2 static inline bool text_number_join_avx2(__m128i digits, uint64_t *number)
{
    __m128i no_digits = _mm_subs_epu8(digits, _mm_set1_epi8(9));
    __m128i pairs = _mm_maddubs_epi16(digits, _mm_set1_epi16(10 + (1 << 8)));
    __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(100 + (1 << 16)));
    __m128i packed = _mm_packus_epi32(fours, fours);
    __m128i eights = _mm_madd_epi16(packed, _mm_set1_epi32(10000 + (1 << 16)));
    uint64_t halves = (uint64_t)_mm_cvtsi128_si64(eights);

    *number = (halves & UINT32_MAX) * 100000000 + (halves >> 32);
    return _mm_testz_si128(no_digits, no_digits);
}

/*
 * Converts the `count` (1 to 16) characters before `end`, digits and at most one point, to a
 * multiple of 10^-decimals: moves the digits before the point over it. Returns false if there are
 * other characters, more digits after the point, or if the result is 2^64 or more.
 */
CPU_ISA_TARGET_AVX2 static inline bool text_number_join_fixed_avx2(const char *end, size_t count,
                                                                   unsigned decimals,
                                                                   uint64_t *number)
{
    const unsigned none = TEXT_NUMBER_DIGITS;
    __m128i digits = text_number_load_avx2(end, count);
    __m128i points = _mm_cmpeq_epi8(digits, _mm_set1_epi8('.' - '0'));
    unsigned place = (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(points) | 1u << none);
    unsigned fraction = place == none ? 0 : none - 1 - place;
    __m128i order = _mm_loadu_si128((const __m128i *)(const void *)text_number_orders[place]);
    bool valid = text_number_join_avx2(_mm_shuffle_epi8(digits, order), number);

    return valid && count > (place != none) && fraction <= decimals &&
           !__builtin_mul_overflow(*number, decimal_power(decimals - fraction), number);
}
#endif

/* Like text_number_join_plain, in an instruction set. */
TEXT_INLINE bool text_number_join(enum cpu_isa isa, const char *end, size_t count, uint64_t *number)
{
#if defined(__x86_64__)
    if (isa != CPU_ISA_PLAIN)
        return text_number_join_avx2(text_number_load_avx2(end, count), number);
#endif
    (void)isa;
    return text_number_join_plain(end, count, number);
}

/*
 * Converts the `count` characters before data[end], as text_number_join_fixed_avx2 does. Plain code
 * expects the point in front of all decimals.
 */
TEXT_INLINE bool text_number_join_fixed(enum cpu_isa isa, const char *data, size_t end,
                                        size_t count, unsigned decimals, uint64_t *number)
{
    const size_t behind = decimals + 1; /* characters from the point on */
    uint64_t whole;

#if defined(__x86_64__)
    if (isa != CPU_ISA_PLAIN)
        return text_number_join_fixed_avx2(data + end, count, decimals, number);
#endif
    (void)isa;
    if (decimals == 0 || count <= behind || end < TEXT_NUMBER_DIGITS + behind ||
        data[end - behind] != '.')
        return false;
    return text_number_join_plain(data + end, decimals, number) &&
           text_number_join_plain(data + end - behind, count - behind, &whole) &&
           !__builtin_mul_overflow(whole, decimal_power(decimals), &whole) &&
           !__builtin_add_overflow(whole, *number, number);
}

/* Not 0 if some byte XOR '0' is not a hexadecimal digit. */
TEXT_INLINE uint64_t text_number_no_hex_digits(uint64_t bytes)
{
    uint64_t letters = (bytes | BYTES_OF(0x20)) ^ BYTES_OF(0x70); /* A to F, a to f: 1 to 6 */
    uint64_t no_letters =
        (letters + BYTES_OF(0x80 - 7)) | ~(letters + BYTES_OF(0x80 - 1)) | letters;
    return bytes_no_digits(bytes) & no_letters;
}

/* Returns the number of eight hexadecimal digits, each XOR '0', joined as in bytes_join_eight. */
TEXT_INLINE uint64_t text_number_join_eight_hex(uint64_t bytes)
{
    uint64_t digits = (bytes & BYTES_OF(0xf)) + (bytes >> 6 & BYTES_OF(1)) * 9;
    uint64_t pairs = (digits << 4 | digits >> 8) & 0x00ff00ff00ff00ff;
    uint64_t fours = (pairs << 8 | pairs >> 16) & 0x0000ffff0000ffff;
    return (fours << 16 | fours >> 32) & UINT32_MAX;
}

/* Like text_number_join_plain, but for hexadecimal digits. */
TEXT_INLINE bool text_number_join_hex(const char *end, size_t count, uint64_t *number)
{
    uint64_t low = bytes_load(end - 8) ^ BYTES_OF('0');
    uint64_t high = bytes_load(end - 16) ^ BYTES_OF('0');

    low &= count < 8 ? UINT64_MAX << (64 - 8 * count) : UINT64_MAX;
    high &= count > 8 ? UINT64_MAX << (128 - 8 * count) : 0;
    *number = text_number_join_eight_hex(high) << 32 | text_number_join_eight_hex(low);
    return (text_number_no_hex_digits(low) | text_number_no_hex_digits(high)) == 0;
}

/* Returns whether digits[0..count) begin with 0x and have more characters. */
TEXT_INLINE bool text_number_has_prefix(const char *digits, size_t count)
{
    return count > 2 && digits[0] == '0' && (digits[1] | 0x20) == 'x';
}

/*
 * Returns whether the number at data[begin..end), which is valid by the rules, is written as it is
 * printed, or may be written otherwise (rules->is_found is not set).
 */
TEXT_INLINE bool text_number_is_plain(const struct text_rules *rules, const char *data,
                                      size_t begin, size_t end, const struct text_number *number)
{
    if (__builtin_expect(!rules->is_found, true))
        return true;
    const size_t first = begin + number->is_negative;
    const bool is_leading = data[first] >= '1' && data[first] <= '9'; /* a digit that counts */
    if (rules->notation != TEXT_FIXED)
        return is_leading || end - begin == 1;
    const size_t behind = rules->decimals + 1; /* the point and its digits */
    bool is_plain = end - first > behind && (!number->is_negative || number->magnitude > 0) &&
                    (is_leading || (data[first] == '0' && end - first == behind + 1)) &&
                    data[end - behind] == '.';
    for (size_t i = end - behind + 1; is_plain && i < end; i++)
        is_plain = data[i] >= '0' && data[i] <= '9';
    return is_plain;
}

/*
 * Converts the number at data[begin..end), which is not empty. Reads nothing outside data[0..end).
 * Returns false if it is not a number, or if its magnitude is 2^64 or more.
 */
TEXT_INLINE bool text_number_read(enum cpu_isa isa, const struct text_rules *rules,
                                  const char *data, size_t begin, size_t end,
                                  struct text_number *number)
{
    bool is_negative = data[begin] == '-';
    size_t count = end - begin - (is_negative | (data[begin] == '+'));

    if (__builtin_expect(rules->notation == TEXT_INTEGERS && count - 1 < TEXT_NUMBER_DIGITS &&
                             end >= TEXT_NUMBER_DIGITS,
                         true)) {
        number->is_negative = is_negative;
        if (__builtin_expect(text_number_join(isa, data + end, count, &number->magnitude), true))
            return true;
        if (!rules->has_exponents)
            return false;
    }
    if (rules->notation == TEXT_HEX && text_number_has_prefix(data + end - count, count))
        count -= 2;
    bool is_long = count - 1 >= TEXT_NUMBER_DIGITS || end < TEXT_NUMBER_DIGITS;
    if (!is_long && rules->notation == TEXT_HEX) {
        number->is_negative = is_negative;
        return text_number_join_hex(data + end, count, &number->magnitude);
    }
    if (!is_long && rules->notation == TEXT_FIXED) {
        number->is_negative = is_negative;
        if (text_number_join_fixed(isa, data, end, count, rules->decimals, &number->magnitude))
            return true;
    }
    struct text_number any; /* its own variable, so that *number can stay in registers */
    bool valid = text_number_read_any(rules, data + begin, end - begin, &any);
    *number = any;
    return valid;
}

#endif
