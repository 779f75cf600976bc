/*
 * Implements the lines of options.h: a plan's options as one line of text, which the parser of the
 * command line reads again.
 */
#include "config.h"

#include "aggregate/store.h"
#include "cli/lists.h"
#include "cli/options_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Size of an option in a message; a longer one is cut. */
#define OPTIONS_SHOWN_SIZE 72

/* Appends typed text. Blanks, control characters and backslashes become \ and octal digits. */
static void options_append_typed(FILE *line, const char *typed)
{
    for (const char *c = typed; *c; c++) {
        if ((unsigned char)*c <= ' ' || *c == 127 || *c == '\\')
            fprintf(line, "\\%03o", (unsigned)(unsigned char)*c);
        else
            fputc(*c, line);
    }
}

/* Appends the bins of a histogram. All options that make the same bins give the same text. */
static void options_append_binning(FILE *line, const struct plan *plan)
{
    const struct binning *binning = &plan->binning;
    const unsigned decimals = plan->element.decimals;
    struct element element = plan->element;
    const __int128 first = binning_edge(binning, 0);
    char low[ELEMENT_TEXT_SIZE];
    char high[ELEMENT_TEXT_SIZE];
    char width[DECIMAL_SIZE];

    element.zone = NULL; /* edges are written in UTC */
    if (binning->base > 0) {
        fprintf(line, " --log%u", binning->base);
        return;
    }
    if (binning->has_parts) {
        fprintf(line, " --log2=%u", binning->parts);
        return;
    }
    if (binning->table) {
        for (uint64_t bin = 0; bin <= binning->bins; bin++) {
            element_format(low, &element, binning_edge(binning, bin));
            fprintf(line, "%s%s", bin == 0 ? " --edges=" : ",", low);
        }
        return;
    }
    element_format(low, &element, first);
    element_format(high, &element, first + binning->last + 1);
    if (first == 0 && binning_is_unit(binning)) {
        fprintf(line, " --bins=%u", binning->bins);
    } else if (binning->numerator == 1 && binning->divisor != 0) { /* not 2^64 */
        decimal_format_fixed(width, binning->divisor, decimals);
        fprintf(line, " --range=%s:%s --width=%s", low, high, width);
    } else {
        fprintf(line, " --bins=%u --range=%s:%s", binning->bins, low, high);
    }
}

/* Appends the name of a column, quoted as in CSV, so that it is read as a name. */
static void options_append_name(FILE *line, const char *name)
{
    fprintf(line, "\"");
    for (; *name; name++) {
        const char character[] = {*name, '\0'};
        options_append_typed(line, *name == '"' ? "\"\"" : character);
    }
    fprintf(line, "\"");
}

/* Appends the kind of a column, for numbers the element type, and the width of its buckets. */
static void options_append_kind(FILE *line, const struct column *column)
{
    const struct element *element = &column->element;
    const struct kind *kind = &kind_rows[element->kind];
    char width[KIND_WIDTH_SIZE] = "";

    fprintf(line, ":%s", kind->type ? kind->name : element->name);
    if (element->decimals > 0)
        fprintf(line, ".%u", element->decimals);
    if (kind->format_width)
        kind->format_width(width, element, &column->width);
    fprintf(line, "%s", width);
}

/*
 * Appends the columns: the weights, by their name; a single value column only if it is floored or
 * not of numbers. The header of results is kept as typed: names, and the places of several columns
 * without names. The place of a single column is not part of the meaning.
 */
static void options_append_columns(FILE *line, const struct plan *plan)
{
    if (plan->has_weights) {
        const struct column *column = &plan->columns[plan_weight_column(plan)];
        const char *name = column->name;
        fprintf(line, name ? " --weight=" : " --weight=1");
        if (name)
            options_append_name(line, name);
        if (column->element.decimals > 0 || kind_rows[column->element.kind].type)
            options_append_kind(line, column);
    }
    for (size_t i = 0; i < plan_condition_column(plan); i++) {
        const struct column *column = &plan->columns[i];
        const bool is_value = i < plan->value_count;
        const bool is_only = is_value && plan->value_count == 1;
        const bool is_plain = column->width.units <= 1 && !kind_rows[column->element.kind].type;
        if ((is_only && is_plain) || (plan->has_weights && i == plan_weight_column(plan)))
            continue;
        if (i == 0 || i == plan_group_column(plan))
            fprintf(line, is_value ? " --field=" : " --by=");
        else
            fprintf(line, ",");
        if (column->name && !is_only)
            options_append_name(line, column->name);
        else if (is_value ? !is_only : plan->group_count > 1)
            options_append_typed(line, column->where);
        else
            fprintf(line, "1");
        options_append_kind(line, column);
    }
}

/* The start of the last option, the name of a histogram's or uniq's values, which is not compared.
 */
#define OPTIONS_LABEL " --label="

/* Appends the name of the values that plots show. */
static void options_append_label(FILE *line, const struct plan *plan)
{
    const struct column *column = &plan->columns[0];
    const char *label = column->name ? column->name : column->label;

    if (!label || plan->operation == OPERATION_REDUCE || plan->operation == OPERATION_COUNT)
        return;
    fprintf(line, OPTIONS_LABEL);
    options_append_typed(line, label);
}

