/* Implements text_number.h: numbers of any length and notation. */
#include "config.h"

#include "text/text_number.h"

#define TEXT_NUMBER_BYTE(place, i) ((i) - ((i) <= (place)))
#define TEXT_NUMBER_ORDER(place, first)                                                            \
    {                                                                                              \
        first, TEXT_NUMBER_BYTE(place, 1), TEXT_NUMBER_BYTE(place, 2), TEXT_NUMBER_BYTE(place, 3), \
            TEXT_NUMBER_BYTE(place, 4), TEXT_NUMBER_BYTE(place, 5), TEXT_NUMBER_BYTE(place, 6),    \
            TEXT_NUMBER_BYTE(place, 7), TEXT_NUMBER_BYTE(place, 8), TEXT_NUMBER_BYTE(place, 9),    \
            TEXT_NUMBER_BYTE(place, 10), TEXT_NUMBER_BYTE(place, 11), TEXT_NUMBER_BYTE(place, 12), \
            TEXT_NUMBER_BYTE(place, 13), TEXT_NUMBER_BYTE(place, 14), TEXT_NUMBER_BYTE(place, 15)  \
    }

const unsigned char text_number_orders[17][16] = {
    TEXT_NUMBER_ORDER(0, 0x80),  TEXT_NUMBER_ORDER(1, 0x80),  TEXT_NUMBER_ORDER(2, 0x80),
    TEXT_NUMBER_ORDER(3, 0x80),  TEXT_NUMBER_ORDER(4, 0x80),  TEXT_NUMBER_ORDER(5, 0x80),
    TEXT_NUMBER_ORDER(6, 0x80),  TEXT_NUMBER_ORDER(7, 0x80),  TEXT_NUMBER_ORDER(8, 0x80),
    TEXT_NUMBER_ORDER(9, 0x80),  TEXT_NUMBER_ORDER(10, 0x80), TEXT_NUMBER_ORDER(11, 0x80),
    TEXT_NUMBER_ORDER(12, 0x80), TEXT_NUMBER_ORDER(13, 0x80), TEXT_NUMBER_ORDER(14, 0x80),
    TEXT_NUMBER_ORDER(15, 0x80), TEXT_NUMBER_ORDER(0, 0),
};

/* The digits of the largest magnitude, 2^64 - 1. */
#define TEXT_NUMBER_DIGITS_MAX     20
#define TEXT_NUMBER_HEX_DIGITS_MAX 16

/*
 * Appends digits[0..count) to *number. Returns false for a byte that is not a digit, and for 2^64
 * or more.
 */
static bool text_number_append(const char *digits, size_t count, uint64_t *number)
{
    for (; count >= 8; digits += 8, count -= 8) {
        uint64_t word = bytes_load(digits) ^ BYTES_OF('0');
        if (bytes_no_digits(word) || __builtin_mul_overflow(*number, (uint64_t)100000000, number) ||
            __builtin_add_overflow(*number, bytes_join_eight(word), number))
            return false;
    }
    for (; count > 0; digits++, count--) {
        if (*digits < '0' || *digits > '9' || __builtin_mul_overflow(*number, (uint64_t)10, number))
            return false;
        if (__builtin_add_overflow(*number, (uint64_t)(*digits - '0'), number))
            return false;
    }
    return true;
}

/* Converts digits, of which there are some. */
static bool text_number_read_integer(const char *digits, const char *end, uint64_t *number)
{
    while (digits < end && *digits == '0')
        digits++;
    return end - digits <= TEXT_NUMBER_DIGITS_MAX &&
           text_number_append(digits, (size_t)(end - digits), number);
}

/* The value of a hexadecimal digit plus one; 0: it is none. */
static const unsigned char text_number_hex[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

bool text_number_read_any(const struct text_rules *rules, const char *token, size_t bytes,
                          struct text_number *number)
{
    const char *end = token + bytes;
    const char *point;
    const char *fraction;
    bool is_valid = true;

    number->is_negative = bytes > 0 && *token == '-';
    number->magnitude = 0;
    token += number->is_negative || (bytes > 0 && *token == '+');
    if (token == end)
        return false;
    switch (rules->notation) {
    case TEXT_INTEGERS:
        return text_number_read_integer(token, end, &number->magnitude);
    case TEXT_HEX: /* with or without 0x */
        token += text_number_has_prefix(token, (size_t)(end - token)) ? 2 : 0;
        while (token < end && *token == '0')
            token++;
        if (end - token > TEXT_NUMBER_HEX_DIGITS_MAX)
            return false;
        for (; token < end; token++) {
            const unsigned value = text_number_hex[(unsigned char)*token];
            is_valid &= value > 0;
            number->magnitude = number->magnitude << 4 | (value - 1);
        }
        return is_valid;
    case TEXT_FIXED: /* with or without a point, in multiples of 10^-decimals */
        point = memchr(token, '.', (size_t)(end - token));
        fraction = point ? point + 1 : end;
        if (point && end - token == 1)
            return false;
        for (; end > fraction && (size_t)(end - fraction) > rules->decimals; end--) {
            if (end[-1] != '0')
                return false;
        }
        const size_t count = (size_t)(end - fraction);
        return text_number_read_integer(token, point ? point : end, &number->magnitude) &&
               text_number_append(fraction, count, &number->magnitude) &&
               !__builtin_mul_overflow(number->magnitude, decimal_power(rules->decimals - count),
                                       &number->magnitude);
    case TEXT_OPAQUE:
    case TEXT_NOTHING:
    case TEXT_TIME:
    case TEXT_IP:
    case TEXT_OTHER:
    case TEXT_BYTES:
        return false;
    }
    __builtin_unreachable();
}
