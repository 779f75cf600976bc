/* Messages about mistyped operations, reductions and options, with what was probably meant. */
#include "config.h"

#include "cli/options_table.h"

#include "input/source.h"
#include "lib/nearest.h"
#include "text/row_scanner.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Size of an option or a reduction in a message; a longer one is cut. */
#define OPTIONS_SHOWN_SIZE 128

/* Maximum size of a condition in advice; there is no advice for a longer one. */
#define OPTIONS_CONDITION_MAX 100

/* Maximum size of a file's first line, in which names are looked up. */
#define OPTIONS_LINE_MAX 4096

/* Maximum number of digits of a number in advice: none is near 2^64. */
#define OPTIONS_DIGITS_MAX 18

/* The trait of a first word that is not a command. */
#define OPTIONS_NO_COMMAND (1U << 31)

/* Words that users of other programs type, and their meaning. */
static const struct {
    const char *typed; /* options with their dashes, reductions, or commands */
    unsigned traits;   /* the commands that it is for; the first matching row counts */
    const char *advice;
} options_habits[] = {
#define MEAN(option) "try " option
    {"-c --count", OPTIONS_PRINTS_BINS, "counts are always printed"},
    {"-F", OPTIONS_RUNS, MEAN("-d")},
    {"--separator --sep", OPTIONS_RUNS, MEAN("--delimiter")},
    {"--tsv", OPTIONS_RUNS, MEAN("-d '\\t', or for output --format tsv")},
    {"-k", OPTIONS_RUNS, MEAN("-f")},
    {"--key --column", OPTIONS_RUNS, MEAN("--field")},
    {"-g --group --group-by --groupby", OPTIONS_RUNS, MEAN("--by")},
    {"--filter", OPTIONS_RUNS, MEAN("--where")},
    {"--between", OPTIONS_TESTS_VALUES, MEAN("--in LO:HI, to below HI")},
    {"--between", OPTIONS_RUNS, MEAN("--where 'COLUMN>=LO' --where 'COLUMN<=HI'")},
    {"--from --since", OPTIONS_RUNS, MEAN("--where 'COLUMN>=V'")},
    {"--to --until", OPTIONS_RUNS, MEAN("--where 'COLUMN<V'")},
    {"--min --max", OPTIONS_MAKES_BINS, MEAN("--range LO:HI, to below HI")},
    {"--min", OPTIONS_REDUCES, MEAN("reduce min")},
    {"--max", OPTIONS_REDUCES, MEAN("reduce max")},
    {"--max", OPTIONS_RUNS, MEAN("--where 'COLUMN<=V'")},
    {"--bin-width --binwidth --bin-size --binsize", OPTIONS_MAKES_BINS, MEAN("--width")},
    {"--timezone --time-zone --zone", OPTIONS_RUNS, MEAN("--tz")},
    {"--follow", OPTIONS_RUNS, MEAN("tail -f FILE | gpuhist --every 10s")},
    {"--json", OPTIONS_RUNS, MEAN("--format json, or for input --jsonl")},
    {"--svg", OPTIONS_RUNS, MEAN("--format svg")},
    {"--hex", OPTIONS_RUNS, MEAN("--base 16")},
    {"-n --head --limit", OPTIONS_RUNS, MEAN("--top")},
    {"-r --reverse", OPTIONS_PURGES, MEAN("--descending")},
    {"-r --reverse", OPTIONS_PRINTS_BINS, MEAN("--sort count")},
    {"-p --percentile", OPTIONS_REDUCES, MEAN("reduce p50,p99")},
    {"-p", OPTIONS_PRINTS_BINS, MEAN("--percentiles")},
    {"-j --jobs --parallel", OPTIONS_RUNS, MEAN("--threads")},
    {"--cpu", OPTIONS_RUNS, MEAN("--engine cpu")},
    {"--cuda", OPTIONS_RUNS, MEAN("--engine cuda")},
    {"--gte", OPTIONS_RUNS, MEAN("--ge")},
    {"--lte", OPTIONS_RUNS, MEAN("--le")},
    {"average", OPTIONS_REDUCES, MEAN("mean")},
    {"total", OPTIONS_REDUCES, MEAN("sum")},
    {"med", OPTIONS_REDUCES, MEAN("median")},
    {"std sd stdev stddev_pop", OPTIONS_REDUCES, MEAN("stddev, or sstdev of a sample")},
    {"sstddev stddev_samp", OPTIONS_REDUCES, MEAN("sstdev")},
    {"var", OPTIONS_REDUCES, MEAN("variance")},
    {"nunique n_unique count_distinct unique", OPTIONS_REDUCES, MEAN("distinct")},
    {"first", OPTIONS_REDUCES, MEAN("min, which is the first of times")},
    {"last", OPTIONS_REDUCES, MEAN("max, which is the last of times")},
    {"q2", OPTIONS_REDUCES, MEAN("median")},
    {"freq frequency frequencies value_counts", OPTIONS_NO_COMMAND, MEAN("uniq")},
    {"topk top-k", OPTIONS_NO_COMMAND, MEAN("uniq --top 10")},
    {"percentile percentiles quantile", OPTIONS_NO_COMMAND, MEAN("reduce p50,p99")},
    {"summary summarize describe", OPTIONS_NO_COMMAND, MEAN("reduce")},
#undef MEAN
};
#define OPTIONS_HABITS (sizeof options_habits / sizeof *options_habits)