/* Returns the length of a line without the name of the values. */
static size_t options_line_length(const char *line)
{
    const char *label = strstr(line, OPTIONS_LABEL);
    return label ? (size_t)(label - line) : strlen(line);
}

/* Appends the time zone of the values and groups, if one of them uses it. */
static void options_append_zone(FILE *line, const struct plan *plan)
{
    for (size_t i = 0; i < plan_condition_column(plan); i++) {
        const struct kind_time_zone *zone = plan->columns[i].element.zone;
        if (!zone)
            continue;
        fprintf(line, " --tz=");
        options_append_typed(line, kind_time_zone_name(zone));
        return;
    }
}

char *options_write_line(const struct plan *plan)
{
    static const char *const outside[] = {
        [OUTSIDE_REPORT] = "report",
        [OUTSIDE_ABORT] = "abort",
        [OUTSIDE_CLAMP] = "clamp",
        [OUTSIDE_IGNORE] = "ignore",
    };
    const bool has_width = plan->operation == OPERATION_UNIQ && plan->bin_width > 1;
    const enum operation_id operation =
        has_width || plan->range_bins > 0 ? OPERATION_HISTOGRAM : plan->operation;
    const unsigned decimals = plan->element.decimals;
    char *text = NULL;
    size_t length;
    FILE *line = open_memstream(&text, &length);
    char width[DECIMAL_SIZE];

    if (!line)
        return NULL;
    fprintf(line, "%s", plan_operation_names[operation]);
    for (unsigned i = 0; i < plan->reductions.count; i++)
        fprintf(line, "%c%s", i == 0 ? ' ' : ',', plan->reductions.list[i].name);
    const bool is_number =
        kind_rows[plan->element.kind].scale == KIND_NUMBERS && plan->value_count < 2;
    if (is_number)
        fprintf(line, " --type=%s", plan->element.name);
    /* For a number of values, decimal places do not matter. */
    bool counts = plan->operation == OPERATION_COUNT ||
                  (plan->operation == OPERATION_REDUCE && plan->reductions.count == 1 &&
                   plan->reductions.list[0].id == REDUCTION_COUNT);
    for (size_t i = 0; i < plan->predicate_count; i++)
        counts = counts && plan->predicates[i].form == PREDICATE_EVERY && !plan->predicates[i].text;
    if (decimals > 0 && is_number && !counts)
        fprintf(line, " --decimals=%u", decimals);
    if (plan->interpolates)
        fprintf(line, " --interpolate");
    options_append_columns(line, plan);
    options_append_zone(line, plan);
    if (has_width) {
        decimal_format_fixed(width, plan->bin_width, decimals);
        fprintf(line, " --width=%s", width);
    } else if (plan->range_bins > 0 && !plan->has_round_range) {
        fprintf(line, " --bins=%llu --range=auto", (unsigned long long)plan->range_bins);
    } else if (operation == OPERATION_HISTOGRAM && !plan->is_automatic && !plan->has_round_range) {
        options_append_binning(line, plan);
        fprintf(line, " --outside=%s", outside[plan->outside]);
    }
    for (size_t i = 0; i < plan->predicate_count; i++) {
        const struct predicate *predicate = &plan->predicates[i];
        fprintf(line, " --%s%s", predicate->name, predicate->text ? "=" : "");
        options_append_typed(line, predicate->text ? predicate->text : "");
        if (predicate->text && lists_is_file(predicate->text)) /* so that other values differ */
            fprintf(line, ":%llu:%016llx", (unsigned long long)predicate->set_values,
                    (unsigned long long)predicate->set_digest);
    }
    options_append_label(line, plan);
    if (fclose(line) == 0)
        return text;
    free(text);
    return NULL;
}

/* Splits a line at its blanks. Returns the words, up to NULL, in one block of memory, or NULL. */
static char **options_split_line(const char *line)
{
    size_t count = 2; /* a name for messages, and the first word */

    for (const char *c = line; *c; c++)
        count += *c == ' ';
    char **words = malloc((count + 1) * sizeof *words + strlen(line) + 1);
    if (!words)
        return NULL;
    char *out = (char *)(words + count + 1);
    words[0] = "";
    words[count] = NULL;
    for (size_t i = 1; i < count; i++, line++) {
        words[i] = out;
        for (; *line && *line != ' '; line++) {
            unsigned code = (unsigned char)*line;
            if (code == '\\' && strspn(line + 1, "01234567") >= 3) {
                code = (unsigned)(line[1] - '0') * 64 + (unsigned)(line[2] - '0') * 8 +
                       (unsigned)(line[3] - '0');
                line += 3;
            }
            *out++ = (char)code;
        }
        *out++ = '\0';
    }
    return words;
}

