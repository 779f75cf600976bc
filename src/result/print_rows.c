/* Implements print_rows.h: the table of formats, and the order and selection of rows. */
#include "config.h"

#include "result/print_rows.h"

#include "lib/parallel.h"
#include "lib/printable.h"
#include "lib/writer.h"
#include "lib/writer_parts.h"
#include "result/rows_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Number of bins of a part, whose text is longer than the 64 KiB that a writer copies, and mostly
 * fits in L2.
 */
#define PRINT_ROWS_PART_BINS ((uint64_t)8 << 10)

/*
 * Minimum number of bins per thread. Starting a thread takes as long as printing a few thousand.
 */
#define PRINT_ROWS_THREAD_BINS ((uint64_t)64 << 10)

#define PRINT_FORMAT_ADDRESS(name) &print_##name,
static const struct print_format *const print_formats[] = {
    PRINT_FORMAT_ADDRESS(tsv) PRINT_FORMATS_OF_LINES(PRINT_FORMAT_ADDRESS) PRINT_FORMAT_ADDRESS(raw)
        PRINT_FORMATS_OF_BINS(PRINT_FORMAT_ADDRESS, PRINT_FORMAT_ADDRESS)};

bool print_format_find(const char *name, const struct print_format **format)
{
    for (size_t i = 0; i < sizeof print_formats / sizeof *print_formats; i++) {
        if (strcmp(name, print_formats[i]->name) == 0) {
            *format = print_formats[i];
            return true;
        }
    }
    return false;
}

const char *print_column_label(const struct plan *plan, const struct column *column,
                               const char *other, char out[PRINT_FIELD_SIZE])
{
    __int128 field;

    if (column->name)
        return column->name;
    if (column->label)
        return column->label;
    if (element_is_time(&column->element))
        return "time";
    if (!column->where || (plan->is_merged && plan->group_count == 1))
        return other;
    if (!decimal_parse_fixed(column->where, strlen(column->where), 0,
                             &field)) /* TYPE@OFFSET, or two fields */
        return column->where;
    if (plan->is_merged)
        return column->where;
    if (field == 0)
        return "line";
    snprintf(out, PRINT_FIELD_SIZE, "field %lld", (long long)field);
    return out;
}

const char *print_value_label(const struct print_options *options, const struct plan *plan,
                              char out[PRINT_FIELD_SIZE])
{
    return options->label        ? options->label
           : options->value_name ? options->value_name
                                 : print_column_label(plan, &plan->columns[0], "value", out);
}

const char *print_reader_name(const struct print_options *options, const struct plan *plan,
                              size_t column, const char *name, char out[PRINT_FIELD_SIZE])
{
    if (column < plan->group_count)
        return print_column_label(plan, &plan->columns[plan_group_column(plan) + column], "group",
                                  out);
    return column == plan->group_count && strcmp(name, "value") == 0
               ? print_value_label(options, plan, out)
               : name;
}

const char *print_count_label(const struct plan *plan, char out[PRINT_FIELD_SIZE])
{
    return plan->has_weights
               ? print_column_label(plan, &plan->columns[plan_weight_column(plan)], "weight", out)
               : "count";
}

void print_default_title(char out[PRINT_TITLE_SIZE], const struct print_options *options,
                         const struct plan *plan, const char *group_label)
{
    char fields[2][PRINT_FIELD_SIZE];

    snprintf(out, PRINT_TITLE_SIZE, "%s%.120s by %.120s%s%.120s",
             options->percent    ? "Percent of "
             : plan->has_weights ? "Sum of "
                                 : "",
             options->percent || plan->has_weights ? print_count_label(plan, fields[0]) : "Count",
             print_value_label(options, plan, fields[1]), group_label ? " and " : "",
             group_label ? group_label : "");
}

uint64_t print_scale_number(const struct print_options *options, uint64_t count, uint64_t total)
{
    const uint64_t whole = 100 * decimal_power(PRINT_PERCENT_DECIMALS);

    if (!options->percent || count == 0)
        return count;
    const uint64_t share = (uint64_t)((unsigned __int128)count * whole / total);
    return share > 0 ? share : 1;
}

struct element print_count_element(const struct plan *plan)
{
    struct element element;

    element_parse("u64", &element);
    element.decimals = plan_count_decimals(plan);
    return element;
}

