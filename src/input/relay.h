/*
 * The relay of a source: it admits the threads that pull from the source, and passes chunks between
 * them.
 *
 * One thread decodes an input that cannot be divided, such as one frame, to its end: a decoder that
 * moves between cores drags its window along. While other threads have no input of their own, that
 * thread hands its chunks to them instead of counting them: it puts a chunk with its memory in a
 * queue, and takes other memory for the next one. The number of waiting chunks determines the
 * number of threads. If the queue is full, the thread counts a chunk itself.
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

/* Maximum number of chunks in a queue, and of spare buffers. */
#define RELAY_ITEMS 64

/* A chunk that was handed over. */
struct relay_item {
    struct chunk chunk;
    struct chunk_memory memory; /* the memory of the chunk; owned */
};

struct relay {
    pthread_mutex_t lock;   /* guards the members below */
    pthread_cond_t joining; /* `wanted` or `ended` has changed, or a thread has left */
    unsigned joined;        /* number of threads that pull */
    unsigned wanted;        /* maximum number of threads that pull; UINT_MAX: all */
    bool ended;             /* no thread may join any more */

    pthread_cond_t changed;   /* `events` has changed */
    uint64_t events;          /* number of events for waiting threads so far */
    unsigned idle;            /* number of waiting threads */
    struct relay_item *items; /* [RELAY_ITEMS], a ring, owned; NULL before the first chunk */
    size_t first;
    size_t count;
    struct chunk_memory spares[RELAY_ITEMS]; /* memory without a chunk; owned */
    size_t spare_count;
};

/* Initialises a relay that lets `wanted` threads join. The caller destroys it. */
void relay_init(struct relay *relay, unsigned wanted);

/* Frees its memory. No thread may be using it. */
void relay_destroy(struct relay *relay);

/* Waits until this thread may join, and returns true; false once no thread may join any more. */
bool relay_join(struct relay *relay);

/* A thread that has joined stops pulling; another may join instead. */
void relay_leave(struct relay *relay);

/* Lets `more` further threads join. UINT_MAX: all; 0: none any more. */
void relay_let_join(struct relay *relay, unsigned more);

/* Number of threads that pull, and its maximum. */
struct relay_threads {
    unsigned joined;
    unsigned wanted;
};
struct relay_threads relay_threads(struct relay *relay);

/*
 * Puts a chunk, which is in the buffer, in the queue. The buffer then has other memory. `busy` is
 * the number of inputs that a thread decodes or may begin; for each thread beyond that number two
 * chunks may wait. Returns false and does nothing if the queue is that full, if there is no memory,
 * or if the buffer's memory cannot be exchanged. Lets another thread join if the threads that take
 * chunks cannot keep up, or if there are none.
 */
bool relay_hand(struct relay *relay, struct chunk_buffer *buffer, const struct chunk *chunk,
                size_t busy);

/*
 * Moves the oldest chunk before the position `stop` from the queue to the buffer, and drops chunks
 * after it. *chunk is empty if there is none. If the memory of the buffer cannot be exchanged, the
 * chunk is copied; fails like the buffer's `grow` if the chunk is too long.
 */
enum status relay_take(struct relay *relay, uint64_t stop, struct chunk_buffer *buffer,
                       struct chunk *chunk, struct failure *failure);

/* Returns a number that changes at each event for waiting threads. */
uint64_t relay_events(struct relay *relay);

/* Waits until relay_events returns another number than `events`. */
void relay_wait(struct relay *relay, uint64_t events);

/* Signals an event to one waiting thread or to all. */
void relay_notify(struct relay *relay, bool all);

#endif
