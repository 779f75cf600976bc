/* Implements operation.h: the table of operations. */
#include "config.h"

#include "partial/operation.h"

#include <string.h>

const struct operation *const operations[OPERATION_IDS] = {
#define OPERATION_ROW(id, label) [OPERATION_##id] = &operation_##label,
    OPERATIONS(OPERATION_ROW)
#undef OPERATION_ROW
};

bool operation_find(const char *name, enum operation_id *id)
{
    for (size_t i = 0; i < OPERATION_IDS; i++) {
        const struct operation *operation = operations[i];
        if (strcmp(name, operation->name) != 0 &&
            (!operation->alias || strcmp(name, operation->alias) != 0))
            continue;
        *id = (enum operation_id)i;
        return true;
    }
    return false;
}

enum status operation_check_elements(uint64_t read, uint64_t counted, struct failure *failure)
{
    if (read == counted)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA,
                       "internal error: %llu elements were read, but %llu counted",
                       (unsigned long long)read, (unsigned long long)counted);
}
