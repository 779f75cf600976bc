/* Creates a job from the options, and checks that they go together. */
#include "config.h"

#include "app/options.h"

#include "app/lists.h"
#include "app/options_table.h"
#include "input/number_list.h"
#include "partial/operation.h"

#include <stdlib.h>
#include <string.h>

/* Whether a column was given, as a field or as an element. */
static bool options_has_column(const struct options_column *column)
{
    return column->field != 0 || column->element.bytes > 0;
}

/* Fails unless an element at an offset of a record lies in it. */
static enum status options_check_place(const struct options *options, const char *option,
                                       const struct element *element, uint64_t offset,
                                       struct failure *failure)
{
    if (options->record_bytes >= element->bytes && offset <= options->record_bytes - element->bytes)
        return STATUS_OK;
    return status_fail(failure, STATUS_USAGE,
                       "%s at %s %llu does not fit in a --record of %llu bytes", element->name,
                       option, (unsigned long long)offset,
                       (unsigned long long)options->record_bytes);
}

/*
 * Sets the columns: of text the fields, of binary input the record, unless it is an element alone,
 * and the elements in it. The job's element is known.
 */
static enum status options_make_columns(const struct options *options, struct job *job,
                                        struct failure *failure)
{
    const struct options_column *second = options_second(options);

    if (options->record_bytes == 0 && options->has_offset)
        return status_fail(failure, STATUS_USAGE, "--offset needs --record");
    if (options_has_column(second))
        job->second = second == &options->weight ? SECOND_WEIGHTS : SECOND_GROUPS;
    if (options->record_bytes > 0 && !job->is_text) {
        if (options_check_place(options, "--offset", &job->element, options->record_offset,
                                failure) != STATUS_OK)
            return failure->status;
        if (options->record_bytes > job->element.bytes || job->second != SECOND_NONE)
            job->record_bytes = options->record_bytes;
        job->record_offset = options->record_offset;
    }
    if (second->element.bytes > 0) {
        job->second_element = second->element;
        job->second_offset = second->offset;
        return options_check_place(options, job_second_option(job), &second->element,
                                   second->offset, failure);
    }
    if (job->second != SECOND_NONE) {
        bool is_unsigned = job->second == SECOND_GROUPS && job->element.type == ELEMENT_U64;
        element_parse(is_unsigned ? "u64" : "i64", &job->second_element);
        job->second_element.swapped = false;
    }
    return STATUS_OK;
}

/* Makes the job one of uniq, with bins of that width. */
static enum status options_make_uniq(const struct options *options, uint64_t width, struct job *job,
                                     struct failure *failure)
{
    const struct print_options *print = &options->print;

    job->operation = OPERATION_UNIQ;
    job->bin_width = width;
    job->needs_values = print->quantiles.count > 0;
    /* The greatest counts are found in any order. */
    job->any_order = print->top > 0 && print->quantiles.count == 0 && !print->zeros && !print->save;
    return print_check_format(print, failure);
}

/* Makes the bins. Reads a file of edges only `with_files`. */
static enum status options_make_histogram(const struct options *options, bool with_files,
                                          struct job *job, struct failure *failure)
{
    const struct element *element = &job->element;
    const bool has_range = options->range_text != NULL;
    __int128 low = has_range ? options->range_low : 0;
    __int128 high = has_range ? options->range_high : (__int128)options->bins;
    int given = (options->bins > 0) + (options->width > 0) + options->log2 + options->log10 +
                (options->edges != NULL);

