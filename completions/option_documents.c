/*
 * Writes the options in documents, from the tables of options, commands and reductions: copies a
 * template from standard input to standard output, and replaces its lines @options@ and @header@.
 * "make" runs it on the build machine to make the man page and the completions.
 *
 * usage: option_documents gpuhist.1|gpuhist.bash|gpuhist.fish|_gpuhist HEADER <TEMPLATE
 *
 * HEADER is the file that replaces @header@. In the man page, the lines up to @end@ are the texts
 * of the options, each after a line @NAME@; the order, headings, names and arguments are the
 * table's. An option with no text at all gets its help line; one with an empty text shares that of
 * the option after it.
 */
#include "config.h"

#include "cli/options_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX  4096
#define LINE_BYTES 1024
#define COLUMNS    100

/* The descriptions in the man page. */
static char lines[LINES_MAX][LINE_BYTES];
static size_t line_count;

/* Writes an array of all commands with their help, "NAME:HELP". */
static void write_commands(const char *indent)
{
    puts("operations=(");
    for (unsigned i = 0; i < OPTIONS_COMMANDS; i++)
        printf("%s    '%s:%s'\n", indent, options_commands[i].name, options_commands[i].help);
    printf("%s)\n", indent);
}

/* Writes the names of the reductions, and one percentile as an example. */
static void write_reduction_names(void)
{
    for (unsigned i = 0; i < REDUCTION_QUANTILE; i++)
        printf("%s ", reductions_name((enum reduction_id)i));
    fputs("p99", stdout);
}

/* Returns whether the values of an option are a list or @FILE. Pure. */
static bool takes_list(const struct options_row *row)
{
    return row->kind == OPTIONS_LIST ||
           (row->kind == OPTIONS_PREDICATE && row->value == PREDICATE_ANY_OF);
}

/* Returns the help line of an option for a command. Pure. */
static const char *help_of(size_t row, unsigned command)
{
    return options_row_help(&options_rows[row], options_commands[command].traits);
}

/* Returns the commands, as bits, that have an option with the help line of this one; 0: it has no
 * such option. Pure. */
static unsigned commands_with_help(size_t row, unsigned command)
{
    const unsigned traits = options_rows[row].traits;
    unsigned commands = 0;

    for (unsigned i = 0; i < OPTIONS_COMMANDS; i++) {
        if (traits & options_commands[command].traits && traits & options_commands[i].traits &&
            strcmp(help_of(row, i), help_of(row, command)) == 0)
            commands |= 1U << i;
    }
    return commands;
}

/* Writes the names that a first word can have, as a shell pattern: "uniq | distinct". */
static void write_pattern(const struct options_command *command)
{
    fputs(command->name, stdout);
    if (command->alias)
        printf(" | %s", command->alias);
}

/* --- bash ---------------------------------------------------------------------------------- */

static bool write_bash(void)
{
    fputs("_gpuhist_", stdout);
    write_commands("");
    fputs("_gpuhist_reductions='", stdout);
    write_reduction_names();
    puts("'\n"
         "\n"
         "# _gpuhist_options WORD: prints the options of the operation that a first word names.\n"
         "_gpuhist_options() {\n"
         "    case $1 in");
    _Static_assert(OPERATION_HISTOGRAM == 0, "the default comes last");
    for (unsigned n = 1; n <= OPTIONS_COMMANDS; n++) {
        const struct options_command *command = &options_commands[n % OPTIONS_COMMANDS];
        int column = 12;
        fputs("    ", stdout);
        if (n == OPTIONS_COMMANDS)
            putchar('*');
        else
            write_pattern(command);
        printf(")\n        echo");
        for (size_t j = 0; j < options_row_count; j++) {
            const struct options_row *row = &options_rows[j];
            char words[64];
            if (!(row->traits & command->traits))
                continue;
            int length = row->letter
                             ? snprintf(words, sizeof words, " -%c --%s", row->letter, row->name)
                             : snprintf(words, sizeof words, " --%s", row->name);
            if (column + length + 2 > COLUMNS) {
                printf(" \\\n           ");
                column = 11;
            }
            column += length;
            fputs(words, stdout);
        }
        puts("\n        ;;");
    }
    puts("    esac\n"
         "}\n"
         "\n"
         "# _gpuhist_value OPTION: offers values for it. Fails if the option takes no value.\n"
         "_gpuhist_value() {\n"
         "    case $1 in");
    for (size_t i = 0; i < options_row_count; i++) {
        const struct options_row *row = &options_rows[i];
        if (!row->argument || *row->argument == '[')
            continue;
        fputs("    ", stdout);
        if (row->letter)
            printf("-%c | ", row->letter);
        printf("--%s)", row->name);
        if (row->words && strchr(row->words, '{'))
            printf(" _gpuhist_complete \"$(echo %s)\"", row->words);
        else if (row->words)
            printf(" _gpuhist_complete '%s'", row->words);
        else if (row->kind == OPTIONS_FILE)
            printf(" _gpuhist_files");
        else if (row->kind == OPTIONS_DIRECTORY)
            printf(" _gpuhist_directories");
        else if (row->kind == OPTIONS_COLUMNS || row->kind == OPTIONS_CONDITIONS)
            printf(" _gpuhist_columns");
        else if (takes_list(row))
            printf(" [[ $cur != @* ]] || _gpuhist_at_files");
        puts(" ;;");
    }
    puts("    *) return 1 ;;\n"
         "    esac\n"
         "}");
    return true;
}

