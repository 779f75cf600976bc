/*
 * Shared by the files about timestamps: the parts of a timestamp as they are read, and the
 * calendar. Functions that a GPU needs are compiled for host and device. Pure and thread-safe.
 */
#ifndef GPUHIST_KIND_TIME_INTERNAL_H
#define GPUHIST_KIND_TIME_INTERNAL_H

#include "lib/bytes.h"
#include "lib/decimal.h"
#include "lib/host_device.h"
#include "value/kind_time.h"

#include <limits.h>

#define KIND_TIME_DAY INT64_C(86400)

/* The seconds of 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
#define KIND_TIME_FIRST_SECOND (-INT64_C(62135596800))
#define KIND_TIME_LAST_SECOND  INT64_C(253402300799)

/* A timestamp as it is written. The ranges of its parts are not checked. */
struct kind_time_parts {
    unsigned year;
    unsigned month;
    unsigned day;
    unsigned hour;
    unsigned minute;
    unsigned second;
    int offset;                 /* seconds that the clock is ahead of UTC, or KIND_TIME_NO_OFFSET */
    unsigned nanoseconds;       /* the first nine digits of the fraction */
    bool has_offset;            /* it has an offset, or the name of a zone */
    bool has_rest;              /* the fraction has further digits that are not all 0 */
    bool is_zone_unknown;       /* it has the name of an unknown zone, and no offset */
    bool is_epoch;              /* seconds since 1970 replace the date and the time of day */
    bool is_negative;           /* these seconds are negative */
    uint64_t epoch;             /* the magnitude of these seconds; UINT64_MAX: that or more */
    enum kind_time_fault fault; /* why it is rejected, if that can be told */
};

/* The value of `offset` if the written one is impossible. */
#define KIND_TIME_NO_OFFSET INT_MAX

struct kind_time_date {
    int64_t year;
    unsigned month; /* from 1 */
    unsigned day;   /* from 1 */
};

