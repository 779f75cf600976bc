/* How open histograms are printed: as rows, like any other. */
#include "config.h"

#include "open_histogram.h"
#include "print_rows.h"

static enum status print_open_histogram_result(struct writer *writer, const struct job *job,
                                               const void *partial,
                                               const struct print_options *options,
                                               struct failure *failure)
{
    struct rows rows;

    open_histogram_rows_begin(&rows, job, partial, options->zeros);
    return print_rows(writer, &rows, options, failure);
}

const struct print_operation print_open_histogram = {.result = print_open_histogram_result};
