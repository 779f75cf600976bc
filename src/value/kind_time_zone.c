/* Implements kind_time_zone.h. */
#include "config.h"

#include "value/kind_time_zone.h"

#include "lib/input.h"
#include "value/kind_time_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KIND_TIME_ZONE_DIRECTORY "/usr/share/zoneinfo"

/* Maximum size of a file; the largest have about 4,000 bytes. */
#define KIND_TIME_ZONE_BYTES_MAX ((size_t)256 << 10)

/* Maximum length of a name. */
#define KIND_TIME_ZONE_NAME_MAX 255

/* Offsets are more than -25 hours and less than 26 (RFC 9636, 3.2). */
#define KIND_TIME_ZONE_OFFSET_MIN (-25 * 3600 + 1)
#define KIND_TIME_ZONE_OFFSET_MAX (26 * 3600 - 1)

/* A number of seconds above any offset. */
#define KIND_TIME_ZONE_FAR 100000

#define KIND_TIME_ZONE_HEADER_BYTES 44

/*
 * Log2 of the seconds of a step, about 388 days, in which a few periods begin. STEPS is the number
 * of steps from the first to the last second of timestamps. A binary search in 20,000 periods took
 * 40 ns more.
 */
#define KIND_TIME_ZONE_STEP_LOG2 25
#define KIND_TIME_ZONE_STEPS \
    (((KIND_TIME_LAST_SECOND - KIND_TIME_FIRST_SECOND) >> KIND_TIME_ZONE_STEP_LOG2) + 1)

/* A period in which the clocks have one offset, until the next period. */
struct kind_time_zone_period {
    int64_t begin; /* an instant; INT64_MIN for the first period */
    int32_t offset;
};

struct kind_time_zone {
    char name[KIND_TIME_ZONE_NAME_MAX + 1];
    uint32_t steps[KIND_TIME_ZONE_STEPS]; /* index of the period in which each step begins */
    size_t count;
    struct kind_time_zone_period periods[]; /* [count]; neighbours have distinct offsets */
};

/* The day and the local time of a yearly change. */
struct kind_time_zone_change {
    char form;      /* J: day 1 to 365, without leap days; 0: day 0 to 365; M: a day of a month */
    unsigned day;   /* the day; M: day of the week, 0 is Sunday */
    unsigned month; /* M: from 1 */
    unsigned week;  /* M: 1 to 5; 5 is the last */
    int64_t time;   /* seconds after midnight, of either sign */
};

/* The rule of a POSIX TZ string. */
struct kind_time_zone_rule {
    int64_t standard; /* the offsets of standard time and summer time */
    bool has_summer;
    int64_t summer;
    struct kind_time_zone_change to_summer;
    struct kind_time_zone_change to_standard;
};

/* --- the rule --------------------------------------------------------------------------------- */

/* Reads a number up to `maximum`. Returns its end, NULL if there is none. */
static const char *kind_time_zone_read_number(const char *at, unsigned maximum, unsigned *number)
{
    if (!at || !kind_time_is_digit(*at))
        return NULL;
    for (*number = 0; kind_time_is_digit(*at); at++) {
        *number = *number * 10 + (unsigned)(*at - '0');
        if (*number > maximum)
            return NULL;
    }
    return at;
}

/* Reads [+-]H[:MM[:SS]]. Returns its end, NULL if there is none. */
static const char *kind_time_zone_read_hours(const char *at, unsigned hours_max, int64_t *seconds)
{
    const bool is_negative = at && *at == '-';
    unsigned hours = 0;
    unsigned minute = 0;
    unsigned second = 0;

    if (!at)
        return NULL;
    at = kind_time_zone_read_number(at + (*at == '-' || *at == '+'), hours_max, &hours);
    if (at && *at == ':')
        at = kind_time_zone_read_number(at + 1, 59, &minute);
    if (at && *at == ':')
        at = kind_time_zone_read_number(at + 1, 59, &second);
    *seconds = (int64_t)hours * 3600 + minute * 60 + second;
    *seconds = is_negative ? -*seconds : *seconds;
    return at;
}