HOST_DEVICE_INLINE bool kind_time_is_leap(unsigned year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Returns the days of a year before a month, 1 to 13; month 13 gives all days of the year. */
HOST_DEVICE_INLINE unsigned kind_time_days_before_month(unsigned year, unsigned month)
{
    static const unsigned short days[2][13] = {
        {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365},
        {0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366},
    };
    return days[kind_time_is_leap(year)][month - 1];
}

/* Returns the days from 1970-01-01 to the start of a year, 1 to 10000. */
HOST_DEVICE_INLINE int64_t kind_time_days_before_year(unsigned year)
{
    unsigned before = year - 1;
    unsigned centuries = before / 100;
    return (int64_t)(365 * before + before / 4 - centuries + centuries / 4) - 719162;
}

/*
 * Returns the date of a day counted from 1970-01-01. Years begin in March, so that a leap day is
 * the last (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days).
 */
HOST_DEVICE_INLINE struct kind_time_date kind_time_find_date(int64_t days)
{
    days += 719468;                                            /* from 0000-03-01 */
    int64_t era = (days >= 0 ? days : days - 146096) / 146097; /* an era has 400 years */
    unsigned day = (unsigned)(days - era * 146097);            /* day of the era */
    unsigned year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100; /* day of the year */
    unsigned month = (5 * day + 2) / 153;      /* from March */
    struct kind_time_date date;
    date.year = (int64_t)year + era * 400 + (month >= 10);
    date.month = month < 10 ? month + 3 : month - 9;
    date.day = day - (153 * month + 2) / 5 + 1;
    return date;
}

/* Returns the quotient, rounded towards minus infinity. */
HOST_DEVICE_INLINE int64_t kind_time_divide(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

HOST_DEVICE_INLINE bool kind_time_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Returns whether a time may end at this byte, which is white space. */
HOST_DEVICE_INLINE bool kind_time_is_white(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/*
 * Each of the following functions reads its item at `at`, and returns its end; `at` itself if the
 * item is not there.
 */
/* The digits of a fraction. */
HOST_DEVICE_INLINE const char *kind_time_read_fraction(const char *at, const char *end,
                                                       struct kind_time_parts *parts)
{
    unsigned nanoseconds = 0;
    unsigned count = 0;

    for (; at < end && kind_time_is_digit(*at); at++) {
        if (count < KIND_TIME_DIGITS_MAX) {
            nanoseconds = nanoseconds * 10 + (unsigned)(*at - '0');
            count++;
        } else {
            parts->has_rest |= *at != '0';
        }
    }
    parts->nanoseconds = nanoseconds * (unsigned)decimal_power(KIND_TIME_DIGITS_MAX - count);
    return at;
}

/* A point or comma with a fraction. */
HOST_DEVICE_INLINE const char *kind_time_read_point(const char *at, const char *end,
                                                    struct kind_time_parts *parts)
{
    if (end - at < 2 || (*at != '.' && *at != ',') || !kind_time_is_digit(at[1]))
        return at;
    return kind_time_read_fraction(at + 1, end, parts);
}

/* Seconds since 1970: [+-]digits; with a fraction also digits.digits, digits. and .digits */
HOST_DEVICE_INLINE const char *kind_time_read_epoch(const char *at, const char *end,
                                                    bool with_fraction,
                                                    struct kind_time_parts *parts)
{
    const uint64_t eight = 100000000; /* 10^8 */
    const char *begin = at;
    const char *digits = at + (at < end && (*at == '-' || *at == '+'));
    uint64_t epoch = 0; /* UINT64_MAX once it is that or more */

    for (at = digits; end - at >= 8; at += 8) {
        const uint64_t word = bytes_load(at) ^ BYTES_OF('0');
        if (bytes_no_digits(word) != 0)
            break;
        epoch =
            epoch > UINT64_MAX / eight - 1 ? UINT64_MAX : epoch * eight + bytes_join_eight(word);
    }
    for (; at < end && kind_time_is_digit(*at); at++)
        epoch = epoch > UINT64_MAX / 10 - 1 ? UINT64_MAX : epoch * 10 + (uint64_t)(*at - '0');
    bool has_digits = at > digits;
    if (with_fraction && at < end && *at == '.') {
        const char *point = at;
        at = kind_time_read_fraction(point + 1, end, parts);
        has_digits |= at > point + 1;
    }
    if (!has_digits)
        return begin;
    parts->is_epoch = true;
    parts->is_negative = *begin == '-';
    parts->epoch = epoch;
    return at;
}

/* Returns the number that two digits form. */
HOST_DEVICE_INLINE unsigned kind_time_pair(const char *digits)
{
    return (unsigned)(digits[0] - '0') * 10 + (unsigned)(digits[1] - '0');
}

/* An offset: Z, +HH, +HHMM, or +HH:MM that neither a digit nor a fraction follows. */
HOST_DEVICE_INLINE const char *kind_time_read_offset(const char *at, const char *end, int *offset)
{
    const char *stop = at + 1;
    unsigned hours = 0;
    unsigned minutes = 0;

    if (at == end || (*at != '+' && *at != '-' && *at != 'Z' && *at != 'z'))
        return at;
    if (*at == '+' || *at == '-') {
        if (end - at < 3 || !kind_time_is_digit(at[1]) || !kind_time_is_digit(at[2]))
            return at;
        hours = kind_time_pair(at + 1);
        stop = at + 3;
        const bool has_colon = stop < end && *stop == ':';
        const char *more = stop + has_colon;
        if (end - more >= 2 && kind_time_is_digit(more[0]) && kind_time_is_digit(more[1]) &&
            (!has_colon || end - more < 4 || more[2] != '.' || !kind_time_is_digit(more[3])) &&
            (!has_colon || end - more == 2 || !kind_time_is_digit(more[2]))) {
            minutes = kind_time_pair(more);
            stop = more + 2;
        }
    }
    *offset = hours > 23 || minutes > 59 ? KIND_TIME_NO_OFFSET
                                         : (int)(hours * 60 + minutes) * (*at == '-' ? -60 : 60);
    return stop;
}

/* Reads a timestamp of the format at `text`. Returns its end, NULL if there is none. */
const char *kind_time_format_match(const struct kind_time_format *format, const char *text,
                                   const char *end, struct kind_time_parts *parts);

/* Stores an instant in units of 10^-digits seconds. Returns false if it is out of range. */
HOST_DEVICE_INLINE bool kind_time_scale(unsigned digits, int64_t seconds, unsigned nanoseconds,
                                        int64_t *value)
{
    __int128 scaled = (__int128)seconds * (int64_t)decimal_power(digits);

    if (digits > 0 && nanoseconds > 0)
        scaled += nanoseconds / (unsigned)decimal_power(KIND_TIME_DIGITS_MAX - digits);
    *value = (int64_t)scaled;
    return seconds >= KIND_TIME_FIRST_SECOND && seconds <= KIND_TIME_LAST_SECOND &&
           *value == scaled;
}

#endif