const char *options_find_habit(unsigned traits, const char *typed, size_t length)
{
    for (size_t i = 0; i < OPTIONS_HABITS; i++) {
        for (const char *word = options_habits[i].typed; *word; word += strspn(word, " ")) {
            const size_t bytes = strcspn(word, " ");
            if (options_habits[i].traits & traits && bytes == length &&
                memcmp(word, typed, length) == 0)
                return options_habits[i].advice;
            word += bytes;
        }
    }
    return NULL;
}

/* Mistaken values of options, and their meaning. */
static const struct {
    const char *option;
    const char *value; /* the value; NULL: numbers, separated by commas */
    bool is_ascending; /* such numbers must ascend */
    const char *before;
    const char *after; /* the advice has such numbers before this text */
} options_values[] = {
    {"bins", "auto", false, "omit --bins for automatic bins", ""},
    {"bins", NULL, true, "try --edges ", ""},
    {"eq", NULL, false, "try --any-of ", ""},
};

/* Returns whether a text is two or more numbers, separated by commas. */
static bool options_is_list(const char *text, bool is_ascending)
{
    __int128 last = 0;
    __int128 number;

    for (size_t count = 1;; count++) {
        const size_t length = strcspn(text, ",");
        if (!decimal_parse_fixed(text, length, TEXT_DECIMALS_MAX, &number) ||
            (is_ascending && count > 1 && number <= last))
            return false;
        if (text[length] == '\0')
            return count > 1;
        text += length + 1;
        last = number;
    }
}

enum status options_check_value(const char *option, const char *value, struct failure *failure)
{
    for (size_t i = 0; i < sizeof options_values / sizeof *options_values; i++) {
        const char *typed = options_values[i].value;
        if (strcmp(option, options_values[i].option) != 0 ||
            !(typed ? strcmp(value, typed) == 0
                    : options_is_list(value, options_values[i].is_ascending)))
            continue;
        return status_fail(failure, STATUS_USAGE, "invalid --%s '%s' (%s%s%s)", option, value,
                           options_values[i].before, typed ? "" : value, options_values[i].after);
    }
    return STATUS_OK;
}

