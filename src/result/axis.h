/*
 * The ticks of an axis: multiples of 1, 2 or 5 times a power of ten, of times the beginnings of
 * round buckets (kind_time_bucket.h), as many as leave space for their labels, and the labels. All
 * arithmetic is in integers, so that a picture is the same on every machine and in every locale.
 *
 * Pure and thread-safe.
 */
#ifndef GPUHIST_AXIS_H
#define GPUHIST_AXIS_H

#include "lib/decimal.h"
#include "value/element.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of any label and a NUL: a value, with its digits in groups. */
#define AXIS_LABEL_SIZE (ELEMENT_TEXT_SIZE + 16)

/* How numbers are written. */
enum axis_digits {
    AXIS_PRINTED, /* as in other formats */
    AXIS_SHORT,   /* without zeros at the end of a fraction */
    AXIS_GROUPED, /* as AXIS_SHORT, and from 1000 on in groups of three digits */
};

/* The fraction bits of axis_log2. */
#define AXIS_LOG2_BITS 16

/* The parts of times that are not the same in all labels, or at the beginning of a wider unit. */
struct axis_times {
    bool has_month;
    bool has_day;
    bool has_hour; /* and minute */
    bool has_second;
    bool has_fraction;
};

struct axis {
    __int128 step;                 /* ticks are at its multiples; not of times */
    struct kind_time_bucket ticks; /* of times: they are where buckets begin */
    struct axis_times times;       /* of their labels */
    const struct element *element; /* the values, or NULL: numbers without decimals */
    enum axis_digits digits;       /* of their labels */
};

/* Writes a value and a NUL, and returns its length. NULL: a number without decimals. */
size_t axis_write(char out[AXIS_LABEL_SIZE], const struct element *element, __int128 value,
                  enum axis_digits digits);

/*
 * Returns how a picture writes values from `low` to `high`, all of them alike: in groups if one is
 * 10,000 or greater. Numbers below, such as years, are easy to read without.
 */
enum axis_digits axis_digits(const struct element *element, __int128 low, __int128 high);

/* Returns how many zeros a value has at the end of its fraction: all its decimals, if it is 0. */
unsigned axis_zeros(const struct element *element, __int128 value);

/* Adds what the label of a time needs. */
void axis_times_add(struct axis_times *times, const struct element *element, __int128 value);

/*
 * Writes the label of a time and a NUL, and returns its length: the time of the day, if labels have
 * one, after the date and a blank if `has_date`; else the date, 2026, 2026-11 or 2026-11-21. UTC
 * has no Z.
 */
size_t axis_write_time(char out[AXIS_LABEL_SIZE], const struct axis_times *times,
                       const struct element *element, __int128 value, bool has_date);

/* Returns whether the labels of times have a time of the day, and their dates differ. */
bool axis_has_new_date(const struct axis_times *times, const struct element *element,
                       __int128 value, __int128 before);

/*
 * Chooses the smallest step for an axis from `low` to `high`, low < high, so that all labels fit in
 * `length`, if a label takes `each` and `wide` more for each of its characters; a time takes those
 * of a date. The element, or NULL for counts, must live as long as the axis.
 */
struct axis axis_make(__int128 low, __int128 high, const struct element *element,
                      enum axis_digits digits, unsigned length, unsigned each, unsigned wide);

/* Returns whether the values of the axis are times. */
bool axis_has_times(const struct axis *axis);

/* Returns the first tick that is not less than `value`. */
__int128 axis_ceiling(const struct axis *axis, __int128 value);

/*
 * Writes the label of a tick, as in a picture; of times without the date if labels have a time of
 * the day.
 */
void axis_label(char out[AXIS_LABEL_SIZE], const struct axis *axis, __int128 tick);

/* Returns the logarithm of a number that is not 0, rounded down to 2^-AXIS_LOG2_BITS. */
uint32_t axis_log2(uint64_t number);

#endif
