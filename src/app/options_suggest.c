/* Messages about mistyped operations, reductions and options, with what was probably meant. */
#include "config.h"

#include "app/options_table.h"

#include "base/nearest.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Of an option or a reduction that a message shows; a longer one is cut. */
#define OPTIONS_SHOWN_SIZE 128

/* What users of other programs type, and what they mean. */
struct options_habit {
    const char *typed;  /* an option with its dashes, or a reduction */
    unsigned traits;    /* the commands that it is for */
    const char *meant;  /* or NULL: */
    const char *advice; /* there is no such thing, for this reason */
};

/* Of the rows for what was typed, the first one for the command is taken. */
static const struct options_habit options_habits[] = {
    {"-c", OPTIONS_PRINTS_BINS, NULL, "counts are always printed"},
    {"-F", OPTIONS_RUNS, "-d", NULL},
    {"-g", OPTIONS_RUNS, "--by", NULL},
    {"-H", OPTIONS_RUNS, "--header", NULL},
    {"-j", OPTIONS_RUNS, "--threads", NULL},
    {"-k", OPTIONS_RUNS, "-f", NULL},
    {"-n", OPTIONS_RUNS, "--top", NULL},
    {"-p", OPTIONS_RUNS, "--threads", NULL},
    {"-P", OPTIONS_RUNS, "--threads", NULL},
    {"-r", OPTIONS_PURGES, "--descending", NULL},
    {"-r", OPTIONS_PRINTS_BINS, "--sort count", NULL},
    {"-s", OPTIONS_RUNS, NULL, "the input need not be sorted"},
    {"--between", OPTIONS_TESTS_VALUES, "--in LO:HI", NULL},
    {"--between", OPTIONS_RUNS, "--where 'COLUMN>=LO' --where 'COLUMN<HI'", NULL},
    {"--column", OPTIONS_RUNS, "--field", NULL},
    {"--count", OPTIONS_PRINTS_BINS, NULL, "counts are always printed"},
    {"--cpu", OPTIONS_RUNS, "--engine cpu", NULL},
    {"--cuda", OPTIONS_RUNS, "--engine cuda", NULL},
    {"--group", OPTIONS_RUNS, "--by", NULL},
    {"--group-by", OPTIONS_RUNS, "--by", NULL},
    {"--gte", OPTIONS_TESTS_VALUES, "--ge", NULL},
    {"--gte", OPTIONS_RUNS, "--where 'COLUMN>=V'", NULL},
    {"--head", OPTIONS_RUNS, "--top", NULL},
    {"--header-in", OPTIONS_RUNS, "--header", NULL},
    {"--hex", OPTIONS_RUNS, "--base 16", NULL},
    {"--ijson", OPTIONS_RUNS, "--jsonl", NULL},
    {"--itsv", OPTIONS_RUNS, "-d '\\t'", NULL},
    {"--jobs", OPTIONS_RUNS, "--threads", NULL},
    {"--json", OPTIONS_RUNS, "--format json (or, for input, --jsonl)", NULL},
    {"--key", OPTIONS_RUNS, "--field", NULL},
    {"--limit", OPTIONS_RUNS, "--top", NULL},
    {"--lte", OPTIONS_TESTS_VALUES, "--le", NULL},
    {"--lte", OPTIONS_RUNS, "--where 'COLUMN<=V'", NULL},
    {"--neq", OPTIONS_TESTS_VALUES, "--ne", NULL},
    {"--neq", OPTIONS_RUNS, "--where 'COLUMN!=V'", NULL},
    {"--ocsv", OPTIONS_RUNS, "--format csv", NULL},
    {"--ojson", OPTIONS_RUNS, "--format json (or, for input, --jsonl)", NULL},
    {"--ojsonl", OPTIONS_RUNS, "--format jsonl", NULL},
    {"--parallel", OPTIONS_RUNS, "--threads", NULL},
    {"--percentile", OPTIONS_RUNS, "--quantiles", NULL},
    {"--percentiles", OPTIONS_RUNS, "--quantiles", NULL},
    {"--reverse", OPTIONS_PURGES, "--descending", NULL},
    {"--reverse", OPTIONS_PRINTS_BINS, "--sort count", NULL},
    {"--separator", OPTIONS_RUNS, "--delimiter", NULL},
    {"--skip", OPTIONS_RUNS, "--header=N", NULL},
    {"--skip-header", OPTIONS_RUNS, "--header", NULL},
    {"--skip-lines", OPTIONS_RUNS, "--header=N", NULL},
    {"--svg", OPTIONS_RUNS, "--format svg", NULL},
    {"--tsv", OPTIONS_RUNS, "-d '\\t' (or, for output, --format tsv)", NULL},
    {"average", OPTIONS_REDUCES, "mean", NULL},
    {"total", OPTIONS_REDUCES, "sum", NULL},
    {"minimum", OPTIONS_REDUCES, "min", NULL},
    {"maximum", OPTIONS_REDUCES, "max", NULL},
    {"med", OPTIONS_REDUCES, "median", NULL},
    {"std", OPTIONS_REDUCES, "stddev", NULL},
    {"var", OPTIONS_REDUCES, "variance", NULL},
    {"unique", OPTIONS_REDUCES, "distinct", NULL},
    {"nunique", OPTIONS_REDUCES, "distinct", NULL},
    {"countunique", OPTIONS_REDUCES, "distinct", NULL},
    {"perc", OPTIONS_REDUCES, NULL, "percentiles are named by their percentage, as p50 or p99.9"},
    {"percentile", OPTIONS_REDUCES, NULL,
     "percentiles are named by their percentage, as p50 or p99.9"},
    {"quantile", OPTIONS_REDUCES, NULL, "quantiles are named by their percentage, as p50 or p99.9"},
};
#define OPTIONS_HABITS (sizeof options_habits / sizeof *options_habits)