    if (given > 1)
        return status_fail(failure, STATUS_USAGE,
                           "only one of --bins, --width, --log2, --log10 and --edges can be given");
    if (has_range && (options->log2 || options->log10 || options->edges))
        return status_fail(failure, STATUS_USAGE,
                           "--range can only be combined with --bins or --width");
    if (print_check_format(&options->print, failure) != STATUS_OK)
        return failure->status;
    job->outside = options->outside;
    job->needs_values = options->print.quantiles.count > 0;
    if (options->bins > 0)
        return binning_init(&job->binning, element, low, high, options->bins, failure);
    if (options->log2 || options->log10) {
        binning_init_powers(&job->binning, element, options->log2 ? 2 : 10);
        return STATUS_OK;
    }
    if (options->edges) {
        __int128 *edges = NULL;
        size_t count;
        if (number_list_is_file(options->edges) && !with_files)
            return STATUS_OK;
        enum status status =
            lists_read_edges(options->edges, element->decimals, &edges, &count, failure);
        if (status == STATUS_OK)
            status = binning_init_edges(&job->binning, element, edges, count, failure);
        free(edges);
        return status;
    }
    if (has_range) /* without a width, one is chosen as for automatic bins */
        return binning_init_width(&job->binning, element, low, high,
                                  options->width > 0 ? options->width
                                                     : binning_round_width(low, high),
                                  failure);
    if (options->width > 0 || job->needs_values)
        return options_make_uniq(options, options->width > 0 ? options->width : 1, job, failure);
    job->is_automatic = true;
    return STATUS_OK;
}

bool options_names_file(const struct options_predicate *predicate)
{
    return predicate->relation == PREDICATE_ANY_OF && number_list_is_file(predicate->text);
}

/* Makes the predicates, and first those that read no file. Reads files only `with_files`. */
static enum status options_make_predicates(const struct options *options, bool with_files,
                                           struct job *job, struct failure *failure)
{
    const size_t count = options->predicate_count;

