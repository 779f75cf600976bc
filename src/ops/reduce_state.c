/*
 * Saves and loads reductions. The definition has the line "reductions NAME,...". If there are
 * elements, the numbers are the words that the reductions need (reduce_words.h), and the rows of
 * uniq with bins of width 1 if they need a table.
 */
#include "config.h"

#include "count/reduce_words.h"
#include "count/uniq.h"
#include "partial/operation.h"
#include "partial/state_job.h"

static void reduce_state_define(struct definition *definition, const struct job *job)
{
    for (unsigned i = 0; i < job->reductions.count; i++)
        definition_print(definition, "%s%s", i == 0 ? "reductions\t" : ",",
                         job->reductions.list[i].name);
    definition_append(definition, "\n", 1);
}

static enum status reduce_state_recall(struct state_reader *state,
                                       const struct definition *definition, struct job *job,
                                       struct failure *failure)
{
    char list[REDUCTIONS_TEXT_SIZE];

    if (!definition_get(definition, "reductions", list, sizeof list) ||
        reductions_parse(list, &job->reductions) != REDUCTIONS_LIST)
        return state_fail_damaged(state, "it has no reductions", failure);
    job->bin_width = 1;
    return STATUS_OK;
}

static uint64_t reduce_state_elements(const void *partial)
{
    return reduce_result(partial)->count;
}

static void reduce_state_save(struct state_writer *state, const struct job *job,
                              const void *partial)
{
    const struct reduce *reduce = reduce_result(partial);
    const unsigned needs = job->reductions.needs;
    uint64_t words[REDUCE_WORDS_MAX];

    if (reduce->count == 0)
        return;
    reduce_words_pack(needs, reduce, words);
    for (unsigned i = 0; i < reduce_words_count(needs); i++)
        state_write_number(state, words[i]);
    if (reduce_uniq(partial))
        uniq_state.save(state, job, reduce_uniq(partial));
}

static enum status reduce_state_load(struct state_reader *state, const struct job *job,
                                     void *partial, uint64_t elements, struct failure *failure)
{
    uint64_t words[REDUCE_WORDS_MAX];
    struct reduce reduce;

    if (elements == 0)
        return STATUS_OK;
    for (unsigned i = 0; i < reduce_words_count(job->reductions.needs); i++) {
        if (state_read_number(state, &words[i], failure) != STATUS_OK)
            return failure->status;
    }
    if (!reduce_words_check(job, elements, words, &reduce))
        return state_fail_damaged(state, "its reductions contradict each other", failure);
    reduce_share(partial, &reduce);
    if (!reduce_uniq(partial))
        return STATUS_OK;
    return uniq_state.load(state, job, reduce_uniq(partial), elements, failure);
}

static enum status reduce_state_check(const void *partial, struct failure *failure)
{
    const struct uniq *uniq = reduce_uniq(partial);
    return uniq ? uniq_check(uniq, failure) : STATUS_OK;
}

const struct state_operation reduce_state = {
    .name = "reduce",
    .define = reduce_state_define,
    .recall = reduce_state_recall,
    .elements = reduce_state_elements,
    .save = reduce_state_save,
    .check = reduce_state_check,
    .load = reduce_state_load,
};
