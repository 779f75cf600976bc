/* Implements groups.h: the partial. */
#include "config.h"

#include "count/groups.h"

#include "partial/operation.h"

#include <stdlib.h>

void groups_destroy(void *partial)
{
    struct groups *groups = partial;
    if (!groups)
        return;
    table_destroy(groups->table);
    free(groups->layout);
    free(groups->buffer);
    free(groups);
}

void *groups_create(const struct job *job, struct failure *failure)
{
    struct groups *groups = calloc(1, sizeof *groups);
    struct groups_layout *layout = groups_layout_create(job);

    if (groups && layout)
        groups->buffer = calloc(layout->words, sizeof *groups->buffer);
    if (!groups || !layout || !groups->buffer) {
        free(groups);
        free(layout);
        status_fail(failure, STATUS_DATA, "no memory for groups");
        return NULL;
    }
    groups->job = job;
    groups->layout = layout;
    for (size_t i = 0; i < job->group_count; i++)
        groups->flips[i] = element_flip(&job->columns[job_group_column(job) + i].element);
    const struct table_layout rows = {
        .key_words = job->group_count,
        .words = layout->words,
        .merge = groups_row_merge,
        .context = layout,
        .initial = layout->initial,
    };
    if (table_create(&groups->table, &rows, job->buffer_bytes, job->temporary_directory, failure) !=
        STATUS_OK) {
        groups_destroy(groups);
        return NULL;
    }
    return groups;
}

enum status groups_finish(void *partial, const struct job *job, uint64_t elements,
                          struct failure *failure)
{
    struct groups *groups = partial;
    (void)job;

    if (table_finalize(groups->table, TABLE_ASCENDING, failure) != STATUS_OK)
        return failure->status;
    return operation_check_elements(elements, table_total(groups->table), failure);
}

enum status groups_check(const struct groups *groups, struct failure *failure)
{
    return table_check(groups->table, failure);
}