struct element print_scale_element(const struct print_options *options, const struct plan *plan)
{
    struct element element = print_count_element(plan);

    if (options->percent)
        element.decimals = PRINT_PERCENT_DECIMALS;
    return element;
}

/* Number of decimal places of percentages, as in percentage_write_share. */
#define PRINT_SHARE_DECIMALS 4

size_t print_scale_label(char out[AXIS_LABEL_SIZE], const struct print_options *options,
                         const struct plan *plan, __int128 number, bool is_in_picture)
{
    const __int128 unit = decimal_power(PRINT_PERCENT_DECIMALS - PRINT_SHARE_DECIMALS);
    struct element element = print_scale_element(options, plan);

    if (!options->percent)
        return axis_write(out, &element, number, is_in_picture ? AXIS_GROUPED : AXIS_PRINTED);
    if (number >= unit) {
        number = (number + unit / 2) / unit;
        element.decimals = PRINT_SHARE_DECIMALS;
    }
    const size_t length = axis_write(out, &element, number, AXIS_SHORT);
    strcpy(out + length, "%");
    return length + 1;
}

size_t print_columns(struct writer *writer, const char *text, size_t columns)
{
    size_t used = 0;

    while (*text) {
        const size_t bytes = printable_bytes(text);
        const size_t width = printable_columns(text);
        if (used + width > columns)
            break;
        writer_write(writer, bytes > 0 ? text : "?", bytes > 0 ? bytes : 1);
        used += width;
        text += bytes > 0 ? bytes : 1;
    }
    return used;
}

/* Other suffixes of file names, and the formats that they probably mean. */
static const struct {
    const char *suffix;
    const struct print_format *format;
} print_suffixes[] = {
    {"png", &print_svg}, {"jpg", &print_svg},     {"jpeg", &print_svg}, {"gif", &print_svg},
    {"pdf", &print_svg}, {"md", &print_markdown}, {"htm", &print_html}, {"xlsx", &print_csv},
};

void print_note_suffix(const struct print_options *options, bool has_bins)
{
    const char *suffix = options->output ? strrchr(options->output, '.') : NULL;
    const struct print_format *format = NULL;

    if (!suffix || options->format || options->plot == PRINT_PLOT_ALWAYS)
        return;
    const bool is_name = print_format_find(suffix + 1, &format);
    for (size_t i = 0; i < sizeof print_suffixes / sizeof *print_suffixes; i++) {
        if (strcasecmp(suffix + 1, print_suffixes[i].suffix) == 0)
            format = print_suffixes[i].format;
    }
    if (!format || format == print_rows_format(options) || !(has_bins || format->words))
        return;
    status_print("note: %s is written as tsv (try --format %s%s%.*s%s%s)", options->output,
                 format->name, is_name ? "" : " -o ", is_name ? 0 : (int)(suffix - options->output),
                 options->output, is_name ? "" : ".", is_name ? "" : format->name);
}

const struct print_format *print_rows_format(const struct print_options *options)
{
    if (options->format)
        return options->format;
    if (options->plot == PRINT_PLOT_ALWAYS ||
        (options->plot == PRINT_PLOT_DEFAULT && options->is_terminal))
        return &print_plot;
    return &print_tsv;
}

uint64_t print_range_bins(const struct print_options *options, const struct plan *plan)
{
    const struct print_format *format = print_rows_format(options);

    return plan->has_round_range && format->automatic_bins
               ? format->automatic_bins(options, plan->group_count > 0)
               : plan->range_bins;
}

bool print_has_header(const struct print_options *options, const struct print_format *format)
{
    return format->header >= (options->header_out ? PRINT_HEADER_ASKED : PRINT_HEADER_ALWAYS);
}

void print_write_word(struct writer *writer, const struct print_format *format,
                      enum print_word word)
{
    writer_write(writer, format->words[word].text, format->words[word].length);
}

void print_begin(struct writer *writer, const struct print_result *result)
{
    if (result->format->begin)
        result->format->begin(writer, result);
}

void print_end(struct writer *writer, const struct print_result *result)
{
    if (result->format->end)
        result->format->end(writer, result);
}

