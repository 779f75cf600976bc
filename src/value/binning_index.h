/*
 * The bin of a value. This is the only definition; it is compiled for host and device.
 *
 * Scaled: for N bins of equal width, v falls into bin floor((v - LO) * N / (HI - LO)) in exact
 * integer arithmetic, so bin b begins at LO + ceil(b * (HI - LO) / N). For bins of width W, v falls
 * into bin floor((v - LO) / W), and the last bin ends at HI. Both have the form floor(x * n / d)
 * with x = v - LO.
 *
 * The division is replaced by a multiplication. Let m = floor(2^64 * n / d) and q = floor(x * m /
 * 2^64). Since x * n / d - x * m / 2^64 < 1 for every x < 2^64, q is the quotient or one less. The
 * remainder x * n - q * d < 2 * d decides which (Granlund and Montgomery, "Division by Invariant
 * Integers using Multiplication", PLDI 1994).
 *
 * For at most 2^28 bins, one product of two 32-bit factors is enough. x' = floor(x / 2^s) and
 * m = floor(2^(s+f) * n / d) keep at most 32 leading bits of x and n / d. The
 * estimate x' * m / 2^f is at most x * n / d. It is too small by less than N / 2^31 for the bits
 * cut from x and as much for those cut from m, together less than 1 / 4. If the fraction of the
 * estimate is below 1 / 2, its integer part q is the bin. Otherwise the bin is q or q + 1: x * n -
 * (q + 1) * d is at least -d / 2 >= -2^63 and less than d / 4 <= 2^62, so the sign of its lower 64
 * bits decides.
 *
 * Multiples: bins [k * W, (k + 1) * W) for N successive k. As floor(v / W) = ~(~v / W) for v < 0,
 * one division of a magnitude serves both signs, and nothing overflows.
 *
 * Powers: one bin for each number of binary or decimal digits of |v|, on either side of 0, which
 * has a bin of its own: ..., [-3, -1), [-1, 0), [0, 1), [1, 2), [2, 4), ... No value of the
 * element's type is outside. The number of decimal digits follows from that of binary digits,
 * because log10(2) is close to 1233 / 4096 (Warren, "Hacker's Delight", 11-4).
 *
 * Edges: bins between consecutive edges of a list, found with a look-up table. The upper bits of x
 * = v - LO are the index of a *bucket*. Buckets of equal width drop the `shift` lower bits. Buckets
 * that grow keep the exponent and the leading `shift` + 1 bits of the distance from a centre, as an
 * HdrHistogram does (Tene, hdrhistogram.org). The table has, for each bucket, the bin of its lowest
 * value. Most buckets contain at most one edge; in the others the bin is found by binary search.
 */
#ifndef GPUHIST_BINNING_INDEX_H
#define GPUHIST_BINNING_INDEX_H

#include "lib/decimal.h"
#include "lib/host_device.h"
#include "value/binning.h"

/* Returns the bin of x = value - LO <= last. */
HOST_DEVICE_INLINE uint32_t binning_scale64(const struct binning *binning, uint64_t x)
{
    uint64_t estimate = (uint64_t)(uint32_t)(x >> binning->shift) * (uint32_t)binning->multiplier;
    uint64_t halves = (uint32_t)(estimate >> (binning->fraction - 1));
    uint64_t next = (halves >> 1) + 1;
    int64_t beyond = (int64_t)(x * binning->numerator - next * binning->divisor);
    return (uint32_t)(beyond >= 0 ? (halves + 1) >> 1 : next - 1);
}

/* Returns d of scaled bins, at most 2^64. */
HOST_DEVICE_INLINE unsigned __int128 binning_divisor(const struct binning *binning)
{
    return (unsigned __int128)(binning->divisor - 1) + 1;
}

HOST_DEVICE_INLINE uint32_t binning_scale128(const struct binning *binning, uint64_t x)
{
    unsigned __int128 divisor = binning_divisor(binning);
    uint64_t quotient = (uint64_t)(((unsigned __int128)x * binning->multiplier) >> 64);
    unsigned __int128 remainder = (unsigned __int128)x * binning->numerator - quotient * divisor;
    return (uint32_t)(quotient + (remainder >= divisor));
}

/*
 * Returns the bin of a key among multiples of d. The remainder is at most the magnitude, so it does
 * not overflow.
 */
HOST_DEVICE_INLINE uint32_t binning_multiple(const struct binning *binning, uint64_t key)
{
    uint64_t sign = binning->is_signed && (int64_t)key < 0 ? UINT64_MAX : 0;
    uint64_t magnitude = key ^ sign;
    uint64_t quotient = (uint64_t)(((unsigned __int128)magnitude * binning->multiplier) >> 64);
    quotient += magnitude - quotient * binning->divisor >= binning->divisor;
    uint64_t bin = (quotient ^ sign) - binning->low;
    return bin < binning->bins ? (uint32_t)bin : binning->bins;
}

/* Returns the number of binary digits of a number; 0 for 0. */
HOST_DEVICE_INLINE uint32_t binning_digits2(uint64_t number)
{
#ifdef __CUDA_ARCH__
    return 64 - (uint32_t)__clzll((long long)number);
#else
    return number ? 64 - (uint32_t)__builtin_clzll(number) : 0;
#endif
}

