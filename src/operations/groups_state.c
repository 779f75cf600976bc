/*
 * Saves and loads groups. The definition has the line "by TYPE", the type of the groups, and then
 * "of reduce" or "of count" and the lines of that. The numbers are, for each group in ascending
 * order, its number of values, how many values of the groups' type are skipped since the group
 * before, or since the smallest one, and the other words of its row (groups_row.h). A 0 is the end.
 */
#include "config.h"

#include "operations/groups.h"
#include "operations/reduce_words.h"
#include "partial/operation.h"
#include "partial/state_job.h"

#include <stdlib.h>
#include <string.h>

#define GROUPS_STATE_NAME_SIZE 16

static const struct state_operation *groups_state_of(const struct job *job)
{
    return operations[job->grouped]->state;
}

static void groups_state_define(struct definition *definition, const struct job *job)
{
    definition_print(definition, "by\t%s\nof\t%s\n", job->second_element.name,
                     groups_state_of(job)->name);
    groups_state_of(job)->define(definition, job);
}

static enum status groups_state_recall(struct state_reader *state,
                                       const struct definition *definition, struct job *job,
                                       struct failure *failure)
{
    char type[GROUPS_STATE_NAME_SIZE];
    char of[GROUPS_STATE_NAME_SIZE];

    if (!definition_get(definition, "by", type, sizeof type) ||
        !element_parse(type, &job->second_element) ||
        !definition_get(definition, "of", of, sizeof of) || !operation_find(of, &job->grouped) ||
        (job->grouped != OPERATION_REDUCE && job->grouped != OPERATION_COUNT))
        return state_fail_damaged(state, "its groups are unknown", failure);
    job->second = SECOND_GROUPS;
    if (groups_state_of(job)->recall(state, definition, job, failure) != STATUS_OK)
        return failure->status;
    if (job->reductions.needs & REDUCTIONS_NEED_TABLE)
        return state_fail_damaged(state, "its reductions are not of groups", failure);
    return STATUS_OK;
}

static uint64_t groups_state_elements(const void *partial)
{
    return table_total(((const struct groups *)partial)->table);
}

static void groups_state_save(struct state_writer *state, const struct job *job,
                              const void *partial)
{
    const struct groups *groups = partial;
    uint64_t next = (uint64_t)element_min(&job->second_element);

    for (size_t i = 0; i < table_distinct(groups->table); i++) {
        const uint64_t *row = groups_row(groups, i, groups->buffer);
        const uint64_t key = groups_key(groups, row);
        state_write_number(state, row[GROUPS_ROW_COUNT]);
        state_write_number(state, key - next);
        for (size_t k = GROUPS_ROW_FIRST; k < groups->layout->words; k++)
            state_write_number(state, row[k]);
        next = key + 1;
    }
    state_write_number(state, 0);
}

/* Whether values can have these words, of a row that a state has. */
static bool groups_state_is_possible(const struct job *job, const uint64_t *row)
{
    struct reduce reduce;

    for (size_t i = 0; i < job->predicate_count; i++) {
        if (row[GROUPS_ROW_FIRST + i] > row[GROUPS_ROW_COUNT])
            return false;
    }
    return reduce_words_check(job, row[GROUPS_ROW_COUNT], row + GROUPS_ROW_FIRST, &reduce);
}

/*
 * Reads the rest of a group, whose number of values is read. *next is the least value that the
 * group may be, and then the next one may be.
 */
static enum status groups_state_load_row(struct state_reader *state, const struct groups *groups,
                                         uint64_t *row, __int128 *next, struct failure *failure)
{
    const struct job *job = groups->job;
    uint64_t skipped;

    if (state_read_number(state, &skipped, failure) != STATUS_OK)
        return failure->status;
    if (skipped >= element_limit(&job->second_element) - *next)
        return state_fail_damaged(state, "it has a group that does not exist", failure);
    row[GROUPS_ROW_KEY] = (uint64_t)(*next + skipped) ^ groups->flip;
    *next += (__int128)skipped + 1;
    for (size_t k = GROUPS_ROW_FIRST; k < groups->layout->words; k++) {
        if (state_read_number(state, &row[k], failure) != STATUS_OK)
            return failure->status;
    }
    if (groups_state_is_possible(job, row))
        return STATUS_OK;
    return state_fail_damaged(state, "the values of a group contradict each other", failure);
}

static enum status groups_state_load(struct state_reader *state, const struct job *job,
                                     void *partial, uint64_t elements, struct failure *failure)
{
    struct groups *groups = partial;
    uint64_t *row = calloc(groups->layout->words, sizeof *row);
    __int128 next = element_min(&job->second_element);
    struct table_writer *writer = NULL;
    enum status status = row ? table_writer_open(groups->table, &writer, failure)
                             : status_fail(failure, STATUS_DATA, "no memory for a group");

    while (status == STATUS_OK) {
        status = state_read_count(state, &row[GROUPS_ROW_COUNT], &elements, failure);
        if (status != STATUS_OK || row[GROUPS_ROW_COUNT] == 0)
            break;
        status = groups_state_load_row(state, groups, row, &next, failure);
        if (status == STATUS_OK)
            status = table_writer_add_rows(writer, row, 1, failure);
    }
    if (status == STATUS_OK)
        status = table_writer_flush(writer, failure);
    table_writer_close(writer);
    free(row);
    if (status == STATUS_OK && elements > 0)
        status = state_fail_damaged(state, "not all was counted", failure);
    return status;
}

const struct state_operation groups_state = {
    .name = "groups",
    .define = groups_state_define,
    .recall = groups_state_recall,
    .elements = groups_state_elements,
    .save = groups_state_save,
    .check = groups_check,
    .load = groups_state_load,
};
