/* Creates a plan from the options and checks that they agree. */
#include "config.h"

#include "cli/options.h"

#include "aggregate/store.h"
#include "cli/lists.h"
#include "cli/options_table.h"
#include "result/print_order.h"
#include "result/print_rows.h"
#include "text/pattern.h"
#include "text/row_scanner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum bytes of a value in a message. */
#define OPTIONS_SHOWN_MAX 128

bool options_has_keys(const struct options *options)
{
    const struct reductions *reductions = &options->reductions;
    bool is_counted = options->command->operation == OPERATION_REDUCE;

    for (unsigned i = 0; i < reductions->count; i++) {
        const enum reduction_id id = reductions->list[i].id;
        is_counted = is_counted &&
                     (id == REDUCTION_COUNT || id == REDUCTION_DISTINCT || id == REDUCTION_MODE);
    }
    return is_counted || options->command->operation == OPERATION_UNIQ;
}

/*
 * Makes a column of the plan, whose numbers of columns are known; of text, adds the two fields that
 * it joins after all columns. `from` is NULL: the value, if no option names it.
 */
static enum status options_make_column(const struct options *options, struct plan *plan,
                                       const struct options_column *from, const char *option,
                                       bool is_value, struct column *column,
                                       struct failure *failure)
{
    static const struct options_column none = {.typed = NULL};
    const bool has_default = is_value && (!from || !from->kind);

    from = from ? from : &none;
    *column = (struct column){
        .where = from->where,
        .name = from->name,
        .field = from->field,
        .width = from->width,
        .element = plan->element,
        .offset = options->record_offset,
    };
    if (!plan->is_text) {
        if (from->kind && from->kind->notation != TEXT_INTEGERS &&
            from->kind->notation != TEXT_FIXED)
            return status_fail(failure, STATUS_USAGE,
                               "--record: %s '%s' can only have type int or .N", option,
                               from->typed);
        if (from->element.bytes > 0) {
            column->element = from->element;
            column->offset = from->offset;
        }
        column->element.decimals = from->decimals;
        column->element.kind = kind_id_of(from->kind);
        if (has_default && column->element.real != REAL_NONE) {
            column->element.decimals = options->decimals;
            column->element.kind = kind_id_of(options_default_kind(options));
        }
        if (is_value && from->width.units > 0)
            return status_fail(failure, STATUS_USAGE,
                               "--record: %s '%s' cannot have a width; use --width", option,
                               from->typed);
        if (options->record_bytes == 0 ||
            (options->record_bytes >= element_stored_bytes(&column->element) &&
             column->offset <= options->record_bytes - element_stored_bytes(&column->element)))
            return STATUS_OK;
        return status_fail(failure, STATUS_USAGE,
                           "%s: %s at byte %llu does not fit in a --record of %llu bytes",
                           from->element.bytes > 0 ? option : "--offset",
                           element_stored_name(&column->element),
                           (unsigned long long)column->offset,
                           (unsigned long long)options->record_bytes);
    }
    const struct kind *kind = from->kind    ? from->kind
                              : has_default ? options_default_kind(options)
                                            : &kind_rows[0];
    if (kind->type)
        element_parse(kind->type, &column->element);
    else if (from->element.bytes > 0) /* in the line of a state */
        column->element = from->element;
    else if (!is_value)
        element_parse(plan->element.type == ELEMENT_U64 ? "u64" : "i64", &column->element);
    column->element.swapped = false; /* parsed values are in this machine's byte order */
    column->element.decimals = has_default ? options->decimals : from->decimals;
    column->element.kind = kind_id_of(kind);
    column->element.bytes = kind->words > 1 ? kind->words * 8 : column->element.bytes;
    column->element.prefix = from->width.prefix;
    column->notation = kind->notation;
    /* Except for keys, a found kind reads the same values as a typed one. */
    const bool is_key = is_value ? options_has_keys(options) : from->is_key;
    column->has_exponents = kind->has_exponents && (from->has_kind || (from->is_open && !is_key));
    column->is_found = from->is_found && (is_key || kind->scale == KIND_INSTANTS);
    if (kind->notation == TEXT_TIME && options->time_format_text)
        column->time_format = &options->time_format;
    if (kind->notation == TEXT_TIME && !kind->is_local)
        column->element.zone = options->zone;
    if (from->plus == 0)
        return STATUS_OK;
    column->half = plan_field_count(plan);
    if (column->half + 2 > TEXT_COLUMNS_MAX)
        return status_fail(failure, STATUS_USAGE,
                           "so many columns cannot be read at once (A+B counts as 3 of %d)",
                           TEXT_COLUMNS_MAX);
    for (size_t i = 0; i < 2; i++) {
        plan->columns[column->half + i] = (struct column){
            .field = from->half_field[i],
            .name = from->half[i],
            .where = from->where,
            .notation = TEXT_NOTHING,
        };
    }
    plan->half_count += 2;
    return STATUS_OK;
}

/*
 * Fails because the value of a condition does not fit its column. `line`: line number in the list's
 * file; 0: the value was typed.
 */
static enum status options_fail_condition(const struct options_condition *typed, const char *value,
                                          size_t length, size_t line, const struct element *element,
                                          const struct kind *kind, struct failure *failure)
{
    const int shown = length < OPTIONS_SHOWN_MAX ? (int)length : OPTIONS_SHOWN_MAX;
    const char *expected = kind_rows[element->kind].value;
    char advice[OPTIONS_ADVICE_SIZE];

    if (line > 0)
        return status_fail(failure, STATUS_DATA, STATUS_NAME ":%zu: '%.*s' is not %s",
                           lists_is_stdin(typed->value) ? "standard input" : typed->value + 1, line,
                           shown, value, expected);
    options_advise_condition(typed, value, length, element, kind, advice);
    return status_fail(failure, STATUS_USAGE, "invalid --where '%s': '%.*s' is not %s%s",
                       typed->typed, shown, value, expected, advice);
}

