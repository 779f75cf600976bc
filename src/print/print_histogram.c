/* Prints histograms as rows. */
#include "config.h"

#include "count/histogram.h"
#include "print/print_rows.h"

static enum status print_histogram_result(struct writer *writer, const struct job *job,
                                          const void *partial, const struct print_options *options,
                                          struct failure *failure)
{
    struct rows rows;

    histogram_rows_begin(&rows, job, partial, options->zeros);
    return print_rows(writer, &rows, options, failure);
}

const struct print_operation print_histogram = {.result = print_histogram_result};