/* Returns what typed[0..length) means to users of other programs, or NULL. */
static const struct options_habit *options_find_habit(const struct options_command *command,
                                                      const char *typed, size_t length)
{
    for (size_t i = 0; i < OPTIONS_HABITS; i++) {
        const struct options_habit *habit = &options_habits[i];
        if (habit->traits & command->traits && strlen(habit->typed) == length &&
            memcmp(habit->typed, typed, length) == 0)
            return habit;
    }
    return NULL;
}

bool options_is_habit(const struct options_command *command, const char *typed, size_t length)
{
    return options_find_habit(command, typed, length) != NULL;
}

/* Fails: "WHAT: did you mean MEANT?", or "WHAT: ADVICE". */
static enum status options_fail_habit(const struct options_habit *habit, const char *what,
                                      struct failure *failure)
{
    if (!habit->meant)
        return status_fail(failure, STATUS_USAGE, "%s: %s", what, habit->advice);
    return status_fail(failure, STATUS_USAGE, "%s: did you mean %s?", what, habit->meant);
}

static void options_try(struct nearest *search, const char *word)
{
    nearest_try(search, word, strlen(word));
}

bool options_is_no_file(const char *word)
{
    return access(word, F_OK) != 0 && errno == ENOENT;
}

/* The option of exactly this name, or NULL. */
static const struct options_row *options_find_row(const char *name, size_t length)
{
    for (size_t i = 0; i < options_row_count; i++) {
        const char *found = options_rows[i].name;
        if (strlen(found) == length && memcmp(found, name, length) == 0)
            return &options_rows[i];
    }
    return NULL;
}

enum status options_check_first_word(const char *word, struct failure *failure)
{
    struct nearest search = nearest_begin(word, strlen(word));
    struct reductions reductions;

    if (!options_is_no_file(word))
        return STATUS_OK;
    if (reductions_parse(word, &reductions) == REDUCTIONS_LIST)
        return status_fail(failure, STATUS_USAGE,
                           "'%s' is neither an operation nor a file: did you mean reduce %s?", word,
                           word);
    for (unsigned i = 0; i < OPTIONS_COMMANDS; i++) {
        options_try(&search, options_commands[i].name);
        if (options_commands[i].alias)
            options_try(&search, options_commands[i].alias);
    }
    options_try(&search, "help"); /* many try these two options as operations */
    options_try(&search, "version");
    if (options_find_row(word, strlen(word)))
        search.word = word;
    if (!search.word)
        return STATUS_OK;
    const bool is_option = options_find_row(search.word, strlen(search.word));
    return status_fail(failure, STATUS_USAGE,
                       "'%s' is neither an operation nor a file: did you mean %s%s?", word,
                       is_option ? "--" : "", search.word);
}

enum status options_check_reductions(const struct options_command *command, const char *list,
                                     struct failure *failure)
{
    const struct options_habit *habit = NULL;
    const char *unknown = NULL;
    int length = 0; /* of the unknown one */
    bool has_known = false;
    struct reduction found;
    char what[OPTIONS_SHOWN_SIZE];

