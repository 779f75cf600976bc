/*
 * What the files of times share: the parts of a time as they are read, and the calendar. Pure and
 * thread-safe.
 */
#ifndef GPUHIST_KIND_TIME_INTERNAL_H
#define GPUHIST_KIND_TIME_INTERNAL_H

#include "base/decimal.h"
#include "base/kind_time.h"

#include <limits.h>

#define KIND_TIME_DAY INT64_C(86400)

/* The seconds of 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
#define KIND_TIME_FIRST_SECOND (-INT64_C(62135596800))
#define KIND_TIME_LAST_SECOND  INT64_C(253402300799)

/* A time as it is written. Nothing is checked but that it is written with digits. */
struct kind_time_parts {
    unsigned year;
    unsigned month;
    unsigned day;
    unsigned hour;
    unsigned minute;
    unsigned second;
    int offset;           /* seconds that the clock is ahead of UTC, or KIND_TIME_NO_OFFSET */
    unsigned nanoseconds; /* of the fraction */
    bool has_rest;        /* the fraction has more, of which a digit is not 0 */
    bool is_zone_unknown; /* its name is, and no offset is written */
    bool is_epoch;        /* seconds since 1970 replace the date and the time of the day */
    bool is_negative;     /* these are */
    uint64_t epoch;       /* their magnitude; UINT64_MAX: that or more */
};

/* The offset where what is written is none that a clock can have. */
#define KIND_TIME_NO_OFFSET INT_MAX

struct kind_time_date {
    int64_t year;
    unsigned month; /* from 1 */
    unsigned day;   /* from 1 */
};

/* The days of a year before each month, and of the year; of common years and of leap years. */
extern const unsigned short kind_time_days_before[2][13];

static inline bool kind_time_is_leap(unsigned year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* The days from 1970-01-01 to the beginning of a year, which is from 1 to 10000. */
static inline int64_t kind_time_days_before_year(unsigned year)
{
    unsigned before = year - 1;
    unsigned centuries = before / 100;
    return (int64_t)(365 * before + before / 4 - centuries + centuries / 4) - 719162;
}

/*
 * The date of a day counted from 1970-01-01. Years begin in March, so that a leap day is the last
 * (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days).
 */
static inline struct kind_time_date kind_time_find_date(int64_t days)
{
    days += 719468;                                            /* from 0000-03-01 */
    int64_t era = (days >= 0 ? days : days - 146096) / 146097; /* of 400 years */
    unsigned day = (unsigned)(days - era * 146097);            /* in the era */
    unsigned year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100; /* in the year */
    unsigned month = (5 * day + 2) / 153;      /* from March */
    return (struct kind_time_date){.year = (int64_t)year + era * 400 + (month >= 10),
                                   .month = month < 10 ? month + 3 : month - 9,
                                   .day = day - (153 * month + 2) / 5 + 1};
}

/* Divides towards minus infinity. */
static inline int64_t kind_time_divide(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

static inline bool kind_time_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether a time may end at this byte, which is white space. */
static inline bool kind_time_is_white(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/*
 * Each of these reads at `at`, and returns the end of what it has read; `at` itself if it is not
 * there.
 */
/* The digits of a fraction. */
const char *kind_time_read_fraction(const char *at, const char *end, struct kind_time_parts *parts);
/* A point or comma with a fraction. */
const char *kind_time_read_point(const char *at, const char *end, struct kind_time_parts *parts);
/* Seconds since 1970: [+-]digits; with a fraction also digits.digits, digits. and .digits */
const char *kind_time_read_epoch(const char *at, const char *end, bool with_fraction,
                                 struct kind_time_parts *parts);
/* An offset: Z, +HH, +HHMM or +HH:MM */
const char *kind_time_read_offset(const char *at, const char *end, int *offset);

/* Reads a time of the format that begins at `text`. Returns its end, NULL if there is none. */
const char *kind_time_format_match(const struct kind_time_format *format, const char *text,
                                   const char *end, struct kind_time_parts *parts);

/* Stores the value of an instant in units of 10^-digits seconds. Returns false if out of range. */
static inline bool kind_time_scale(unsigned digits, int64_t seconds, unsigned nanoseconds,
                                   int64_t *value)
{
    int64_t fraction = 0;

    if (digits > 0 && nanoseconds > 0)
        fraction = (int64_t)(nanoseconds / decimal_powers[KIND_TIME_DIGITS_MAX - digits]);
    return seconds >= KIND_TIME_FIRST_SECOND && seconds <= KIND_TIME_LAST_SECOND &&
           !__builtin_mul_overflow(seconds, (int64_t)decimal_powers[digits], value) &&
           !__builtin_add_overflow(*value, fraction, value);
}

#endif
