/*
 * The stage of a run after its input is read, and its progress, for a thread that shows them. The
 * threads at work report to a struct stage; NULL: nobody shows it.
 *
 * Thread-safe.
 */
#ifndef GPUHIST_STAGE_H
#define GPUHIST_STAGE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct stage {
    _Atomic(const char *) name; /* "merging"; NULL: none yet */
    _Atomic uint64_t done;
    _Atomic uint64_t total; /* amount of work; 0: unknown, and `done` counts bytes */
};

/* Begins a stage. The name must be constant. */
static inline void stage_begin(struct stage *stage, const char *name, uint64_t total)
{
    if (!stage)
        return;
    atomic_store(&stage->done, 0);
    atomic_store(&stage->total, total);
    atomic_store(&stage->name, name);
}

/* Adds to the work done. */
static inline void stage_add(struct stage *stage, uint64_t done)
{
    if (stage)
        atomic_fetch_add_explicit(&stage->done, done, memory_order_relaxed);
}

#endif
