/* Creates a job from the options, and checks that they go together. */
#include "config.h"

#include "app/options_internal.h"
#include "app/value_list.h"
#include "input/number_list.h"
#include "partial/operation.h"

#include <stdlib.h>
#include <string.h>

static bool options_names_file(const struct options_predicate *predicate)
{
    return predicate->relation == PREDICATE_ANY_OF && number_list_is_file(predicate->text);
}

/* Standard input can be read only once: as the input, or as the list of one option. */
static enum status options_check_input(const struct options *options, struct failure *failure)
{
    const char *name = "edges";
    unsigned uses = options->edges && number_list_is_stdin(options->edges);

    for (size_t i = 0; i < options->predicate_count; i++) {
        if (!options_names_file(&options->predicates[i]))
            continue;
        name = "any-of";
        uses += number_list_is_stdin(options->predicates[i].text);
    }
    for (size_t i = 0; uses == 1 && i < options->name_count; i++)
        uses += strcmp(options->names[i], "-") == 0;
    if (uses <= 1)
        return STATUS_OK;
    return status_fail(failure, STATUS_USAGE,
                       "--%s @-: standard input is already used for something else", name);
}

/* Creates one predicate; reads the list of --any-of. */
static enum status options_make_predicate(const struct options_predicate *typed,
                                          const struct element *element,
                                          struct predicate *predicate, struct failure *failure)
{
    struct value_list list = {.keys = NULL};
    enum status status;

    if (typed->relation != PREDICATE_ANY_OF)
        return predicate_init(predicate, typed->relation, typed->text, element, failure);
    status = value_list_read(&list, typed->text, predicate_name(typed->relation), element, failure);
    if (status == STATUS_OK) {
        value_list_sort(&list, element);
        status =
            predicate_init_any_of(predicate, typed->text, element, list.keys, list.count, failure);
    }
    value_list_free(&list);
    return status;
}

/* Creates either the predicates that read a file or the others. */
static enum status options_make_predicates(const struct options *options, struct job *job,
                                           bool from_files, struct failure *failure)
{
    for (size_t i = 0; i < options->predicate_count; i++) {
        const struct options_predicate *typed = &options->predicates[i];
        if (options_names_file(typed) != from_files)
            continue;
        if (options_make_predicate(typed, &job->element, &job->predicates[i], failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status options_make_count(const struct options *options, struct job *job,
                                      bool with_files, struct failure *failure)
{
    if (options->predicate_count == 0)
        return status_fail(failure, STATUS_USAGE, "count needs a predicate, such as --ge 500");
    if (print_check_values(&options->print, operations[job->operation]->name, failure) != STATUS_OK)
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

static enum status options_make_reduce(const struct options *options, struct job *job,
                                       struct failure *failure)
{
    const char *name = reductions_first(&options->reductions, REDUCTIONS_NEED_TABLE);

    if (print_check_values(&options->print, operations[job->operation]->name, failure) != STATUS_OK)
        return failure->status;
    if (job->second == SECOND_GROUPS && name)
        return status_fail(failure, STATUS_USAGE, "%s does not go with --by", name);
    job->reductions = options->reductions;
    job->any_order = !(options->reductions.needs & REDUCTIONS_NEED_ORDER) && !options->print.save;
    return STATUS_OK;
}

/* As options_make_job; reads the files that options name only `with_files`. */
static enum status options_make(const struct options *options, bool is_text, bool with_files,
                                struct job *job, struct failure *failure)
{
    *job = (struct job){
        .operation = options->operation,
        .element = options->element,
        .is_text = is_text,
        .text = options->text_rules,
        .bin_width = 1,
        .buffer_bytes = options->buffer_bytes,
        .temporary_directory = options->temporary_directory,
    };
    if (!options->has_type)
        element_parse(is_text ? "i64" : "i32", &job->element);
    if (job->text.is_quoted && job->text.delimiter == TEXT_NO_DELIMITER)
        job->text.delimiter = ',';
    if (is_text)
        job->element.swapped = false; /* parsed values are in this machine's byte order */
    job->element.decimals = options->text_rules.decimals;
    if (options_check_input(options, failure) != STATUS_OK ||
        options_make_record(options, job, failure) != STATUS_OK ||
        options_make_second(options, job, failure) != STATUS_OK)
        return failure->status;
    switch (job->operation) {
    case OPERATION_HISTOGRAM:
        return options_make_histogram(options, with_files, job, failure);
    case OPERATION_UNIQ:
        return options_make_uniq(options, 1, job, failure);
    case OPERATION_REDUCE:
        return options_make_reduce(options, job, failure);
    case OPERATION_COUNT:
        return options_make_count(options, job, with_files, failure);
    case OPERATION_STALIN_SORT:
        job->stalin_sort = options->stalin_sort;
        return STATUS_OK;
    default: /* it has no options of its own */
        return STATUS_OK;
    }
}

enum status options_check(const struct options *options, enum options_input *input,
                          struct failure *failure)
{
    struct job job;
    const struct text_rules *rules = &options->text_rules;
    bool is_text = options->text || rules->field != 0 || rules->delimiter != TEXT_NO_DELIMITER ||
                   rules->is_quoted || options->header_lines > 0 || options->has_base ||
                   options->has_decimals;
    bool is_binary = options->binary || options->has_order || options->record_bytes > 0;

    if (is_text && is_binary)
        return status_fail(
            failure, STATUS_USAGE,
            "the input cannot be text (--text, --field, --delimiter, --csv, --base, --decimals, "
            "--header) and binary (--binary, --record, a type with le or be)");
    if (rules->is_quoted && rules->delimiter == '"')
        return status_fail(failure, STATUS_USAGE, "with --csv, the delimiter cannot be a quote");
    if (options_check_second(options, failure) != STATUS_OK)
        return failure->status;
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

enum status options_check_merged(const struct options *options, const struct job *job,
                                 struct failure *failure)
{
    const enum operation_id operation = job->operation;

    if (options->unmergeable[operation])
        return status_fail(failure, STATUS_USAGE, "option --%s does not go with states of %s",
                           options->unmergeable[operation], operations[operation]->name);
    if (operation == OPERATION_REDUCE || operation == OPERATION_COUNT)
        return print_check_values(&options->print, operations[operation]->name, failure);
    return STATUS_OK;
}
