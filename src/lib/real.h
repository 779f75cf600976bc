/*
 * Binary floating-point numbers of IEEE 754 and bfloat16, and their exact rounding to decimals.
 *
 * All functions are pure and thread-safe. A double holds every number of the other formats.
 */
#ifndef GPUHIST_REAL_H
#define GPUHIST_REAL_H

#include "lib/decimal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* X(ID, name, bytes), one row for each format. */
#define REAL_FORMATS(X) \
    X(F16, f16, 2)      \
    X(BF16, bf16, 2)    \
    X(F32, f32, 4)      \
    X(F64, f64, 8)

enum real_format {
    REAL_NONE, /* integers */
#define REAL_ENUM(id, name, bytes) REAL_##id,
    REAL_FORMATS(REAL_ENUM)
#undef REAL_ENUM
};

/* The fields of a double. */
#define REAL_FRACTION_BITS 52
#define REAL_EXPONENT_MAX  0x7ff /* exponent of infinities and NaN */
#define REAL_BIAS          1075  /* exponent of a 53-bit integer */

/* Returns the number at `bytes`, of any alignment; `is_swapped`: its byte order is the other one.
 */
static inline __attribute__((always_inline)) double real_load(enum real_format format,
                                                              bool is_swapped, const char *bytes)
{
    uint64_t wide;
    uint32_t word;
    uint16_t half;
    float single;
    double value;

    switch (format) {
    case REAL_F64:
        memcpy(&wide, bytes, sizeof wide);
        wide = is_swapped ? __builtin_bswap64(wide) : wide;
        memcpy(&value, &wide, sizeof value);
        return value;
    case REAL_F32:
        memcpy(&word, bytes, sizeof word);
        word = is_swapped ? __builtin_bswap32(word) : word;
        break;
    default:
        memcpy(&half, bytes, sizeof half);
        word = is_swapped ? __builtin_bswap16(half) : half;
        if (format == REAL_BF16) {
            word <<= 16;
            break;
        }
        /* a float whose exponent is too small by 112, and again if all its bits are set */
        const uint32_t sign = (word & 0x8000) << 16;
        const bool is_special = (word & 0x7c00) == 0x7c00;
        word = (word & 0x7fff) << 13;
        if (is_special) {
            word |= sign | 0x7f800000;
            break;
        }
        memcpy(&single, &word, sizeof single);
        value = (double)single * 0x1p112;
        return sign ? -value : value;
    }
    memcpy(&single, &word, sizeof single);
    return (double)single;
}

/*
 * Rounds a number to a multiple of 10^-decimals (0 to 18), half to even, from its exact value, with
 * integers only. Returns false if that does not fit 64 bits, and for infinities and NaN.
 */
static inline bool real_round_exact(double value, unsigned decimals, int64_t *rounded)
{
    uint64_t bits;
    uint64_t power = 1; /* a power of 5 */

    memcpy(&bits, &value, sizeof bits);
    const bool is_negative = bits >> 63 != 0;
    const unsigned exponent = (unsigned)(bits >> REAL_FRACTION_BITS) & REAL_EXPONENT_MAX;
    const uint64_t fraction = bits & (((uint64_t)1 << REAL_FRACTION_BITS) - 1);
    if (exponent == REAL_EXPONENT_MAX)
        return false;
    for (unsigned i = 0; i < decimals; i++)
        power *= 5;
    /* the value times 10^decimals is product x 2^shift; its factors have 53 and 42 bits */
    const unsigned __int128 product =
        (unsigned __int128)(exponent > 0 ? fraction | (uint64_t)1 << REAL_FRACTION_BITS
                                         : fraction) *
        power;
    const int shift = (int)(exponent > 0 ? exponent : 1) - REAL_BIAS + (int)decimals;
    unsigned __int128 magnitude = product;
    if (shift > 63 || (shift > 0 && product >> (127 - shift) > 0)) {
        if (product > 0)
            return false;
    } else if (shift > 0) {
        magnitude <<= shift;
    } else if (shift < -126) {
        magnitude = 0;
    } else if (shift < 0) {
        const unsigned __int128 half = (unsigned __int128)1 << (-shift - 1);
        const unsigned __int128 rest = product & (2 * half - 1);
        magnitude >>= -shift;
        magnitude += rest > half || (rest == half && magnitude % 2 == 1);
    }
    if (magnitude > (unsigned __int128)INT64_MAX + is_negative)
        return false;
    *rounded = (int64_t)(is_negative ? -(uint64_t)magnitude : (uint64_t)magnitude);
    return true;
}

/*
 * Like real_round_exact, but mostly with double arithmetic. The power of ten is exact, so the error
 * of the product is at most half of its last place. It is rounded like the exact value, unless it
 * is as near to a half.
 */
static inline __attribute__((always_inline)) bool real_round(double value, unsigned decimals,
                                                             int64_t *rounded)
{
    const double scaled = value * (double)decimal_power(decimals);
    const double magic = 0x1.8p52; /* adding it rounds to an integer */

    if (__builtin_expect(scaled > -0x1p51 && scaled < 0x1p51, true)) {
        const double whole = (scaled + magic) - magic;
        const double distance = __builtin_fabs(__builtin_fabs(scaled - whole) - 0.5);
        if (__builtin_expect(distance > __builtin_fabs(scaled) * 0x1p-52, true)) {
            *rounded = (int64_t)whole;
            return true;
        }
    }
    return real_round_exact(value, decimals, rounded);
}

#endif
