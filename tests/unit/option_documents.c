/*
 * Writes what documents say of the options, from their table and those of commands and
 * reductions: copies a file from standard input to standard output, and makes the lines between its
 * markers BEGIN and END of options anew.
 *
 * usage: option_documents bash|zsh|fish|man <FILE
 *
 * "make option-documents" does this to all of them; tests/documents.bats compares them. In the
 * man page the order, headings, names and arguments are the table's, and the text of each option is
 * kept; one without a text gets its help line.
 */
#include "config.h"

#include "app/options_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX  4096
#define LINE_BYTES 1024
#define COLUMNS    100

/* The lines of the block as it was. */
static char lines[LINES_MAX][LINE_BYTES];
static size_t line_count;

/* Writes an array of the names of all commands and what they do, "NAME:HELP". */
static void write_commands(const char *indent)
{
    puts("operations=(");
    for (unsigned i = 0; i < OPTIONS_COMMANDS; i++)
        printf("%s    '%s:%s'\n", indent, options_commands[i].name, options_commands[i].help);
    printf("%s)\n", indent);
}

/* Writes the names of the reductions, and a percentile for those. */
static void write_reduction_names(void)
{
    for (unsigned i = 0; i < REDUCTION_QUANTILE; i++)
        printf("%s ", reductions_name((enum reduction_id)i));
    fputs("p99", stdout);
}

/* Writes the names that a first word may have, as a pattern of a shell: "uniq | distinct". */
static void write_pattern(const struct options_command *command)
{
    fputs(command->name, stdout);
    if (command->alias)
        printf(" | %s", command->alias);
}

/* --- bash ---------------------------------------------------------------------------------- */

static void write_bash(void)
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
        else if (row->kind == OPTIONS_LIST ||
                 (row->kind == OPTIONS_PREDICATE && row->value == PREDICATE_ANY_OF))
            printf(" [[ $cur != @* ]] || _gpuhist_at_files");
        puts(" ;;");
    }
    puts("    *) return 1 ;;\n"
         "    esac\n"
         "}");
}

/* --- zsh ----------------------------------------------------------------------------------- */

/* Writes text with a backslash before each of those characters. */
static void write_escaped(const char *text, const char *characters)
{
    for (; *text; text++)
        printf("%s%c", strchr(characters, *text) ? "\\" : "", *text);
}

/* Writes the specification of an option for _arguments. */
static void write_zsh_row(const struct options_row *row)
{
    const bool is_repeated = row->kind == OPTIONS_PREDICATE || row->kind == OPTIONS_CONDITIONS ||
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
    write_escaped(row->help, "\\]");
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
    else if (row->kind == OPTIONS_LIST ||
             (row->kind == OPTIONS_PREDICATE && row->value == PREDICATE_ANY_OF))
        fputs("_gpuhist_list", stdout);
    puts("'");
}

/* Options of the same operations stand together. */
static void write_zsh(void)
{
    bool is_written[OPTIONS_ROWS_MAX] = {false};

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
        const unsigned traits = options_rows[i].traits;
        const char *between = "    ";
        if (is_written[i])
            continue;
        puts("    case $operation in");
        for (unsigned j = 0; j < OPTIONS_COMMANDS; j++) {
            if (!(traits & options_commands[j].traits))
                continue;
            printf("%s%s", between, options_commands[j].name);
            between = " | ";
        }
        puts(")\n        options+=(");
        for (size_t j = i; j < options_row_count; j++) {
            if (options_rows[j].traits != traits)
                continue;
            is_written[j] = true;
            write_zsh_row(&options_rows[j]);
        }
        puts("        )\n        ;;\n    esac");
    }
}

/* --- fish ---------------------------------------------------------------------------------- */

/* Writes an option, for the operations that take it. */
static void write_fish_row(const struct options_row *row)
{
    const bool has_value = row->argument && *row->argument != '[';

    fputs("complete -c gpuhist -n '__gpuhist_does", stdout);
    for (unsigned i = 0; i < OPTIONS_COMMANDS; i++) {
        if (row->traits & options_commands[i].traits)
            printf(" %s", options_commands[i].name);
    }
    putchar('\'');
    if (row->letter)
        printf(" -s %c", row->letter);
    printf(" -l %s", row->name);
    if (has_value && row->kind == OPTIONS_FILE)
        fputs(" -r -F", stdout);
    else if (has_value && row->kind == OPTIONS_DIRECTORY)
        fputs(" -x -a '(__fish_complete_directories)'", stdout);
    else if (has_value)
        fputs(" -x", stdout);
    if (row->kind == OPTIONS_COLUMNS || row->kind == OPTIONS_CONDITIONS)
        fputs(" -a '(__gpuhist_columns)'", stdout);
    else if (row->kind == OPTIONS_LIST ||
             (row->kind == OPTIONS_PREDICATE && row->value == PREDICATE_ANY_OF))
        fputs(" -a '(__gpuhist_at_files)'", stdout);
    if (row->words)
        printf(" -a '%s'", row->words);
    fputs(" -d '", stdout);
    write_escaped(row->help, "\\'");
    puts("'");
}

