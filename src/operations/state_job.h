/*
 * Saving a job's partial as a state (state.h), and reading states back. What all states have in
 * common is done here: of the definition, the lines "operation NAME" and "type TYPE"; of the
 * numbers, the first: how many elements were counted. The rest is the operation's own, the struct
 * state_operation of its row (operation.h), which stands in <operation>_state.c.
 *
 * Whether the input was text or binary, and in which byte order, is forgotten.
 *
 * Not thread-safe: nobody else uses the partial.
 */
#ifndef GPUHIST_STATE_JOB_H
#define GPUHIST_STATE_JOB_H

#include "base/status.h"
#include "job/job.h"
#include "operations/definition.h"
#include "operations/state.h"

#include <stdint.h>

struct writer;

/* How an operation's partials are saved and read back. */
struct state_operation {
    const char *name; /* in the definition */
    /* Appends the lines that say what was counted, all of which the job knows. */
    void (*define)(struct definition *definition, const struct job *job);
    /*
     * Writes what of the job is no text; NULL: there is none. A digest of it should stand in the
     * definition.
     */
    void (*attach)(struct state_writer *state, const struct job *job);
    /*
     * The opposite of the two: makes the operation's part of the job, whose element is there. May
     * be lenient with lines: that `define` makes the same again is checked. Fails with STATUS_DATA.
     */
    enum status (*recall)(struct state_reader *state, const struct definition *definition,
                          struct job *job, struct failure *failure);
    /* How many elements a settled partial has. */
    uint64_t (*elements)(const void *partial);
    /* Writes a settled partial. */
    void (*save)(struct state_writer *state, const struct job *job, const void *partial);
    /*
     * Reads what `save` wrote and adds it to the partial, in which `elements` more than before will
     * not overflow; nothing may be above that. Fails with STATUS_DATA.
     */
    enum status (*load)(struct state_reader *state, const struct job *job, void *partial,
                        uint64_t elements, struct failure *failure);
};

extern const struct state_operation histogram_state;
extern const struct state_operation growing_histogram_state;
extern const struct state_operation reduce_state;
extern const struct state_operation count_state;

/*
 * Writes the settled partial of a job, whose operation can be saved, to `writer`, which keeps its
 * errors. Fails with STATUS_DATA if there is no memory.
 */
enum status state_save(struct writer *writer, const struct job *job, const void *partial,
                       struct failure *failure);

/*
 * Begins the next state of the file and makes its definition and its job; *found is false if there
 * is none. Fails as the functions of state.h do. The caller destroys both, also after failure.
 */
enum status state_recall(struct state_reader *state, struct definition *definition, struct job *job,
                         bool *found, struct failure *failure);

/*
 * Reads the rest of the state, to the end, and adds it to the partial of a job with the same
 * definition, and its elements to *elements, those that the partial has. Fails likewise, and if
 * they were 2^64 or more.
 */
enum status state_load(struct state_reader *state, const struct job *job, void *partial,
                       uint64_t *elements, struct failure *failure);

#endif
