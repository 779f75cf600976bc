/*
 * Buckets of time: fifteen minutes, a day, a month.
 *
 * A bucket of seconds to weeks holds equal times. Those of seconds to days count from
 * 1970-01-01T00:00:00Z, of weeks from Monday 1969-12-29; so of a count that divides a day, each
 * day begins one. Months and years are the calendar's and count from the year 0, so that 3mo are
 * quarters, 10y decades and 100y centuries, 1900 to 1999. Bounds are of UTC, of local times as they
 * are written. A bucket that would begin before the first value that there can be begins with that.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_KIND_TIME_BUCKET_H
#define GPUHIST_KIND_TIME_BUCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kind_time_bucket {
    unsigned digits; /* of a second: the unit of values */
    int64_t width;   /* in units; 0: it is of months */
    int64_t phase;   /* in units from 1970 to the first begin, less than the width */
    unsigned months; /* at most 120000 */
};

/*
 * Reads all of text[0..bytes): a count, 1 if there is none, and a unit, which is s, m, h, d, w, mo
 * or y. Values will be in units of 10^-digits seconds. Returns false if it is none, 0 or too wide.
 */
bool kind_time_bucket_parse(const char *text, size_t bytes, unsigned digits,
                            struct kind_time_bucket *bucket);

/* Returns where the bucket of a value begins. */
int64_t kind_time_bucket_floor(const struct kind_time_bucket *bucket, int64_t value);

#endif
