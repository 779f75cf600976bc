/* Implements ratio.h. */
#include "config.h"

#include "base/ratio.h"

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
 * Multiplies one of both by a power of `base` so that denominator <= numerator < base *
 * denominator. Returns the exponent of `base` by which the original quotient is larger. The
 * numerator is not 0.
 */
static int ratio_normalize(struct wide *numerator, struct wide *denominator, unsigned base)
{
    int exponent = 0;
    struct wide next = *denominator;

    for (wide_scale(&next, base); wide_compare(numerator, &next) >= 0; wide_scale(&next, base)) {
        *denominator = next;
        exponent++;
    }
    for (; wide_compare(numerator, denominator) < 0; exponent--)
        wide_scale(numerator, base);
    return exponent;
}

/*
 * The next digit of the quotient, or of the root whose digits so far are `root`: how often the
 * denominator, or the step of Toepler's method, can be subtracted from *rest.
 */
static unsigned ratio_take_digit(struct wide *rest, const struct wide *denominator, bool is_root,
                                 uint64_t root)
{
    for (unsigned digit = 0;; digit++) {
        struct wide step = *denominator;
        if (is_root)
            wide_scale(&step, 20 * root + 2 * digit + 1);
        if (wide_compare(rest, &step) < 0)
            return digit;
        wide_subtract(rest, &step);
    }
}

/* Whether to round the digits up; `rest` is the rest of the numerator. */
static bool ratio_rounds_up(const struct wide *rest, const struct wide *denominator, bool is_root,
                            uint64_t digits)
{
    struct wide left = *rest;
    struct wide half = *denominator;

    if (is_root) { /* (p + 1/2)^2 - p^2 = (4 p + 1) / 4 */
        wide_scale(&left, 4);
        wide_scale(&half, 4 * digits + 1);
    } else {
        wide_scale(&left, 2);
    }
    int order = wide_compare(&left, &half);
    return order > 0 || (order == 0 && digits % 2 == 1);
}

/* The numerator is not 0. Intermediate numbers are at most 100 (2 * 10^16 + 1) 2^256 < 2^320. */
static struct ratio_decimal ratio_round(struct wide numerator, struct wide denominator,
                                        bool is_root)
{
    unsigned base = is_root ? 100 : 10;
    struct ratio_decimal decimal = {0};

    decimal.exponent = ratio_normalize(&numerator, &denominator, base);
    for (unsigned i = 0; i < RATIO_DIGITS; i++) {
        if (i > 0)
            wide_scale(&numerator, base);
        unsigned digit = ratio_take_digit(&numerator, &denominator, is_root, decimal.digits);
        decimal.digits = decimal.digits * 10 + digit;
    }
    decimal.digits += ratio_rounds_up(&numerator, &denominator, is_root, decimal.digits);
    if (decimal.digits == 100000000000000000) {
        decimal.digits /= 10;
        decimal.exponent++;
    }
    return decimal;
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

static size_t ratio_write_decimal(char out[RATIO_SIZE], struct ratio_decimal decimal)
{
    char digits[RATIO_SIZE];
    char *c = out;
    int exponent = decimal.exponent;
    size_t count =
        (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)decimal.digits);

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
        return zeros + 1 + count;
    }
    size_t whole = (size_t)exponent + 1; /* may include trailing zeros that were left out */
    c = ratio_write_point(c, digits, count > whole ? count : whole, whole);
    return (size_t)(c - out);
}

static bool ratio_is_zero(const struct wide *numerator)
{
    return wide_compare(numerator, &(struct wide){{0}}) == 0;
}

size_t ratio_write(char out[RATIO_SIZE], bool is_negative, const struct wide *numerator,
                   const struct wide *denominator)
{
    if (ratio_is_zero(numerator)) {
        *out = '0';
        return 1;
    }
    *out = '-';
    return is_negative +
           ratio_write_decimal(out + is_negative, ratio_round(*numerator, *denominator, false));
}

size_t ratio_write_root(char out[RATIO_SIZE], const struct wide *numerator,
                        const struct wide *denominator)
{
    if (ratio_is_zero(numerator)) {
        *out = '0';
        return 1;
    }
    return ratio_write_decimal(out, ratio_round(*numerator, *denominator, true));
}
