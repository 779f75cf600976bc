/*
 * Binning: value -> bin and bin -> edges; the one definition, compiled for host and device.
 *
 * Bins lie side by side over the values LO <= v < HI. A value outside falls into one of two more
 * "bins": N, the number of bins, if it is below LO, N + 1 if it is not below HI. Thus a table of
 * N + 2 counters takes every value and no caller branches on it.
 *
 * The *rank* of a value is how many bins begin at or before it, HI counted as one more: 0 if it is
 * below LO, b + 1 in bin b, N + 1 if it is not below HI. Unlike the numbers of bins ranks follow
 * the order of the values.
 *
 * Scaled: N bins of equal width, v falls into bin floor((v - LO) * N / (HI - LO)) in exact integer
 * arithmetic, so bin b begins at LO + ceil(b * (HI - LO) / N); or bins of width W, v falls into bin
 * floor((v - LO) / W), the last one ending at HI. Both are floor(x * n / d) for x = v - LO.
 *
 * The division is done as a multiplication. With m = floor(2^w * n / d), q = floor(x * m / 2^w)
 * is the quotient or one less for every x < 2^w, since x * n / d - x * m / 2^w < 1; the remainder
 * x * n - q * d < 2 * d then tells which (Granlund and Montgomery, "Division by Invariant Integers
 * using Multiplication", PLDI 1994). w is 32 where everything fits, else 64.
 *
 * Values of 64 bits do with a product of 32 bits each way if there are at most 2^28 bins. x' =
 * floor(x / 2^s) and m = floor(2^(s+f) * n / d) are what x and n / d have of leading bits, 32 at
 * the most, m just as many. The estimate x' * m / 2^f is then not above x * n / d, and below it by
 * less than N / 2^31 for the bits cut off x and as much for those of m, so by less than 1 / 4.
 * Where its fraction is below 1 / 2, its whole part q is the bin. Else x * n - (q + 1) * d is at
 * least -d / 2 >= -2^63 and less than d / 4 <= 2^62, so that its lower 64 bits tell its sign, and
 * that whether the bin is q + 1.
 *
 * Multiples: bins [k * W, (k + 1) * W) for N successive k. As floor(v / W) = ~(~v / W) for v < 0,
 * one division of a magnitude serves both signs, and nothing overflows.
 *
 * Powers: a bin for each length of |v| in digits, binary or decimal, on either side of 0, which has
 * one of its own: ..., [-3, -1), [-1, 0), [0, 1), [1, 2), [2, 4), ... All values of the element's
 * type are inside. The decimal length follows from the binary one, log10(2) being nearly 1233 /
 * 4096 (Warren, "Hacker's Delight", 11-4).
 *
 * Edges: bins between each two of a list. x + 1 as a float, cut to its exponent and some bits of
 * its mantissa, is the number of a *bucket*; which bin its values begin in stands in a table, and
 * the few edges within the bucket, mostly one, are searched without branches (Khuong and Morin,
 * "Array Layouts for Comparison-Based Searching", 2017). Both roundings are monotonic, so that the
 * bucket of a value is never before that of a smaller one.
 *
 * All functions are pure and thread-safe; a struct binning is const once made.
 */
#ifndef GPUHIST_BINNING_H
#define GPUHIST_BINNING_H

#include "base/status.h"
#include "job/element.h"

#include <stddef.h>

/* How the bin of a value is computed: the narrowest arithmetic that is exact. */
enum binning_form {
    BINNING_UNIT32,    /* bins one wide, 32-bit */
    BINNING_UNIT64,    /* bins one wide, 64-bit */
    BINNING_SCALED32,  /* 32-bit, d <= 2^31 */
    BINNING_SCALED64,  /* 64-bit values, N <= 2^28 */
    BINNING_SCALED128, /* 64-bit values, 128-bit remainder */
    BINNING_MULTIPLES32,
    BINNING_MULTIPLES64,
    BINNING_LOG2,
    BINNING_LOG10_32, /* of elements of 32 bits at the most */
    BINNING_LOG10_64,
    BINNING_EDGES_FEW, /* at most one edge within a bucket, HI - LO <= 2^63 */
    BINNING_EDGES,
};

/* N and the two outside counters fit 32-bit bin numbers. */
#define BINNING_BINS_MAX (UINT32_MAX - 1)
#define BINNING_OUTSIDE  2

