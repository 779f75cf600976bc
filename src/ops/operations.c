/* The table of operations (operation.h). */
#include "config.h"

#include "ops/operations.h"

const struct operation *const operations[] = {
#define OPERATION_ROW(id, label) [OPERATION_##id] = &op_##label,
    OPERATIONS(OPERATION_ROW)
#undef OPERATION_ROW
    /* the modes */
    &op_automatic, &op_groups, NULL,
};

const struct operation *operation_of(const struct job *job)
{
    if (job->second == SECOND_GROUPS)
        return &op_groups;
    return job->is_automatic ? &op_automatic : operations[job->operation];
}
