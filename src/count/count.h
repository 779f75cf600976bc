/*
 * The partial of operation count: the number of values that meet each predicate of the job.
 *
 * Workers count the hits of each predicate's interval or set in memory of their own, and add them
 * at the end. The predicate "every" and negated predicates are derived from the number of elements
 * (count_result).
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
    uint64_t elements; /* counted so far */
    uint64_t hits[];   /* of each predicate */
};

/* Makes an empty partial. Fails with STATUS_DATA if there is no memory. The caller destroys it. */
enum status count_create(const struct job *job, struct count **count, struct failure *failure);

/* Frees a partial. NULL is allowed. */
void count_destroy(struct count *count);

/* Adds hits[0..n) to those of predicates [first, first + n). */
void count_add_hits(struct count *count, size_t first, const uint64_t *hits, size_t n);

/* Adds to the number of elements. */
void count_add_elements(struct count *count, uint64_t elements);

/*
 * Checks a complete partial: the number of elements must be `elements`, the number read, and no
 * predicate may have more hits. Fails with STATUS_DATA, which means a bug.
 */
enum status count_check(const struct count *count, const struct job *job, uint64_t elements,
                        struct failure *failure);

/*
 * The number of values that meet a predicate, of `elements` values of which `hits` are in its
 * interval or set. Pure.
 */
uint64_t count_derive(const struct predicate *predicate, uint64_t elements, uint64_t hits);

/* The number of values that meet predicate i of the job. The partial must have been checked. */
uint64_t count_result(const struct count *count, const struct job *job, size_t i);

#endif
