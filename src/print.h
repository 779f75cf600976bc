/*
 * Results: the only writers of standard output. How an operation is printed stands in
 * print_<operation>.c; each format of a histogram is a row of a table and a file, print_<format>.c.
 *
 * Nothing here is thread-safe.
 */
#ifndef GPUHIST_PRINT_H
#define GPUHIST_PRINT_H

#include "job.h"
#include "status.h"

#include <stdbool.h>

struct histogram;
struct print_format;
struct writer;

struct print_options {
    const struct print_format *format; /* NULL: tsv */
    const char *output;                /* the file to write to; NULL: standard output */
    bool zeros;                        /* empty bins, too */
    const char *purged;                /* the file for purged elements; NULL: nowhere */
    const char *save;                  /* the file for the state (state.h), "-"; NULL: nowhere */
};

/* Where a result is being written, from print_begin to print_end. */
struct print_output {
    struct writer *result; /* NULL: opened when there is a (next) result */
    struct writer *purged; /* NULL: not wanted */
    struct writer *state;  /* NULL: opened when there is a (next) state */
};

/* How an operation is printed. */
struct print_operation {
    /* Connects a partial that writes as the stream goes with its writers; NULL: it does not. */
    void (*connect)(void *partial, const struct print_output *output);
    /* Writes the finished partial; NULL: all is written. Errors stay in the writer. */
    void (*result)(struct writer *writer, const struct job *job, const void *partial,
                   const struct print_options *options);
};

#define PRINT_DECLARE(id, label) extern const struct print_operation print_##label;
OPERATIONS(PRINT_DECLARE)
#undef PRINT_DECLARE

/* How a finished histogram is written. Errors stay in the writer. */
struct print_format {
    const char *name;
    bool has_lines; /* it is text */
    void (*histogram)(struct writer *writer, const struct job *job,
                      const struct histogram *histogram, const struct print_options *options);
};

extern const struct print_format print_tsv;
extern const struct print_format print_raw;

/* Finds the format of that name; false if there is none. */
bool print_format_find(const char *name, const struct print_format **format);

/*
 * Whether the result can go where the options say, so that a bad name is told before the work.
 * Fails with STATUS_DATA, or STATUS_USAGE if two results would go to one place.
 */
enum status print_check(const struct print_options *options, struct failure *failure);

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
 * If `status`, that of the run, is STATUS_OK, writes the finished partial and completes the output;
 * fails with STATUS_DATA if not all of it was written. Else gives the output up and returns
 * `status`.
 */
enum status print_end(struct print_output *output, const struct job *job, const void *partial,
                      const struct print_options *options, enum status status,
                      struct failure *failure);

/* Writes text to standard output. */
enum status print_text(const char *text, struct failure *failure);

/* The version; and the version, then a line about each engine: whether it can run, and why not. */
enum status print_version(struct failure *failure);
enum status print_info(struct failure *failure);

#endif
