/* Implements row_count.h. */
#include "config.h"

#include "job/row_count.h"

void row_count_add(struct row_count *count, const uint64_t *weights, size_t n)
{
    unsigned __int128 more = weights ? 0 : n;

    for (size_t i = 0; weights && i < n; i++)
        more += weights[i];
    uint64_t before = atomic_fetch_add(&count->sum, (uint64_t)more);
    if (more > UINT64_MAX - before)
        atomic_store(&count->is_too_large, true);
}

enum status row_count_get(const struct row_count *count, uint64_t *total, struct failure *failure)
{
    *total = atomic_load(&count->sum);
    if (!atomic_load(&count->is_too_large))
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "the weights add up to more than 2^64 - 1");
}
