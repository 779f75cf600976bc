/* Implements kind_time_bucket.h. */
#include "config.h"

#include "base/kind_time_bucket.h"

#include "base/kind_time_internal.h"

#include <string.h>

/* Ten thousand years. */
#define KIND_TIME_MONTHS_MAX 120000

bool kind_time_bucket_parse(const char *text, size_t bytes, unsigned digits,
                            struct kind_time_bucket *bucket)
{
    static const struct {
        const char *name;
        int64_t seconds; /* 0: it is of months */
        unsigned months;
    } units[] = {
        {"s", 1, 0},
        {"m", 60, 0},
        {"h", 3600, 0},
        {"d", KIND_TIME_DAY, 0},
        {"w", 7 * KIND_TIME_DAY, 0},
        {"mo", 0, 1},
        {"y", 0, 12},
    };
    const int64_t scale = (int64_t)decimal_powers[digits];
    int64_t count = 0;
    size_t used = 0;

    for (; used < bytes && kind_time_is_digit(text[used]); used++) {
        if (__builtin_mul_overflow(count, (int64_t)10, &count) ||
            __builtin_add_overflow(count, (int64_t)(text[used] - '0'), &count))
            return false;
    }
    if (used == 0)
        count = 1;
    *bucket = (struct kind_time_bucket){.digits = digits};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i].name);
        if (bytes - used != length || memcmp(text + used, units[i].name, length) != 0 || count < 1)
            continue;
        if (units[i].months > 0) {
            if (count > KIND_TIME_MONTHS_MAX / units[i].months)
                return false;
            bucket->months = (unsigned)count * units[i].months;
            return true;
        }
        if (__builtin_mul_overflow(count, units[i].seconds * scale, &bucket->width))
            return false;
        if (units[i].seconds == 7 * KIND_TIME_DAY) /* 1970-01-01 was a Thursday */
            bucket->phase = bucket->width - 3 * KIND_TIME_DAY * scale;
        return true;
    }
    return false;
}

/* The number of the month of a value, from that of January of the year 0. */
static int64_t kind_time_find_month(const struct kind_time_bucket *bucket, int64_t value)
{
    int64_t seconds = kind_time_divide(value, (int64_t)decimal_powers[bucket->digits]);
    struct kind_time_date date = kind_time_find_date(kind_time_divide(seconds, KIND_TIME_DAY));
    return date.year * 12 + date.month - 1;
}

/* Stores where a month begins. Returns false if that is no value. */
static bool kind_time_begin_month(const struct kind_time_bucket *bucket, int64_t month,
                                  int64_t *value)
{
    if (month < 12 || month >= 10000 * 12)
        return false;
    unsigned year = (unsigned)month / 12;
    int64_t days = kind_time_days_before_year(year) +
                   kind_time_days_before[kind_time_is_leap(year)][month % 12];
    return kind_time_scale(bucket->digits, days * KIND_TIME_DAY, 0, value);
}

/* The units from the begin of a bucket, though that may be no value, to a value. */
static int64_t kind_time_offset_in_bucket(const struct kind_time_bucket *bucket, int64_t value)
{
    int64_t rest = value % bucket->width;
    rest += rest < 0 ? bucket->width : 0;
    rest -= bucket->phase;
    return rest + (rest < 0 ? bucket->width : 0);
}

int64_t kind_time_bucket_floor(const struct kind_time_bucket *bucket, int64_t value)
{
    int64_t first; /* value of a time */
    int64_t begin;

    if (!kind_time_scale(bucket->digits, KIND_TIME_FIRST_SECOND, 0, &first))
        first = INT64_MIN;
    if (bucket->months > 0) {
        int64_t month = kind_time_find_month(bucket, value);
        month -= month % bucket->months;
        return kind_time_begin_month(bucket, month, &begin) ? begin : first;
    }
    if (__builtin_sub_overflow(value, kind_time_offset_in_bucket(bucket, value), &begin))
        return first;
    return begin < first ? first : begin;
}

bool kind_time_bucket_next(const struct kind_time_bucket *bucket, int64_t value, int64_t *next)
{
    if (bucket->months > 0) {
        int64_t month = kind_time_find_month(bucket, value);
        return kind_time_begin_month(bucket, month - month % bucket->months + bucket->months, next);
    }
    int64_t rest = bucket->width - kind_time_offset_in_bucket(bucket, value);
    int64_t last;
    if (!kind_time_scale(bucket->digits, KIND_TIME_LAST_SECOND, 999999999, &last))
        last = INT64_MAX;
    return !__builtin_add_overflow(value, rest, next) && *next <= last;
}
