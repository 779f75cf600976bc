/* Implements ratio.h. */
#include "config.h"

#include "lib/ratio.h"

#include "lib/decimal.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define RATIO_DIGITS 17

/* digits / 10^16 * 10^exponent, 10^16 <= digits < 10^17 */
struct ratio_decimal {
    uint64_t digits;
    int exponent;
};

/*
 * Returns the integer part of the square root of a value below 2^126, by Newton's method from above
 * (Cohen, "A Course in Computational Algebraic Number Theory", 1.7.1).
 */
static uint64_t ratio_find_root(unsigned __int128 value)
{
    const struct wide number = wide_from(value);
    uint64_t next = (uint64_t)1 << (wide_bits(&number) + 1) / 2;
    uint64_t root;

    do {
        root = next;
        next = (root + (uint64_t)(value / root)) / 2;
    } while (next < root);
    return root;
}

/*
 * Returns whether to round up `digits`, the integer part of a value or of its root. The value is
 * `quotient` plus `rest` over `denominator`.
 */
static bool ratio_rounds_up(unsigned __int128 quotient, struct wide rest,
                            const struct wide *denominator, bool is_root, uint64_t digits)
{
    if (is_root) { /* (p + 1/2)^2 = p^2 + p + 1/4 */
        const unsigned __int128 above = quotient - (unsigned __int128)digits * digits;
        if (above != digits)
            return above > digits;
    }
    wide_scale(&rest, is_root ? 4 : 2);
    int order = wide_compare(&rest, denominator);
    return order > 0 || (order == 0 && digits % 2 == 1);
}

/*
 * The numerator is not 0. Multiplies one of both by a power of ten, of even exponent for a root, so
 * that the integer part has 17 digits. Intermediate numbers are below 4 * 10^36 * 2^256 < 2^379.
 */
static struct ratio_decimal ratio_round(const struct wide *numerator,
                                        const struct wide *denominator, bool is_root)
{
    const int step = is_root ? 2 : 1;
    const int log2 = (int)wide_bits(numerator) - (int)wide_bits(denominator);
    int exponent = log2 * 1233 / (4096 * step); /* at most 1 too large or too small */

    for (;;) {
        const int places = step * (RATIO_DIGITS - 1 - exponent);
        struct wide rest = *numerator;
        struct wide by = *denominator;
        unsigned power = (unsigned)(places < 0 ? -places : places);
        for (; power > 19; power -= 19)
            wide_scale(places < 0 ? &by : &rest, decimal_power(19));
        wide_scale(places < 0 ? &by : &rest, decimal_power(power));
        const unsigned __int128 quotient = wide_divide(&rest, &by);
        uint64_t digits = is_root ? ratio_find_root(quotient) : (uint64_t)quotient;
        if (digits < decimal_power(RATIO_DIGITS - 1)) {
            exponent--;
        } else if (digits >= decimal_power(RATIO_DIGITS)) {
            exponent++;
        } else {
            digits += ratio_rounds_up(quotient, rest, &by, is_root, digits);
            if (digits < decimal_power(RATIO_DIGITS))
                return (struct ratio_decimal){digits, exponent};
            return (struct ratio_decimal){digits / 10, exponent + 1};
        }
    }
}

/* Writes digits[0..count) with a point after the first `whole`. Returns the end. */
static char *ratio_write_point(char *c, const char *digits, size_t count, size_t whole)
{
    memcpy(c, digits, whole);
    if (count == whole)
        return c + whole;
    c[whole] = '.';
    memcpy(c + whole + 1, digits + whole, count - whole);
    return c + count + 1;
}

size_t ratio_write(char out[RATIO_SIZE], bool is_negative, const struct wide *numerator,
                   const struct wide *denominator, bool is_root)
{
    char digits[RATIO_SIZE];
    char *c = out;

    if (wide_bits(numerator) == 0) {
        *out = '0';
        return 1;
    }
    *c = '-';
    c += is_negative;
    const struct ratio_decimal decimal = ratio_round(numerator, denominator, is_root);
    int exponent = decimal.exponent;
    size_t count = decimal_write(digits, decimal.digits);
    while (digits[count - 1] == '0')
        count--;
    if (exponent < -4 || exponent >= RATIO_DIGITS) {
        c = ratio_write_point(c, digits, count, 1);
        return (size_t)(c - out) + (size_t)sprintf(c, "e%+03d", exponent);
    }
    if (exponent < 0) {
        size_t zeros = (size_t)-exponent;
        memcpy(c, "0.000", zeros + 1);
        memcpy(c + zeros + 1, digits, count);
        return (size_t)(c - out) + zeros + 1 + count;
    }
    size_t whole = (size_t)exponent + 1; /* may include trailing zeros that were left out */
    c = ratio_write_point(c, digits, count > whole ? count : whole, whole);
    return (size_t)(c - out);
}
