/* Chooses the store of a job (store.h). */
#include "config.h"

#include "ops/stores.h"

const struct store *store_of_operation(enum operation_id operation)
{
    static const struct store *const stores[OPERATION_IDS] = {
        [OPERATION_HISTOGRAM] = &store_array,
        [OPERATION_UNIQ] = &store_table,
        [OPERATION_REDUCE] = &store_scalar,
        [OPERATION_COUNT] = &store_scalar,
        [OPERATION_STALIN_SORT] = &filter_stalin_sort,
    };

    return stores[operation];
}

const struct store *store_of(const struct job *job)
{
    if (job->value_count > 1)
        return &store_columns;
    if (job->group_count > 0 || element_is_name(&job->element))
        return &store_groups;
    return job->is_automatic ? &store_window : store_of_operation(job->operation);
}
