/* The operations: op_<name>, defined in op_<name>.c, and the modes of some. */
#ifndef GPUHIST_OPERATIONS_H
#define GPUHIST_OPERATIONS_H

#include "partial/operation.h"

#define OPERATION_DECLARE(id, label) extern const struct operation op_##label;
OPERATIONS(OPERATION_DECLARE)
#undef OPERATION_DECLARE

extern const struct operation op_automatic; /* histogram with bins that the values determine */
extern const struct operation op_groups;    /* reduce and count with --by */

struct uniq;

/*
 * Writes the rows of a finished struct uniq, as a state of uniq and one of reduce have them. Fails
 * with STATUS_DATA if not all could be read.
 */
enum status op_uniq_save_rows(struct state_writer *state, const struct uniq *uniq,
                              struct failure *failure);

#endif
