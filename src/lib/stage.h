/*
 * What a run does once its input is read: which stage it is in, and how much of that is done, for a
 * thread that shows it. Who works in a stage reports to a struct stage; NULL: nobody looks.
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
    _Atomic uint64_t total; /* 0: unknown, and what is done are bytes */
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

/* Adds to what is done. */
static inline void stage_add(struct stage *stage, uint64_t done)
{
    if (stage)
        atomic_fetch_add_explicit(&stage->done, done, memory_order_relaxed);
}

#endif
