/* From options to the job: what they must have together. */
#include "config.h"

#include "options.h"

#include <stdlib.h>
#include <string.h>

static enum status options_make_histogram(const struct options *options, struct job *job,
                                          struct failure *failure)
{
    if (options->bins == 0 && !options->has_range) {
        job->operation = OPERATION_OPEN_HISTOGRAM;
        job->bin_width = options->bin_width;
        return STATUS_OK;
    }
    if (options->bins == 0)
        return status_fail(failure, STATUS_USAGE, "--bins is required");
    __int128 low = options->has_range ? options->range_low : 0;
    __int128 high = options->has_range ? options->range_high : (__int128)options->bins;
    job->outside = options->outside;
    return binning_init(&job->binning, &job->element, low, high, options->bins, failure);
}

/* Standard input can be read once: as the input, or as the values of one predicate. */
static enum status options_check_input(const struct options *options, struct failure *failure)
{
    unsigned uses = 0;

    for (size_t i = 0; i < options->predicate_count; i++) {
        const struct options_predicate *predicate = &options->predicates[i];
        uses += predicate->relation == PREDICATE_ANY_OF && strcmp(predicate->text, "@-") == 0;
    }
    for (size_t i = 0; uses == 1 && i < options->name_count; i++)
        uses += strcmp(options->names[i], "-") == 0;
    if (uses <= 1)
        return STATUS_OK;
    return status_fail(failure, STATUS_USAGE,
                       "--any-of @-: standard input is read for something else already");
}

static bool options_names_file(const struct options_predicate *predicate)
{
    return predicate->relation == PREDICATE_ANY_OF && *predicate->text == '@';
}

/* Makes the predicates of the job that read a file, or the others. */
static enum status options_make_predicates(const struct options *options, struct job *job,
                                           bool from_files, struct failure *failure)
{
    for (size_t i = 0; i < options->predicate_count; i++) {
        const struct options_predicate *typed = &options->predicates[i];
        if (options_names_file(typed) != from_files)
            continue;
        if (predicate_init(&job->predicates[i], typed->relation, typed->text, &job->element,
                           failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status options_make_count(const struct options *options, struct job *job,
                                      bool with_files, struct failure *failure)
{
    if (options->predicate_count == 0)
        return status_fail(failure, STATUS_USAGE, "count needs a predicate, such as --ge 500");
    if (options_check_input(options, failure) != STATUS_OK)
        return failure->status;
    job->predicates = calloc(options->predicate_count, sizeof *job->predicates);
    if (!job->predicates)
        return status_fail(failure, STATUS_DATA, "no memory for %zu predicates",
                           options->predicate_count);
    job->predicate_count = options->predicate_count;

    enum status status = options_make_predicates(options, job, false, failure);
    if (status == STATUS_OK && with_files)
        status = options_make_predicates(options, job, true, failure);
    return status;
}

/* As options_make_job; files that predicates name are read only `with_files`. */
static enum status options_make(const struct options *options, bool is_text, bool with_files,
                                struct job *job, struct failure *failure)
{
    *job = (struct job){
        .operation = options->operation,
        .element = options->element,
        .is_text = is_text,
        .text = options->text_rules,
    };
    if (!options->has_type)
        element_parse(is_text ? "i64" : "i32", &job->element);
    if (is_text)
        job->element.swapped = false; /* values are parsed to this machine's order */
    switch (job->operation) {
    case OPERATION_HISTOGRAM:
        return options_make_histogram(options, job, failure);
    case OPERATION_REDUCE:
        job->reductions = options->reductions;
        return STATUS_OK;
    case OPERATION_COUNT:
        return options_make_count(options, job, with_files, failure);
    case OPERATION_STALIN_SORT:
        if (options->every_ns > 0)
            return status_fail(failure, STATUS_USAGE,
                               "option --every does not go with stalin-sort, which prints all the "
                               "time");
        job->stalin_sort = options->stalin_sort;
        return STATUS_OK;
    case OPERATION_OPEN_HISTOGRAM: /* made of OPERATION_HISTOGRAM alone */
    case OPERATION_IDS:
        break;
    }
    __builtin_unreachable();
}

enum status options_check(const struct options *options, enum options_input *input,
                          struct failure *failure)
{
    struct job job;
    bool is_text = options->text || options->text_rules.field != 0 ||
                   options->text_rules.delimiter != TEXT_NO_DELIMITER || options->header_lines > 0;
    bool is_binary = options->binary || options->has_order;

    if (is_text && is_binary)
        return status_fail(failure, STATUS_USAGE,
                           "the input cannot be text (--text, --field, --delimiter, --header) and "
                           "binary (--binary, a type with le or be)");
    *input = is_text ? OPTIONS_INPUT_TEXT : is_binary ? OPTIONS_INPUT_BINARY : OPTIONS_INPUT_ANY;
    enum status status = options_make(options, is_text, false, &job, failure);
    job_destroy(&job);
    return status;
}

enum status options_make_job(const struct options *options, bool is_text, struct job *job,
                             struct failure *failure)
{
    return options_make(options, is_text, true, job, failure);
}