    for (const char *next = list, *part; next;) {
        size_t part_length = reductions_split(&next, &part);
        if (reductions_find(part, part_length, &found)) {
            has_known = true;
        } else if (!unknown) {
            unknown = part;
            length = (int)part_length;
        }
    }
    struct nearest search = nearest_begin(unknown, (size_t)length);
    for (size_t i = 0; i < REDUCTION_QUANTILE; i++) /* whose name is only a letter */
        options_try(&search, reductions_name((enum reduction_id)i));
    for (size_t i = 0; i < OPTIONS_HABITS; i++) {
        if (options_habits[i].traits == OPTIONS_REDUCES)
            options_try(&search, options_habits[i].typed);
    }
    if (search.word)
        habit = options_find_habit(command, search.word, search.word_length);
    const size_t word = strcspn(unknown, " ");
    const bool has_blank = word < (size_t)length && reductions_find(unknown, word, &found);
    const bool is_word = isalpha((unsigned char)*list) && !strpbrk(list, "./ ");
    if ((!has_known && !search.word && !has_blank && !is_word) || strchr(list, '/') ||
        !options_is_no_file(list))
        return STATUS_OK;
    if (!has_known && !search.word && !has_blank)
        return status_fail(failure, STATUS_USAGE, "'%.*s' is neither a reduction nor a file",
                           length, unknown);
    snprintf(what, sizeof what, "'%.*s' is no reduction", length, unknown);
    if (habit)
        return options_fail_habit(habit, what, failure);
    if (search.word)
        return status_fail(failure, STATUS_USAGE, "%s: did you mean %s?", what, search.word);
    return status_fail(failure, STATUS_USAGE, "%s%s", what,
                       has_blank ? ": commas separate reductions, as in sum,max" : "");
}

/*
 * Writes what the name of a file that does not exist probably means, or "". names[-1] is the word
 * before it.
 */
static void options_advise_file(const struct options *options, char *const *names,
                                char advice[OPTIONS_SHOWN_SIZE])
{
    const struct options_command *command = options->command;
    const bool has_lists = options->print.quantiles.count > 0 || options->predicate_count > 0;
    const bool is_number =
        strpbrk(*names, "0123456789") && (*names)[strspn(*names, "-.0123456789")] == '\0';
    const bool is_field = is_number && !strchr(*names, '.') && strlen(*names) < 4; /* no year */
    const size_t column = strcspn(*names, "=!<>");
    const char *text = "";
    struct reductions reductions;
    enum predicate_relation relation;
    const char *value = *names + column;

    value += options_find_operator(value, &relation);
    const bool is_condition = value > *names + column && *value != '\0' && !strchr(*names, '/');
    *advice = '\0';
    if (command == &options_commands[OPERATION_REDUCE] &&
        reductions_parse(*names, &reductions) == REDUCTIONS_LIST) {
        if (reductions_parse(names[-1], &reductions) == REDUCTIONS_LIST)
            snprintf(advice, OPTIONS_SHOWN_SIZE, "did you mean reduce %s,%s?", names[-1], *names);
        else
            text = "reductions are the first operand, as in reduce sum,max FILE";
    } else if (options_find_command(*names)) {
        text = "an operation is the first word";
    } else if (strcmp(*names, "help") == 0) {
        text = "did you mean --help?";
    } else if (is_condition && column == 0 && command->traits & OPTIONS_TESTS_VALUES) {
        const struct options_row *row = options_rows; /* of the predicate with that relation */
        while (row->kind != OPTIONS_PREDICATE || row->value != relation)
            row++;
        snprintf(advice, OPTIONS_SHOWN_SIZE, "did you mean --%s %s?", row->name, value);
    } else if (is_condition && column > 0) {
        snprintf(advice, OPTIONS_SHOWN_SIZE, "did you mean --where '%s'?", *names);
    } else if (is_number && (options->has_log2 || options->header_lines > 0)) {
        text = "a value that may be left out stands behind a =, as in --log2=3";
    } else if (is_number && (options->edges || options->range_text || has_lists)) {
        text = "the values of a list have commas between them, as in 0,10,20";
    } else if (is_field && options->field.list_count == 0) {
        snprintf(advice, OPTIONS_SHOWN_SIZE, "did you mean -f %s?", *names);
    } else if (is_field && options->field.list_count == 1 && command->traits & OPTIONS_REDUCES) {
        snprintf(advice, OPTIONS_SHOWN_SIZE, "did you mean -f %s,%s?", options->field.lists[0],
                 *names);
    }
    if (*text)
        snprintf(advice, OPTIONS_SHOWN_SIZE, "%s", text);
}