enum status options_fail_range(const char *typed, const struct element *bounds,
                               struct failure *failure)
{
    static const char *const signs[] = {"..", "-", ","};
    const char *pair = kind_rows[bounds->kind].pair;
    char meant[OPTIONS_SHOWN_SIZE];
    __int128 low;
    __int128 high;

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const char *sign = *typed ? strstr(typed + 1, signs[i]) : NULL; /* not the sign of LO */
        if (!sign)
            continue;
        const char *rest = sign + strlen(signs[i]);
        const int length =
            snprintf(meant, sizeof meant, "%.*s:%s", (int)(sign - typed), typed, rest);
        if (length < (int)sizeof meant && element_read_range(bounds, meant, &low, &high) &&
            low < high)
            return status_fail(failure, STATUS_USAGE, "invalid --range '%s' (try %s, to below %s)",
                               typed, meant, rest);
    }
    return status_fail(failure, STATUS_USAGE, "invalid --range '%s': expected auto, or LO:HI, %s",
                       typed, pair);
}

static void options_try(struct nearest *search, const char *word)
{
    nearest_try(search, word, strlen(word));
}

/* Tries both names of an option. */
static void options_try_row(struct nearest *search, const struct options_row *row)
{
    options_try(search, row->name);
    if (row->alias)
        options_try(search, row->alias);
}

bool options_is_no_file(const char *word)
{
    return access(word, F_OK) != 0 && errno == ENOENT;
}

/* Returns the option with exactly this name, or NULL. */
static const struct options_row *options_find_row(const char *name, size_t length)
{
    for (size_t i = 0; i < options_row_count; i++) {
        const char *const found[] = {options_rows[i].name, options_rows[i].alias};
        for (size_t j = 0; j < sizeof found / sizeof *found; j++) {
            if (found[j] && strlen(found[j]) == length && memcmp(found[j], name, length) == 0)
                return &options_rows[i];
        }
    }
    return NULL;
}

enum status options_check_first_word(const char *word, struct failure *failure)
{
    struct nearest search = nearest_begin(word, strlen(word));
    const char *advice = options_find_habit(OPTIONS_NO_COMMAND, word, strlen(word));
    struct reductions reductions;

    if (!options_is_no_file(word))
        return STATUS_OK;
    if (advice)
        return status_fail(failure, STATUS_USAGE, "unknown operation or file '%s' (%s)", word,
                           advice);
    if (reductions_parse(word, &reductions) == REDUCTIONS_LIST)
        return status_fail(failure, STATUS_USAGE, "unknown operation or file '%s' (try reduce %s)",
                           word, word);
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
                       "unknown operation or file '%s': did you mean '%s%s'? (try gpuhist --help)",
                       word, is_option ? "--" : "", search.word);
}

/*
 * Writes the percentile that part[0..length) means, such as p99.9 for p999, and p50 for q50 and
 * percentile50. Returns false if it is none; a plain 999 may be a file.
 */
static bool options_rewrite_quantile(const char *part, size_t length, char out[OPTIONS_SHOWN_SIZE])
{
    static const char *const words[] = {"p", "q", "perc", "pct", "percentile", "quantile"};
    struct reduction found;
    size_t letters = 0;
    size_t i = 0;

    while (letters < length && isalpha((unsigned char)part[letters]))
        letters++;
    while (i < sizeof words / sizeof *words &&
           (strlen(words[i]) != letters || strncasecmp(words[i], part, letters) != 0))
        i++;
    const char *number = part + letters;
    const int digits = (int)(length - letters);
    const bool is_cut = digits > 2 && *number == '9' && !memchr(number, '.', (size_t)digits);
    if (i == sizeof words / sizeof *words || digits < 2 ||
        (*part == 'p' && letters == 1 && !is_cut))
        return false;
    snprintf(out, OPTIONS_SHOWN_SIZE, "p%.2s%s%.*s", number, is_cut ? "." : "", digits - 2,
             number + 2);
    return reductions_find(out, strlen(out), &found);
}

/* The first line of a file. */
struct options_line {
    size_t bytes;
    char text[OPTIONS_LINE_MAX];
};

/* Stores the first piece of a file, and ends the reading. */
static enum status options_take_line(void *context, const char *data, size_t bytes,
                                     struct failure *failure)
{
    struct options_line *line = context;
    const char *end = memchr(data, '\n', bytes);

