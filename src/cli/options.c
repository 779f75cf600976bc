/* Parses the command line: one parser per kind of option, and the words that are not options. */
#include "config.h"

#include "cli/options.h"

#include "cli/lists.h"
#include "cli/options_table.h"
#include "lib/decimal.h"
#include "text/row_scanner.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The result of getopt_long for the first row; for a short option it is the letter. */
#define OPTIONS_KEY_FIRST 256

enum status options_fail_value(const char *name, const char *value, const char *expected,
                               struct failure *failure)
{
    return status_fail(failure, STATUS_USAGE, "invalid --%s '%s': expected %s", name, value,
                       expected);
}

/*
 * Like options_fail_value, unless the value means another option; without an `expected` text it
 * names the words: "a, b or c".
 */
static enum status options_fail_row(const struct options_row *row, const char *value,
                                    struct failure *failure)
{
    char expected[128] = "";
    size_t used = 0;

    if (options_check_value(row->name, value, failure) != STATUS_OK)
        return failure->status;
    if (row->expected)
        return options_fail_value(row->name, value, row->expected, failure);
    for (const char *word = row->words; *word; used = strlen(expected)) {
        size_t length = strcspn(word, " ");
        bool is_last = word[length] == '\0';
        snprintf(expected + used, sizeof expected - used, "%s%.*s",
                 used == 0 ? ""
                 : is_last ? " or "
                           : ", ",
                 (int)length, word);
        word += length + !is_last;
    }
    return options_fail_value(row->name, value, expected, failure);
}

/* Adds a list of integers to an earlier one, or NULL. Files cannot be added to lists. */
static enum status options_add_list(struct options *options, const struct options_row *row,
                                    const char **list, const char *value, struct failure *failure)
{
    if (!*list) {
        *list = value;
        return STATUS_OK;
    }
    if (lists_is_file(*list) || lists_is_file(value))
        return status_fail(failure, STATUS_USAGE, "--%s @FILE must be the only --%s", row->name,
                           row->name);
    struct options_copy *copy = malloc(sizeof *copy + strlen(*list) + strlen(value) + 2);
    if (!copy)
        return status_fail(failure, STATUS_DATA, "not enough memory for the list of --%s",
                           row->name);
    stpcpy(stpcpy(stpcpy(copy->text, *list), ","), value);
    copy->next = options->copies;
    options->copies = copy;
    *list = copy->text;
    return STATUS_OK;
}

/* Reads a list of distinct GPU numbers, which earlier lists do not have. */
static bool options_parse_gpus(const char *value, struct options *options)
{
    bool is_new[OPTIONS_GPUS_MAX];
    __int128 gpu;

    memset(is_new, true, sizeof is_new);
    for (size_t i = 0; i < options->gpu_count; i++)
        is_new[options->gpus[i]] = false;
    for (;; value++) {
        size_t length = strcspn(value, ",");
        if (!decimal_parse(value, length, DECIMAL_UNIT_SI, &gpu) || gpu < 0 ||
            gpu >= OPTIONS_GPUS_MAX || !is_new[gpu])
            return false;
        is_new[gpu] = false;
        options->gpus[options->gpu_count++] = (unsigned)gpu;
        value += length;
        if (*value == '\0')
            return true;
    }
}

/* Fails because an --or is not between conditions. */
static enum status options_fail_or(struct failure *failure)
{
    return status_fail(failure, STATUS_USAGE, "--or must be between two --where");
}

/* Appends a predicate. */
static enum status options_add_predicate(struct options *options, enum predicate_relation relation,
                                         const char *text, struct failure *failure)
{
    const size_t count = options->predicate_count;

    if ((count & (count - 1)) == 0) { /* 0 or a power of two: the array is full */
        const size_t capacity = count > 0 ? 2 * count : 1;
        struct options_predicate *grown =
            realloc(options->predicates, capacity * sizeof *options->predicates);
        if (!grown)
            return status_fail(failure, STATUS_DATA, "not enough memory for %zu predicates",
                               capacity);
        options->predicates = grown;
    }
    options->predicates[options->predicate_count++] =
        (struct options_predicate){.relation = relation, .text = text};
    return STATUS_OK;
}

