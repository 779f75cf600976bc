/* Creates the bins of a histogram from the options. */
#include "config.h"

#include "app/edge_list.h"
#include "app/options_internal.h"
#include "input/number_list.h"

/* The options that define bins. Only one may be given. */
static const char *const options_binnings = "--bins, --width, --log2, --log10 and --edges";

static enum status options_check_binning(const struct options *options, struct failure *failure)
{
    int given = (options->bins > 0) + (options->width > 0) + options->log2 + options->log10 +
                (options->edges != NULL);

    if (given > 1)
        return status_fail(failure, STATUS_USAGE, "only one of %s can be given", options_binnings);
    if (options->has_range && (options->log2 || options->log10 || options->edges))
        return status_fail(failure, STATUS_USAGE,
                           "--range can only be combined with --bins or --width");
    return STATUS_OK;
}

static enum status options_make_edges(const struct options *options, struct job *job,
                                      struct failure *failure)
{
    struct edge_list list = {.edges = NULL};

    enum status status =
        edge_list_read(&list, options->edges, "edges", job->element.decimals, failure);
    if (status == STATUS_OK)
        status = binning_init_edges(&job->binning, &job->element, list.edges, list.count, failure);
    edge_list_free(&list);
    return status;
}

/* Bins from a range and a width. Without a width, chooses one as automatic bins do. */
static enum status options_make_width(const struct options *options, struct job *job,
                                      struct failure *failure)
{
    uint64_t width = options->width;

    if (width == 0)
        width = binning_round_width(options->range_low, options->range_high);
    return binning_init_width(&job->binning, &job->element, options->range_low, options->range_high,
                              width, failure);
}

enum status options_make_uniq(const struct options *options, uint64_t width, struct job *job,
                              struct failure *failure)
{
    const struct print_options *print = &options->print;

    if (print_check_format(print, failure) != STATUS_OK)
        return failure->status;
    job->operation = OPERATION_UNIQ;
    job->bin_width = width;
    job->needs_values = print->quantiles.count > 0;
    /* The greatest counts are found in any order. */
    job->any_order = print->top > 0 && print->quantiles.count == 0 && !print->zeros && !print->save;
    return STATUS_OK;
}

enum status options_make_histogram(const struct options *options, bool with_files, struct job *job,
                                   struct failure *failure)
{
    __int128 low = options->has_range ? options->range_low : 0;
    __int128 high = options->has_range ? options->range_high : (__int128)options->bins;

    if (options_check_binning(options, failure) != STATUS_OK ||
        print_check_format(&options->print, failure) != STATUS_OK)
        return failure->status;
    job->outside = options->outside;
    job->needs_values = options->print.quantiles.count > 0;
    if (options->bins > 0)
        return binning_init(&job->binning, &job->element, low, high, options->bins, failure);
    if (options->log2 || options->log10) {
        binning_init_powers(&job->binning, &job->element, options->log2 ? 2 : 10);
        return STATUS_OK;
    }
    if (options->edges)
        return number_list_is_file(options->edges) && !with_files
                   ? STATUS_OK
                   : options_make_edges(options, job, failure);
    if (options->has_range)
        return options_make_width(options, job, failure);
    if (options->width > 0 || options->print.quantiles.count > 0)
        return options_make_uniq(options, options->width > 0 ? options->width : 1, job, failure);
    job->is_automatic = true;
    return STATUS_OK;
}
