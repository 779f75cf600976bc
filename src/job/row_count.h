/*
 * How many values of rows count, each as many times as its weight says. All workers add to it. All
 * functions are thread-safe.
 */
#ifndef GPUHIST_ROW_COUNT_H
#define GPUHIST_ROW_COUNT_H

#include "base/status.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* A zero-initialised count is 0. */
struct row_count {
    atomic_uint_least64_t sum;
    atomic_bool is_too_large; /* it would be 2^64 or more */
};

/* Adds weights[0..n), n <= 2^32; NULL: 1 for each. */
void row_count_add(struct row_count *count, const uint64_t *weights, size_t n);

/*
 * Stores the count. Fails with STATUS_DATA if it would be 2^64 or more; if not, no sum of some of
 * the weights has wrapped.
 */
enum status row_count_get(const struct row_count *count, uint64_t *total, struct failure *failure);

#endif