/* The bits of 1.0f. */
#define BINNING_FLOAT_ONE 0x3f800000

/* The most bins that are chosen where nobody says how many. */
#define BINNING_ROUND_BINS 64

struct binning {
    enum binning_form form;
    bool is_signed;      /* `low` is an int64_t; multiples, powers: elements are signed */
    uint32_t bins;       /* N */
    uint64_t low;        /* LO, as a key (element.h); multiples: the first k, an int64_t */
    uint64_t last;       /* HI - LO - 1 */
    uint64_t bias;       /* xored to keys so that they compare as unsigned words */
    uint32_t numerator;  /* scaled: n */
    uint64_t divisor;    /* scaled: d modulo 2^64 */
    uint64_t multiplier; /* scaled: m */
    uint32_t base;       /* powers: 2 or 10; else 0 */
    uint32_t zero;       /* powers: the bin of 0 */
    uint32_t steps;      /* edges: of the search in a bucket */
    uint32_t fraction;   /* scaled, 64-bit: f */
    uint32_t shift;      /* scaled, 64-bit: s; edges: from the bits of a float to its bucket, */
    uint32_t buckets;    /* and how many there are */
    uint64_t *starts;    /* edges: of each bin its first value less LO, then 2^steps all ones; and
                            behind them, [buckets], the bins that buckets begin in */
};

/*
 * Makes the binning of `bins` equal bins over low <= value < high, for elements of that type.
 * Fails with STATUS_USAGE and a message about --bins or --range if it cannot be done: no bins or
 * too many, an empty range, one outside 64 bits, or more bins than it has integers.
 */
enum status binning_init(struct binning *binning, const struct element *element, __int128 low,
                         __int128 high, uint64_t bins, struct failure *failure);

/*
 * Makes that of bins of that width over low <= value < high, the last of which may be cut off by
 * `high`. Fails likewise, about --width.
 */
enum status binning_init_width(struct binning *binning, const struct element *element, __int128 low,
                               __int128 high, uint64_t width, struct failure *failure);

/*
 * Makes a window of `bins` bins of that width, from `low` on, a multiple of the width; it may reach
 * beyond 64 bits on either side. `bins` is 1 .. BINNING_BINS_MAX, the width is not 0. Of values
 * outside it is not told on which side.
 */
void binning_init_window(struct binning *binning, const struct element *element, __int128 low,
                         uint32_t bins, uint64_t width);

/* The number of the bin of that width that has the value: floor(value / width). */
static inline __int128 binning_floor(__int128 value, __int128 width)
{
    return value / width - (value % width < 0);
}

/*
 * The width that automatic bins have over low <= value < high: the least of 1, 2 or 5 times a power
 * of 10 whose multiples divide that range into BINNING_ROUND_BINS bins at most.
 */
uint64_t binning_round_width(__int128 low, __int128 high);

/* Makes that of powers of `base`, 2 or 10. */
void binning_init_powers(struct binning *binning, const struct element *element, uint32_t base);

/*
 * Makes that between edges[0..count), integers in ascending order. Fails with STATUS_USAGE and a
 * message about --edges if there are fewer than two, if one is not greater than the one before it,
 * or outside 64 bits; with STATUS_DATA if there is no memory.
 */
enum status binning_init_edges(struct binning *binning, const struct element *element,
                               const __int128 *edges, size_t count, struct failure *failure);

/* How many starts there are, and the bytes of them and of the buckets; 0 without edges. */
static inline size_t binning_starts(const struct binning *binning)
{
    return (size_t)binning->bins + ((size_t)1 << binning->steps);
}

static inline size_t binning_starts_bytes(const struct binning *binning)
{
    if (!binning->starts)
        return 0;
    return binning_starts(binning) * sizeof(uint64_t) + binning->buckets * sizeof(uint32_t);
}

/* The same binning with its starts elsewhere, on another device perhaps. */
static inline struct binning binning_at(const struct binning *binning, uint64_t *starts)
{
    struct binning moved = *binning;
    moved.starts = starts;
    return moved;
}

/* Frees what a binning owns. One of zeros is allowed. */
void binning_destroy(struct binning *binning);

/* The smallest value of bin `bin`, whether the type has it or not; for bin == bins, HI. */
__int128 binning_edge(const struct binning *binning, uint64_t bin);

/*
 * Stores the range of the values that an element may have and that lie in the bins: low <= value <
 * high. There are none if low is not below high.
 */
