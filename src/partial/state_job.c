/* Implements state_job.h: the lines and numbers that all states have. */
#include "config.h"

#include "partial/state_job.h"

#include "partial/operation.h"

#include <stdio.h>
#include <string.h>

/* Room for the name of an operation, or a type with its decimals. */
#define STATE_JOB_NAME_SIZE 32

static void state_define(struct definition *definition, const struct job *job)
{
    const struct element *element = &job->element;

    definition_print(definition, "operation\t%s\n", operations[job->operation]->state->name);
    if (element->decimals > 0)
        definition_print(definition, "type\t%s with %u decimals\n", element->name,
                         element->decimals);
    else
        definition_print(definition, "type\t%s\n", element->name);
    if (job->second == SECOND_WEIGHTS)
        definition_print(definition, "sums\tweight\n");
    operations[job->operation]->state->define(definition, job);
}

enum status state_save(struct writer *writer, const struct job *job, const void *partial,
                       struct failure *failure)
{
    const struct state_operation *operation = operations[job->operation]->state;
    struct definition definition = {.text = NULL};
    struct state_writer *state = NULL;

    state_define(&definition, job);
    enum status status = state_writer_open(&state, writer, failure);
    if (status == STATUS_OK && definition.is_lost)
        status = status_fail(failure, STATUS_DATA, "no memory for saving the state");
    if (status == STATUS_OK) {
        state_write_definition(state, &definition);
        if (operation->attach)
            operation->attach(state, job);
        state_write_number(state, operation->elements(partial));
        operation->save(state, job, partial);
        if (operation->check)
            status = operation->check(partial, failure);
    }
    if (status == STATUS_OK)
        status = state_writer_finish(state, failure);
    state_writer_close(state);
    definition_destroy(&definition);
    return status;
}

/* Makes the job of a definition, and checks that this job has the same definition. */
static enum status state_recall_job(struct state_reader *state, const struct definition *definition,
                                    struct job *job, struct failure *failure)
{
    char name[STATE_JOB_NAME_SIZE];
    char type[STATE_JOB_NAME_SIZE];
    char sums[STATE_JOB_NAME_SIZE];
    struct definition again = {.text = NULL};
    size_t id = 0;
    unsigned decimals = 0;

    if (!definition_get(definition, "operation", name, sizeof name))
        return state_fail_damaged(state, "its operation is unknown", failure);
    while (id < OPERATION_IDS &&
           !(operations[id]->state && strcmp(name, operations[id]->state->name) == 0))
        id++;
    if (id == OPERATION_IDS)
        return state_fail_damaged(state, "its operation is unknown", failure);
    job->operation = (enum operation_id)id;
    if (!definition_get(definition, "type", type, sizeof type))
        return state_fail_damaged(state, "its type is unknown", failure);
    char *space = strchr(type, ' '); /* NAME, or NAME with N decimals */
    const bool is_valid = !space || (sscanf(space, " with %2u", &decimals) == 1 && decimals > 0 &&
                                     decimals <= TEXT_DECIMALS_MAX);
    if (space)
        *space = '\0';
    if (!is_valid || !element_parse(type, &job->element))
        return state_fail_damaged(state, "its type is unknown", failure);
    job->element.decimals = decimals;
    if (definition_get(definition, "sums", sums, sizeof sums))
        job->second = SECOND_WEIGHTS;
    enum status status = operations[job->operation]->state->recall(state, definition, job, failure);
    if (status == STATUS_OK)
        state_define(&again, job);
    if (again.is_lost)
        status = status_fail(failure, STATUS_DATA, "no memory for the definition of a state");
    else if (status == STATUS_OK && (again.length != definition->length ||
                                     memcmp(again.text, definition->text, again.length) != 0))
        status = state_fail_damaged(state, "its definition is invalid", failure);
    definition_destroy(&again);
    return status;
}

enum status state_recall(struct state_reader *state, struct definition *definition, struct job *job,
                         bool *found, struct failure *failure)
{
    *definition = (struct definition){.text = NULL};
    *job = (struct job){.predicates = NULL};
    enum status status = state_read_definition(state, definition, found, failure);
    if (status == STATUS_OK && *found)
        status = state_recall_job(state, definition, job, failure);
    return status;
}

enum status state_load(struct state_reader *state, const struct job *job, void *partial,
                       uint64_t *elements, struct failure *failure)
{
    uint64_t more;

    if (state_read_number(state, &more, failure) != STATUS_OK)
        return failure->status;
    if (more > UINT64_MAX - *elements)
        return status_fail(failure, STATUS_DATA,
                           STATUS_NAME
                           ": more than 2^64 - 1 elements, together with the states before it",
                           state_reader_name(state));
    enum status status =
        operations[job->operation]->state->load(state, job, partial, more, failure);
    if (status == STATUS_OK)
        status = state_read_end(state, failure);
    if (status == STATUS_OK)
        *elements += more;
    return status;
}
