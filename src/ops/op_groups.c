/*
 * Reduce and count with --by. A CPU thread hands the keys of values, beside their groups, to the
 * writer (groups.h).
 *
 * The definition of its states has the line "by TYPE", the type of the groups, and then
 * "of reduce" or "of count" and the lines of that. The numbers are, for each group in ascending
 * order, its number of values, how many values of the groups' type are skipped since the group
 * before, or since the smallest one, and the other words of its row (groups_row.h). A 0 is the end.
 */
#include "config.h"

#include "base/decimal.h"
#include "count/count.h"
#include "count/groups.h"
#include "count/reduce_words.h"
#include "cpu/cpu_record.h"
#include "ops/operations.h"
#include "partial/state.h"
#include "print/print_values.h"

#include <stdlib.h>

#define OP_GROUPS_NAME_SIZE 16

struct op_groups_thread {
    const struct job *job;
    struct groups_writer writer;
};

static enum status op_groups_open(void *thread, const struct job *job, void *partial,
                                  struct failure *failure)
{
    struct op_groups_thread *self = thread;

    self->job = job;
    return groups_writer_open(partial, &self->writer, failure);
}

static enum status op_groups_absorb(void *thread, const struct chunk *chunk,
                                    struct failure *failure)
{
    struct op_groups_thread *self = thread;
    const struct element *element = &self->job->element;
    const size_t elements = chunk->bytes / element->bytes;
    uint64_t keys[GROUPS_WRITER_BLOCK];

