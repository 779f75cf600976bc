/*
 * Checkpoints: moments in which none of some threads is at work, so that another one can look at
 * what they share. A thread works between checkpoint_enter and checkpoint_leave; it should leave
 * before it waits for anything that may take long.
 *
 * All functions but checkpoint_init and checkpoint_destroy are thread-safe; one thread alone begins
 * and ends checkpoints.
 */
#ifndef GPUHIST_CHECKPOINT_H
#define GPUHIST_CHECKPOINT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct checkpoint {
    pthread_mutex_t lock;
    pthread_cond_t
        changed;        /* signalled when a checkpoint has ended, or nobody is at work any more */
    unsigned active;    /* threads at work; guarded by the lock */
    atomic_bool wanted; /* written with the lock held */
};

void checkpoint_init(struct checkpoint *checkpoint);

/* No thread may be at work. */
void checkpoint_destroy(struct checkpoint *checkpoint);

/* The calling thread begins to work; waits while there is a checkpoint. */
void checkpoint_enter(struct checkpoint *checkpoint);

/* It has ended, or is going to wait. */
void checkpoint_leave(struct checkpoint *checkpoint);

/* Whether a checkpoint is waited for: a thread at work had better leave soon. */
bool checkpoint_is_wanted(const struct checkpoint *checkpoint);

/* Waits until all threads have left; until the end of the checkpoint none will enter. */
void checkpoint_begin(struct checkpoint *checkpoint);
void checkpoint_end(struct checkpoint *checkpoint);

#endif
