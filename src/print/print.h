/*
 * Results: the only writers of standard output. How an operation is printed stands in
 * print_<operation>.c; the formats of a histogram, in print_rows.h.
 *
 * Nothing here is thread-safe.
 */
#ifndef GPUHIST_PRINT_H
#define GPUHIST_PRINT_H

#include "base/status.h"
#include "job/job.h"
#include "operations/quantiles.h"

struct engine;

#include <stdbool.h>
#include <stdint.h>

struct print_format;
struct writer;

/* The order of a histogram's rows. */
enum print_sort {
    PRINT_SORT_DEFAULT, /* by bin, and those of `top` by count */
    PRINT_SORT_BIN,
    PRINT_SORT_COUNT, /* the greatest first; equal ones by bin */
};

struct print_options {
    const char *output; /* the file to write to; NULL: standard output */
    bool has_output;    /* somebody said where, if only that it is standard output */
    const char *purged; /* the file for purged elements; NULL: nowhere */
    const char *save;   /* the file for the state (state.h), "-"; NULL: nowhere */

    unsigned threads; /* the most that print; 0: as many as pay */

    /* histogram */
    const struct print_format *format; /* NULL: not given */
    bool plot;                         /* as bars in the terminal */
    bool zeros;                        /* empty bins, too */
    uint64_t top;                      /* the rows with the greatest counts; 0: all */
    enum print_sort sort;
    bool percent;    /* a column: the share in all values counted */
    bool cumulative; /* a column: the running total of the counts printed */
    struct quantiles quantiles;
};

/* Where a result is being written, from print_begin to print_end. */
struct print_output {
    struct writer *result; /* NULL: opened when there is a (next) result */
    struct writer *purged; /* NULL: not wanted */
    struct writer *state;  /* NULL: opened when there is a (next) state */
};

/* How an operation is printed. */
struct print_operation {
    /* Gives a partial that writes during the run its writers; NULL: it writes nothing then. */
    void (*connect)(void *partial, const struct print_output *output);
    /*
     * Writes the finished partial; NULL: all is already written. The writer keeps errors of
     * writing. Fails with STATUS_DATA if there is no memory.
     */
    enum status (*result)(struct writer *writer, const struct job *job, const void *partial,
                          const struct print_options *options, struct failure *failure);
};

#define PRINT_DECLARE(id, label) extern const struct print_operation print_##label;
OPERATIONS(PRINT_DECLARE)
#undef PRINT_DECLARE

/* Finds the format of a histogram of that name; false if there is none. */
bool print_format_find(const char *name, const struct print_format **format);

/* Whether the format takes the other options. Fails with STATUS_USAGE. */
enum status print_check_format(const struct print_options *options, struct failure *failure);

/*
 * Whether the result can go where the options say, so that a bad name is told before the work.
 * Fails with STATUS_DATA, or STATUS_USAGE if two results would go to one place.
 */
enum status print_check(const struct print_options *options, struct failure *failure);

/*
 * Whether an input is not where results are written to while it is read, so that they would become
 * input. Fails with STATUS_USAGE.
 */
enum status print_check_input(const struct print_options *options, const char *input,
                              struct failure *failure);

/*
 * Prepares for the result of the job, before there is any: opens where an operation writes as the
 * stream goes. Fails with STATUS_DATA. In any case print_end is to be called.
 */
enum status print_begin(struct print_output *output, const struct job *job, void *partial,
                        const struct print_options *options, struct failure *failure);

/*
 * Whether the result is not wanted: the state takes its place on standard output.
 */
bool print_is_dropped(const struct print_options *options);

/*
 * While the run goes on: writes the settled partial, all of it at once. Where results stand one
 * behind the other, an empty line follows each but the last; the format raw has no lines. A state
 * is saved if it then replaces the one before; where states would stand one behind the other, they
 * would be added up. Fails with STATUS_DATA.
 */
enum status print_so_far(struct print_output *output, const struct job *job, const void *partial,
                         const struct print_options *options, struct failure *failure);

/*
 * While the run begins again with a new partial: of an operation that writes as the stream goes,
 * what has been written is not written twice.
 */
void print_restart(struct print_output *output, const struct job *job, void *partial);

/*
 * If `status`, that of the run, is STATUS_OK, writes the finished partial and completes the output;
 * fails with STATUS_DATA if not all of it was written. Else gives the output up and returns
 * `status`.
 */
enum status print_end(struct print_output *output, const struct job *job, const void *partial,
                      const struct print_options *options, enum status status,
                      struct failure *failure);

/* Writes text to standard output. */
enum status print_text(const char *text, struct failure *failure);

/* The version. */
enum status print_version(struct failure *failure);

/* The version, and a line for each engine of the table: whether it can run here, or why not. */
enum status print_info(const struct engine *const *table, struct failure *failure);

#endif
