/* Implements weight_sum.h. */
#include "config.h"

#include "job/weight_sum.h"

enum status weight_sum_add(struct weight_sum *sum, const uint64_t *weights, size_t n,
                           struct failure *failure)
{
    uint64_t before = weight_sum_get(sum);
    unsigned __int128 more = 0;

    for (size_t i = 0; i < n; i++)
        more += weights[i];
    do {
        if (more > UINT64_MAX - before)
            return status_fail(failure, STATUS_DATA, "the weights add up to more than 2^64 - 1");
    } while (!atomic_compare_exchange_weak_explicit(&sum->sum, &before, before + (uint64_t)more,
                                                    memory_order_relaxed, memory_order_relaxed));
    return STATUS_OK;
}

uint64_t weight_sum_get(const struct weight_sum *sum)
{
    return atomic_load_explicit(&sum->sum, memory_order_relaxed);
}