/* Reads the abbreviation of a zone, plain or between < and >. Returns its end, or NULL. */
static const char *kind_time_zone_read_name(const char *at)
{
    if (*at == '<') {
        const char *end = strchr(at, '>');
        return end ? end + 1 : NULL;
    }
    const char *begin = at;
    while ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z')
        at++;
    return at > begin ? at : NULL;
}

/* Reads the time of a clock change, after a comma. Returns its end, or NULL. */
static const char *kind_time_zone_read_change(const char *at, struct kind_time_zone_change *change)
{
    *change = (struct kind_time_zone_change){.form = '0', .time = 2 * 3600};
    if (!at || *at != ',')
        return NULL;
    at++;
    if (*at == 'M') {
        change->form = 'M';
        at = kind_time_zone_read_number(at + 1, 12, &change->month);
        at = at && *at == '.' ? kind_time_zone_read_number(at + 1, 5, &change->week) : NULL;
        at = at && *at == '.' ? kind_time_zone_read_number(at + 1, 6, &change->day) : NULL;
        if (!at || change->month == 0 || change->week == 0)
            return NULL;
    } else {
        change->form = *at == 'J' ? 'J' : '0';
        at = kind_time_zone_read_number(at + (*at == 'J'), 365, &change->day);
        if (!at || (change->form == 'J' && change->day == 0))
            return NULL;
    }
    return *at == '/' ? kind_time_zone_read_hours(at + 1, 167, &change->time) : at;
}

/* Reads all of a POSIX TZ string. Returns false if it is invalid. */
static bool kind_time_zone_read_rule(const char *text, struct kind_time_zone_rule *rule)
{
    const char *at = kind_time_zone_read_name(text);

    *rule = (struct kind_time_zone_rule){.has_summer = false};
    at = at ? kind_time_zone_read_hours(at, 24, &rule->standard) : NULL;
    rule->standard = -rule->standard; /* in the string, west of Greenwich is positive */
    if (!at || *at == '\0')
        return at != NULL;
    rule->has_summer = true;
    rule->summer = rule->standard + 3600;
    at = kind_time_zone_read_name(at);
    if (at && *at != ',') {
        at = kind_time_zone_read_hours(at, 24, &rule->summer);
        rule->summer = -rule->summer;
    }
    at = kind_time_zone_read_change(at, &rule->to_summer);
    at = kind_time_zone_read_change(at, &rule->to_standard);
    return at && *at == '\0';
}

/* Returns the local time of a change in a year. */
static int64_t kind_time_zone_find_change(const struct kind_time_zone_change *change, unsigned year)
{
    const int64_t first = kind_time_days_before_year(year);
    int64_t day = first + change->day;

    if (change->form == 'J') {
        day += (change->day >= 60 && kind_time_is_leap(year)) - 1;
    } else if (change->form == 'M') {
        const int64_t month = first + kind_time_days_before_month(year, change->month);
        const int64_t next = first + kind_time_days_before_month(year, change->month + 1);
        /* 1970-01-01 was a Thursday, day 4 */
        const int64_t weekday = month + 4 - kind_time_divide(month + 4, 7) * 7;
        day = month + (change->day + 7 - weekday) % 7 + 7 * (int64_t)(change->week - 1);
        day -= day >= next ? 7 : 0;
    }
    return day * KIND_TIME_DAY + change->time;
}

/* --- the file --------------------------------------------------------------------------------- */

/* The counts of a header, in the header's order. */
struct kind_time_zone_counts {
    uint32_t universal;
    uint32_t standard;
    uint32_t leap_seconds;
    uint32_t times;
    uint32_t types;
    uint32_t characters;
};

/* Returns a signed big-endian integer of `bytes` bytes. */
static int64_t kind_time_zone_integer(const unsigned char *data, size_t bytes)
{
    uint64_t number = data[0] & 0x80 ? UINT64_MAX : 0;

    for (size_t i = 0; i < bytes; i++)
        number = number << 8 | data[i];
    return (int64_t)number;
}

/*
 * Reads a header, and computes the number of bytes after it, with times of time_bytes bytes each.
 * Returns false if the header is invalid, or the data are too short.
 */
