/*
 * Binning: which bins there are, how they are made, and where each begins. What bin a value falls
 * into is binning_index.h's.
 *
 * Bins lie side by side over the values LO <= v < HI. A value outside falls into one of two more
 * "bins": N, the number of bins, if it is below LO, N + 1 if it is not below HI. Thus a table of
 * N + 2 counters takes every value and no caller branches on it.
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
    BINNING_EDGES_EQUAL, /* looked up in buckets of one width */
    BINNING_EDGES,       /* in buckets that grow with the distance from a centre */
};

/* N and the two outside counters fit 32-bit bin numbers. */
#define BINNING_BINS_MAX (UINT32_MAX - 1)
#define BINNING_OUTSIDE  2

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
    uint64_t divisor;    /* scaled: d modulo 2^64; multiples: W */
    uint64_t multiplier; /* scaled, multiples: m */
    uint32_t base;       /* powers: 2 or 10; else 0 */
    uint32_t zero;       /* powers: the bin of 0 */
    uint32_t fraction;   /* scaled, 64-bit: f */
    uint32_t shift;      /* scaled, 64-bit: s; edges: of buckets, see binning_index.h */
    uint64_t centre;     /* edges: where buckets grow from, less LO */
    uint32_t side;       /* edges: the bucket of the centre */
    uint32_t buckets;    /* edges: how many there are */
    uint64_t *table;     /* edges: the look-up table, owned; see binning_index.h */
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
 * Makes `bins` bins of that width from `low` on, a multiple of the width; they may reach beyond 64
 * bits on either side. `bins` is 1 .. BINNING_BINS_MAX, the width is not 0. Which of the two
 * outside bins a value outside falls into is not defined.
 */
void binning_init_window(struct binning *binning, const struct element *element, __int128 low,
                         uint32_t bins, uint64_t width);

/* Makes that of powers of `base`, 2 or 10. */
void binning_init_powers(struct binning *binning, const struct element *element, uint32_t base);

/*
 * Makes that between edges[0..count), integers in ascending order (binning_edges.c). Fails with
 * STATUS_USAGE and a message about --edges if there are fewer than two, if one is not greater than
 * the one before it, or outside 64 bits; with STATUS_DATA if there is no memory.
 */
enum status binning_init_edges(struct binning *binning, const struct element *element,
                               const __int128 *edges, size_t count, struct failure *failure);

/* Frees what a binning owns. One of zeros is allowed. */
void binning_destroy(struct binning *binning);

/* Stores which integers bins for elements of the type may lie over, low <= value < high, and
   returns what messages call these. */
const char *binning_limits(const struct element *element, __int128 *low, __int128 *high);

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

/* The bytes of the look-up table; 0 without edges. */
size_t binning_table_bytes(const struct binning *binning);

/* The same binning with its table elsewhere, on another device perhaps. */
static inline struct binning binning_at(const struct binning *binning, uint64_t *table)
{
    struct binning moved = *binning;
    moved.table = table;
    return moved;
}

#endif