void binning_bounds(const struct binning *binning, const struct element *element, __int128 *low,
                    __int128 *high);

/* Whether every bin is one wide, so that a bin is named by its one value. */
static inline bool binning_is_unit(const struct binning *binning)
{
    return binning->form == BINNING_UNIT32 || binning->form == BINNING_UNIT64;
}

#ifdef __CUDACC__
#define BINNING_INLINE static __host__ __device__ __forceinline__
#else
#define BINNING_INLINE static inline __attribute__((always_inline))
#endif

/* The bin of x = value - LO <= last, in words of 32 bits. */
BINNING_INLINE uint32_t binning_scale32(const struct binning *binning, uint32_t x)
{
    uint32_t divisor = (uint32_t)binning->divisor;
    uint32_t quotient = (uint32_t)(((uint64_t)x * (uint32_t)binning->multiplier) >> 32);
    uint32_t remainder = x * binning->numerator - quotient * divisor;
    return quotient + (remainder >= divisor);
}

BINNING_INLINE uint32_t binning_scale64(const struct binning *binning, uint64_t x)
{
    uint64_t estimate = (uint64_t)(uint32_t)(x >> binning->shift) * (uint32_t)binning->multiplier;
    uint64_t halves = (uint32_t)(estimate >> (binning->fraction - 1));
    uint64_t next = (halves >> 1) + 1;
    int64_t beyond = (int64_t)(x * binning->numerator - next * binning->divisor);
    return (uint32_t)(beyond >= 0 ? (halves + 1) >> 1 : next - 1);
}

/* Of scaled bins: d, up to 2^64. */
BINNING_INLINE unsigned __int128 binning_divisor(const struct binning *binning)
{
    return (unsigned __int128)(binning->divisor - 1) + 1;
}

BINNING_INLINE uint32_t binning_scale128(const struct binning *binning, uint64_t x)
{
    unsigned __int128 divisor = binning_divisor(binning);
    uint64_t quotient = (uint64_t)(((unsigned __int128)x * binning->multiplier) >> 64);
    unsigned __int128 remainder = (unsigned __int128)x * binning->numerator - quotient * divisor;
    return (uint32_t)(quotient + (remainder >= divisor));
}

/* The bin of a key among multiples of d. The remainder is never greater than the magnitude. */
BINNING_INLINE uint32_t binning_multiple32(const struct binning *binning, uint32_t key)
{
    uint32_t sign = binning->is_signed && (int32_t)key < 0 ? UINT32_MAX : 0;
    uint32_t divisor = (uint32_t)binning->divisor;
    uint32_t magnitude = key ^ sign;
    uint32_t quotient = (uint32_t)(((uint64_t)magnitude * (uint32_t)binning->multiplier) >> 32);
    quotient += magnitude - quotient * divisor >= divisor;
    uint32_t bin = (quotient ^ sign) - (uint32_t)binning->low;
    return bin < binning->bins ? bin : binning->bins;
}

BINNING_INLINE uint32_t binning_multiple64(const struct binning *binning, uint64_t key)
{
    uint64_t sign = binning->is_signed && (int64_t)key < 0 ? UINT64_MAX : 0;
    uint64_t magnitude = key ^ sign;
    uint64_t quotient = (uint64_t)(((unsigned __int128)magnitude * binning->multiplier) >> 64);
    quotient += magnitude - quotient * binning->divisor >= binning->divisor;
    uint64_t bin = (quotient ^ sign) - binning->low;
    return bin < binning->bins ? (uint32_t)bin : binning->bins;
}

/* How many binary digits a number has; 0 has none. */
BINNING_INLINE uint32_t binning_digits2(uint64_t number)
{
#ifdef __CUDA_ARCH__
    return 64 - (uint32_t)__clzll((long long)number);
#else
    return number ? 64 - (uint32_t)__builtin_clzll(number) : 0;
#endif
}

/* How many decimal digits a number has; 0 has none. */
BINNING_INLINE uint32_t binning_digits10(uint64_t number)
{
    static const uint64_t powers[20] = {
        1ull,
        10ull,
        100ull,
        1000ull,
        10000ull,
        100000ull,
        1000000ull,
        10000000ull,
        100000000ull,
        1000000000ull,
        10000000000ull,
        100000000000ull,
        1000000000000ull,
        10000000000000ull,
        100000000000000ull,
        1000000000000000ull,
        10000000000000000ull,
        100000000000000000ull,
        1000000000000000000ull,
        10000000000000000000ull,
    };
    uint32_t digits = binning_digits2(number) * 1233 >> 12; /* or one more */
    return digits + (number >= powers[digits]);
}

