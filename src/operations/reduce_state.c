/*
 * Saves and loads reductions. The definition has the line "reductions NAME,...". If there are
 * elements, the numbers are those that the reductions need of: the lower and the higher half of the
 * sum modulo 2^128; the three words of the sum of squares; min, max, and, or, xor as keys
 * (element.h); the rows of uniq with bins of width 1.
 */
#include "config.h"

#include "operations/reduce.h"
#include "operations/uniq.h"
#include "partial/operation.h"
#include "partial/state_job.h"

/* The sum of squares is below 2^192. */
#define REDUCE_STATE_SQUARES_WORDS 3

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

/* The numbers of a state, in the order of the file. */
struct reduce_state_words {
    uint64_t sum[2];
    uint64_t squares[REDUCE_STATE_SQUARES_WORDS];
    uint64_t extremes[2];
    uint64_t bits[3];
};

/* X(NEED, first word, how many): the words that are written for a need. */
#define REDUCE_STATE_WORDS(X)                       \
    X(SUM, sum, 2)                                  \
    X(SQUARES, squares, REDUCE_STATE_SQUARES_WORDS) \
    X(MIN, extremes, 1)                             \
    X(MAX, extremes + 1, 1)                         \
    X(AND, bits, 1)                                 \
    X(OR, bits + 1, 1)                              \
    X(XOR, bits + 2, 1)

static void reduce_state_save(struct state_writer *state, const struct job *job,
                              const void *partial)
{
    const struct reduce *reduce = reduce_result(partial);
    const struct reduce_state_words words = {
        .sum = {(uint64_t)reduce->sum, (uint64_t)(reduce->sum >> 64)},
        .squares = {reduce->squares.words[0], reduce->squares.words[1], reduce->squares.words[2]},
        .extremes = {(uint64_t)reduce->min, (uint64_t)reduce->max},
        .bits = {reduce->and_bits, reduce->or_bits, reduce->xor_bits},
    };

    if (reduce->count == 0)
        return;
#define REDUCE_STATE_SAVE(need, first, n)                                                \
    for (unsigned i = 0; job->reductions.needs & REDUCTIONS_NEED_##need && i < (n); i++) \
        state_write_number(state, (words.first)[i]);
    REDUCE_STATE_WORDS(REDUCE_STATE_SAVE)
#undef REDUCE_STATE_SAVE
    if (reduce_uniq(partial))
        uniq_state.save(state, job, reduce_uniq(partial));
}

static bool reduce_state_is_key(const struct element *element, uint64_t key)
{
    __int128 value = element_value(element, key);
    return value >= element_min(element) && value < element_limit(element);
}

/* Whether reduce->count elements of the type can have this sum. */
static bool reduce_state_is_sum(const struct element *element, const struct reduce *reduce)
{
    __int128 largest = element_limit(element) - 1;

    if (!element->is_signed)
        return reduce->sum <= (unsigned __int128)largest * reduce->count;
    __int128 sum = (__int128)reduce->sum;
    return sum >= element_min(element) * (__int128)reduce->count &&
           sum <= largest * (__int128)reduce->count;
}

/*
 * Whether they can have this sum of squares: at least that of equal elements, at most that of
 * extreme ones.
 */
static bool reduce_state_is_squares(const struct element *element, const struct reduce *reduce)
{
    bool is_negative = element->is_signed && (__int128)reduce->sum < 0;
    uint64_t extreme = element->is_signed ? (uint64_t)-element_min(element)
                                          : (uint64_t)(element_limit(element) - 1);
    struct wide sum = wide_from(is_negative ? -reduce->sum : reduce->sum);
    struct wide count = wide_from(reduce->count);
    struct wide least = wide_multiply(&sum, &sum);
    struct wide scaled = wide_multiply(&count, &reduce->squares);
    struct wide most = count;

    wide_scale(&most, extreme);
    wide_scale(&most, extreme);
    return wide_compare(&scaled, &least) >= 0 && wide_compare(&reduce->squares, &most) <= 0;
}

/* Whether elements with these reductions can exist. Checks only the needed ones. */
static bool reduce_state_is_possible(const struct job *job, const struct reduce_state_words *words,
                                     const struct reduce *reduce)
{
    const struct element *element = &job->element;
    unsigned needs = job->reductions.needs;

    if (needs & REDUCTIONS_NEED_SUM && !reduce_state_is_sum(element, reduce))
        return false;
    if (needs & REDUCTIONS_NEED_SQUARES && !reduce_state_is_squares(element, reduce))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        if (!reduce_state_is_key(element, words->extremes[i]))
            return false;
    }
    for (unsigned i = 0; i < 3; i++) {
        if (!reduce_state_is_key(element, words->bits[i]))
            return false;
    }
    return reduce->min <= reduce->max || !(needs & REDUCTIONS_NEED_MIN) ||
           !(needs & REDUCTIONS_NEED_MAX);
}

static struct reduce reduce_state_make(const struct job *job,
                                       const struct reduce_state_words *words, uint64_t elements)
{
    unsigned needs = job->reductions.needs;
    struct reduce reduce = reduce_empty;

    reduce.count = elements;
    reduce.sum = (unsigned __int128)words->sum[1] << 64 | words->sum[0];
    for (unsigned i = 0; i < REDUCE_STATE_SQUARES_WORDS; i++)
        reduce.squares.words[i] = words->squares[i];
    if (needs & REDUCTIONS_NEED_MIN)
        reduce.min = element_value(&job->element, words->extremes[0]);
    if (needs & REDUCTIONS_NEED_MAX)
        reduce.max = element_value(&job->element, words->extremes[1]);
    if (needs & REDUCTIONS_NEED_AND)
        reduce.and_bits = words->bits[0];
    reduce.or_bits = words->bits[1];
    reduce.xor_bits = words->bits[2];
    return reduce;
}

static enum status reduce_state_load(struct state_reader *state, const struct job *job,
                                     void *partial, uint64_t elements, struct failure *failure)
{
    struct reduce_state_words words = {.sum = {0}};

    if (elements == 0)
        return STATUS_OK;
#define REDUCE_STATE_LOAD(need, first, n)                                                  \
    for (unsigned i = 0; job->reductions.needs & REDUCTIONS_NEED_##need && i < (n); i++) { \
        if (state_read_number(state, &(words.first)[i], failure) != STATUS_OK)             \
            return failure->status;                                                        \
    }
    REDUCE_STATE_WORDS(REDUCE_STATE_LOAD)
#undef REDUCE_STATE_LOAD
    struct reduce reduce = reduce_state_make(job, &words, elements);
    if (!reduce_state_is_possible(job, &words, &reduce))
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