    job->predicates = calloc(count, sizeof *job->predicates);
    if (!job->predicates)
        return status_fail(failure, STATUS_DATA, "no memory for %zu predicates", count);
    job->predicate_count = count;
    for (size_t i = 0; i < (with_files ? 2 : 1) * count; i++) {
        const struct options_predicate *typed = &options->predicates[i % count];
        struct predicate *predicate = &job->predicates[i % count];
        enum status status = STATUS_OK;
        if (options_names_file(typed) != (i >= count))
            continue;
        if (typed->relation == PREDICATE_ANY_OF) {
            uint64_t *keys;
            size_t key_count;
            status = lists_read_keys(typed->text, &job->element, &keys, &key_count, failure);
            if (status == STATUS_OK)
                status = predicate_init_any_of(predicate, typed->text, &job->element, keys,
                                               key_count, failure);
            free(keys);
        } else {
            status =
                predicate_init(predicate, typed->relation, typed->text, &job->element, failure);
        }
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* Makes a job of reduce or count. */
static enum status options_make_values(const struct options *options, bool with_files,
                                       struct job *job, struct failure *failure)
{
    if (job->operation == OPERATION_COUNT && options->predicate_count == 0)
        return status_fail(failure, STATUS_USAGE, "count needs a predicate, such as --ge 500");
    if (print_check_values(&options->print, operations[job->operation]->name, failure) != STATUS_OK)
        return failure->status;
    if (job->operation == OPERATION_COUNT &&
        options_make_predicates(options, with_files, job, failure) != STATUS_OK)
        return failure->status;
    if (job->operation == OPERATION_COUNT)
        return STATUS_OK;
    const char *ungrouped = reductions_first(&options->reductions, REDUCTIONS_NEED_TABLE);
    if (job->second == SECOND_GROUPS && ungrouped)
        return status_fail(failure, STATUS_USAGE, "%s does not go with --by", ungrouped);
    job->reductions = options->reductions;
    job->any_order = !(options->reductions.needs & REDUCTIONS_NEED_ORDER) && !options->print.save;
    return STATUS_OK;
}

enum status options_make(const struct options *options, bool is_text, bool with_files,
                         struct job *job, struct failure *failure)
{
    *job = (struct job){
        .operation = options->command->operation,
        .element = options->element,
        .is_text = is_text,
        .bin_width = 1,
        .buffer_bytes = options->buffer_bytes,
        .temporary_directory = options->temporary_directory,
        .text =
            {
                .field = options->field.field,
                .second_field = options_second(options)->field,
                .delimiter = options->csv && options->delimiter == TEXT_NO_DELIMITER
                                 ? ','
                                 : options->delimiter,
                .is_quoted = options->csv,
                .notation = options->has_decimals              ? TEXT_FIXED
                            : options->base == OPTIONS_BASE_16 ? TEXT_HEX
                                                               : TEXT_INTEGERS,
                .decimals = options->decimals,
            },
    };
    if (!options->has_type)
        element_parse(is_text ? "i64" : "i32", &job->element);
    if (is_text)
        job->element.swapped = false; /* parsed values are in this machine's byte order */
    job->element.decimals = options->decimals;
    if (options_make_columns(options, job, failure) != STATUS_OK)
        return failure->status;
    switch (job->operation) {
    case OPERATION_HISTOGRAM:
        return options_make_histogram(options, with_files, job, failure);
    case OPERATION_UNIQ:
        return options_make_uniq(options, 1, job, failure);
    case OPERATION_REDUCE:
    case OPERATION_COUNT:
        return options_make_values(options, with_files, job, failure);
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
    const struct options_column *second = options_second(options);
    const char *name = second == &options->weight ? "--weight" : "--by";
    bool is_text = options->text || options->field.field != 0 ||
                   options->delimiter != TEXT_NO_DELIMITER || options->csv ||
                   options->header_lines > 0 || options->base != OPTIONS_BASE_DEFAULT ||
                   options->has_decimals;
    bool is_binary = options->binary || options->has_order || options->record_bytes > 0;
    const char *list = "edges"; /* the option that reads a list from standard input */
    unsigned uses = options->edges && number_list_is_stdin(options->edges);
    struct job job;

    if (is_text && is_binary)
        return status_fail(
            failure, STATUS_USAGE,
            "the input cannot be text (--text, --field, --delimiter, --csv, --base, --decimals, "
            "--header) and binary (--binary, --record, a type with le or be)");
    if (options->csv && options->delimiter == '"')
        return status_fail(failure, STATUS_USAGE, "with --csv, the delimiter cannot be a quote");
    if (second->element.bytes > 0 && options->record_bytes == 0)
        return status_fail(failure, STATUS_USAGE, "%s TYPE@OFFSET needs --record", name);
    if (second->field != 0 && options->record_bytes > 0)
        return status_fail(failure, STATUS_USAGE, "with --record, %s wants TYPE@OFFSET", name);
    if (second->field != 0 && options->field.field == 0)
        return status_fail(failure, STATUS_USAGE, "%s needs -f, the field of the values%s", name,
                           second == &options->weight ? " (of uniq -c lines: -f 2)" : "");
    for (size_t i = 0; i < options->predicate_count; i++) {
        if (!options_names_file(&options->predicates[i]))
            continue;
        list = "any-of";
        uses += number_list_is_stdin(options->predicates[i].text);
    }
    for (size_t i = 0; uses == 1 && i < options->name_count; i++)
        uses += strcmp(options->names[i], "-") == 0;
    if (uses > 1) /* standard input can be read only once */
        return status_fail(failure, STATUS_USAGE,
                           "--%s @-: standard input is already used for something else", list);
    *input = is_text ? OPTIONS_INPUT_TEXT : is_binary ? OPTIONS_INPUT_BINARY : OPTIONS_INPUT_ANY;
    enum status status = options_make(options, is_text, false, &job, failure);
    job_destroy(&job);
    return status;
}

enum status options_make_job(const struct options *options, bool is_text, struct job *job,
                             struct failure *failure)
{
    if (options_make(options, is_text, true, job, failure) != STATUS_OK)
        return failure->status;
    if (options->print.save && !(job->line = options_write_line(job)))
        return status_fail(failure, STATUS_DATA, "no memory for the options of a state");
    return STATUS_OK;
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
