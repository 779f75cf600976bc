/* Prints counts as named values: the names are the predicates as typed. */
#include "config.h"

#include "base/decimal.h"
#include "count/count.h"
#include "print/print_values.h"

_Static_assert(PRINT_VALUE_SIZE >= DECIMAL_SIZE, "room for any count");

static void print_count_name(const struct print_values *values, size_t i, const char *words[2])
{
    words[0] = values->job->predicates[i].name;
    words[1] = values->job->predicates[i].text;
}

static size_t print_count_write(const struct print_values *values, size_t group, size_t i,
                                char out[PRINT_VALUE_SIZE])
{
    (void)group;
    return decimal_write(out, count_result(values->partial, values->job, i));
}

static enum status print_count_result(struct writer *writer, const struct job *job,
                                      const void *partial, const struct print_options *options,
                                      struct failure *failure)
{
    const struct print_values values = {
        .job = job,
        .partial = partial,
        .count = job->predicate_count,
        .operation = OPERATION_COUNT,
        .groups = 1,
        .name = print_count_name,
        .write = print_count_write,
    };

    (void)failure;
    print_values(writer, options, &values);
    return STATUS_OK;
}

const struct print_operation print_count = {.result = print_count_result};
