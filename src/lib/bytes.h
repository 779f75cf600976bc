/*
 * Functions for eight bytes of text at a time, as a word whose lowest byte is the first one. All
 * functions are pure and thread-safe.
 */
#ifndef GPUHIST_BYTES_H
#define GPUHIST_BYTES_H

#include "lib/host_device.h"

#include <stdint.h>
#include <string.h>

/* A word whose bytes all have the same value. */
#define BYTES_OF(byte) ((uint64_t)(byte)*0x0101010101010101u)

/* Loads eight bytes as a word; the first byte is the lowest. */
HOST_DEVICE_INLINE uint64_t bytes_load(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Gathers the highest bit of each byte into the lowest eight bits; all other bits must be 0. */
HOST_DEVICE_INLINE uint64_t bytes_gather(uint64_t high_bits)
{
    return (high_bits >> 7) * 0x0102040810204080u >> 56;
}

/*
 * Sets the highest bit of each byte that is zero. Exact: nothing is carried from byte to byte
 * (Warren, "Hacker's Delight", 2nd edition, section 6-1).
 */
HOST_DEVICE_INLINE uint64_t bytes_zeros(uint64_t word)
{
    const uint64_t low = BYTES_OF(0x7f);
    return ~(((word & low) + low) | word | low);
}

/*
 * Returns the number of eight digits. Each byte of the word is a digit's value, the lowest byte the
 * first digit's. Joins neighbours three times, each time with one multiplication (Lemire, "Quickly
 * parsing eight digits", 2018; Mula, "SIMD-ized parsing of series of integers").
 */
HOST_DEVICE_INLINE uint64_t bytes_join_eight(uint64_t digits)
{
    const uint64_t every_fourth = 0x000000ff000000ff;
    uint64_t pairs = digits * 10 + (digits >> 8);
    return ((pairs & every_fourth) * (100 + ((uint64_t)1000000 << 32)) +
            (pairs >> 16 & every_fourth) * (1 + ((uint64_t)10000 << 32))) >>
           32;
}

/* Returns a word other than 0 if some byte is above 9. */
HOST_DEVICE_INLINE uint64_t bytes_no_digits(uint64_t digits)
{
    return ((digits + BYTES_OF(0x80 - 10)) | digits) & BYTES_OF(0x80);
}

#endif
