/*
 * The partial of uniq: how often each value came, or each bin of a width. It is a table (table.h)
 * whose keys are the numbers of the bins, floor(value / width), for width 1 the values. So that
 * keys in ascending order are bins in ascending order, keys of signed types have their upper bit
 * inverted.
 */
#ifndef GPUHIST_UNIQ_H
#define GPUHIST_UNIQ_H

#include "job/job.h"
#include "table/table.h"

struct uniq {
    const struct job *job;
    struct table *table;
    uint64_t flip;     /* XORed with the number of a bin: its key */
    uint64_t elements; /* set by finish */
};

/* How a thread makes keys of values. */
struct uniq_divisor {
    uint64_t width;
    uint64_t multiplier; /* floor((2^64 - 1) / width) */
};

static inline struct uniq_divisor uniq_divisor_of(uint64_t width)
{
    return (struct uniq_divisor){.width = width, .multiplier = UINT64_MAX / width};
}

/*
 * Returns floor(x / width). The estimate by the multiplier is at most 1 too small (T. Granlund,
 * P. L. Montgomery, "Division by Invariant Integers using Multiplication", PLDI 1994).
 */
static inline uint64_t uniq_divide(const struct uniq_divisor *divisor, uint64_t x)
{
    uint64_t quotient = (uint64_t)((unsigned __int128)x * divisor->multiplier >> 64);
    return quotient + (x - quotient * divisor->width >= divisor->width);
}

/* Returns the number of the bin of a signed value: as ~floor(~value / width) if it is negative. */
static inline uint64_t uniq_divide_signed(const struct uniq_divisor *divisor, int64_t value)
{
    const uint64_t sign = (uint64_t)(value >> 63);
    return uniq_divide(divisor, (uint64_t)value ^ sign) ^ sign;
}

/* The number of the bin of a key. */
static inline __int128 uniq_bin(const struct uniq *uniq, uint64_t key)
{
    const uint64_t bin = key ^ uniq->flip;
    return uniq->flip != 0 ? (__int128)(int64_t)bin : (__int128)bin;
}

/* The number of bins from the first to the last that is not empty. It must be finished. */
unsigned __int128 uniq_span(const struct uniq *uniq);

struct rows;

/*
 * Starts at the first row (rows.h) of a finished one; in any order if the job allows that. The job
 * and the partial must outlive `rows`.
 */
void uniq_rows_begin(struct rows *rows, const struct job *job, const struct uniq *uniq, bool zeros);

#endif
