/* Prints reductions as named values, in the given order. */
#include "config.h"

#include "count/reduce.h"
#include "print/print_values.h"

_Static_assert(PRINT_VALUE_SIZE >= REDUCE_SIZE, "room for any reduction");

static void print_reduce_name(const struct print_values *values, size_t i, const char *words[2])
{
    words[0] = values->job->reductions.list[i].name;
}

static size_t print_reduce_write(const struct print_values *values, size_t group, size_t i,
                                 char out[PRINT_VALUE_SIZE])
{
    (void)group;
    const struct job *job = values->job;

    if (!reduce_has(reduce_result(values->partial), job->reductions.list[i].id))
        return 0;
    return reduce_write(out, values->partial, job, (unsigned)i);
}

static enum status print_reduce_result(struct writer *writer, const struct job *job,
                                       const void *partial, const struct print_options *options,
                                       struct failure *failure)
{
    const struct print_values values = {
        .job = job,
        .partial = partial,
        .count = job->reductions.count,
        .operation = OPERATION_REDUCE,
        .groups = 1,
        .name = print_reduce_name,
        .write = print_reduce_write,
    };

    (void)failure;
    print_values(writer, options, &values);
    return STATUS_OK;
}

const struct print_operation print_reduce = {.result = print_reduce_result};
