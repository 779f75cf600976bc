/* Implements job.h. */
#include "config.h"

#include "job/job.h"

#include <stdlib.h>

const char *const job_operation_names[OPERATION_IDS] = {
#define JOB_OPERATION_NAME(id, name) [OPERATION_##id] = name,
    OPERATIONS(JOB_OPERATION_NAME)
#undef JOB_OPERATION_NAME
};

void job_destroy(struct job *job)
{
    for (size_t i = 0; i < job->predicate_count; i++)
        predicate_destroy(&job->predicates[i]);
    free(job->predicates);
    for (size_t i = 0; job->singles && i < job->value_count; i++)
        job_destroy(&job->singles[i]);
    free(job->singles);
    for (size_t i = 0; i < job->condition_count; i++)
        predicate_destroy(&job->conditions[i]);
    free(job->conditions);
    free(job->line);
    free(job->binning.table);
}

enum status job_check_values(const struct job *job, bool has_values, struct failure *failure)
{
    if (!job->needs_values || has_values)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "no values were counted, so there are no quantiles");
}

const char *job_column_option(const struct job *job, size_t column)
{
    return column < job->value_count            ? "-f"
           : column < job_group_column(job)     ? "--weight"
           : column < job_condition_column(job) ? "--by"
                                                : "--where";
}

bool job_has_reals(const struct job *job)
{
    bool has_reals = false;

    for (size_t i = 0; i < job_column_count(job); i++)
        has_reals = has_reals || (!job->is_text && job->columns[i].element.real != REAL_NONE);
    return has_reals;
}

bool job_has_texts(const struct job *job)
{
    bool has_texts = false;

    for (size_t i = 0; i < job_condition_column(job); i++)
        has_texts = has_texts || element_is_text(&job->columns[i].element);
    return has_texts;
}

const char *job_group_name(const struct job *job, size_t group)
{
    const struct column *column = &job->columns[job_group_column(job) + group];
    return column->name ? column->name : job->group_count == 1 ? "by" : column->where;
}

const char *job_count_name(const struct job *job)
{
    const char *name = job->has_weights ? job->columns[job_weight_column(job)].name : "count";
    return name ? name : "weight";
}

struct text_rules job_column_rules(const struct job *job, const struct text_rules *rules,
                                   size_t column)
{
    const struct column *of = &job->columns[column];

    return (struct text_rules){
        .field = text_rules_field(rules, column),
        .columns = rules->columns,
        .delimiter = rules->delimiter,
        .is_quoted = rules->is_quoted,
        .from_zero = job->has_weights && column == job_weight_column(job),
        .notation = of->notation,
        .decimals = of->element.decimals,
        .is_rounded = kind_rows[of->element.kind].is_rounded,
        .has_exponents = of->has_exponents,
    };
}