/* --- zsh ----------------------------------------------------------------------------------- */

/* Writes a string with a backslash before each of the given characters. */
static void write_escaped(const char *text, const char *characters)
{
    for (; *text; text++)
        printf("%s%c", strchr(characters, *text) ? "\\" : "", *text);
}

/* Writes the specification of an option for _arguments, with this help line. */
static void write_zsh_row(const struct options_row *row, const char *help)
{
    const bool is_repeated = row->kind == OPTIONS_PREDICATE || row->kind == OPTIONS_CONDITIONS ||
                             row->kind == OPTIONS_OR ||
                             (row->kind == OPTIONS_COLUMNS && row->maximum > 1);
    const char *argument = row->argument ? row->argument : "";
    const char *takes = *argument == '\0' ? "" : *argument == '[' ? "=-" : "=";

    fputs("            '", stdout);
    if (is_repeated)
        putchar('*');
    else if (row->traits & OPTIONS_RUNS) /* it ends the program */
        fputs("(- *)", stdout);
    else if (row->letter)
        printf("(-%c --%s)", row->letter, row->name);
    for (size_t i = 0; i < options_row_count && row->kind == OPTIONS_FLAG; i++) {
        const struct options_row *other = &options_rows[i];
        if (other != row && other->kind == OPTIONS_FLAG && other->target == row->target)
            printf("(--%s)", other->name); /* the last of them takes effect */
    }
    if (row->letter)
        printf("'{-%c%s,--%s%s}'[", row->letter, *takes ? "+" : "", row->name, takes);
    else
        printf("--%s%s[", row->name, takes);
    write_escaped(help, "\\]");
    putchar(']');
    if (row->argument) {
        printf("%s:", *argument == '[' ? ":" : "");
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + (*argument == '['), "]"),
                 argument + (*argument == '['));
        write_escaped(name, ":");
        putchar(':');
    }
    if (row->words)
        printf("(%s)", row->words);
    else if (row->kind == OPTIONS_FILE)
        fputs("_files", stdout);
    else if (row->kind == OPTIONS_DIRECTORY)
        fputs("_files -/", stdout);
    else if (row->kind == OPTIONS_COLUMNS || row->kind == OPTIONS_CONDITIONS)
        fputs("_gpuhist_columns", stdout);
    else if (takes_list(row))
        fputs("_gpuhist_list", stdout);
    puts("'");
}

/* Writes the options that these commands have with the same help lines. `first` is the first one.
 */
static void write_zsh_rows(unsigned commands, unsigned first)
{
    const char *between = "    ";

    puts("    case $operation in");
    for (unsigned i = first; i < OPTIONS_COMMANDS; i++) {
        if (!(commands >> i & 1))
            continue;
        printf("%s%s", between, options_commands[i].name);
        between = " | ";
    }
    puts(")\n        options+=(");
    for (size_t i = 0; i < options_row_count; i++) {
        if (commands_with_help(i, first) == commands)
            write_zsh_row(&options_rows[i], help_of(i, first));
    }
    puts("        )\n        ;;\n    esac");
}

