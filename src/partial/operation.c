/* Implements operation.h, but for the table, which ops/operations.c has. */
#include "config.h"

#include "partial/operation.h"

#include <stdlib.h>
#include <string.h>

/* The alignment of a local state: vectors of AVX-512 may be loaded from it, and it shares no cache
 * line. */
#define OPERATION_LOCAL_ALIGNMENT ((size_t)64)

enum status operation_open_local(const struct operation *operation, const struct job *job,
                                 void *partial, void **local, struct failure *failure)
{
    const size_t bytes =
        (operation->local_bytes + OPERATION_LOCAL_ALIGNMENT - 1) & -OPERATION_LOCAL_ALIGNMENT;

    *local = aligned_alloc(OPERATION_LOCAL_ALIGNMENT, bytes);
    if (!*local)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");
    memset(*local, 0, bytes);
    return operation->local_open(*local, job, partial, failure);
}

void operation_close_local(const struct operation *operation, void *local)
{
    if (local && operation->local_close)
        operation->local_close(local);
    free(local);
}

enum status operation_check_elements(uint64_t read, uint64_t counted, struct failure *failure)
{
    if (read == counted)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA,
                       "internal error: %llu elements were read, but %llu counted",
                       (unsigned long long)read, (unsigned long long)counted);
}

void operation_add_weight(const struct job *job, unsigned __int128 weight)
{
    const uint64_t before = atomic_fetch_add(&job->context->rows.sum, (uint64_t)weight);

    if (weight > UINT64_MAX - before)
        atomic_store(&job->context->rows.is_too_large, true);
}

void operation_add_rows(const struct job *job, const uint64_t *weights, size_t n)
{
    unsigned __int128 more = weights ? 0 : n;

    for (size_t i = 0; weights && i < n; i++)
        more += weights[i];
    operation_add_weight(job, more);
}

void operation_add_guesses(const struct job *job, struct kind_guesses *guesses)
{
    for (size_t i = KIND_TIME_GUESS_NONE + 1; i < KIND_TIME_GUESSES; i++) {
        if (guesses->times[i] > 0)
            atomic_fetch_add_explicit(&job->context->guesses[i], guesses->times[i],
                                      memory_order_relaxed);
        guesses->times[i] = 0;
    }
}

void operation_note_met(const struct job *job, size_t met)
{
    size_t most = atomic_load(&job->context->rows.met);

    while (met > most && !atomic_compare_exchange_weak(&job->context->rows.met, &most, met))
        continue;
}

enum status operation_get_rows(const struct job *job, uint64_t *total, struct failure *failure)
{
    *total = atomic_load(&job->context->rows.sum);
    if (!atomic_load(&job->context->rows.is_too_large))
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "the weights add up to more than 2^64 - 1");
}
