/* The operations: op_<name>, defined in op_<name>.c, and the modes of some. */
#ifndef GPUHIST_STORES_H
#define GPUHIST_STORES_H

#include "partial/store.h"

#define OPERATION_DECLARE(id, label, name) extern const struct store op_##label;
OPERATIONS(OPERATION_DECLARE)
#undef OPERATION_DECLARE

extern const struct store op_automatic; /* histogram with bins that the values determine */
extern const struct store op_groups;    /* reduce and count with --by */
extern const struct store op_columns;   /* reduce and count of several value columns */

struct growing_histogram;
struct rows;
struct uniq;

/* Tells on stderr how many values lie outside the bins, if any does. */
void op_histogram_report_outside(const struct job *job, uint64_t inside, uint64_t below,
                                 uint64_t above);

/*
 * Begins the rows of a finalized automatic histogram: its bins, in plots as few as fit the
 * terminal, or in pictures the values if they are few, such as statuses. Returns the width of the
 * rows.
 */
uint64_t op_automatic_begin_rows(struct rows *rows, const struct job *job,
                                 const struct growing_histogram *histogram,
                                 const struct print_options *options);

/*
 * Writes the rows of a finalized struct uniq, as a state of uniq and one of reduce have them. Fails
 * with STATUS_DATA if not all could be read.
 */
enum status op_uniq_save_rows(struct state_writer *state, const struct uniq *uniq,
                              struct failure *failure);

#endif
