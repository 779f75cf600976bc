/*
 * The decimal text of a quotient of integers, or of its square root: 17 significant digits,
 * correctly rounded, half to even, from the exact value, in the form of printf's %.17g without
 * trailing zeros.
 *
 * The digits are the integer part of a division whose numerator or denominator is multiplied by a
 * power of ten, or the integer square root of that part; what is left decides how to round.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_RATIO_H
#define GPUHIST_RATIO_H

#include "lib/wide.h"

#include <stdbool.h>
#include <stddef.h>

/* The size of any such text and a NUL. */
#define RATIO_SIZE 32

/*
 * Writes numerator / denominator, or its square root, with a minus sign if is_negative and it is
 * not 0, without a NUL. Returns the length. Both must be below 2^256, and the denominator not 0.
 */
size_t ratio_write(char out[RATIO_SIZE], bool is_negative, const struct wide *numerator,
                   const struct wide *denominator, bool is_root);

#endif
