/*
 * Binning: the bins of a histogram, their construction and their limits. binning_index.h computes
 * the bin of a value.
 *
 * Bins are adjacent and cover the values LO <= v < HI. Values outside have two more bin numbers: N,
 * the number of bins, for v < LO, and N + 1 for v >= HI. A table of N + 2 counters therefore takes
 * every value without a branch in the caller.
 *
 * All functions are pure and thread-safe. A struct binning is constant after its construction.
 */
#ifndef GPUHIST_BINNING_H
#define GPUHIST_BINNING_H

#include "lib/status.h"
#include "value/element.h"

#include <stddef.h>

/* How the bin of a value is computed: the narrowest arithmetic that is exact. */
enum binning_form {
    BINNING_UNIT32,    /* bins of width 1, 32-bit */
    BINNING_UNIT64,    /* bins of width 1, 64-bit */
    BINNING_SCALED64,  /* at most 2^28 bins, 64-bit products */
    BINNING_SCALED128, /* more bins, a 128-bit remainder */
    BINNING_MULTIPLES,
    BINNING_LOG2,
    BINNING_LOG10,
    BINNING_EDGES_EQUAL, /* look-up in buckets of equal width */
    BINNING_EDGES,       /* look-up in buckets that grow with the distance from a centre */
};

/* Maximum N, so that N and the two outside bin numbers fit in 32 bits. */
#define BINNING_BINS_MAX (UINT32_MAX - 1)
#define BINNING_OUTSIDE  2

/* Maximum number of automatic bins. */
#define BINNING_ROUND_BINS 64

struct binning {
    enum binning_form form;
    bool is_signed;      /* `low` is an int64_t; multiples, powers: elements are signed */
    uint32_t bins;       /* N */
    uint64_t low;        /* LO, as a key (element.h); multiples: the first k, an int64_t */
    uint64_t last;       /* HI - LO - 1 */
    uint64_t bias;       /* XORed with keys so that they compare as unsigned words */
    uint32_t numerator;  /* scaled: n */
    uint64_t divisor;    /* scaled: d modulo 2^64; multiples: W */
    uint64_t multiplier; /* scaled, multiples: m */
    uint32_t base;       /* powers: 2 or 10; else 0 */
    uint32_t zero;       /* powers: the bin of 0 */
    uint32_t fraction;   /* scaled, N <= 2^28: f */
    uint32_t shift;      /* scaled, N <= 2^28: s; edges: the shift of buckets (binning_index.h) */
    uint64_t centre;     /* edges: the centre, from which buckets grow, minus LO */
    uint32_t side;       /* edges: the bucket of the centre */
    uint32_t buckets;    /* edges: the number of buckets */
    uint64_t *table;     /* edges: the look-up table, owned; see binning_index.h */
    bool has_parts;      /* edges: binning_init_parts has made them */
    uint32_t parts;      /* if has_parts: there are 2^parts bins per power of 2 */
};

/*
 * Creates the binning of `bins` equal-width bins over low <= value < high, for elements of the
 * given type. Fails with STATUS_USAGE and a message about --bins or --range if there are no bins or
 * too many, if the range is empty or exceeds 64 bits, or if it has fewer integers than bins. The
 * caller destroys the binning.
 */
enum status binning_init(struct binning *binning, const struct element *element, __int128 low,
                         __int128 high, uint64_t bins, struct failure *failure);

/*
 * Like binning_init, but creates bins of that width. The last bin ends at `high` and may be
 * narrower. Messages are about --width.
 */
enum status binning_init_width(struct binning *binning, const struct element *element, __int128 low,
                               __int128 high, __int128 width, struct failure *failure);

/*
 * Like binning_init_edges, but creates the bins of timestamps over low <= value < high: the
 * narrowest round bins that consist of whole units (kind_time_bucket_widen), at most `bins_max`. If
 * `is_cut`, the first bin begins at `low` and the last ends at `high`; else both are whole.
 */