/* Options with the same operations are adjacent. */
static bool write_zsh(void)
{
    bool is_written[1 << OPTIONS_COMMANDS] = {true}; /* by sets of commands; no command */

    fputs("    ", stdout);
    write_commands("    ");
    fputs("    reductions='", stdout);
    write_reduction_names();
    puts("'\n    case ${words[2]} in");
    for (unsigned i = 0; i < OPTIONS_COMMANDS; i++) {
        fputs("    ", stdout);
        write_pattern(&options_commands[i]);
        printf(") operation=%s ;;\n", options_commands[i].name);
    }
    puts("    *) operation=histogram ;;\n    esac");
    for (size_t i = 0; i < options_row_count; i++) {
        for (unsigned j = 0; j < OPTIONS_COMMANDS; j++) {
            const unsigned commands = commands_with_help(i, j);
            if (!is_written[commands])
                write_zsh_rows(commands, j);
            is_written[commands] = true;
        }
    }
    return true;
}

/* --- fish ---------------------------------------------------------------------------------- */

/* Writes the source of an option's values, for "complete". */
static void write_fish_values(const struct options_row *row)
{
    if (!row->argument || *row->argument == '[')
        return;
    if (row->kind == OPTIONS_FILE)
        fputs(" -rF", stdout);
    else if (row->words)
        printf(" -xa '%s'", row->words);
    else if (row->kind == OPTIONS_DIRECTORY)
        fputs(" -xa '(__fish_complete_directories)'", stdout);
    else if (row->kind == OPTIONS_COLUMNS || row->kind == OPTIONS_CONDITIONS)
        fputs(" -xa '(__gpuhist_columns)'", stdout);
    else if (takes_list(row))
        fputs(" -xa '(__gpuhist_at_files)'", stdout);
    else
        fputs(" -x", stdout);
}

/* Writes an option with its help line for these commands. */
static void write_fish_row(const struct options_row *row, unsigned commands, const char *help)
{
    fputs("complete -c gpuhist -n '__gpuhist_takes", stdout);
    for (unsigned i = 0; i < OPTIONS_COMMANDS; i++) {
        if (commands >> i & 1)
            printf(" %s", options_commands[i].name);
    }
    putchar('\'');
    if (row->letter)
        printf(" -s %c", row->letter);
    printf(" -l %s", row->name);
    write_fish_values(row);
    fputs(" -d '", stdout);
    write_escaped(help, "\\'");
    puts("'");
}

static bool write_fish(void)
{
    puts("function __gpuhist_operation\n"
         "    set -l words (commandline -opc)\n"
         "    switch \"$words[2]\"");
    for (unsigned i = 0; i < OPTIONS_COMMANDS; i++) {
        printf("        case %s %s\n            echo %s\n", options_commands[i].name,
               options_commands[i].alias ? options_commands[i].alias : "",
               options_commands[i].name);
    }
    puts("        case '*'\n            echo histogram\n    end\nend\n");
    for (unsigned i = 0; i < OPTIONS_COMMANDS; i++) {
        printf("complete -c gpuhist -n __gpuhist_is_first -ka %s -d '%s'\n",
               options_commands[i].name, options_commands[i].help);
    }
    fputs("complete -c gpuhist -n __gpuhist_is_second -a '(__gpuhist_list ", stdout);
    write_reduction_names();
    puts(")'");
    for (size_t i = 0; i < options_row_count; i++) {
        unsigned written = 0; /* commands, as bits */
        for (unsigned j = 0; j < OPTIONS_COMMANDS; j++) {
            const unsigned commands = commands_with_help(i, j) & ~written;
            if (commands)
                write_fish_row(&options_rows[i], commands, help_of(i, j));
            written |= commands;
        }
    }
    return true;
}

/* --- man ----------------------------------------------------------------------------------- */

/* The description of an option, or the text below a heading: lines[begin..end). */
struct section {
    size_t begin;
    size_t end;
};

/* Returns the heading of a group in the page: that of --help without its part in parentheses. */
static const char *group_heading(int group)
{
    static char heading[64];

    snprintf(heading, sizeof heading, "%s", options_groups[group]);
    heading[strcspn(heading, "(")] = '\0';
    for (size_t length = strlen(heading); length > 0 && heading[length - 1] == ' ';)
        heading[--length] = '\0';
    return heading;
}

static struct section texts[OPTIONS_ROWS_MAX];
static struct section introductions[OPTIONS_GROUPS];

