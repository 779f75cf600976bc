/*
 * Prints the result of a plan, from its store (store.h): the rows (print_rows.h) or named values
 * (print_values.h) of each group of each value column; and on stderr the notes about it.
 *
 * The aggregate is finalized. Not thread-safe.
 */
#ifndef GPUHIST_RESULT_H
#define GPUHIST_RESULT_H

#include "result/print.h"

struct writer;

/*
 * Writes the result. The writer records write errors. Fails with STATUS_DATA if there is no memory,
 * or if a part of the result cannot be read.
 */
enum status result_print(struct writer *writer, const struct plan *plan, const void *aggregate,
                         const struct print_options *options, struct failure *failure);

/* Fails with STATUS_DATA if a requested value does not exist, such as the mean of no values. */
enum status result_check(const struct plan *plan, const void *aggregate, struct failure *failure);

/* With --outside=report: prints the number of out-of-range values, if there are any. */
void result_report(const struct plan *plan, const void *aggregate);

/*
 * Prints notes on options that would show the result better, and on parts that the format cannot
 * show. `of_states`: the result is that of merge, which has few options.
 */
void result_note(const struct plan *plan, const void *aggregate,
                 const struct print_options *options, bool of_states);

#endif