    bytes = end ? (size_t)(end - data) : bytes;
    line->bytes = bytes < sizeof line->text ? bytes : sizeof line->text;
    memcpy(line->text, data, line->bytes);
    return status_fail(failure, STATUS_DATA, "the line is complete");
}

/* Returns whether a word is a column of a file: its first line, with the names, contains it. */
static bool options_is_column(const struct options *options, const char *word, const char *file)
{
    const bool has_names = options->csv || options->has_header ||
                           options->delimiter != TEXT_NO_DELIMITER ||
                           row_scanners[options->row_scanner]->names_columns;
    const size_t length = strlen(word);
    struct options_line line = {.bytes = 0};
    struct failure ignored;
    struct stat found;

    if (!has_names || !file || length == 0 || options->field.list_count > 0 ||
        stat(file, &found) != 0 || !S_ISREG(found.st_mode))
        return false;
    source_read_file(file, options_take_line, &line, &ignored);
    const char *end = line.text + line.bytes;
    for (const char *at = line.text; (at = memmem(at, (size_t)(end - at), word, length)); at++) {
        if ((at == line.text || strchr(",;|\t\" {", at[-1])) &&
            (at + length == end || strchr(",;|\t\" =\r", at[length])))
            return true;
    }
    return false;
}

enum status options_check_reductions(const struct options *options, const char *list,
                                     const char *file, struct failure *failure)
{
    const char *advice = NULL;
    const char *unknown = NULL;
    int length = 0; /* length of the unknown reduction */
    bool has_known = false;
    struct reduction found;
    char what[OPTIONS_SHOWN_SIZE];
    char quantile[OPTIONS_SHOWN_SIZE];

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
    for (size_t i = 0; i < REDUCTION_QUANTILE; i++) /* its own name is only a letter */
        options_try(&search, reductions_name((enum reduction_id)i));
    if (unknown)
        advice = options_find_habit(options->command->traits, unknown, (size_t)length);
    if (unknown && !advice && options_rewrite_quantile(unknown, (size_t)length, quantile))
        search.word = quantile;
    const bool is_word = isalpha((unsigned char)*list) && !strpbrk(list, "./ ");
    if ((!has_known && !search.word && !advice && !is_word) || strchr(list, '/') ||
        !options_is_no_file(list))
        return STATUS_OK;
    if (!has_known && !advice && options_is_column(options, list, file))
        return status_fail(failure, STATUS_USAGE, "unknown reduction '%s' (try -f %s)", list, list);
    if (!has_known && !search.word && !advice)
        return status_fail(failure, STATUS_USAGE, "unknown reduction or file '%.*s'", length,
                           unknown);
    snprintf(what, sizeof what, "unknown reduction '%.*s'", length, unknown);
    if (advice)
        return status_fail(failure, STATUS_USAGE, "%s (%s)", what, advice);
    if (search.word)
        return status_fail(failure, STATUS_USAGE, "%s: did you mean '%s'?", what, search.word);
    return status_fail(failure, STATUS_USAGE, "%s", what);
}

/*
 * Writes the list of values that the last --eq and the names after it mean. Returns false if they
 * do not mean a list.
 */
static bool options_join_values(const struct options *options, char *const *names,
                                char out[OPTIONS_SHOWN_SIZE])
{
    const size_t count = options->predicate_count;
    const struct options_predicate *last = count > 0 ? &options->predicates[count - 1] : NULL;
    size_t used;

    if (!last || last->relation != PREDICATE_EQ)
        return false;
    used = (size_t)snprintf(out, OPTIONS_SHOWN_SIZE, "%s", last->text);
    for (; *names && options_is_no_file(*names) && used < OPTIONS_SHOWN_SIZE; names++)
        used += (size_t)snprintf(out + used, OPTIONS_SHOWN_SIZE - used, ",%s", *names);
    return used < OPTIONS_SHOWN_SIZE && options_is_list(out, false);
}

