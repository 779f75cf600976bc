/*
 * Prints named values, the results of reduce and count: in tsv a line for each, or for a single one
 * only the value; in csv a header and a line; in json and jsonl an object. Groups are a line each
 * in tsv and csv, an array of objects in json, one object per line in jsonl. Not thread-safe.
 */
#ifndef GPUHIST_PRINT_VALUES_H
#define GPUHIST_PRINT_VALUES_H

#include "aggregate/reduce.h"
#include "result/print.h"

#include <stddef.h>

struct groups;
struct writer;

/* U+FFFD, which replaces a byte that is not UTF-8 in json. */
#define PRINT_REPLACEMENT "\xef\xbf\xbd"

/* Number of prefixes "by_" of the names of groups in json and jsonl. */
struct print_prefixes {
    unsigned counts[TEXT_COLUMNS_MAX]; /* [group_count] of the plan */
};

/*
 * Returns the column of the counts, whose name is plan_count_name, with the prefix "sum_" if
 * another column of histogram and uniq has that name. Pure.
 */
struct print_column print_sums_column(const struct plan *plan);

/* Returns the number of values of each group: reductions or predicates. Pure. */
size_t print_values_count(const struct plan *plan);

/* Returns the column of value i: a reduction, or a predicate with its argument. Pure. */
struct print_column print_values_value(const struct plan *plan, size_t i);

/* Returns whether a column has that name. Pure. */
bool print_column_is(const struct print_column *column, const char *name);

/* Returns whether a group has value i. Pure. */
bool print_values_has(const struct plan *plan, const struct reduce_values *found, size_t i);

/* Returns the column of a plan's groups with that index. Pure. */
struct print_column print_group_column(const struct plan *plan, size_t group);

/*
 * Writes the name of a column as a field, like in messages with '?' for unprintable bytes; with
 * has_names as a JSON string.
 */
void print_write_name(struct writer *writer, const struct print_column *column,
                      const struct print_format *format);

/*
 * Stores the minimum number of prefixes that make the names distinct from the other members of the
 * format's objects, and from earlier groups. `column` is that of the options. Pure.
 */
void print_find_prefixes(struct print_prefixes *prefixes, const struct plan *plan,
                         const struct print_format *format, const char *column);

/*
 * Writes the values of the group columns of a row (groups.h), in objects as members, each with a
 * separator after it.
 */
void print_write_group(struct writer *writer, const struct groups *groups, const uint64_t *row,
                       const struct print_prefixes *prefixes, const struct print_format *format);

/* Writes a text of any bytes as a field of a format of lines, escaped and quoted as necessary. */
void print_write_text(struct writer *writer, const char *text, size_t bytes,
                      const struct print_format *format);

/* Returns whether a text is valid UTF-8 (Unicode 15, table 3-7). Pure. */
bool print_text_is_utf8(const char *text, size_t bytes);

/* Returns the format of named values. */
const struct print_format *print_values_format(const struct print_options *options);

/*
 * Writes the values of all groups of a finalized aggregate. The writer records write errors. Fails
 * with STATUS_DATA if there is no memory.
 */
enum status print_values(struct writer *writer, const struct plan *plan, const void *aggregate,
                         const struct print_options *options, struct failure *failure);

#endif