static bool kind_time_zone_read_header(const unsigned char *data, size_t bytes, size_t time_bytes,
                                       struct kind_time_zone_counts *counts, size_t *block)
{
    uint32_t *const of[] = {&counts->universal, &counts->standard, &counts->leap_seconds,
                            &counts->times,     &counts->types,    &counts->characters};

    if (bytes < KIND_TIME_ZONE_HEADER_BYTES || memcmp(data, "TZif", 4) != 0)
        return false;
    for (size_t i = 0; i < 6; i++) {
        *of[i] = (uint32_t)kind_time_zone_integer(data + 20 + 4 * i, 4);
        if (*of[i] > KIND_TIME_ZONE_BYTES_MAX)
            return false;
    }
    *block = counts->times * (time_bytes + 1) + (size_t)counts->types * 6 + counts->characters +
             counts->leap_seconds * (time_bytes + 4) + counts->standard + counts->universal;
    return *block <= bytes - KIND_TIME_ZONE_HEADER_BYTES;
}

/* Adds a period, unless it has the offset of the last period. Returns false if it begins before
 * that period. */
static bool kind_time_zone_add(struct kind_time_zone *zone, int64_t begin, int64_t offset)
{
    struct kind_time_zone_period *last = &zone->periods[zone->count - 1];

    if (begin < last->begin)
        return false;
    if (begin == last->begin && zone->count > 1) /* the later of two simultaneous changes */
        zone->count--;
    last = &zone->periods[zone->count - 1];
    if (offset != last->offset)
        zone->periods[zone->count++] =
            (struct kind_time_zone_period){.begin = begin, .offset = (int32_t)offset};
    return true;
}

/* Adds the changes of the rule after an instant, INT64_MIN for all. Fails like kind_time_zone_add.
 */
static bool kind_time_zone_add_rule(struct kind_time_zone *zone,
                                    const struct kind_time_zone_rule *rule, int64_t after)
{
    unsigned year = 1;

    if (!rule->has_summer) /* the last change, if any, has this offset */
        return after > INT64_MIN || kind_time_zone_add(zone, INT64_MIN, rule->standard);
    if (after > KIND_TIME_LAST_SECOND)
        return true;
    if (after > KIND_TIME_FIRST_SECOND + 2 * 366 * KIND_TIME_DAY)
        year = (unsigned)kind_time_find_date(kind_time_divide(after, KIND_TIME_DAY)).year - 1;
    for (; year <= 10000; year++) {
        int64_t begins[2] = {
            kind_time_zone_find_change(&rule->to_summer, year) - rule->standard,
            kind_time_zone_find_change(&rule->to_standard, year) - rule->summer,
        };
        for (size_t i = 0; i < 2; i++) {
            const bool is_summer = (i == 0) == (begins[0] <= begins[1]);
            const int64_t begin = begins[is_summer ? 0 : 1];
            if (begin > after &&
                !kind_time_zone_add(zone, begin, is_summer ? rule->summer : rule->standard))
                return false;
        }
    }
    return true;
}

/*
 * Reads the block of times after a header, and the rule after it, if there is one ("": none).
 * Returns false if they are corrupt.
 */
static bool kind_time_zone_read_block(struct kind_time_zone *zone, const unsigned char *data,
                                      size_t time_bytes, const struct kind_time_zone_counts *counts,
                                      const char *footer)
{
    const unsigned char *indexes = data + counts->times * time_bytes;
    const unsigned char *types = indexes + counts->times;
    struct kind_time_zone_rule rule;
    int64_t last = INT64_MIN;

    for (size_t i = 0; i < counts->types; i++) {
        const int64_t offset = kind_time_zone_integer(types + 6 * i, 4);
        if (offset < KIND_TIME_ZONE_OFFSET_MIN || offset > KIND_TIME_ZONE_OFFSET_MAX)
            return false;
    }
    zone->periods[0] =
        (struct kind_time_zone_period){.begin = INT64_MIN,
                                       .offset = (int32_t)kind_time_zone_integer(types, 4)};
    zone->count = 1;
    for (size_t i = 0; i < counts->times; i++) {
        const int64_t begin = kind_time_zone_integer(data + i * time_bytes, time_bytes);
        if (indexes[i] >= counts->types || (i > 0 && begin <= last) ||
            !kind_time_zone_add(zone, begin, kind_time_zone_integer(types + 6 * indexes[i], 4)))
            return false;
        last = begin;
    }
    return *footer == '\0' ||
           (kind_time_zone_read_rule(footer, &rule) && kind_time_zone_add_rule(zone, &rule, last));
}

