/*
 * Prints the result of a plan: the rows (print_rows.h) or named values (print_values.h) of each
 * group of each value column, which its store has (store.h), and says on stderr what belongs to it.
 *
 * The aggregate is finalized. Not thread-safe.
 */
#ifndef GPUHIST_RESULT_H
#define GPUHIST_RESULT_H

#include "result/print.h"

struct writer;

/*
 * Writes the result. The writer records write errors. Fails with STATUS_DATA if there is no memory,
 * or if not everything could be read.
 */
enum status result_print(struct writer *writer, const struct plan *plan, const void *aggregate,
                         const struct print_options *options, struct failure *failure);

/* Fails with STATUS_DATA if a value asked for does not exist: the mean of no values. */
enum status result_check(const struct plan *plan, const void *aggregate, struct failure *failure);

/* Prints how many values are in no bin, unless the user knows. */
void result_report(const struct plan *plan, const void *aggregate);

/*
 * Prints what other options would show better, and what the format cannot show. `of_states`: the
 * result is that of a merge, which has few options.
 */
void result_note(const struct plan *plan, const void *aggregate,
                 const struct print_options *options, bool of_states);

#endif
