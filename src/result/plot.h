/*
 * The lines of a plot, or the bars of an SVG image. Few rows have a line each; more are grouped, so
 * that a histogram of any size fits a page.
 *
 * Up to lines_max rows in bin order have a line each. Up to PLOT_RUN_MAX empty bins between two
 * rows also have a line each, if all bins fit; else one line replaces them, if it fits. Rows that
 * are values, not bins (is_unit and is_sparse of rows.h), have nothing between them. More rows are
 * grouped to round widths, bins by powers in groups of 2, 4, 8, ..., counted from a round number,
 * and timestamps to round buckets (kind_time_bucket.h). Thread-safe on distinct plots.
 */
#ifndef GPUHIST_PLOT_H
#define GPUHIST_PLOT_H

#include "aggregate/rows.h"
#include "lib/decimal.h"
#include "result/axis.h"
#include "value/binning.h"

#include <stdbool.h>
#include <stdint.h>

/* Maximum number of consecutive empty lines. */
#define PLOT_RUN_MAX 3

/* Size of a buffer for the name of a line: two edges, ".." and a NUL. */
#define PLOT_NAME_SIZE (2 * AXIS_LABEL_SIZE + 2)

struct plot_line {
    bool is_gap;    /* replaces `bins` empty bins that have no lines of their own */
    bool is_single; /* has one value, `low` */
    __int128 low;
    __int128 high; /* exclusive */
    uint64_t count;
    uint64_t bins; /* gaps: number of empty bins */
};

/* Properties of the rows that determine the lines. */
struct plot_survey {
    uint64_t rows;
    uint64_t empty;  /* number of empty rows */
    __int128 low;    /* the lower edge of the first row */
    __int128 last;   /* the lower edge of the last row */
    __int128 high;   /* the upper edge of the last row */
    __int128 narrow; /* the minimum width of a row except the last, which may be cut */
    __int128 wide;   /* the maximum width of a row */
};

/*
 * An axis of positions. The position of a bin of the plan is its number, counted from a round
 * number: for powers from the bin of 0 or 1, for bins of one width from that of 0, and may be
 * negative. The position of a timestamp is the number of its bucket. Other positions are values, or
 * numbers of multiples of a width.
 */
struct plot_scale {
    const struct element *element; /* the values; not owned */
    const struct binning *binning; /* not owned; NULL: position p is the value p * unit + origin */
    __int128 unit;
    __int128 origin;                /* bins: the number of the bin at position 0 */
    struct kind_time_bucket bucket; /* timestamps, in bins of one width: positions count these */
    struct kind_time_bucket whole;  /* timestamps: the buckets that those consist of */
};

/* Returns the scale of a plan's values; `unit` is their width if the plan has no bins. Pure. */
struct plot_scale plot_scale_of(const struct plan *plan, __int128 unit);

/*
 * Return the position of the bin or value that begins at `low`, which may be below the type's
 * minimum; and the smallest value of a position, or for the position after the last bin its end.
 * Pure.
 */
__int128 plot_scale_position(const struct plot_scale *scale, __int128 low);
__int128 plot_scale_value(const struct plot_scale *scale, __int128 position);

/*
 * Returns how many neighbours to join so that positions *first to *last become at most `max`. For
 * timestamps, makes the buckets wider instead, converts *first and *last, and returns 1.
 */
uint64_t plot_scale_join(struct plot_scale *scale, __int128 *first, __int128 *last, uint64_t max);

/*
 * Returns the next larger round number of neighbours: their width is 1, 2 or 5 times a power of ten
 * if such a width is near; for bins by powers, the number is a power of 2. Pure.
 */
uint64_t plot_scale_next_step(const struct plot_scale *scale, uint64_t step);

struct plot {
    struct rows rows;          /* the rows still to be read */
    struct plot_survey survey; /* properties of all rows; zeros if they are not in bin order */
    struct rows_row batch[ROWS_BATCH];
    size_t used; /* batch[used..filled) are read and not yet in a line */
    size_t filled;
    bool has_groups;    /* a line is a group of bins; else a row */
    bool is_joined;     /* lines have several rows: wider buckets, or per_group bins */
    uint64_t per_group; /* number of bins of a group */
    struct plot_scale scale;
    __int128 first;   /* the position of the first row */
    __int128 last;    /* the position of the last row */
    __int128 group;   /* the next group */
    __int128 run_max; /* maximum number of consecutive empty lines */
};

/*
 * Begins the lines of unread rows. `by_bin`: the rows are in bin order, and are grouped if there
 * are more than `lines_max`. The plan and the aggregate of the rows must outlive the plot. A copy
 * of the plot makes the same lines.
 */
void plot_begin(struct plot *plot, const struct rows *rows, bool by_bin, uint64_t lines_max);

/* Size of a buffer for plot_describe_join. */
#define PLOT_JOIN_SIZE 64

/*
 * Writes the number of bins or values of a line, or its duration on an axis of timestamps, such as
 * "5 bins", "2 values" or "10m"; nothing if a line has one row. Returns the length. Pure.
 */
size_t plot_describe_join(char out[PLOT_JOIN_SIZE], const struct plot *plot);

/* Returns whether the widths of bins differ by at most one, as in equal-width bins of a range. */
bool plot_is_even(const struct plot *plot);

/*
 * Writes the name of a line in the notation of axis_write: the value, or LOW..HIGH, without `zeros`
 * trailing zeros of each fraction, at most plot_zeros.
 */
void plot_name(char out[PLOT_NAME_SIZE], const struct plot_line *line,
               const struct element *element, enum axis_digits digits, unsigned zeros);

/* Returns the number of trailing zeros that all fractions of a line's name have. */
unsigned plot_zeros(const struct plot_line *line, const struct element *element);

/* Makes the next line. Returns false if there is none. */
bool plot_next(struct plot *plot, struct plot_line *line);

#endif
