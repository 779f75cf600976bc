/* Messages about mistyped operations, reductions and options, with what was probably meant. */
#include "config.h"

#include "app/options_internal.h"
#include "app/suggestion.h"
#include "partial/operation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

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
    static const char *const options[] = {"help", "version"}; /* that many try as operations */
    struct suggestion suggestion;
    const char *option = NULL;
    struct reductions reductions;

    if (reductions_parse(word, &reductions) == REDUCTIONS_LIST && options_is_no_file(word))
        return status_fail(failure, STATUS_USAGE,
                           "'%s' is neither an operation nor a file: did you mean reduce %s?", word,
                           word);
    suggestion_begin(&suggestion, word, strlen(word));
    for (unsigned i = 0; i < OPERATION_IDS; i++) {
        suggestion_consider(&suggestion, operations[i]->name);
        if (operations[i]->alias)
            suggestion_consider(&suggestion, operations[i]->alias);
    }
    suggestion_consider(&suggestion, "merge");
    suggestion_consider(&suggestion, "info");
    suggestion_consider(&suggestion, options[0]);
    suggestion_consider(&suggestion, options[1]);
    if (suggestion.word == options[0] || suggestion.word == options[1])
        option = suggestion.word;
    if (options_find_row(word, strlen(word)))
        option = word;
    if ((!suggestion.word && !option) || !options_is_no_file(word))
        return STATUS_OK;
    return status_fail(failure, STATUS_USAGE,
                       "'%s' is neither an operation nor a file: did you mean %s%s?", word,
                       option ? "--" : "", option ? option : suggestion.word);
}

/* Finds the reduction nearest to word[0..length), by its name or by what others call it. */
static const char *options_find_reduction(const char *word, size_t length)
{
    static const char *const others[][2] = {
        {"average", "mean"}, {"total", "sum"},    {"minimum", "min"},     {"maximum", "max"},
        {"std", "stddev"},   {"var", "variance"}, {"unique", "distinct"},
    };
    struct suggestion suggestion;

    suggestion_begin(&suggestion, word, length);
    for (unsigned i = 0; i < REDUCTION_QUANTILE; i++) /* whose name is only a letter */
        suggestion_consider(&suggestion, reductions_name((enum reduction_id)i));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        suggestion_consider(&suggestion, others[i][0]);
        if (suggestion.word == others[i][0])
            return others[i][1];
    }
    return suggestion.word;
}

/*
 * Writes the percentile that word[0..length) means: 50, q99, percentile99.9; if it would be above
 * p100, "". Returns false if it is none.
 */
static bool options_find_percentile(const char *word, size_t length, char meant[PERCENTAGE_SIZE])
{
    static const char *const prefixes[] = {"percentile", "quantile", "q", "p", ""};
    struct reduction found;
    size_t prefix = 0;
    size_t i = 0;

    while (strncasecmp(word, prefixes[i], strlen(prefixes[i])) != 0)
        i++;
    prefix = strlen(prefixes[i]);
    const int rest = (int)(length - prefix);
    if (length <= prefix || rest + 2 > PERCENTAGE_SIZE ||
        strspn(word + prefix, "0123456789.") < (size_t)rest)
        return false;
    const int written = snprintf(meant, PERCENTAGE_SIZE, "p%.*s", rest, word + prefix);
    if (reductions_find(meant, (size_t)written, &found))
        return true;
    meant[0] = '\0';
    return prefix > 0;
}

enum status options_check_reductions(const char *list, struct failure *failure)
{
    const char *unknown = NULL;
    bool has_known = false;
    struct reduction found;

    for (const char *part = list;; part++) {
        size_t length = strcspn(part, ",");
        if (reductions_find(part, length, &found))
            has_known = true;
        else if (!unknown)
            unknown = part;
        part += length;
        if (*part == '\0')
            break;
    }
    int length = (int)strcspn(unknown, ",");
    char percentile[PERCENTAGE_SIZE];
    bool is_percentile = options_find_percentile(unknown, (size_t)length, percentile);
    const char *meant =
        is_percentile ? percentile : options_find_reduction(unknown, (size_t)length);
    if ((!has_known && !meant) || strchr(list, '/') || !options_is_no_file(list))
        return STATUS_OK;
    if (!meant)
        return status_fail(failure, STATUS_USAGE, "'%.*s' is no reduction", length, unknown);
    if (*meant == '\0')
        return status_fail(failure, STATUS_USAGE,
                           "'%.*s' is no reduction: percentiles are p0 to p100", length, unknown);
    return status_fail(failure, STATUS_USAGE, "'%.*s' is no reduction: did you mean %s?", length,
                       unknown, meant);
}

