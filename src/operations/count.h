/*
 * The partial of operation count: how many values each predicate of the job was met by.
 *
 * Workers count in memory of their own, for each predicate the hits of its interval or set, and add
 * them when they are done. What needs no looking at the values, every value and the opposite of a
 * predicate, is computed from the number of elements (count_result).
 *
 * The count_add_ functions are thread-safe; the others are not.
 */
#ifndef GPUHIST_COUNT_H
#define GPUHIST_COUNT_H

#include "base/status.h"
#include "job/job.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct count {
    pthread_mutex_t mutex;
    uint64_t elements; /* looked at */
    uint64_t hits[];   /* one a predicate */
};

/* Makes an empty partial. Fails with STATUS_DATA if there is no memory. The caller destroys it. */
enum status count_create(const struct job *job, struct count **count, struct failure *failure);

/* NULL is allowed. */
void count_destroy(struct count *count);

/* Adds hits[0..n) to those of the predicates from `first` on. */
void count_add_hits(struct count *count, size_t first, const uint64_t *hits, size_t n);

/* Tells that so many elements more were looked at. */
void count_add_elements(struct count *count, uint64_t elements);

/*
 * When all that was read is counted: checks that as many elements were looked at as were read and
 * that no predicate was met by more. If not, something is broken: STATUS_DATA.
 */
enum status count_check(const struct count *count, const struct job *job, uint64_t elements,
                        struct failure *failure);

/* How many values met predicate i of the job; of a partial that was checked. */
uint64_t count_result(const struct count *count, const struct job *job, size_t i);

#endif