enum status options_check_files(const struct options *options, char *const *names,
                                struct failure *failure)
{
    char advice[OPTIONS_SHOWN_SIZE];

    for (; *names && options->command->action == OPTIONS_RUN; names++) {
        options_advise_file(options, names, advice);
        if (*advice && options_is_no_file(*names))
            return status_fail(failure, STATUS_DATA, STATUS_NAME ": No such file or directory (%s)",
                               *names, advice);
    }
    return STATUS_OK;
}

enum status options_check_dashes(const char *word, struct failure *failure)
{
    const struct options_row *row = options_find_row(word + 1, strcspn(word + 1, "="));
    if (!row || row->letter == 'h') /* -help prints the help */
        return STATUS_OK;
    return status_fail(failure, STATUS_USAGE, "unknown option '-%s': did you mean --%s?", row->name,
                       row->name);
}

enum status options_fail_type(const char *typed, struct failure *failure)
{
    static const char *const floats[] = {"float", "double", "f32", "f64", "float32", "float64"};
    const char *rest = typed + (*typed == 'u');
    struct element element;
    char meant[8];

    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        if (strcmp(typed, floats[i]) == 0)
            return status_fail(
                failure, STATUS_USAGE,
                "invalid --type '%s': values are integers; text such as 12.345 needs "
                "--decimals 3",
                typed);
    }
    const char *delimiter = strcmp(typed, "\t") == 0 ? "\\t" : typed;
    if (strcmp(delimiter, "\\t") == 0 || (strlen(typed) == 1 && ispunct((unsigned char)*typed)))
        return status_fail(failure, STATUS_USAGE, "invalid --type '%s': did you mean -d '%s'?",
                           delimiter, delimiter); /* as of sort(1) */
    if (strncmp(rest, "int", 3) == 0) {
        const int digits = (int)strspn(rest + 3, "0123456789");
        const char *rest_of_word = rest + 3 + digits;
        snprintf(meant, sizeof meant, "%c%.*s", *typed, digits, rest + 3);
        if (element_parse(meant, &element) &&
            (*rest_of_word == '\0' || strcmp(rest_of_word, "_t") == 0))
            return status_fail(failure, STATUS_USAGE, "invalid --type '%s': did you mean %s?",
                               typed, meant);
    }
    return options_fail_value("type", typed,
                              "i8, u8, i16, u16, i32, u32, i64 or u64, with le or be", failure);
}

enum status options_fail_unknown(const struct options *options, char letter, const char *typed,
                                 struct failure *failure)
{
    const struct options_habit *habit;
    char what[OPTIONS_SHOWN_SIZE];

    if (letter) {
        const char word[] = {'-', letter};
        snprintf(what, sizeof what, "unknown option '-%c'", letter);
        habit = options_find_habit(options->command, word, sizeof word);
        return habit ? options_fail_habit(habit, what, failure)
                     : status_fail(failure, STATUS_USAGE, "%s", what);
    }
    const char *name = typed + 2; /* after the dashes */
    const size_t length = strcspn(name, "=");
    struct nearest search = nearest_begin(name, length);
    char candidates[1024] = "";
    unsigned candidate_count = 0;
    snprintf(what, sizeof what, "unknown option '--%.*s'", (int)length, name);
    habit = options_find_habit(options->command, typed, length + 2);
    if (habit)
        return options_fail_habit(habit, what, failure);
    for (size_t i = 0, used = 0; i < options_row_count && used < sizeof candidates; i++) {
        if (strncmp(options_rows[i].name, name, length) == 0)
            used += (size_t)snprintf(candidates + used, sizeof candidates - used, "%s--%s",
                                     candidate_count++ > 0 ? ", " : "", options_rows[i].name);
    }
    if (length > 0 && candidate_count > 1)
        return status_fail(failure, STATUS_USAGE, "option '--%.*s' is ambiguous: %s", (int)length,
                           name, candidates);
    for (size_t i = 0; i < options_row_count; i++) {
        if (options_rows[i].traits & options->command->traits)
            options_try(&search, options_rows[i].name);
    }
    for (size_t i = 0; i < options_row_count && !search.word; i++)
        options_try(&search, options_rows[i].name);
    if (!search.word)
        return status_fail(failure, STATUS_USAGE, "%s", what);
    return status_fail(failure, STATUS_USAGE, "%s: did you mean --%s?", what, search.word);
}
