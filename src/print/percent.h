/*
 * Percentages of counts, with four decimals, rounded half to even from the exact quotient; so they
 * are the same on every machine. Pure and thread-safe.
 */
#ifndef GPUHIST_PERCENT_H
#define GPUHIST_PERCENT_H

#include <stddef.h>
#include <stdint.h>

/* Room for "100.0000" and a NUL. */
#define PERCENT_SIZE 9

/*
 * Writes part / whole as a percentage, without a NUL, and returns its length. `part` <= `whole`; if
 * `whole` is 0, writes "0.0000".
 */
size_t percent_write(char out[PERCENT_SIZE], uint64_t part, uint64_t whole);

#endif
