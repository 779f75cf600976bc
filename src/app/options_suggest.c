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
static const struct {
    const char *typed; /* options with their dashes, or reductions */
    unsigned traits;   /* the commands that it is for; the first row for a command is taken */
    const char *advice;
} options_habits[] = {
#define MEAN(option) "did you mean " option "?"
    {"-c --count", OPTIONS_PRINTS_BINS, "counts are always printed"},
    {"-F", OPTIONS_RUNS, MEAN("-d")},
    {"--separator", OPTIONS_RUNS, MEAN("--delimiter")},
    {"--tsv", OPTIONS_RUNS, MEAN("-d '\\t' (or, for output, --format tsv)")},
    {"-k", OPTIONS_RUNS, MEAN("-f")},
    {"--key --column", OPTIONS_RUNS, MEAN("--field")},
    {"-g --group --group-by", OPTIONS_RUNS, MEAN("--by")},
    {"--json", OPTIONS_RUNS, MEAN("--format json (or, for input, --jsonl)")},
    {"--svg", OPTIONS_RUNS, MEAN("--format svg")},
    {"--hex", OPTIONS_RUNS, MEAN("--base 16")},
    {"-n --head --limit", OPTIONS_RUNS, MEAN("--top")},
    {"-r --reverse", OPTIONS_PURGES, MEAN("--descending")},
    {"-r --reverse", OPTIONS_PRINTS_BINS, MEAN("--sort count")},
    {"--percentile --percentiles", OPTIONS_RUNS, MEAN("--quantiles")},
    {"-j --jobs --parallel", OPTIONS_RUNS, MEAN("--threads")},
    {"--cpu", OPTIONS_RUNS, MEAN("--engine cpu")},
    {"--cuda", OPTIONS_RUNS, MEAN("--engine cuda")},
    {"--gte", OPTIONS_RUNS, MEAN("--ge")},
    {"--lte", OPTIONS_RUNS, MEAN("--le")},
    {"average", OPTIONS_REDUCES, MEAN("mean")},
    {"total", OPTIONS_REDUCES, MEAN("sum")},
    {"med", OPTIONS_REDUCES, MEAN("median")},
    {"std", OPTIONS_REDUCES, MEAN("stddev")},
    {"var", OPTIONS_REDUCES, MEAN("variance")},
#undef MEAN
};
#define OPTIONS_HABITS (sizeof options_habits / sizeof *options_habits)

const char *options_find_habit(const struct options_command *command, const char *typed,
                               size_t length)
{
    for (size_t i = 0; i < OPTIONS_HABITS; i++) {
        for (const char *word = options_habits[i].typed; *word; word += strspn(word, " ")) {
            const size_t bytes = strcspn(word, " ");
            if (options_habits[i].traits & command->traits && bytes == length &&
                memcmp(word, typed, length) == 0)
                return options_habits[i].advice;
            word += bytes;
        }
    }
    return NULL;
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
    const char *advice = NULL;
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
    if (unknown)
        advice = options_find_habit(command, unknown, (size_t)length);
    const bool is_word = isalpha((unsigned char)*list) && !strpbrk(list, "./ ");
    if ((!has_known && !search.word && !advice && !is_word) || strchr(list, '/') ||
        !options_is_no_file(list))
        return STATUS_OK;
    if (!has_known && !search.word && !advice)
        return status_fail(failure, STATUS_USAGE, "'%.*s' is neither a reduction nor a file",
                           length, unknown);
    snprintf(what, sizeof what, "'%.*s' is no reduction", length, unknown);
    if (advice)
        return status_fail(failure, STATUS_USAGE, "%s: %s", what, advice);
    if (search.word)
        return status_fail(failure, STATUS_USAGE, "%s: did you mean %s?", what, search.word);
    return status_fail(failure, STATUS_USAGE, "%s", what);
}

enum status options_check_files(const struct options *options, char *const *names,
                                struct failure *failure)
{
    const struct options_command *command = options->command;
    char advice[OPTIONS_SHOWN_SIZE] = ""; /* what the name of a file that does not exist means */

    for (; *names && command->action == OPTIONS_RUN && *advice == '\0'; names++) {
        const char *name = *names;
        const size_t column = strcspn(name, "=!<>");
        struct reductions reductions;
        enum predicate_relation relation;
        const size_t sign = options_find_operator(name + column, &relation);
        if (!options_is_no_file(name))
            continue;
        if (command == &options_commands[OPERATION_REDUCE] &&
            reductions_parse(name, &reductions) == REDUCTIONS_LIST) {
            if (reductions_parse(names[-1], &reductions) == REDUCTIONS_LIST)
                snprintf(advice, sizeof advice, "did you mean reduce %s,%s?", names[-1], name);
            else
                strcpy(advice, "reductions are the first operand, as in reduce sum,max FILE");
        } else if (options_find_command(name)) {
            strcpy(advice, "an operation is the first word");
        } else if (column > 0 && sign > 0 && name[column + sign] != '\0' && !strchr(name, '/')) {
            snprintf(advice, sizeof advice, "did you mean --where '%s'?", name);
        } else if (*name && strlen(name) < 4 &&
                   name[strspn(name, "0123456789")] == '\0' && /* no year */
                   options->field.list_count == 0) {
            snprintf(advice, sizeof advice, "did you mean -f %s?", name);
        }
    }
    if (*advice == '\0')
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, STATUS_NAME ": No such file or directory (%s)",
                       names[-1], advice);
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
    const char *rest = typed + (*typed == 'u');
    struct element element;
    char meant[8];

    if (strcmp(typed, "double") == 0 || strncmp(typed, "float", 5) == 0 ||
        (*typed == 'f' && isdigit((unsigned char)typed[1])))
        return status_fail(failure, STATUS_USAGE,
                           "invalid --type '%s': values are integers; text such as 12.345 needs "
                           "--decimals 3",
                           typed);
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
    const char *advice;
    char what[OPTIONS_SHOWN_SIZE];

    if (letter) {
        const char word[] = {'-', letter};
        snprintf(what, sizeof what, "unknown option '-%c'", letter);
        advice = options_find_habit(options->command, word, sizeof word);
        return status_fail(failure, STATUS_USAGE, advice ? "%s: %s" : "%s", what, advice);
    }
    const char *name = typed + 2; /* after the dashes */
    const size_t length = strcspn(name, "=");
    struct nearest search = nearest_begin(name, length);
    char candidates[1024] = "";
    unsigned candidate_count = 0;
    snprintf(what, sizeof what, "unknown option '--%.*s'", (int)length, name);
    advice = options_find_habit(options->command, typed, length + 2);
    if (advice)
        return status_fail(failure, STATUS_USAGE, "%s: %s", what, advice);
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
