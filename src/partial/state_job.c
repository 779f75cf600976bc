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
    const struct operation *operation = operation_of(job);
    const struct element *element = &job->element;

    definition_print(definition, "operation\t%s\n", operation->state_name);
    if (element->decimals > 0)
        definition_print(definition, "type\t%s with %u decimals\n", element->name,
                         element->decimals);
    else
        definition_print(definition, "type\t%s\n", element->name);
    if (job->has_weights)
        definition_print(definition, "sums\tweight\n");
    operation->define(definition, job);
}

enum status state_save(struct writer *writer, const struct job *job, const void *partial,
                       struct failure *failure)
{
    struct definition definition = {.text = NULL};
    struct state_writer *state = NULL;

    state_define(&definition, job);
    enum status status = state_writer_open(&state, writer, failure);
    if (status == STATUS_OK && definition.is_lost)
        status = status_fail(failure, STATUS_DATA, "no memory for saving the state");
    if (status == STATUS_OK) {
        state_write_definition(state, &definition);
        status = operation_of(job)->save(state, job, partial, failure);
    }
    if (status == STATUS_OK)
        status = state_writer_finish(state, failure);
    state_writer_close(state);
    definition_destroy(&definition);
    return status;
}

/* Reads a type, with or without decimals. Changes the text. */
static bool state_read_type(char *text, struct element *element)
{
    char *space = strchr(text, ' ');
    unsigned decimals = 0;

    if (space && (sscanf(space, " with %2u", &decimals) != 1 || decimals == 0 ||
                  decimals > TEXT_DECIMALS_MAX))
        return false;
    if (space)
        *space = '\0';
    if (!element_parse(text, element))
        return false;
    element->decimals = decimals;
    return true;
}

enum status state_recall(struct state_reader *state, struct definition *definition, struct job *job,
                         bool *found, struct failure *failure)
{
    const struct operation *operation = NULL;
    char text[STATE_JOB_NAME_SIZE];
    struct definition again = {.text = NULL};

    *definition = (struct definition){.text = NULL};
    *job = (struct job){.predicates = NULL};
    enum status status = state_read_definition(state, definition, found, failure);
    if (status != STATUS_OK || !*found)
        return status;
    if (definition_get(definition, "operation", text, sizeof text)) {
        for (size_t i = 0; operations[i] && !operation; i++) {
            if (!operations[i]->state_name || strcmp(text, operations[i]->state_name) != 0)
                continue;
            operation = operations[i];
            if (i < OPERATION_IDS) /* else a mode, which knows its operation */
                job->operation = (enum operation_id)i;
        }
    }
    if (!operation)
        return state_fail_damaged(state, "its operation is unknown", failure);
    if (!definition_get(definition, "type", text, sizeof text) ||
        !state_read_type(text, &job->element))
        return state_fail_damaged(state, "its type is unknown", failure);
    if (definition_get(definition, "sums", text, sizeof text))
        job->has_weights = true;
    if (operation->recall(state, definition, job, failure) != STATUS_OK)
        return failure->status;
    state_define(&again, job);
    if (again.is_lost)
        status = status_fail(failure, STATUS_DATA, "no memory for the definition of a state");
    else if (again.length != definition->length ||
             memcmp(again.text, definition->text, again.length) != 0)
        status = state_fail_damaged(state, "its definition is invalid", failure);
    definition_destroy(&again);
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
    enum status status = operation_of(job)->load(state, job, partial, more, failure);
    if (status == STATUS_OK)
        status = state_read_end(state, failure);
    if (status == STATUS_OK)
        *elements += more;
    return status;
}
