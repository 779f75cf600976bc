/*
 * The rows of a histogram: its bins and their counts in ascending order, independent of how the
 * histogram stores them. With --zeros they include empty bins.
 *
 * The aggregate must be finalized, and no thread may add to it. Different threads may read copies
 * of one struct rows only after `narrow`. Readers call rows_read.
 */
#ifndef GPUHIST_ROWS_H
#define GPUHIST_ROWS_H

#include "value/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct state_writer;

struct groups;

struct rows_row {
    __int128 low;
    __int128 high; /* exclusive */
    uint64_t count;
};

struct rows;

/* Number of rows that rows_fill reads at a time. */
#define ROWS_AHEAD 16

/* The state of rows_fill, which adds empty bins. */
struct rows_fill {
    __int128 bin;                      /* the number of the next bin */
    __int128 last;                     /* the number of the last bin */
    struct rows_row ahead[ROWS_AHEAD]; /* the next rows of used bins, from index `first` */
    size_t first;
    size_t count;
    size_t (*read)(struct rows *rows, struct rows_row *out, size_t capacity);
    struct rows_row (*make)(const struct rows *rows, __int128 bin, uint64_t count);
};

/* A position in the rows. A copy continues from the same row, independent of the original. */
struct rows {
    const struct plan *plan;
    const void *aggregate;
    const struct groups *groups; /* values are ranks of strings in it; else NULL; not owned */
    /*
     * The next three may be changed only before the first read. `zeros`: include empty bins, all if
     * the plan gives the bins, else those between the first and the last nonempty bin. `all`: with
     * zeros, bins by powers count as given by the plan, too. `min_count`: rows_read leaves out rows
     * with lower counts.
     */
    bool zeros;
    bool all;
    uint64_t min_count;
    bool is_unit;    /* every bin has width 1 */
    bool is_sparse;  /* --format raw prints records of lower edge and count, not all counts */
    uint64_t inside; /* number of values in all bins */
    uint64_t below;  /* number of values below the bins; `above`: above them */
    uint64_t above;
    uint64_t next[6]; /* the position; private to the functions below; zero-initialised */
    struct rows_fill fill;
    /* Reads up to `capacity` rows with any counts, at least one if any are left. Returns their
     * number. */
    size_t (*read)(struct rows *rows, struct rows_row *out, size_t capacity);
    /* Like `read`, but reads only counts, with zeros, and is faster. NULL: not supported. */
    size_t (*read_counts)(struct rows *rows, uint64_t *counts, size_t capacity);
    /*
     * Restricts unread rows to the part with index `part` of `parts` equal parts. Threads may then
     * read different parts at the same time. NULL: not supported.
     */
    void (*narrow)(struct rows *rows, uint64_t part, uint64_t parts);
    uint64_t rows_max; /* maximum number of rows; a part has its share. Set if `narrow` is set */
};

/* Number of rows that most readers read at a time. */
#define ROWS_BATCH 256

/*
 * Reads up to `capacity` rows with a count of `min_count` or more, at least one if any are left.
 * Returns their number.
 */
size_t rows_read(struct rows *rows, struct rows_row *out, size_t capacity);

/* Like rows_read, but reads only the counts, at most ROWS_BATCH. */
size_t rows_read_counts(struct rows *rows, uint64_t *counts, size_t capacity);

/*
 * Fills unread rows of used bins, in ascending order, up to all bins with numbers from `first` to
 * `last`. `make` returns the row of a bin.
 */
void rows_fill(struct rows *rows, __int128 first, __int128 last,
               struct rows_row (*make)(const struct rows *rows, __int128 bin, uint64_t count));

/*
 * Writes the counts above 0 of all rows, bins of that width, to a state. Bin 0 has the smallest
 * value of the type.
 */
void rows_save(struct rows *rows, uint64_t width, struct state_writer *state);

#endif
