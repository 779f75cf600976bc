/*
 * Quantiles of a histogram by their nearest rank: of n values in ascending order, that of p percent
 * is the one with the number ceil(p / 100 * n), or the first for p = 0 (definition 1 of Hyndman and
 * Fan, "Sample Quantiles in Statistical Packages", 1996; numpy's method "inverted_cdf"). It is a
 * value that was counted, and known as exactly as the bins tell.
 *
 * Not thread-safe.
 */
#ifndef GPUHIST_QUANTILES_H
#define GPUHIST_QUANTILES_H

#include "base/status.h"
#include "operations/rows.h"

#include <stddef.h>
#include <stdint.h>

/* More decimals of a percentage would not fit exact arithmetic in 128 bits. */
#define QUANTILES_DECIMALS_MAX 15

/* digits / 10^decimals percent, 0 .. 100 */
struct quantiles_percent {
    uint64_t digits;
    unsigned decimals;
};

/* Those asked for, in that order. */
struct quantiles {
    struct quantiles_percent *percents; /* [count], owned */
    size_t count;
};

/* Where one was found. */
enum quantiles_side {
    QUANTILES_INSIDE, /* in the bin low <= v < high */
    QUANTILES_BELOW,  /* v < high, the first bin's beginning */
    QUANTILES_ABOVE,  /* v >= low, the last bin's end */
};

struct quantiles_value {
    enum quantiles_side side;
    __int128 low;
    __int128 high;
    uint64_t rank; /* 1 is the smallest value */
    size_t index;  /* in percents */
};

/*
 * Reads a list such as 50,99,99.9; what *quantiles owned before is freed. Fails with STATUS_USAGE,
 * or with STATUS_DATA if there is no memory.
 */
enum status quantiles_parse(struct quantiles *quantiles, const char *text, struct failure *failure);

/* Frees what it owns. One of zeros is allowed. */
void quantiles_destroy(struct quantiles *quantiles);

/*
 * Finds all of them among all values counted, outside included, of which there must be some. The
 * rows, of which none has been read, stay as they are. values[quantiles->count] are in the order of
 * the percents.
 */
void quantiles_find(const struct quantiles *quantiles, const struct rows *rows,
                    struct quantiles_value *values);

/* Room for a percentage: "100.", the decimals and a NUL. */
#define QUANTILES_SIZE (QUANTILES_DECIMALS_MAX + 5)

/* Writes a percentage with the decimals that were typed, no NUL, and returns the length. */
size_t quantiles_write_percent(char out[QUANTILES_SIZE], const struct quantiles_percent *percent);

#endif
