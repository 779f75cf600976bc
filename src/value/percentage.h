/*
 * Percentages of percentiles, and the nearest rank: the p-th percentile of n values in ascending
 * order is the value with rank ceil(p / 100 * n), or for p = 0 the first value (definition 1 of
 * Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996; NumPy's method
 * "inverted_cdf").
 *
 * Functions are thread-safe on distinct arguments.
 */
#ifndef GPUHIST_PERCENTAGE_H
#define GPUHIST_PERCENTAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of decimal places, for which 128-bit arithmetic is exact. */
#define PERCENTAGE_DECIMALS_MAX 15

/* A percentage from 0 to 100: digits / 10^decimals. */
struct percentage {
    uint64_t digits;
    unsigned decimals;
};

/*
 * Reads the percentage text[0..length): digits, and optionally a point and more digits. Returns
 * false if it is not one.
 */
bool percentage_parse(struct percentage *percentage, const char *text, size_t length);

/* Returns the rank of the percentile among n values, from 1 to n; 1 if n is 0. */
uint64_t percentage_rank(const struct percentage *percentage, uint64_t n);

/*
 * Returns floor((n - 1) * percentage / 100), for n > 0, and stores the rest in *above, in units of
 * 1 / (100 * 10^decimals).
 */
uint64_t percentage_index(const struct percentage *percentage, uint64_t n, uint64_t *above);

/* Returns the sign of percentage - whole, where `whole` is at most 100 percent. */
int percentage_compare(const struct percentage *percentage, unsigned whole);

/* Size of a buffer for a percentage: "100.", the decimal places and a NUL. */
#define PERCENTAGE_SIZE (PERCENTAGE_DECIMALS_MAX + 5)

/* Writes a percentage with its typed decimal places, without a NUL. Returns the length. */
size_t percentage_write(char out[PERCENTAGE_SIZE], const struct percentage *percentage);

/* Size of a buffer for "100.0000" and a NUL. */
#define PERCENTAGE_SHARE_SIZE 9

/*
 * Writes part / whole in percent, without a NUL, and returns its length. It has four decimals,
 * rounded half to even from the exact quotient, so that it is the same on every machine. `part` <=
 * `whole`; if `whole` is 0, writes "0.0000".
 */
size_t percentage_write_share(char out[PERCENTAGE_SHARE_SIZE], uint64_t part, uint64_t whole);

#endif
