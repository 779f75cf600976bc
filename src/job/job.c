/* Implements job.h. */
#include "config.h"

#include "job/job.h"

#include <stdlib.h>

void job_destroy(struct job *job)
{
    for (size_t i = 0; i < job->predicate_count; i++)
        predicate_destroy(&job->predicates[i]);
    free(job->predicates);
    free(job->line);
    binning_destroy(&job->binning);
}

enum status job_check_values(const struct job *job, bool has_values, struct failure *failure)
{
    if (!job->needs_values || has_values)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "no values were counted, so there are no quantiles");
}

const char *job_second_option(const struct job *job)
{
    return job->second == SECOND_GROUPS ? "--by" : "--weight";
}

struct text_rules job_second_rules(const struct job *job, const struct text_rules *rules)
{
    return (struct text_rules){
        .field = rules->second_field,
        .delimiter = rules->delimiter,
        .is_quoted = rules->is_quoted,
        .from_zero = job->second == SECOND_WEIGHTS,
        .notation = TEXT_INTEGERS,
    };
}