/* Returns an item of a list without the blanks around it. */
static struct predicate_text options_trim(struct predicate_text item)
{
    while (item.bytes > 0 && strchr(" \t\r", item.data[item.bytes - 1]))
        item.bytes--;
    while (item.bytes > 0 && strchr(" \t", *item.data)) {
        item.data++;
        item.bytes--;
    }
    return item;
}

/*
 * Makes a condition with a list. An IP address must be in one of the ranges, each an address or a
 * prefix, or compare with it; a number or timestamp must be one of the items. Skips empty lines.
 */
static enum status options_make_list(const struct options_condition *typed,
                                     const struct element *element, const struct kind *kind,
                                     const struct lists_items *items, struct predicate *condition,
                                     struct failure *failure)
{
    const bool is_address = element_is_wide(element);
    const bool is_list = typed->relation == PREDICATE_EQ || typed->relation == PREDICATE_NE;
    enum status status = STATUS_OK;
    size_t count = 0;
    struct predicate_range *ranges = malloc((items->count + 1) * sizeof *ranges);
    uint64_t *keys = malloc((items->count + 1) * sizeof *keys);
    if (!ranges || !keys)
        status = status_fail(failure, STATUS_DATA, "not enough memory for the list of --where");

    for (size_t i = 0; i < items->count && status == STATUS_OK; i++) {
        const struct predicate_text item = options_trim(items->list[i]);
        struct predicate_range range;
        struct kind_ip first;
        struct kind_ip last;
        __int128 value;
        if (item.bytes == 0 && items->is_file)
            continue;
        if (item.bytes == 0 ||
            !(is_address ? kind_ip_read_range(item.data, item.bytes, &first, &last)
                         : element_read(element, item.data, item.bytes, &value))) {
            status = options_fail_condition(typed, item.data, item.bytes,
                                            items->is_file ? i + 1 : 0, element, kind, failure);
        } else if (!is_address) {
            keys[count] = (uint64_t)value; /* no element equals an item out of range */
            count += value >= element_min(element) && value < element_limit(element);
        } else {
            range = (struct predicate_range){element_address(first), element_address(last)};
            if (typed->relation == PREDICATE_LT || typed->relation == PREDICATE_GE) {
                if (range.low == element_min(element))
                    break; /* no address is below the first one */
                range.high = range.low - 1;
            }
            ranges[count++] =
                (struct predicate_range){is_list ? range.low : element_min(element), range.high};
        }
    }
    if (status == STATUS_OK && is_address) {
        status = predicate_init_ranges(condition, typed->value, ranges, count, failure);
        condition->negated = typed->relation == PREDICATE_NE || typed->relation == PREDICATE_GE ||
                             typed->relation == PREDICATE_GT;
    } else if (status == STATUS_OK) {
        count = value_set_sort(keys, count, element->is_signed);
        status = predicate_init_any_of(condition, typed->value, element, keys, count, failure);
        condition->negated ^= typed->relation == PREDICATE_NE;
    }
    free(ranges);
    free(keys);
    return status;
}

/*
 * Makes condition `i` for its column of the plan, which has the given element. `with_files`: reads
 * a list's file.
 */
static enum status options_make_condition(const struct options *options, size_t i,
                                          const struct element *element, bool with_files,
                                          struct predicate *condition, struct failure *failure)
{
    const struct options_condition *typed = &options->conditions[i];
    const struct options_column *column = &options->where.list[i];
    const struct kind *kind = column->element.bytes > 0 ? &kind_rows[element->kind]
                              : column->is_open         ? NULL
                                                        : column->kind;
    const char *none = row_scanners[options->row_scanner]->none;
    const bool is_list = typed->relation == PREDICATE_EQ || typed->relation == PREDICATE_NE;
    const bool is_text = element_is_string(element);
    const size_t bytes = strlen(typed->value);
    struct predicate_text whole = {typed->value, bytes};
    struct lists_items items = {.list = NULL};
    __int128 value;