enum status options_check_files(const struct options *options, char *const *names,
                                struct failure *failure)
{
    for (; *names && options->action == OPTIONS_RUN; names++) {
        struct reductions reductions;
        enum operation_id operation;
        const char *advice = NULL;
        if (operation_find(*names, &operation) || strcmp(*names, "merge") == 0 ||
            strcmp(*names, "info") == 0)
            advice = "an operation is the first word";
        else if (options->operation == OPERATION_REDUCE &&
                 reductions_parse(*names, &reductions) == REDUCTIONS_LIST)
            advice = "reductions are the first operand, as in reduce sum,max FILE";
        if (advice && options_is_no_file(*names))
            return status_fail(failure, STATUS_DATA, STATUS_NAME ": No such file or directory (%s)",
                               *names, advice);
    }
    return STATUS_OK;
}

enum status options_check_dashes(const char *word, struct failure *failure)
{
    if (!word || word[0] != '-')
        return STATUS_OK;
    const struct options_row *row = options_find_row(word + 1, strcspn(word + 1, "="));
    if (!row || row->key == 'h') /* -help prints the help */
        return STATUS_OK;
    return status_fail(failure, STATUS_USAGE, "unknown option '-%s': did you mean --%s?", row->name,
                       row->name);
}

/* Writes the long options that begin with name[0..length), such as "--bins, --binary". */
static unsigned options_list_candidates(const char *name, size_t length, char *text, size_t size)
{
    unsigned count = 0;
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < options_row_count && used < size; i++) {
        const struct options_row *row = &options_rows[i];
        if (strncmp(row->name, name, length) != 0)
            continue;
        used +=
            (size_t)snprintf(text + used, size - used, "%s--%s", count > 0 ? ", " : "", row->name);
        count++;
    }
    return count;
}

enum status options_fail_letter(char letter, struct failure *failure)
{
    const char *meant = letter == 'n'   ? ": did you mean --top?" /* as of head(1) */
                        : letter == 'F' ? ": did you mean -d?"    /* as of awk(1) */
                                        : "";

    return status_fail(failure, STATUS_USAGE, "unknown option '-%c'%s", letter, meant);
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
    if (strncmp(rest, "int", 3) == 0) {
        const int digits = (int)strspn(rest + 3, "0123456789");
        const char *behind = rest + 3 + digits;
        snprintf(meant, sizeof meant, "%c%.*s", *typed, digits, rest + 3);
        if (element_parse(meant, &element) && (*behind == '\0' || strcmp(behind, "_t") == 0))
            return status_fail(failure, STATUS_USAGE, "invalid --type '%s': did you mean %s?",
                               typed, meant);
    }
    return options_fail_value("--type", typed,
                              "i8, u8, i16, u16, i32, u32, i64 or u64, with le or be", failure);
}

/* What other programs call an option, and its name. */
static const char *const options_others[][2] = {
    {"percentile", "quantiles"},
    {"percentiles", "quantiles"},
    {"column", "field"},
    {"separator", "delimiter"},
    {"json", "format json"},
    {"svg", "format svg"},
    {"limit", "top"},
    {"hex", "base 16"},
    {"group", "by"},
    {"group-by", "by"},
};

enum status options_fail_name(const struct options *options, const char *typed,
                              struct failure *failure)
{
    const char *name = typed + 2; /* behind the dashes */
    int length = (int)strcspn(name, "=");
    struct suggestion suggestion;
    char candidates[1024];

    if (length > 0 &&
        options_list_candidates(name, (size_t)length, candidates, sizeof candidates) > 1)
        return status_fail(failure, STATUS_USAGE, "option '--%.*s' is ambiguous: %s", length, name,
                           candidates);
    for (size_t i = 0; i < sizeof options_others / sizeof *options_others; i++) {
        if (strlen(options_others[i][0]) == (size_t)length &&
            memcmp(options_others[i][0], name, (size_t)length) == 0)
            return status_fail(failure, STATUS_USAGE, "unknown option '--%s': did you mean --%s?",
                               options_others[i][0], options_others[i][1]);
    }
    suggestion_begin(&suggestion, name, (size_t)length);
    for (size_t i = 0; i < options_row_count; i++) {
        if (options_row_goes(options, &options_rows[i]))
            suggestion_consider(&suggestion, options_rows[i].name);
    }
    for (size_t i = 0; i < options_row_count && !suggestion.word; i++)
        suggestion_consider(&suggestion, options_rows[i].name);
    if (!suggestion.word)
        return status_fail(failure, STATUS_USAGE, "unknown option '--%.*s'", length, name);
    return status_fail(failure, STATUS_USAGE, "unknown option '--%.*s': did you mean --%s?", length,
                       name, suggestion.word);
}
