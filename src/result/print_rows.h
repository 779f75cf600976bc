/*
 * Prints the rows of all kinds of histograms: selects, sorts and formats them. Each format is a row
 * of the table in print_rows.c; some print named values as well.
 *
 * Not thread-safe, except as print_rows_in_parts says.
 */
#ifndef GPUHIST_PRINT_ROWS_H
#define GPUHIST_PRINT_ROWS_H

#include "aggregate/quantiles.h"
#include "aggregate/rows.h"
#include "lib/status.h"
#include "result/axis.h"
#include "result/print.h"
#include "result/print_values.h"

#include <stdint.h>

struct print_heat;
struct writer;

/* The input of a format. */
struct print_table {
    struct rows rows; /* no row has been read yet */
    const struct print_options *options;
    const struct print_format *format;
    const char *prefix;                      /* of lines: what begins each, a group or an object, */
    size_t prefix_bytes;                     /* and its length */
    const char *count_word;                  /* of lines: what stands before the count */
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
#define PRINT_EXTRAS(X)                                         \
    X(TOP, "--top", options->top > 0)                           \
    X(SORT, "--sort", options->sort != NULL)                    \
    X(CUMULATIVE, "--cumulative", options->cumulative)          \
    X(PERCENT, "--percent", options->percent)                   \
    X(QUANTILES, "--percentiles", options->quantiles.count > 0) \
    X(MIN_COUNT, "--min-count", options->min_count > 0)         \
    X(OTHER, "--other", options->other)                         \
    X(ZEROS, "--zeros", options->zeros)                         \
    X(TITLE, "--title", options->title != NULL)                 \
    X(LABEL, "--label", options->label != NULL)                 \
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

/* What stands around the fields of a line: in json the names of members, else separators. */
enum print_word {
    PRINT_WORD_FIRST, /* begins the first line, */
    PRINT_WORD_LINE,  /* and any other */
    PRINT_WORD_VALUE,
    PRINT_WORD_LOW,
    PRINT_WORD_NEXT, /* between any other fields; the next ones begin with it, too */
    PRINT_WORD_HIGH,
    PRINT_WORD_COUNT,
    PRINT_WORD_PERCENT,
    PRINT_WORD_CUMULATIVE,
    PRINT_WORD_CUMULATIVE_PERCENT,
    PRINT_WORD_END, /* of a line */
    PRINT_WORDS
};

/* Each is copied whole, which takes less time than to copy just its characters. */
struct print_word_text {
    char text[31];
    unsigned char length;
};
#define PRINT_WORD(string)        \
    {                             \
        string, sizeof string - 1 \
    }

/* The words of a format with nothing but `begin`, `between` and `end`. */
#define PRINT_WORDS_PLAIN(begin, between, end)                                            \
    [PRINT_WORD_FIRST] = PRINT_WORD(begin), [PRINT_WORD_LINE] = PRINT_WORD(begin),        \
    [PRINT_WORD_NEXT] = PRINT_WORD(between), [PRINT_WORD_HIGH] = PRINT_WORD(between),     \
    [PRINT_WORD_COUNT] = PRINT_WORD(between), [PRINT_WORD_PERCENT] = PRINT_WORD(between), \
    [PRINT_WORD_CUMULATIVE] = PRINT_WORD(between),                                        \
    [PRINT_WORD_CUMULATIVE_PERCENT] = PRINT_WORD(between), [PRINT_WORD_END] = PRINT_WORD(end)

/* A column of a result: its name is that of the words, one after the other. */
struct print_column {
    const char *words[3]; /* then NULL */
    bool is_given;        /* by the input: tabs and newlines are escaped as those of strings */
    bool is_text;         /* its values are no numbers, but strings, times or addresses */
};

/* What `begin` and `end` of a format know of a result. */
struct print_result {
    const struct print_options *options;
    const struct print_format *format;
    const struct plan *plan;
    const char *list; /* the json member of its columns or groups; NULL: it has none */
    bool is_unit;     /* of rows: they have a value, not two edges */
    /* Returns column i; after the last, one without words. NULL: it has no header of its own. */
    struct print_column (*column)(const struct print_result *result, size_t i);
};

/* When a format has the names of columns above the lines. */
enum print_header {
    PRINT_HEADER_NEVER,
    PRINT_HEADER_ASKED, /* with --header-out */
    PRINT_HEADER_ALWAYS,
};

struct print_format {
    const char *name;
    bool has_lines;     /* the format is text */
    bool is_picture;    /* it can have a title, a label, and logarithmic counts */
    bool draws_names;   /* it has bars of strings and addresses, although it has no lines */
    bool names_values;  /* prints few different values as such, not in automatic bins */
    bool refuses_times; /* as values */
    unsigned refused;   /* the options that it does not support: bits of enum print_extra */
    /*
     * For formats of lines only, which can print named values (print_values.h) and groups as
     * well; other formats have no words (NULL). has_names: in each line fields stand beside their
     * names, as in json. is_document: the lines are in one object; else quantiles replace the bins.
     * lists_values: a single result is a line for each named value. `quoted`: strings with one of
     * these characters are in quotes; with has_names all are. escape: what stands for the first
     * character of text[0..bytes), whose length it stores in *used. Returns the length of the
     * escape in `out`; 0: it stands as it is.
     */
    const struct print_word_text *words; /* [PRINT_WORDS] */
    enum print_header header;
    const char *rules[2]; /* a line below the header: of columns of numbers, of strings; or NULL */
    bool has_names;
    bool is_document;
    bool lists_values;
    const char *quoted;
    size_t (*escape)(const char *text, size_t bytes, size_t *used, char out[8]);
    /* Write what is before and after the lines: a header, an envelope. NULL: nothing. */
    void (*begin)(struct writer *writer, const struct print_result *result);
    void (*end)(struct writer *writer, const struct print_result *result);
    /* Returns the maximum number of rows of a selection without --top. NULL: all. */
    uint64_t (*list_lines)(const struct print_options *options);
    /* Returns the maximum number of automatic bins. NULL: GROWING_HISTOGRAM_RESULT_BINS. */
    uint64_t (*automatic_bins)(const struct print_options *options, bool has_groups);
    /* Writes the table, between `begin` and `end`. The writer records write errors. */
    void (*rows)(struct writer *writer, const struct print_table *table);
    /* Writes the whole result. NULL: result_print does, with what follows here. */
    enum status (*result)(struct writer *writer, const struct plan *plan, const void *aggregate,
                          const struct print_options *options, struct failure *failure);
    /* Draws a heat map of groups. NULL: not supported. */
    enum status (*heat)(struct writer *writer, struct print_heat *heat, struct failure *failure);
};

#define PRINT_FORMAT_ROW(name) extern const struct print_format print_##name;
PRINT_FORMAT_ROW(tsv)
PRINT_FORMAT_ROW(raw)
PRINT_FORMATS_OF_LINES(PRINT_FORMAT_ROW)
PRINT_FORMATS_OF_BINS(PRINT_FORMAT_ROW, PRINT_FORMAT_ROW)
PRINT_FORMAT_ROW(plot)
PRINT_FORMAT_ROW(table)
#undef PRINT_FORMAT_ROW

/*
 * Begins a picture of that height (svg.h): its title, and below it what is shown, and which rows
 * are not: those selected by options, `undrawn` others, and `empty` ones.
 */
void print_svg_head(struct writer *writer, const struct print_table *table, unsigned height,
                    unsigned left, const char *summary, uint64_t undrawn, uint64_t empty);

/* The `rows` of strings and addresses: horizontal bars. */
void print_svg_names(struct writer *writer, const struct print_table *table);

/* Returns the number of lines of bars that fit the terminal. Reads the environment. */
uint64_t print_plot_lines(const struct print_options *options);

/* Room for the name of a field that has only a number. */
#define PRINT_FIELD_SIZE 40

/*
 * Returns what a picture calls a column: its name or label, "time", "line", or what says where it
 * is, such as "field 9", which is written to `out`. `other`: the name of one that nothing says, as
 * in states, which do not say of which fields they are. Pure.
 */
const char *print_column_label(const struct plan *plan, const struct column *column,
                               const char *other, char out[PRINT_FIELD_SIZE]);

/* Returns what a picture calls the values: that of --label, or of their column. Pure. */
const char *print_value_label(const struct print_options *options, const struct plan *plan,
                              char out[PRINT_FIELD_SIZE]);

/*
 * Returns what a table for readers calls a column that other formats call `name`: groups and values
 * as in pictures. `column` is its index among those of a single value column. Pure.
 */
const char *print_reader_name(const struct print_options *options, const struct plan *plan,
                              size_t column, const char *name, char out[PRINT_FIELD_SIZE]);

/* Returns what a picture calls the counts, or the column of the weights. Pure. */
const char *print_count_label(const struct plan *plan, char out[PRINT_FIELD_SIZE]);

/*
 * Writes the title of a picture that was given none: what is counted, by which values and, of a
 * heat map, by which groups. NULL: it has no groups. Longer names are cut.
 */
#define PRINT_TITLE_SIZE 512
void print_default_title(char out[PRINT_TITLE_SIZE], const struct print_options *options,
                         const struct plan *plan, const char *group_label);

/* Returns the element of counts, for axis_write. Pure. */
struct element print_count_element(const struct plan *plan);

/*
 * Returns a count as a number of a picture's scale: as it is, or with --percent as a percentage of
 * the total, in multiples of 10^-PRINT_PERCENT_DECIMALS; at least 1 if it is not 0. Pure.
 */
#define PRINT_PERCENT_DECIMALS 8
uint64_t print_scale_number(const struct print_options *options, uint64_t count, uint64_t total);

/* Returns the element of these numbers, for their axis. Pure. */
struct element print_scale_element(const struct print_options *options, const struct plan *plan);

/*
 * Writes such a number and a NUL, and returns its length: a count as axis_write does, a percentage
 * with at most four decimals, unless it is smaller than these show.
 */
size_t print_scale_label(char out[AXIS_LABEL_SIZE], const struct print_options *options,
                         const struct plan *plan, __int128 number, bool is_in_picture);

/*
 * Writes a text of the user, at most `columns` columns of a terminal, with what is not printable as
 * '?'. Returns the columns written.
 */
size_t print_columns(struct writer *writer, const char *text, size_t columns);

/* Returns the format in the options, or the default for standard output. */
const struct print_format *print_rows_format(const struct print_options *options);

/*
 * Returns how many bins a result has whose bins depend on its values (range_bins of plan.h): those
 * of round widths are no more than the format has lines for. Reads the environment.
 */
uint64_t print_range_bins(const struct print_options *options, const struct plan *plan);

/* Returns whether a result in this format begins with the names of columns. */
bool print_has_header(const struct print_options *options, const struct print_format *format);

/* Writes a word of the format's lines, and begins or ends a result. */
void print_write_word(struct writer *writer, const struct print_format *format,
                      enum print_word word);
void print_begin(struct writer *writer, const struct print_result *result);
void print_end(struct writer *writer, const struct print_result *result);

/* The `begin` of a format with a header: writes it, if the result has one here. */
void print_write_header(struct writer *writer, const struct print_result *result);

/* The `rows` of a format that has a line for each row, quantile, and the others. */
void print_delimited(struct writer *writer, const struct print_table *table);

/* The `column` of results of histogram and uniq. Pure. */
struct print_column print_rows_column(const struct print_result *result, size_t i);

/* Like print_rows_format, but returns tsv for values and groups that a picture cannot show. */
const struct print_format *print_plan_format(const struct print_options *options,
                                             const struct plan *plan);

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
