/* Implements check_reals.h. */
#include "config.h"

#include "cli/check_reals.h"

#include "aggregate/store.h"
#include "value/kind_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_REALS_BYTES ((size_t)64 << 10)

/* Returns the decimal places that keep six digits of the smallest value but 0 of records[0..count).
 */
static unsigned check_reals_decimals(const struct plan *plan, const struct column *column,
                                     const char *records, size_t count)
{
    const struct element *element = &column->element;
    char digits[32];
    double least = 0;

    for (size_t i = 0; i < count; i++) {
        const char *record = records + i * plan_value_bytes(plan);
        const double value =
            real_load(element->real, element->is_real_swapped, record + column->offset);
        const double magnitude = __builtin_fabs(value);
        if (magnitude > 0 && __builtin_isfinite(magnitude) && (least == 0 || magnitude < least))
            least = magnitude;
    }
    if (least == 0)
        return 0;
    snprintf(digits, sizeof digits, "%.5e", least);
    return kind_find_round(strtol(strchr(digits, 'e') + 1, NULL, 10) + 1);
}

/* Fails with the kind that a column needs. */
static enum status check_reals_fail(const struct plan *plan, const struct column *column,
                                    struct source *source, const struct record_format *format,
                                    struct failure *failure)
{
    const char *name = element_stored_name(&column->element);
    size_t capacity = plan_value_bytes(plan);
    capacity = capacity < CHECK_REALS_BYTES ? CHECK_REALS_BYTES : capacity;
    struct chunk_buffer buffer = {.data = malloc(capacity), .capacity = capacity};
    struct chunk chunk = {.bytes = 0};
    enum status status = STATUS_OK;

    if (!buffer.data)
        return status_fail(failure, STATUS_DATA, "not enough memory for the first block");
    source_set_format(source, format, false, 1);
    source_join(source);
    status = source_pull(source, &buffer, &chunk, failure);
    if (status == STATUS_OK) {
        const unsigned decimals =
            check_reals_decimals(plan, column, chunk.data, chunk.bytes / plan_value_bytes(plan));
        if (column->where)
            status_fail(failure, STATUS_USAGE, "%s of %s are rounded (try '%s:round.%u')",
                        column->where, name, column->where, decimals);
        else
            status_fail(failure, STATUS_USAGE, "values of %s are rounded (try --decimals round.%u)",
                        name, decimals);
    }
    free(buffer.data);
    return failure->status;
}

enum status check_reals(const struct plan *plan, struct source *source,
                        const struct record_format *format, struct failure *failure)
{
    for (size_t i = 0; i < plan_column_count(plan); i++) {
        const struct column *column = &plan->columns[i];
        const bool is_rounded = kind_rows[column->element.kind].is_rounded;
        const bool is_real = column->element.real != REAL_NONE;
        if (is_rounded && !is_real)
            return status_fail(
                failure, STATUS_USAGE,
                "round.N is of text and of floats (-t f16, bf16, f32, f64), not of %s",
                column->element.name);
        if (is_real && store_of(plan)->stop)
            return status_fail(failure, STATUS_USAGE, "%s does not support floats",
                               plan_operation_names[plan->operation]);
        if (is_real && !is_rounded)
            return check_reals_fail(plan, column, source, format, failure);
    }
    return STATUS_OK;
}
