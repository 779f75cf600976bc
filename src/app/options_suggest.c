/* Messages about mistyped operations, reductions and options, with what was probably meant. */
#include "config.h"

#include "app/options_table.h"

#include "base/nearest.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Of an option or a reduction that a message shows; a longer one is cut. */
#define OPTIONS_SHOWN_SIZE 128

/* Of a condition that advice shows; there is none for a longer one. */
#define OPTIONS_CONDITION_MAX 100

/* Of numbers in advice: none is near 2^64. */
#define OPTIONS_DIGITS_MAX 18

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

/* The digits at the beginning of a text. */
static size_t options_count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

/*
 * The length of a number that text begins with: a sign, digits, with _ or , between three of them,
 * and a fraction. 0: it begins with none.
 */
static size_t options_number_length(const char *text)
{
    const size_t sign = *text == '-' || *text == '+';
    size_t length = sign + options_count_digits(text + sign);

    if (length == sign)
        return 0;
    while ((text[length] == '_' || text[length] == ',') &&
           options_count_digits(text + length + 1) == 3)
        length += 4;
    if (text[length] == '.' && isdigit((unsigned char)text[length + 1]))
        length += 1 + options_count_digits(text + length + 1);
    return length;
}

/*
 * Reads 5xx, 500..599 or 500-599, which mean all integers from *low on and below *limit. Returns
 * false if the text is none.
 */
static bool options_read_span(const char *text, unsigned long long *low, unsigned long long *limit)
{
    const size_t digits = options_count_digits(text);
    const char *rest = text + digits;
    const size_t places = strspn(rest, "xX");
    const size_t between = *rest == '-' ? 1 : strncmp(rest, "..", 2) == 0 ? 2 : 0;

    if (digits == 0 || digits + places > OPTIONS_DIGITS_MAX)
        return false;
    *low = strtoull(text, NULL, 10);
    if (places > 0 && rest[places] == '\0' && (*text != '0' || digits > 1)) {
        *limit = (*low + 1) * decimal_power(places);
        *low *= decimal_power(places);
        return true;
    }
    const size_t last = options_count_digits(rest + between);
    if (between == 0 || last == 0 || last > OPTIONS_DIGITS_MAX || rest[between + last] != '\0')
        return false;
    *limit = strtoull(rest + between, NULL, 10) + 1;
    return *limit > *low;
}

/*
 * Writes a number with an exponent (12.5e3), in hexadecimal digits (0x1F), or with groups of three
 * (1,234 and 1_234) as it is read. Returns false if the text is none, or not an integer.
 */
static bool options_rewrite_number(const char *text, char out[DECIMAL_SIZE])
{
    const size_t length = options_number_length(text);
    const size_t sign = *text == '-' || *text == '+';
    const char *exponent = text + length;
    char *end;
    size_t digits = 0;
    long power = 0;

    if (strncmp(text + sign, "0x", 2) == 0 && isxdigit((unsigned char)text[sign + 2])) {
        errno = 0;
        const unsigned long long value = strtoull(text + sign, &end, 16);
        snprintf(out, DECIMAL_SIZE, "%.*s%llu", (int)sign, text, value);
        return *end == '\0' && errno == 0;
    }
    if (length == 0 || length > OPTIONS_DIGITS_MAX)
        return false;
    if (*exponent == 'e' || *exponent == 'E') {
        const char *first = exponent + 1 + (exponent[1] == '-' || exponent[1] == '+');
        power = strtol(exponent + 1, &end, 10);
        if (!isdigit((unsigned char)*first) || *end != '\0' || power > OPTIONS_DIGITS_MAX)
            return false;
    } else if (*exponent != '\0') {
        return false;
    }
    for (size_t i = 0, is_fraction = 0; i < length; i++) {
        is_fraction |= text[i] == '.';
        if (text[i] != '.' && text[i] != ',' && text[i] != '_') {
            power -= (long)is_fraction;
            out[digits++] = text[i];
        }
    }
    for (; power < 0 && digits > sign + 1 && out[digits - 1] == '0'; power++)
        digits--;
    for (; power > 0 && digits + 1 < DECIMAL_SIZE; power--)
        out[digits++] = '0';
    out[digits] = '\0';
    return power == 0;
}

/*
 * Writes the conditions that are typed as one, "a>1 and b>2", each for itself. Returns false if it
 * is one. Alternatives are none.
 */
static bool options_divide_condition(const char *typed, char out[OPTIONS_ADVICE_SIZE])
{
    static const char *const words[] = {" and ", " AND ", " && ", "&&", " or ", " OR ", "||"};
    const size_t first_or = 4;
    int used = snprintf(out, OPTIONS_ADVICE_SIZE, " (repeat --where: --where '");
    bool is_divided = false;

    for (const char *next = typed; *next;) {
        size_t i = 0;
        while (i < sizeof words / sizeof *words &&
               (strncmp(next, words[i], strlen(words[i])) != 0 ||
                !strpbrk(next + strlen(words[i]), "=<>")))
            i++;
        if (i == sizeof words / sizeof *words) {
            if (used + 3 < OPTIONS_ADVICE_SIZE)
                used += sprintf(out + used, "%c", *next);
            next++;
            continue;
        }
        if (i >= first_or) {
            strcpy(out, " (all conditions must hold: = with a list, as in 's=404,500', is one of "
                        "several)");
            return true;
        }
        used += snprintf(out + used, OPTIONS_ADVICE_SIZE - (size_t)used, "' --where '");
        next += strlen(words[i]);
        is_divided = true;
    }
    sprintf(out + used, "')");
    return is_divided;
}

