/* Implements plan.h. */
#include "config.h"

#include "value/plan.h"

#include <stdlib.h>

const char *const plan_operation_names[OPERATION_IDS] = {
#define JOB_OPERATION_NAME(id, name) [OPERATION_##id] = name,
    OPERATIONS(JOB_OPERATION_NAME)
#undef JOB_OPERATION_NAME
};

struct kind_time_bucket column_time_unit(const struct column *column)
{
    struct kind_time_bucket unit = {.digits = column->element.decimals, .width = 1};

    if (kind_time_bucket_exists(&column->width.bucket))
        unit = column->width.bucket;
    unit.zone = column->element.zone;
    return unit;
}

bool column_begins_at(const struct column *column, __int128 value)
{
    return kind_time_bucket_exists(&column->width.bucket)
               ? kind_time_bucket_find(&column->width.bucket, column->element.zone,
                                       (int64_t)value) == value
               : value % column_width(column) == 0;
}

void plan_destroy(struct plan *plan)
{
    for (size_t i = 0; i < plan->predicate_count; i++)
        predicate_destroy(&plan->predicates[i]);
    free(plan->predicates);
    for (size_t i = 0; plan->singles && i < plan->value_count; i++)
        plan_destroy(&plan->singles[i]);
    free(plan->singles);
    for (size_t i = 0; i < plan->condition_count; i++)
        predicate_destroy(&plan->conditions[i]);
    free(plan->conditions);
    free(plan->line);
    free(plan->binning.table);
}

const char *plan_column_option(const struct plan *plan, size_t column)
{
    return column < plan->value_count             ? "-f"
           : column < plan_group_column(plan)     ? "--weight"
           : column < plan_condition_column(plan) ? "--by"
                                                  : "--where";
}

bool plan_has_reals(const struct plan *plan)
{
    bool has_reals = false;

    for (size_t i = 0; i < plan_column_count(plan); i++)
        has_reals = has_reals || (!plan->is_text && plan->columns[i].element.real != REAL_NONE);
    return has_reals;
}

bool plan_has_strings(const struct plan *plan)
{
    bool has_strings = false;

    for (size_t i = 0; i < plan_condition_column(plan); i++)
        has_strings = has_strings || element_is_string(&plan->columns[i].element);
    return has_strings;
}

const char *plan_group_name(const struct plan *plan, size_t group)
{
    const struct column *column = &plan->columns[plan_group_column(plan) + group];
    return column->name ? column->name : plan->group_count == 1 ? "by" : column->where;
}

const char *plan_count_name(const struct plan *plan)
{
    const char *name = plan->has_weights ? plan->columns[plan_weight_column(plan)].name : "count";
    return name ? name : "weight";
}

struct text_rules plan_column_rules(const struct plan *plan, const struct text_rules *rules,
                                    size_t column)
{
    const struct column *of = &plan->columns[column];

    return (struct text_rules){
        .field = text_rules_field(rules, column),
        .columns = rules->columns,
        .delimiter = rules->delimiter,
        .is_quoted = rules->is_quoted,
        .from_zero = plan->has_weights && column == plan_weight_column(plan),
        .notation = of->notation,
        .decimals = of->element.decimals,
        .is_rounded = kind_rows[of->element.kind].is_rounded,
        .has_exponents = of->has_exponents,
        .is_found = of->is_found,
    };
}
