/*
 * The decimal text of a quotient of integers, and of its square root: 17 significant digits,
 * correctly rounded, half to even, from the exact value, in the shape that printf's %.17g has;
 * zeros at the end are left out.
 *
 * Digits are made one by one, from the highest, each by counted subtractions, as calculating
 * machines did it: of the denominator for a quotient, of its multiples 20 p + 1, 20 p + 3, ... for
 * a root that begins with the digits p (Toepler's method).
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_RATIO_H
#define GPUHIST_RATIO_H

#include "base/wide.h"

#include <stdbool.h>
#include <stddef.h>

/* Room for any such text and a NUL. */
#define RATIO_SIZE 32

/*
 * Writes numerator / denominator, with a minus sign if it is negative and not 0, or the square root
 * of the quotient, at `out`; no NUL. Returns the length. Both are below 2^256, and the denominator
 * is not 0.
 */
size_t ratio_write(char out[RATIO_SIZE], bool is_negative, const struct wide *numerator,
                   const struct wide *denominator);
size_t ratio_write_root(char out[RATIO_SIZE], const struct wide *numerator,
                        const struct wide *denominator);

#endif
