/* Implements kind_unit.h. */
#include "config.h"

#include "value/kind_unit.h"

#include "lib/decimal.h"

#include <string.h>

#define KIND_UNIT_SECOND ((unsigned __int128)1000000000000000000u) /* 10^18 */

/* A number without its sign. */
struct kind_unit_number {
    unsigned __int128 whole;
    const char *fraction; /* [places]: the digits after the point */
    size_t places;
    bool has_point;
};

/* A text that is read from `at`. */
struct kind_unit_text {
    const char *at;
    const char *end;
};

static bool kind_unit_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void kind_unit_skip_blanks(struct kind_unit_text *text)
{
    while (text->at < text->end && *text->at == ' ')
        text->at++;
}

/* Takes a sign, if there is one. Returns whether it is a minus. */
static bool kind_unit_take_sign(struct kind_unit_text *text)
{
    const bool is_negative = text->at < text->end && *text->at == '-';

    text->at += is_negative || (text->at < text->end && *text->at == '+');
    return is_negative;
}

/* Takes digits with or without a point. Returns false if there are none, or too many. */
static bool kind_unit_take_number(struct kind_unit_text *text, struct kind_unit_number *number)
{
    const char *begin = text->at;

    *number = (struct kind_unit_number){.whole = 0};
    for (; text->at < text->end && kind_unit_is_digit(*text->at); text->at++) {
        if (__builtin_mul_overflow(number->whole, 10, &number->whole) ||
            __builtin_add_overflow(number->whole, *text->at - '0', &number->whole))
            return false;
    }
    number->has_point = text->at < text->end && *text->at == '.';
    text->at += number->has_point;
    number->fraction = text->at;
    while (number->has_point && text->at < text->end && kind_unit_is_digit(*text->at))
        text->at++;
    number->places = (size_t)(text->at - number->fraction);
    return text->at - begin > number->has_point;
}

/*
 * Multiplies a number by a unit, below 2^100. It begins with the last digit of the fraction, so
 * that it only needs to know whether the rest below 1 is 0. Otherwise the rest is rounded up, or an
 * error.
 */
static bool kind_unit_scale(const struct kind_unit_number *number, unsigned __int128 unit,
                            bool is_rounded, unsigned __int128 *value)
{
    unsigned __int128 part = 0;
    bool has_rest = false;

    for (size_t i = number->places; i-- > 0; part /= 10) {
        part += (unsigned)(number->fraction[i] - '0') * unit;
        has_rest = has_rest || part % 10 != 0;
    }
    return (is_rounded || !has_rest) && !__builtin_mul_overflow(number->whole, unit, value) &&
           !__builtin_add_overflow(*value, part + has_rest, value);
}

static bool kind_unit_store(unsigned __int128 magnitude, bool is_negative, __int128 *value)
{
    *value = is_negative ? -(__int128)magnitude : (__int128)magnitude;
    return magnitude >> 127 == 0;
}

/* The units of durations, in nanoseconds, the largest first. */
static const struct {
    const char *name;
    uint64_t nanoseconds;
} kind_unit_durations[] = {
    {"d", 86400000000000},
    {"h", 3600000000000},
    {"min", 60000000000},
    {"m", 60000000000},
    {"sec", 1000000000},
    {"s", 1000000000},
    {"ms", 1000000},
    {"us", 1000},
    {"\xc2\xb5s", 1000},
    {"\xce\xbcs", 1000},
    {"ns", 1},
};

/* Takes the letters of a unit's name. Returns its nanoseconds; 0: it is unknown. */
static uint64_t kind_unit_take_duration(struct kind_unit_text *text)
{
    const char *stop = text->at;

    while (stop < text->end && !kind_unit_is_digit(*stop) && *stop != ' ' && *stop != '.')
        stop++;
    const size_t bytes = (size_t)(stop - text->at);
    for (size_t i = 0; i < sizeof kind_unit_durations / sizeof *kind_unit_durations; i++) {
        if (strlen(kind_unit_durations[i].name) != bytes ||
            memcmp(kind_unit_durations[i].name, text->at, bytes) != 0)
            continue;
        text->at = stop;
        return kind_unit_durations[i].nanoseconds;
    }
    return 0;
}