static void write_fish(void)
{
    puts("function __gpuhist_operation -a word\n    switch \"$word\"");
    for (unsigned i = 0; i < OPTIONS_COMMANDS; i++) {
        const struct options_command *command = &options_commands[i];
        printf("        case %s%s%s\n            echo %s\n", command->name,
               command->alias ? " " : "", command->alias ? command->alias : "", command->name);
    }
    puts("        case '*'\n            echo histogram\n    end\nend");
    fputs("set -g __gpuhist_reductions ", stdout);
    write_reduction_names();
    putchar('\n');
    for (unsigned i = 0; i < OPTIONS_COMMANDS; i++) {
        printf("complete -c gpuhist -n __gpuhist_is_first -a %s -d '", options_commands[i].name);
        write_escaped(options_commands[i].help, "\\'");
        puts("'");
    }
    for (size_t i = 0; i < options_row_count; i++)
        write_fish_row(&options_rows[i]);
}

/* --- man ----------------------------------------------------------------------------------- */

/* What the page says of an option, or below a heading: lines[begin..end). */
struct section {
    size_t begin;
    size_t end;
    bool shares; /* its name stands below another, with one text */
};

/* The option whose tag this line is, as in .BR \-b ", " \-\-bins =\fIN\fR; NULL: none. */
static const struct options_row *find_tag(const char *line)
{
    char name[64];
    size_t length = 0;
    const char *tag = strstr(line, "\\-\\-");

    if (strncmp(line, ".B", 2) != 0 || !tag)
        return NULL;
    for (tag += 4; length + 1 < sizeof name && *tag && !strchr(" =[", *tag); tag++) {
        if (*tag != '\\')
            name[length++] = *tag;
    }
    name[length] = '\0';
    for (size_t i = 0; i < options_row_count; i++) {
        if (strcmp(options_rows[i].name, name) == 0)
            return &options_rows[i];
    }
    return NULL;
}

/* The heading of a group in the page: that of --help without what is in parentheses. */
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

/* Finds the texts of options and groups in the lines. */
static void read_man(void)
{
    struct section *current = NULL;
    int depth = 0; /* of .RS */

    for (size_t i = 0; i < line_count; i++) {
        const char *line = lines[i];
        const struct options_row *row = NULL;
        bool is_tagged = strcmp(line, ".TP") == 0 || strcmp(line, ".TQ") == 0;
        depth += strncmp(line, ".RS", 3) == 0;
        depth -= strncmp(line, ".RE", 3) == 0;
        if (depth == 0 && is_tagged && i + 1 < line_count)
            row = find_tag(lines[i + 1]);
        bool is_heading = strncmp(line, ".SS ", 4) == 0;
        if (is_heading || row) {
            if (current)
                current->end = i;
            current = row ? &texts[row - options_rows] : NULL;
            for (int group = 0; is_heading && group < OPTIONS_GROUPS; group++) {
                if (strcmp(line + 4, group_heading(group)) == 0)
                    current = &introductions[group];
            }
            if (current)
                *current = (struct section){.begin = row ? i + 2 : i + 1,
                                            .shares = strcmp(line, ".TQ") == 0};
        }
    }
    if (current)
        current->end = line_count;
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

static void write_man(void)
{
    int group = -1;

    read_man();
    for (size_t i = 0; i < options_row_count; i++) {
        const struct options_row *row = &options_rows[i];
        if ((int)row->group != group) {
            group = (int)row->group;
            printf(".SS %s\n", group_heading(group));
            write_lines(&introductions[group]);
        }
        printf(".T%c\n.B%s ", texts[i].shares ? 'Q' : 'P', row->letter || row->argument ? "R" : "");
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
        if (texts[i].begin == 0) {
            write_escaped(row->help, "-");
            puts(".");
        }
    }
}

int main(int argc, char **argv)
{
    static char line[LINE_BYTES];
    bool is_inside = false;

    if (argc != 2)
        return 2;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (strstr(line, "END of options")) {
            if (strcmp(argv[1], "bash") == 0)
                write_bash();
            else if (strcmp(argv[1], "zsh") == 0)
                write_zsh();
            else if (strcmp(argv[1], "fish") == 0)
                write_fish();
            else
                write_man();
            is_inside = false;
        }
        if (!is_inside)
            puts(line);
        else if (line_count < LINES_MAX)
            strcpy(lines[line_count++], line);
        else
            return 1;
        if (strstr(line, "BEGIN of options"))
            is_inside = true;
    }
    return fflush(stdout) == 0 && !is_inside ? 0 : 1;
}
