/*
 * Reads instants in text, and writes them.
 *
 * A value counts units of 10^-digits seconds since 1970-01-01T00:00:00Z, without leap seconds, in
 * the proleptic Gregorian calendar. It is of the years 0001 to 9999; in units of nanoseconds those
 * that 64 bits hold, 1677-09-21 to 2262-04-11, of 10^-8 seconds to 4892.
 *
 * The forms, those of a date with a time of the day with or without the bracket [ or ]:
 *
 *   2026-11-21T13:45:02.25+01:00   RFC 3339 and ISO 8601. T, t or a blank; without seconds as well.
 *   2026-11-21                     The date alone is midnight UTC.
 *   20261121T134502Z               The basic form of ISO 8601, which needs the T.
 *   21/Nov/2026:13:45:02 +0000     The common log format.
 *   1795268702.25                  Seconds since 1970, with or without a sign and a fraction.
 *
 * A fraction comes after . or , (of seconds since 1970, after . alone) and has any number of
 * digits. An offset is Z, z, +HH:MM, +HHMM or +HH, directly or after one blank; without one the
 * time is UTC. Second 60 is second 0 of the next minute, in every minute, since where leap seconds
 * were is not known of local times. Hour 24, ordinal dates and weeks are invalid.
 *
 * One core of a Zen 4 (bench/RESULTS.md), gcc -O3, random times: 80 M a second are read of
 * 2026-11-21T13:45:02Z, 65 M of the common log format with an offset, 60 M with milliseconds and an
 * offset, 110 M of seconds since 1970; 37 M of --time-format '%F %T'; 39 M are written.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_KIND_TIME_H
#define GPUHIST_KIND_TIME_H

#include "base/kind_time_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KIND_TIME_DIGITS_MAX 9

/* Capacity for any written time; none has a NUL. */
#define KIND_TIME_SIZE 48

struct kind_time_rules {
    unsigned digits; /* of a second, 0 to KIND_TIME_DIGITS_MAX; times are floored to them */
    bool is_local;   /* offsets are checked and ignored, and not written */
    const struct kind_time_format *format; /* the one form that is read; NULL: those above */
};

/*
 * Reads the time that begins at text[0]. Its field is text[0..field); text[field..bytes) is what
 * follows on the line, where fields are separated by blanks, else bytes == field. The time must
 * take all of the field. It reads on over one blank (not a tab) after the field for its second
 * half, if the next field has the shape HH:MM, HH:MM:SS or more of a time, or for its offset, if
 * that has the shape Z, +HHMM or +HH:MM (not +HH, which is a number more often), each with or
 * without ]. Where the shape is right and a number is not, such as hour 25, the time is invalid;
 * but an offset that no clock has, such as -1999 without ], is a field of its own.
 *
 * Stores the value and returns the bytes of the time, at least `field`. Returns 0 if it is invalid
 * or out of range, as an empty field is. Reads nothing outside text[0..bytes).
 */
size_t kind_time_read(const struct kind_time_rules *rules, const char *text, size_t field,
                      size_t bytes, int64_t *value);

/* Returns whether kind_time_read returns 0 only because the value is out of range. */
bool kind_time_is_out_of_range(const struct kind_time_rules *rules, const char *text, size_t field,
                               size_t bytes);

/*
 * Writes a value as RFC 3339, with all digits: 2026-11-21T13:45:02.250Z; of local times without Z.
 * Years above 9999, which no time that was read has, are written with a sign, as ISO 8601 does.
 * Returns the length, less than KIND_TIME_SIZE.
 */
size_t kind_time_write(char *out, const struct kind_time_rules *rules, int64_t value);

#endif