/* Stores the period in which each step begins. */
static void kind_time_zone_index(struct kind_time_zone *zone)
{
    uint32_t period = 0;

    for (int64_t i = 0; i < KIND_TIME_ZONE_STEPS; i++) {
        const int64_t begin = KIND_TIME_FIRST_SECOND + (i << KIND_TIME_ZONE_STEP_LOG2);
        while (period + 1 < zone->count && zone->periods[period + 1].begin <= begin)
            period++;
        zone->steps[i] = period;
    }
}

enum status kind_time_zone_parse(const char *name, const unsigned char *data, size_t bytes,
                                 struct kind_time_zone **zone, struct failure *failure)
{
    const size_t header = KIND_TIME_ZONE_HEADER_BYTES;
    struct kind_time_zone_counts counts;
    struct kind_time_zone *made;
    char footer[KIND_TIME_ZONE_NAME_MAX + 1] = "";
    size_t time_bytes = 4;
    size_t block;

    *zone = NULL;
    if (bytes < 4 || memcmp(data, "TZif", 4) != 0)
        return status_fail(failure, STATUS_DATA, "--tz %s: its file is not one of a time zone",
                           name);
    bool is_valid = kind_time_zone_read_header(data, bytes, time_bytes, &counts, &block);
    if (is_valid && data[4] >= '2') { /* a second block with 64-bit times, and the rule */
        data += header + block;
        bytes -= header + block;
        time_bytes = 8;
        is_valid = kind_time_zone_read_header(data, bytes, time_bytes, &counts, &block);
        const unsigned char *rule = data + header + block;
        const size_t left = is_valid ? bytes - header - block : 0;
        const unsigned char *end =
            left > 1 && *rule == '\n' ? memchr(rule + 1, '\n', left - 1) : NULL;
        const size_t length = end ? (size_t)(end - rule) - 1 : 0;
        is_valid = end && length < sizeof footer && !memchr(rule, '\0', length + 1);
        if (is_valid)
            memcpy(footer, rule + 1, length);
    }
    if (!is_valid || counts.types == 0)
        return status_fail(failure, STATUS_DATA, "--tz %s: its file is corrupt", name);
    if (counts.leap_seconds > 0)
        return status_fail(failure, STATUS_DATA,
                           "--tz %s: it counts leap seconds, which timestamps here do not", name);
    made = malloc(sizeof *made + (1 + counts.times + 2 * 10000) * sizeof *made->periods);
    if (!made)
        return status_fail(failure, STATUS_DATA, "not enough memory for the time zone %s", name);
    snprintf(made->name, sizeof made->name, "%s", name);
    if (!kind_time_zone_read_block(made, data + header, time_bytes, &counts, footer)) {
        free(made);
        return status_fail(failure, STATUS_DATA, "--tz %s: its file is corrupt", name);
    }
    kind_time_zone_index(made);
    *zone = made;
    return STATUS_OK;
}

/* Returns whether a name does not leave the directory of zones. */
static bool kind_time_zone_is_name(const char *name)
{
    static const char others[] = "_+-/.";

    if (*name == '\0' || *name == '/' || strlen(name) > KIND_TIME_ZONE_NAME_MAX)
        return false;
    for (const char *c = name; *c; c++) {
        const bool is_letter = (*c | 0x20) >= 'a' && (*c | 0x20) <= 'z';
        if (!is_letter && !kind_time_is_digit(*c) && !strchr(others, *c))
            return false;
        if (*c == '.' && (c == name || c[-1] == '/'))
            return false;
    }
    return true;
}

