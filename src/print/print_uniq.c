/* Prints the result of uniq as rows. */
#include "config.h"

#include "count/uniq.h"
#include "job/binning.h"
#include "print/print_rows.h"

static enum status print_uniq_result(struct writer *writer, const struct job *job,
                                     const void *partial, const struct print_options *options,
                                     struct failure *failure)
{
    struct rows rows;
    enum status status;

    if (options->zeros && uniq_span(partial) > BINNING_BINS_MAX)
        return status_fail(failure, STATUS_DATA,
                           "there are too many bins to print the empty ones: at most %u",
                           (unsigned)BINNING_BINS_MAX);
    uniq_rows_begin(&rows, job, partial, options->zeros);
    status = print_rows(writer, &rows, options, failure);
    return status == STATUS_OK ? uniq_check(partial, failure) : status;
}

const struct print_operation print_uniq = {.result = print_uniq_result};
