/*
 * Integers as floats, and their binary logarithms, in loops that compilers make vector code of.
 * Processors without AVX-512 do not count leading zeros of vectors, but floats have exponents. So
 * that rounding does not carry into one, a digit that is not asked for is cleared first: the 23rd
 * of a word of 32 bits, the 52nd of 64.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_CPU_EXPONENT_H
#define GPUHIST_CPU_EXPONENT_H

#include <stdbool.h>
#include <stdint.h>

#define CPU_EXPONENT_INLINE static inline __attribute__((always_inline))

/* Of each width: the bits of a float behind its exponent, and what is added to that. */
#define CPU_EXPONENT_DIGITS32 23
#define CPU_EXPONENT_DIGITS64 52
#define CPU_EXPONENT_BIAS32   127
#define CPU_EXPONENT_BIAS64   1023

/*
 * The bits of number | 1 as a float: its biased exponent, and behind it its digits from the second
 * on, of which 20 are right. It is computed of half of it, for which a signed word has room.
 */
CPU_EXPONENT_INLINE uint32_t cpu_exponent_float32(uint32_t number)
{
    const uint32_t half = number >> 1;
    const union {
        float number;
        uint32_t bits;
    } rounded = {(float)(int32_t)(half & ~(half >> 22)) + 0.5f};
    return rounded.bits + ((uint32_t)1 << CPU_EXPONENT_DIGITS32);
}

/* A word that is a double, too. */
union cpu_exponent_double {
    uint64_t bits;
    double number;
};

/*
 * A number as a double, rounded. Its halves become doubles by the bits of 2^52 and 2^84, between
 * which and twice that these count.
 */
CPU_EXPONENT_INLINE union cpu_exponent_double cpu_exponent_double(uint64_t number)
{
    const union cpu_exponent_double low = {(number & UINT32_MAX) | 0x4330000000000000};
    const union cpu_exponent_double high = {number >> 32 | 0x4530000000000000};

    return (union cpu_exponent_double){.number = high.number - (0x1p84 + 0x1p52) + low.number};
}

/* The same as of 32 bits, of a double. */
CPU_EXPONENT_INLINE uint64_t cpu_exponent_float64(uint64_t number)
{
    return cpu_exponent_double((number | 1) & ~(number >> 51)).bits;
}

/* floor(log2(number)), or 0 for 0. `counts_zeros`, a constant: found by these instead of floats. */
CPU_EXPONENT_INLINE uint32_t cpu_exponent32(bool counts_zeros, uint32_t number)
{
    return counts_zeros
               ? 31 - (uint32_t)__builtin_clz(number | 1)
               : (cpu_exponent_float32(number) >> CPU_EXPONENT_DIGITS32) - CPU_EXPONENT_BIAS32;
}

CPU_EXPONENT_INLINE uint32_t cpu_exponent64(bool counts_zeros, uint64_t number)
{
    return counts_zeros ? 63 - (uint32_t)__builtin_clzll(number | 1)
                        : (uint32_t)(cpu_exponent_float64(number) >> CPU_EXPONENT_DIGITS64) -
                              CPU_EXPONENT_BIAS64;
}

#endif
