/*
 * Checkpoints: one thread stops a group of threads for a moment, to use what they share. Threads of
 * the group work between checkpoint_enter and checkpoint_leave. They should leave before they wait
 * for anything that may take long.
 *
 * All functions but checkpoint_init and checkpoint_destroy are thread-safe, but only one thread may
 * begin and end checkpoints.
 */
#ifndef GPUHIST_CHECKPOINT_H
#define GPUHIST_CHECKPOINT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct checkpoint {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a checkpoint has ended, or the last thread has left */
    unsigned active;        /* threads at work; guarded by the lock */
    atomic_bool wanted;     /* written with the lock held */
};

/* Prepares a checkpoint. The caller destroys it. */
void checkpoint_init(struct checkpoint *checkpoint);

/* Frees a checkpoint. No thread may be at work. */
void checkpoint_destroy(struct checkpoint *checkpoint);

/* The calling thread begins to work. Waits until the end of a checkpoint. */
void checkpoint_enter(struct checkpoint *checkpoint);

/* The calling thread ends its work, or is going to wait. */
void checkpoint_leave(struct checkpoint *checkpoint);

/* Whether a thread waits to begin a checkpoint: threads at work should leave soon. */
bool checkpoint_is_wanted(const struct checkpoint *checkpoint);

/* Begin a checkpoint: waits until all threads have left. No thread enters before its end. */
void checkpoint_begin(struct checkpoint *checkpoint);
void checkpoint_end(struct checkpoint *checkpoint);

#endif
