/* Builds the --help text from the tables of operations and options. */
#include "config.h"

#include "app/options_internal.h"
#include "partial/operation.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct options_text {
    char *text;
    size_t size;
    size_t length;
};

/* Appends formatted text; truncates what does not fit. */
static void __attribute__((format(printf, 2, 3)))
options_append(struct options_text *text, const char *format, ...)
{
    va_list arguments;
    size_t room = text->size - text->length;

    va_start(arguments, format);
    int n = vsnprintf(text->text + text->length, room, format, arguments);
    va_end(arguments);
    text->length = n < 0 || (size_t)n >= room ? text->size - 1 : text->length + (size_t)n;
}

/* Appends the names of an option, after some text, and its argument. */
static void options_append_names(struct options_text *text, const char *letter_before,
                                 const char *name_before, const struct options_row *row)
{
    bool is_optional = row->argument && *row->argument == '[';

    if (row->key < 256)
        options_append(text, "%s-%c, --%s", letter_before, row->key, row->name);
    else
        options_append(text, "%s--%s", name_before, row->name);
    if (row->argument)
        options_append(text, "%s%s", is_optional ? "[=" : " ", row->argument + is_optional);
}

/* The length of the help text of a row, without what is only for operations with bins. */
static int options_help_length(const struct options *options, const struct options_row *row)
{
    const char *of_bins = options_print_bins(options) ? NULL : strstr(row->help, "; of bins: ");

    return (int)(of_bins ? (size_t)(of_bins - row->help) : strlen(row->help));
}

/* Appends the line of a row. The rows after it without help text share that line. */
static void options_append_row(struct options_text *text, const struct options *options,
                               const struct options_row *row)
{
    const struct options_row *end = options_rows + options_row_count;
    size_t begin = text->length;

    options_append_names(text, "  ", "      ", row);
    for (const struct options_row *next = row + 1; next < end && !next->help; next++)
        options_append_names(text, ", ", ", ", next);
    int names = (int)(text->length - begin);
    options_append(text, "%*s  %.*s\n", names < 24 ? 24 - names : 0, "",
                   options_help_length(options, row), row->help);
}

/* Appends the options of a group that the action or operation accepts. */
static void options_append_group(struct options_text *text, const struct options *options,
                                 enum options_group group, const char *heading)
{
    bool is_first = true;

    for (size_t i = 0; i < options_row_count; i++) {
        const struct options_row *row = &options_rows[i];
        if (row->group != group || !row->help || !options_row_goes(options, row))
            continue;
        if (is_first)
            options_append(text, "\n%s:\n", heading);
        options_append_row(text, options, row);
        is_first = false;
    }
}

static void options_append_operations(struct options_text *text)
{
    static const char line[] = "  %-23s %s\n";

    options_append(text, "\nOperations: (options of each: gpuhist OPERATION --help)\n");
    for (size_t i = 0; i < OPERATION_IDS; i++)
        options_append(text, line, operations[i]->name, operations[i]->help);
    options_append(text, line, "merge", "add up states that runs with --save have written");
    options_append(text, line, "info", "print the version, and which engines and formats work");
}

static const char *options_usage(const struct options *options)
{
    if (options->action == OPTIONS_MERGE)
        return "gpuhist merge [OPTION]... [FILE]...\n"
               "Add up the states that runs with --save wrote to FILEs, and print the result.\n"
               "States keep no options of the output: give them to merge, such as --format csv,\n"
               "or --top 10 and --quantiles 50 for states of histogram and uniq.\n";
    if (options->action == OPTIONS_INFO)
        return "gpuhist info\n"
               "Print the version and, for each engine, whether it can run here or why not,\n"
               "and which formats can be decompressed, and by which libraries.\n";
    return operations[options->operation]->usage;
}

static bool options_is_default(const struct options *options)
{
    return options->action == OPTIONS_VERSION ||
           (options->action == OPTIONS_RUN && options->operation == OPERATION_HISTOGRAM);
}

const char *options_help_word(const struct options *options)
{
    if (options_is_default(options))
        return "";
    return options->action == OPTIONS_MERGE  ? "merge"
           : options->action == OPTIONS_INFO ? "info"
                                             : operations[options->operation]->name;
}

void options_help(const struct options *options, char *text, size_t size)
{
    struct options_text help = {.text = text, .size = size};
    bool is_default = options_is_default(options);

    options_append(&help, "Usage: %s", options_usage(options));
    if (is_default)
        options_append_operations(&help);
#define OPTIONS_APPEND_GROUP(id, heading) \
    options_append_group(&help, options, OPTIONS_GROUP_##id, heading);
    OPTIONS_GROUPS(OPTIONS_APPEND_GROUP)
#undef OPTIONS_APPEND_GROUP
    if (options->action == OPTIONS_INFO)
        return;
    options_append(&help, "\n");
    options_append(
        &help,
        "Suffixes: 5K = 5000, 5Ki = 5120 (also M, G, ...); as SIZE or BYTES, 5K = 5120.\n"
        "Exit status: 0 success, 1 data or I/O error, 2 usage error, 3 engine cannot run.\n");
}
