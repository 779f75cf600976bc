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

/* Number of digits of the largest magnitude, 2^64 - 1. */
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

/* Converts digits, at least one. */
static bool text_number_read_integer(const char *digits, const char *end, uint64_t *number)
{
    while (digits < end && *digits == '0')
        digits++;
    return end - digits <= TEXT_NUMBER_DIGITS_MAX &&
           text_number_append(digits, (size_t)(end - digits), number);
}

/* The value of a hexadecimal digit plus one; 0: it is not one. */
static const unsigned char text_number_hex[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* A number without a sign: digits with or without a point, and maybe an exponent. */
struct text_number_parts {
    const char *whole; /* [whole_count]: digits before the point */
    size_t whole_count;
    const char *fraction; /* [fraction_count]: digits after the point */
    size_t fraction_count;
    int64_t exponent; /* the exponent of 10 */
    bool has_exponent;
};

/* Maximum magnitude of an exponent; larger ones count as this: no text has as many digits. */
#define TEXT_NUMBER_EXPONENT_MAX ((int64_t)1 << 60)

static bool text_number_is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Divides a number into its parts. Returns false if digits[0..bytes) is not a number. */
static bool text_number_divide(const char *digits, size_t bytes, struct text_number_parts *parts)
{
    size_t i = 0;

    *parts = (struct text_number_parts){.whole = digits};
    while (i < bytes && text_number_is_digit(digits[i]))
        i++;
    parts->whole_count = i;
    i += i < bytes && digits[i] == '.';
    parts->fraction = digits + i;
    while (i < bytes && text_number_is_digit(digits[i]))
        i++;
    parts->fraction_count = (size_t)(digits + i - parts->fraction);
    if (parts->whole_count + parts->fraction_count == 0 || i == bytes)
        return parts->whole_count + parts->fraction_count > 0;
    if (digits[i] != 'e' && digits[i] != 'E')
        return false;
    i++;
    const bool is_negative = i < bytes && digits[i] == '-';
    i += is_negative || (i < bytes && digits[i] == '+');
    const size_t first = i;
    for (; i < bytes && text_number_is_digit(digits[i]); i++) {
        if (parts->exponent < TEXT_NUMBER_EXPONENT_MAX / 10)
            parts->exponent = parts->exponent * 10 + (digits[i] - '0');
        else
            parts->exponent = TEXT_NUMBER_EXPONENT_MAX;
    }
    parts->has_exponent = true;
    parts->exponent = is_negative ? -parts->exponent : parts->exponent;
    return i == bytes && i > first;
}

/* Returns digit i of the number, from its first digit, digit 0. */
static char text_number_digit(const struct text_number_parts *parts, size_t i)
{
    return i < parts->whole_count ? parts->whole[i] : parts->fraction[i - parts->whole_count];
}

static bool text_number_has_exponent(const char *digits, size_t bytes)
{
    struct text_number_parts parts;
    return text_number_divide(digits, bytes, &parts) && parts.has_exponent;
}

enum text_number_fault text_number_read_decimal(const struct text_rules *rules, const char *digits,
                                                size_t bytes, uint64_t *number)
{
    struct text_number_parts parts;
    char next = '0';       /* the first digit below the unit */
    bool has_rest = false; /* a later digit is not 0 */

    *number = 0;
    if (!text_number_divide(digits, bytes, &parts))
        return TEXT_NUMBER_NONE;
    const unsigned decimals = rules->notation == TEXT_FIXED ? rules->decimals : 0;
    const int64_t count = (int64_t)(parts.whole_count + parts.fraction_count);
    /* number of digits from the unit up, which may be more than there are */
    const int64_t units = (int64_t)parts.whole_count + parts.exponent + (int64_t)decimals;
    const int64_t kept = units < 0 ? 0 : units < count ? units : count;
    if (units >= 0 && units < count)
        next = text_number_digit(&parts, (size_t)units);
    for (int64_t i = kept + (units >= 0); i < count && !has_rest; i++)
        has_rest = text_number_digit(&parts, (size_t)i) != '0';
    if (!rules->is_rounded && (next != '0' || has_rest))
        return TEXT_NUMBER_INEXACT;
    const size_t whole = (size_t)kept < parts.whole_count ? (size_t)kept : parts.whole_count;
    if (!text_number_append(parts.whole, whole, number) ||
        !text_number_append(parts.fraction, (size_t)kept - whole, number))
        return TEXT_NUMBER_LARGE;
    if (*number > 0 && units > count &&
        (units - count > TEXT_NUMBER_DIGITS_MAX - 1 ||
         __builtin_mul_overflow(*number, decimal_power((uint64_t)(units - count)), number)))
        return TEXT_NUMBER_LARGE;
    const bool is_up = next > '5' || (next == '5' && (has_rest || (*number & 1) == 1));
    return __builtin_add_overflow(*number, (uint64_t)is_up, number) ? TEXT_NUMBER_LARGE
                                                                    : TEXT_NUMBER_VALID;
}

bool text_number_read_any(const struct text_rules *rules, const char *token, size_t bytes,
                          struct text_number *number)
{
    const char *end = token + bytes;
    bool is_valid = true;

    number->is_negative = bytes > 0 && *token == '-';
    number->magnitude = 0;
    token += number->is_negative || (bytes > 0 && *token == '+');
    if (token == end)
        return false;
    switch (rules->notation) {
    case TEXT_INTEGERS:
        if (text_number_read_integer(token, end, &number->magnitude))
            return true;
        return rules->has_exponents && text_number_has_exponent(token, (size_t)(end - token)) &&
               text_number_read_decimal(rules, token, (size_t)(end - token), &number->magnitude) ==
                   TEXT_NUMBER_VALID;
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
    case TEXT_FIXED:
        return text_number_read_decimal(rules, token, (size_t)(end - token), &number->magnitude) ==
               TEXT_NUMBER_VALID;
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