/* Reads one of the words of a choice, and adds its index. Returns false for another word. */
static bool options_parse_choice(const char *value, const struct options_row *row, uint64_t *number)
{
    for (const char *word = row->words; *word; ++*number) {
        const size_t length = strcspn(word, " ");
        if (length == strlen(value) && memcmp(word, value, length) == 0)
            return true;
        word += length + (word[length] == ' ');
    }
    return false;
}

/* Reads the number of decimal places, N or round.N. Returns false if it is invalid. */
static bool options_parse_decimals(const char *value, const struct options_row *row,
                                   struct options *options, uint64_t *number)
{
    static const char prefix[] = "round.";
    const size_t length = strlen(prefix);

    options->is_rounded = strncmp(value, prefix, length) == 0;
    value += options->is_rounded ? length : 0;
    return decimal_parse_unsigned(value, row->unit, number) && *number <= row->maximum;
}

/* Parses the value of an option by its kind, NULL if it has none, and stores it. */
static enum status options_set(struct options *options, const struct options_row *row,
                               const char *value, struct failure *failure)
{
    void *target = (char *)options + row->target;
    uint64_t number = row->value;
    bool is_valid = true;

    switch (row->kind) {
    case OPTIONS_FLAG:
        break;
    case OPTIONS_NUMBER:
        is_valid = !value || (decimal_parse_unsigned(value, row->unit, &number) &&
                              number >= row->minimum && number <= row->maximum);
        break;
    case OPTIONS_DECIMALS:
        is_valid = options_parse_decimals(value, row, options, &number);
        break;
    case OPTIONS_CHOICE:
        is_valid = options_parse_choice(value, row, &number);
        break;
    case OPTIONS_FORMAT:
        is_valid = print_format_find(value, target);
        break;
    case OPTIONS_DIRECTORY: /* xz and zstd have -T4 for a number of threads */
        is_valid = value[strspn(value, "0123456789")] != '\0' || !options_is_no_file(value);
        *(const char **)target = value;
        break;
    case OPTIONS_FILE:
        is_valid = *value != '\0';
        *(const char **)target = value;
        break;
    case OPTIONS_TEXT:
        *(const char **)target = value;
        break;
    case OPTIONS_LIST:
        return options_add_list(options, row, target, value, failure);
    case OPTIONS_COLUMNS: {
        struct options_columns *columns = target;
        if (columns->list_count == TEXT_COLUMNS_MAX)
            return status_fail(failure, STATUS_USAGE, "--%s is given too often", row->name);
        columns->lists[columns->list_count++] = value;
        break;
    }
    case OPTIONS_CONDITIONS:
        if (options->where.count == OPTIONS_CONDITIONS_MAX)
            return status_fail(failure, STATUS_USAGE, "--%s can be given at most %d times",
                               row->name, OPTIONS_CONDITIONS_MAX);
        options->conditions[options->where.count].is_alternative = options->ends_with_or;
        options->conditions[options->where.count++].typed = value;
        options->ends_with_or = false;
        break;
    case OPTIONS_OR:
        if (options->where.count == 0 || options->ends_with_or)
            return options_fail_or(failure);
        options->ends_with_or = true;
        break;
    case OPTIONS_CHARACTER:
        value = strcmp(value, "\\t") == 0 ? "\t" : value;
        is_valid = strlen(value) == 1 && !strchr("\n\r0123456789", *value);
        *(int *)target = (unsigned char)*value;
        break;
    case OPTIONS_TYPE:
        if (!element_parse(value, &options->element))
            return options_fail_type(value, failure);
        options->has_type = true;
        options->has_order =
            options->element.real != REAL_NONE || strlen(value) > strlen(options->element.name);
        break;
    case OPTIONS_GPUS:
        is_valid = options_parse_gpus(value, options);
        break;
    case OPTIONS_QUANTILES:
        return quantiles_parse(target, value, failure);
    case OPTIONS_PREDICATE:
        if (options_check_value(row->name, value, failure) != STATUS_OK ||
            options_add_predicate(options, (enum predicate_relation)row->value, value, failure) !=
                STATUS_OK)
            return failure->status;
        break;
    }
    if (!is_valid)
        return options_fail_row(row, value, failure);
    if (row->kind <= OPTIONS_CHOICE) {
        if (row->bytes == sizeof(bool))
            *(bool *)target = number;
        else if (row->bytes == sizeof(unsigned)) /* an integer or an enum */
            *(unsigned *)target = (unsigned)number;
        else
            *(uint64_t *)target = number;
    }
    if (row->given)
        *(bool *)((char *)options + row->given) = true;
    return STATUS_OK;
}

