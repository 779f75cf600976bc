/* Implements kind_find.h. */
#include "config.h"

#include "value/kind_find.h"

#include "value/kind_ip.h"
#include "value/kind_time.h"
#include "value/text_rules.h"

#include <stdio.h>
#include <string.h>

/* Digits of the smallest value that rounding keeps. */
#define KIND_FIND_ROUND_DIGITS 6

static bool kind_find_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Returns the number of digits at the start of text[0..bytes). */
static size_t kind_find_digits(const char *text, size_t bytes)
{
    size_t digits = 0;

    while (digits < bytes && kind_find_is_digit(text[digits]))
        digits++;
    return digits;
}

/* Exponents are clamped to this absolute value. */
#define KIND_FIND_EXPONENT_MAX ((int64_t)1 << 59)

/* Reads text[0..bytes) as an exponent, such as e-3. Returns false if it is not one. */
static bool kind_find_read_exponent(const char *text, size_t bytes, int64_t *exponent)
{
    size_t i = 1;

    *exponent = 0;
    if (bytes < 2 || (*text != 'e' && *text != 'E'))
        return false;
    i += text[1] == '-' || text[1] == '+';
    if (i == bytes || kind_find_digits(text + i, bytes - i) != bytes - i)
        return false;
    for (; i < bytes; i++)
        *exponent = *exponent < KIND_FIND_EXPONENT_MAX / 10 ? *exponent * 10 + (text[i] - '0')
                                                            : KIND_FIND_EXPONENT_MAX;
    *exponent = text[1] == '-' ? -*exponent : *exponent;
    return true;
}

bool kind_find_read_number(const char *text, size_t bytes, struct kind_find_number *number)
{
    const size_t sign = bytes > 0 && (*text == '-' || *text == '+');
    const size_t whole = kind_find_digits(text + sign, bytes - sign);
    const size_t point = sign + whole;
    const bool has_point = point < bytes && text[point] == '.';
    const size_t first = point + has_point;
    const size_t decimals = kind_find_digits(text + first, bytes - first);
    const size_t end = first + decimals;
    size_t leading = sign; /* the first digit that is not 0 */
    size_t last = end;     /* the byte after the last digit that is not 0 */
    int64_t exponent = 0;

    *number = (struct kind_find_number){
        .has_plus = sign > 0 && *text == '+',
        .has_minus = sign > 0 && *text == '-',
        .has_point = has_point,
        .has_leading_zero = whole > 1 && text[sign] == '0',
        .has_exponent = end < bytes,
        .whole = (unsigned)whole,
        .decimals = (unsigned)decimals,
    };
    if (whole + decimals == 0 ||
        (end < bytes && !kind_find_read_exponent(text + end, bytes - end, &exponent)))
        return false;
    while (leading < end && (text[leading] == '0' || text[leading] == '.'))
        leading++;
    while (last > leading && (text[last - 1] == '0' || text[last - 1] == '.'))
        last--;
    number->is_zero = leading == end;
    number->digits = (int64_t)point - (int64_t)leading + (leading > point) + exponent;
    number->places = (int64_t)last - (int64_t)point - (last > point) - exponent;
    return true;
}

unsigned kind_find_round(int64_t digits)
{
    const int64_t decimals = KIND_FIND_ROUND_DIGITS - digits;

    return decimals < 0 ? 0 : decimals < TEXT_DECIMALS_MAX ? (unsigned)decimals : TEXT_DECIMALS_MAX;
}

/* Adds a number. Returns false if the text is not a number or has an exponent. */
static bool kind_find_add_number(struct kind_find *found, const char *text, size_t bytes)
{
    struct kind_find_number number;

    if (!kind_find_read_number(text, bytes, &number))
        return false;
    if (!number.is_zero) {
        const bool is_first = found->amounts++ == 0;
        if (is_first || number.digits > found->digits_most)
            found->digits_most = number.digits;
        if (is_first || number.digits < found->digits_least)
            found->digits_least = number.digits;
        found->places = number.places > found->places ? number.places : found->places;
    }
    if (number.has_exponent) {
        found->exponents++;
        return false;
    }
    found->integers += !number.has_point && !number.has_plus;
    found->has_leading_zero |= number.has_leading_zero;
    found->has_variants |= number.has_plus || number.has_leading_zero || number.whole == 0 ||
                           (number.has_point && number.decimals == 0) ||
                           (number.has_minus && number.is_zero);
    found->whole_digits = number.whole > found->whole_digits ? number.whole : found->whole_digits;
    if (found->numbers == 0 || number.decimals < found->decimals_least)
        found->decimals_least = number.decimals;
    found->decimals = number.decimals > found->decimals ? number.decimals : found->decimals;
    found->numbers++;
    return true;
}

/* Adds a timestamp. Returns false if the text is not one. */
static bool kind_find_add_time(struct kind_find *found, const struct kind_text *text)
{
    struct kind_time_rules rules = {.is_cell = text->is_cell, .is_joined = text->is_joined};
    const char *data = text->data;
    int64_t value;
    size_t used = kind_time_read(&rules, data, text->bytes, text->bytes + text->more, &value, NULL);

    if (used == 0) { /* only localtime reads the name of a zone */
        rules.is_local = true;
        used = kind_time_read(&rules, data, text->bytes, text->bytes + text->more, &value, NULL);
    }
    if (used == 0)
        return false;
    const char *colon = memchr(data, ':', used);
    size_t at = colon ? (size_t)(colon - data) : used;
    for (; at < used; at++) {
        if ((data[at] == '.' || data[at] == ',') && kind_find_is_digit(data[at - 1])) {
            const unsigned digits = (unsigned)kind_find_digits(data + at + 1, used - at - 1);
            found->fraction = digits > found->fraction ? digits : found->fraction;
        }
        found->has_offset |= strchr("+-ZUG", data[at]) != NULL;
    }
    found->reads_on |= used > text->bytes;
    found->times++;
    return true;
}

