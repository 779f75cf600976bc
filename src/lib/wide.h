/*
 * Unsigned integers of 384 bits, for exact arithmetic with sums over a whole stream. Results are
 * modulo 2^384; callers ensure that their values fit.
 *
 * Functions are pure, or change only their first argument, and are thread-safe.
 */
#ifndef GPUHIST_WIDE_H
#define GPUHIST_WIDE_H

#include <stdint.h>

#define WIDE_WORDS 6

struct wide {
    uint64_t words[WIDE_WORDS]; /* the lowest word first */
};

/* Converts an integer. */
struct wide wide_from(unsigned __int128 value);

/* Add b to *a, or subtract it; the difference must not be negative. */
void wide_add(struct wide *a, const struct wide *b);
void wide_subtract(struct wide *a, const struct wide *b);

/* Multiplies *a by a word. */
void wide_scale(struct wide *a, uint64_t factor);

/* Returns the product of a and b. */
struct wide wide_multiply(const struct wide *a, const struct wide *b);

/*
 * Divides *a by b, and leaves the remainder in *a. b is not 0, a is below 2^383, and the quotient
 * below 2^128.
 */
unsigned __int128 wide_divide(struct wide *a, const struct wide *b);

/* Returns the number of binary digits; 0 for 0. */
unsigned wide_bits(const struct wide *a);

/* Returns a number below, equal to or above 0 if a is below, equal to or above b. */
int wide_compare(const struct wide *a, const struct wide *b);

#endif