/* Makes the predicate of a list in a file from its digest in the line, which is cut off. */
static bool options_read_digest(struct predicate *predicate, char *typed,
                                const struct element *element)
{
    unsigned long long values;
    unsigned long long digest;
    char *colon = strrchr(typed, ':');

    if (!colon || sscanf(colon + 1, "%llx", &digest) != 1)
        return false;
    *colon = '\0';
    colon = strrchr(typed, ':');
    if (!colon || sscanf(colon + 1, "%llu", &values) != 1)
        return false;
    *colon = '\0';
    predicate_init_unread(predicate, typed, element, values, digest);
    return true;
}

enum status options_read_line(struct options *options, char *line, const struct options *merge,
                              struct context *context, struct plan *plan, struct failure *failure)
{
    char **words = options_split_line(line);
    int count = 0;

    *options = (struct options){.words = NULL};
    *plan = (struct plan){.line = line};
    if (!words)
        return status_fail(failure, STATUS_DATA, "not enough memory for the options of a state");
    while (words[count])
        count++;
    enum status status = options_parse(options, count, words, true, NULL, failure);
    options->words = words;
    if (status != STATUS_OK)
        return status;
    options->buffer_bytes = merge->buffer_bytes;
    options->temporary_directory = merge->temporary_directory;
    const char *label = options->print.label;
    options->print.label = NULL; /* it requires a plot, which there is not yet */
    /* Columns of text may be of any type. */
    status = options_make(options, true, false, context, plan, failure);
    plan->line = line;
    plan->columns[0].label = label;
    plan->needs_values = merge->print.quantiles.count > 0;
    if (status != STATUS_OK)
        return status;
    bool is_valid = options->command->action == OPTIONS_RUN && !options->help &&
                    store_of_operation(plan->operation)->load; /* else there are no such states */
    for (size_t i = 0; is_valid && i < plan->predicate_count; i++) {
        const struct options_predicate *typed = &options->predicates[i];
        if (options_names_file(typed)) /* the text lies in `words` */
            is_valid =
                options_read_digest(&plan->predicates[i], (char *)typed->text, &plan->element);
    }
    char *again = is_valid ? options_write_line(plan) : NULL;
    if (is_valid && !again)
        return status_fail(failure, STATUS_DATA, "not enough memory for the options of a state");
    is_valid = is_valid && strcmp(again, line) == 0;
    free(again);
    return is_valid ? STATUS_OK : status_fail(failure, STATUS_USAGE, "invalid line of options");
}

/* Returns the length of the option, or of the operation with its reductions, at the start of
 * `line`. */
static size_t options_line_next(const char *line)
{
    const char *end = strstr(line, " --");
    return end ? (size_t)(end - line) : strlen(line);
}

/* Returns whether the line has the option at the start of `option`, with any value. */
static bool options_line_has(const char *line, const char *option)
{
    const size_t length = strcspn(option, "= ");

    for (; *line; line += options_line_next(line), line += *line == ' ') {
        if (length == strcspn(line, "= ") && memcmp(line, option, length) == 0)
            return true;
    }
    return false;
}

/* Writes the option at the start of `line`; of a long value, the part after `same` bytes. */
static void options_show(char shown[OPTIONS_SHOWN_SIZE], const char *line, size_t same)
{
    const size_t length = options_line_next(line);
    const size_t name = strcspn(line, "=") + 1;

    if (length < OPTIONS_SHOWN_SIZE || name > OPTIONS_SHOWN_SIZE / 2)
        snprintf(shown, OPTIONS_SHOWN_SIZE, "%.*s", (int)length, line);
    else
        snprintf(shown, OPTIONS_SHOWN_SIZE, "%.*s...%.*s", (int)name, line,
                 same < length ? (int)(length - same) : 0, line + same);
    if (length > same + OPTIONS_SHOWN_SIZE)
        strcpy(shown + OPTIONS_SHOWN_SIZE - 4, "...");
}

bool options_compare_lines(const char *a, const char *b, char difference[OPTIONS_DIFFERENCE_SIZE])
{
    char of_a[OPTIONS_SHOWN_SIZE];
    char of_b[OPTIONS_SHOWN_SIZE];
    const size_t length = options_line_length(a);
    size_t same = 0;

    if (length == options_line_length(b) && memcmp(a, b, length) == 0)
        return true;
    for (size_t n; (n = options_line_next(a)) == options_line_next(b) && memcmp(a, b, n) == 0;) {
        a += n + (a[n] == ' ');
        b += n + (b[n] == ' ');
    }
    while (a[same] == b[same])
        same++;
    options_show(of_a, a, same);
    options_show(of_b, b, same);
    const bool has_a = *a == '\0' || options_line_has(b, a); /* b has that option */
    const bool has_b = *b == '\0' || options_line_has(a, b);
    if (has_a && !has_b)
        snprintf(difference, OPTIONS_DIFFERENCE_SIZE, "has %s, unlike", of_b);
    else if (has_b && !has_a)
        snprintf(difference, OPTIONS_DIFFERENCE_SIZE, "no %s as in", of_a);
    else
        snprintf(difference, OPTIONS_DIFFERENCE_SIZE, "%s, not %s as in", of_b, of_a);
    return false;
}
