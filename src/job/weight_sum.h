/* The sum of the weights of a run, to which all workers add. All functions are thread-safe. */
#ifndef GPUHIST_WEIGHT_SUM_H
#define GPUHIST_WEIGHT_SUM_H

#include "base/status.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* A zero-initialised sum is empty. */
struct weight_sum {
    atomic_uint_least64_t sum;
    atomic_bool is_too_large; /* it would be 2^64 or more */
};

void weight_sum_clear(struct weight_sum *sum);

/* Adds weights[0..n), n <= 2^32. */
void weight_sum_add(struct weight_sum *sum, const uint64_t *weights, size_t n);

/*
 * Stores the sum of all weights added so far. Fails with STATUS_DATA if it would be 2^64 or more;
 * if not, no sum of some of the weights has wrapped.
 */
enum status weight_sum_get(const struct weight_sum *sum, uint64_t *total, struct failure *failure);

#endif
