/* Chooses the store of a plan (store.h). */
#include "config.h"

#include "engine/stores.h"

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

const struct store *store_of(const struct plan *plan)
{
    if (plan->value_count > 1)
        return &store_columns;
    if (plan->group_count > 0 || element_is_name(&plan->element))
        return &store_groups;
    return plan->is_automatic ? &store_window : store_of_operation(plan->operation);
}
