/*
 * Unsigned integers of 384 bits: exact room for what sums over a whole stream are made into. Sums
 * and products are taken modulo 2^384; callers see to it that theirs fit.
 *
 * All functions are pure, or change their first argument alone, and are thread-safe.
 */
#ifndef GPUHIST_WIDE_H
#define GPUHIST_WIDE_H

#include <stdint.h>

#define WIDE_WORDS 6

struct wide {
    uint64_t words[WIDE_WORDS]; /* the lowest first */
};

struct wide wide_from(unsigned __int128 value);

/* Adds to, or takes from, *a; a difference must not be negative. */
void wide_add(struct wide *a, const struct wide *b);
void wide_subtract(struct wide *a, const struct wide *b);

/* Multiplies *a by a word. */
void wide_scale(struct wide *a, uint64_t factor);

struct wide wide_multiply(const struct wide *a, const struct wide *b);

/* Less than, equal to or greater than 0 as a is less than, equal to or greater than b. */
int wide_compare(const struct wide *a, const struct wide *b);

#endif
