/*
 * The ticks of an axis and their labels. Ticks are multiples of 1, 2 or 5 times a power of ten, or
 * for timestamps starts of round buckets (kind_time_bucket.h), as many as leave space for their
 * labels. All arithmetic uses integers, so that plots and images are the same on every machine and
 * in every locale.
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

/* Size of a buffer for any label and a NUL: a value with thousands separators. */
#define AXIS_LABEL_SIZE (ELEMENT_TEXT_SIZE + 16)

/* The notation of numbers. */
enum axis_digits {
    AXIS_PRINTED, /* like in other formats */
    AXIS_SHORT,   /* without trailing zeros of a fraction */
    AXIS_GROUPED, /* like AXIS_SHORT, and from 1000 with thousands separators */
};

/* Number of fraction bits of axis_log2. */
#define AXIS_LOG2_BITS 16

/* The parts of timestamps that differ between labels, or are not the start of a larger unit. */
struct axis_times {
    bool has_month;
    bool has_day;
    bool has_hour; /* labels have hours and minutes */
    bool has_second;
    bool has_fraction;
};

struct axis {
    __int128 step;                 /* numbers: ticks are at its multiples */
    struct kind_time_bucket ticks; /* timestamps: ticks are at the starts of these buckets */
    struct axis_times times;       /* timestamps: the parts of labels */
    const struct element *element; /* the values; not owned; NULL: integers */
    enum axis_digits digits;       /* numbers: the notation of labels */
};

/* Writes a value and a NUL, and returns its length. Without an element, the value is an integer. */
size_t axis_write(char out[AXIS_LABEL_SIZE], const struct element *element, __int128 value,
                  enum axis_digits digits);

/*
 * Returns the notation for all values from `low` to `high`: with thousands separators if one is
 * 10,000 or larger. Smaller numbers, such as years, are easy to read without.
 */
enum axis_digits axis_digits(const struct element *element, __int128 low, __int128 high);

/* Returns the number of trailing zeros of a value's fraction: all decimal places if it is 0. */
unsigned axis_zeros(const struct element *element, __int128 value);

/* Adds the parts that the label of a timestamp needs. */
void axis_times_add(struct axis_times *times, const struct element *element, __int128 value);

/*
 * Writes the label of a timestamp and a NUL, and returns its length. If labels have a time of day,
 * it is that, after the date and a blank if `has_date`; else the date, 2026, 2026-11 or 2026-11-21.
 * UTC has no Z.
 */
size_t axis_write_time(char out[AXIS_LABEL_SIZE], const struct axis_times *times,
                       const struct element *element, __int128 value, bool has_date);

/* Returns whether labels have a time of day, and the dates of these two timestamps differ. */
bool axis_has_new_date(const struct axis_times *times, const struct element *element,
                       __int128 value, __int128 before);

/*
 * Chooses the smallest step for an axis from `low` to `high`, low < high, so that all labels fit in
 * `length`. A label takes `each`, and `wide` per character; a timestamp has the characters of a
 * date. The element, or NULL for counts, must outlive the axis.
 */
struct axis axis_make(__int128 low, __int128 high, const struct element *element,
                      enum axis_digits digits, unsigned length, unsigned each, unsigned wide);

/* Returns whether the values of the axis are timestamps. */
bool axis_has_times(const struct axis *axis);

/* Returns the first tick at or above `value`. */
__int128 axis_ceiling(const struct axis *axis, __int128 value);

/*
 * Writes the label of a tick; for a timestamp, without the date if labels have a time of day.
 */
void axis_label(char out[AXIS_LABEL_SIZE], const struct axis *axis, __int128 tick);

/* Returns the logarithm of a number that is not 0, rounded down to 2^-AXIS_LOG2_BITS. */
uint32_t axis_log2(uint64_t number);

#endif
