/*
 * The rows of a histogram: its bins in ascending order and how often each was met, as that which
 * prints them sees them, however the histogram is kept.
 *
 * The partial is settled, and nobody adds to it: copies may be read by different threads, where
 * that is said.
 */
#ifndef GPUHIST_ROWS_H
#define GPUHIST_ROWS_H

#include "job/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rows_row {
    __int128 low;
    __int128 high; /* exclusive */
    uint64_t count;
};

/* The rows that are still to be read. A copy is read by itself, from the same row on. */
struct rows {
    const struct job *job;
    const void *partial;
    bool zeros;      /* empty bins, too: all of them where bins were given, else those between */
                     /* the first and the last that is not empty. To be changed before any are */
                     /* read, or not at all */
    bool is_unit;    /* every bin is one wide */
    uint64_t inside; /* values in all bins, */
    uint64_t below;  /* and in none */
    uint64_t above;
    uint64_t next[3]; /* which rows are left; `read`'s own, zeros at first */
    /* Reads up to `room` rows, at least one if there are any; returns how many. */
    size_t (*read)(struct rows *rows, struct rows_row *out, size_t room);
    /* Reads the counts alone, with zeros, in less time; NULL: there is no such way. */
    size_t (*read_counts)(struct rows *rows, uint64_t *counts, size_t room);
    /*
     * Leaves the part `part` of so many equal ones, of rows of which none has been read. Their
     * copies are read by several threads at once. NULL: there is no such way.
     */
    void (*narrow)(struct rows *rows, uint64_t part, uint64_t parts);
    /* Where there is `narrow`: how many rows there can be. A part has its share of them or fewer.
     */
    uint64_t (*most)(const struct rows *rows);
};

struct histogram;

/* The rows of a finished histogram, from the first on. The job and it must live as long. */
void histogram_rows_begin(struct rows *rows, const struct job *job,
                          const struct histogram *histogram, bool zeros);

#endif
