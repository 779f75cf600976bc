/*
 * The rows of a histogram: its bins and their counts in ascending order, independent of how the
 * histogram stores them. Empty bins are among them with --zeros.
 *
 * The aggregate must be finalized, and no thread may add to it. Copies of one struct rows may be
 * read by different threads only after `narrow`. Readers call rows_read.
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

/* Rows that are read at a time to be filled. */
#define ROWS_AHEAD 16

/* The empty bins between rows that are not (rows_fill). */
struct rows_fill {
    __int128 bin;                      /* the number of the next one, */
    __int128 last;                     /* and of the last */
    struct rows_row ahead[ROWS_AHEAD]; /* the next rows that are not filled in: from `first` */
    size_t first;
    size_t count;
    size_t (*read)(struct rows *rows, struct rows_row *out, size_t capacity);
    struct rows_row (*make)(const struct rows *rows, __int128 bin, uint64_t count);
};

/* A position in the rows. A copy continues from the same row, independent of the original. */
struct rows {
    const struct plan *plan;
    const void *aggregate;
    const struct groups *groups; /* values are strings, by their ranks in it; else NULL */
    /*
     * The next three may be changed only before the first read. `zeros`: include empty bins, all if
     * the plan gives the bins, else those between the first and the last that is not empty. `all`:
     * with zeros, bins by powers count as given by the plan, too. `min_count`: rows_read leaves out
     * rows of lower counts.
     */
    bool zeros;
    bool all;
    uint64_t min_count;
    bool is_unit;    /* every bin is one wide */
    bool is_sparse;  /* raw: prints records of lower limit and count, not all counts */
    uint64_t inside; /* values in all bins */
    uint64_t below;  /* values outside the bins */
    uint64_t above;
    uint64_t next[6]; /* the position, only for the functions below; zero-initialised */
    struct rows_fill fill;
    /* Reads up to `capacity` rows, of any count, at least one if there are any. Returns how many.
     */
    size_t (*read)(struct rows *rows, struct rows_row *out, size_t capacity);
    /* Reads only the counts, with zeros, which takes less time. NULL: not supported. */
    size_t (*read_counts)(struct rows *rows, uint64_t *counts, size_t capacity);
    /*
     * Restricts rows, of which none has been read, to the part with index `part` of `parts` equal
     * ones. Threads may then read different parts at the same time. NULL: not supported.
     */
    void (*narrow)(struct rows *rows, uint64_t part, uint64_t parts);
    uint64_t rows_max; /* of all rows; a part has at most its share. Set if `narrow` is */
};

/* The number of rows that most readers take at a time. */
#define ROWS_BATCH 256

/*
 * Reads up to `capacity` rows that have a count of `min_count` or more, at least one if there are
 * any. Returns how many.
 */
size_t rows_read(struct rows *rows, struct rows_row *out, size_t capacity);

/* Like rows_read, but reads only the counts, at most ROWS_BATCH. */
size_t rows_read_counts(struct rows *rows, uint64_t *counts, size_t capacity);

/*
 * Makes rows, of which none has been read and which are those of used bins in ascending order, all
 * bins with numbers from `first` to `last`. `make` returns the row of a bin.
 */
void rows_fill(struct rows *rows, __int128 first, __int128 last,
               struct rows_row (*make)(const struct rows *rows, __int128 bin, uint64_t count));

/*
 * Writes the counts above 0 of all rows, which are bins of that width, to a state. Bin 0 is that of
 * the smallest value of the type.
 */
void rows_save(struct rows *rows, uint64_t width, struct state_writer *state);

#endif
