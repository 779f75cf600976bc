/* Implements context.h. */
#include "config.h"

#include "job/context.h"

const struct context *context_of(const struct job *job)
{
    static const struct context none = {.table_bytes = 0};

    return job->context ? job->context : &none;
}

uint64_t context_table_bytes(const struct job *job)
{
    const uint64_t bytes = context_of(job)->table_bytes;

    return job_has_texts(job) ? bytes - bytes / 2 : bytes;
}
