#include "config.h"

#include "operation.h"

#include "histogram.h"

#include <string.h>

static enum status operation_histogram_create(const struct job *job, void **partial,
                                              struct failure *failure)
{
    struct histogram *histogram = NULL;
    enum status status = histogram_create(job, &histogram, failure);
    *partial = histogram;
    return status;
}

static enum status operation_histogram_finish(void *partial, const struct job *job,
                                              uint64_t elements, struct failure *failure)
{
    return histogram_finish(partial, job, elements, failure);
}

static void operation_histogram_report(const void *partial)
{
    unsigned long long below = histogram_below(partial);
    unsigned long long above = histogram_above(partial);

    if (below > 0 || above > 0)
        status_print("values outside the bins: below %llu, above %llu", below, above);
}

static void operation_histogram_destroy(void *partial)
{
    histogram_destroy(partial);
}

const struct operation operations[OPERATION_COUNT] = {
    [OPERATION_HISTOGRAM] =
        {
            .name = "histogram",
            .alias = "hist",
            .help = "how many values fall in each bin (the default)",
            .create = operation_histogram_create,
            .finish = operation_histogram_finish,
            .report = operation_histogram_report,
            .destroy = operation_histogram_destroy,
        },
};

bool operation_find(const char *name, enum operation_id *id)
{
    for (size_t i = 0; i < OPERATION_COUNT; i++) {
        const struct operation *operation = &operations[i];
        if (strcmp(name, operation->name) != 0 &&
            (!operation->alias || strcmp(name, operation->alias) != 0))
            continue;
        *id = (enum operation_id)i;
        return true;
    }
    return false;
}
