/* Searches a chunk for its first value outside the bins. */
#include "config.h"

#include "engine/outside.h"

#include "input/parse_errors.h"
#include "lib/decimal.h"
#include "text/text_rows.h"
#include "value/binning_index.h"

#include <stdlib.h>

static bool outside_is(const struct plan *plan, uint64_t key)
{
    return binning_index(&plan->binning, plan->binning.form, key) >= plan->binning.bins;
}

/* Like outside_check, for a chunk of text. Parses the text again, one value at a time. */
static enum status outside_check_text(const struct plan *plan, const struct chunk *text,
                                      struct failure *failure)
{
    const bool has_rows = text_rows_are_needed(plan);
    const char *data = text->data;
    text_parse_function *parse = text_choose_parser(&plan->text, plan->element.type);
    struct element native = plan->element;
    uint64_t value;
    uint64_t weight = 1;
    struct text_cursor cursor = {
        .rules = &text->rules,
        .data = text->data,
        .bytes = text->bytes,
        .values = &value,
        .capacity = 1,
    };
    uint64_t group[2];
    struct text_rows rows = {
        .plan = plan,
        .rules = &text->rules,
        .data = text->data,
        .bytes = text->bytes,
        .keys = {&value},
        .capacity = 1,
    };
    for (size_t c = 1; c < plan_condition_column(plan); c++)
        rows.keys[c] = c < plan_group_column(plan) ? &weight : group;
    if (has_rows && !(rows.scratch = text_rows_scratch_create(plan)))
        return status_fail(failure, STATUS_DATA, "not enough memory for searching the text");
    const size_t *offset = has_rows ? &rows.offset : &cursor.offset;
    const size_t *count = has_rows ? &rows.count : &cursor.count;
    enum text_event event;
    enum status status = STATUS_OK;

    native.swapped = false;
    do {
        event = has_rows ? text_rows_parse(&rows) : parse(&cursor);
        if (rows.status != STATUS_OK) {
            *failure = rows.failure;
            status = rows.status;
        }
        if (*count == 0 || weight == 0 || !outside_is(plan, element_key(&native, &value)))
            continue;
        size_t end = *offset < text->bytes ? *offset : text->bytes;
        while (end > 1 &&
               (data[end - 1] == ' ' || (data[end - 1] >= '\t' && data[end - 1] <= '\r')))
            end--; /* the parser also skips blank lines */
        char shown[ELEMENT_TEXT_SIZE];
        element_format(shown, &native, element_value(&native, element_key(&native, &value)));
        status = status_fail_at(failure, text->position + end - 1, STATUS_DATA,
                                STATUS_NAME ":%llu: value %s is out of range", text->origin.name,
                                (unsigned long long)parse_errors_find_line(text, end - 1), shown);
    } while (status == STATUS_OK && event != TEXT_END);
    text_rows_scratch_destroy(rows.scratch);
    return status;
}

enum status outside_check(const struct plan *plan, const struct chunk *chunk,
                          struct failure *failure)
{
    const struct element *element = &plan->element;
    const char *first = (const char *)chunk->data + (chunk->is_gathered ? 0 : plan->record_offset);
    const size_t stride = chunk->is_gathered ? element->bytes : plan_value_bytes(plan);
    const struct column *weight = &plan->columns[plan_weight_column(plan)];
    const bool has_weights = plan->has_weights && !chunk->is_gathered; /* weights in records */

    if (plan->is_text)
        return outside_check_text(plan, chunk->text ? chunk->text : chunk, failure);
    for (size_t i = 0; i < chunk->bytes / stride; i++) {
        uint64_t key = element_key(element, first + i * stride);
        uint64_t times = chunk->weights ? chunk->weights[i] : 1;
        if (has_weights)
            times = element_key(&weight->element,
                                (const char *)chunk->data + i * stride + weight->offset);
        if (!outside_is(plan, key) || times == 0)
            continue;
        char value[DECIMAL_SIZE];
        const size_t index = chunk->indices ? chunk->indices[i] : i;
        uint64_t position = chunk->position + index * plan_value_bytes(plan) + plan->record_offset;
        decimal_format_fixed(value, element_value(element, key), 0);
        return status_fail_at(failure, position, STATUS_DATA,
                              "value %s at byte %llu of the input is out of range", value,
                              (unsigned long long)position);
    }
    return STATUS_OK;
}