/*
 * Advises on a value of = with stars, the wildcards of others, which mean that a text begins with
 * something, or contains it. Returns false if it has no star.
 */
static bool options_advise_star(const char *typed, int where, const char *value,
                                char out[OPTIONS_ADVICE_SIZE])
{
    const size_t first = strcspn(value, "*");
    const size_t begin = *value == '*';
    const size_t rest = strcspn(value + begin, "*");
    const char *end = value + begin + rest;

    if (value[first] == '\0')
        return false;
    if (strcmp(end, "*") == 0 && rest > 0)
        snprintf(out, OPTIONS_ADVICE_SIZE, " (try '%.*s:text%s=%.*s')", where, typed,
                 begin ? "*" : "^", (int)rest, value + begin);
    else
        strcpy(out, " (= has no wildcards: ^= is begins with, *= contains, ~ a regular "
                    "expression)");
    return true;
}

/* Whether no number can be meant: a letter is first, or digits before letters are no number. */
static bool options_is_word(const char *text)
{
    const char *first = text; /* letter or digit */
    const char *letters = text + options_number_length(text);
    size_t count = 0;

    while (*first && !isalnum((unsigned char)*first) && (unsigned char)*first < 0x80)
        first++;
    while (isalpha((unsigned char)letters[count]))
        count++;
    if (strchr("=<>!~", *text))
        return false;
    if (!isdigit((unsigned char)*first))
        return true;
    return !strpbrk(text, "=<>!&|() ") && letters > text && count > 0 &&
           (count > 3 || (letters[count] != '\0' && letters[count] != '/'));
}

void options_advise_condition(const struct options_condition *condition, const char *value,
                              size_t length, const struct element *element, const struct kind *kind,
                              char out[OPTIONS_ADVICE_SIZE])
{
    const struct kind_time_rules time = {.digits = KIND_TIME_DIGITS_MAX, .is_cell = true};
    const char *typed = condition->typed + strspn(condition->typed, " ");
    const char *sign = condition->sign; /* the operator and the value */
    const int where = (int)(sign - typed);
    const enum predicate_relation relation = condition->relation;
    const bool is_whole = strlen(condition->value) == length;
    char number[DECIMAL_SIZE];
    char item[OPTIONS_CONDITION_MAX + 1];
    unsigned long long low;
    unsigned long long limit;
    struct kind_ip first;
    struct kind_ip last;
    int64_t instant;
    __int128 fixed;

    *out = '\0';
    if (kind_rows[element->kind].scale != KIND_NUMBERS || kind != NULL ||
        strlen(typed) > OPTIONS_CONDITION_MAX || strchr(typed, '\'') ||
        (length == 0 && !is_whole) || options_divide_condition(typed, out))
        return;
    *out = '\0';
    snprintf(item, sizeof item, "%.*s", (int)length, value);
    if (length > 0 && decimal_parse_fixed(value, length, TEXT_DECIMALS_MAX, &fixed)) {
        size_t decimals = 0; /* of the list */
        for (const char *point = sign; (point = strchr(point, '.')) != NULL; point++) {
            const size_t digits = options_count_digits(point + 1);
            decimals = digits > decimals ? digits : decimals;
        }
        if (decimals > 0 && decimals <= TEXT_DECIMALS_MAX)
            snprintf(out, OPTIONS_ADVICE_SIZE, " (try '%.*s:.%zu%s')", where, typed, decimals,
                     sign);
    } else if (length > 0 && kind_time_read(&time, value, length, length, &instant, NULL) > 0) {
        snprintf(out, OPTIONS_ADVICE_SIZE, " (try '%.*s:time%s')", where, typed, sign);
    } else if (length > 0 && kind_ip_read_range(value, length, &first, &last)) {
        snprintf(out, OPTIONS_ADVICE_SIZE, " (try '%.*s:ip%s')", where, typed, sign);
    } else if (options_read_span(item, &low, &limit)) {
        if (relation == PREDICATE_EQ && is_whole)
            snprintf(out, OPTIONS_ADVICE_SIZE, " (try --where '%.*s>=%llu' --where '%.*s<%llu')",
                     where, typed, low, where, typed, limit);
    } else if (options_rewrite_number(item, number)) {
        if (is_whole)
            snprintf(out, OPTIONS_ADVICE_SIZE, " (try '%.*s%s')", (int)(strlen(typed) - length),
                     typed, number);
    } else if (relation == PREDICATE_EQ && is_whole &&
               options_advise_star(typed, where, item, out)) {
        return;
    } else if (length == 0 || options_is_word(item)) {
        snprintf(out, OPTIONS_ADVICE_SIZE, " (try '%.*s:text%s')", where, typed, sign);
    } else if (options_number_length(item) > 0) {
        strcpy(out, " (a number has no unit or exponent, but may end in K, M, G, T, Ki, Mi, Gi or "
                    "Ti; durations are of kinds s ms us ns)");
    }
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