    if (!is_text && predicate_is_of_strings(typed->relation))
        return status_fail(failure, STATUS_USAGE,
                           "invalid --where '%s': ^=, *=, ~ and !~ are for strings (COLUMN:text)",
                           typed->typed);
    if ((typed->relation == PREDICATE_MATCHES || typed->relation == PREDICATE_DIFFERS) &&
        pattern_check(typed->value, typed->typed, failure) != STATUS_OK)
        return failure->status;
    condition->is_of_missing = is_list && bytes == 0;
    if (condition->is_of_missing) {
        condition->text = typed->value;
        condition->negated = typed->relation == PREDICATE_NE;
        return STATUS_OK;
    }
    if (is_list && !is_text && none && strcmp(typed->value, none) == 0) {
        enum predicate_relation relation;
        const char *end = typed->sign + options_find_operator(typed->sign, &relation);
        return status_fail(failure, STATUS_USAGE,
                           "invalid --where '%s': '%s' is a missing value (try '%.*s')",
                           typed->typed, none, (int)(end - typed->typed), typed->typed);
    }
    if (is_list && lists_is_file(typed->value) && !with_files)
        return STATUS_OK;
    if (is_list && lists_is_file(typed->value) && kind_rows[element->kind].scale == KIND_NUMBERS) {
        void *keys = NULL; /* the items of a list of numbers */
        size_t count = 0;
        enum status read =
            lists_read_numbers(typed->value, "where", element, false, &keys, &count, failure);
        if (read == STATUS_OK)
            read = predicate_init_any_of(condition, typed->value, element, keys, count, failure);
        condition->negated ^= typed->relation == PREDICATE_NE;
        free(keys);
        return read;
    }
    if (!is_list && !is_text && !element_is_wide(element)) {
        if (!element_read(element, typed->value, bytes, &value))
            return options_fail_condition(typed, typed->value, bytes, 0, element, kind, failure);
        return predicate_init(condition, typed->relation, typed->value, element, failure);
    }
    enum status status =
        is_list ? lists_read_items(typed->value, "where", &items, failure) : STATUS_OK;
    const struct lists_items single = {.list = &whole, .count = 1};
    const struct lists_items *of = is_list ? &items : &single;
    if (status == STATUS_OK)
        status = is_text ? predicate_init_strings(condition, typed->relation, of->list, of->count,
                                                  failure)
                         : options_make_list(typed, element, kind, of, condition, failure);
    lists_destroy_items(&items);
    condition->text = typed->value;
    return status;
}

/* Returns whether the result counts rows, not values. */
static bool options_counts_rows(const struct options *options)
{
    const enum operation_id operation = options->command->operation;

    for (size_t i = 0; i < options->predicate_count; i++) {
        if (options->predicates[i].relation != PREDICATE_ALL)
            return false;
    }
    return operation == OPERATION_COUNT ||
           (operation == OPERATION_REDUCE && options->reductions.count == 1 &&
            options->reductions.list[0].id == REDUCTION_COUNT);
}

/*
 * Makes the columns: fields of text, or elements of binary records. The plan's element is known.
 * `value`: the index of the only value column, or SIZE_MAX for all.
 */
static enum status options_make_columns(const struct options *options, size_t value,
                                        bool with_files, struct plan *plan, struct failure *failure)
{
    const struct options_columns *fields = &options->field;
    const struct {
        const char *option;
        const struct options_columns *columns;
    } others[] = {{"--weight", &options->weight},
                  {"--by", &options->by},
                  {"--where", &options->where}};
    const bool has_others = options->weight.count + options->by.count + options->where.count > 0;
    const struct options_column *only = fields->count > 0 ? &fields->list[0] : NULL;
    struct column *next = plan->columns;

    /* A count of rows needs no values: any column can be the value column. */
    const bool has_names = row_scanners[options->row_scanner]->names_columns;
    const struct options_column line = {.field = has_names ? 1 : TEXT_WHOLE_LINE};
    const bool is_nothing = !only && plan->is_text &&
                            (options->counts_rows || (has_others && options_counts_rows(options)));
    if (is_nothing)
        only = options->by.count > 0      ? &options->by.list[0]
               : options->where.count > 0 ? &options->where.list[0]
                                          : &line;
    plan->conditions = calloc(options->where.count + 1, sizeof *plan->conditions);
    if (!plan->conditions)
        return status_fail(failure, STATUS_DATA, "not enough memory for conditions");
    plan->value_count = value == SIZE_MAX && fields->count > 1 ? fields->count : 1;
    plan->has_weights = options->weight.count > 0;
    plan->group_count = options->by.count;
    plan->condition_count = options->where.count;
    for (size_t i = 0; i < plan->value_count; i++) {
        const struct options_column *from =
            fields->count > 0 ? &fields->list[value == SIZE_MAX ? i : value] : only;
        if (options_make_column(options, plan, from, "-f", fields->count > 0 || !only, next,
                                failure) != STATUS_OK)
            return failure->status;
        if (is_nothing) {
            next->element = plan->element;
            next->element.swapped = false;
            next->notation = TEXT_NOTHING;
            next->width = (struct kind_width){.units = 0};
        }
        next++;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        for (size_t k = 0; k < others[i].columns->count; k++) {
            if (options_make_column(options, plan, &others[i].columns->list[k], others[i].option,
                                    false, next++, failure) != STATUS_OK)
                return failure->status;
        }
    }
    for (size_t i = 0; i < plan->condition_count; i++) {
        if (options_make_condition(options, i,
                                   &plan->columns[plan_condition_column(plan) + i].element,
                                   with_files, &plan->conditions[i], failure) != STATUS_OK)
            return failure->status;
        plan->conditions[i].is_alternative = options->conditions[i].is_alternative;
        if (plan->conditions[i].is_of_missing && !plan->is_text)
            return status_fail(failure, STATUS_USAGE,
                               "--where '%s' is of missing values, which binary input has none of",
                               options->conditions[i].typed);
    }
    if (options->record_bytes > 0 && !plan->is_text &&
        (options->record_bytes > plan->columns[0].element.bytes || plan_has_rows(plan)))
        plan->record_bytes = options->record_bytes;
    if (plan_has_reals(plan)) /* read like floats in records */
        plan->record_bytes = options->record_bytes > 0
                                 ? options->record_bytes
                                 : element_stored_bytes(&plan->columns[0].element);
    plan->skips_missing = options->missing == OPTIONS_MISSING_SKIP;
    plan->row_scanner = options->row_scanner;
    plan->wanted = options->wanted;
    plan->element = plan->columns[0].element;
    plan->record_offset = plan->columns[0].offset;
    plan->text.field = plan->columns[0].field;
    plan->text.notation = plan->columns[0].notation;
    plan->text.decimals = plan->element.decimals;
    plan->text.is_rounded = kind_rows[plan->element.kind].is_rounded;
    plan->text.has_exponents = plan->columns[0].has_exponents;
    plan->text.is_found = plan->columns[0].is_found;
    for (size_t i = 1; i < plan_field_count(plan); i++)
        plan->text.more[i - 1] = plan->columns[i].field;
    return STATUS_OK;
}

