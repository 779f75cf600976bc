/*
 * Percentages of counts, with four decimals, rounded from the exact quotient, half to even; the
 * same on every machine. Pure and thread-safe.
 */
#ifndef GPUHIST_PERCENT_H
#define GPUHIST_PERCENT_H

#include <stddef.h>
#include <stdint.h>

/* Room for "100.0000" and a NUL. */
#define PERCENT_SIZE 9

/*
 * Writes how many percent of `whole` are `part` <= whole, no NUL, at `out` and returns the length.
 * Of 0 everything is "0.0000".
 */
size_t percent_write(char out[PERCENT_SIZE], uint64_t part, uint64_t whole);

#endif