/* Reads at most `capacity` bytes of a regular file. Returns their number, or -1 with errno. */
static ssize_t kind_time_zone_read_file(const char *path, unsigned char *data, size_t capacity)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    ssize_t n = -1;

    if (fd < 0)
        return -1;
    if (fstat(fd, &info) == 0) {
        if (S_ISREG(info.st_mode))
            n = input_read_at(fd, data, capacity, 0);
        else
            errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    }
    const int reason = errno;
    close(fd);
    errno = reason;
    return n;
}

enum status kind_time_zone_read(const char *name, struct kind_time_zone **zone,
                                struct failure *failure)
{
    const char *directory = getenv("TZDIR");
    char path[PATH_MAX];

    *zone = NULL;
    if (!directory || *directory == '\0')
        directory = KIND_TIME_ZONE_DIRECTORY;
    if (!kind_time_zone_is_name(name) ||
        snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
        return status_fail(failure, STATUS_USAGE,
                           "invalid --tz '%.64s': expected the name of a time zone, such as "
                           "Europe/Berlin",
                           name);
    unsigned char *data = malloc(KIND_TIME_ZONE_BYTES_MAX);
    if (!data)
        return status_fail(failure, STATUS_DATA, "not enough memory for the time zone %s", name);
    const ssize_t bytes = kind_time_zone_read_file(path, data, KIND_TIME_ZONE_BYTES_MAX);
    enum status status;
    if (bytes < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EISDIR))
        status = status_fail(failure, STATUS_USAGE,
                             "--tz %s: there is no such time zone in %.256s (package tzdata; TZDIR "
                             "names another directory)",
                             name, directory);
    else if (bytes < 0)
        status = status_fail(failure, STATUS_DATA, "--tz %s: cannot read " STATUS_NAME ": %s", name,
                             path, strerror(errno));
    else
        status = kind_time_zone_parse(name, data, (size_t)bytes, zone, failure);
    free(data);
    return status;
}

void kind_time_zone_destroy(struct kind_time_zone *zone)
{
    free(zone);
}

/* --- instants and local times ----------------------------------------------------------------- */

const char *kind_time_zone_name(const struct kind_time_zone *zone)
{
    return zone->name;
}

/* Returns the index of the period of an instant. */
static size_t kind_time_zone_find(const struct kind_time_zone *zone, int64_t instant)
{
    size_t i = 0;

    if (instant >= KIND_TIME_FIRST_SECOND) {
        const uint64_t step =
            ((uint64_t)instant - (uint64_t)KIND_TIME_FIRST_SECOND) >> KIND_TIME_ZONE_STEP_LOG2;
        i = zone->steps[step < KIND_TIME_ZONE_STEPS ? step : KIND_TIME_ZONE_STEPS - 1];
    }
    while (i + 1 < zone->count && zone->periods[i + 1].begin <= instant)
        i++;
    return i;
}

int64_t kind_time_zone_offset(const struct kind_time_zone *zone, int64_t instant)
{
    return zone->periods[kind_time_zone_find(zone, instant)].offset;
}

int64_t kind_time_zone_first(const struct kind_time_zone *zone, int64_t local)
{
    size_t i = kind_time_zone_find(zone, local - KIND_TIME_ZONE_FAR);
    int64_t instant = local - zone->periods[i].offset;

    while (i + 1 < zone->count && instant >= zone->periods[i + 1].begin) {
        i++;
        instant = local - zone->periods[i].offset;
        if (instant < zone->periods[i].begin) /* the local time is skipped */
            instant = zone->periods[i].begin;
    }
    return instant;
}

int64_t kind_time_zone_last(const struct kind_time_zone *zone, int64_t local, int64_t instant)
{
    size_t i = kind_time_zone_find(zone, instant);
    int64_t found = local - zone->periods[i].offset;

    while (found < zone->periods[i].begin) {
        const int64_t end = zone->periods[i--].begin;
        found = local - zone->periods[i].offset;
        if (found >= end) /* the local time is skipped */
            return end;
    }
    return found;
}