/* Takes the rest of H:MM:SS after its hours, in 10^-18 seconds. */
static bool kind_unit_take_clock(struct kind_unit_text *text, unsigned __int128 hours,
                                 unsigned __int128 *total)
{
    struct kind_unit_number seconds = {.whole = 0};
    unsigned __int128 whole = hours;

    for (unsigned i = 0; i < 2; i++) {
        if (text->end - text->at < 3 || text->at[0] != ':' || !kind_unit_is_digit(text->at[1]) ||
            !kind_unit_is_digit(text->at[2]) || text->at[1] > '5' ||
            __builtin_mul_overflow(whole, 60, &whole) ||
            __builtin_add_overflow(whole, (text->at[1] - '0') * 10 + text->at[2] - '0', &whole))
            return false;
        text->at += 3;
    }
    if (text->at < text->end && *text->at == '.' && !kind_unit_take_number(text, &seconds))
        return false;
    seconds.whole = whole;
    return kind_unit_scale(&seconds, KIND_UNIT_SECOND, false, total);
}

bool kind_unit_read_duration(unsigned unit, unsigned decimals, const char *text, size_t bytes,
                             __int128 *value)
{
    struct kind_unit_text rest = {text, text + bytes};
    const bool is_negative = kind_unit_take_sign(&rest);
    const unsigned __int128 divisor = decimal_power(18 - unit - decimals);
    unsigned __int128 total = 0; /* in 10^-18 seconds */
    uint64_t last = UINT64_MAX;  /* the last unit, in nanoseconds */
    bool has_fraction = false;

    do {
        struct kind_unit_number number;
        unsigned __int128 more;
        if (has_fraction || !kind_unit_take_number(&rest, &number))
            return false;
        has_fraction = number.has_point;
        if (last == UINT64_MAX && rest.at < rest.end && *rest.at == ':' && !has_fraction) {
            if (!kind_unit_take_clock(&rest, number.whole, &total))
                return false;
            break;
        }
        const bool is_alone = last == UINT64_MAX && rest.at == rest.end;
        kind_unit_skip_blanks(&rest);
        const uint64_t nanoseconds =
            is_alone ? decimal_power(9 - unit) : kind_unit_take_duration(&rest);
        if (nanoseconds == 0 || nanoseconds >= last ||
            !kind_unit_scale(&number, (unsigned __int128)nanoseconds * 1000000000, false, &more) ||
            __builtin_add_overflow(total, more, &total))
            return false;
        last = nanoseconds;
        kind_unit_skip_blanks(&rest);
    } while (rest.at < rest.end);
    return rest.at == rest.end && total % divisor == 0 &&
           kind_unit_store(total / divisor, is_negative, value);
}

bool kind_unit_read_size(unsigned unit, const char *text, size_t bytes, __int128 *value)
{
    static const char letters[] = "KMGTPE";
    struct kind_unit_text rest = {text, text + bytes};
    const bool is_negative = kind_unit_take_sign(&rest);
    struct kind_unit_number number;
    unsigned __int128 factor = 1;
    unsigned __int128 magnitude;

    if (!kind_unit_take_number(&rest, &number))
        return false;
    kind_unit_skip_blanks(&rest);
    const char *letter =
        rest.at < rest.end ? strchr(letters, *rest.at == 'k' ? 'K' : *rest.at) : NULL;
    if (letter && *letter) {
        rest.at++;
        const bool has_i = rest.at < rest.end && *rest.at == 'i';
        rest.at += has_i;
        for (const char *power = letters; power <= letter; power++)
            factor *= has_i ? 1024 : unit;
    }
    rest.at += rest.at < rest.end && *rest.at == 'B';
    return rest.at == rest.end && kind_unit_scale(&number, factor, factor > 1, &magnitude) &&
           kind_unit_store(magnitude, is_negative, value);
}
