/* Implements kind_time_format.h: checks formats, and reads timestamps by them. */
#include "config.h"

#include "value/kind_time_format.h"

#include "value/kind_time_internal.h"

#include <string.h>

/* The information of a specifier, as bits. */
enum {
    KIND_TIME_YEAR = 1,
    KIND_TIME_MONTH = 2,
    KIND_TIME_MONTH_DAY = 4,
    KIND_TIME_HOUR = 8,
    KIND_TIME_MINUTE = 16,
    KIND_TIME_SECOND = 32,
    KIND_TIME_HALF_DAY = 64,
    KIND_TIME_FRACTION = 128,
    KIND_TIME_OFFSET = 256,
    KIND_TIME_ZONE = 512,
    KIND_TIME_WEEKDAY = 1024,
    KIND_TIME_HOUR_OF_12 = 2048,
    KIND_TIME_EPOCH = 4096,
    KIND_TIME_INSTANT = KIND_TIME_YEAR | KIND_TIME_MONTH | KIND_TIME_MONTH_DAY | KIND_TIME_HOUR |
                        KIND_TIME_MINUTE | KIND_TIME_SECOND | KIND_TIME_HALF_DAY | KIND_TIME_OFFSET,
};

struct kind_time_letter {
    char letter;
    unsigned says;    /* its information; 0: that of its expansion */
    const char *text; /* its expansion; NULL: none */
};

static const struct kind_time_letter kind_time_letters[] = {
    {'Y', KIND_TIME_YEAR, NULL},
    {'y', KIND_TIME_YEAR, NULL},
    {'m', KIND_TIME_MONTH, NULL},
    {'b', KIND_TIME_MONTH, NULL},
    {'B', 0, "%b"},
    {'h', 0, "%b"},
    {'d', KIND_TIME_MONTH_DAY, NULL},
    {'e', 0, "%d"},
    {'j', KIND_TIME_MONTH | KIND_TIME_MONTH_DAY, NULL},
    {'H', KIND_TIME_HOUR, NULL},
    {'k', 0, "%H"},
    {'I', KIND_TIME_HOUR | KIND_TIME_HOUR_OF_12, NULL},
    {'l', 0, "%I"},
    {'M', KIND_TIME_MINUTE, NULL},
    {'S', KIND_TIME_SECOND, NULL},
    {'f', KIND_TIME_FRACTION, NULL},
    {'p', KIND_TIME_HALF_DAY, NULL},
    {'a', KIND_TIME_WEEKDAY, NULL},
    {'A', 0, "%a"},
    {'s', KIND_TIME_INSTANT | KIND_TIME_EPOCH, NULL},
    {'z', KIND_TIME_OFFSET, NULL},
    {'Z', KIND_TIME_ZONE, NULL},
    {'F', 0, "%Y-%m-%d"},
    {'T', 0, "%H:%M:%S"},
    {'D', 0, "%m/%d/%y"},
    {'R', 0, "%H:%M"},
    {'n', 0, " "},
    {'t', 0, " "},
    {'%', 0, NULL},
};

/* Appends the steps of a text, the whole format or the expansion of a specifier. */
static enum status kind_time_append_steps(struct kind_time_format *format, const char *text,
                                          unsigned *said, struct failure *failure)
{
    for (size_t count = strlen(format->steps); *text != '\0'; text++) {
        if (count + 3 > sizeof format->steps)
            return status_fail(failure, STATUS_USAGE, "--time-format is too long");
        if (kind_time_is_white(*text)) {
            if (count == 0 || format->steps[count - 1] != ' ')
                format->steps[count++] = ' ';
            continue;
        }
        if (*text != '%') {
            format->steps[count++] = *text;
            continue;
        }
        const struct kind_time_letter *letter = NULL;
        const size_t letters = sizeof kind_time_letters / sizeof *kind_time_letters;
        text++;
        for (size_t i = 0; !letter && i < letters; i++)
            letter = kind_time_letters[i].letter == *text ? &kind_time_letters[i] : NULL;
        if (*text == '\0')
            return status_fail(failure, STATUS_USAGE,
                               "--time-format ends with %%: a percent sign is %%%%");
        if (!letter)
            return status_fail(failure, STATUS_USAGE,
                               "--time-format: %%%c is not supported; the letters are "
                               "YymbBhdejHkIlMSfpaAszZFTDRnt%%",
                               *text);
        if (*said & letter->says)
            return status_fail(failure, STATUS_USAGE,
                               "--time-format: %%%c says again what an earlier letter says", *text);
        *said |= letter->says;
        if (!letter->text) {
            format->steps[count++] = '%';
            format->steps[count++] = *text;
            continue;
        }
        if (kind_time_append_steps(format, letter->text, said, failure) != STATUS_OK)
            return failure->status;
        count = strlen(format->steps);
    }
    return STATUS_OK;
}

