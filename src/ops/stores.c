/* The table of operations (store.h). */
#include "config.h"

#include "ops/stores.h"

#define OPERATIONS_ROW(id, label, name) [OPERATION_##id] = &op_##label,

const struct store *const operations[] = {[OPERATION_IDS] = &op_automatic,
                                          [OPERATION_IDS + 1] = &op_groups,
                                          [OPERATION_IDS + 2] = &op_columns,
                                          [OPERATION_IDS + 3] = NULL,
                                          OPERATIONS(OPERATIONS_ROW)};

const struct store *store_of(const struct job *job)
{
    if (job->value_count > 1)
        return &op_columns;
    if (job->group_count > 0 || element_is_name(&job->element))
        return &op_groups;
    return job->is_automatic ? &op_automatic : operations[job->operation];
}
