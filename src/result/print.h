/*
 * Writes results. Only this folder writes to standard output. An operation prints rows
 * (print_rows.h) or named values (print_values.h).
 *
 * Nothing here is thread-safe.
 */
#ifndef GPUHIST_PRINT_H
#define GPUHIST_PRINT_H

#include "aggregate/quantiles.h"
#include "lib/status.h"
#include "value/plan.h"

struct engine;

#include <stdbool.h>
#include <stdint.h>

struct print_format;
struct print_order;
struct writer;

/* When bars, or for groups a heat map, are drawn in the terminal. */
enum print_plot {
    PRINT_PLOT_DEFAULT, /* at a terminal, even beside the counts of values */
    PRINT_PLOT_ALWAYS,
    PRINT_PLOT_NEVER,
};

/* The strings are the caller's and must live as long as the options are used. */
struct print_options {
    const char *output; /* the file of the result; NULL: standard output */
    bool has_output;    /* the user gave an output, possibly standard output */
    bool is_terminal;   /* the result goes to standard output, which is a terminal */
    const char *purged; /* the file of dropped elements, or "-"; NULL: none */
    const char *save;   /* the file of the state (state.h), or "-"; NULL: none */

    unsigned threads; /* maximum number of threads that print; 0: all that are useful */

    const struct print_format *format; /* NULL: not given */
    char *const *words;     /* the command line after the program's name, up to NULL; or NULL */
    const char *value_name; /* the name of the values in the input; NULL: unknown */
    bool header_out;        /* tsv: print a header row */
    bool has_reports;       /* --every: there are several results, and each has its time */
    const char *object;     /* the start of each object (print_object_begin); NULL: a brace */
    const char *column;     /* the column of the values, among several; NULL: there is only one */
    bool is_next_column;    /* `column` is not the first column */
    const char *group;  /* the start of each line of a group's rows; NULL: there are no groups */
    size_t group_bytes; /* length of `group`, which may have NULs */
    bool is_next_group;

    /* histogram */
    const char *title; /* the plot title; NULL: a description of the result */
    const char *label; /* plots: the label of the axis of values; NULL: their name */
    bool log_count;    /* plots: counts have a logarithmic scale */
    enum print_plot plot;
    bool zeros;         /* print empty bins, too */
    uint64_t top;       /* print only this many rows or groups, the largest; 0: all */
    uint64_t min_count; /* print only rows or groups with this count or more; 0: all */
    bool other;         /* add a row for those that `top` and `min_count` leave out */
    const char *sort;   /* rows: "bin" or "count" (descending, equal counts by bin); NULL: by bin,
                           with `top` by count; groups: print_order.h */
    const struct print_order *leader; /* the order of the column that sorts, or NULL; not owned */
    bool percent;                     /* add a column: the share of all values counted */
    bool cumulative;                  /* add a column: the cumulative counts */
    struct quantiles quantiles;       /* the requested percentiles; options_destroy frees them */
};

/* The open outputs, until print_final. A zero-initialised struct has none. */
struct print_output {
    struct writer *result; /* NULL: the next result opens it */
    struct writer *purged; /* dropped elements; NULL: not requested */
    struct writer *state;  /* NULL: the next state opens it */
    bool redraws;          /* each result replaces the last one on a terminal */
};

/* Returns the start of an object in jsonl and json: a brace, and the time of a report. */
static inline const char *print_object_begin(const struct print_options *options)
{
    return options->object ? options->object : "{";
}

/* The formats of all results after tsv, and those of only bins after raw; LAST is the last. */
#define PRINT_FORMATS_OF_LINES(X)      X(csv) X(json) X(jsonl) X(markdown) X(html)
#define PRINT_FORMATS_OF_BINS(X, LAST) X(npy) X(gnuplot) LAST(svg)

/* The names of formats in messages, and as words. */
#define PRINT_FORMAT_NAME(name) ", " #name
#define PRINT_FORMAT_LAST(name) " or " #name
#define PRINT_FORMAT_WORD(name) " " #name
#define PRINT_NAMES_OF_LINES    "tsv" PRINT_FORMATS_OF_LINES(PRINT_FORMAT_NAME)

/* Finds the format with that name. Returns false if there is none. */
bool print_format_find(const char *name, const struct print_format **format);

/*
 * If no format was given, and the output's name has the suffix of another format, prints a note
 * that the output is tsv. `has_bins`: the result can be printed in all formats.
 */
void print_note_suffix(const struct print_options *options, bool has_bins);

/* Checks that the format supports the plan and the other options. Fails with STATUS_USAGE. */
enum status print_check_format(const struct print_options *options, const struct plan *plan,
                               struct failure *failure);

/* Fails with STATUS_DATA if an output cannot be written, with STATUS_USAGE if two are the same. */
enum status print_check(const struct print_options *options, struct failure *failure);

/*
 * Fails with STATUS_USAGE if an output is `input`, a file name or "-" (output_file_is_input).
 * `is_early`: results are written before all inputs are read.
 */
enum status print_check_input(const struct print_options *options, const char *input, bool is_early,
                              struct failure *failure);

/*
 * Opens the outputs of an ordered operation, and connects the aggregate to them: it writes during
 * the run. `output` is zero-initialised. Fails with STATUS_DATA. The caller must call print_final,
 * also after a failure. Outputs of other operations are opened for their first result.
 */
enum status print_connect(struct print_output *output, const struct plan *plan, void *aggregate,
                          const struct print_options *options, struct failure *failure);

/* Returns true if the result is not printed, because the state goes to standard output instead. */
bool print_is_dropped(const struct print_options *options);

/*
 * Writes an intermediate result from the finalized aggregate, and flushes it. On a stream an empty
 * line ends each text except the last; a terminal is cleared first; a file is replaced. A state is
 * saved only if it replaces the last one, because a reader would merge successive states. Fails
 * with STATUS_DATA.
 */
enum status print_so_far(struct print_output *output, const struct plan *plan,
                         const void *aggregate, const struct print_options *options,
                         struct failure *failure);

/* Prepares for a second attempt at the run, which skips the output already written. */
void print_reconnect(struct print_output *output, const struct plan *plan, void *aggregate);

/*
 * Ends the output. If `status`, that of the run, is STATUS_OK, writes the state and then the result
 * of the finalized aggregate, and closes the outputs; fails with STATUS_DATA on a write error, or
 * if a requested value does not exist. Otherwise discards the outputs and returns `status`.
 */
enum status print_final(struct print_output *output, const struct plan *plan, const void *aggregate,
                        const struct print_options *options, enum status status,
                        struct failure *failure);

/* Writes text to standard output. Fails with STATUS_DATA, like the functions below. */
enum status print_string(const char *text, struct failure *failure);

/*
 * Writes to standard output the version; a line for each device of each engine in the table, with
 * whether it can run here or why not; a line for each compression format; and for each engine with
 * limitations, how it and the last engine, which has none, support its features.
 */
enum status print_info(const struct engine *const *table, struct failure *failure);

#endif
