/* The sum of the weights of a run, to which all workers add. All functions are thread-safe. */
#ifndef GPUHIST_WEIGHT_SUM_H
#define GPUHIST_WEIGHT_SUM_H

#include "base/status.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct weight_sum {
    atomic_uint_least64_t sum;
};

/*
 * Adds weights[0..n), n <= 2^32. Fails with STATUS_DATA if the sum would be 2^64 or more. So in a
 * run that does not fail, no sum of some of its weights wraps.
 */
enum status weight_sum_add(struct weight_sum *sum, const uint64_t *weights, size_t n,
                           struct failure *failure);

/* Returns the sum of all weights added so far. */
uint64_t weight_sum_get(const struct weight_sum *sum);

#endif