enum status options_check_files(const struct options *options, char *const *names,
                                struct failure *failure)
{
    const struct options_command *command = options->command;
    char advice[OPTIONS_ADVICE_SIZE] = ""; /* the meaning of a missing file's name */
    char values[OPTIONS_SHOWN_SIZE];
    char *const *first = names;

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
                snprintf(advice, sizeof advice, "try reduce %s,%s", names[-1], name);
            else
                strcpy(advice, "try reduce sum,max FILE: reductions come first");
        } else if (options_find_command(name)) {
            strcpy(advice, "an operation must come first");
        } else if (column > 0 && sign > 0 && name[column + sign] != '\0' && !strchr(name, '/')) {
            snprintf(advice, sizeof advice, "try --where '%s'", name);
        } else if (options_join_values(options, names, values)) {
            snprintf(advice, sizeof advice, "try --any-of %s", values);
        } else if (names == first && options_is_column(options, name, names[1])) {
            snprintf(advice, sizeof advice, "try %s-f %s", options->is_named ? "" : "uniq ", name);
        } else if (*name && strlen(name) < 4 &&
                   name[strspn(name, "0123456789")] == '\0' && /* not a year */
                   options->field.list_count == 0) {
            snprintf(advice, sizeof advice, "try -f %s", name);
        }
    }
    if (*advice == '\0')
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, STATUS_NAME ": No such file or directory (%s)",
                       names[-1], advice);
}

/* Returns the number of digits at the start of a text. */
static size_t options_count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

/*
 * Returns the length of the number at the start of `text`: a sign, digits, with _ or , between
 * groups of three, and a fraction. 0: there is none.
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
 * Reads 5xx, 500..599 or 500-599, which mean all integers from *low to below *limit. Returns false
 * for another text.
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
 * Writes a hexadecimal number (0x1F), or one with thousands separators (1,234 and 1_234), in the
 * accepted notation. Returns false for another text, or if it is not an integer.
 */
static bool options_rewrite_number(const char *text, char out[DECIMAL_SIZE])
{
    const size_t length = options_number_length(text);
    const size_t sign = *text == '-' || *text == '+';
    char *end;
    size_t digits = 0;
    size_t decimals = 0;

    if (strncmp(text + sign, "0x", 2) == 0 && isxdigit((unsigned char)text[sign + 2])) {
        errno = 0;
        const unsigned long long value = strtoull(text + sign, &end, 16);
        snprintf(out, DECIMAL_SIZE, "%.*s%llu", (int)sign, text, value);
        return *end == '\0' && errno == 0;
    }
    if (length == 0 || length > OPTIONS_DIGITS_MAX || text[length] != '\0')
        return false;
    for (size_t i = 0, is_fraction = 0; i < length; i++) {
        is_fraction |= text[i] == '.';
        if (text[i] != '.' && text[i] != ',' && text[i] != '_') {
            decimals += is_fraction;
            out[digits++] = text[i];
        }
    }
    for (; decimals > 0 && digits > sign + 1 && out[digits - 1] == '0'; decimals--)
        digits--;
    out[digits] = '\0';
    return decimals == 0;
}

/*
 * Writes conditions that are typed as one, "a>1 and b>2", separately. Returns false if there is
 * only one.
 */
static bool options_divide_condition(const char *typed, char out[OPTIONS_ADVICE_SIZE])
{
    static const char *const words[] = {" and ", " AND ", " && ", "&&", " or ", " OR ", "||"};
    const size_t first_or = 4;
    size_t used = (size_t)sprintf(out, " (repeat --where: --where '");
    bool is_divided = false;

    for (const char *next = typed; *next;) {
        size_t i = 0;
        while (i < sizeof words / sizeof *words &&
               (strncmp(next, words[i], strlen(words[i])) != 0 ||
                !strpbrk(next + strlen(words[i]), "=<>")))
            i++;
        if (i == sizeof words / sizeof *words) {
            if (used + sizeof "')" < OPTIONS_ADVICE_SIZE)
                out[used++] = *next;
            next++;
            continue;
        }
        const char *between = i >= first_or ? "' --or --where '" : "' --where '";
        if (used + strlen(between) + sizeof "')" > OPTIONS_ADVICE_SIZE)
            return false;
        used += (size_t)sprintf(out + used, "%s", between);
        next += strlen(words[i]);
        is_divided = true;
    }
    sprintf(out + used, "')");
    return is_divided;
}

