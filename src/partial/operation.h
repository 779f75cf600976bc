/*
 * The table of operations. An operation is a commutative monoid: its partial begins empty, engines
 * absorb chunks and merge them into it, and at the end it is finished and printed. Each engine and
 * print.c have a table of their own, by the same id, for computing and printing it.
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
    const char *help;  /* for --help: what it prints; NULL: the row is not listed there */
    const char *usage; /* for its own --help: its command line, then its description */

    /*
     * Makes an empty partial, which all workers share. Fails with STATUS_DATA if there is not
     * enough memory. The caller destroys it; the job must outlive it.
     */
    enum status (*create)(const struct job *job, void **partial, struct failure *failure);
    /*
     * For an operation that is *ordered*, which writes results in stream order while it runs: makes
     * it write no more, and wakes all threads that wait for earlier chunks. NULL: it is not
     * ordered. Thread-safe.
     */
    void (*stop)(void *partial);
    /*
     * Checks that the partial holds `elements` elements, the number read, and prepares it for
     * printing: it is then *finished*. More may be added later, and then it is finished again. No
     * thread may add meanwhile. Fails with STATUS_DATA.
     */
    enum status (*finish)(void *partial, const struct job *job, uint64_t elements,
                          struct failure *failure);
    /* Prints on stderr what a finished partial holds besides the result; NULL: nothing. */
    void (*report)(const void *partial);
    /* After printing: fails with STATUS_DATA if a value asked for does not exist; NULL: never. */
    enum status (*verdict)(const struct job *job, const void *partial, struct failure *failure);
    /* Prints statistics of a finished partial on stderr, for --stats; NULL: nothing. */
    void (*stats)(const void *partial);
    /*
     * Saves and loads partials (state_job.h); defined in <name>_state.c. NULL: it cannot be saved.
     */
    const struct state_operation *state;
    /* Frees a partial; NULL is allowed. */
    void (*destroy)(void *partial);
};

#define OPERATION_DECLARE(id, label) extern const struct operation operation_##label;
OPERATIONS(OPERATION_DECLARE)
#undef OPERATION_DECLARE

/* By enum operation_id. */
extern const struct operation *const operations[OPERATION_IDS];

/* Finds the operation of that name or alias and stores its id. Returns false if there is none. */
bool operation_find(const char *name, enum operation_id *id);

/*
 * Checks that as many elements, or with weights as high a sum of them, were `counted` as were
 * `read`. Fails with STATUS_DATA, which means a bug. Thread-safe.
 */
enum status operation_check_elements(uint64_t read, uint64_t counted, struct failure *failure);

#endif
