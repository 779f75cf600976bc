/*
 * Prints the rows of histograms of all kinds: selects, sorts and formats them. A format is a row of
 * the table in print_rows.c and a file print_<format>.c.
 *
 * Not thread-safe, except as print_rows_in_parts says.
 */
#ifndef GPUHIST_PRINT_ROWS_H
#define GPUHIST_PRINT_ROWS_H

#include "base/status.h"
#include "operations/quantiles.h"
#include "operations/rows.h"
#include "print/print.h"

#include <stdint.h>

struct writer;

/* What a format prints. */
struct print_table {
    struct rows rows; /* none has been read */
    const struct print_options *options;
    uint64_t total;                          /* values counted, inside and outside the bins */
    bool is_complete;                        /* the rows are all rows, in the order of the bins */
    uint64_t rows_left;                      /* rows left out because of sorted_rows_max */
    __int128 first_low;                      /* where the first row begins; for json alone */
    const struct quantiles_value *quantiles; /* NULL: none are asked for, or there are no values */
};

/* Options that not every format takes, as bits. */
enum print_extra {
    PRINT_EXTRA_TOP = 1,
    PRINT_EXTRA_SORT = 2,
    PRINT_EXTRA_CUMULATIVE = 4,
    PRINT_EXTRA_PERCENT = 8,
    PRINT_EXTRA_QUANTILES = 16,
};

struct print_format {
    const char *name;
    bool has_lines;           /* it is text */
    bool has_zeros;           /* it always prints empty bins */
    unsigned refused;         /* the options that it does not support, enum print_extra */
    uint64_t sorted_rows_max; /* the most rows sorted by count without --top; 0: all */
    /*
     * Writes the table. The writer keeps errors of writing. Fails with STATUS_DATA if there is no
     * memory.
     */
    enum status (*rows)(struct writer *writer, const struct print_table *table,
                        struct failure *failure);
};

extern const struct print_format print_tsv;
extern const struct print_format print_csv;
extern const struct print_format print_json;
extern const struct print_format print_raw;
extern const struct print_format print_gnuplot;
extern const struct print_format print_plot;

/* The format of the options, or if they give none, the one for standard output. */
const struct print_format *print_rows_format(const struct print_options *options);

/*
 * Writes a histogram with these options. None of its rows may have been read. The writer keeps
 * errors of writing. Fails with STATUS_DATA if there is no memory.
 */
enum status print_rows(struct writer *writer, const struct rows *rows,
                       const struct print_options *options, struct failure *failure);

/* How many rows formats read at a time. */
#define PRINT_ROWS_BATCH 256

/*
 * Writes the rows of a table with `write`, which writes at most row_bytes for a row, and depends on
 * nothing but that row. If there are many rows, several threads call it at the same time for
 * different parts; then it must reserve less than 64 KiB of the writer at a time.
 */
void print_rows_in_parts(struct writer *writer, const struct print_table *table, size_t row_bytes,
                         void (*write)(struct writer *writer, const struct print_table *part));

#endif
