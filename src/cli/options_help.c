/* Builds the --help text from the tables of commands and options. */
#include "config.h"

#include "cli/options_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Width of the names of options. Longer names move their help to the right. */
#define OPTIONS_NAMES_WIDTH 24
/* Width of the help of an option in a line of 80 columns. */
#define OPTIONS_TEXT_WIDTH 54

const char *options_help_word(const struct options *options)
{
    return options->command->name;
}

/* Begins the help of the program. */
static const char options_usage[] =
    "gpuhist [OPERATION] [OPTION]... [FILE]...\n"
    "Count values: frequency tables, histograms, percentiles, grouped statistics.\n";
static const char options_examples[] =
    "  gpuhist uniq --top 10 ids.txt                the 10 most frequent values\n"
    "  gpuhist uniq -f 9 access.log*.gz             how often each HTTP status occurs\n"
    "  gpuhist reduce p50,p99 --csv -f ms x.csv     percentiles of a column\n";

char *options_help(const struct options *options)
{
    const struct options_command *command = options->command;
    const bool is_overview = !options->is_named;
    char *page = NULL;
    char kinds[KIND_LIST_SIZE];
    size_t length;
    FILE *help = open_memstream(&page, &length);
    int group = -1;

    if (!help)
        return NULL;
    kind_list_all(kinds);
    fprintf(help, "Usage: %s", is_overview ? options_usage : command->usage);
    fprintf(help, "\nExamples:\n%s", is_overview ? options_examples : command->examples);
    if (is_overview)
        fprintf(help, "\nOperations: (options and examples of each: gpuhist OPERATION --help)\n");
    for (size_t i = 0; is_overview && i < OPTIONS_COMMANDS; i++)
        fprintf(help, "  %-23s %s\n", options_commands[i].name, options_commands[i].help);
    if (is_overview)
        fprintf(help, "\nCommon options: (all: gpuhist OPERATION --help)\n");
    for (size_t i = 0; i < options_row_count; i++) {
        const struct options_row *row = &options_rows[i];
        const char *argument = row->argument ? row->argument : "";
        const char *before = *argument == '\0' ? "" : *argument == '[' ? "[=" : " ";
        const char *text = is_overview ? row->help : options_row_help(row, command->traits);
        const char *rest = strlen(text) > OPTIONS_TEXT_WIDTH ? strstr(text, "; ") : NULL;
        char names[64] = "      ";
        if (!(row->traits & command->traits) || row->is_told || (is_overview && !row->is_common))
            continue;
        if (!is_overview && group != (int)row->group)
            fprintf(help, "\n%s:\n", options_groups[row->group]);
        group = (int)row->group;
        if (row->letter)
            snprintf(names, sizeof names, "  -%c, ", row->letter);
        snprintf(names + 6, sizeof names - 6, "--%s%s%s", row->name, before,
                 argument + (*argument == '['));
        const size_t shown = rest ? (size_t)(rest - text) + 1 : strlen(text);
        fprintf(help, "%-*s  %.*s\n", OPTIONS_NAMES_WIDTH, names, (int)shown, text);
        if (rest)
            fprintf(help, "%*s%s\n", OPTIONS_NAMES_WIDTH + 2, "", rest + 2);
    }
    if (command->action != OPTIONS_INFO)
        fprintf(help, "\n");
    if (command->traits & OPTIONS_READS_INPUT && !is_overview)
        fprintf(help,
                "COLUMN: N, NAME, A+B (timestamps) or u32@8 (records), optionally :TYPE[/WIDTH]:\n"
                "  1:ip/24, N:int/100, at:time.3, at:time/15m, at:time/1mo, at:time/hour-of-day\n");
    if (command->traits & OPTIONS_READS_INPUT)
        fprintf(help, "Column types: %s\n", kinds);
    if (command->traits & OPTIONS_READS_INPUT && !is_overview)
        fprintf(help, "CONDITION: \"4:time>=2026-11-21T13:00\", \"1:ip=10.0.0.0/8\", "
                      "\"status=200,304\"\n"
                      "  = !=; < <= > >= (strings: add :text); ^= (begins) *= (contains) ~ !~ "
                      "(regex)\n");
    if (command->traits & OPTIONS_READS_INPUT && !is_overview)
        fprintf(help, "Suffixes: 5Ki = 5120, 5K = 5000 (type ibytes, options with SIZE or BYTES: "
                      "5120).\n");
    else if (command->action != OPTIONS_INFO)
        fprintf(help, "Suffixes: 5K = 5000, 5Ki = 5120 (also M, G, ...)%s.\n",
                is_overview ? "" : "; for SIZE, 5K = 5120");
    if (command->action != OPTIONS_INFO && !is_overview)
        fprintf(help, "Exit status: 0 success, 1 data or I/O error, 2 usage error%s.\n",
                command->traits & OPTIONS_READS_INPUT ? ", 3 engine cannot run" : "");
    if (fclose(help) == 0)
        return page;
    free(page);
    return NULL;
}
