/* Runs parts of a piece of work on several threads. */
#ifndef GPUHIST_PARALLEL_H
#define GPUHIST_PARALLEL_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Like pthread_create, but the size of the stack does not depend on `ulimit -s`. Thread-safe. */
int parallel_start_thread(pthread_t *thread, void *(*run)(void *argument), void *argument);

/*
 * Calls work(context, part) once for each part from 0 to parts - 1, and returns when all calls have
 * returned. The calls run on the calling thread and on up to threads - 1 others, as many as can be
 * started; each thread takes the next part that is left. Thread-safe.
 */
void parallel_run(unsigned threads, size_t parts, void (*work)(void *context, size_t part),
                  void *context);

/*
 * Returns the useful number of threads for a piece of work: at most `wanted` (0: the number of
 * CPUs), each with at least `min_items` > 0 of its items, and at least 1. Thread-safe.
 */
unsigned parallel_threads(unsigned wanted, uint64_t items, uint64_t min_items);

#endif
