/*
 * Reads numbers with units: durations and sizes.
 *
 * A duration is one or more numbers with units, the largest unit first and each once: d, h, m or
 * min, s or sec, ms, us or (in UTF-8) its two spellings with the letter mu, and ns, as in 1h2m or
 * 1.5s; only the last number has a fraction. A duration may also be H:MM:SS with a fraction of the
 * seconds, or a plain number in the unit of its column. A size is a number with one of K (or k), M,
 * G, T, P and E, or Ki to Ei, and optionally B; or a plain number. A sign may precede them, and
 * blanks may separate numbers and units.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_KIND_UNIT_H
#define GPUHIST_KIND_UNIT_H

#include <stdbool.h>
#include <stddef.h>

/* Maximum number of decimal places of a unit. */
#define KIND_UNIT_DECIMALS_MAX 9

/*
 * Reads the duration text[0..bytes), in multiples of 10^-decimals of 10^-unit seconds: `unit` is 0,
 * 3, 6 or 9. Returns false if it is invalid, not such a multiple, or exceeds 128 bits.
 */
bool kind_unit_read_duration(unsigned unit, unsigned decimals, const char *text, size_t bytes,
                             __int128 *value);

/*
 * Reads the size text[0..bytes), in bytes. K is `unit`, 1000 or 1024, and Ki is 1024. Fractions of
 * K and larger units are rounded away from zero to bytes, like numfmt does, because programs print
 * rounded sizes. Returns false if the size is invalid or exceeds 128 bits.
 */
bool kind_unit_read_size(unsigned unit, const char *text, size_t bytes, __int128 *value);

#endif
