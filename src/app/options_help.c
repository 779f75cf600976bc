/* Builds the --help text from the tables of commands and options. */
#include "config.h"

#include "app/options_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The width of the names of options. Longer ones move their help to the right. */
#define OPTIONS_NAMES_WIDTH 24

const char *options_help_word(const struct options *options)
{
    return options->command == &options_commands[OPERATION_HISTOGRAM] ? "" : options->command->name;
}

char *options_help(const struct options *options)
{
    const struct options_command *command = options->command;
    char *text = NULL;
    size_t length;
    FILE *help = open_memstream(&text, &length);
    int group = -1;

    if (!help)
        return NULL;
    fprintf(help, "Usage: %s", command->usage);
    if (command == &options_commands[OPERATION_HISTOGRAM]) {
        fprintf(help, "\nOperations: (options of each: gpuhist OPERATION --help)\n");
        for (size_t i = 0; i < OPTIONS_COMMANDS; i++)
            fprintf(help, "  %-23s %s\n", options_commands[i].name, options_commands[i].help);
    }
    for (size_t i = 0; i < options_row_count; i++) {
        const struct options_row *row = &options_rows[i];
        const char *argument = row->argument ? row->argument : "";
        const char *before = *argument == '\0' ? "" : *argument == '[' ? "[=" : " ";
        const char *of_bins = strstr(row->help, "; of bins: ");
        char names[64] = "      ";
        if (!(row->traits & command->traits) || row->is_told)
            continue;
        if (group != (int)row->group)
            fprintf(help, "\n%s:\n", options_groups[row->group]);
        group = (int)row->group;
        if (row->letter)
            snprintf(names, sizeof names, "  -%c, ", row->letter);
        snprintf(names + 6, sizeof names - 6, "--%s%s%s", row->name, before,
                 argument + (*argument == '['));
        if (!of_bins || command->traits & OPTIONS_PRINTS_BINS)
            of_bins = row->help + strlen(row->help);
        fprintf(help, "%-*s  %.*s\n", OPTIONS_NAMES_WIDTH, names, (int)(of_bins - row->help),
                row->help);
    }
    if (command->action != OPTIONS_INFO)
        fprintf(
            help,
            "\nSuffixes: 5K = 5000, 5Ki = 5120 (also M, G, ...); as SIZE or BYTES, 5K = 5120.\n"
            "Exit status: 0 success, 1 data or I/O error, 2 usage error, 3 engine cannot run.\n");
    if (fclose(help) == 0)
        return text;
    free(text);
    return NULL;
}
