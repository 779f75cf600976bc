/* Implements kind_time_bucket.h. */
#include "config.h"

#include "value/kind_time_bucket.h"

#include "value/kind_time_internal.h"

#include <stdio.h>
#include <string.h>

/* Ten thousand years. */
#define KIND_TIME_MONTHS_MAX 120000

/* Bytes of the longest word of a unit. */
#define KIND_TIME_WORD_MAX 7

static const struct {
    const char *name;
    const char *words; /* its names, each with a blank on both sides */
    int64_t seconds;   /* its length; 0: it is in months */
    unsigned months;
} kind_time_units[] = {
    {"s", " s sec secs second seconds ", 1, 0},
    {"m", " m min mins minute minutes ", 60, 0},
    {"h", " h hr hrs hour hours ", 3600, 0},
    {"d", " d day days ", KIND_TIME_DAY, 0},
    {"w", " w week weeks ", 7 * KIND_TIME_DAY, 0},
    {"mo", " mo month months ", 0, 1},
    {"y", " y yr year years ", 0, 12},
};
#define KIND_TIME_UNITS (sizeof kind_time_units / sizeof *kind_time_units)

bool kind_time_bucket_parse(const char *text, size_t bytes, unsigned digits,
                            struct kind_time_bucket *bucket)
{
    const int64_t scale = (int64_t)decimal_power(digits);
    char word[KIND_TIME_WORD_MAX + 3];
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
    if (bytes == used || bytes - used > KIND_TIME_WORD_MAX || count < 1 ||
        memchr(text + used, ' ', bytes - used))
        return false;
    snprintf(word, sizeof word, " %.*s ", (int)(bytes - used), text + used);
    for (size_t i = 0; i < KIND_TIME_UNITS; i++) {
        if (!strstr(kind_time_units[i].words, word))
            continue;
        if (kind_time_units[i].months > 0) {
            if (count > KIND_TIME_MONTHS_MAX / kind_time_units[i].months)
                return false;
            bucket->months = (unsigned)count * kind_time_units[i].months;
            return true;
        }
        if (__builtin_mul_overflow(count, kind_time_units[i].seconds * scale, &bucket->width))
            return false;
        if (kind_time_units[i].seconds == 7 * KIND_TIME_DAY) /* 1970-01-01 was a Thursday */
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

    /* It is at most a bucket away, plus some hours if clocks are put back in between. */
    for (int64_t next = value; begin <= value; step = step < hour ? step : hour) {
        if (__builtin_add_overflow(next, step, &next))
            return INT64_MAX;
        begin = kind_time_bucket_find(bucket, zone, next);
    }
    /* A change of the clocks may have cut short a bucket before it. */
    for (int64_t before; (before = kind_time_bucket_find(bucket, zone, begin - 1)) > value;)
        begin = before;
    return begin;
}

/* Returns a quotient, rounded down. */
static __int128 kind_time_bucket_divide(__int128 value, __int128 width)
{
    return value / width - (value % width < 0);
}

/* Limits a value to the years 1 to 9999. */
static int64_t kind_time_bucket_clamp(const struct kind_time_bucket *bucket, __int128 value)
{
    const __int128 unit = decimal_power(bucket->digits);
    const __int128 first = KIND_TIME_FIRST_SECOND * unit;
    const __int128 last = (KIND_TIME_LAST_SECOND + 1) * unit - 1;

    value = value < first ? first : value > last ? last : value;
    return value < INT64_MIN ? INT64_MIN : value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

__int128 kind_time_bucket_number(const struct kind_time_bucket *bucket, __int128 value)
{
    const int64_t scale = (int64_t)decimal_power(bucket->digits);

    if (bucket->zone) {
        const int64_t instant = kind_time_divide(kind_time_bucket_clamp(bucket, value), scale);
        value += (__int128)kind_time_zone_offset(bucket->zone, instant) * scale;
    }
    if (bucket->months == 0)
        return kind_time_bucket_divide(value - bucket->phase, bucket->width);
    const int64_t seconds = kind_time_divide(kind_time_bucket_clamp(bucket, value), scale);
    const struct kind_time_date date =
        kind_time_find_date(kind_time_divide(seconds, KIND_TIME_DAY));
    return (date.year * 12 + date.month - 1) / bucket->months;
}

/* Returns the local time at which the bucket with a number begins. */
static __int128 kind_time_bucket_begin_clock(const struct kind_time_bucket *bucket, __int128 number)
{
    if (bucket->months == 0)
        return number * bucket->width + bucket->phase;
    __int128 month = number * bucket->months; /* from January of the year 0 */
    month = month < 12 ? 12 : month > KIND_TIME_MONTHS_MAX ? KIND_TIME_MONTHS_MAX : month;
    const unsigned year = (unsigned)month / 12;
    const int64_t days = kind_time_days_before_year(year) +
                         kind_time_days_before_month(year, (unsigned)(month % 12) + 1);
    return (__int128)(days * KIND_TIME_DAY) * decimal_power(bucket->digits);
}

__int128 kind_time_bucket_begin(const struct kind_time_bucket *bucket, __int128 number)
{
    const __int128 begin = kind_time_bucket_begin_clock(bucket, number);
    const __int128 scale = decimal_power(bucket->digits);

    if (!bucket->zone)
        return begin;
    const int64_t second = (int64_t)kind_time_bucket_divide(begin, scale);
    return begin + ((__int128)kind_time_zone_first(bucket->zone, second) - second) * scale;
}

/* Returns the approximate width of a bucket in units. */
static __int128 kind_time_bucket_size(const struct kind_time_bucket *bucket)
{
    const __int128 month = (__int128)KIND_TIME_DAY * 30 * decimal_power(bucket->digits);
    return bucket->months > 0 ? bucket->months * month : bucket->width;
}

/* Returns whether a bucket consists of whole units. */
static bool kind_time_bucket_is_multiple(const struct kind_time_bucket *bucket,
                                         const struct kind_time_bucket *unit)
{
    const int64_t day = KIND_TIME_DAY * (int64_t)decimal_power(bucket->digits);

    if (unit->months > 0)
        return bucket->months > 0 && bucket->months % unit->months == 0;
    if (bucket->months > 0) /* each begins with a day */
        return day % unit->width == 0 && unit->phase == 0;
    return bucket->width % unit->width == 0 && (bucket->phase - unit->phase) % unit->width == 0;
}

/* Returns the first of 1, 2, 5, 10, 20, ... that is larger than a number. */
static __int128 kind_time_bucket_next_round(__int128 number)
{
    __int128 power = 1;

    while (power * 10 <= number)
        power *= 10;
    return number < 1           ? 1
           : number < 2 * power ? 2 * power
           : number < 5 * power ? 5 * power
                                : 10 * power;
}

struct kind_time_bucket kind_time_bucket_widen(const struct kind_time_bucket *bucket,
                                               const struct kind_time_bucket *unit)
{
    static const int64_t seconds[] = {1,     2,     5,     10,        15,
                                      30,    60,    120,   300,       600,
                                      900,   1800,  3600,  7200,      10800,
                                      21600, 43200, 86400, 2 * 86400, 7 * KIND_TIME_DAY};
    static const unsigned months[] = {1, 3};
    const __int128 second = decimal_power(bucket->digits);
    const __int128 size = kind_time_bucket_size(bucket);
    struct kind_time_bucket next = {.digits = bucket->digits, .zone = unit->zone};

    for (__int128 part = 1; part < second; part = kind_time_bucket_next_round(part)) {
        next.width = (int64_t)part;
        if (part > size && kind_time_bucket_is_multiple(&next, unit))
            return next;
    }
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        next.width = (int64_t)(seconds[i] * second);
        next.phase = seconds[i] == 7 * KIND_TIME_DAY ? (int64_t)(4 * KIND_TIME_DAY * second) : 0;
        if (next.width > size && kind_time_bucket_is_multiple(&next, unit))
            return next;
    }
    next.width = next.phase = 0;
    for (size_t i = 0; i < sizeof months / sizeof *months; i++) {
        next.months = months[i];
        if (kind_time_bucket_size(&next) > size && kind_time_bucket_is_multiple(&next, unit))
            return next;
    }
    for (__int128 years = 1; 12 * years <= KIND_TIME_MONTHS_MAX;
         years = kind_time_bucket_next_round(years)) {
        next.months = 12 * (unsigned)years;
        if (kind_time_bucket_size(&next) > size && kind_time_bucket_is_multiple(&next, unit))
            return next;
    }
    const __int128 count = kind_time_bucket_next_round(size / kind_time_bucket_size(unit));
    next = *unit;
    next.months *= (unsigned)count;
    next.width = (__int128)next.width * count > INT64_MAX ? INT64_MAX : next.width * (int64_t)count;
    return next;
}

size_t kind_time_bucket_describe(char out[KIND_TIME_BUCKET_SIZE],
                                 const struct kind_time_bucket *bucket)
{
    const __int128 second = decimal_power(bucket->digits);

    for (size_t i = KIND_TIME_UNITS; i-- > 0;) {
        const unsigned months = kind_time_units[i].months;
        const __int128 width = kind_time_units[i].seconds * second;
        const bool is_of_months = bucket->months > 0;
        if (is_of_months ? months == 0 || bucket->months % months != 0
                         : width == 0 || bucket->width % width != 0)
            continue;
        const int64_t count =
            is_of_months ? bucket->months / months : bucket->width / (int64_t)width;
        return (size_t)sprintf(out, "%lld%s", (long long)count, kind_time_units[i].name);
    }
    size_t length = decimal_write_fixed(out, bucket->width, bucket->digits);
    while (out[length - 1] == '0')
        length--;
    strcpy(out + length, "s");
    return length + 1;
}
