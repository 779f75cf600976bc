#include "config.h"

#include "job.h"

#include "decimal.h"

#include <stdlib.h>

void job_destroy(struct job *job)
{
    for (size_t i = 0; i < job->predicate_count; i++)
        predicate_destroy(&job->predicates[i]);
    free(job->predicates);
}

enum status job_check_outside(const struct job *job, const struct chunk *chunk,
                              struct failure *failure)
{
    const struct element *element = &job->element;

    for (size_t i = 0; i < chunk->bytes; i += element->bytes) {
        uint64_t key = element_key(element, (const char *)chunk->data + i);
        if (binning_index(&job->binning, job->binning.form, key) < job->binning.bins)
            continue;
        char value[DECIMAL_SIZE];
        decimal_format_signed(value, element_value(element, key));
        return status_fail_at(failure, chunk->position + i, STATUS_DATA,
                              "value %s at byte %llu of the input is outside the bins", value,
                              (unsigned long long)(chunk->position + i));
    }
    return STATUS_OK;
}