/* Returns whether states, which are in ascending order, are loaded or saved. */
static bool options_saves(const struct options *options)
{
    return options->print.save || options->window_ns > 0 || options->is_saved;
}

/* Makes the plan one of uniq, with bins of that width. */
static void options_make_uniq(const struct options *options, uint64_t width, struct plan *plan)
{
    const struct print_options *print = &options->print;

    plan->operation = OPERATION_UNIQ;
    plan->bin_width = width;
    plan->needs_values = print->quantiles.count > 0;
    /* --top finds the largest counts in any order. */
    plan->any_order = print->top > 0 && print->quantiles.count == 0 && !print->zeros &&
                      !options_saves(options) && plan->range_bins == 0;
}

/* Makes the bins. `with_files`: reads a file of bin edges. */
static enum status options_make_histogram(const struct options *options, bool with_files,
                                          struct plan *plan, struct failure *failure)
{
    const struct element *element = &plan->element;
    const bool has_range = options->range_text != NULL;
    __int128 low = has_range ? options->range_low : 0;
    __int128 high = has_range ? options->range_high : (__int128)options->bins;

    if (options->is_range_auto) {
        plan->range_bins = options->bins;
        if (options->bins > BINNING_BINS_MAX)
            return binning_init(&plan->binning, element, 0, 1, options->bins, failure);
        options_make_uniq(options, 1, plan);
        return STATUS_OK;
    }
    plan->outside = options->outside;
    plan->needs_values = options->print.quantiles.count > 0;
    if (options->bins > 0)
        return binning_init(&plan->binning, element, low, high, options->bins, failure);
    const bool has_decimals =
        element->decimals > 0 && kind_rows[element->kind].scale == KIND_NUMBERS;
    if (options->log2 > 0 || (options->has_log2 && has_decimals))
        return binning_init_parts(&plan->binning, element, options->log2, failure);
    if (options->has_log2 || options->log10) {
        binning_init_powers(&plan->binning, element, options->has_log2 ? 2 : 10);
        return STATUS_OK;
    }
    if (options->edges) {
        void *edges = NULL;
        size_t count;
        if (lists_is_file(options->edges) && !with_files)
            return STATUS_OK;
        enum status status =
            lists_read_numbers(options->edges, "edges", element, true, &edges, &count, failure);
        if (status == STATUS_OK)
            status = binning_init_edges(&plan->binning, element, edges, count, failure);
        free(edges);
        return status;
    }
    const bool is_time = element_is_time(element);
    const struct kind_time_bucket unit = column_time_unit(&plan->columns[0]);
    if (has_range && options->width == 0 && is_time)
        return binning_init_times(&plan->binning, element, &unit, low, high, BINNING_ROUND_BINS,
                                  true, failure);
    if (has_range) /* without a width, chosen like automatic bins */
        return binning_init_width(&plan->binning, element, low, high,
                                  options->width > 0 ? options->width
                                                     : (__int128)binning_round_width(low, high),
                                  failure);
    const bool is_automatic = options->width == 0 && !plan->needs_values;
    plan->is_automatic = is_automatic && !is_time;
    if (is_automatic && is_time) {
        plan->range_bins = BINNING_ROUND_BINS;
        plan->has_round_range = true;
    }
    if (!plan->is_automatic)
        options_make_uniq(options, options->width > 0 ? (uint64_t)options->width : 1, plan);
    return STATUS_OK;
}

/*
 * Fails if bins that the user has chosen cut buckets of the column, whose values are known only to
 * lie in them. Automatic bins consist of whole buckets.
 */
static enum status options_check_edges(const struct options *options, const struct plan *plan,
                                       struct failure *failure)
{
    const struct column *column = &plan->columns[0];
    const bool is_multiple = plan->operation == OPERATION_UNIQ; /* edges are multiples of a width */
    const uint64_t edges = is_multiple ? plan->bin_width > 1 ? 8 : 0 : plan->binning.bins + 1;
    char text[ELEMENT_TEXT_SIZE];

    if (!column_has_width(column) || plan->is_automatic || plan->has_round_range)
        return STATUS_OK;
    const char *typed = options->field.list[0].typed;
    const int without = (int)(strrchr(typed, '/') - typed);
    if (plan->range_bins > 0 || binning_is_of_powers(&plan->binning))
        return status_fail(failure, STATUS_USAGE,
                           "%s cannot be combined with the width of column '%s' (try -f %.*s)",
                           plan->range_bins > 0 ? "--range auto"
                           : options->log10     ? "--log10"
                                                : "--log2",
                           typed, without, typed);
    for (uint64_t i = 0; i < edges; i++) {
        const __int128 edge =
            is_multiple ? (__int128)i * plan->bin_width : binning_edge(&plan->binning, i);
        if (edge >= element_limit(&plan->element) || column_begins_at(column, edge))
            continue;
        element_format(text, &plan->element, edge);
        return status_fail(failure, STATUS_USAGE,
                           "a bin cannot begin at %s, within a bucket of column '%s' (try -f %.*s)",
                           text, typed, without, typed);
    }
    return STATUS_OK;
}

