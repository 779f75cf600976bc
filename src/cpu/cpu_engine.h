/*
 * The CPU engine: a thread a core, each with a small buffer that stays in its L2 and a partial of
 * its own. It knows nothing of the operations but the functions below, one set for each.
 */
#ifndef GPUHIST_CPU_ENGINE_H
#define GPUHIST_CPU_ENGINE_H

#include "engine/engine.h"

extern const struct engine cpu_engine;

/* What one operation does on a CPU thread; `state` is that thread's. See cpu_<operation>.c. */
struct cpu_operation {
    enum status (*open)(const struct job *job, void *partial, void **state,
                        struct failure *failure);
    enum status (*absorb)(void *state, const struct chunk *chunk, struct failure *failure);
    /* Merges what the thread has into the shared partial; it then has nothing, and may absorb more.
     */
    enum status (*finish)(void *state, struct failure *failure);
    /* NULL is allowed. */
    void (*close)(void *state);
};

#define CPU_ENGINE_DECLARE(id, label) extern const struct cpu_operation cpu_##label;
OPERATIONS(CPU_ENGINE_DECLARE)
#undef CPU_ENGINE_DECLARE

#endif