/* Returns the number of decimal digits of a number, given its binary ones; 0 for 0. */
HOST_DEVICE_INLINE uint64_t binning_digits10_of(uint64_t digits2, uint64_t number)
{
    uint64_t digits = digits2 * 1233 >> 12; /* the number of digits, or one less */
    return digits + (number >= decimal_power(digits));
}

HOST_DEVICE_INLINE uint32_t binning_digits10(uint64_t number)
{
    return (uint32_t)binning_digits10_of(binning_digits2(number), number);
}

/* Like the function above, but for 32 bits. It has no table, because vector code would have to
 * gather from it. */
HOST_DEVICE_INLINE uint32_t binning_digits10_32(uint32_t number)
{
    return (uint32_t)(number >= 1u) + (number >= 10u) + (number >= 100u) + (number >= 1000u) +
           (number >= 10000u) + (number >= 100000u) + (number >= 1000000u) + (number >= 10000000u) +
           (number >= 100000000u) + (number >= 1000000000u);
}

HOST_DEVICE_INLINE uint32_t binning_power(const struct binning *binning, enum binning_form form,
                                          uint64_t key)
{
    bool is_negative = binning->is_signed && (int64_t)key < 0;
    uint64_t magnitude = is_negative ? -key : key;
    uint32_t digits =
        form == BINNING_LOG2 ? binning_digits2(magnitude) : binning_digits10(magnitude);
    return is_negative ? binning->zero - digits : binning->zero + digits;
}

/* Returns the bucket of x = value - LO <= last. */
HOST_DEVICE_INLINE uint32_t binning_bucket(const struct binning *binning, enum binning_form form,
                                           uint64_t x)
{
    if (form == BINNING_EDGES_EQUAL)
        return (uint32_t)(x >> binning->shift);
    uint64_t mask = x < binning->centre ? UINT64_MAX : 0;
    uint64_t distance = (x - binning->centre) ^ mask;
    uint64_t leading = 1ull << binning->shift;
    uint32_t excess = binning_digits2(distance | leading) - 1 - binning->shift;
    uint32_t bucket = (excess << binning->shift) + (uint32_t)(distance >> excess);
    return binning->side + (bucket ^ (uint32_t)mask);
}

/*
 * Returns the first of the two parts of the table of edges: for each bin its last value minus LO,
 * then UINT64_MAX twice for the outside bin numbers.
 */
HOST_DEVICE_INLINE const uint64_t *binning_lasts(const struct binning *binning)
{
    return binning->table;
}

/*
 * Returns the second part: for each bucket the bin of its lowest value, plus BINNING_CROWDED if the
 * bucket contains more than one edge; then the last bin and the two outside bin numbers.
 */
HOST_DEVICE_INLINE const uint32_t *binning_firsts(const struct binning *binning)
{
    return (const uint32_t *)(binning->table + (size_t)binning->bins + BINNING_OUTSIDE);
}

#define BINNING_CROWDED     (1u << 31)
#define BINNING_FIRSTS_MORE 3

/* Returns the bin of x, which lies in `bucket`. */
HOST_DEVICE_INLINE uint32_t binning_search(const struct binning *binning, uint32_t bucket,
                                           uint64_t x)
{
    const uint64_t *lasts = binning_lasts(binning);
    const uint32_t *firsts = binning_firsts(binning);
    uint32_t first = firsts[bucket];

    if (first < BINNING_CROWDED)
        return first + (x > lasts[first]);
    first -= BINNING_CROWDED;
    for (uint32_t last = firsts[bucket + 1] & ~BINNING_CROWDED; first < last;) {
        uint32_t middle = (first + last) / 2;
        first = x > lasts[middle] ? middle + 1 : first;
        last = x > lasts[middle] ? last : middle;
    }
    return first;
}

/*
 * Returns the bin of `key`, 0 to bins + 1. `form` is binning->form; a caller that passes it as a
 * constant gets specialized code.
 */
HOST_DEVICE_INLINE uint32_t binning_index(const struct binning *binning, enum binning_form form,
                                          uint64_t key)
{
    if (form == BINNING_UNIT32) {
        uint32_t key32 = (uint32_t)key;
        uint32_t low = (uint32_t)binning->low;
        uint32_t bias = (uint32_t)binning->bias;
        uint32_t x = key32 - low;
        uint32_t outside = binning->bins + ((key32 ^ bias) >= (low ^ bias));
        return x <= (uint32_t)binning->last ? x : outside;
    }
    if (form == BINNING_MULTIPLES)
        return binning_multiple(binning, key);
    if (form == BINNING_LOG2 || form == BINNING_LOG10)
        return binning_power(binning, form, key);
    uint64_t x = key - binning->low;
    uint32_t outside = binning->bins + ((key ^ binning->bias) >= (binning->low ^ binning->bias));
    if (x > binning->last)
        return outside;
    if (form == BINNING_EDGES_EQUAL || form == BINNING_EDGES)
        return binning_search(binning, binning_bucket(binning, form, x), x);
    if (form == BINNING_UNIT64)
        return (uint32_t)x;
    return form == BINNING_SCALED64 ? binning_scale64(binning, x) : binning_scale128(binning, x);
}

#endif