enum status kind_time_format_parse(struct kind_time_format *format, const char *text,
                                   struct failure *failure)
{
    unsigned said = 0;

    memset(format, 0, sizeof *format);
    if (kind_time_append_steps(format, text, &said, failure) != STATUS_OK)
        return failure->status;
    if ((said & KIND_TIME_MONTH) == 0 || (said & KIND_TIME_MONTH_DAY) == 0)
        return status_fail(failure, STATUS_USAGE,
                           "--time-format '%s' has no day and month, such as %%d.%%m.", text);
    const bool has_half = (said & KIND_TIME_HALF_DAY) != 0 && (said & KIND_TIME_EPOCH) == 0;
    const bool is_of_12 = (said & KIND_TIME_HOUR_OF_12) != 0;
    if (has_half != is_of_12)
        return status_fail(failure, STATUS_USAGE,
                           has_half ? "--time-format: %%p goes with the hours of %%I or %%l"
                                    : "--time-format: %%I and %%l go with %%p, which is AM or PM; "
                                      "%%H is hours to 23");
    format->lacks_year = (said & KIND_TIME_YEAR) == 0;
    return STATUS_OK;
}

static const char *const kind_time_months[] = {"January",   "February", "March",    "April",
                                               "May",       "June",     "July",     "August",
                                               "September", "October",  "November", "December"};
static const char *const kind_time_weekdays[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                 "Friday", "Saturday", "Sunday"};

/* Each of the following reads its item at `at` and returns its end; NULL if it is not there. */

/* A number of `min` to `max` digits. */
static const char *kind_time_read_number(const char *at, const char *end, int min, int max,
                                         unsigned *number)
{
    const char *digits = at;

    *number = 0;
    for (; at < end && at - digits < max && kind_time_is_digit(*at); at++)
        *number = *number * 10 + (unsigned)(*at - '0');
    return at - digits < min ? NULL : at;
}

/* A number of two digits; the first may be a blank or missing. */
static const char *kind_time_read_padded(const char *at, const char *end, unsigned *number)
{
    const bool is_padded = at < end && *at == ' ';
    return kind_time_read_number(at + is_padded, end, 1, 2 - is_padded, number);
}

/* One of the names, in full or its first three letters; and its number, from 1. */
static const char *kind_time_read_name(const char *at, const char *end, const char *const *names,
                                       unsigned count, unsigned *number)
{
    for (unsigned i = 0; i < count; i++) {
        size_t length = 0;
        while (names[i][length] != '\0' && at + length < end &&
               (at[length] | 0x20) == (names[i][length] | 0x20))
            length++;
        if (length >= 3) {
            *number = i + 1;
            return at + (names[i][length] == '\0' ? length : 3);
        }
    }
    return NULL;
}

/* Letters, which may be a name of UTC. */
static const char *kind_time_read_zone(const char *at, const char *end, bool *is_utc)
{
    const char *begin = at;

    while (at < end && (*at | 0x20) >= 'a' && (*at | 0x20) <= 'z')
        at++;
    *is_utc = at - begin == 3 && (memcmp(begin, "UTC", 3) == 0 || memcmp(begin, "GMT", 3) == 0);
    return at;
}

