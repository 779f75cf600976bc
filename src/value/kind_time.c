/* Implements kind_time.h. */
#include "config.h"

#include "value/kind_time.h"

#include "value/kind_time_read.h"

/* Like kind_time_read; stores the length of the timestamp in *used. */
static inline enum kind_time_result kind_time_find(const struct kind_time_rules *rules,
                                                   const char *text, size_t field, size_t bytes,
                                                   int64_t *value, size_t *used,
                                                   enum kind_time_guess *guess)
{
    const struct kind_time_format *format = rules->format;
    const struct kind_time_span span = {.field_end = text + field, .end = text + bytes};
    struct kind_time_parts parts;
    const char *at = NULL;

    if (!format) {
        at = kind_time_read_known(rules, text, field, bytes, &parts);
    } else if (field > 0) {
        at = kind_time_format_match(format, text, span.end, &parts);
        at = at && kind_time_ends(at, &span) ? at : NULL;
    }
    if (!at)
        return KIND_TIME_INVALID;
    *used = (size_t)(at - text);
    if (format && format->lacks_year && format->year == 0)
        *guess = parts.year == kind_time_format_year(format) ? KIND_TIME_GUESS_YEAR
                                                             : KIND_TIME_GUESS_YEAR_BEFORE;
    else if (kind_time_is_zero((unsigned char)*text, field > 1 ? (unsigned char)text[1] : '\n'))
        *guess = KIND_TIME_GUESS_ZERO;
    else
        *guess = KIND_TIME_GUESS_NONE;
    return kind_time_convert(rules, &parts, value);
}

size_t kind_time_read(const struct kind_time_rules *rules, const char *text, size_t field,
                      size_t bytes, int64_t *value, enum kind_time_guess *guess)
{
    enum kind_time_guess guessed;
    int64_t found;
    size_t used;

    if (kind_time_find(rules, text, field, bytes, &found, &used, &guessed) != KIND_TIME_VALID)
        return 0;
    *value = found;
    if (guess)
        *guess = guessed;
    return used;
}

bool kind_time_is_out_of_range(const struct kind_time_rules *rules, const char *text, size_t field,
                               size_t bytes)
{
    enum kind_time_guess guess;
    int64_t value;
    size_t used;

    return kind_time_find(rules, text, field, bytes, &value, &used, &guess) ==
           KIND_TIME_OUT_OF_RANGE;
}

bool kind_time_has_offset(const struct kind_time_rules *rules, const char *text, size_t field,
                          size_t bytes)
{
    struct kind_time_parts parts;

    return kind_time_read_known(rules, text, field, bytes, &parts) &&
           (parts.has_offset || parts.is_epoch);
}

enum kind_time_fault kind_time_find_fault(const struct kind_time_rules *rules, const char *text,
                                          size_t field, size_t bytes)
{
    struct kind_time_parts parts = {.fault = KIND_TIME_FAULT_NONE};

    if (!rules->format && !kind_time_read_known(rules, text, field, bytes, &parts))
        return parts.fault;
    return KIND_TIME_FAULT_NONE;
}

/* Writes two digits. Returns their end. */
static inline char *kind_time_write_pair(char *out, unsigned number)
{
    out[0] = (char)('0' + number / 10);
    out[1] = (char)('0' + number % 10);
    return out + 2;
}

size_t kind_time_write(char *out, const struct kind_time_rules *rules, int64_t value)
{
    const int64_t scale = (int64_t)decimal_power(rules->digits);
    int64_t seconds = kind_time_divide(value, scale);
    const int64_t offset = rules->zone ? kind_time_zone_offset(rules->zone, seconds) : 0;
    uint64_t fraction = (uint64_t)value - (uint64_t)seconds * (uint64_t)scale;
    if (__builtin_add_overflow(seconds, offset, &seconds)) /* only edges can overflow */
        seconds = offset < 0 ? INT64_MIN : INT64_MAX;
    int64_t days = kind_time_divide(seconds, KIND_TIME_DAY);
    unsigned second = (unsigned)((uint64_t)seconds - (uint64_t)days * KIND_TIME_DAY);
    struct kind_time_date date = kind_time_find_date(days);
    uint64_t year = (uint64_t)(date.year < 0 ? -date.year : date.year);
    char *at = out;

    *at = date.year < 0 ? '-' : '+';
    at += date.year < 0 || year > 9999;
    if (year > 9999) {
        at += decimal_write(at, year);
    } else {
        at = kind_time_write_pair(at, (unsigned)year / 100);
        at = kind_time_write_pair(at, (unsigned)year % 100);
    }
    *at++ = '-';
    at = kind_time_write_pair(at, date.month);
    *at++ = '-';
    at = kind_time_write_pair(at, date.day);
    *at++ = 'T';
    at = kind_time_write_pair(at, second / 3600);
    *at++ = ':';
    at = kind_time_write_pair(at, second / 60 % 60);
    *at++ = ':';
    at = kind_time_write_pair(at, second % 60);
    if (rules->digits > 0) {
        *at++ = '.';
        for (unsigned i = rules->digits; i-- > 0; fraction /= 10)
            at[i] = (char)('0' + fraction % 10);
        at += rules->digits;
    }
    if (rules->zone) {
        const unsigned ahead = (unsigned)(offset < 0 ? -offset : offset);
        *at++ = offset < 0 ? '-' : '+';
        at = kind_time_write_pair(at, ahead / 3600);
        *at++ = ':';
        at = kind_time_write_pair(at, ahead / 60 % 60);
        if (ahead % 60 > 0) {
            *at++ = ':';
            at = kind_time_write_pair(at, ahead % 60);
        }
    } else if (!rules->is_local) {
        *at++ = 'Z';
    }
    return (size_t)(at - out);
}
