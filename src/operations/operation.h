/*
 * The table of operations. An operation is a monoid: its partial begins empty, engines absorb
 * chunks into it and merge, and in the end it is checked and printed. What computes it on an engine
 * stands in that engine's own table, by the same id; how it is printed, in print.c's.
 *
 * A row is defined beside its partial, as operation_<name> in <name>.c.
 */
#ifndef GPUHIST_OPERATION_H
#define GPUHIST_OPERATION_H

#include "base/status.h"
#include "job/job.h"

struct state_operation;

struct operation {
    const char *name;
    const char *alias; /* a shorter name, or NULL */
    const char *help;  /* for --help: what it prints; NULL: as the one before of the same name, */
                       /* which users ask for */
    const char *usage; /* for its own --help: its command line, then lines that tell more */

    /* Makes an empty partial, to be shared by all workers; checks that the memory is there. */
    enum status (*create)(const struct job *job, void **partial, struct failure *failure);
    /*
     * NULL, or for an operation that is *ordered*, one that releases results as the stream goes:
     * releases nothing more, and lets nobody wait for a chunk that will not come. Thread-safe.
     */
    void (*stop)(void *partial);
    /*
     * When all that was read, `elements` elements, is in the partial: checks and settles it, so
     * that it can be printed. More may be added then, and it be settled again.
     */
    enum status (*finish)(void *partial, const struct job *job, uint64_t elements,
                          struct failure *failure);
    /* Tells on stderr what a settled partial holds beside the result; NULL: nothing. */
    void (*report)(const void *partial);
    /* After the result was printed: fails where something asked for has no value; NULL: never. */
    enum status (*verdict)(const struct job *job, const void *partial, struct failure *failure);
    /* Tells on stderr more about a settled partial, for --stats; NULL: nothing. */
    void (*stats)(const void *partial);
    /* How a partial is saved and loaded (state_job.h), in <name>_state.c; NULL: it cannot be. */
    const struct state_operation *state;
    /* Frees a partial; NULL is allowed. */
    void (*destroy)(void *partial);
};

#define OPERATION_DECLARE(id, label) extern const struct operation operation_##label;
OPERATIONS(OPERATION_DECLARE)
#undef OPERATION_DECLARE

extern const struct operation *const operations[OPERATION_IDS];

/* Finds the operation of that name or alias and stores its id; false if there is none. */
bool operation_find(const char *name, enum operation_id *id);

#endif