enum status binning_init_times(struct binning *binning, const struct element *element,
                               const struct kind_time_bucket *unit, __int128 low, __int128 high,
                               uint64_t bins_max, bool is_cut, struct failure *failure);

/*
 * Creates `bins` bins of that width from `low`, a multiple of the width. The bins may extend beyond
 * 64 bits on either side. `bins` is 1 to BINNING_BINS_MAX and the width is not 0. Which of the two
 * outside bin numbers a value outside gets is undefined.
 */
void binning_init_window(struct binning *binning, const struct element *element, __int128 low,
                         uint32_t bins, uint64_t width);

/* Creates the bins between powers of `base`, 2 or 10. */
void binning_init_powers(struct binning *binning, const struct element *element, uint32_t base);

/*
 * Creates the bins between powers of 2 of values as they are printed, with decimal places also 1/2,
 * 1/4, ..., each divided into 2^parts equal bins (`parts` <= BINNING_PARTS_MAX). Edges are rounded
 * up to multiples of the unit, and equal edges are merged. The width of a bin wider than a unit is
 * about 2^-parts times its values, as in an HDR histogram. Negative values have the bins of
 * positive values, mirrored. Fails with STATUS_DATA if there is no memory.
 */
#define BINNING_PARTS_MAX 12
enum status binning_init_parts(struct binning *binning, const struct element *element,
                               uint32_t parts, struct failure *failure);

/* Returns whether the bins are by powers, rather than listed by the user. Pure. */
static inline bool binning_is_of_powers(const struct binning *binning)
{
    return binning->base > 0 || binning->has_parts;
}

/*
 * Creates the bins between edges[0..count), integers in ascending order (binning_edges.c), which
 * are copied. Fails with STATUS_USAGE and a message about --edges if there are fewer than two edges
 * or too many, if an edge is not greater than the one before it, or if one exceeds 64 bits; with
 * STATUS_DATA if there is no memory. The caller destroys the binning.
 */
enum status binning_init_edges(struct binning *binning, const struct element *element,
                               const __int128 *edges, size_t count, struct failure *failure);

/*
 * Stores the range low <= value < high within which bins for elements of this type must lie.
 * Returns the name of this range for messages, a constant string.
 */
const char *binning_limits(const struct element *element, __int128 *low, __int128 *high);

/* Returns the number of the bin of this width that contains the value: floor(value / width). */
static inline __int128 binning_floor(__int128 value, __int128 width)
{
    return value / width - (value % width < 0);
}

/* Returns the greatest common divisor of two numbers that are not both 0. */
__int128 binning_common_divisor(__int128 a, __int128 b);

/* Returns the number after `number` in the sequence 1, 2, 5, 10, 20, 50, ... */
__int128 binning_next_round(__int128 number);

/*
 * Returns the width of automatic bins over low <= value < high; the smallest of 1, 2 or 5 times a
 * power of 10 whose multiples divide the range into at most BINNING_ROUND_BINS bins.
 */
uint64_t binning_round_width(__int128 low, __int128 high);

/*
 * Returns the lower edge of bin `bin`, which need not be a value of the type; HI for bin == bins.
 */
__int128 binning_edge(const struct binning *binning, uint64_t bin);

/*
 * Stores the range low <= value < high of the element values that lie in the bins. The range is
 * empty if low >= high.
 */
void binning_bounds(const struct binning *binning, const struct element *element, __int128 *low,
                    __int128 *high);

/* Returns whether every bin has width 1: its only value then names it. */
static inline bool binning_is_unit(const struct binning *binning)
{
    return binning->form == BINNING_UNIT32 || binning->form == BINNING_UNIT64;
}

/* Returns the size of the look-up table in bytes; 0 without edges. */
size_t binning_table_bytes(const struct binning *binning);

/*
 * Returns a copy of the binning with its table at `table`, for example on a device. The copy does
 * not own the table.
 */
static inline struct binning binning_at(const struct binning *binning, uint64_t *table)
{
    struct binning moved = *binning;
    moved.table = table;
    return moved;
}

#endif
