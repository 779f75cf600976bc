/* Builds the --help text from the tables of operations and options. */
#include "config.h"

#include "app/options_table.h"
#include "partial/operation.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The width of the names of options. Longer ones move their help to the right. */
#define OPTIONS_NAMES_WIDTH 24

struct options_text {
    char *text;
    size_t size;
    size_t length;
};

/* Appends formatted text; truncates what does not fit. Returns the length of the new text. */
static int __attribute__((format(printf, 2, 3)))
options_append(struct options_text *text, const char *format, ...)
{
    size_t left = text->size - text->length;
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(text->text + text->length, left, format, arguments);
    va_end(arguments);
    text->length += length < 0 || (size_t)length >= left ? left - 1 : (size_t)length;
    return length;
}

const char *options_help_word(const struct options *options)
{
    switch (options->action) {
    case OPTIONS_MERGE:
        return "merge";
    case OPTIONS_INFO:
        return "info";
    case OPTIONS_VERSION:
        return "";
    case OPTIONS_RUN:
        break;
    }
    return options->operation == OPERATION_HISTOGRAM ? "" : operations[options->operation]->name;
}

/* Appends the line of an option. */
static void options_append_row(struct options_text *text, const struct options *options,
                               const struct options_row *row)
{
    const char *argument = row->argument ? row->argument : "";
    const char *before = *argument == '\0' ? "" : *argument == '[' ? "[=" : " ";
    const char *of_bins = options_print_bins(options) ? NULL : strstr(row->help, "; of bins: ");
    int help_length = (int)(of_bins ? (size_t)(of_bins - row->help) : strlen(row->help));
    char letter[8] = "      ";

    if (row->letter)
        snprintf(letter, sizeof letter, "  -%c, ", row->letter);
    int length = options_append(text, "%s--%s%s%s", letter, row->name, before,
                                argument + (*argument == '['));
    options_append(text, "%*s  %.*s\n",
                   length < OPTIONS_NAMES_WIDTH ? OPTIONS_NAMES_WIDTH - length : 0, "", help_length,
                   row->help);
}

void options_help(const struct options *options, char *text, size_t size)
{
    static const char line[] = "  %-23s %s\n";
    struct options_text help = {.text = text, .size = size};

    if (options->action == OPTIONS_MERGE)
        options_append(
            &help,
            "Usage: gpuhist merge [OPTION]... [FILE]...\n"
            "Add up the states that runs with --save wrote to FILEs, and print the result.\n"
            "States keep no options of the output: give them to merge, such as --format csv,\n"
            "or --top 10 and --quantiles 50 for states of histogram and uniq.\n");
    else if (options->action == OPTIONS_INFO)
        options_append(
            &help, "Usage: gpuhist info\n"
                   "Print the version and, for each engine, whether it can run here or why not,\n"
                   "and which formats can be decompressed, and by which libraries.\n");
    else
        options_append(&help, "Usage: %s", operations[options->operation]->usage);
    if (*options_help_word(options) == '\0') {
        options_append(&help, "\nOperations: (options of each: gpuhist OPERATION --help)\n");
        for (size_t i = 0; i < OPERATION_IDS; i++)
            options_append(&help, line, operations[i]->name, operations[i]->help);
        options_append(&help, line, "merge", "add up states that runs with --save have written");
        options_append(&help, line, "info",
                       "print the version, and which engines and formats work");
    }
    int group = -1;
    for (size_t i = 0; i < options_row_count; i++) {
        const struct options_row *row = &options_rows[i];
        if (!options_takes(options, row))
            continue;
        if (group != (int)row->group)
            options_append(&help, "\n%s:\n", options_groups[row->group]);
        group = (int)row->group;
        options_append_row(&help, options, row);
    }
    if (options->action != OPTIONS_INFO)
        options_append(
            &help,
            "\nSuffixes: 5K = 5000, 5Ki = 5120 (also M, G, ...); as SIZE or BYTES, 5K = 5120.\n"
            "Exit status: 0 success, 1 data or I/O error, 2 usage error, 3 engine cannot run.\n");
}