/*
 * Advises on a value of = with stars, the wildcards of other programs, which mean that a string
 * begins with a text or contains it. Returns false if there is no star.
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

/* Returns true if no number can be meant: a letter is first, or digits and letters are not a
 * number.
 */
static bool options_is_word(const char *text)
{
    const char *first = text; /* the first letter or digit */
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
    const char *sign = condition->sign; /* the operator, followed by the value */
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
        unsigned decimals = 1; /* decimal places of the list */
        for (const char *next = condition->value; *next; next += *next == ',') {
            const size_t bytes = strcspn(next, ",");
            while (decimals <= TEXT_DECIMALS_MAX &&
                   !decimal_parse_fixed(next, bytes, decimals, &fixed))
                decimals++;
            next += bytes;
        }
        if (decimals <= TEXT_DECIMALS_MAX)
            snprintf(out, OPTIONS_ADVICE_SIZE, " (try '%.*s:.%u%s')", where, typed, decimals, sign);
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
        strcpy(out, " (a number has no unit, but may end in K, M, G, T, Ki, Mi, Gi or "
                    "Ti; durations have types s ms us ns)");
    }
}

enum status options_fail_columns(const struct options *options, struct failure *failure)
{
    const struct options_columns *fields = &options->field;
    const size_t last = fields->count - 1;
    const unsigned long long top = options->print.top;
    const bool is_uniq = !(options->command->traits & OPTIONS_MAKES_BINS);
    char advice[OPTIONS_ADVICE_SIZE] = "only reduce and count support several";
    char names[OPTIONS_ADVICE_SIZE] = ""; /* names of all columns except the last one */
    size_t used = 0;

    for (size_t i = 0; i < last && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ",",
                                 fields->list[i].typed);
    if (is_uniq && options->by.count == 0 && top == 0)
        snprintf(advice, sizeof advice, "try --by %.160s -f %.64s", names,
                 fields->list[last].typed);
    else if (is_uniq && options->by.count == 0 &&
             options->weight.count == 0) /* the top of all groups together */
        snprintf(advice, sizeof advice, "try count --by %.140s,%.50s --sort count --top %llu",
                 names, fields->list[last].typed, top);
    else if (is_uniq && options->by.count == 0)
        snprintf(advice, sizeof advice,
                 "try reduce sum -f %.50s --by %.90s,%.50s --sort sum --top %llu",
                 options->weight.list[0].typed, names, fields->list[last].typed, top);
    return status_fail(failure, STATUS_USAGE, "%s supports one column of values (%s)",
                       options->command->name, advice);
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

    if (strcmp(typed, "double") == 0 || strncmp(typed, "float", 5) == 0) {
        const char *bits = typed[5] ? typed + 5 : "32";
        snprintf(meant, sizeof meant, "f%.4s", strcmp(typed, "double") == 0 ? "64" : bits);
        if (element_parse(meant, &element))
            return status_fail(failure, STATUS_USAGE,
                               "invalid --type '%s' (try %s, or for text such as 12.345 "
                               "--decimals 3)",
                               typed, meant);
    }
    const char *delimiter = strcmp(typed, "\t") == 0 ? "\\t" : typed;
    if (strcmp(delimiter, "\\t") == 0 || (strlen(typed) == 1 && ispunct((unsigned char)*typed)))
        return status_fail(failure, STATUS_USAGE, "invalid --type '%s' (try -d '%s')", delimiter,
                           delimiter); /* as for sort(1) */
    if (strncmp(rest, "int", 3) == 0) {
        const int digits = (int)strspn(rest + 3, "0123456789");
        const char *rest_of_word = rest + 3 + digits;
        snprintf(meant, sizeof meant, "%c%.*s", *typed, digits, rest + 3);
        if (element_parse(meant, &element) &&
            (*rest_of_word == '\0' || strcmp(rest_of_word, "_t") == 0))
            return status_fail(failure, STATUS_USAGE, "invalid --type '%s' (try %s)", typed, meant);
    }
    return options_fail_value(
        "type", typed, "i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32 or f64, with le or be",
        failure);
}

