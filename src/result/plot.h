/*
 * The lines of a plot, or the bars of a picture. Few rows have a line each; more are grouped, so
 * that a histogram of any size fits a page.
 *
 * Up to lines_max rows in the order of the bins have a line each. So have up to PLOT_RUN_MAX empty
 * bins between two of them, if all bins fit; else one line stands for them, if it fits. Rows that
 * are values, not bins (is_unit and is_sparse of rows.h), have nothing between them. More rows are
 * grouped to round widths, those of powers by 2, 4, 8, ..., counted from where numbers are round,
 * and times to round buckets (kind_time_bucket.h). Thread-safe on distinct plots.
 */
#ifndef GPUHIST_PLOT_H
#define GPUHIST_PLOT_H

#include "aggregate/rows.h"
#include "lib/decimal.h"
#include "result/axis.h"
#include "value/binning.h"

#include <stdbool.h>
#include <stdint.h>

/* The maximum number of empty lines in a row. */
#define PLOT_RUN_MAX 3

/* The size of the name of a line: two edges, ".." and a NUL. */
#define PLOT_NAME_SIZE (2 * AXIS_LABEL_SIZE + 2)

struct plot_line {
    bool is_gap;    /* stands for `bins` empty bins that have no lines of their own */
    bool is_single; /* is of one value, low */
    __int128 low;
    __int128 high; /* exclusive */
    uint64_t count;
    uint64_t bins; /* gaps: how many */
};

/* What the choice of lines depends on. */
struct plot_survey {
    uint64_t rows;
    uint64_t empty;  /* of these */
    __int128 low;    /* where the first row begins */
    __int128 last;   /* where the last row begins */
    __int128 high;   /* where it ends */
    __int128 narrow; /* the minimum width of a row except the last, which may be cut */
    __int128 wide;   /* the greatest width of a row */
};

/*
 * An axis of positions: those of the plan's bins are their numbers, counted from where numbers are
 * round: by powers the bin of 0 or 1, of one width that of 0, which may be negative. The position
 * of a time is the number of its bucket. Else a position is a value, or the multiple of a width of
 * values.
 */
struct plot_scale {
    const struct element *element; /* of the values */
    const struct binning *binning; /* NULL: position p is the value p * unit + origin */
    __int128 unit;
    __int128 origin;                /* of bins, the number of the one at position 0 */
    struct kind_time_bucket bucket; /* times, unless bins differ in width: positions are numbers */
    struct kind_time_bucket whole;  /* of these, which consist of whole ones of those */
};

/* The scale of a plan's values, of which `unit` is the width if it gives no bins. Pure. */
struct plot_scale plot_scale_of(const struct plan *plan, __int128 unit);

/*
 * The position of the bin or value that begins at `low`, which may be below the type's least; and
 * the least value of a position: bins end where the last one ends. Pure.
 */
__int128 plot_scale_position(const struct plot_scale *scale, __int128 low);
__int128 plot_scale_value(const struct plot_scale *scale, __int128 position);

/*
 * Returns how many neighbours are one so that positions *first to *last are at most `max`. Of
 * times, makes the buckets wider instead, moves *first and *last to them, and returns 1.
 */
uint64_t plot_scale_join(struct plot_scale *scale, __int128 *first, __int128 *last, uint64_t max);

/*
 * Returns the next greater number of neighbours of which the multiples are round: together they are
 * 1, 2 or 5 times a power of ten wide if such a width is near, of powers they are a power of 2.
 * Pure.
 */
uint64_t plot_scale_next_step(const struct plot_scale *scale, uint64_t step);

struct plot {
    struct rows rows;          /* still to be read */
    struct plot_survey survey; /* of all rows; zeros if they are not in the order of the bins */
    struct rows_row batch[ROWS_BATCH];
    size_t used; /* batch[used..filled) are read and not yet in a line */
    size_t filled;
    bool has_groups;    /* else a line is a row */
    bool is_joined;     /* lines stand for several rows, of buckets that are wider or of */
    uint64_t per_group; /* the bins of a group, which has a line */
    struct plot_scale scale;
    __int128 first; /* the positions of the first and of the last row */
    __int128 last;
    __int128 group;   /* the next one */
    __int128 run_max; /* the maximum number of empty lines in a row */
};

/*
 * Begins the lines of `rows`, none of which may have been read. `by_bin`: they are in the order of
 * the bins; if they are more than `lines_max`, they are grouped. The plan and the aggregate of the
 * rows must outlive the plot. A copy of the plot makes the same lines.
 */
void plot_begin(struct plot *plot, const struct rows *rows, bool by_bin, uint64_t lines_max);

/* Room for what plot_describe_join writes. */
#define PLOT_JOIN_SIZE 64

/*
 * Writes how many bins or values a line stands for, or how long it is on an axis of times, such as
 * "5 bins", "2 values" or "10m"; nothing if a line stands for one row. Returns the length. Pure.
 */
size_t plot_describe_join(char out[PLOT_JOIN_SIZE], const struct plot *plot);

/* Returns whether the widths of bins differ by at most one, as those of equal parts of a range do.
 */
bool plot_is_even(const struct plot *plot);

/*
 * Writes the name of a line, as axis_write does: the value, or LOW..HIGH; without
 * `zeros` zeros at the end of each fraction, at most those of plot_zeros.
 */
void plot_name(char out[PLOT_NAME_SIZE], const struct plot_line *line,
               const struct element *element, enum axis_digits digits, unsigned zeros);

/* Returns how many zeros all fractions of a line's name end with. */
unsigned plot_zeros(const struct plot_line *line, const struct element *element);

/* Makes the next line. Returns false if there is none. */
bool plot_next(struct plot *plot, struct plot_line *line);

#endif