/* The same, of 32 bits: without a table, which vectors of numbers would have to be gathered from.
 */
BINNING_INLINE uint32_t binning_digits10_32(uint32_t number)
{
    return (uint32_t)(number >= 1u) + (number >= 10u) + (number >= 100u) + (number >= 1000u) +
           (number >= 10000u) + (number >= 100000u) + (number >= 1000000u) + (number >= 10000000u) +
           (number >= 100000000u) + (number >= 1000000000u);
}

BINNING_INLINE uint32_t binning_power(const struct binning *binning, enum binning_form form,
                                      uint64_t key)
{
    bool is_negative = binning->is_signed && (int64_t)key < 0;
    uint64_t magnitude = is_negative ? -key : key;
    uint32_t digits = form == BINNING_LOG2       ? binning_digits2(magnitude)
                      : form == BINNING_LOG10_32 ? binning_digits10_32((uint32_t)magnitude)
                                                 : binning_digits10(magnitude);
    return is_negative ? binning->zero - digits : binning->zero + digits;
}

/* The bucket of x = value - LO, given as a float. */
BINNING_INLINE uint32_t binning_bucket(uint32_t shift, float x)
{
    union {
        float number;
        uint32_t bits;
    } above = {x + 1.0f};

    return (above.bits >> shift) - ((uint32_t)BINNING_FLOAT_ONE >> shift);
}

/* The bin of x = value - LO <= last: the last one that does not begin behind it. */
BINNING_INLINE uint32_t binning_search(const struct binning *binning, enum binning_form form,
                                       uint64_t x)
{
    const uint64_t *starts = binning->starts;
    const uint32_t *firsts = (const uint32_t *)(starts + binning->bins + (1ull << binning->steps));

    if (form == BINNING_EDGES_FEW) {
        uint32_t bin = firsts[binning_bucket(binning->shift, (float)(int64_t)x)];
        return bin + (starts[bin + 1] <= x);
    }
    uint32_t bin = firsts[binning_bucket(binning->shift, (float)x)];
    for (uint32_t step = 1u << binning->steps >> 1; step > 0; step >>= 1)
        bin += starts[bin + step] <= x ? step : 0;
    return bin < binning->bins ? bin : binning->bins - 1; /* x may be all ones */
}

/*
 * The bin of `key`, 0 .. bins + 1. `form` is binning->form: a caller in a hurry passes it as a
 * constant and gets straight code for it.
 */
BINNING_INLINE uint32_t binning_index(const struct binning *binning, enum binning_form form,
                                      uint64_t key)
{
    if (form == BINNING_UNIT32 || form == BINNING_SCALED32) {
        uint32_t key32 = (uint32_t)key;
        uint32_t low = (uint32_t)binning->low;
        uint32_t bias = (uint32_t)binning->bias;
        uint32_t x = key32 - low;
        uint32_t outside = binning->bins + ((key32 ^ bias) >= (low ^ bias));
        uint32_t inside = form == BINNING_UNIT32 ? x : binning_scale32(binning, x);
        return x <= (uint32_t)binning->last ? inside : outside;
    }
    if (form == BINNING_MULTIPLES32)
        return binning_multiple32(binning, (uint32_t)key);
    if (form == BINNING_MULTIPLES64)
        return binning_multiple64(binning, key);
    if (form == BINNING_LOG2 || form == BINNING_LOG10_32 || form == BINNING_LOG10_64)
        return binning_power(binning, form, key);
    uint64_t x = key - binning->low;
    uint32_t outside = binning->bins + ((key ^ binning->bias) >= (binning->low ^ binning->bias));
    if (form == BINNING_EDGES_FEW || form == BINNING_EDGES) {
        uint32_t bin = binning_search(binning, form, x <= binning->last ? x : binning->last);
        return x <= binning->last ? bin : outside;
    }
    if (x > binning->last)
        return outside;
    if (form == BINNING_UNIT64)
        return (uint32_t)x;
    return form == BINNING_SCALED64 ? binning_scale64(binning, x) : binning_scale128(binning, x);
}

#endif