/* Sets the options that getopt finds, up to --help or --version. */
static enum status options_parse_words(struct options *options, int argc, char **argv,
                                       struct failure *failure)
{
    char letters[2 * OPTIONS_ROWS_MAX + 2] = ":";
    struct option names[2 * OPTIONS_ROWS_MAX + 1];
    size_t count = 0;
    size_t length = 1;
    int key;

    memset(names, 0, sizeof names);
    for (size_t i = 0; i < options_row_count; i++) {
        const struct options_row *row = &options_rows[i];
        names[count].name = row->name;
        names[count].val = OPTIONS_KEY_FIRST + (int)i;
        names[count++].has_arg = !row->argument          ? no_argument
                                 : *row->argument == '[' ? optional_argument
                                                         : required_argument;
        if (row->alias) {
            names[count] = names[count - 1];
            names[count++].name = row->alias;
        }
        if (row->letter)
            letters[length++] = row->letter;
        if (row->letter && row->argument)
            letters[length++] = ':';
    }
    opterr = 0;
    while ((key = getopt_long(argc, argv, letters, names, NULL)) != -1) {
        bool has_value = optarg && optarg == argv[optind - 1] + 2; /* a value after its letter */
        const char *next = has_value ? argv[optind - 1] : argv[optind]; /* NULL at the end */
        if (next && *next == '-' && next[1] != '-' &&
            options_check_dashes(next, failure) != STATUS_OK)
            return failure->status;
        const bool is_wrong = key == '?' || key == ':';
        const int found = is_wrong ? optopt : key;
        const struct options_row *row =
            found >= OPTIONS_KEY_FIRST ? &options_rows[found - OPTIONS_KEY_FIRST] : NULL;
        for (size_t i = 0; found > 0 && !row && i < options_row_count; i++)
            row = options_rows[i].letter == found ? &options_rows[i] : NULL;
        if (is_wrong && row)
            return status_fail(failure, STATUS_USAGE, "option --%s %s value", row->name,
                               key == ':' ? "needs a" : "takes no");
        const bool is_apart = optarg && optarg == argv[optind - 1]; /* a value in its own word */
        const char *word = argv[optind - 1 - is_apart];
        const size_t typed = strcspn(word, "=");
        /* An abbreviation may mean another option: --json the format of the result. */
        const bool is_short = key >= OPTIONS_KEY_FIRST && typed != strlen("--") + strlen(row->name);
        if (is_wrong || (is_short && options_find_habit(options->command->traits, word, typed)))
            return options_fail_unknown(options, (char)optopt, word, failure);
        /* Does the command take it? Merge, which does not know its states yet, records which do. */
        const bool has_instead = row->instead && options->command->traits & OPTIONS_READS_INPUT;
        char takers[128] = "";
        size_t used = 0;
        for (unsigned i = 0; i < OPTIONS_COMMANDS; i++) {
            const bool takes = row->traits & options_commands[i].traits;
            if (!takes && i < OPERATION_IDS)
                options->unmergeable[i] = row->name;
            if (takes && !(row->traits & OPTIONS_READS_INPUT)) /* else all operations have it */
                used += (size_t)snprintf(takers + used, sizeof takers - used, "%s %s",
                                         used == 0 ? ", only with" : ",", options_commands[i].name);
        }
        if (!(row->traits & options->command->traits))
            return status_fail(failure, STATUS_USAGE, "--%s cannot be used with %s%s%s%s%s",
                               row->name, options->command->name, takers,
                               has_instead ? " (try " : "", has_instead ? row->instead : "",
                               has_instead ? ")" : "");
        if (options_set(options, row, optarg, failure) != STATUS_OK)
            return failure->status;
        if (options->help || options->version)
            return STATUS_OK;
    }
    return STATUS_OK;
}

/* Reads the options that depend on others: --range and --width on --decimals. */
static enum status options_finish(struct options *options, struct failure *failure)
{
    options->is_range_auto = options->range_text && strcmp(options->range_text, "auto") == 0;
    const char *range = options->is_range_auto ? NULL : options->range_text;
    const char *text = options->width_text;
    char smallest[DECIMAL_SIZE];
    __int128 width = 0;

