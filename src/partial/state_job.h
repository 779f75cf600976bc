/*
 * Saves the partial of a job as a state (state.h), and loads states. This part is common to all
 * operations: the lines "operation NAME" and "type TYPE" of the definition, or "type TYPE with N
 * decimals", with weights the line "sums weight", and the first number, the number of elements, or
 * the sum of their weights. Values are multiples of 10^-N. The rest is up to the operation
 * (operation.h).
 *
 * A state does not say whether the input was text or binary, nor its byte order.
 *
 * state_load is thread-safe on distinct readers, also for one partial. The other functions are not:
 * no other thread may use the partial.
 */
#ifndef GPUHIST_STATE_JOB_H
#define GPUHIST_STATE_JOB_H

#include "base/status.h"
#include "job/job.h"
#include "partial/definition.h"
#include "partial/state.h"

#include <stdint.h>

struct writer;

/*
 * Writes the finished partial of a job, whose operation must have a state, to `writer`, which keeps
 * errors of writing. Fails with STATUS_DATA if there is no memory, or if the partial cannot be
 * read; what is written is then no state.
 */
enum status state_save(struct writer *writer, const struct job *job, const void *partial,
                       struct failure *failure);

/*
 * Begins the next state of the file and makes its definition and its job; *found is false if there
 * are no more. Fails as the functions of state.h do. The caller destroys the definition and the
 * job, also after a failure.
 */
enum status state_recall(struct state_reader *state, struct definition *definition, struct job *job,
                         bool *found, struct failure *failure);

/*
 * Reads the rest of the state and adds it to the partial of a job with the same definition; adds
 * its elements to *elements. Fails likewise, and if *elements would be 2^64 or more. The partial
 * makes no result after a failure, or if it has 2^64 elements or more.
 */
enum status state_load(struct state_reader *state, const struct job *job, void *partial,
                       uint64_t *elements, struct failure *failure);

#endif
