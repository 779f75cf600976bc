/* Prints the reductions or counts of groups. */
#include "config.h"

#include "base/decimal.h"
#include "operations/count.h"
#include "operations/groups.h"
#include "operations/reduce_words.h"
#include "print/print_values.h"

#include <stdlib.h>

_Static_assert(PRINT_VALUE_SIZE >= REDUCE_SIZE, "room for any reduction");

/* The groups, and memory for a row of each part that a thread prints. */
struct print_groups {
    const struct groups *groups;
    uint64_t *buffers; /* [parts] of the layout's words */
};

static const uint64_t *print_groups_row(const struct print_values *values, size_t group)
{
    const struct print_groups *self = values->partial;
    const size_t part = group / PRINT_VALUES_PART;

    return groups_row(self->groups, group, self->buffers + part * self->groups->layout->words);
}

static void print_groups_name(const struct print_values *values, size_t i, const char *words[2])
{
    const struct job *job = values->job;

    if (job->grouped == OPERATION_REDUCE) {
        words[0] = job->reductions.list[i].name;
    } else {
        words[0] = job->predicates[i].name;
        words[1] = job->predicates[i].text;
    }
}

static size_t print_groups_write_group(const struct print_values *values, size_t group,
                                       char out[PRINT_VALUE_SIZE])
{
    const struct print_groups *self = values->partial;
    const uint64_t key = groups_key(self->groups, print_groups_row(values, group));

    return decimal_write_signed(out, element_value(&values->job->second_element, key));
}

static size_t print_groups_write(const struct print_values *values, size_t group, size_t i,
                                 char out[PRINT_VALUE_SIZE])
{
    const struct job *job = values->job;
    const uint64_t *row = print_groups_row(values, group);
    const uint64_t count = row[GROUPS_ROW_COUNT];
    struct reduce reduce;

    if (job->grouped == OPERATION_COUNT)
        return decimal_write(out,
                             count_derive(&job->predicates[i], count, row[GROUPS_ROW_FIRST + i]));
    reduce_words_unpack(job, count, row + GROUPS_ROW_FIRST, &reduce);
    return reduce_write_value(out, &reduce, &job->element, job->reductions.list[i].id);
}

static enum status print_groups_result(struct writer *writer, const struct job *job,
                                       const void *partial, const struct print_options *options,
                                       struct failure *failure)
{
    const bool is_reduce = job->grouped == OPERATION_REDUCE;
    const struct groups *groups = partial;
    const size_t count = table_distinct(groups->table);
    const size_t row_bytes = groups->layout->words * sizeof(uint64_t);
    struct print_groups self = {groups, calloc(count / PRINT_VALUES_PART + 1, row_bytes)};
    const struct print_values values = {
        .job = job,
        .partial = &self,
        .operation = job->grouped,
        .count = is_reduce ? job->reductions.count : job->predicate_count,
        .threads = options->threads,
        .groups = count,
        .write_group = print_groups_write_group,
        .name = print_groups_name,
        .write = print_groups_write,
    };

    if (!self.buffers)
        return status_fail(failure, STATUS_DATA, "no memory for printing groups");
    print_values(writer, options, &values);
    free(self.buffers);
    return groups_check(groups, failure);
}

const struct print_operation print_groups = {.result = print_groups_result};
