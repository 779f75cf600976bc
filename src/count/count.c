/* Implements count.h: the shared hits. */
#include "config.h"

#include "count/count.h"

#include "partial/operation.h"

#include <stdlib.h>

void *count_create(const struct job *job, struct failure *failure)
{
    struct count *count = calloc(1, sizeof *count + job->predicate_count * sizeof *count->hits);

    if (count)
        pthread_mutex_init(&count->mutex, NULL);
    else
        status_fail(failure, STATUS_DATA, "no memory for %zu counts", job->predicate_count);
    return count;
}

void count_destroy(void *partial)
{
    struct count *count = partial;

    if (count)
        pthread_mutex_destroy(&count->mutex);
    free(count);
}

void count_add(struct count *count, uint64_t elements, size_t first, const uint64_t *hits, size_t n)
{
    pthread_mutex_lock(&count->mutex);
    count->elements += elements;
    for (size_t i = 0; i < n; i++)
        count->hits[first + i] += hits[i];
    pthread_mutex_unlock(&count->mutex);
}

uint64_t count_derive(const struct predicate *predicate, uint64_t elements, uint64_t hits)
{
    if (predicate->form == PREDICATE_EVERY)
        hits = elements;
    return predicate->negated ? elements - hits : hits;
}

enum status count_finalize(void *partial, const struct job *job, uint64_t elements,
                           struct failure *failure)
{
    const struct count *count = partial;
    enum status status = operation_check_elements(elements, count->elements, failure);

    for (size_t i = 0; i < job->predicate_count && status == STATUS_OK; i++) {
        if (count->hits[i] > elements)
            status = operation_check_elements(elements, count->hits[i], failure);
    }
    return status;
}