/* Returns the columns of rows: those of the groups, and of lines of print_delimited. */
struct print_column print_rows_column(const struct print_result *result, size_t i)
{
    const struct print_options *options = result->options;
    const struct plan *plan = result->plan;
    const bool has_quantiles = options->quantiles.count > 0;
    const bool is_text = kind_rows[plan->element.kind].scale != KIND_NUMBERS;
    const struct print_column sums = print_sums_column(plan);
    const struct print_column columns[] = {
        {.words = {has_quantiles ? "quantile" : NULL}},
        {.words = {result->is_unit ? "value" : "low"}, .is_text = is_text},
        {.words = {result->is_unit ? NULL : "high"}, .is_text = is_text},
        {.words = {has_quantiles ? NULL : sums.words[0], sums.words[1]}, .is_given = true},
        {.words = {!has_quantiles && options->percent ? "percent" : NULL}},
        {.words = {!has_quantiles && options->cumulative ? "cumulative" : NULL}},
        {.words = {!has_quantiles && options->cumulative && options->percent ? "cumulative_percent"
                                                                             : NULL}},
    };

    if (i < plan->group_count)
        return print_group_column(plan, i);
    i -= plan->group_count;
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        if (columns[k].words[0] && i-- == 0)
            return columns[k];
    }
    return (struct print_column){.words = {NULL}};
}

/* Returns the name of the first option of a set: bits of enum print_extra. */
static const char *print_extra_name(unsigned extras)
{
#define PRINT_EXTRA_NAME(id, name, is_given) name,
    static const char *const names[] = {PRINT_EXTRAS(PRINT_EXTRA_NAME)};
    return names[__builtin_ctz(extras)];
}

/* Returns the options that are given: bits of enum print_extra. */
static unsigned print_extras(const struct print_options *options)
{
#define PRINT_EXTRA_GIVEN(id, name, is_given) | (is_given ? (unsigned)PRINT_EXTRA_##id : 0U)
    return 0U PRINT_EXTRAS(PRINT_EXTRA_GIVEN);
}

/* The options that apply only to plots and SVG images. */
#define PRINT_EXTRA_PICTURE \
    ((unsigned)(PRINT_EXTRA_TITLE | PRINT_EXTRA_LABEL | PRINT_EXTRA_LOG_COUNT))

/* Heat maps support no other option that selects rows of a group, or adds to them. */
#define PRINT_HEAT_REFUSED (~(PRINT_EXTRA_ZEROS | PRINT_EXTRA_PERCENT | PRINT_EXTRA_PICTURE))

/* Returns whether the rows of a plan's result are single values. */
static bool print_has_values(const struct plan *plan)
{
    return plan->operation == OPERATION_UNIQ && plan->bin_width == 1 && plan->range_bins == 0;
}

/* Returns whether a plan's values, and its groups if there are any, can be drawn. */
static bool print_can_draw(const struct plan *plan)
{
    return plan->group_count <= 1 && !element_is_name(&plan->element) &&
           (plan->group_count == 0 ||
            !element_is_name(&plan->columns[plan_group_column(plan)].element));
}

const struct print_format *print_plan_format(const struct print_options *options,
                                             const struct plan *plan)
{
    const bool is_always = options->plot == PRINT_PLOT_ALWAYS;
    const bool has_names = element_is_name(&plan->element);
    const bool is_rows = plan->operation != OPERATION_REDUCE && plan->operation != OPERATION_COUNT;

    if (options->format)
        return options->format;
    if (is_always && is_rows)
        return has_names && plan->group_count == 0 ? &print_table : &print_plot;
    if (!options->is_terminal)
        return &print_tsv;
    if (!is_rows || options->plot == PRINT_PLOT_NEVER || !print_can_draw(plan))
        return &print_table;
    if ((print_extras(options) & PRINT_EXTRA_PICTURE) > 0)
        return &print_plot;
    if (print_has_values(plan) ||
        (plan->group_count > 0 && (print_extras(options) & PRINT_HEAT_REFUSED) > 0))
        return &print_table;
    return &print_plot;
}

enum status print_check_format(const struct print_options *options, const struct plan *plan,
                               struct failure *failure)
{
    const struct print_format *format = print_plan_format(options, plan);
    const struct kind *kind = &kind_rows[plan->element.kind];
    const bool is_plot = options->plot == PRINT_PLOT_ALWAYS;
    const char *option = is_plot ? "" : "--format ";
    const char *name = is_plot ? "--plot" : format->name;
    const unsigned given = print_extras(options);
    const unsigned refused = given & format->refused;
    const unsigned undrawn = given & PRINT_HEAT_REFUSED;
    const unsigned unpictured = format->is_picture ? 0 : given & PRINT_EXTRA_PICTURE;
    const unsigned useless = given & ~(unsigned)PRINT_EXTRA_QUANTILES;

