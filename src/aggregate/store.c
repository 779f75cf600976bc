/* Implements store.h, except the table, which is in engine/stores.c. */
#include "config.h"

#include "aggregate/store.h"

#include <stdlib.h>
#include <string.h>

/* Alignment of a local state, for vectors of AVX-512, and so that it shares no cache line. */
#define STORE_LOCAL_ALIGNMENT ((size_t)64)

enum status store_open_local(const struct store *store, const struct plan *plan, void *aggregate,
                             void **local, struct failure *failure)
{
    const size_t bytes = (store->local_bytes + STORE_LOCAL_ALIGNMENT - 1) & -STORE_LOCAL_ALIGNMENT;

    *local = aligned_alloc(STORE_LOCAL_ALIGNMENT, bytes);
    if (!*local)
        return status_fail(failure, STATUS_DATA, "not enough memory for a CPU thread");
    memset(*local, 0, bytes);
    return store->local_open(*local, plan, aggregate, failure);
}

void store_close_local(const struct store *store, void *local)
{
    if (local && store->local_close)
        store->local_close(local);
    free(local);
}

enum status store_check_elements(uint64_t read, uint64_t counted, struct failure *failure)
{
    if (read == counted)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA,
                       "internal error: %llu elements were read, but %llu counted",
                       (unsigned long long)read, (unsigned long long)counted);
}