    for (size_t i = 0, n; i < elements; i += n) {
        const char *block = (const char *)chunk->data + i * element->bytes;
        n = elements - i < GROUPS_WRITER_BLOCK ? elements - i : GROUPS_WRITER_BLOCK;
        cpu_record_gather_keys(element, block, element->bytes, n, keys);
        if (groups_writer_add(&self->writer, chunk->second + i, keys, n, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status op_groups_flush(void *thread, struct failure *failure)
{
    return groups_writer_flush(&((struct op_groups_thread *)thread)->writer, failure);
}

static void op_groups_close(void *thread)
{
    groups_writer_close(&((struct op_groups_thread *)thread)->writer);
}

static void op_groups_define(struct definition *definition, const struct job *job)
{
    const struct operation *of = operations[job->operation];

    definition_print(definition, "by\t%s\nof\t%s\n", job->second_element.name, of->state_name);
    of->define(definition, job);
}

static enum status op_groups_recall(struct state_reader *state, const struct definition *definition,
                                    struct job *job, struct failure *failure)
{
    char type[OP_GROUPS_NAME_SIZE];
    char of[OP_GROUPS_NAME_SIZE];

    if (!definition_get(definition, "by", type, sizeof type) ||
        !element_parse(type, &job->second_element) ||
        !definition_get(definition, "of", of, sizeof of) || !operation_find(of, &job->operation) ||
        (job->operation != OPERATION_REDUCE && job->operation != OPERATION_COUNT))
        return state_fail_damaged(state, "its groups are unknown", failure);
    job->second = SECOND_GROUPS;
    if (operations[job->operation]->recall(state, definition, job, failure) != STATUS_OK)
        return failure->status;
    if (job->reductions.needs & REDUCTIONS_NEED_TABLE)
        return state_fail_damaged(state, "its reductions are not of groups", failure);
    return STATUS_OK;
}

static enum status op_groups_save(struct state_writer *state, const struct job *job,
                                  const void *partial, struct failure *failure)
{
    const size_t words = groups_words(partial);
    uint64_t next = (uint64_t)element_min(&job->second_element);
    (void)failure;

    state_write_number(state, groups_elements(partial));
    for (size_t i = 0; i < groups_count(partial); i++) {
        const uint64_t *row = groups_row(partial, i);
        state_write_number(state, row[GROUPS_ROW_COUNT]);
        state_write_number(state, row[GROUPS_ROW_KEY] - next);
        for (size_t k = GROUPS_ROW_FIRST; k < words; k++)
            state_write_number(state, row[k]);
        next = row[GROUPS_ROW_KEY] + 1;
    }
    state_write_number(state, 0);
    return STATUS_OK;
}

/* Whether values can have these words, of a row that a state has. */
static bool op_groups_is_possible(const struct job *job, const uint64_t *row)
{
    struct reduce reduce;

    for (size_t i = 0; i < job->predicate_count; i++) {
        if (row[GROUPS_ROW_FIRST + i] > row[GROUPS_ROW_COUNT])
            return false;
    }
    return reduce_words_check(job, row[GROUPS_ROW_COUNT], row + GROUPS_ROW_FIRST, &reduce);
}

/*
 * Reads the rest of a group, whose number of values is read, and adds it. *next is the least value
 * that the group may be, and then the next one may be.
 */
static enum status op_groups_load_row(struct state_reader *state, const struct job *job,
                                      struct groups *groups, uint64_t *row, __int128 *next,
                                      struct failure *failure)
{
    const size_t words = groups_words(groups);
    uint64_t skipped;

    if (state_read_number(state, &skipped, failure) != STATUS_OK)
        return failure->status;
    if (skipped >= element_limit(&job->second_element) - *next)
        return state_fail_damaged(state, "it has a group that does not exist", failure);
    row[GROUPS_ROW_KEY] = (uint64_t)(*next + skipped);
    *next += (__int128)skipped + 1;
    for (size_t k = GROUPS_ROW_FIRST; k < words; k++) {
        if (state_read_number(state, &row[k], failure) != STATUS_OK)
            return failure->status;
    }
    if (!op_groups_is_possible(job, row))
        return state_fail_damaged(state, "the values of a group contradict each other", failure);
    return groups_add_row(groups, row, failure);
}

static enum status op_groups_load(struct state_reader *state, const struct job *job, void *partial,
                                  uint64_t elements, struct failure *failure)
{
    uint64_t *row = malloc(groups_words(partial) * sizeof *row);
    __int128 next = element_min(&job->second_element);
    enum status status = STATUS_OK;

    if (!row)
        return status_fail(failure, STATUS_DATA, "no memory for a group");
    row[GROUPS_ROW_COUNT] = 1;
    while (status == STATUS_OK && row[GROUPS_ROW_COUNT] > 0) {
        status = state_read_count(state, &row[GROUPS_ROW_COUNT], &elements, failure);
        if (status == STATUS_OK && row[GROUPS_ROW_COUNT] > 0)
            status = op_groups_load_row(state, job, partial, row, &next, failure);
    }
    free(row);
    if (status == STATUS_OK && elements > 0)
        status = state_fail_damaged(state, "not all was counted", failure);
    return status;
}

/* Rows between the one that is printed and the one that is fetched from memory. */
#define OP_GROUPS_AHEAD 16

_Static_assert(PRINT_VALUE_SIZE >= REDUCE_SIZE, "room for any reduction");

static void op_groups_name(const struct print_values *values, size_t i, const char *words[2])
{
    const struct job *job = values->job;

    if (job->operation == OPERATION_REDUCE) {
        words[0] = job->reductions.list[i].name;
    } else {
        words[0] = job->predicates[i].name;
        words[1] = job->predicates[i].text;
    }
}

static size_t op_groups_write_group(const struct print_values *values, size_t group,
                                    char out[PRINT_VALUE_SIZE])
{
    const size_t ahead = values->groups - group > OP_GROUPS_AHEAD ? OP_GROUPS_AHEAD : 0;
    const uint64_t key = groups_row(values->partial, group)[GROUPS_ROW_KEY];

    __builtin_prefetch(groups_row(values->partial, group + ahead));
    return decimal_write_signed(out, element_value(&values->job->second_element, key));
}

static size_t op_groups_write(const struct print_values *values, size_t group, size_t i,
                              char out[PRINT_VALUE_SIZE])
{
    const struct job *job = values->job;
    const uint64_t *row = groups_row(values->partial, group);
    const uint64_t count = row[GROUPS_ROW_COUNT];
    struct reduce reduce;

    if (job->operation == OPERATION_COUNT)
        return decimal_write(out,
                             count_derive(&job->predicates[i], count, row[GROUPS_ROW_FIRST + i]));
    reduce_words_unpack(job, count, row + GROUPS_ROW_FIRST, &reduce);
    return reduce_write_value(out, &reduce, &job->element, job->reductions.list[i].id);
}

static enum status op_groups_print(struct writer *writer, const struct job *job,
                                   const void *partial, const struct print_options *options,
                                   struct failure *failure)
{
    const bool is_reduce = job->operation == OPERATION_REDUCE;
    const struct print_values values = {
        .job = job,
        .partial = partial,
        .count = is_reduce ? job->reductions.count : job->predicate_count,
        .threads = options->threads,
        .groups = groups_count(partial),
        .write_group = op_groups_write_group,
        .name = op_groups_name,
        .write = op_groups_write,
    };

    (void)failure;
    print_values(writer, options, &values);
    return STATUS_OK;
}

const struct operation op_groups = {
    .create = groups_create,
    .finish = groups_finish,
    .destroy = groups_destroy,
    .thread_bytes = sizeof(struct op_groups_thread),
    .thread_open = op_groups_open,
    .thread_absorb = op_groups_absorb,
    .thread_finish = op_groups_flush,
    .thread_close = op_groups_close,
    .state_name = "groups",
    .define = op_groups_define,
    .save = op_groups_save,
    .recall = op_groups_recall,
    .load = op_groups_load,
    .print = op_groups_print,
};