bool kind_find_is_placeholder(const char *text, size_t bytes)
{
    static const char *const words[] = {"-",   ".",    "NA",   "N/A",  "NaN",
                                        "nan", "null", "NULL", "None", "\\N"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i]) == bytes && memcmp(words[i], text, bytes) == 0)
            return true;
    }
    return false;
}

/* Returns whether an IP address has no brackets and no port. */
static bool kind_find_is_bare(const char *text, size_t bytes)
{
    const char *point = memrchr(text, '.', bytes);

    return !strchr("[(\"", *text) && !(point && memchr(point, ':', bytes - (size_t)(point - text)));
}

void kind_find_add(struct kind_find *found, const struct kind_text *text)
{
    char written[KIND_IP_SIZE];
    struct kind_ip address;

    if (kind_find_is_placeholder(text->data, text->bytes)) {
        found->placeholders++;
        return;
    }
    found->values++;
    if (kind_find_add_number(found, text->data, text->bytes) || kind_find_add_time(found, text))
        return;
    if (!kind_ip_read(text->data, text->bytes, &address))
        return;
    if (kind_ip_write(written, address) == text->bytes &&
        memcmp(written, text->data, text->bytes) == 0)
        found->addresses++;
    else if (kind_find_is_bare(text->data, text->bytes))
        found->variants++;
}

bool kind_find_is_rounded(const struct kind_find *found)
{
    return found->values > 0 && found->numbers + found->exponents == found->values &&
           (found->exponents > 0 ||
            (found->decimals > 0 && found->whole_digits + found->decimals > TEXT_DECIMALS_MAX));
}

/*
 * Writes the kind that rounds the values. It keeps all decimal places, or if they do not fit, six
 * digits of the smallest value.
 */
static void kind_find_choose_rounded(const struct kind_find *found, char kind[KIND_FIND_SIZE])
{
    const int64_t whole = found->digits_most > 0 ? found->digits_most : 0;
    const bool is_exact = whole + found->places <= TEXT_DECIMALS_MAX;

    snprintf(kind, KIND_FIND_SIZE, "round.%u",
             is_exact ? (unsigned)found->places : kind_find_round(found->digits_least));
}

const char *kind_find_choose(const struct kind_find *found, enum kind_find_use use,
                             char kind[KIND_FIND_SIZE])
{
    const size_t values = found->values;
    const unsigned digits =
        found->fraction < KIND_TIME_DIGITS_MAX ? found->fraction : KIND_TIME_DIGITS_MAX;

    *kind = '\0';
    if (values == 0) {
        strcpy(kind, found->placeholders > 0 && use != KIND_FIND_NUMBERS ? "text" : "");
        return NULL;
    }
    if (kind_find_is_rounded(found)) {
        kind_find_choose_rounded(found, kind);
        return found->exponents > 0 ? "are numbers with exponents"
                                    : "are numbers of more digits than are read exactly";
    }
    if (found->numbers == values) {
        if (found->integers == values && use == KIND_FIND_KEYS && found->has_leading_zero)
            strcpy(kind, "text");
        if (found->decimals == 0)
            return NULL;
        snprintf(kind, KIND_FIND_SIZE, ".%u", found->decimals);
        return use == KIND_FIND_KEYS && found->decimals_least != found->decimals
                   ? "are numbers with different decimals"
                   : NULL;
    }
    if (found->times == values) {
        snprintf(kind, KIND_FIND_SIZE, digits > 0 ? "%s.%u" : "%s",
                 found->has_offset ? "time" : "localtime", digits);
        return found->reads_on ? "are timestamps of which the next words may be a part" : NULL;
    }
    if (use == KIND_FIND_NUMBERS)
        return NULL;
    if (found->addresses > 0 && found->addresses + found->variants == values) {
        strcpy(kind, "ip");
        return use == KIND_FIND_KEYS && found->variants > 0
                   ? "are IP addresses in several notations"
                   : NULL;
    }
    if (found->numbers == 0 && found->times == 0 && found->addresses == 0 && found->exponents == 0)
        strcpy(kind, "text");
    return NULL;
}

bool kind_find_is_uniform(const struct kind_find *found, enum kind_find_use use)
{
    const size_t values = found->values;

    if (values == 0 || (found->times == values && !found->reads_on))
        return values > 0;
    if (use != KIND_FIND_KEYS)
        return false;
    return found->addresses == values || (found->numbers == values && !found->has_variants &&
                                          found->decimals_least == found->decimals);
}

void kind_find_alternatives(const char *kind, char first[KIND_FIND_SIZE],
                            char second[KIND_FIND_SIZE])
{
    const char *time = strstr(kind, "time"); /* also of localtime */

    snprintf(first, KIND_FIND_SIZE, "%s", time ? time : kind);
    snprintf(second, KIND_FIND_SIZE, "%s%s", time ? "local" : "text", time ? time : "");
}
