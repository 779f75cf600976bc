/*
 * Saves the partial of a job as a state (state.h), and loads states. This part is common to all
 * operations: the lines "operation NAME" and "type TYPE" of the definition, or "type TYPE with N
 * decimals", with weights the line "sums weight", and the first number, the number of elements, or
 * the sum of their weights. Values are multiples of 10^-N. The rest is up to the operation: the
 * struct state_operation of its row (operation.h), defined in <operation>_state.c.
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

/* How an operation's partials are saved and read back. */
struct state_operation {
    const char *name; /* in the definition */
    /* Appends the lines that say what was counted; they depend on the job alone. */
    void (*define)(struct definition *definition, const struct job *job);
    /*
     * Writes parts of the job as numbers, before the number of elements; the definition should have
     * a digest of them. NULL: there are none.
     */
    void (*attach)(struct state_writer *state, const struct job *job);
    /*
     * The inverse of both: fills in the operation's part of the job, whose element is set. It need
     * not reject unknown lines: the caller checks that `define` makes the same definition. Fails
     * with STATUS_DATA.
     */
    enum status (*recall)(struct state_reader *state, const struct definition *definition,
                          struct job *job, struct failure *failure);
    /* The number of elements of a finished partial. */
    uint64_t (*elements)(const void *partial);
    /* Writes a finished partial. */
    void (*save)(struct state_writer *state, const struct job *job, const void *partial);
    /* Fails with STATUS_DATA if `save` could not read all of the partial. NULL: it always can. */
    enum status (*check)(const void *partial, struct failure *failure);
    /*
     * Reads what `save` wrote, for `elements` elements, and adds it to the partial. Must reject
     * counts above `elements`. Fails with STATUS_DATA; part of the state may have been added then.
     * Thread-safe.
     */
    enum status (*load)(struct state_reader *state, const struct job *job, void *partial,
                        uint64_t elements, struct failure *failure);
};

extern const struct state_operation histogram_state;
extern const struct state_operation growing_histogram_state;
extern const struct state_operation uniq_state;
extern const struct state_operation reduce_state;
extern const struct state_operation count_state;
extern const struct state_operation groups_state;

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
