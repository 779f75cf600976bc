/*
 * Writes a quotient of integers, or its square root, in decimal: 17 significant digits, correctly
 * rounded, half to even, from the exact value, in the form of printf's %.17g without trailing
 * zeros.
 *
 * The digits are the integer part of a division whose numerator or denominator is multiplied by a
 * power of ten, or the integer square root of that part; the remainder decides how to round.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_RATIO_H
#define GPUHIST_RATIO_H

#include "lib/wide.h"

#include <stdbool.h>
#include <stddef.h>

/* Size of a buffer for any such number and a NUL. */
#define RATIO_SIZE 32

/*
 * Writes numerator / denominator, or its square root, without a NUL, and returns the length. A
 * minus sign precedes it if is_negative and it is not 0. Both must be below 2^256, and the
 * denominator not 0.
 */
size_t ratio_write(char out[RATIO_SIZE], bool is_negative, const struct wide *numerator,
                   const struct wide *denominator, bool is_root);

#endif
