/*
 * Saves and loads counts. The definition has a line for each predicate: "predicate", its name, the
 * text as typed, and its meaning, separated by tabs. The meaning is "every", "LO:HI" or "N values,
 * DIGEST" (of their keys, digest.h), or "not " and one of these. The numbers are the hits of each
 * predicate, 0 for "every".
 */
#include "config.h"

#include "base/decimal.h"
#include "operations/count.h"
#include "partial/operation.h"
#include "partial/state_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_STATE_KEY          "predicate"
#define COUNT_STATE_MEANING_SIZE 128

static void count_state_define_meaning(struct definition *definition,
                                       const struct predicate *predicate,
                                       const struct element *element)
{
    char low[DECIMAL_SIZE];
    char high[DECIMAL_SIZE];

    definition_print(definition, "%s", predicate->negated ? "not " : "");
    switch (predicate->form) {
    case PREDICATE_EVERY:
        definition_print(definition, "every\n");
        break;
    case PREDICATE_INTERVAL:
        decimal_format_signed(low, element_value(element, predicate->low));
        decimal_format_signed(high, element_value(element, predicate->low) + predicate->last + 1);
        definition_print(definition, "%s:%s\n", low, high);
        break;
    case PREDICATE_SET:
        definition_print(definition, "%llu values, %016llx\n",
                         (unsigned long long)predicate->set_values,
                         (unsigned long long)predicate->set_digest);
        break;
    }
}

static void count_state_define(struct definition *definition, const struct job *job)
{
    for (size_t i = 0; i < job->predicate_count; i++) {
        const struct predicate *predicate = &job->predicates[i];
        definition_print(definition, COUNT_STATE_KEY "\t%s\t", predicate->name);
        definition_append_typed(definition, predicate->text ? predicate->text : "");
        definition_append(definition, "\t", 1);
        count_state_define_meaning(definition, predicate, &job->element);
    }
}

/* Reads the meaning of a predicate. Returns false if it is not valid. */
static bool count_state_recall_meaning(struct predicate *predicate, const struct element *element,
                                       const char *text, size_t length)
{
    char meaning[COUNT_STATE_MEANING_SIZE];
    unsigned long long values;
    unsigned long long digest;
    __int128 low;
    __int128 high;

    if (length >= sizeof meaning)
        return false;
    memcpy(meaning, text, length);
    meaning[length] = '\0';
    predicate->negated = strncmp(meaning, "not ", 4) == 0;
    const char *what = meaning + (predicate->negated ? 4 : 0);
    if (strcmp(what, "every") == 0) {
        predicate->form = PREDICATE_EVERY;
        return true;
    }
    if (decimal_parse_range(what, 0, &low, &high)) {
        predicate->form = PREDICATE_INTERVAL;
        predicate->low = (uint64_t)low;
        predicate->last = (uint64_t)(high - low - 1);
        return low >= element_min(element) && low < high && high <= element_limit(element);
    }
    predicate->form = PREDICATE_SET;
    bool is_set = sscanf(what, "%llu values, %llx", &values, &digest) == 2;
    predicate->set_values = is_set ? values : 0;
    predicate->set_digest = is_set ? digest : 0;
    return is_set;
}

/* Reads a predicate's line. The predicate owns the copy of its typed text. */
static enum status count_state_recall_predicate(struct state_reader *state,
                                                struct predicate *predicate,
                                                const struct element *element, const char *line,
                                                size_t length, struct failure *failure)
{
    enum predicate_relation relation;
    const char *end = line + length;
    const char *name_end = memchr(line, '\t', length);
    const char *typed = name_end ? name_end + 1 : end;
    const char *typed_end = memchr(typed, '\t', (size_t)(end - typed));

    if (!typed_end || !predicate_find(line, (size_t)(name_end - line), &relation) ||
        !count_state_recall_meaning(predicate, element, typed_end + 1,
                                    (size_t)(end - typed_end) - 1))
        return state_fail_damaged(state, "it has an invalid predicate", failure);
    predicate->name = predicate_name(relation);
    if (relation == PREDICATE_ALL)
        return STATUS_OK;
    predicate->recalled = definition_read_typed(typed, (size_t)(typed_end - typed));
    predicate->text = predicate->recalled;
    if (!predicate->recalled)
        return status_fail(failure, STATUS_DATA, "no memory for a predicate of a state");
    return STATUS_OK;
}

static enum status count_state_recall(struct state_reader *state,
                                      const struct definition *definition, struct job *job,
                                      struct failure *failure)
{
    size_t count = 0;
    size_t length;
    const char *line = NULL;

    while ((line = definition_find(definition, COUNT_STATE_KEY, line, &length)))
        count++;
    if (count == 0)
        return state_fail_damaged(state, "it has no predicate", failure);
    job->predicates = calloc(count, sizeof *job->predicates);
    if (!job->predicates)
        return status_fail(failure, STATUS_DATA, "no memory for %zu predicates", count);
    job->predicate_count = count;
    for (size_t i = 0; i < count; i++) {
        line = definition_find(definition, COUNT_STATE_KEY, line, &length);
        if (count_state_recall_predicate(state, &job->predicates[i], &job->element, line, length,
                                         failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static uint64_t count_state_elements(const void *partial)
{
    return ((const struct count *)partial)->elements;
}

static void count_state_save(struct state_writer *state, const struct job *job, const void *partial)
{
    const struct count *count = partial;

    for (size_t i = 0; i < job->predicate_count; i++) {
        bool is_every = job->predicates[i].form == PREDICATE_EVERY;
        state_write_number(state, is_every ? 0 : count->hits[i]);
    }
}

static enum status count_state_load(struct state_reader *state, const struct job *job,
                                    void *partial, uint64_t elements, struct failure *failure)
{
    for (size_t i = 0; i < job->predicate_count; i++) {
        uint64_t hits;
        if (state_read_number(state, &hits, failure) != STATUS_OK)
            return failure->status;
        if (hits > elements)
            return state_fail_damaged(state, "the counts exceed the number of elements", failure);
        count_add_hits(partial, i, &hits, 1);
    }
    count_add_elements(partial, elements);
    return STATUS_OK;
}

const struct state_operation count_state = {
    .name = "count",
    .define = count_state_define,
    .recall = count_state_recall,
    .elements = count_state_elements,
    .save = count_state_save,
    .load = count_state_load,
};