    for (unsigned i = 0; i < ROW_SCANNERS; i++) {
        if (!options->rows_given[i])
            continue;
        if (options->row_scanner != ROW_LINES)
            return status_fail(failure, STATUS_USAGE, "--%s cannot be combined with --%s",
                               row_scanners[options->row_scanner]->option, row_scanners[i]->option);
        options->row_scanner = (enum row_scanner_id)i;
    }
    if (options->has_decimals && options->base == OPTIONS_BASE_16)
        return status_fail(failure, STATUS_USAGE, "--decimals cannot be combined with --base 16");
    if (options->ends_with_or)
        return options_fail_or(failure);
    if (options_finish_columns(options, failure) != STATUS_OK)
        return failure->status;
    options->counts_rows = options->command->operation == OPERATION_COUNT &&
                           options->predicate_count == 0 && options->field.count == 0;
    if (options->counts_rows &&
        (options_add_predicate(options, PREDICATE_ALL, NULL, failure) != STATUS_OK ||
         options_want_any(options, failure) != STATUS_OK))
        return failure->status;
    if (options->counts_rows && options->record_bytes > 0 && !options->has_type) {
        element_parse("u8", &options->element); /* it fits in any record */
        options->has_type = true;
    }
    const struct options_column *first = &options->field.list[0];
    const bool is_time =
        options->field.count > 0 && first->kind && first->kind->scale == KIND_INSTANTS;
    const bool has_kind =
        options->field.count > 0 && first->kind && first->kind->scale != KIND_NAMES;
    const struct kind *kind = has_kind ? first->kind : options_default_kind(options);
    struct element bounds; /* the element of bounds, by the column or --decimals */
    element_parse("i64", &bounds);
    bounds.decimals = has_kind ? first->decimals : options->decimals;
    bounds.kind = kind_id_of(kind);
    bounds.zone = is_time && !kind->is_local ? options->zone : NULL;
    struct kind_time_bucket bucket = {.width = 0};
    const bool may_change = options->field.count > 0 && first->is_open && !options->found;
    if (range && !element_read_range(&bounds, range, &options->range_low, &options->range_high)) {
        if (!may_change)
            return options_fail_range(range, &bounds, failure);
        options->is_tentative = true; /* with some range, for the checks of options */
        options->range_low = 0;
        options->range_high = (__int128)1 << 62;
    }
    if (text && bounds.zone && !options->is_saved)
        return status_fail(
            failure, STATUS_USAGE,
            "--width makes equal bins, not days and hours of --tz: a column can have "
            "a width (try uniq -f COLUMN:time/1d)");
    if (text && is_time) {
        if (kind_time_bucket_parse(text, strlen(text), bounds.decimals, &bucket) &&
            bucket.width > 0 && bucket.phase == 0)
            width = bucket.width;
        else if (!decimal_parse_fixed(text, strlen(text), bounds.decimals, &width) || width < 0 ||
                 width > INT64_MAX)
            return options_fail_value(
                "width", text,
                "a time such as 15m, 1h or 1d, or a number of seconds (0.5 "
                "with COLUMN:time.1; weeks, months and years: COLUMN:time/1mo)",
                failure);
    } else if (text && (!element_read(&bounds, text, strlen(text), &width) || width < 0)) {
        if (!may_change)
            return options_fail_value(
                "width", text,
                kind->type            ? kind->value
                : bounds.decimals > 0 ? "a number with no more decimals than --decimals"
                                      : "a number such as 10, 500 or 1Mi, or 0.5 with --decimals 1",
                failure);
        options->is_tentative = true;
        width = 1;
    }
    if (width > UINT64_MAX && !range)
        return status_fail(failure, STATUS_USAGE, "--width %s without --range must be below 2^64",
                           text);
    options->width = width;
    if (text && width == 0) {
        decimal_format_fixed(smallest, 1, bounds.decimals);
        return status_fail(failure, STATUS_USAGE, "--width must be at least %s", smallest);
    }
    if (options->print.output && strcmp(options->print.output, "-") == 0)
        options->print.output = NULL;
    if (options->engine && strcmp(options->engine, "auto") == 0)
        options->engine = NULL;
    options->print.is_terminal = !options->print.output && isatty(STDOUT_FILENO);
    options->print.threads = options->threads;
    options->print.words = options->argv + (options->argc > 0);
    options->print.has_reports = options->every_ns > 0;
    options->print.value_name = options->field.count == 1 ? options->field.list[0].name : NULL;
    options->stalin_sort.purged = options->print.purged != NULL;
    return STATUS_OK;
}

