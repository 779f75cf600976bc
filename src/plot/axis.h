/*
 * The ticks of an axis: multiples of 1, 2 or 5 times a power of ten, of times also of round numbers
 * of minutes, hours and days, as many as leave space for their labels, and the labels. All
 * arithmetic is in integers, so that a picture is the same on every machine and in every locale.
 *
 * Pure and thread-safe.
 */
#ifndef GPUHIST_AXIS_H
#define GPUHIST_AXIS_H

#include "base/decimal.h"
#include "job/element.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of any label and a NUL: a value, with its digits in groups. */
#define AXIS_LABEL_SIZE (ELEMENT_TEXT_SIZE + 16)

/* The fraction bits of axis_log2. */
#define AXIS_LOG2_BITS 16

struct axis {
    __int128 step;                 /* ticks are at its multiples */
    const struct element *element; /* the values, or NULL: numbers without decimals */
};

/*
 * Writes a value and a NUL, and returns its length. In a picture all numbers are written alike:
 * without zeros at the end of a fraction, and from 10,000 on in groups of three digits. Elsewhere
 * they are as in other formats. NULL: a number without decimals.
 */
size_t axis_write(char out[AXIS_LABEL_SIZE], const struct element *element, __int128 value,
                  bool is_in_picture);

/*
 * Chooses the smallest step for an axis from `low` to `high`, low < high, so that all labels fit in
 * `length`, if a label takes `each` and `wide` more for each of its characters. The element, or
 * NULL for counts, must live as long as the axis.
 */
struct axis axis_make(__int128 low, __int128 high, const struct element *element, unsigned length,
                      unsigned each, unsigned wide);

/* Whether the values of the axis are times. */
bool axis_has_times(const struct axis *axis);

/* Returns the next greater step whose multiples are round. */
__int128 axis_next_step(const struct axis *axis);

/* Returns the smallest multiple of the step that is not less than `value`. */
__int128 axis_ceiling(const struct axis *axis, __int128 value);

/*
 * Writes the label of a tick, as in a picture. A time is without the parts that are 0 at all ticks.
 */
void axis_label(char out[AXIS_LABEL_SIZE], const struct axis *axis, __int128 tick);

/* Returns the logarithm of a number that is not 0, rounded down to 2^-AXIS_LOG2_BITS. */
uint32_t axis_log2(uint64_t number);

#endif