    if (plan->operation == OPERATION_REDUCE || plan->operation == OPERATION_COUNT) {
        if (!options->format || options->format->words)
            return STATUS_OK;
        return status_fail(failure, STATUS_USAGE,
                           "--format %s cannot be combined with %s (try " PRINT_NAMES_OF_LINES ")",
                           format->name, plan_operation_names[plan->operation]);
    }
    if (kind->scale == KIND_INSTANTS && format->refuses_times)
        return status_fail(failure, STATUS_USAGE,
                           "--format %s cannot be combined with timestamps (try --format svg)",
                           format->name);
    if (kind->scale == KIND_NAMES && options->format && !format->words && !format->draws_names)
        return status_fail(
            failure, STATUS_USAGE,
            "uniq of %s cannot be combined with --format %s (try " PRINT_NAMES_OF_LINES ", svg)",
            kind->nouns, format->name);
    if (kind->scale == KIND_NAMES && (options->zeros || options->quantiles.count > 0))
        return status_fail(failure, STATUS_USAGE, "uniq of %s cannot be combined with --%s",
                           kind->nouns, options->zeros ? "zeros" : "percentiles");
    if (plan->group_count > 0 && !format->words) {
        if (!format->heat)
            return status_fail(failure, STATUS_USAGE,
                               "--by cannot be combined with --format %s (try " PRINT_NAMES_OF_LINES
                               ", svg, --plot)",
                               format->name);
        if (plan->group_count > 1)
            return status_fail(failure, STATUS_USAGE, "%s%s supports one --by column, not %zu",
                               option, name, plan->group_count);
        if (!print_can_draw(plan))
            return status_fail(
                failure, STATUS_USAGE,
                "%s%s requires groups of numbers or timestamps, not IP addresses or strings",
                option, name);
        if (undrawn > 0)
            return status_fail(failure, STATUS_USAGE,
                               "%s cannot be combined with a heat map, which %s%s draws with --by",
                               print_extra_name(undrawn), option, name);
    }
    if (options->format && is_plot)
        return status_fail(failure, STATUS_USAGE, "--plot cannot be combined with --format");
    if (refused > 0)
        return status_fail(failure, STATUS_USAGE, "%s cannot be combined with --format %s",
                           print_extra_name(refused), format->name);
    if (unpictured > 0)
        return status_fail(failure, STATUS_USAGE,
                           "%s requires --plot, or --format svg, html or gnuplot",
                           print_extra_name(unpictured));
    if (options->quantiles.count > 0 && format->words && !format->is_document && useless > 0)
        return status_fail(failure, STATUS_USAGE,
                           "%s cannot be combined with --percentiles in %s output "
                           "(try --format json, or --plot)",
                           print_extra_name(useless), format->name);
    if (options->other && options->top == 0 && options->min_count == 0)
        return status_fail(failure, STATUS_USAGE, "--other requires --top or --min-count");
    return STATUS_OK;
}

/*
 * Selects the rows, and replaces them by a sorted list if they are wanted in another order, or if
 * the format prints only some.
 */
static enum status print_order_rows(struct print_input *input, struct rows_list *list,
                                    struct failure *failure)
{
    const struct print_options *options = input->options;
    bool by_count = options->sort ? strcmp(options->sort, "count") == 0 : options->top > 0;
    uint64_t top = options->top > 0            ? options->top
                   : input->format->list_lines ? input->format->list_lines(options)
                                               : 0;
    bool is_selection = options->top > 0 || options->min_count > 0;
    struct rows_row batch[ROWS_BATCH];
    const unsigned __int128 min_count = (unsigned __int128)options->min_count *
                                        decimal_power(plan_count_decimals(input->rows.plan));
    size_t n;