bool options_names_file(const struct options_predicate *predicate)
{
    return predicate->relation == PREDICATE_ANY_OF && lists_is_file(predicate->text);
}

/* Makes the predicates, those without a file first. `with_files`: reads the others' files. */
static enum status options_make_predicates(const struct options *options, bool with_files,
                                           struct plan *plan, struct failure *failure)
{
    const size_t count = options->predicate_count;

    plan->predicates = calloc(count, sizeof *plan->predicates);
    if (!plan->predicates)
        return status_fail(failure, STATUS_DATA, "not enough memory for %zu predicates", count);
    plan->predicate_count = count;
    for (size_t i = 0; i < (with_files ? 2 : 1) * count; i++) {
        const struct options_predicate *typed = &options->predicates[i % count];
        struct predicate *predicate = &plan->predicates[i % count];
        enum status status = STATUS_OK;
        if (options_names_file(typed) != (i >= count))
            continue;
        if (typed->relation == PREDICATE_ANY_OF) {
            void *keys;
            size_t key_count;
            status = lists_read_numbers(typed->text, "any-of", &plan->element, false, &keys,
                                        &key_count, failure);
            if (status == STATUS_OK)
                status = predicate_init_any_of(predicate, typed->text, &plan->element, keys,
                                               key_count, failure);
            free(keys);
        } else {
            status =
                predicate_init(predicate, typed->relation, typed->text, &plan->element, failure);
        }
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* Like options_make, but with only the value column of that index; SIZE_MAX: all. */
static enum status options_make_values_of(const struct options *options, bool is_text,
                                          bool with_files, size_t value, struct plan *plan,
                                          struct failure *failure)
{
    *plan = (struct plan){
        .operation = options->command->operation,
        .element = options->element,
        .is_text = is_text,
        .is_merged = options->is_saved,
        .bin_width = 1,
        .buffer_bytes = options->buffer_bytes,
        .temporary_directory = options->temporary_directory,
        .window_periods = options->window_ns > 0 ? options->window_ns / options->every_ns : 0,
        .text =
            {
                .delimiter = options->csv && options->delimiter == TEXT_NO_DELIMITER
                                 ? ','
                                 : options->delimiter,
                .is_quoted = options->csv,
                .has_comments = options->comment >= 0,
                .comment = (char)options->comment,
            },
    };
    if (!options->has_type)
        element_parse(is_text ? "i64" : "i32", &plan->element);
    if (options_make_columns(options, value, with_files, plan, failure) != STATUS_OK ||
        print_check_format(&options->print, plan, failure) != STATUS_OK)
        return failure->status;
    switch (plan->operation) {
    case OPERATION_HISTOGRAM:
        return options_make_histogram(options, with_files, plan, failure) == STATUS_OK
                   ? options_check_edges(options, plan, failure)
                   : failure->status;
    case OPERATION_UNIQ:
        options_make_uniq(options, 1, plan);
        return STATUS_OK;
    case OPERATION_COUNT:
        if (options->predicate_count == 0)
            return status_fail(failure, STATUS_USAGE,
                               "count -f requires a predicate, such as --ge 500 (without -f, it "
                               "counts rows)");
        return options_make_predicates(options, with_files, plan, failure);
    case OPERATION_REDUCE:
        plan->reductions = options->reductions;
        plan->interpolates = options->interpolate;
        plan->any_order =
            !(options->reductions.needs & REDUCTIONS_NEED_ORDER) && !options_saves(options);
        return STATUS_OK;
    case OPERATION_STALIN_SORT:
        plan->stalin_sort = options->stalin_sort;
        return STATUS_OK;
    default: /* no options of its own */
        return STATUS_OK;
    }
}

void options_make_format(const struct options *options, const struct plan *plan,
                         struct record_format *format)
{
    const struct row_scanner *scanner = row_scanners[plan->row_scanner];

    *format = (struct record_format){
        .element_bytes = plan_value_bytes(plan),
        .has_records = plan->record_bytes > 0,
        .is_text = plan->is_text,
        .text = plan->text,
        .header_lines = options->header_lines,
        .columns = plan_field_count(plan),
    };
    for (size_t i = 0; i < format->columns; i++) {
        format->names[i] = scanner->names_columns ? NULL : plan->columns[i].name;
        format->half[i] = scanner->names_columns ? 0 : plan->columns[i].half;
        format->has_names |= format->names[i] != NULL;
        format->drops_mark |= scanner->names_columns ? scanner->skips_mark
                                                     : element_is_string(&plan->columns[i].element);
    }
    if (format->header_lines == 0 && format->has_names)
        format->header_lines = 1;
}

enum status options_make(const struct options *options, bool is_text, bool with_files,
                         struct context *context, struct plan *plan, struct failure *failure)
{
    const enum operation_id operation = options->command->operation;
    const struct reductions *reductions = &options->reductions;

    *plan = (struct plan){.predicates = NULL};
    for (size_t i = 0; i < options->field.count; i++) {
        const struct kind *kind = options->field.list[i].kind;
        if (!kind || kind->scale != KIND_NAMES)
            continue;
        for (unsigned r = 0; operation == OPERATION_REDUCE && r < reductions->count; r++) {
            const enum reduction_id id = reductions->list[r].id;
            if (id != REDUCTION_COUNT && id != REDUCTION_DISTINCT && id != REDUCTION_MODE)
                return status_fail(failure, STATUS_USAGE,
                                   "reduce of %s supports only count, distinct and mode",
                                   kind->nouns);
        }
        if (operation != OPERATION_REDUCE && operation != OPERATION_UNIQ)
            return status_fail(failure, STATUS_USAGE, "%s cannot be used with %s (try uniq)",
                               plan_operation_names[operation], kind->nouns);
    }
    enum status status =
        options_make_values_of(options, is_text, with_files, SIZE_MAX, plan, failure);
    plan->context = context;
    /* Kinds that are not found yet may use --tz. */
    bool has_zone = !options->zone || (options->has_open && !options->found && !with_files);
    for (size_t i = 0; status == STATUS_OK && !has_zone && i < plan_column_count(plan); i++)
        has_zone = plan->columns[i].element.zone;
    if (status == STATUS_OK && !has_zone)
        return status_fail(failure, STATUS_USAGE,
                           "--tz requires a column of timestamps (try -f COLUMN:time/1d)");
    if (status == STATUS_OK && plan->value_count > 1) {
        plan->singles = calloc(plan->value_count, sizeof *plan->singles);
        if (!plan->singles)
            return status_fail(failure, STATUS_DATA, "not enough memory for columns");
        for (size_t i = 0; i < plan->value_count && status == STATUS_OK; i++) {
            status =
                options_make_values_of(options, is_text, with_files, i, &plan->singles[i], failure);
            plan->singles[i].context = context;
        }
    }
    if (status == STATUS_OK)
        status = print_order_check(&options->print, plan, failure);
    if (status == STATUS_OK && with_files && options->print.save &&
        !(plan->line = options_write_line(plan)))
        status = status_fail(failure, STATUS_DATA, "not enough memory for the options of a state");
    return status;
}

/* Returns whether some column is a field, so that the input is text. */
static bool options_has_fields(const struct options *options)
{
    if (options->field.count > 0 && options->field.list[0].field != 0)
        return true;
    return options->record_bytes == 0 &&
           options->weight.count + options->by.count + options->where.count > 0;
}

/* Returns the name of a given option, other than columns, that requires text input; or NULL. */
static const char *options_find_text(const struct options *options)
{
    const struct {
        bool is_given;
        const char *name;
    } rows[] = {
        {options->text, "text"},
        {options->row_scanner != ROW_LINES, row_scanners[options->row_scanner]->option},
        {options->csv, "csv"},
        {options->delimiter != TEXT_NO_DELIMITER, "delimiter"},
        {options->header_lines > 0, "header"},
        {options->comment >= 0, "comment"},
        {options->ends_with_nul, "zero-terminated"},
        {options->base != OPTIONS_BASE_DEFAULT, "base"},
        {options->has_decimals && !options->is_rounded && options->element.real == REAL_NONE &&
             !kind_is_number(options->field.list[0].kind, true),
         "decimals"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].is_given)
            return rows[i].name;
    }
    return NULL;
}

/* Returns whether a column has a name, which is looked up in the header of each file. */
static bool options_has_names(const struct options *options)
{
    const struct options_columns *const uses[] = {&options->field, &options->weight, &options->by,
                                                  &options->where};

    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        for (size_t k = 0; k < uses[i]->count; k++) {
            if (uses[i]->list[k].is_name)
                return true;
        }
    }
    return false;
}

