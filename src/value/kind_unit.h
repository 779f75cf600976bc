/*
 * Reads numbers with units: durations and sizes.
 *
 * A duration is one or more numbers with units, the largest unit first and each once: d, h, m or
 * min, s or sec, ms, us or (in UTF-8) its two spellings with the letter mu, and ns, as in 1h2m or
 * 1.5s; only the last number has a fraction. It is also H:MM:SS with a fraction of the seconds, or
 * a number alone, which is in the unit of its column. A size is a number with one of K (or k), M,
 * G, T, P and E, or Ki to Ei, and B after these; or a number alone. A sign may come before, and
 * blanks between numbers and units.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_KIND_UNIT_H
#define GPUHIST_KIND_UNIT_H

#include <stdbool.h>
#include <stddef.h>

/* The most decimals of a unit. */
#define KIND_UNIT_DECIMALS_MAX 9

/*
 * Reads the duration that text[0..bytes) is, in multiples of 10^-decimals of 10^-unit seconds:
 * `unit` is 0, 3, 6 or 9. Returns false if it is none, is no such multiple, or exceeds 128 bits.
 */
bool kind_unit_read_duration(unsigned unit, unsigned decimals, const char *text, size_t bytes,
                             __int128 *value);

/*
 * Reads the size that text[0..bytes) is, in bytes. K is `unit`, 1000 or 1024, and Ki is 1024. A
 * fraction of a K or a greater unit that is no number of bytes is rounded away from zero, as numfmt
 * does: programs print sizes that they have rounded. Returns false if it is none or exceeds 128
 * bits.
 */
bool kind_unit_read_size(unsigned unit, const char *text, size_t bytes, __int128 *value);

#endif
