/*
 * The aggregate of reduce and count without groups, shared by all workers: one row of accumulators
 * (accumulator.h), and the aggregate of uniq if a reduction needs a table of distinct values.
 */
#ifndef GPUHIST_SCALAR_H
#define GPUHIST_SCALAR_H

#include "aggregate/accumulator.h"
#include "aggregate/reduce.h"
#include "lib/status.h"

#include <pthread.h>

struct uniq;

struct scalar {
    struct accumulators *accumulators;
    struct uniq *uniq;                         /* the distinct values; owned; NULL: not needed */
    struct reduce_found found[REDUCTIONS_MAX]; /* by index of the reduction; set by finalize */
    pthread_mutex_t mutex;                     /* guards the row */
    uint64_t row[];
};

/*
 * Create, finalize and destroy a struct scalar (store.h). finalize also checks that some values
 * could produce the row.
 */
void *scalar_create(const struct plan *plan, struct failure *failure);
enum status scalar_finalize(void *scalar, const struct plan *plan, uint64_t elements,
                            struct failure *failure);
void scalar_destroy(void *scalar);

/* Adds a row to the shared one. Thread-safe. */
void scalar_merge(struct scalar *scalar, const uint64_t *row);

/* Adds counts[0..n) to the words at `word` and after it: number of values, and hits. Thread-safe.
 */
void scalar_add_counts(struct scalar *scalar, size_t word, const uint64_t *counts, size_t n);

#endif
