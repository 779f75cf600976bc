/*
 * The CPU engine: one thread for each core, with a buffer that fits its L2 and a partial of its
 * own. It calls operations only through their struct cpu_operation.
 */
#ifndef GPUHIST_CPU_ENGINE_H
#define GPUHIST_CPU_ENGINE_H

#include "engine/engine.h"

/* The engine's row of the table of engines. */
extern const struct engine cpu_engine;

/*
 * One operation on a CPU thread, defined in cpu_<operation>.c. `state` belongs to one thread, so
 * calls with distinct states may run at the same time. All fail with STATUS_DATA.
 */
struct cpu_operation {
    /*
     * Makes the state of a thread that adds to the shared `partial`. The caller closes it, also
     * after a failure. The job and the partial must outlive it.
     */
    enum status (*open)(const struct job *job, void *partial, void **state,
                        struct failure *failure);
    /* Counts the elements of a chunk. The caller may reuse the chunk's memory afterwards. */
    enum status (*absorb)(void *state, const struct chunk *chunk, struct failure *failure);
    /* Merges what the thread has counted into the shared partial. The thread may absorb more. */
    enum status (*finish)(void *state, struct failure *failure);
    /* Frees a state. NULL is allowed. */
    void (*close)(void *state);
};

#define CPU_ENGINE_DECLARE(id, label) extern const struct cpu_operation cpu_##label;
OPERATIONS(CPU_ENGINE_DECLARE)
#undef CPU_ENGINE_DECLARE

#endif
