/*
 * Converts decimal text to integers and back, with the size suffixes of the command line.
 * Independent of the locale. All functions are pure and thread-safe.
 */
#ifndef GPUHIST_DECIMAL_H
#define GPUHIST_DECIMAL_H

#include "lib/host_device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size of a buffer for any 128-bit integer, with its sign, a point and a NUL. */
#define DECIMAL_SIZE 42

/* Returns 10^digits, at most 10^19. */
HOST_DEVICE_INLINE uint64_t decimal_power(uint64_t digits)
{
    static const uint64_t powers[20] = {
        1u,
        10u,
        100u,
        1000u,
        10000u,
        100000u,
        1000000u,
        10000000u,
        100000000u,
        1000000000u,
        10000000000u,
        100000000000u,
        1000000000000u,
        10000000000000u,
        100000000000000u,
        1000000000000000u,
        10000000000000000u,
        100000000000000000u,
        1000000000000000000u,
        10000000000000000000u,
    };
    return powers[digits];
}

/* The meaning of suffixes such as K, M, G, T, P and E. */
enum decimal_unit {
    DECIMAL_UNIT_SI,    /* like numfmt --from=auto: K is 1000, Ki is 1024 */
    DECIMAL_UNIT_BYTES, /* like GNU sizes: K, Ki and KiB are 1024, KB is 1000 */
    DECIMAL_UNIT_TIME,  /* ms, s, m, h and d, in nanoseconds; without a suffix seconds */
};

/*
 * Reads all of text[0..length): [+-]digits[.digits][suffix]. The value must be an integer, and its
 * magnitude and its digits without the point and the suffix must be below 2^96. Returns false
 * otherwise.
 */
bool decimal_parse(const char *text, size_t length, enum decimal_unit unit, __int128 *value);

/*
 * Like decimal_parse with DECIMAL_UNIT_SI, but the value is in units of 10^-decimals, and must be a
 * multiple of them: 1.25 with 3 decimals is 1250. If `decimals` is not 0, .5 and 5. are valid, too.
 * An exponent may replace the suffix: 125e-2.
 */
bool decimal_parse_fixed(const char *text, size_t length, unsigned decimals, __int128 *value);

/* Like decimal_parse, but for a NUL-terminated number from 0 to 2^64 - 1. */
bool decimal_parse_unsigned(const char *text, enum decimal_unit unit, uint64_t *value);

/* Writes the digits of `value`, at most 20 and no NUL, to `out`. Returns their number. */
size_t decimal_write(char *out, uint64_t value);

/* Like decimal_write, but for 128 bits: at most 39 digits. */
size_t decimal_write_128(char *out, unsigned __int128 value);

/* Like decimal_write_128, but in units of 10^-decimals (1 to 38): 1250 with 3 is 1.250. */
size_t decimal_write_places(char *out, unsigned __int128 value, unsigned decimals);

/* Like decimal_write, but signed and in units of 10^-decimals: less than DECIMAL_SIZE bytes. */
size_t decimal_write_fixed(char *out, __int128 value, unsigned decimals);

/* Like decimal_write_fixed, but with a NUL. */
void decimal_format_fixed(char out[DECIMAL_SIZE], __int128 value, unsigned decimals);

#endif
