/*
 * Heat maps: a histogram or uniq grouped by one column, in format svg or with --plot. The groups
 * are on the x axis and the bins on the y axis. A *cell* has one or more neighbouring groups and
 * bins, and its colour shows the sum of their counts or weights.
 *
 * Not thread-safe.
 */
#ifndef GPUHIST_PRINT_HEAT_H
#define GPUHIST_PRINT_HEAT_H

#include "aggregate/groups.h"
#include "lib/status.h"
#include "result/print.h"

struct writer;

/* Returns the number of rows of cells that fit the terminal. Reads the environment. */
uint64_t print_heat_plot_lines(const struct print_options *options);

/*
 * Writes the heat map of a finalized aggregate, whose plan has one group column. `plan` is that
 * plan, or one with other bins for its values. `width` is the bin width if the plan has no bins.
 * The writer records write errors. Fails with STATUS_DATA if there is no memory.
 */
enum status print_heat(struct writer *writer, const struct groups *groups, const struct plan *plan,
                       uint64_t width, const struct print_options *options,
                       struct failure *failure);

#endif