    input->rows.min_count = min_count < UINT64_MAX ? (uint64_t)min_count : UINT64_MAX;
    struct rows selected = input->rows;
    input->is_by_bin = !by_count;
    input->is_complete = !by_count && !is_selection;
    if (by_count || (is_selection && top > 0)) {
        if (rows_list_make(list, &selected, top, by_count, options->threads, failure) != STATUS_OK)
            return failure->status;
        rows_list_begin(&input->rows, &selected, list);
        if (options->top == 0) {
            input->rows_left = list->left - list->empty_left;
            input->empty_left = list->empty_left;
        }
    }
    if (!options->other)
        return STATUS_OK;
    input->other = input->rows.inside;
    if (options->top > 0)
        selected = input->rows;
    while ((n = rows_read(&selected, batch, ROWS_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++)
            input->other -= batch[i].count;
    }
    return STATUS_OK;
}

enum status print_rows(struct writer *writer, const struct rows *rows,
                       const struct print_options *options, struct failure *failure)
{
    struct print_input input = {
        .rows = *rows,
        .options = options,
        .format = options->format,
        .total = rows->below + rows->inside + rows->above,
    };
    if ((rows->plan->is_automatic || rows->plan->range_bins > 0) &&
        (input.format->has_names || (options->group && print_has_header(options, input.format))))
        input.rows.is_unit = false; /* the fields do not depend on the values */
    const struct print_result result = {.options = options,
                                        .format = input.format,
                                        .plan = rows->plan,
                                        .is_unit = input.rows.is_unit,
                                        .column = print_rows_column};
    struct rows_list list = {.items = NULL};
    struct quantiles_value *quantiles = NULL;
    struct writer *member = NULL; /* the word before weights */
    size_t bytes;
    enum status status = STATUS_OK;

    if (input.format->words)
        input.count_word = input.format->words[PRINT_WORD_COUNT].text;
    input.prefix = "";
    if (!input.format->is_document && (options->group || input.format->has_names)) {
        input.prefix = options->group ? options->group : print_object_begin(options);
        input.prefix_bytes = options->group ? options->group_bytes : strlen(input.prefix);
    }
    if (input.format->has_names && rows->plan->has_weights) {
        const struct print_column sums = print_sums_column(rows->plan);
        member = writer_create_memory(ELEMENT_TEXT_SIZE);
        if (member) {
            print_write_word(member, input.format, PRINT_WORD_NEXT);
            print_write_name(member, &sums, input.format);
            writer_write(member, ":", 2);
        }
        input.count_word = member ? writer_memory(member, &bytes) : NULL;
        if (!input.count_word)
            status =
                status_fail(failure, STATUS_DATA, "not enough memory for the name of the weights");
    }
    if (status == STATUS_OK && options->quantiles.count > 0 && input.total > 0) {
        quantiles = calloc(options->quantiles.count, sizeof *quantiles);
        status = quantiles
                     ? quantiles_find(&options->quantiles, rows, quantiles, failure)
                     : status_fail(failure, STATUS_DATA, "not enough memory for %zu percentiles",
                                   options->quantiles.count);
        input.quantiles = quantiles;
    }
    if (status == STATUS_OK)
        status = print_order_rows(&input, &list, failure);
    if (status == STATUS_OK) {
        print_begin(writer, &result);
        input.format->rows(writer, &input);
        print_end(writer, &result);
    }
    rows_list_destroy(&list);
    free(quantiles);
    writer_discard(member);
    return status;
}

/* A large input, and the function that writes a part of it. */
struct print_rows_parts {
    const struct print_input *input;
    uint64_t count;
    void (*write)(struct writer *writer, const struct print_input *part);
};

static void print_rows_write_part(const void *context, size_t part, struct writer *writer)
{
    const struct print_rows_parts *parts = context;
    struct print_input input = *parts->input;

    input.rows.narrow(&input.rows, part, parts->count);
    parts->write(writer, &input);
}

void print_rows_in_parts(struct writer *writer, const struct print_input *input,
                         void (*write)(struct writer *writer, const struct print_input *part))
{
    const uint64_t max = input->rows.narrow ? input->rows.rows_max : 0;
    const struct print_rows_parts parts = {
        .input = input,
        .count = (max + PRINT_ROWS_PART_BINS - 1) / PRINT_ROWS_PART_BINS,
        .write = write,
    };
    const struct writer_parts writes = {
        .count = parts.count,
        .write = print_rows_write_part,
        .context = &parts,
    };
    unsigned threads = 1;

    if (!input->options->cumulative) /* else rows depend on earlier rows */
        threads = parallel_threads(input->options->threads, max, PRINT_ROWS_THREAD_BINS);
    if (threads == 1 || !writer_parts_write(writer, &writes, threads))
        write(writer, input);
}
