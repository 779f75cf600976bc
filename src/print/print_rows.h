/*
 * Prints the rows of all kinds of histograms: selects, sorts and formats them. Each format is a row
 * of the table in print_rows.c; some print named values as well.
 *
 * Not thread-safe, except as print_rows_in_parts says.
 */
#ifndef GPUHIST_PRINT_ROWS_H
#define GPUHIST_PRINT_ROWS_H

#include "base/status.h"
#include "partial/quantiles.h"
#include "partial/rows.h"
#include "plot/axis.h"
#include "print/print.h"
#include "print/print_values.h"

#include <stdint.h>

struct writer;

/* The input of a format. */
struct print_table {
    struct rows rows; /* no row has been read yet */
    const struct print_options *options;
    const struct print_format *format;
    const char *count_name;                  /* the name of the counts above the lines */
    const char *count_member;                /* json: `,"NAME":`, or NULL: it is "count" */
    uint64_t total;                          /* values counted, inside and outside the bins */
    uint64_t other;                          /* only for options->other: those that it stands for */
    bool is_by_bin;                          /* the rows are in bin order */
    bool is_complete;                        /* they are all rows, in bin order */
    uint64_t rows_left;                      /* rows omitted because of list_lines, */
    uint64_t empty_left;                     /* and empty ones, which --zeros asks for */
    __int128 first_low;                      /* the lower limit of the first row; only for json */
    const struct quantiles_value *quantiles; /* NULL: not requested, or there are no values */
};

/* Options that some formats do not support: X(id, name, whether the options have it). */
#define PRINT_EXTRAS(X)                                       \
    X(TOP, "--top", options->top > 0)                         \
    X(SORT, "--sort", options->sort != PRINT_SORT_DEFAULT)    \
    X(CUMULATIVE, "--cumulative", options->cumulative)        \
    X(PERCENT, "--percent", options->percent)                 \
    X(QUANTILES, "--quantiles", options->quantiles.count > 0) \
    X(MIN_COUNT, "--min-count", options->min_count > 0)       \
    X(OTHER, "--other", options->other)                       \
    X(ZEROS, "--zeros", options->zeros)                       \
    X(TITLE, "--title", options->title != NULL)               \
    X(LABEL, "--label", options->label != NULL)               \
    X(LOG_COUNT, "--log-count", options->log_count)

/* Their numbers, and bits. */
enum print_extra {
#define PRINT_EXTRA_NUMBER(id, name, is_given) PRINT_NUMBER_##id,
    PRINT_EXTRAS(PRINT_EXTRA_NUMBER)
#undef PRINT_EXTRA_NUMBER
#define PRINT_EXTRA_BIT(id, name, is_given) PRINT_EXTRA_##id = 1 << PRINT_NUMBER_##id,
        PRINT_EXTRAS(PRINT_EXTRA_BIT)
#undef PRINT_EXTRA_BIT
};

struct print_format {
    const char *name;
    char separator;     /* tsv and csv: between columns; else NUL */
    bool has_lines;     /* the format is text */
    bool is_picture;    /* it can have a title, a label, and logarithmic counts */
    bool has_values;    /* named values can be printed as well (print_values.h) */
    bool names_values;  /* prints few different values as such, not in automatic bins */
    bool replaces_bins; /* prints quantiles instead of bins, not besides */
    unsigned refused;   /* the options that it does not support: bits of enum print_extra */
    /* Returns the maximum number of rows of a selection without --top. NULL: all. */
    uint64_t (*list_lines)(const struct print_options *options);
    /* Writes the table. The writer records write errors. */
    void (*rows)(struct writer *writer, const struct print_table *table);
};

extern const struct print_format print_tsv;
extern const struct print_format print_csv;
extern const struct print_format print_json;
extern const struct print_format print_jsonl;
extern const struct print_format print_raw;
extern const struct print_format print_npy;
extern const struct print_format print_gnuplot;
extern const struct print_format print_svg;
extern const struct print_format print_plot;

/* Returns the number of lines of bars that fit the terminal. Reads the environment. */
uint64_t print_plot_lines(const struct print_options *options);

/* Returns what a picture calls the values. Pure. */
const char *print_value_label(const struct print_options *options, const struct job *job);

/*
 * Returns a count as a number of a picture's scale: as it is, or with --percent as a percentage of
 * the total, in multiples of 10^-PRINT_PERCENT_DECIMALS; at least 1 if it is not 0. Pure.
 */
#define PRINT_PERCENT_DECIMALS 8
uint64_t print_scale_number(const struct print_options *options, uint64_t count, uint64_t total);

/* Returns the element of these numbers, for their axis. Pure. */
struct element print_scale_element(const struct print_options *options);

/*
 * Writes such a number and a NUL, and returns its length: a count as axis_write does, a percentage
 * with at most four decimals, unless it is smaller than these show.
 */
size_t print_scale_label(char out[AXIS_LABEL_SIZE], const struct print_options *options,
                         __int128 number, bool is_in_picture);

/*
 * Writes a text of the user, up to so many columns of a terminal, with what is not printable as
 * '?'. Returns the columns written.
 */
size_t print_columns(struct writer *writer, const char *text, size_t columns);

/* Returns the format in the options, or the default for standard output. */
const struct print_format *print_rows_format(const struct print_options *options);

/* The same for the groups of a job: tsv, or a heat map (print_heat.h) where one can be drawn. */
const struct print_format *print_groups_format(const struct print_options *options,
                                               const struct job *job);

/*
 * Writes a histogram with these options. No row of `rows` may have been read. The writer records
 * write errors. Fails with STATUS_DATA if there is no memory.
 */
enum status print_rows(struct writer *writer, const struct rows *rows,
                       const struct print_options *options, struct failure *failure);

/* Writes a line for each row of a table whose format is tsv, csv or json. */
void print_lines(struct writer *writer, const struct print_table *table);

/*
 * Writes the rows of a table with `write`, which several threads call for different parts of a
 * large one. What it writes for a row does not depend on other rows.
 */
void print_rows_in_parts(struct writer *writer, const struct print_table *table,
                         void (*write)(struct writer *writer, const struct print_table *part));

#endif
