/*
 * Buckets of time: fifteen minutes, a day, a month; and cycles: the hour of the day, whatever day.
 *
 * Buckets of seconds to weeks have equal widths. Seconds to days count from 1970-01-01T00:00:00Z,
 * weeks from Monday 1969-12-29. Therefore a width that divides a day starts a bucket at each day.
 * Months and years are the calendar's and count from the year 0, so that 3mo are quarters, 10y
 * decades and 100y centuries, 1900 to 1999. Bounds are in UTC, or in local time as it is written. A
 * bucket that would begin before the smallest possible value begins with that value.
 *
 * The bucket of a cycle is a number: the minute (0 to 1439) or hour (0 to 23) of the day, the day
 * of the week (1 is Monday) or of the month, the month of the year (from 1).
 *
 * With a zone, days and longer buckets are dates in the zone, and begin with the first instant of
 * the date. Cycles, hours, minutes and seconds use the zone's clocks: each begins when the clocks
 * last showed its start, or skipped it. Therefore the hour that occurs twice when clocks are put
 * back is two buckets, and a day of 23 or 25 hours is one.
 *
 * All functions are pure and thread-safe. The functions that a GPU needs are compiled for both.
 */
#ifndef GPUHIST_KIND_TIME_BUCKET_H
#define GPUHIST_KIND_TIME_BUCKET_H

#include "value/kind_time_internal.h"
#include "value/kind_time_zone.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(ID, name). */
#define KIND_TIME_CYCLES(X)           \
    X(MINUTE_OF_DAY, "minute-of-day") \
    X(HOUR_OF_DAY, "hour-of-day")     \
    X(DAY_OF_WEEK, "day-of-week")     \
    X(DAY_OF_MONTH, "day-of-month")   \
    X(MONTH_OF_YEAR, "month-of-year")

enum kind_time_cycle {
    KIND_TIME_NO_CYCLE,
#define KIND_TIME_CYCLE_ENUM(id, name) KIND_TIME_##id,
    KIND_TIME_CYCLES(KIND_TIME_CYCLE_ENUM)
#undef KIND_TIME_CYCLE_ENUM
        KIND_TIME_CYCLES_END /* one more than the last cycle */
};

struct kind_time_bucket {
    unsigned digits;            /* values are in units of 10^-digits seconds */
    enum kind_time_cycle cycle; /* the cycle; the members below are for buckets that are not one */
    int64_t width;              /* in units; 0: the width is in months */
    int64_t phase;              /* units from 1970 to the first start, less than the width */
    unsigned months;            /* the width in months, at most 120000 */
    const struct kind_time_zone *zone; /* for kind_time_bucket_number and _begin; NULL: UTC */
};

/*
 * Reads a width, all of text[0..bytes): an optional count, and one of the units s, m, h, d, w, mo
 * and y, or a word for it, such as sec, min, hour or months. Values will be in units of 10^-digits
 * seconds. Returns false if the width is invalid, 0 or too large.
 */
bool kind_time_bucket_parse(const char *text, size_t bytes, unsigned digits,
                            struct kind_time_bucket *bucket);

/* Reads the name of a cycle, all of text[0..bytes). Values are in units of 10^-digits seconds. */
bool kind_time_cycle_parse(const char *text, size_t bytes, unsigned digits,
                           struct kind_time_bucket *bucket);

/* Returns the name of a cycle, a constant string. */
const char *kind_time_cycle_name(enum kind_time_cycle cycle);

/* Returns whether values are floored, or numbers of a cycle. */
HOST_DEVICE_INLINE bool kind_time_bucket_is_set(const struct kind_time_bucket *bucket)
{
    return bucket->width > 0 || bucket->months > 0 || bucket->cycle != KIND_TIME_NO_CYCLE;
}

/* Returns the number of a second since 1970 in a cycle. */
HOST_DEVICE_INLINE int64_t kind_time_cycle_find(enum kind_time_cycle cycle, int64_t second)
{
    const int64_t day = kind_time_divide(second, KIND_TIME_DAY);
    const int64_t minute = (second - day * KIND_TIME_DAY) / 60;

    if (cycle == KIND_TIME_MINUTE_OF_DAY)
        return minute;
    if (cycle == KIND_TIME_HOUR_OF_DAY)
        return minute / 60;
    if (cycle == KIND_TIME_DAY_OF_WEEK) /* 1970-01-01 was a Thursday */
        return day + 3 - kind_time_divide(day + 3, 7) * 7 + 1;
    const struct kind_time_date date = kind_time_find_date(day);
    return cycle == KIND_TIME_DAY_OF_MONTH ? date.day : date.month;
}

