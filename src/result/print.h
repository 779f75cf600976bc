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

/* When bars, or of groups a heat map, are drawn in the terminal. */
enum print_plot {
    PRINT_PLOT_DEFAULT, /* at a terminal: bars beside the counts of values, too */
    PRINT_PLOT_ALWAYS,
    PRINT_PLOT_NEVER,
};

/* The strings are the caller's and must live as long as the options are used. */
struct print_options {
    const char *output; /* the file of the result; NULL: standard output */
    bool has_output;    /* the user gave an output, possibly standard output */
    bool is_terminal;   /* standard output is one, and the result goes there */
    const char *purged; /* the file of purged elements, or "-"; NULL: none */
    const char *save;   /* the file of the state (state.h), or "-"; NULL: none */

    unsigned threads; /* the maximum number of threads that print; 0: all that help */

    const struct print_format *format; /* NULL: not given */
    char *const *words;     /* the command line after the program's name, up to NULL; or NULL */
    const char *value_name; /* what the input calls the values; NULL: unknown */
    bool header_out;        /* tsv: names above the lines */
    bool has_reports;       /* there are several: each says its time */
    const char *object;     /* what begins its objects (print_object_begin); NULL: only a brace */
    const char *column;     /* of several: whose values are printed; NULL: there is only one */
    bool is_next_column;    /* it is not the first */
    const char *group;  /* of a group's rows: what begins each line; NULL: there are no groups */
    size_t group_bytes; /* of these; strings may have NUL */
    bool is_next_group;

    /* histogram */
    const char *title; /* of a picture; NULL: what it shows */
    const char *label; /* of a picture's axis of values; NULL: their name */
    bool log_count;    /* a picture's counts are logarithmic */
    enum print_plot plot;
    bool zeros;         /* print empty bins, too */
    uint64_t top;       /* maximum number of rows or groups, the largest; 0: all */
    uint64_t min_count; /* only rows or groups with that count or more; 0: all */
    bool other;         /* add what `top` and `min_count` leave out */
    const char *sort;   /* rows: "bin" or "count" (descending, equal counts by bin); NULL: by bin,
                           with   `top` by count; groups: print_order.h */
    const struct print_order *leader; /* of several columns: of the one that sorts; NULL: none */
    bool percent;                     /* add a column: the share of all values counted */
    bool cumulative;                  /* add a column: the running total of the printed counts */
    struct quantiles quantiles;       /* owned; freed by options_destroy */
};

/* The open outputs, up to print_final. A zero-initialised struct has none. */
struct print_output {
    struct writer *result; /* NULL: opened for the next result */
    struct writer *purged; /* NULL: not requested */
    struct writer *state;  /* NULL: opened for the next state */
    bool redraws;          /* results replace each other on a terminal */
};

/* What begins each object of jsonl, and the object of json: a brace, and the time of a report. */
static inline const char *print_object_begin(const struct print_options *options)
{
    return options->object ? options->object : "{";
}

/* The formats of all results, after tsv, and those of bins only, after raw; `LAST` is the last. */
#define PRINT_FORMATS_OF_LINES(X)      X(csv) X(json) X(jsonl) X(markdown) X(html)
#define PRINT_FORMATS_OF_BINS(X, LAST) X(npy) X(gnuplot) LAST(svg)

/* Their names in messages, and as words. */
#define PRINT_FORMAT_NAME(name) ", " #name
#define PRINT_FORMAT_LAST(name) " or " #name
#define PRINT_FORMAT_WORD(name) " " #name
#define PRINT_NAMES_OF_LINES    "tsv" PRINT_FORMATS_OF_LINES(PRINT_FORMAT_NAME)

/* Finds the format of that name. Returns false if there is none. */
bool print_format_find(const char *name, const struct print_format **format);

/*
 * Prints a note that the output is tsv if its name ends in another format's, and none was given.
 * `has_bins`: the result can be printed in all formats.
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
 * Opens the outputs of an ordered operation, and connects the aggregate with them: it writes during
 * the run. `output` is zero-initialised. Fails with STATUS_DATA. The caller must call print_final,
 * also after a failure. Other operations have outputs from their first result on.
 */
enum status print_connect(struct print_output *output, const struct plan *plan, void *aggregate,
                          const struct print_options *options, struct failure *failure);

/* Returns whether the result is not printed because the state goes to standard output instead. */
bool print_is_dropped(const struct print_options *options);

/*
 * Writes the result so far from the finalized aggregate, and flushes it. On a stream an empty line
 * ends each text but the last; a terminal is cleared before it; a file is replaced. A state is
 * saved only if it replaces the one before: a reader would add up successive ones. Fails with
 * STATUS_DATA.
 */
enum status print_so_far(struct print_output *output, const struct plan *plan,
                         const void *aggregate, const struct print_options *options,
                         struct failure *failure);

/* Prepares for a second attempt at the run: what was already written is not written again. */
void print_reconnect(struct print_output *output, const struct plan *plan, void *aggregate);

/*
 * Ends the output. If `status`, that of the run, is STATUS_OK, writes the finalized aggregate,
 * first its state, and closes the outputs; fails with STATUS_DATA if not everything could be
 * written, or if a value asked for does not exist. Otherwise discards the outputs and returns
 * `status`.
 */
enum status print_final(struct print_output *output, const struct plan *plan, const void *aggregate,
                        const struct print_options *options, enum status status,
                        struct failure *failure);

/* Writes text to standard output. Fails with STATUS_DATA, as do the functions below. */
enum status print_text(const char *text, struct failure *failure);

/*
 * Writes to standard output the version, a line for each device of each engine in the table with
 * whether it can run here or why not, and a line for each compression format; then, for each engine
 * that does not run everything, how it and the last one, which does, run its features.
 */
enum status print_info(const struct engine *const *table, struct failure *failure);

#endif
