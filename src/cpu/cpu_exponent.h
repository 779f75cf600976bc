/*
 * Converts integers to floats, and computes their binary logarithms, in loops that compilers
 * vectorize. Processors without AVX-512 cannot count leading zeros in vectors, but the exponent of
 * a float gives the same number. To keep rounding from carrying into the exponent, one digit below
 * the needed precision is cleared first: the 23rd of a 32-bit word, the 52nd of a 64-bit word.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_CPU_EXPONENT_H
#define GPUHIST_CPU_EXPONENT_H

#include <stdbool.h>
#include <stdint.h>

#define CPU_EXPONENT_INLINE static inline __attribute__((always_inline))

/* For each width: the bits of a float's mantissa, and the bias of its exponent. */
#define CPU_EXPONENT_DIGITS32 23
#define CPU_EXPONENT_DIGITS64 52
#define CPU_EXPONENT_BIAS32   127
#define CPU_EXPONENT_BIAS64   1023

/* A word that is a double, too. */
union cpu_exponent_double {
    uint64_t bits;
    double number;
};

/*
 * Converts a number to a double, rounded. Each half is placed in the mantissa of 2^52 or 2^84,
 * whose lowest bits then have the values of that half.
 */
CPU_EXPONENT_INLINE union cpu_exponent_double cpu_exponent_double(uint64_t number)
{
    const union cpu_exponent_double low = {(number & UINT32_MAX) | 0x4330000000000000};
    const union cpu_exponent_double high = {number >> 32 | 0x4530000000000000};

    return (union cpu_exponent_double){.number = high.number - (0x1p84 + 0x1p52) + low.number};
}

/*
 * Return floor(log2(number)), or 0 for 0: if counts_zeros, a constant, by counting zeros. Half of a
 * number of 32 bits is converted, because it fits a signed word.
 */
CPU_EXPONENT_INLINE uint32_t cpu_exponent32(bool counts_zeros, uint32_t number)
{
    const uint32_t half = number >> 1;
    const union {
        float number;
        uint32_t bits;
    } rounded = {(float)(int32_t)(half & ~(half >> 22)) + 0.5f};

    return counts_zeros ? 31 - (uint32_t)__builtin_clz(number | 1)
                        : (rounded.bits >> CPU_EXPONENT_DIGITS32) + 1 - CPU_EXPONENT_BIAS32;
}

CPU_EXPONENT_INLINE uint32_t cpu_exponent64(bool counts_zeros, uint64_t number)
{
    const uint64_t rounded = cpu_exponent_double((number | 1) & ~(number >> 51)).bits;

    return counts_zeros ? 63 - (uint32_t)__builtin_clzll(number | 1)
                        : (uint32_t)(rounded >> CPU_EXPONENT_DIGITS64) - CPU_EXPONENT_BIAS64;
}

#endif
