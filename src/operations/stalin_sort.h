/*
 * The partial of operation stalin-sort: the order that survivors leave in.
 *
 * The survivors of a piece of the stream are a monotone run, so merge(A, B) is A and then B from
 * its first element that A's last lets pass. Workers hence sort chunks on their own, in any order,
 * and submit them; they are released in stream order, each merged with all before it by a binary
 * search. Of a chunk whose turn has not come a few survivors are parked; if they are many, its
 * worker waits. Whoever submits the chunk whose turn it is releases it, and all that are parked
 * right behind. However different the speeds, no more memory is taken.
 *
 * All functions but create, connect, finish and destroy are thread-safe.
 */
#ifndef GPUHIST_STALIN_SORT_H
#define GPUHIST_STALIN_SORT_H

#include "base/status.h"
#include "job/chunk.h"
#include "job/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stalin_sort;
struct writer;

/* What became of a chunk; all memory stays the caller's. */
struct stalin_sort_run {
    struct chunk chunk;
    const void *kept; /* its survivors; some may yet be purged, once all before it is known */
    size_t kept_count;
    const void *purged; /* its other elements, in order; NULL unless the job wants them */
};

/* Makes an empty partial. Fails with STATUS_DATA. The caller destroys it. */
enum status stalin_sort_create(const struct job *job, struct stalin_sort **partial,
                               struct failure *failure);

/* NULL is allowed. */
void stalin_sort_destroy(struct stalin_sort *self);

/* Sets where survivors go, and the purged (NULL: nowhere). The writers outlive the partial's use.
 */
void stalin_sort_connect(struct stalin_sort *self, struct writer *kept, struct writer *purged);

/*
 * The key of the last survivor released so far; false if there is none yet. What it does not let
 * pass cannot survive in any chunk that is still to be submitted.
 */
bool stalin_sort_floor(const struct stalin_sort *self, uint64_t *key);

/*
 * Releases a run when its turn comes; every worker submits its chunks in stream order. May return
 * before, having copied it, and may wait for other workers. What is released is written at once.
 * After a chunk that is_cut, or stalin_sort_stop, runs are dropped.
 * Fails with STATUS_DATA if the result cannot be written.
 */
enum status stalin_sort_submit(struct stalin_sort *self, const struct stalin_sort_run *run,
                               struct failure *failure);

/* Releases nothing more and lets nobody wait. */
void stalin_sort_stop(struct stalin_sort *self);

#endif
