/*
 * How the rows of a histogram are printed, wherever they come from: what is selected, in which
 * format. A format is a row of the table in print_rows.c and a file, print_<format>.c.
 *
 * Nothing here is thread-safe, but what print_rows_in_parts says.
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
    uint64_t total;                          /* values counted, in bins or not */
    bool is_complete;                        /* the rows are all of them, by bin */
    uint64_t rows_left;                      /* rows that were left out for rows_max */
    __int128 first_low;                      /* of the first row: json's own, for all parts */
    const struct quantiles_value *quantiles; /* those asked for; NULL: none, or no values */
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
    bool has_zeros;           /* it prints empty bins, whatever the options say */
    unsigned refused;         /* the options that it does not take */
    uint64_t sorted_rows_max; /* how many rows it prints by count, without --top; 0: all */
    /* Writes the table. Errors of writing stay in the writer; no memory is STATUS_DATA. */
    enum status (*rows)(struct writer *writer, const struct print_table *table,
                        struct failure *failure);
};

extern const struct print_format print_tsv;
extern const struct print_format print_csv;
extern const struct print_format print_json;
extern const struct print_format print_raw;
extern const struct print_format print_gnuplot;
extern const struct print_format print_plot;

/* The format that the options and, if they leave it open, standard output ask for. */
const struct print_format *print_rows_format(const struct print_options *options);

/*
 * Writes a histogram, as the options say, given its rows, of which none has been read. Fails with
 * STATUS_DATA if there is no memory.
 */
enum status print_rows(struct writer *writer, const struct rows *rows,
                       const struct print_options *options, struct failure *failure);

/* How a format goes through the rows: batch by batch. */
#define PRINT_ROWS_BATCH 256

/*
 * Writes the rows of a table by calling `write`, which writes row_bytes a row at the most, and
 * looks at nothing but a row to write it. Where there are many, it is called by several threads at
 * once for parts of them, in pieces of less than 64 KiB.
 */
void print_rows_in_parts(struct writer *writer, const struct print_table *table, size_t row_bytes,
                         void (*write)(struct writer *writer, const struct print_table *part));

#endif
