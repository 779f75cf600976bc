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
};

/* How the finished partial of an operation is written. Errors stay in the writer. */
struct print_operation {
    void (*result)(struct writer *writer, const struct job *job, const void *partial,
                   const struct print_options *options);
};

#define PRINT_DECLARE(id, label) extern const struct print_operation print_##label;
OPERATIONS(PRINT_DECLARE)
#undef PRINT_DECLARE

/* How a finished histogram is written. Errors stay in the writer. */
struct print_format {
    const char *name;
    void (*histogram)(struct writer *writer, const struct job *job,
                      const struct histogram *histogram, const struct print_options *options);
};

extern const struct print_format print_tsv;
extern const struct print_format print_raw;

/* Finds the format of that name; false if there is none. */
bool print_format_find(const char *name, const struct print_format **format);

/* Whether the result can go where the options say, so that a bad name is told before the work. */
enum status print_check(const struct print_options *options, struct failure *failure);

/* Writes the finished partial of the job. Fails with STATUS_DATA if not all of it was written. */
enum status print_result(const struct job *job, const void *partial,
                         const struct print_options *options, struct failure *failure);

/* Writes text to standard output. */
enum status print_text(const char *text, struct failure *failure);

/* The version; and the version, then a line about each engine: whether it can run, and why not. */
enum status print_version(struct failure *failure);
enum status print_info(struct failure *failure);

#endif
