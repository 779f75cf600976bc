/*
 * Reduce and count with --by. A CPU thread adds values to the rows of their groups.
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
#include "cpu/cpu_keys.h"
#include "ops/operations.h"
#include "partial/state.h"
#include "print/print_values.h"

#include <stdlib.h>

#define OP_GROUPS_NAME_SIZE 16

struct op_groups_thread {
    const struct groups *groups;
    struct table_writer *writer;
};

static enum status op_groups_open(void *thread, const struct job *job, void *partial,
                                  struct failure *failure)
{
    struct op_groups_thread *self = thread;
    (void)job;

    self->groups = partial;
    return table_writer_open(self->groups->table, &self->writer, failure);
}

static enum status op_groups_absorb(void *thread, const struct chunk *chunk,
                                    struct failure *failure)
{
    struct op_groups_thread *self = thread;
    const struct groups *groups = self->groups;
    const struct element *element = &groups->job->element;
    const size_t elements = chunk->bytes / element->bytes;
    uint64_t keys[TABLE_FIND_MAX];
    uint64_t values[TABLE_FIND_MAX];
    uint64_t *rows[TABLE_FIND_MAX];

    for (size_t i = 0, n; i < elements; i += n) {
        const char *block = (const char *)chunk->data + i * element->bytes;
        n = elements - i < TABLE_FIND_MAX ? elements - i : TABLE_FIND_MAX;
        for (size_t k = 0; k < n; k++)
            keys[k] = chunk->second[i + k] ^ groups->flip;
        if (table_writer_find(self->writer, keys, NULL, n, rows, failure) != STATUS_OK)
            return failure->status;
        cpu_keys_widen(element, block, n, values);
        groups_row_add(groups->layout, rows, values, n);
    }
    return STATUS_OK;
}

static enum status op_groups_flush(void *thread, struct failure *failure)
{
    return table_writer_flush(((struct op_groups_thread *)thread)->writer, failure);
}

static void op_groups_close(void *thread)
{
    table_writer_close(((struct op_groups_thread *)thread)->writer);
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
    const struct groups *groups = partial;
    uint64_t next = (uint64_t)element_min(&job->second_element);

    state_write_number(state, table_total(groups->table));
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
    return groups_check(groups, failure);
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
 * Reads the rest of a group, whose number of values is read. *next is the least value that the
 * group may be, and then the next one may be.
 */
static enum status op_groups_load_row(struct state_reader *state, const struct groups *groups,
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
    if (op_groups_is_possible(job, row))
        return STATUS_OK;
    return state_fail_damaged(state, "the values of a group contradict each other", failure);
}

static enum status op_groups_load(struct state_reader *state, const struct job *job, void *partial,
                                  uint64_t elements, struct failure *failure)
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
        status = op_groups_load_row(state, groups, row, &next, failure);
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

_Static_assert(PRINT_VALUE_SIZE >= REDUCE_SIZE, "room for any reduction");

/* The groups, and memory for a row of each part that a thread prints. */
struct op_groups_values {
    const struct groups *groups;
    uint64_t *buffers; /* [parts] of the layout's words */
};

static const uint64_t *op_groups_row(const struct print_values *values, size_t group)
{
    const struct op_groups_values *self = values->partial;
    const size_t part = group / PRINT_VALUES_PART;

    return groups_row(self->groups, group, self->buffers + part * self->groups->layout->words);
}

static size_t op_groups_write_group(const struct print_values *values, size_t group,
                                    char out[PRINT_VALUE_SIZE])
{
    const struct op_groups_values *self = values->partial;
    const uint64_t key = groups_key(self->groups, op_groups_row(values, group));

    return decimal_write_signed(out, element_value(&values->job->second_element, key));
}

static size_t op_groups_write(const struct print_values *values, size_t group, size_t i,
                              char out[PRINT_VALUE_SIZE])
{
    const struct job *job = values->job;
    const uint64_t *row = op_groups_row(values, group);
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
    const struct groups *groups = partial;
    const size_t count = table_distinct(groups->table);
    const size_t row_bytes = groups->layout->words * sizeof(uint64_t);
    struct op_groups_values self = {groups, calloc(count / PRINT_VALUES_PART + 1, row_bytes)};
    const struct print_values values = {
        .job = job,
        .partial = &self,
        .count = is_reduce ? job->reductions.count : job->predicate_count,
        .threads = options->threads,
        .groups = count,
        .write_group = op_groups_write_group,
        .name = is_reduce ? op_reduce_name : op_count_name,
        .write = op_groups_write,
    };

    if (!self.buffers)
        return status_fail(failure, STATUS_DATA, "no memory for printing groups");
    print_values(writer, options, &values);
    free(self.buffers);
    return groups_check(groups, failure);
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