/*
 * Consumes the first operand of reduce if it is a list of reductions; otherwise the default ones
 * are computed. `operand`, and the next one, `file`, are NULL if there is none.
 */
static enum status options_set_reductions(struct options *options, const char *operand,
                                          const char *file, struct failure *failure)
{
    enum reductions_parsed parsed = REDUCTIONS_NO_LIST;
    bool has_bits = !options->has_decimals;
    for (size_t i = 0; i < options->field.count; i++) {
        const struct kind *kind = options->field.list[i].kind;
        has_bits = has_bits && kind_is_number(kind, false);
    }

    if (operand)
        parsed = reductions_parse(operand, &options->reductions);
    if (parsed == REDUCTIONS_TWICE)
        return status_fail(failure, STATUS_USAGE, "duplicate reduction in '%s'", operand);
    if (parsed == REDUCTIONS_TOO_MANY)
        return status_fail(failure, STATUS_USAGE, "too many reductions: at most %d",
                           REDUCTIONS_MAX);
    if (parsed == REDUCTIONS_NO_LIST && operand &&
        options_check_reductions(options, operand, file, failure) != STATUS_OK)
        return failure->status;
    if (parsed == REDUCTIONS_LIST)
        optind++;
    else
        reductions_default(&options->reductions, has_bits ? 0 : REDUCTIONS_NEED_BITS);
    if (!has_bits && options->reductions.needs & REDUCTIONS_NEED_BITS)
        return status_fail(failure, STATUS_USAGE,
                           "and, or and xor require integers, not decimals or timestamps");
    return STATUS_OK;
}

enum status options_parse(struct options *options, int argc, char **argv, bool is_saved,
                          const struct options_found *found, struct failure *failure)
{
    static char *standard_input[] = {"-", NULL};

    *options = (struct options){
        .command = &options_commands[OPERATION_HISTOGRAM],
        .delimiter = TEXT_NO_DELIMITER,
        .comment = -1,
        .is_saved = is_saved,
        .argc = argc,
        .argv = argv,
        .found = found,
    };
    element_parse("i32", &options->element);
    optind = 0; /* getopt begins anew */

    /* The first word may be a command, or "help" before one. */
    const struct options_command *command = argc > 1 ? options_find_command(argv[1]) : NULL;
    const bool is_named = command != NULL;
    options->is_named = is_named;
    if (!is_named && argc > 1 && *argv[1] != '-') {
        if (argc > 2 && strcmp(argv[1], "help") == 0 && options_is_no_file(argv[1]))
            command = options_find_command(argv[2]);
        if (command) {
            options->command = command;
            options->is_named = true;
            options->help = true;
            return STATUS_OK;
        }
        if (options_check_first_word(argv[1], failure) != STATUS_OK)
            return failure->status;
    }
    if (is_named)
        options->command = command;
    argv += is_named;
    argc -= is_named;
    if (options_parse_words(options, argc, argv, failure) != STATUS_OK)
        return failure->status;
    if (options->help && !is_named && optind < argc &&
        (command = options_find_command(argv[optind]))) {
        options->command = command;
        options->is_named = true;
    }
    if (options->help || options->version)
        return STATUS_OK;

    if (options_finish(options, failure) != STATUS_OK)
        return failure->status;
    if (options->command == &options_commands[OPERATION_REDUCE] &&
        options_set_reductions(options, argv[optind], argv[optind] ? argv[optind + 1] : NULL,
                               failure) != STATUS_OK)
        return failure->status;
    options->has_names = argc > optind;
    if (options->has_names && options_check_files(options, argv + optind, failure) != STATUS_OK)
        return failure->status;
    options->names = options->has_names ? argv + optind : standard_input;
    options->name_count = options->has_names ? (size_t)(argc - optind) : 1;
    if (options->command->action == OPTIONS_INFO && options->has_names)
        return status_fail(failure, STATUS_USAGE, "info takes no file: '%s'", argv[optind]);
    return STATUS_OK;
}

void options_destroy(struct options *options)
{
    free(options->predicates);
    if (options->wanted)
        row_scanners[options->row_scanner]->forget(options->wanted);
    while (options->copies) {
        struct options_copy *copy = options->copies;
        options->copies = copy->next;
        free(copy);
    }
    kind_time_zone_destroy(options->zone);
    free(options->words);
    free(options->print.quantiles.percents);
}
