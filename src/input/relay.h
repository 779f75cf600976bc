/*
 * The relay of a source: which threads pull from it, and the chunks that they hand each other.
 *
 * An input that cannot be divided, such as one frame, is decoded by one thread that stays: a
 * decoder that moves between cores drags its window along. While there are threads without an input
 * of their own, that thread hands its chunks to them instead of counting them: it puts a chunk,
 * with the memory that holds it, in a queue, and takes other memory for the next one. How many
 * threads take part follows from how many chunks wait in the queue. If it is full, the thread
 * counts a chunk itself.
 *
 * All functions are thread-safe, except relay_init and relay_destroy.
 */
#ifndef GPUHIST_RELAY_H
#define GPUHIST_RELAY_H

#include "lib/status.h"
#include "value/chunk.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most chunks that wait in a queue, and the most buffers that are kept for it. */
#define RELAY_ITEMS 64

/* A chunk that was handed over. */
struct relay_item {
    struct chunk chunk;
    struct chunk_memory memory; /* which holds it */
};

struct relay {
    pthread_mutex_t lock;   /* guards all below */
    pthread_cond_t joining; /* `wanted` or `ended` has changed, or a thread has left */
    unsigned joined;        /* threads that pull */
    unsigned wanted;        /* how many may; UINT_MAX: all */
    bool ended;             /* none may join any more */

    pthread_cond_t changed;   /* `events` has */
    uint64_t events;          /* how often there was something new for threads that wait */
    unsigned idle;            /* threads that wait for that */
    struct relay_item *items; /* [RELAY_ITEMS], a ring; NULL before the first is handed over */
    size_t first;
    size_t count;
    struct chunk_memory spares[RELAY_ITEMS]; /* memory that holds no chunk */
    size_t spare_count;
};

/* Initialises a relay that lets `wanted` threads join. The caller destroys it. */
void relay_init(struct relay *relay, unsigned wanted);

/* Frees what it holds. No thread may be using it. */
void relay_destroy(struct relay *relay);

/* Waits until another thread may join, and returns true; or false once none may any more. */
bool relay_join(struct relay *relay);

/* A thread that has joined stops pulling; another may join instead. */
void relay_leave(struct relay *relay);

/* Lets `more` threads join, UINT_MAX: all; or 0: none any more. */
void relay_let_join(struct relay *relay, unsigned more);

/* How many threads pull, and how many may. */
struct relay_threads {
    unsigned joined;
    unsigned wanted;
};
struct relay_threads relay_threads(struct relay *relay);

/*
 * Puts a chunk, which is in the buffer, in the queue. The buffer then has other memory. `busy` is
 * the number of inputs that a thread decodes or may begin; for each thread beyond that number two
 * chunks wait.
 * Returns false and does nothing if the queue is that full, if there is no memory, or if that of
 * the buffer cannot be exchanged. Lets another thread join if those that take chunks cannot keep
 * up, or if there are none.
 */
bool relay_hand(struct relay *relay, struct chunk_buffer *buffer, const struct chunk *chunk,
                size_t busy);

/*
 * Takes the oldest chunk before the position `stop` from the queue to the buffer, and drops those
 * from there on. *chunk is empty if there is none. If the memory of the buffer cannot be exchanged,
 * the chunk is copied; fails as the buffer's `grow` if it is too long.
 */
enum status relay_take(struct relay *relay, uint64_t stop, struct chunk_buffer *buffer,
                       struct chunk *chunk, struct failure *failure);

/* Returns a number that changes whenever there is something new for threads that wait. */
uint64_t relay_events(struct relay *relay);

/* Waits until relay_events returns another number than `events`. */
void relay_wait(struct relay *relay, uint64_t events);

/* There is something new, for one of the threads that wait or for all. */
void relay_notify(struct relay *relay, bool all);

#endif
