/*
 * Prints named values, the results of reduce and count: in tsv a line for each, or for a single one
 * the value alone; in csv a header and a line; in json and jsonl an object. Of groups in tsv and
 * csv a line each, in json an array of objects, in jsonl an object a line. Not thread-safe.
 */
#ifndef GPUHIST_PRINT_VALUES_H
#define GPUHIST_PRINT_VALUES_H

#include "count/reduce.h"
#include "print/print.h"

#include <stddef.h>

struct writer;

/* U+FFFD, in json for a byte that is not UTF-8. */
#define PRINT_REPLACEMENT "\xef\xbf\xbd"

/* Groups that a thread writes at a time: those of equal group / PRINT_VALUES_PART. */
#define PRINT_VALUES_PART ((size_t)2048)

/* What names of groups have in front of them in json and jsonl: "by_" so many times. */
struct print_prefixes {
    unsigned counts[TEXT_COLUMNS_MAX]; /* [group_count] of the job */
};

/* What is known of a group, or without groups of all values. */
struct print_found {
    const struct accumulators *accumulators;
    const uint64_t *row; /* of these */
    struct reduce_found found[REDUCTIONS_MAX];
    const uint64_t *group; /* a row of the group (groups.h) */
};

/* The values of a finalized partial: of each reduction or predicate of the job. */
struct print_values {
    const struct job *job;
    const void *partial;
    const struct print_options *options;
    const struct print_format *format; /* set by print_values */
    struct print_prefixes prefixes;    /* likewise */
    size_t first;  /* this and the next: groups first to groups - 1 are printed */
    size_t groups; /* 1 if the values are not of groups */
    /* Stores what is known of a group. Threads call it at the same time for groups of other parts.
     */
    void (*find)(const struct print_values *values, size_t group, struct print_found *found);
    /*
     * Writes the values of the columns of a group, in json as members, each with a separator behind
     * it. NULL: the values are not of groups.
     */
    void (*write_group)(const struct print_values *values, const struct print_found *found,
                        struct writer *writer);
};

/*
 * Returns the column of the counts, whose name is job_count_name, with "sum_" in front if it is
 * that of another column of histogram and uniq. Pure.
 */
struct print_column print_sums_column(const struct job *job);

/* Returns the column of a job's groups with that index. Pure. */
struct print_column print_group_column(const struct job *job, size_t group);

/*
 * Writes the name of a column as a field, the way messages are written, with `?` for what is not
 * printable; with has_names as a string of json.
 */
void print_write_name(struct writer *writer, const struct print_column *column,
                      const struct print_format *format);

/*
 * Stores the fewest that make the names differ from those of the other members of the objects of
 * the format, and from the groups before. `column` is that of struct print_values. Pure.
 */
void print_find_prefixes(struct print_prefixes *prefixes, const struct job *job,
                         const struct print_format *format, const char *column);

/* Writes the name of a column of groups as that of a member of a json object, with its colon. */
void print_write_group_member(struct writer *writer, const struct job *job,
                              const struct print_prefixes *prefixes, size_t group);

/* Writes a text of any bytes as a field of a format of lines, escaped and in quotes as it needs. */
void print_write_text(struct writer *writer, const char *text, size_t bytes,
                      const struct print_format *format);

/* Whether a text is valid UTF-8 (Unicode 15, table 3-7). Pure. */
bool print_text_is_utf8(const char *text, size_t bytes);

/* Returns the format of named values. */
const struct print_format *print_values_format(const struct print_options *options);

/* Writes the values. The writer records write errors. */
void print_values(struct writer *writer, const struct print_values *values);

#endif
