/*
 * The partial of operation count: the number of values that meet each predicate of the job, or for
 * negated ones and "every" lie in its interval or set (count_derive). Workers add what they counted
 * in memory of their own. count_add is thread-safe; the others are not.
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

/*
 * Create, finalize and destroy a struct count, as operation.h says. finalize checks also that no
 * predicate has more hits than there are elements.
 */
void *count_create(const struct job *job, struct failure *failure);
enum status count_finalize(void *count, const struct job *job, uint64_t elements,
                           struct failure *failure);
void count_destroy(void *count);

/* Adds to the number of elements, and hits[0..n) to those of predicates [first, first + n). */
void count_add(struct count *count, uint64_t elements, size_t first, const uint64_t *hits,
               size_t n);

/*
 * The number of values that meet a predicate, of `elements` values of which `hits` are in its
 * interval or set. Pure.
 */
uint64_t count_derive(const struct predicate *predicate, uint64_t elements, uint64_t hits);

#endif
