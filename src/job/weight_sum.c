/* Implements weight_sum.h. */
#include "config.h"

#include "job/weight_sum.h"

void weight_sum_clear(struct weight_sum *sum)
{
    atomic_store(&sum->sum, 0);
    atomic_store(&sum->is_too_large, false);
}

void weight_sum_add(struct weight_sum *sum, const uint64_t *weights, size_t n)
{
    unsigned __int128 more = 0;

    for (size_t i = 0; i < n; i++)
        more += weights[i];
    uint64_t before = atomic_fetch_add(&sum->sum, (uint64_t)more);
    if (more > UINT64_MAX - before)
        atomic_store(&sum->is_too_large, true);
}

enum status weight_sum_get(const struct weight_sum *sum, uint64_t *total, struct failure *failure)
{
    *total = atomic_load(&sum->sum);
    if (!atomic_load(&sum->is_too_large))
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "the weights add up to more than 2^64 - 1");
}