/* Fails because a column of the option is each element. `condition`: that of --where, or NULL. */
static enum status options_fail_each(const char *option, const struct options_column *column,
                                     const struct options_condition *condition,
                                     struct failure *failure)
{
    const size_t length = strlen(column->where);
    char advice[OPTIONS_ADVICE_SIZE] = "";

    if (condition && condition->relation == PREDICATE_EQ && !strpbrk(condition->value, "\"',\\") &&
        strspn(condition->value, "-0123456789") == 0 &&
        strcmp(column->where + length - 2, "[]") == 0)
        snprintf(advice, sizeof advice, " (try '%.*s*=\"%.100s\"', which searches its text)",
                 (int)length - 2, column->where, condition->value);
    return status_fail(failure, STATUS_USAGE, "%s '%s': [] can only be in -f with one column%s",
                       option, column->where, advice);
}

/*
 * Fails unless the columns fit the input: fields of text, or elements of records. Also fails if
 * other columns are given, but no value column; and if rows that name their columns have none, or
 * options for lines of fields.
 */
static enum status options_check_columns(const struct options *options, struct failure *failure)
{
    const enum operation_id operation = options->command->operation;
    const struct row_scanner *scanner = row_scanners[options->row_scanner];
    const struct options_columns *fields = &options->field;
    const struct {
        const char *option;
        const struct options_columns *columns;
    } uses[] = {{"-f", fields},
                {"--weight", &options->weight},
                {"--by", &options->by},
                {"--where", &options->where}};