/*
 * Writes the range that --min and --max mean. Returns false if `typed` is neither, or if they do
 * not form a range.
 */
static bool options_find_ends(const struct options *options, const char *typed,
                              char out[OPTIONS_SHOWN_SIZE])
{
    static const char *const names[] = {"--min", "--max"};
    const char *ends[] = {NULL, NULL};
    __int128 low;
    __int128 high;

    for (int i = 1; i < options->argc; i++) {
        for (size_t k = 0; k < 2; k++) {
            const size_t length = strlen(names[k]);
            if (strncmp(options->argv[i], names[k], length) != 0)
                continue;
            if (options->argv[i][length] == '=')
                ends[k] = options->argv[i] + length + 1;
            else if (options->argv[i][length] == '\0')
                ends[k] = options->argv[i + 1];
        }
    }
    return (strncmp(typed, names[0], 5) == 0 || strncmp(typed, names[1], 5) == 0) && ends[0] &&
           ends[1] && decimal_parse_fixed(ends[0], strlen(ends[0]), TEXT_DECIMALS_MAX, &low) &&
           decimal_parse_fixed(ends[1], strlen(ends[1]), TEXT_DECIMALS_MAX, &high) && low < high &&
           snprintf(out, OPTIONS_SHOWN_SIZE, "try --range %s:%s, to below %s", ends[0], ends[1],
                    ends[1]) < OPTIONS_SHOWN_SIZE;
}

enum status options_fail_unknown(const struct options *options, char letter, const char *typed,
                                 struct failure *failure)
{
    const char *advice;
    char what[OPTIONS_SHOWN_SIZE];
    char ends[OPTIONS_SHOWN_SIZE];

    if (letter) {
        const char word[] = {'-', letter};
        snprintf(what, sizeof what, "unknown option '-%c'", letter);
        advice = options_find_habit(options->command->traits, word, sizeof word);
        return status_fail(failure, STATUS_USAGE, advice ? "%s (%s)" : "%s", what, advice);
    }
    const char *name = typed + 2; /* after the dashes */
    const size_t length = strcspn(name, "=");
    struct nearest search = nearest_begin(name, length);
    char candidates[1024] = "";
    unsigned candidate_count = 0;
    snprintf(what, sizeof what, "unknown option '--%.*s'", (int)length, name);
    advice = options_find_habit(options->command->traits, typed, length + 2);
    if (options->command->traits & OPTIONS_MAKES_BINS && options_find_ends(options, typed, ends))
        advice = ends;
    if (advice)
        return status_fail(failure, STATUS_USAGE, "%s (%s)", what, advice);
    for (size_t i = 0, used = 0; i < options_row_count && used < sizeof candidates; i++) {
        const char *found = options_rows[i].name;
        if (strncmp(found, name, length) != 0)
            found = options_rows[i].alias;
        if (found && strncmp(found, name, length) == 0)
            used += (size_t)snprintf(candidates + used, sizeof candidates - used, "%s--%s",
                                     candidate_count++ > 0 ? ", " : "", found);
    }
    if (length > 0 && candidate_count > 1)
        return status_fail(failure, STATUS_USAGE, "option '--%.*s' is ambiguous: %s", (int)length,
                           name, candidates);
    for (size_t i = 0; i < options_row_count; i++) {
        if (options_rows[i].traits & options->command->traits)
            options_try_row(&search, &options_rows[i]);
    }
    for (size_t i = 0; i < options_row_count && !search.word; i++)
        options_try_row(&search, &options_rows[i]);
    if (!search.word)
        return status_fail(failure, STATUS_USAGE, "%s", what);
    return status_fail(failure, STATUS_USAGE, "%s: did you mean --%s?", what, search.word);
}
