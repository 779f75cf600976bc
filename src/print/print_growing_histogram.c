/* Prints automatic histograms as rows. */
#include "config.h"

#include "operations/growing_histogram.h"
#include "print/print_rows.h"

static enum status print_growing_histogram_result(struct writer *writer, const struct job *job,
                                                  const void *partial,
                                                  const struct print_options *options,
                                                  struct failure *failure)
{
    struct rows rows;

    growing_histogram_rows_begin(&rows, job, partial, options->zeros);
    return print_rows(writer, &rows, options, failure);
}

const struct print_operation print_growing_histogram = {.result = print_growing_histogram_result};
