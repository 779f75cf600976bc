/*
 * The loops that compute bin numbers, each for keys of one width, in every instruction set.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_CPU_INDEX_LOOPS_H
#define GPUHIST_CPU_INDEX_LOOPS_H

#include "value/binning.h"

#include <stddef.h>
#include <stdint.h>

/* The loops: X(WAY, bits of keys). */
#define CPU_INDEX_LOOPS(X) \
    X(UNITS, 32)           \
    X(UNITS, 64)           \
    X(QUOTIENT, 32)        \
    X(QUOTIENT, 64)        \
    X(POWERS, 32)          \
    X(POWERS, 64)          \
    X(BUCKETS, 32)         \
    X(BUCKETS, 64)

enum cpu_index_way {
    CPU_INDEX_UNITS,    /* bins of width 1: differences */
    CPU_INDEX_QUOTIENT, /* simple: exact; else doubtful cases of 64 bits use the definition */
    CPU_INDEX_POWERS,   /* simple: powers of 2; else of 10 */
    CPU_INDEX_BUCKETS,  /* simple: buckets of equal width; else of growing width */
};

/* The constants of a loop. `x` is key - origin, an unsigned word as wide as the key. */
struct cpu_index_terms {
    const struct binning *binning; /* not owned */
    bool is_simple;                /* the simple variant (enum cpu_index_way) */
    uint64_t origin;
    uint64_t last;  /* the x of the largest value in the bins */
    uint64_t limit; /* the x of the largest value above the bins; values below have a larger x */
    uint32_t below; /* the bin number, or bucket, of values below the bins; `above`: above them */
    uint32_t above;
    uint64_t added;    /* a: x + a counts from the start of the first bin */
    double reciprocal; /* quotients: n / d */
    double offset;     /* quotients: a * n / d; exact ones: (a * n + 1/2) / d */
    uint32_t doubt;    /* quotients of 64 bits: if not 0, all use the definition */
    uint64_t signs;    /* powers: all ones if elements are signed, else 0 */
};

/* Number of keys per inner loop: a constant, so that compilers vectorize it. */
#define CPU_INDEX_GROUP ((size_t)32)

/* Writes the bin numbers of keys[0..count), unaligned; count is a multiple of CPU_INDEX_GROUP. */
typedef void cpu_index_loop(const struct cpu_index_terms *terms, const void *keys, size_t count,
                            uint32_t *indexes);

/* Returns the loop of CPU_INDEX_LOOPS for the best instruction set of this machine. */
cpu_index_loop *cpu_index_loops_choose(enum cpu_index_way way, unsigned key_bytes);

/* Returns the number of indexes[0..count) that are `bins` or more. */
size_t cpu_index_outside(const uint32_t *indexes, size_t count, uint32_t bins);

#endif
