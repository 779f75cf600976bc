/* Prints growing histograms as rows. */
#include "config.h"

#include "operations/growing_histogram.h"
#include "print/print_rows.h"

static enum status print_growing_histogram_result(struct writer *writer, const struct job *job,
                                                  const void *partial,
                                                  const struct print_options *options,
                                                  struct failure *failure)
{
    bool has_zeros = options->zeros || print_rows_format(options)->has_zeros;
    struct rows rows;

    if (has_zeros && growing_histogram_span(partial) > BINNING_BINS_MAX)
        return status_fail(failure, STATUS_DATA,
                           "there are too many bins to print the empty ones: at most %u",
                           (unsigned)BINNING_BINS_MAX);
    growing_histogram_rows_begin(&rows, job, partial, options->zeros);
    return print_rows(writer, &rows, options, failure);
}

const struct print_operation print_growing_histogram = {.result = print_growing_histogram_result};
