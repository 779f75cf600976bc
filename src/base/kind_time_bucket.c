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
    const int64_t scale = (int64_t)decimal_power(digits);
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

#define KIND_TIME_CYCLE_NAME(id, name) [KIND_TIME_##id] = name,
static const char *const kind_time_cycle_names[KIND_TIME_CYCLES_END] = {
    KIND_TIME_CYCLES(KIND_TIME_CYCLE_NAME)};

bool kind_time_cycle_parse(const char *text, size_t bytes, unsigned digits,
                           struct kind_time_bucket *bucket)
{
    for (size_t i = KIND_TIME_NO_CYCLE + 1; i < KIND_TIME_CYCLES_END; i++) {
        const char *name = kind_time_cycle_names[i];
        if (strlen(name) != bytes || memcmp(name, text, bytes) != 0)
            continue;
        *bucket = (struct kind_time_bucket){.digits = digits, .cycle = (enum kind_time_cycle)i};
        return true;
    }
    return false;
}

const char *kind_time_cycle_name(enum kind_time_cycle cycle)
{
    return kind_time_cycle_names[cycle];
}

int64_t kind_time_bucket_floor_in(const struct kind_time_bucket *bucket,
                                  const struct kind_time_zone *zone, int64_t value)
{
    const int64_t scale = (int64_t)decimal_power(bucket->digits);
    const struct kind_time_bucket seconds = {
        .cycle = bucket->cycle,
        .width = bucket->width / scale,
        .phase = bucket->phase / scale,
        .months = bucket->months,
    };
    const int64_t instant = kind_time_divide(value, scale);
    const int64_t local =
        kind_time_bucket_floor(&seconds, instant + kind_time_zone_offset(zone, instant));
    const bool is_of_days = bucket->months > 0 || seconds.width % KIND_TIME_DAY == 0;
    int64_t begin;

    if (bucket->cycle != KIND_TIME_NO_CYCLE)
        return local;
    begin =
        is_of_days ? kind_time_zone_first(zone, local) : kind_time_zone_last(zone, local, instant);
    if (kind_time_scale(bucket->digits, begin, 0, &begin) ||
        kind_time_scale(bucket->digits, KIND_TIME_FIRST_SECOND, 0, &begin))
        return begin;
    return INT64_MIN;
}

int64_t kind_time_bucket_next(const struct kind_time_bucket *bucket,
                              const struct kind_time_zone *zone, int64_t value)
{
    const int64_t hour = 3600 * (int64_t)decimal_power(bucket->digits);
    int64_t step = bucket->months > 0 ? bucket->months * 31 * 24 * hour : bucket->width;
    int64_t begin = value;

    /* It is at most a bucket away, and some hours where clocks are put back in between. */
    for (int64_t next = value; begin <= value; step = step < hour ? step : hour) {
        if (__builtin_add_overflow(next, step, &next))
            return INT64_MAX;
        begin = zone ? kind_time_bucket_floor_in(bucket, zone, next)
                     : kind_time_bucket_floor(bucket, next);
    }
    return begin;
}
