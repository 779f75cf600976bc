/*
 * The lines of a plot: rows, as they are if they are few, else neighbouring ones put together, so
 * that a histogram of any size is a page.
 *
 * Up to PLOT_LINES_MAX rows are a line each, and so are the empty bins between them if all fit, or
 * a line for each gap. More rows by bin are put in groups: of equal width where the bins have one
 * (a multiple by 1, 2 or 5 times a power of ten), else of as many rows. Rows in another order are a
 * line each, and so are those of bins of powers, of which there are at most 129.
 *
 * Lines are made one by one as they are read, in no memory but the struct's. Not thread-safe.
 */
#ifndef GPUHIST_PLOT_H
#define GPUHIST_PLOT_H

#include "operations/rows.h"

#include <stdbool.h>
#include <stdint.h>

#define PLOT_LINES_MAX  64
#define PLOT_BATCH_ROWS 256

struct plot_line {
    bool is_gap;    /* empty bins in between, with no line of their own */
    bool is_single; /* the line is of one value, low */
    __int128 low;
    __int128 high; /* exclusive */
    uint64_t count;
};

/* How rows become lines. */
enum plot_layout {
    PLOT_ROWS,       /* each row is one */
    PLOT_GAPS,       /* the same, and each gap between two rows */
    PLOT_WIDTHS,     /* groups of rows that begin in an interval of one width */
    PLOT_NEIGHBOURS, /* groups of so many rows */
};

struct plot {
    struct rows rows; /* still to be read */
    struct rows_row batch[PLOT_BATCH_ROWS];
    size_t used; /* batch[used .. filled) were read and are in no line yet */
    size_t filled;
    enum plot_layout layout;
    __int128 low;       /* of the first line */
    __int128 high;      /* of the last; rows from there on are left out */
    __int128 start;     /* widths: where group 0 begins */
    __int128 width;     /* widths: of a group */
    bool is_aligned;    /* widths: bounds of groups are bounds of bins, too */
    uint64_t group;     /* widths: the next one */
    bool has_end;       /* gaps: there was a row, */
    __int128 end;       /* which ended here */
    uint64_t per_group; /* neighbours: rows */
};

/*
 * Begins the lines of the rows, none of which has been read; `by_bin`: they are all there are, in
 * their order. The job and what they are read from must live as long.
 */
void plot_begin(struct plot *plot, const struct rows *rows, bool by_bin);

/* Makes the next line; false if there is none. */
bool plot_next(struct plot *plot, struct plot_line *line);

#endif