    if (scanner->names_columns &&
        (options->csv || options->delimiter != TEXT_NO_DELIMITER || options->header_lines > 0))
        return status_fail(failure, STATUS_USAGE,
                           "--%s cannot be combined with --csv, --delimiter and --header",
                           scanner->option);
    if (scanner->names_columns && !options->wanted)
        return status_fail(failure, STATUS_USAGE, "--%s requires columns: %s", scanner->option,
                           scanner->wanted);
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        const size_t count = uses[i].columns->count;
        for (size_t k = 0; k < count; k++) {
            const struct options_column *column = &uses[i].columns->list[k];
            const bool is_element = column->element.bytes > 0;
            if (is_element && options->record_bytes == 0)
                return status_fail(failure, STATUS_USAGE,
                                   "%s TYPE@OFFSET requires --record, the bytes of a record",
                                   uses[i].option);
            if (i == 1 && column->kind &&
                (column->kind->scale != KIND_NUMBERS || column->kind->notation == TEXT_TIME))
                return status_fail(failure, STATUS_USAGE,
                                   "--weight '%s' can only be numbers, durations or sizes",
                                   column->typed);
            if (!is_element && options->record_bytes > 0)
                return status_fail(failure, STATUS_USAGE,
                                   "with --record, %s requires TYPE@OFFSET, such as u32@8",
                                   uses[i].option);
        }
        if (i > 0 && count > 0 && fields->count == 0 && options->record_bytes == 0 &&
            !(options_counts_rows(options) && i > 1))
            return status_fail(failure, STATUS_USAGE, "%s requires -f, the column of values%s",
                               uses[i].option, i == 1 ? " (for uniq -c output, try -f 2)" : "");
    }
    if (fields->count > 1 && operation != OPERATION_REDUCE && operation != OPERATION_COUNT)
        return options_fail_columns(options, failure);
    for (size_t i = 0; scanner->is_each && i < sizeof uses / sizeof *uses; i++) {
        for (size_t k = 0; k < uses[i].columns->count; k++) {
            const struct options_column *column = &uses[i].columns->list[k];
            const int32_t *half = column->half_field;
            const bool is_joined = column->plus > 0;
            if (((i > 0 || fields->count > 1) &&
                 scanner->is_each(options->wanted, column->field)) ||
                (is_joined && (scanner->is_each(options->wanted, half[0]) ||
                               scanner->is_each(options->wanted, half[1]))))
                return options_fail_each(uses[i].option, column,
                                         i == 3 ? &options->conditions[k] : NULL, failure);
        }
    }
    return STATUS_OK;
}

/* Checks the plan as far as the options define it. */
static enum status options_check_plan(const struct options *options, bool is_text,
                                      bool may_be_array, struct failure *failure)
{
    struct plan plan;
    enum status status = options_make(options, is_text, false, NULL, &plan, failure);
    plan_destroy(&plan);
    /* A NumPy array of u64 has other bounds: its own plan is checked later. */
    if (status != STATUS_OK && may_be_array) {
        struct options wide = *options;
        struct failure other;
        element_parse("u64", &wide.element);
        wide.has_type = true;
        if (options_make(&wide, is_text, false, NULL, &plan, &other) == STATUS_OK)
            status = STATUS_OK;
        plan_destroy(&plan);
    }
    /* Kinds found in the input can make the bounds valid: the plan is made again later. */
    if (status != STATUS_OK && !options->found && options->has_open) {
        struct options unbounded = *options;
        struct failure other;
        struct options_predicate all = {.relation = PREDICATE_ALL};
        unbounded.where.count = 0;
        unbounded.predicates = &all;
        unbounded.predicate_count = options->predicate_count > 0;
        unbounded.edges = NULL;
        if (options->predicate_count > 0) { /* --sort can name one of them */
            unbounded.print.sort = NULL;
            unbounded.print.top = 0;
        }
        if (options_make(&unbounded, is_text, false, NULL, &plan, &other) == STATUS_OK)
            status = STATUS_OK;
        plan_destroy(&plan);
    }
    return status;
}

enum status options_check(const struct options *options, enum options_input *input,
                          struct failure *failure)
{
    const bool has_fields = options_has_fields(options);
    /* The options that require such input; NULL: none. */
    const char *text = options_find_text(options);
    const char *binary = options->binary             ? "binary"
                         : options->record_bytes > 0 ? "record"
                         : options->has_order        ? "type with le or be"
                                                     : NULL;
    const char *fields = options->field.count > 0 && options->field.list[0].field != 0 ? "field"
                         : options->by.count > 0                                       ? "by"
                         : options->where.count > 0                                    ? "where"
                                                                                       : "weight";
    const bool has_range = options->range_text != NULL;
    const bool has_powers = options->has_log2 || options->log10;
    const bool has_edges = options->edges != NULL;
    const struct options_column *first = &options->field.list[0];
    const uint64_t window = options->window_ns;
    const uint64_t every = options->every_ns;
    const struct {
        bool is_broken;
        const char *message;
    } rules[] = {
        {options->csv && options->delimiter == '"', "with --csv, the delimiter cannot be a quote"},
        {options->has_header && options->header_lines == 0 &&
             !row_scanners[options->row_scanner]->names_columns && options_has_names(options),
         "--header=0 cannot be combined with names of columns"},
        {options->missing == OPTIONS_MISSING_SKIP && !has_fields,
         "--missing skip requires columns of text, such as -f 2"},
        {options->record_bytes == 0 && options->has_offset, "--offset requires --record"},
        {first->element.bytes > 0 &&
             ((options->has_offset && options->record_offset != first->offset) ||
              (options->has_type && (options->element.type != first->element.type ||
                                     options->element.real != first->element.real ||
                                     options->element.swapped != first->element.swapped))),
         "-f TYPE@OFFSET says another type or offset than --type and --offset"},
        {(options->bins > 0) + (options->width > 0) + options->has_log2 + options->log10 +
                 has_edges >
             1,
         "only one of --bins, --width, --log2, --log10 and --edges can be given"},
        {has_range && (has_powers || has_edges),
         "--range can only be combined with --bins or --width"},
        {options->is_range_auto && options->bins == 0,
         "--range auto requires --bins N (try --width W, which bins all values)"},
        {window > 0 && every == 0, "--window requires --every, the time between results"},
        {every > 0 && window % every != 0, "--window must be a multiple of --every"},
        /* Each result adds up the periods of its window: 10,000 take some tenths of a second. */
        {every > 0 && window / every > 10000, "--window can be at most 10000 times --every"},
    };
    const char *list = "edges "; /* the option whose list is standard input */
    unsigned uses = options->edges && lists_is_stdin(options->edges);

