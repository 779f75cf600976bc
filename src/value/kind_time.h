/*
 * Reads timestamps in text, and writes them.
 *
 * A value counts units of 10^-digits seconds since 1970-01-01T00:00:00Z, without leap seconds, in
 * the proleptic Gregorian calendar. Its year is 0001 to 9999. In nanoseconds, 64 bits limit values
 * to 1677-09-21 to 2262-04-11; in units of 10^-8 seconds, to the year 4892.
 *
 * The manual has a table of the accepted forms. In short, a date is YYYY-MM-DD, YYYY/MM/DD,
 * YYYYMMDD, DD-Mon-YYYY or DD/Mon/YYYY. The time of day follows T, : (after a month's name) or
 * blanks. An offset is attached, or the next word if blanks separate date and time. Numbers count
 * from 1970 in the unit that their number of digits tells, or are packed dates.
 *
 * A timestamp is read as a whole or rejected. It must fill its cell (of CSV, JSON or another
 * delimiter than blanks). In a line of words it ends with its word, or before a mark (one of
 * , ; : | ] ) "); the next word may belong to it, be another field, or make it invalid.
 *
 * Without an offset the timestamp is in UTC. Second 60 is second 0 of the next minute, and only
 * valid in minute 59. Hour 24, ordinal dates and weeks are invalid.
 *
 * Million timestamps per second, one core of a Zen 4 (bench/RESULTS.md), gcc -O3, random values:
 * read 2026-11-21T13:45:02Z 80, common log format with an offset 65, with milliseconds and an
 * offset 60, seconds since 1970 110, --time-format '%F %T' 37; write 39.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_KIND_TIME_H
#define GPUHIST_KIND_TIME_H

#include "value/kind_time_format.h"
#include "value/kind_time_zone.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KIND_TIME_DIGITS_MAX 9

/* Size of a buffer for any written timestamp, without a NUL. */
#define KIND_TIME_SIZE 48

/* An assumption about a timestamp that its writer may not have meant. */
enum kind_time_guess {
    KIND_TIME_GUESS_NONE,
    KIND_TIME_GUESS_ZERO,        /* 0 is 1970 */
    KIND_TIME_GUESS_YEAR,        /* no year: taken as the present year */
    KIND_TIME_GUESS_YEAR_BEFORE, /* no year: taken as the year before the present one */
    KIND_TIME_GUESSES,           /* the number of guesses */
};

/* The reason why a text is not a timestamp, if there is another way to read it. */
enum kind_time_fault {
    KIND_TIME_FAULT_NONE,
    KIND_TIME_FAULT_ZONE,   /* it has the name of a zone, which local times ignore */
    KIND_TIME_FAULT_OFFSET, /* the next word may be an offset or a value */
    KIND_TIME_FAULT_WORD,   /* the word after a date is neither a time nor a field of its own */
    KIND_TIME_FAULT_NUMBER, /* a number has a wrong number of digits, or may be a packed date */
};

struct kind_time_rules {
    unsigned digits; /* decimal places of seconds, 0 to KIND_TIME_DIGITS_MAX; further digits are
                        dropped */
    bool is_local;   /* offsets are checked, but ignored and not written */
    bool is_cell;    /* the timestamp must fill its field, a cell */
    bool is_joined;  /* the text is two joined fields; nothing follows it */
    bool is_found;   /* more digits are invalid, and so are local times with an offset */
    const struct kind_time_format *format; /* the only accepted form; NULL: those above */
    const struct kind_time_zone *zone;     /* the zone of written timestamps; NULL: UTC */
};

/*
 * Reads the timestamp that begins at text[0]. Its field is text[0..field). If blanks separate
 * fields, text[field..bytes) is the rest of the line, whose first words may be the time of day or
 * the offset; else bytes == field.
 *
 * Stores the value, and the guess in *guess unless that is NULL. Returns the length of the
 * timestamp, or 0 if it is invalid, empty or out of range. Reads nothing outside text[0..bytes).
 */
size_t kind_time_read(const struct kind_time_rules *rules, const char *text, size_t field,
                      size_t bytes, int64_t *value, enum kind_time_guess *guess);

/* Returns whether kind_time_read returns 0 only because the value is out of range. */
bool kind_time_is_out_of_range(const struct kind_time_rules *rules, const char *text, size_t field,
                               size_t bytes);

/*
 * Returns whether kind_time_read, without a format, reads a timestamp that determines its instant:
 * it has an offset, or counts from 1970. Otherwise kind_time_read assumes UTC.
 */
bool kind_time_has_offset(const struct kind_time_rules *rules, const char *text, size_t field,
                          size_t bytes);

/* Returns why kind_time_read rejects the text, if that can be told. */
enum kind_time_fault kind_time_find_fault(const struct kind_time_rules *rules, const char *text,
                                          size_t field, size_t bytes);

/*
 * Writes a value as RFC 3339, with all digits: 2026-11-21T13:45:02.250Z. Local times have no Z;
 * times in a zone have its offset, +01:00, which before 1972 may have seconds, +00:53:28. Years
 * above 9999, which no input has, are written with a sign, as in ISO 8601. Returns the length, less
 * than KIND_TIME_SIZE.
 */
size_t kind_time_write(char *out, const struct kind_time_rules *rules, int64_t value);

#endif
