/*
 * Binning: value -> bin and bin -> edges; the one definition, compiled for host and device.
 *
 * N bins of equal width divide the values LO <= v < HI: v falls into bin
 *
 *     floor((v - LO) * N / (HI - LO))
 *
 * in exact integer arithmetic, so bin b begins at LO + ceil(b * (HI - LO) / N). A value outside
 * falls into one of two more "bins": N if it is below LO, N + 1 if it is not below HI. Thus a
 * table of N + 2 counters takes every value and no caller branches on it.
 *
 * The division is done as a multiplication. With m = floor(2^w * N / span), q = floor(x * m / 2^w)
 * is the quotient or one less for every x < 2^w, since x * N / span - x * m / 2^w < 1; the
 * remainder x * N - q * span < 2 * span then tells which (Granlund and Montgomery, "Division by
 * Invariant Integers using Multiplication", PLDI 1994). w is 32 where everything fits, else 64.
 *
 * All functions are pure and thread-safe; a struct binning is const once made.
 */
#ifndef GPUHIST_BINNING_H
#define GPUHIST_BINNING_H

#include "element.h"
#include "status.h"

/* How the bin of a value is computed: the narrowest arithmetic that is exact. */
enum binning_form {
    BINNING_UNIT32,    /* bins one wide, 32-bit */
    BINNING_UNIT64,    /* bins one wide, 64-bit */
    BINNING_SCALED32,  /* 32-bit, HI - LO <= 2^31 */
    BINNING_SCALED64,  /* 64-bit, HI - LO <= 2^63 */
    BINNING_SCALED128, /* 64-bit values, 128-bit remainder */
};

/* N and the two outside counters fit 32-bit bin numbers. */
#define BINNING_BINS_MAX (UINT32_MAX - 1)
#define BINNING_OUTSIDE  2

struct binning {
    enum binning_form form;
    bool is_signed;      /* `low` is an int64_t */
    uint32_t bins;       /* N */
    uint64_t low;        /* LO, as a key (element.h) */
    uint64_t last;       /* HI - LO - 1 */
    uint64_t multiplier; /* m */
    uint64_t bias;       /* xored to keys so that they compare as unsigned words */
};

/*
 * Makes the binning of `bins` equal bins over low <= value < high, for elements of that type.
 * Fails with STATUS_USAGE and a message about --bins or --range if it cannot be done: no bins or
 * too many, an empty range, one outside 64 bits, or more bins than it has integers.
 */
enum status binning_init(struct binning *binning, const struct element *element, __int128 low,
                         __int128 high, uint64_t bins, struct failure *failure);

/* The smallest value of bin `bin`; for bin == bins, HI. */
__int128 binning_edge(const struct binning *binning, uint64_t bin);

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
    uint32_t span = (uint32_t)binning->last + 1;
    uint32_t quotient = (uint32_t)(((uint64_t)x * (uint32_t)binning->multiplier) >> 32);
    uint32_t remainder = x * binning->bins - quotient * span;
    return quotient + (remainder >= span);
}

BINNING_INLINE uint32_t binning_scale64(const struct binning *binning, uint64_t x)
{
    uint64_t span = binning->last + 1;
    uint64_t quotient = (uint64_t)(((unsigned __int128)x * binning->multiplier) >> 64);
    uint64_t remainder = x * binning->bins - quotient * span;
    return (uint32_t)(quotient + (remainder >= span));
}

BINNING_INLINE uint32_t binning_scale128(const struct binning *binning, uint64_t x)
{
    unsigned __int128 span = (unsigned __int128)binning->last + 1;
    uint64_t quotient = (uint64_t)(((unsigned __int128)x * binning->multiplier) >> 64);
    unsigned __int128 remainder = (unsigned __int128)x * binning->bins - quotient * span;
    return (uint32_t)(quotient + (remainder >= span));
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
    uint64_t x = key - binning->low;
    if (x > binning->last)
        return binning->bins + ((key ^ binning->bias) >= (binning->low ^ binning->bias));
    if (form == BINNING_UNIT64)
        return (uint32_t)x;
    return form == BINNING_SCALED64 ? binning_scale64(binning, x) : binning_scale128(binning, x);
}

#endif
