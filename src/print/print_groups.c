/* Prints the reductions or counts of groups. */
#include "config.h"

#include "base/decimal.h"
#include "count/count.h"
#include "count/groups.h"
#include "count/reduce_words.h"
#include "print/print_values.h"

/* Rows between the one that is printed and the one that is fetched from memory. */
#define PRINT_GROUPS_AHEAD 16

_Static_assert(PRINT_VALUE_SIZE >= REDUCE_SIZE, "room for any reduction");

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
    const size_t ahead = values->groups - group > PRINT_GROUPS_AHEAD ? PRINT_GROUPS_AHEAD : 0;
    const uint64_t key = groups_row(values->partial, group)[GROUPS_ROW_KEY];

    __builtin_prefetch(groups_row(values->partial, group + ahead));
    return decimal_write_signed(out, element_value(&values->job->second_element, key));
}

static size_t print_groups_write(const struct print_values *values, size_t group, size_t i,
                                 char out[PRINT_VALUE_SIZE])
{
    const struct job *job = values->job;
    const uint64_t *row = groups_row(values->partial, group);
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
    const struct print_values values = {
        .job = job,
        .partial = partial,
        .operation = job->grouped,
        .count = is_reduce ? job->reductions.count : job->predicate_count,
        .threads = options->threads,
        .groups = groups_count(partial),
        .write_group = print_groups_write_group,
        .name = print_groups_name,
        .write = print_groups_write,
    };

    (void)failure;
    print_values(writer, options, &values);
    return STATUS_OK;
}

const struct print_operation print_groups = {.result = print_groups_result};