/* Returns false if the bucket is zero-initialised: there is none. */
static inline bool kind_time_bucket_exists(const struct kind_time_bucket *bucket)
{
    return bucket->width > 0 || bucket->months > 0;
}

/*
 * Return the number of the bucket that contains a value, and the start of the bucket with a number.
 * Numbers are consecutive. Buckets of months are within the years 1 to 10000. In a zone, both
 * occurrences of an hour have the same numbers.
 */
__int128 kind_time_bucket_number(const struct kind_time_bucket *bucket, __int128 value);
__int128 kind_time_bucket_begin(const struct kind_time_bucket *bucket, __int128 number);

/*
 * Returns the next wider round bucket that consists of whole buckets `unit`, as `bucket` does: 1,
 * 2, 5, 10, 15 or 30 s or m, 1, 2, 3, 6 or 12 h, 1 or 2 d, 1 w, 1 or 3 months, 1, 2, 5, 10, ...
 * years; below a second 1, 2 or 5 times a power of ten. If none of these consists of whole units,
 * 1, 2, 5, 10, ... units.
 */
struct kind_time_bucket kind_time_bucket_widen(const struct kind_time_bucket *bucket,
                                               const struct kind_time_bucket *unit);

/*
 * Writes the width of a bucket and a NUL, in the largest unit that divides it: 15m, 1w, 3mo or
 * 0.5s. Returns the length.
 */
#define KIND_TIME_BUCKET_SIZE 48
size_t kind_time_bucket_describe(char out[KIND_TIME_BUCKET_SIZE],
                                 const struct kind_time_bucket *bucket);

/* Returns the start of the bucket of a value, or its number in the cycle. */
HOST_DEVICE_INLINE int64_t kind_time_bucket_floor(const struct kind_time_bucket *bucket,
                                                  int64_t value)
{
    int64_t first; /* the smallest value of a timestamp */
    int64_t begin;

    if (bucket->cycle != KIND_TIME_NO_CYCLE)
        return kind_time_cycle_find(bucket->cycle, kind_time_divide(value, (int64_t)decimal_power(
                                                                               bucket->digits)));
    if (!kind_time_scale(bucket->digits, KIND_TIME_FIRST_SECOND, 0, &first))
        first = INT64_MIN;
    if (bucket->months > 0) {
        const int64_t seconds = kind_time_divide(value, (int64_t)decimal_power(bucket->digits));
        const struct kind_time_date date =
            kind_time_find_date(kind_time_divide(seconds, KIND_TIME_DAY));
        int64_t month = date.year * 12 + date.month - 1; /* from January of the year 0 */
        month -= month % bucket->months;
        if (month < 12)
            return first;
        const unsigned year = (unsigned)month / 12;
        const int64_t days = kind_time_days_before_year(year) +
                             kind_time_days_before_month(year, (unsigned)(month % 12) + 1);
        return kind_time_scale(bucket->digits, days * KIND_TIME_DAY, 0, &begin) ? begin : first;
    }
    int64_t offset = value % bucket->width; /* offset of the value in the bucket */
    offset += offset < 0 ? bucket->width : 0;
    offset -= bucket->phase;
    offset += offset < 0 ? bucket->width : 0;
    begin = value < INT64_MIN + offset ? INT64_MIN : value - offset;
    return begin < first ? first : begin;
}

/* Like kind_time_bucket_floor, but in a zone. */
int64_t kind_time_bucket_floor_in(const struct kind_time_bucket *bucket,
                                  const struct kind_time_zone *zone, int64_t value);

/* Like kind_time_bucket_floor, but in a zone or in UTC (NULL). */
static inline int64_t kind_time_bucket_find(const struct kind_time_bucket *bucket,
                                            const struct kind_time_zone *zone, int64_t value)
{
    return zone ? kind_time_bucket_floor_in(bucket, zone, value)
                : kind_time_bucket_floor(bucket, value);
}

/*
 * Returns the start of the bucket after the one that starts at a value, in a zone or in UTC (NULL).
 * The bucket is not a cycle. Returns INT64_MAX if the start exceeds 64 bits.
 */
int64_t kind_time_bucket_next(const struct kind_time_bucket *bucket,
                              const struct kind_time_zone *zone, int64_t value);

#endif
