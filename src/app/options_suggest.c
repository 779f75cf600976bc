/* Messages about mistyped operations, reductions and options, with what was probably meant. */
#include "config.h"

#include "app/options_table.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* No longer words are compared. */
#define OPTIONS_WORD_MAX 31

/* The search for the word nearest to typed[0..length). */
struct options_search {
    const char *typed;
    size_t length;
    const char *word;  /* the nearest so far; NULL: none is near */
    unsigned distance; /* only words nearer than this are near: 1, or from five letters on 2 */
};

static struct options_search options_search_begin(const char *typed, size_t length)
{
    return (struct options_search){.typed = typed,
                                   .length = length,
                                   .distance = length < 2   ? 0
                                               : length < 5 ? 2
                                                            : 3};
}

/*
 * Keeps the word, which has no capitals, if it is nearer than those before.
 *
 * The distance of two words is the smallest number of letters to insert, delete or replace, or of
 * neighbours to exchange, that makes one of the other, where no letter is changed twice: the
 * "optimal string alignment" distance (Damerau, "A Technique for Computer Detection and Correction
 * of Spelling Errors", Communications of the ACM 7(3), 1964). Capitals are the same as small
 * letters.
 */
static void options_search_try(struct options_search *search, const char *word)
{
    unsigned rows[3][OPTIONS_WORD_MAX + 1]; /* row i % 3: of the first i letters typed */
    const size_t n = search->length;
    const size_t m = strlen(word);
    char typed[OPTIONS_WORD_MAX];

    if (n > OPTIONS_WORD_MAX || m > OPTIONS_WORD_MAX)
        return;
    for (size_t i = 0; i < n; i++)
        typed[i] = (char)tolower((unsigned char)search->typed[i]);
    for (size_t i = 0; i <= n; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *last = rows[(i + 2) % 3];
        const unsigned *before = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = row[j - 1] + 1;
            if (i == 0)
                continue;
            unsigned other[] = {last[j] + 1, last[j - 1] + (typed[i - 1] != word[j - 1]),
                                UINT32_MAX};
            if (i > 1 && j > 1 && typed[i - 1] == word[j - 2] && typed[i - 2] == word[j - 1])
                other[2] = before[j - 2] + 1;
            for (size_t k = 0; k < 3; k++)
                row[j] = other[k] < row[j] ? other[k] : row[j];
        }
    }
    if (rows[n % 3][m] < search->distance) {
        search->distance = rows[n % 3][m];
        search->word = word;
    }
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
    struct options_search search = options_search_begin(word, strlen(word));
    struct reductions reductions;

    if (!options_is_no_file(word))
        return STATUS_OK;
    if (reductions_parse(word, &reductions) == REDUCTIONS_LIST)
        return status_fail(failure, STATUS_USAGE,
                           "'%s' is neither an operation nor a file: did you mean reduce %s?", word,
                           word);
    for (unsigned i = 0; i < OPTIONS_COMMANDS; i++) {
        options_search_try(&search, options_commands[i].name);
        if (options_commands[i].alias)
            options_search_try(&search, options_commands[i].alias);
    }
    options_search_try(&search, "help"); /* many try these two options as operations */
    options_search_try(&search, "version");
    if (options_find_row(word, strlen(word)))
        search.word = word;
    if (!search.word)
        return STATUS_OK;
    const bool is_option = options_find_row(search.word, strlen(search.word));
    return status_fail(failure, STATUS_USAGE,
                       "'%s' is neither an operation nor a file: did you mean %s%s?", word,
                       is_option ? "--" : "", search.word);
}

/*
 * Writes the percentile that word[0..length) means: 50, q99, percentile99.9; if it would be above
 * p100, "". Returns false if it is none.
 */
