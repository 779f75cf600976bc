/*
 * Checkpoints: one thread briefly stops a group of threads to use the data that they share. Threads
 * of the group work between checkpoint_enter and checkpoint_leave. A thread should leave before any
 * wait that may be long.
 *
 * All functions are thread-safe, but only one thread may begin and end checkpoints.
 */
#ifndef GPUHIST_CHECKPOINT_H
#define GPUHIST_CHECKPOINT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct checkpoint {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a checkpoint has ended, or the last thread has left */
    unsigned active;        /* number of threads at work; guarded by the lock */
    atomic_bool wanted;     /* written with the lock held */
};

#define CHECKPOINT_INITIALIZER                                                 \
    {                                                                          \
        .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
    }

/* Begins the work of the calling thread. Waits for the end of a checkpoint in progress. */
void checkpoint_enter(struct checkpoint *checkpoint);

/* Ends the work of the calling thread, or interrupts it for a wait. */
void checkpoint_leave(struct checkpoint *checkpoint);

/* Returns whether a thread waits to begin a checkpoint. Threads at work should then leave soon. */
bool checkpoint_is_wanted(const struct checkpoint *checkpoint);

/*
 * Begin and end a checkpoint. checkpoint_begin waits until all threads have left; none can enter
 * before checkpoint_end.
 */
void checkpoint_begin(struct checkpoint *checkpoint);
void checkpoint_end(struct checkpoint *checkpoint);

#endif