/* Returns the section that begins after this line; NULL: the tables have no such section. */
static struct section *find_section(const char *line)
{
    for (size_t i = 0; i < options_row_count; i++) {
        const size_t length = strlen(options_rows[i].name);
        if (strncmp(line + 1, options_rows[i].name, length) == 0 &&
            strcmp(line + 1 + length, "@") == 0)
            return &texts[i];
    }
    for (int group = 0; group < OPTIONS_GROUPS; group++) {
        if (strcmp(line + 4, group_heading(group)) == 0)
            return &introductions[group];
    }
    return NULL;
}

/* Finds the descriptions of options and groups in the lines; fails at an unknown one. */
static bool read_texts(void)
{
    struct section *current = NULL;

    for (size_t i = 0; i < line_count; i++) {
        if (lines[i][0] == '@' || strncmp(lines[i], ".SS ", 4) == 0) {
            current = find_section(lines[i]);
            if (current)
                current->begin = i + 1;
        }
        if (!current) {
            fprintf(stderr, "option_documents: no option or heading '%s'\n", lines[i]);
            return false;
        }
        current->end = i + 1;
    }
    return true;
}

/* Reads the descriptions up to @end@. */
static bool read_lines(void)
{
    while (line_count < LINES_MAX && fgets(lines[line_count], LINE_BYTES, stdin)) {
        lines[line_count][strcspn(lines[line_count], "\n")] = '\0';
        if (strcmp(lines[line_count], "@end@") == 0)
            return true;
        line_count++;
    }
    return false;
}

static void write_lines(const struct section *section)
{
    for (size_t i = section->begin; i < section->end; i++)
        puts(lines[i]);
}

/* Writes words in capitals in italics, brackets as they are. */
static void write_argument(const char *argument)
{
    while (*argument) {
        size_t length = strspn(argument, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (length > 0)
            printf("\\fI%.*s\\fR", (int)length, argument);
        else
            putchar(*argument);
        argument += length > 0 ? length : 1;
    }
}

static bool write_man(void)
{
    int group = -1;
    bool is_shared = false; /* the previous option has the same text */

    if (!read_lines() || !read_texts())
        return false;
    for (size_t i = 0; i < options_row_count; i++) {
        const struct options_row *row = &options_rows[i];
        if ((int)row->group != group) {
            group = (int)row->group;
            printf(".SS %s\n", group_heading(group));
            write_lines(&introductions[group]);
        }
        printf(".T%c\n.B%s ", is_shared ? 'Q' : 'P', row->letter || row->argument ? "R" : "");
        if (row->letter)
            printf("\\-%c \", \" ", row->letter);
        fputs("\\-\\-", stdout);
        write_escaped(row->name, "-");
        if (row->argument) {
            fputs(*row->argument == '[' ? " [=" : " =", stdout);
            write_argument(row->argument + (*row->argument == '['));
        }
        putchar('\n');
        write_lines(&texts[i]);
        is_shared = texts[i].begin > 0 && texts[i].begin == texts[i].end;
        if (texts[i].begin == 0) {
            write_escaped(row->help, "-");
            puts(".");
        }
    }
    return true;
}

/* --- all ----------------------------------------------------------------------------------- */

static const struct {
    const char *name; /* of the file */
    bool (*write)(void);
} documents[] = {
    {"gpuhist.1", write_man},
    {"gpuhist.bash", write_bash},
    {"gpuhist.fish", write_fish},
    {"_gpuhist", write_zsh},
};

static bool copy_file(const char *path)
{
    FILE *file = fopen(path, "r");

    if (!file) {
        perror(path);
        return false;
    }
    for (int c = getc(file); c != EOF; c = getc(file))
        putchar(c);
    fclose(file);
    return true;
}

int main(int argc, char **argv)
{
    char line[LINE_BYTES];
    size_t document = 0;
    bool is_good = argc == 3;

    while (is_good && strcmp(documents[document].name, argv[1]) != 0)
        is_good = ++document < sizeof documents / sizeof *documents;
    while (is_good && fgets(line, sizeof line, stdin)) {
        if (strstr(line, "@options@"))
            is_good = documents[document].write();
        else if (strstr(line, "@header@"))
            is_good = copy_file(argv[2]);
        else
            fputs(line, stdout);
    }
    return fflush(stdout) == 0 && is_good ? 0 : 1;
}
