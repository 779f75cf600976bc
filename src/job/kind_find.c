/* Implements kind_find.h. */
#include "config.h"

#include "job/kind_find.h"

#include "base/kind_ip.h"
#include "base/kind_time.h"
#include "job/text_rules.h"

#include <stdio.h>
#include <string.h>

static bool kind_find_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Returns how many digits are at text[0], up to text[bytes]. */
static size_t kind_find_digits(const char *text, size_t bytes)
{
    size_t digits = 0;

    while (digits < bytes && kind_find_is_digit(text[digits]))
        digits++;
    return digits;
}

bool kind_find_read_number(const char *text, size_t bytes, struct kind_find_number *number)
{
    const size_t sign = bytes > 0 && (*text == '-' || *text == '+');
    const size_t whole = kind_find_digits(text + sign, bytes - sign);
    const size_t point = sign + whole;
    const bool has_point = point < bytes && text[point] == '.';
    const size_t first = point + has_point;
    const size_t decimals = kind_find_digits(text + first, bytes - first);

    *number = (struct kind_find_number){
        .has_plus = sign > 0 && *text == '+',
        .has_point = has_point,
        .has_leading_zero = whole > 1 && text[sign] == '0',
        .whole = (unsigned)whole,
        .decimals = (unsigned)decimals,
    };
    return first + decimals == bytes && whole + decimals > 0;
}

/* Adds a number. Returns false if the text is none. */
static bool kind_find_add_number(struct kind_find *found, const char *text, size_t bytes)
{
    struct kind_find_number number;

    if (!kind_find_read_number(text, bytes, &number))
        return false;
    found->integers += !number.has_point && !number.has_plus;
    found->has_leading_zero |= !number.has_point && number.has_leading_zero;
    found->whole_digits = number.whole > found->whole_digits ? number.whole : found->whole_digits;
    if (found->numbers == 0 || number.decimals < found->decimals_least)
        found->decimals_least = number.decimals;
    found->decimals = number.decimals > found->decimals ? number.decimals : found->decimals;
    found->numbers++;
    return true;
}

/* Whether a text is a number with an exponent. */
static bool kind_find_has_exponent(const char *text, size_t bytes)
{
    struct kind_find_number number;
    size_t e = 0;

    while (e < bytes && text[e] != 'e' && text[e] != 'E')
        e++;
    return e + 1 < bytes && kind_find_read_number(text, e, &number) &&
           kind_find_read_number(text + e + 1, bytes - e - 1, &number) && number.decimals == 0;
}

/* Adds a time. Returns false if the text is none. */
static bool kind_find_add_time(struct kind_find *found, const struct kind_text *text)
{
    struct kind_time_rules rules = {.is_cell = text->is_cell, .is_joined = text->is_joined};
    const char *data = text->data;
    int64_t value;
    size_t used = kind_time_read(&rules, data, text->bytes, text->bytes + text->more, &value, NULL);

    if (used == 0) { /* the name of a zone is read as localtime alone */
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

void kind_find_add(struct kind_find *found, const struct kind_text *text)
{
    char written[KIND_IP_SIZE];
    struct kind_ip address;

    if (text->bytes == 0 ||
        (found->skips_null && text->bytes == 4 && memcmp(text->data, "null", 4) == 0))
        return;
    found->values++;
    if (kind_find_add_number(found, text->data, text->bytes) || kind_find_add_time(found, text))
        return;
    if (kind_find_has_exponent(text->data, text->bytes))
        found->exponents++;
    else if (kind_ip_read(text->data, text->bytes, &address) &&
             kind_ip_write(written, address) == text->bytes &&
             memcmp(written, text->data, text->bytes) == 0)
        found->addresses++;
}

const char *kind_find_choose(const struct kind_find *found, enum kind_find_use use,
                             char kind[KIND_FIND_SIZE])
{
    const size_t values = found->values;
    const unsigned digits =
        found->fraction < KIND_TIME_DIGITS_MAX ? found->fraction : KIND_TIME_DIGITS_MAX;

    *kind = '\0';
    if (values == 0)
        return NULL;
    if (found->numbers == values) {
        if (found->integers == values && use == KIND_FIND_KEYS && found->has_leading_zero)
            strcpy(kind, "text");
        if (found->decimals == 0 || found->whole_digits + found->decimals > TEXT_DECIMALS_MAX)
            return NULL;
        snprintf(kind, KIND_FIND_SIZE, ".%u", found->decimals);
        return use == KIND_FIND_KEYS && found->decimals_least != found->decimals
                   ? "are numbers with different decimals"
                   : NULL;
    }
    if (found->times == values) {
        snprintf(kind, KIND_FIND_SIZE, digits > 0 ? "%s.%u" : "%s",
                 found->has_offset ? "time" : "localtime", digits);
        return found->reads_on ? "are times of which the next words may be a part" : NULL;
    }
    if (use == KIND_FIND_NUMBERS)
        return NULL;
    if (found->addresses == values)
        strcpy(kind, "ip");
    else if (found->numbers == 0 && found->times == 0 && found->addresses == 0 &&
             found->exponents == 0)
        strcpy(kind, "text");
    return NULL;
}
