/*
 * Prints the rows of all kinds of histograms: selects, sorts and formats them. Each format is a row
 * of the table in print_rows.c; some also print named values.
 *
 * Not thread-safe, except for print_rows_in_parts.
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
struct print_input {
    struct rows rows; /* no row has been read yet */
    const struct print_options *options;
    const struct print_format *format;
    const char *prefix;                      /* the start of each line: a group or an object */
    size_t prefix_bytes;                     /* length of the prefix */
    const char *count_word;                  /* the word of lines before the count */
    uint64_t total;                          /* number of values, inside and outside the bins */
    uint64_t other;                          /* options->other: the sum of omitted counts */
    bool is_by_bin;                          /* the rows are in bin order */
    bool is_complete;                        /* the rows are all rows, in bin order */
    uint64_t rows_left;                      /* number of rows omitted because of list_lines */
    uint64_t empty_left;                     /* --zeros: number of empty rows among them */
    __int128 first_low;                      /* json: the lower edge of the first row */
    const struct quantiles_value *quantiles; /* NULL: not requested, or there are no values */
};

/* The options that some formats do not support: X(id, name, test whether it is given). */
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

/* The numbers of these options, and their bits. */
enum print_extra {
#define PRINT_EXTRA_NUMBER(id, name, is_given) PRINT_NUMBER_##id,
    PRINT_EXTRAS(PRINT_EXTRA_NUMBER)
#undef PRINT_EXTRA_NUMBER
#define PRINT_EXTRA_BIT(id, name, is_given) PRINT_EXTRA_##id = 1 << PRINT_NUMBER_##id,
        PRINT_EXTRAS(PRINT_EXTRA_BIT)
#undef PRINT_EXTRA_BIT
};

/* The text around the fields of a line: in json names of members, else separators. */
enum print_word {
    PRINT_WORD_FIRST, /* begins the first line */
    PRINT_WORD_LINE,  /* begins any other line */
    PRINT_WORD_VALUE,
    PRINT_WORD_LOW,
    PRINT_WORD_NEXT, /* separates other fields; the next words begin with it, too */
    PRINT_WORD_HIGH,
    PRINT_WORD_COUNT,
    PRINT_WORD_PERCENT,
    PRINT_WORD_CUMULATIVE,
    PRINT_WORD_CUMULATIVE_PERCENT,
    PRINT_WORD_END, /* ends a line */
    PRINT_WORDS
};

/* A word. It is copied as a whole, which is faster than copying only its characters. */
struct print_word_text {
    char text[31];
    unsigned char length;
};
#define PRINT_WORD(string)        \
    {                             \
        string, sizeof string - 1 \
    }

/* The words of a format with only `begin`, `between` and `end`. */
#define PRINT_WORDS_PLAIN(begin, between, end)                                            \
    [PRINT_WORD_FIRST] = PRINT_WORD(begin), [PRINT_WORD_LINE] = PRINT_WORD(begin),        \
    [PRINT_WORD_NEXT] = PRINT_WORD(between), [PRINT_WORD_HIGH] = PRINT_WORD(between),     \
    [PRINT_WORD_COUNT] = PRINT_WORD(between), [PRINT_WORD_PERCENT] = PRINT_WORD(between), \
    [PRINT_WORD_CUMULATIVE] = PRINT_WORD(between),                                        \
    [PRINT_WORD_CUMULATIVE_PERCENT] = PRINT_WORD(between), [PRINT_WORD_END] = PRINT_WORD(end)

/* A column of a result. Its name is the concatenation of the words. */
struct print_column {
    const char *words[3]; /* unused ones are NULL */
    bool is_given;        /* the input has the name: tabs and newlines are escaped */
    bool is_text;         /* its values are not numbers, but strings, timestamps or IP addresses */
};

