/*
 * The aggregate of operation stalin-sort: it writes the kept elements in stream order.
 *
 * The kept elements of a part of the stream are a monotone run, so merge(A, B) is A followed by B
 * from its first element that A's last does not drop. Workers sort chunks independently, in any
 * order, and submit the runs. Runs are written in stream order; a binary search merges each with
 * those before it. A run before its turn is parked if it is small, else its worker waits. The
 * thread that submits the next run writes it and the parked runs after it. Thus memory is bounded,
 * whatever the workers' speeds.
 *
 * All functions but create, connect and destroy are thread-safe.
 */
#ifndef GPUHIST_STALIN_SORT_H
#define GPUHIST_STALIN_SORT_H

#include "lib/status.h"
#include "value/chunk.h"
#include "value/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stalin_sort;
struct writer;

/* A sorted chunk. The caller owns all memory. */
struct stalin_sort_run {
    struct chunk chunk;
    const void *kept; /* its kept elements; earlier chunks may still drop the first ones */
    size_t kept_count;
    const void *purged; /* its dropped elements, in order; NULL unless the plan wants them */
};

/*
 * The functions of struct store (store.h) for a struct stalin_sort; the plan must outlive it. stop
 * drops all further runs and wakes the threads that wait in stalin_sort_submit.
 */
void *stalin_sort_create(const struct plan *plan, struct failure *failure);
void stalin_sort_connect(void *stalin_sort, struct writer *kept, struct writer *purged);
void stalin_sort_stop(void *stalin_sort);
enum status stalin_sort_finalize(void *stalin_sort, const struct plan *plan, uint64_t elements,
                                 struct failure *failure);
void stalin_sort_stats(const void *stalin_sort);
void stalin_sort_destroy(void *stalin_sort);

/*
 * Stores the key of the last element written so far; returns false if there is none. Elements of
 * unsubmitted chunks are dropped if they are out of order after it.
 */
bool stalin_sort_floor(const struct stalin_sort *self, uint64_t *key);

/*
 * Writes and flushes the kept elements of a run when its turn comes. May copy the run and return
 * earlier, or wait for other workers. Each worker must submit its chunks in stream order. After a
 * chunk that is_cut, or stalin_sort_stop, runs are dropped. Fails with STATUS_DATA if writing
 * fails.
 */
enum status stalin_sort_submit(struct stalin_sort *self, const struct stalin_sort_run *run,
                               struct failure *failure);

#endif