static bool options_find_percentile(const char *word, size_t length, char meant[PERCENTAGE_SIZE])
{
    static const char *const prefixes[] = {"percentile", "quantile", "q", "p", ""};
    struct reduction found;
    size_t i = 0;

    while (strncasecmp(word, prefixes[i], strlen(prefixes[i])) != 0)
        i++;
    const size_t prefix = strlen(prefixes[i]);
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
    static const char *const others[][2] = {
        /* what others call a reduction, and its name */
        {"average", "mean"}, {"total", "sum"},    {"minimum", "min"},     {"maximum", "max"},
        {"std", "stddev"},   {"var", "variance"}, {"unique", "distinct"},
    };
    const char *unknown = NULL;
    bool has_known = false;
    struct reduction found;
    char percentile[PERCENTAGE_SIZE];

    for (const char *part = list;; part++) {
        size_t part_length = strcspn(part, ",");
        if (reductions_find(part, part_length, &found))
            has_known = true;
        else if (!unknown)
            unknown = part;
        part += part_length;
        if (*part == '\0')
            break;
    }
    const int length = (int)strcspn(unknown, ",");
    struct options_search search = options_search_begin(unknown, (size_t)length);
    if (options_find_percentile(unknown, (size_t)length, percentile)) {
        search.word = percentile;
    } else {
        for (size_t i = 0; i < REDUCTION_QUANTILE; i++) /* whose name is only a letter */
            options_search_try(&search, reductions_name((enum reduction_id)i));
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            options_search_try(&search, others[i][0]);
            if (search.word == others[i][0])
                search.word = others[i][1];
        }
    }
    if ((!has_known && !search.word) || strchr(list, '/') || !options_is_no_file(list))
        return STATUS_OK;
    if (!search.word)
        return status_fail(failure, STATUS_USAGE, "'%.*s' is no reduction", length, unknown);
    if (*search.word == '\0')
        return status_fail(failure, STATUS_USAGE,
                           "'%.*s' is no reduction: percentiles are p0 to p100", length, unknown);
    return status_fail(failure, STATUS_USAGE, "'%.*s' is no reduction: did you mean %s?", length,
                       unknown, search.word);
}

enum status options_check_files(const struct options *options, char *const *names,
                                struct failure *failure)
{
    for (; *names && options->command->action == OPTIONS_RUN; names++) {
        struct reductions reductions;
        const char *advice = NULL;
        if (options_find_command(*names))
            advice = "an operation is the first word";
        else if (options->command == &options_commands[OPERATION_REDUCE] &&
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
    static const char *const others[][2] = {
        /* what other programs call an option, and its name */
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

    if (letter)
        return status_fail(failure, STATUS_USAGE, "unknown option '-%c'%s", letter,
                           letter == 'n'   ? ": did you mean --top?" /* as of head(1) */
                           : letter == 'F' ? ": did you mean -d?"    /* as of awk(1) */
                                           : "");
    const char *name = typed + 2; /* after the dashes */
    const size_t length = strcspn(name, "=");
    struct options_search search = options_search_begin(name, length);
    char candidates[1024] = "";
    unsigned candidate_count = 0;
    for (size_t i = 0, used = 0; i < options_row_count && used < sizeof candidates; i++) {
        if (strncmp(options_rows[i].name, name, length) == 0)
            used += (size_t)snprintf(candidates + used, sizeof candidates - used, "%s--%s",
                                     candidate_count++ > 0 ? ", " : "", options_rows[i].name);
    }
    if (length > 0 && candidate_count > 1)
        return status_fail(failure, STATUS_USAGE, "option '--%.*s' is ambiguous: %s", (int)length,
                           name, candidates);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strlen(others[i][0]) == length && memcmp(others[i][0], name, length) == 0)
            return status_fail(failure, STATUS_USAGE, "unknown option '--%s': did you mean --%s?",
                               others[i][0], others[i][1]);
    }
    for (size_t i = 0; i < options_row_count; i++) {
        if (options_rows[i].traits & options->command->traits)
            options_search_try(&search, options_rows[i].name);
    }
    for (size_t i = 0; i < options_row_count && !search.word; i++)
        options_search_try(&search, options_rows[i].name);
    if (!search.word)
        return status_fail(failure, STATUS_USAGE, "unknown option '--%.*s'", (int)length, name);
    return status_fail(failure, STATUS_USAGE, "unknown option '--%.*s': did you mean --%s?",
                       (int)length, name, search.word);
}
