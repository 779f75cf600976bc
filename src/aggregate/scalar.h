/*
 * The aggregate of reduce and count without groups, shared by all workers: one row of accumulators
 * (accumulator.h); and the aggregate of uniq if a reduction takes a table of the distinct values.
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
    struct uniq *uniq; /* to which workers add all values, as uniq does; NULL: none is needed */
    struct reduce_found found[REDUCTIONS_MAX]; /* by number of the reduction; set by finalize */
    pthread_mutex_t mutex;                     /* for the row */
    uint64_t row[];
};

/*
 * Create, finalize and destroy a struct scalar, as store.h says. finalize checks also that
 * there can be values that have the row.
 */
void *scalar_create(const struct plan *plan, struct failure *failure);
enum status scalar_finalize(void *scalar, const struct plan *plan, uint64_t elements,
                            struct failure *failure);
void scalar_destroy(void *scalar);

/* Adds a row to the shared one. Thread-safe. */
void scalar_merge(struct scalar *scalar, const uint64_t *row);

/* Adds counts[0..n) to the words from `word` on: the number of values, and hits. Thread-safe. */
void scalar_add_counts(struct scalar *scalar, size_t word, const uint64_t *counts, size_t n);

#endif
