/*
 * Computes keys of uniq (uniq.h) from values: the only definition, compiled for host and device.
 * All functions are pure.
 */
#ifndef GPUHIST_UNIQ_KEY_H
#define GPUHIST_UNIQ_KEY_H

#include "lib/host_device.h"

#include <stdint.h>

struct uniq_divisor {
    uint64_t width;
    uint64_t multiplier; /* floor((2^64 - 1) / width) */
};

HOST_DEVICE_INLINE struct uniq_divisor uniq_divisor_of(uint64_t width)
{
    return (struct uniq_divisor){.width = width, .multiplier = UINT64_MAX / width};
}

/*
 * Returns floor(x / width). The estimate by the multiplier is at most 1 too small (T. Granlund, P.
 * L. Montgomery, "Division by Invariant Integers using Multiplication", PLDI 1994).
 */
HOST_DEVICE_INLINE uint64_t uniq_divide(const struct uniq_divisor *divisor, uint64_t x)
{
    uint64_t quotient = (uint64_t)((unsigned __int128)x * divisor->multiplier >> 64);
    return quotient + (x - quotient * divisor->width >= divisor->width);
}

/* Returns the number of the bin of a signed value: ~floor(~value / width) if it is negative. */
HOST_DEVICE_INLINE uint64_t uniq_divide_signed(const struct uniq_divisor *divisor, int64_t value)
{
    const uint64_t sign = (uint64_t)(value >> 63);
    return uniq_divide(divisor, (uint64_t)value ^ sign) ^ sign;
}

#endif