unsigned kind_time_format_year(const struct kind_time_format *format)
{
    return format->year > 0 ? format->year : (unsigned)kind_time_find_date(format->today).year;
}

/* Returns the year of a date without one; for a day of the year, month is 1. */
static unsigned kind_time_choose_year(const struct kind_time_format *format, unsigned month,
                                      unsigned day)
{
    const int64_t tomorrow = format->today + 1;
    const unsigned year = kind_time_format_year(format);

    if (format->year > 0 || month < 1 || month > 12)
        return format->year;
    const int64_t date = kind_time_days_before_year(year) +
                         kind_time_days_before_month(year, month) + (int64_t)day - 1;
    return year - (date > tomorrow);
}

const char *kind_time_format_match(const struct kind_time_format *format, const char *text,
                                   const char *end, struct kind_time_parts *parts)
{
    bool is_half_day = false, is_afternoon = false;
    bool is_day_of_year = false, has_offset = false;
    bool is_utc = true;
    const char *at = text;
    unsigned number;

    *parts = (struct kind_time_parts){.year = 1970, .month = 1, .day = 1};
    for (const char *step = format->steps; *step != '\0'; step++) {
        const char *begin = at;
        if (*step == ' ') {
            while (at < end && kind_time_is_white(*at))
                at++;
        } else if (*step != '%') {
            at += at < end && *at == *step;
        } else {
            const bool has_point = step[2] == '.' || step[2] == ',';
            switch (*++step) {
            case 'Y':
                at = kind_time_read_number(at, end, 4, 4, &parts->year);
                break;
            case 'y':
                at = kind_time_read_number(at, end, 2, 2, &number);
                parts->year = number + (number < 69 ? 2000 : 1900);
                break;
            case 'm':
                at = kind_time_read_number(at, end, 1, 2, &parts->month);
                break;
            case 'b':
                at = kind_time_read_name(at, end, kind_time_months, 12, &parts->month);
                break;
            case 'a':
                at = kind_time_read_name(at, end, kind_time_weekdays, 7, &number);
                break;
            case 'j':
                is_day_of_year = true;
                at = kind_time_read_number(at, end, 1, 3, &parts->day);
                break;
            case 'd':
                at = kind_time_read_padded(at, end, &parts->day);
                break;
            case 'H':
            case 'I':
                is_half_day = *step == 'I';
                at = kind_time_read_padded(at, end, &parts->hour);
                break;
            case 'M':
                at = kind_time_read_number(at, end, 1, 2, &parts->minute);
                break;
            case 'S':
                at = kind_time_read_number(at, end, 1, 2, &parts->second);
                if (at && !has_point)
                    at = kind_time_read_point(at, end, parts);
                break;
            case 'f':
                at = kind_time_read_fraction(at, end, parts);
                break;
            case 'p':
                if (end - at < 2 || (at[1] | 0x20) != 'm')
                    return NULL;
                is_afternoon = (*at | 0x20) == 'p';
                at = is_afternoon || (*at | 0x20) == 'a' ? at + 2 : NULL;
                break;
            case 's':
                at = kind_time_read_epoch(at, end, !has_point, parts);
                break;
            case 'z':
                has_offset = true;
                at = kind_time_read_offset(at, end, &parts->offset);
                break;
            case 'Z':
                at = kind_time_read_zone(at, end, &is_utc);
                break;
            case '%':
                at += at < end && *at == '%';
                break;
            }
        }
        if (!at || at == begin)
            return NULL;
    }
    if (format->lacks_year)
        parts->year = kind_time_choose_year(format, parts->month, parts->day);
    parts->is_zone_unknown = !is_utc && !has_offset;
    if (is_half_day) {
        if (parts->hour < 1 || parts->hour > 12)
            return NULL;
        parts->hour = parts->hour % 12 + (is_afternoon ? 12 : 0);
    }
    if (is_day_of_year) {
        for (parts->month = 1;
             parts->month < 12 &&
             parts->day > kind_time_days_before_month(parts->year, parts->month + 1);)
            parts->month++;
        parts->day -= kind_time_days_before_month(parts->year, parts->month);
    }
    return at;
}
