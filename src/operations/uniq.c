/* Implements uniq.h: the partial, and the row of the table of operations. */
#include "config.h"

#include "operations/uniq.h"

#include "operations/operation.h"
#include "operations/state_job.h"

#include <stdlib.h>

static enum status uniq_create(const struct job *job, void **partial, struct failure *failure)
{
    struct uniq *made = calloc(1, sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for counts");

    made->job = job;
    made->flip = job->element.is_signed ? (uint64_t)1 << 63 : 0;
    if (table_create(&made->table, job->buffer_bytes, job->temporary_directory, failure) !=
        STATUS_OK) {
        free(made);
        return failure->status;
    }
    *partial = made;
    return STATUS_OK;
}

static void uniq_destroy(void *partial)
{
    struct uniq *uniq = partial;

    if (!uniq)
        return;
    table_destroy(uniq->table);
    free(uniq);
}

static enum status uniq_finish(void *partial, const struct job *job, uint64_t elements,
                               struct failure *failure)
{
    struct uniq *uniq = partial;

    uniq->elements = elements;
    if (table_settle(uniq->table, job->any_order ? TABLE_ANY_ORDER : TABLE_ASCENDING, failure) !=
        STATUS_OK)
        return failure->status;
    if (table_total(uniq->table) == elements)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA,
                       "internal error: %llu elements were read, but %llu counted",
                       (unsigned long long)elements, (unsigned long long)table_total(uniq->table));
}

static enum status uniq_verdict(const struct job *job, const void *partial, struct failure *failure)
{
    const struct uniq *uniq = partial;

    if (table_check(uniq->table, failure) != STATUS_OK)
        return failure->status;
    return job_check_values(job, uniq->elements > 0, failure);
}

const struct operation operation_uniq = {
    .name = "uniq",
    .alias = "distinct",
    .help = "count each different value",
    .usage = "gpuhist uniq [OPTION]... [FILE]...\n"
             "Print each different value and how often it came, in ascending order, as\n"
             "`sort -n | uniq -c` does: any values of the type, any number of them.\n",
    .create = uniq_create,
    .finish = uniq_finish,
    .verdict = uniq_verdict,
    .state = &uniq_state,
    .destroy = uniq_destroy,
};