/* A result, for `begin` and `end` of a format. */
struct print_result {
    const struct print_options *options;
    const struct print_format *format;
    const struct plan *plan;
    const char *list; /* the json member with its columns or groups; NULL: it has none */
    bool is_unit;     /* rows have a value, not two edges */
    /* Returns column i; after the last column, one without words. NULL: it has no header. */
    struct print_column (*column)(const struct print_result *result, size_t i);
};

/* When a format has a header row. */
enum print_header {
    PRINT_HEADER_NEVER,
    PRINT_HEADER_ASKED, /* with --header-out */
    PRINT_HEADER_ALWAYS,
};

struct print_format {
    const char *name;
    bool has_lines;     /* the format is text */
    bool is_picture;    /* a plot or image: with a title, a label, and logarithmic counts */
    bool draws_names;   /* it draws bars of strings and IP addresses, although it has no lines */
    bool names_values;  /* it prints few distinct values as values, not in automatic bins */
    bool refuses_times; /* it does not support timestamps as values */
    unsigned refused;   /* the options that it does not support: bits of enum print_extra */
    /*
     * Only for formats of lines, which can also print named values (print_values.h) and groups;
     * other formats have no words (NULL). has_names: a line is a JSON object, with the names of its
     * fields. is_document: all lines are in one object; else percentiles replace the bins.
     * lists_values: a single result is a line per named value. is_unicode: bytes that are not UTF-8
     * become U+FFFD. `quoted`: strings with one of these characters are quoted; with has_names all
     * are. escape: writes the escape of the first character of text[0..bytes), stores that
     * character's length in *used, and returns the length of the escape; 0: it needs none.
     */
    const struct print_word_text *words; /* [PRINT_WORDS] */
    enum print_header header;
    const char *rules[2]; /* cells below the header, for columns of numbers and strings; or NULL */
    bool has_names;
    bool is_document;
    bool lists_values;
    bool is_unicode;
    const char *quoted;
    size_t (*escape)(const char *text, size_t bytes, size_t *used, char out[8]);
    /* Write the text before and after the lines: a header, an envelope. NULL: nothing. */
    void (*begin)(struct writer *writer, const struct print_result *result);
    void (*end)(struct writer *writer, const struct print_result *result);
    /* Returns the maximum number of rows of a selection without --top. NULL: all. */
    uint64_t (*list_lines)(const struct print_options *options);
    /* Returns the maximum number of automatic bins. NULL: GROWING_HISTOGRAM_RESULT_BINS. */
    uint64_t (*automatic_bins)(const struct print_options *options, bool has_groups);
    /* Writes the rows, between `begin` and `end`. The writer records write errors. */
    void (*rows)(struct writer *writer, const struct print_input *input);
    /* Writes the whole result. NULL: result_print does, with the members below. */
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
 * Begins an image of that height (svg.h): its title, and below it a summary of the rows drawn and
 * not drawn: those that options omit, `undrawn` others, and `empty` ones.
 */
void print_svg_head(struct writer *writer, const struct print_input *input, unsigned height,
                    unsigned left, const char *summary, uint64_t undrawn, uint64_t empty);

/* Writes rows of strings and IP addresses as horizontal bars. */
void print_svg_names(struct writer *writer, const struct print_input *input);

/* Returns the number of lines of bars that fit the terminal. Reads the environment. */
uint64_t print_plot_lines(const struct print_options *options);

/* Size of a buffer for the name of a field that has only a number. */
#define PRINT_FIELD_SIZE 40

/*
 * Returns the name of a column in plots: its name or label, "time", "line", or its place, such as
 * "field 9", which is written to `out`. `other` is the name if none of these is known, as in
 * states, which have no field numbers. Pure.
 */
const char *print_column_label(const struct plan *plan, const struct column *column,
                               const char *other, char out[PRINT_FIELD_SIZE]);

/* Returns the name of the values in plots: that of --label, or of their column. Pure. */
const char *print_value_label(const struct print_options *options, const struct plan *plan,
                              char out[PRINT_FIELD_SIZE]);

/*
 * Returns the name, in a table for readers, of the column `name` of other formats: groups and
 * values have the names of plots. `column` is its index among those of a single value column. Pure.
 */
const char *print_reader_name(const struct print_options *options, const struct plan *plan,
                              size_t column, const char *name, char out[PRINT_FIELD_SIZE]);

/* Returns the name of the counts in plots, or of the weight column. Pure. */
const char *print_count_label(const struct plan *plan, char out[PRINT_FIELD_SIZE]);

/*
 * Writes the default title of a plot: the names of the counts, of the values, and in a heat map of
 * the groups. NULL: there are no groups. Long names are cut.
 */
#define PRINT_TITLE_SIZE 512
void print_default_title(char out[PRINT_TITLE_SIZE], const struct print_options *options,
                         const struct plan *plan, const char *group_label);

/* Returns the element of counts, for axis_write. Pure. */
struct element print_count_element(const struct plan *plan);

/*
 * Returns a count on the scale of a plot: unchanged, or with --percent as a percentage of the
 * total, in units of 10^-PRINT_PERCENT_DECIMALS; at least 1 if it is not 0. Pure.
 */
#define PRINT_PERCENT_DECIMALS 8
uint64_t print_scale_number(const struct print_options *options, uint64_t count, uint64_t total);

/* Returns the element of these numbers, for their axis. Pure. */
struct element print_scale_element(const struct print_options *options, const struct plan *plan);

/*
 * Writes such a number and a NUL, and returns its length: a count like axis_write, a percentage
 * with at most four decimal places, unless it needs more to differ from 0.
 */
size_t print_scale_label(char out[AXIS_LABEL_SIZE], const struct print_options *options,
                         const struct plan *plan, __int128 number, bool is_in_picture);

/*
 * Writes a text of the user, at most `columns` terminal columns, with '?' for unprintable bytes.
 * Returns the number of columns written.
 */
size_t print_columns(struct writer *writer, const char *text, size_t columns);

/* Returns the format in the options, or the default for standard output. */
const struct print_format *print_rows_format(const struct print_options *options);

/*
 * Returns the number of bins of a result whose bins depend on its values (range_bins of plan.h).
 * Bins of round widths are at most the lines of the format. Reads the environment.
 */
uint64_t print_range_bins(const struct print_options *options, const struct plan *plan);

/* Returns whether a result in this format begins with a header row. */
bool print_has_header(const struct print_options *options, const struct print_format *format);

/* Write a word of the format's lines, and the start and end of a result. */
void print_write_word(struct writer *writer, const struct print_format *format,
                      enum print_word word);
void print_begin(struct writer *writer, const struct print_result *result);
void print_end(struct writer *writer, const struct print_result *result);

/* The `begin` of a format with a header: writes it if the result has one here. */
void print_write_header(struct writer *writer, const struct print_result *result);

/* The `rows` of a format that has a line for each row, each percentile, and the others. */
void print_delimited(struct writer *writer, const struct print_input *input);

/* The `column` of results of histogram and uniq. Pure. */
struct print_column print_rows_column(const struct print_result *result, size_t i);

/* Like print_rows_format, but returns tsv for values and groups that a plot cannot show. */
const struct print_format *print_plan_format(const struct print_options *options,
                                             const struct plan *plan);

/*
 * Writes a histogram of unread rows with these options, which have a format. The writer records
 * write errors. Fails with STATUS_DATA if there is no memory.
 */
enum status print_rows(struct writer *writer, const struct rows *rows,
                       const struct print_options *options, struct failure *failure);

/* Writes a line for each row, in a format of lines: tsv, csv, json, ... */
void print_lines(struct writer *writer, const struct print_input *input);

/*
 * Writes the rows with `write`, which several threads call for distinct parts of a large input. Its
 * output for a row must not depend on other rows.
 */
void print_rows_in_parts(struct writer *writer, const struct print_input *input,
                         void (*write)(struct writer *writer, const struct print_input *part));

#endif