    if (binary && (text || has_fields))
        return status_fail(failure, STATUS_USAGE,
                           "--%s requires text input, but --%s requires binary input",
                           text ? text : fields, binary);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].is_broken)
            return status_fail(failure, STATUS_USAGE, "%s", rules[i].message);
    }
    if (options_check_columns(options, failure) != STATUS_OK)
        return failure->status;
    for (size_t i = 0; i < options->predicate_count; i++) {
        if (!options_names_file(&options->predicates[i]))
            continue;
        list = "any-of ";
        uses += lists_is_stdin(options->predicates[i].text);
    }
    for (size_t i = 0; i < options->where.count; i++) {
        const struct options_condition *condition = &options->conditions[i];
        const bool is_list =
            condition->relation == PREDICATE_EQ || condition->relation == PREDICATE_NE;
        if (!is_list || !lists_is_stdin(condition->value))
            continue;
        list = "where COLUMN=";
        uses++;
    }
    for (size_t i = 0; uses == 1 && i < options->name_count; i++)
        uses += strcmp(options->names[i], "-") == 0;
    if (uses > 1) /* standard input can be read only once */
        return status_fail(failure, STATUS_USAGE,
                           "--%s@-: standard input is already used for something else", list);
    *input = text         ? OPTIONS_INPUT_TEXT
             : has_fields ? OPTIONS_INPUT_FIELDS
             : binary     ? OPTIONS_INPUT_BINARY
                          : OPTIONS_INPUT_ANY;
    return options_check_plan(options, text || has_fields, !text && !binary && !options->has_type,
                              failure);
}

enum status options_adapt_array(const struct options *options, struct npy *array, const char *name,
                                struct options *adapted, uint64_t *column, struct failure *failure)
{
    struct options_columns *const lists[] = {&adapted->field, &adapted->weight, &adapted->by,
                                             &adapted->where};
    static const char *const names[] = {"-f", "--weight", "--by", "--where"};
    const uint64_t columns = array->columns;
    const size_t stored = element_stored_bytes(&array->element);

    *adapted = *options;
    if (options->has_type && (options->element.type != array->element.type ||
                              options->element.real != array->element.real))
        return status_fail(failure, STATUS_DATA,
                           STATUS_NAME ": its NumPy array is of type %s, not of -t %s", name,
                           array->type, element_stored_name(&options->element));
    adapted->element = array->element;
    adapted->has_type = true;
    const bool has_columns = options_has_fields(options);
    if (!has_columns && !options->counts_rows) {
        npy_flatten(array);
        return STATUS_OK;
    }
    if (has_columns && (array->dimensions == 0 || array->dimensions > 2))
        return status_fail(failure, STATUS_DATA,
                           STATUS_NAME ": its NumPy array has %zu dimensions: only those with 2 "
                                       "have columns; without -f, all elements are read",
                           name, array->dimensions);
    const size_t others = adapted->weight.count + adapted->by.count + adapted->where.count;
    if (array->is_column_major && (adapted->field.count != !options->counts_rows || others > 0))
        return status_fail(failure, STATUS_DATA,
                           STATUS_NAME ": only one column of a NumPy array in Fortran order is "
                                       "read at once (try to save numpy.ascontiguousarray of it)",
                           name);
    if (!has_columns && array->dimensions < 2)
        return STATUS_OK;
    if (!array->is_column_major && columns > OPTIONS_RECORD_MAX / stored)
        return status_fail(failure, STATUS_DATA,
                           STATUS_NAME ": the rows of its NumPy array are longer than 16 MiB",
                           name);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (size_t k = 0; k < lists[i]->count; k++) { /* the element at this offset in each row */
            struct options_column *of = &lists[i]->list[k];
            const int64_t number = of->field;
            const uint64_t from_end = (uint64_t)(number < 0 ? -number : number);
            if (of->is_name || number == 0 || number == TEXT_WHOLE_LINE || from_end > columns)
                return status_fail(failure, STATUS_DATA,
                                   STATUS_NAME
                                   ": its NumPy array has columns 1 to %llu (or -1 to -%llu), "
                                   "but no %s '%s'",
                                   name, (unsigned long long)columns, (unsigned long long)columns,
                                   names[i], of->where);
            of->element = array->element;
            of->offset = (number < 0 ? columns - from_end : from_end - 1) * stored;
            of->field = 0;
        }
    }
    if (array->is_column_major) {
        *column = options->counts_rows ? 0 : adapted->field.list[0].offset / stored;
        adapted->field.list[0].offset = 0;
    } else {
        adapted->record_bytes = columns * stored;
    }
    return STATUS_OK;
}

enum status options_check_merged(const struct options *options, const struct plan *plan,
                                 struct failure *failure)
{
    const enum operation_id operation = plan->operation;

    if (options->unmergeable[operation])
        return status_fail(failure, STATUS_USAGE, "--%s cannot be used with states of %s",
                           options->unmergeable[operation], plan_operation_names[operation]);
    if (print_check_format(&options->print, plan, failure) != STATUS_OK)
        return failure->status;
    return print_order_check(&options->print, plan, failure);
}
