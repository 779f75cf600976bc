/*
 * Reads instants in text, and writes them.
 *
 * A value counts units of 10^-digits seconds since 1970-01-01T00:00:00Z, without leap seconds, in
 * the proleptic Gregorian calendar. It is of the years 0001 to 9999; in units of nanoseconds those
 * that 64 bits hold, 1677-09-21 to 2262-04-11, of 10^-8 seconds to 4892.
 *
 * The manual has the forms that are read as a table. In short, a date is YYYY-MM-DD, YYYY/MM/DD,
 * YYYYMMDD, DD-Mon-YYYY or DD/Mon/YYYY; a time of the day follows T, : (after a name of a month) or
 * blanks; an offset is attached, or the next word where blanks separate date and time. Numbers are
 * since 1970 in the unit that their digits tell, or packed dates.
 *
 * A time is read whole or refused. A cell (of CSV, JSON or another delimiter than blanks) is all of
 * the time. A word of a line ends with it, or before one of , ; : | ] ) " - and what the next word
 * is decides whether it belongs to the time, is another field, or makes the time invalid.
 *
 * Without an offset the time is UTC. Second 60 is second 0 of the next minute, after minute 59
 * alone. Hour 24, ordinal dates and weeks are invalid.
 *
 * One core of a Zen 4 (bench/RESULTS.md), gcc -O3, random times: 80 M a second are read of
 * 2026-11-21T13:45:02Z, 65 M of the common log format with an offset, 60 M with milliseconds and an
 * offset, 110 M of seconds since 1970; 37 M of --time-format '%F %T'; 39 M are written.
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

/* Capacity for any written time; none has a NUL. */
#define KIND_TIME_SIZE 48

/* What a time was read from that its writer may not have meant. */
enum kind_time_guess {
    KIND_TIME_GUESS_NONE,
    KIND_TIME_GUESS_ZERO,        /* 0, which is 1970 */
    KIND_TIME_GUESS_YEAR,        /* no year: it is of the present year, */
    KIND_TIME_GUESS_YEAR_BEFORE, /* or of the one before */
    KIND_TIME_GUESSES,           /* the number of guesses */
};

/* Why a text is no time, where there is another way to read it. */
enum kind_time_fault {
    KIND_TIME_FAULT_NONE,
    KIND_TIME_FAULT_ZONE,   /* a name of a zone, which local times ignore */
    KIND_TIME_FAULT_OFFSET, /* the next word may be an offset or a value */
    KIND_TIME_FAULT_WORD,   /* the word after a date is no time, and may be no other field */
    KIND_TIME_FAULT_NUMBER, /* the number of its digits is wrong, or it may be a date written in
                               digits only */
};

struct kind_time_rules {
    unsigned digits; /* of a second, 0 to KIND_TIME_DIGITS_MAX; times are floored to them */
    bool is_local;   /* offsets are checked and ignored, and not written */
    bool is_cell;    /* the field is a cell, of which the time is all */
    bool is_joined;  /* it is of two words, and no other follows */
    bool is_found;   /* times with more digits are invalid, and local ones with an offset */
    const struct kind_time_format *format; /* the one form that is read; NULL: those above */
    const struct kind_time_zone *zone; /* times are written as its clocks show them; NULL: UTC */
};

/*
 * Reads the time that begins at text[0]. Its field is text[0..field); text[field..bytes) is what
 * follows on the line, where fields are separated by blanks, else bytes == field. There it reads on
 * in the words that follow, which may be the second half of the time or its offset.
 *
 * Stores the value, and in *guess, unless that is NULL, what it was read from; returns where the
 * time ends. Returns 0 if it is invalid or out of range, as an empty field is. Reads nothing
 * outside text[0..bytes).
 */
size_t kind_time_read(const struct kind_time_rules *rules, const char *text, size_t field,
                      size_t bytes, int64_t *value, enum kind_time_guess *guess);

/* Returns whether kind_time_read returns 0 only because the value is out of range. */
bool kind_time_is_out_of_range(const struct kind_time_rules *rules, const char *text, size_t field,
                               size_t bytes);

/*
 * Returns whether kind_time_read reads a time, without a format, that says which instant it is:
 * with an offset, or as a number since 1970. Else it takes the time as UTC.
 */
bool kind_time_has_offset(const struct kind_time_rules *rules, const char *text, size_t field,
                          size_t bytes);

/* Returns why kind_time_read reads no time, where that can be told. */
enum kind_time_fault kind_time_find_fault(const struct kind_time_rules *rules, const char *text,
                                          size_t field, size_t bytes);

/*
 * Writes a value as RFC 3339, with all digits: 2026-11-21T13:45:02.250Z; of local times without Z,
 * of those of a zone with its offset, +01:00, which before 1972 may have seconds, +00:53:28.
 * Years above 9999, which no time that was read has, are written with a sign, as ISO 8601 does.
 * Returns the length, less than KIND_TIME_SIZE.
 */
size_t kind_time_write(char *out, const struct kind_time_rules *rules, int64_t value);

#endif
