/*
 * Binary logarithms of integers, in loops that compilers make vector code of. Processors without
 * AVX-512 do not count leading zeros of vectors, but floats have exponents. So that rounding does
 * not carry into a greater one, a bit that it need not keep is cleared first: the 23rd below the
 * first one of a word of 32 bits, the 51st of 64.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_CPU_EXPONENT_H
#define GPUHIST_CPU_EXPONENT_H

#include <stdbool.h>
#include <stdint.h>

#define CPU_EXPONENT_INLINE static inline __attribute__((always_inline))

/* floor(log2(number)), or 0 for 0. `counts_zeros`, a constant: it is found by these. */
CPU_EXPONENT_INLINE uint32_t cpu_exponent32(bool counts_zeros, uint32_t number)
{
    if (counts_zeros)
        return 31 - (uint32_t)__builtin_clz(number | 1);
    const uint32_t half = number >> 1; /* which a signed word has room for */
    const union {
        float number;
        uint32_t bits;
    } rounded = {(float)(int32_t)(half & ~(half >> 22)) + 0.5f};
    return (rounded.bits >> 23) - 126;
}

/*
 * The same. The halves of the number become doubles by the bits of 2^52 and 2^84, between which and
 * twice that these count.
 */
CPU_EXPONENT_INLINE uint32_t cpu_exponent64(bool counts_zeros, uint64_t number)
{
    if (counts_zeros)
        return 63 - (uint32_t)__builtin_clzll(number | 1);
    union word {
        uint64_t bits;
        double number;
    };
    const uint64_t cut = (number | 1) & ~(number >> 51);
    const union word low = {.bits = (cut & UINT32_MAX) | 0x4330000000000000};
    const union word high = {.bits = cut >> 32 | 0x4530000000000000};
    const union word rounded = {.number = high.number - (0x1p84 + 0x1p52) + low.number};
    return (uint32_t)(rounded.bits >> 52) - 1023;
}

#endif
