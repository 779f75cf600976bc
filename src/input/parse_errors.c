/* Collects invalid tokens, and reports the first ten of the stream. */
#include "config.h"

#include "input/parse_errors.h"

#include "input/reader.h"
#include "text/row_scanner.h"
#include "text/text.h"
#include "text/text_line.h"
#include "text/text_reason.h"
#include "value/kind_find.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARSE_ERRORS_REPORTED 10

/* The size of a clause on tokens that are numbers. */
#define PARSE_ERRORS_NUMBERS_SIZE 384

/* Room for two strings of which a message shows the beginning. */
#define PARSE_ERRORS_JOINED_SIZE 256

/* Kinds of invalid tokens: enum text_misfit, and numbers that do not fit of no value column. */
#define PARSE_ERRORS_OTHER TEXT_MISFITS
#define PARSE_ERRORS_KINDS (TEXT_MISFITS + 1)

/* An invalid token, as it is reported. */
struct parse_errors_invalid {
    uint64_t position; /* in the stream */
    struct chunk_origin origin;
    unsigned kind;
    char reason[TEXT_REASON_SIZE];
};

struct parse_errors {
    const struct plan *plan;
    enum invalid_policy policy;
    atomic_uint_least64_t values;
    atomic_uint_least64_t kinds[PARSE_ERRORS_KINDS]; /* invalid tokens, unless they end the run */
    atomic_size_t decimals;                          /* the maximum of a number that has too many */
    atomic_uint_least64_t cause; /* the position of the first one, if all input is ignored so far */
    atomic_uint_least64_t missing; /* rows that were left out */

    pthread_mutex_t lock; /* guards what follows */
    uint64_t invalid;
    uint64_t groups;  /* of the invalid values */
    uint64_t weights; /* of the invalid values */
    size_t first_count;
    struct parse_errors_invalid first[PARSE_ERRORS_REPORTED]; /* of the stream, in its order */
};

enum status parse_errors_create(struct parse_errors **errors, const struct plan *plan,
                                enum invalid_policy policy, struct failure *failure)
{
    struct parse_errors *new = calloc(1, sizeof *new);
    if (!new)
        return status_fail(failure, STATUS_DATA, "not enough memory for reading text");

    new->plan = plan;
    new->policy = policy;
    atomic_init(&new->cause, UINT64_MAX);
    pthread_mutex_init(&new->lock, NULL);
    *errors = new;
    return STATUS_OK;
}

void parse_errors_destroy(struct parse_errors *errors)
{
    pthread_mutex_destroy(&errors->lock);
    free(errors);
}

void parse_errors_add_values(struct parse_errors *errors, uint64_t values)
{
    atomic_fetch_add_explicit(&errors->values, values, memory_order_relaxed);
}

void parse_errors_add_missing(struct parse_errors *errors, uint64_t rows)
{
    atomic_fetch_add_explicit(&errors->missing, rows, memory_order_relaxed);
}

uint64_t parse_errors_values(const struct parse_errors *errors)
{
    return atomic_load_explicit(&errors->values, memory_order_relaxed);
}

/*
 * The position of a token in the stream. A missing part at the end of a file gets the position of
 * the byte before it, because the next file begins where this one ends.
 */
static uint64_t parse_errors_position(const struct chunk *chunk, const struct text_token *token)
{
    return chunk->position + token->offset - (token->bytes == 0 && token->offset > 0);
}

/* Where the byte at an offset of a chunk comes from. */
static struct chunk_origin parse_errors_locate(const struct chunk *chunk, size_t offset)
{
    struct chunk_origin origin = chunk->origin;

    origin.line += text_count_lines(chunk->data, offset);
    return origin;
}

static bool parse_errors_is_group(const struct plan *plan, const struct text_token *token)
{
    return token->column >= plan_group_column(plan) && token->column < plan_condition_column(plan);
}

/* Returns whether the result could be of strings: each value is counted, or how many differ. */
static bool parse_errors_takes_strings(const struct plan *plan)
{
    bool has_distinct = false;

    for (unsigned i = 0; i < plan->reductions.count; i++) {
        const enum reduction_id id = plan->reductions.list[i].id;
        if (id != REDUCTION_COUNT && id != REDUCTION_DISTINCT)
            return false;
        has_distinct = has_distinct || id == REDUCTION_DISTINCT;
    }
    return has_distinct || (plan->operation == OPERATION_UNIQ && plan->bin_width == 1 &&
                            plan->range_bins == 0 && !plan->needs_values);
}

/* How many bytes of a text of two are shown. */
static int parse_errors_shown(size_t bytes)
{
    const size_t most = PARSE_ERRORS_JOINED_SIZE / 2 - 2;
    return (int)(bytes < most ? bytes : most);
}

/* Writes how to name the columns that have names by their numbers, and their header. */
static void parse_errors_write_columns(const struct plan *plan, const struct text_rules *rules,
                                       size_t column, char out[TEXT_ADVICE_SIZE / 2])
{
    const size_t capacity = TEXT_ADVICE_SIZE / 2;
    size_t used = 0;
    size_t names = 0;

    for (size_t i = 0; i < plan_column_count(plan); i++)
        names += plan->columns[i].name != NULL;
    if (names <= 1)
        snprintf(out, capacity, "try %s %d --header", plan_column_option(plan, column),
                 (int)text_rules_field(rules, column));
    for (size_t i = 0; names > 1 && i < plan_column_count(plan) && used < capacity; i++) {
        if (plan->columns[i].name)
            used += (size_t)snprintf(out + used, capacity - used, "%s%d for %s",
                                     used == 0 ? "try --header and numbers: " : ", ",
                                     (int)text_rules_field(rules, i), plan->columns[i].name);
    }
}

static struct parse_errors_invalid parse_errors_describe(const struct parse_errors *errors,
                                                         const struct chunk *chunk,
                                                         const struct text_token *token)
{
    const struct plan *plan = errors->plan;
    const size_t column = token->column;
    struct text_rules rules = plan_column_rules(plan, &chunk->rules, column);
    struct parse_errors_invalid invalid = {
        .position = parse_errors_position(chunk, token),
        .origin = parse_errors_locate(chunk, token->offset),
    };
    if (token->half > 0)
        rules.field = text_rules_field(&chunk->rules, token->half);
    char numbers[TEXT_ADVICE_SIZE / 2];
    parse_errors_write_columns(plan, &chunk->rules, column, numbers);
    const bool begins_file =
        chunk->origin.line == 0 && chunk->origin.offset == 0 && chunk->left_out == 0;
    struct text_reading reading = {
        .rules = &rules,
        .is_value = column < plan->value_count,
        .is_group = parse_errors_is_group(plan, token),
        .takes_strings = parse_errors_takes_strings(plan),
        .scanner = row_scanners[plan->row_scanner],
        .format = plan->columns[column].time_format,
        .option = plan_column_option(plan, column),
        .field_name = plan->columns[token->half > 0 ? token->half : column].name,
        .numbers = numbers,
        .condition = column < plan_condition_column(plan)
                         ? NULL
                         : &plan->conditions[column - plan_condition_column(plan)],
        .element = &plan->columns[column].element,
        .data = chunk->data,
        .bytes = chunk->bytes,
        .ends_run = errors->policy == INVALID_ABORT,
        .begins_file = begins_file,
        .begins_run = begins_file && chunk->position == 0,
    };

    if (token->is_joined) { /* the text is not there as one */
        char text[PARSE_ERRORS_JOINED_SIZE];
        const int shown = snprintf(text, sizeof text, "%.*s %.*s", parse_errors_shown(token->bytes),
                                   (const char *)chunk->data + token->offset,
                                   parse_errors_shown(token->second_bytes),
                                   (const char *)chunk->data + token->second_offset);
        const struct text_token joined = {.bytes = (size_t)shown, .column = column};
        reading.data = text;
        reading.bytes = joined.bytes;
        reading.begins_file = reading.begins_run = false;
        text_explain_invalid(&reading, &joined, invalid.reason);
        return invalid;
    }
    text_explain_invalid(&reading, token, invalid.reason);
    return invalid;
}

uint64_t parse_errors_find_line(const struct chunk *chunk, size_t offset)
{
    const struct chunk_origin origin = parse_errors_locate(chunk, offset);
    return reader_find_line(&origin);
}

/* The shown bytes of a value that is not of the kind that was found. */
#define PARSE_ERRORS_FOUND_SHOWN 40

/*
 * Returns whether an invalid token of a column whose kind was found would be read if that were
 * typed. Fills in the failure, which names both kinds that may be meant.
 */
static bool parse_errors_is_of_other_kind(const struct parse_errors *errors,
                                          const struct chunk *chunk, const struct text_token *token,
                                          struct failure *failure)
{
    const struct plan *plan = errors->plan;
    const struct row_scanner *scanner = row_scanners[plan->row_scanner];
    struct text_rules rules = plan_column_rules(plan, &chunk->rules, token->column);
    struct column typed = plan->columns[token->column];
    const struct kind *kind = &kind_rows[typed.element.kind];
    const char *const end = (const char *)chunk->data + chunk->bytes;
    const char *data = (const char *)chunk->data + token->offset;
    struct kind_guesses guesses;
    struct kind_find found = {.values = 0};
    char *decoded = NULL;
    uint64_t key[2];

    if (!typed.is_found || token->fault || token->is_joined || token->bytes == 0 ||
        token->bytes > TEXT_BYTES_MAX)
        return false;
    typed.is_found = rules.is_found = false;
    rules.has_exponents = kind->has_exponents;
    struct kind_text text = {.data = data, .bytes = token->bytes, .guesses = &guesses};
    if (scanner->names_columns && memchr(data, '\\', token->bytes)) {
        text.data = decoded = malloc(token->bytes);
        text.bytes = decoded ? scanner->decode(data, token->bytes, decoded) : 0;
    }
    text.is_cell = scanner->names_columns || rules.field == TEXT_WHOLE_LINE ||
                   text_has_cells(&rules) ||
                   (rules.is_quoted && token->offset > 0 && data[-1] == '"');
    if (!text.is_cell) {
        const char *from = data + token->bytes;
        const char *newline = memchr(from, '\n', (size_t)(end - from));
        const size_t line = (size_t)((newline ? newline : end) - data);
        text.more = text_line_content_end(data, 0, line) - token->bytes;
    }
    const bool is_read =
        text.bytes > 0 &&
        (kind->parse ? kind->parse(&typed, &text, key)
                     : text_read_token(&rules, &typed.element, text.data, text.bytes, key));
    if (is_read)
        kind_find_add(&found, &text);
    free(decoded);
    if (!is_read)
        return false;
    const bool is_time = kind->scale == KIND_INSTANTS;
    const unsigned decimals = is_time && found.fraction > typed.element.decimals
                                  ? found.fraction
                                  : typed.element.decimals;
    char type[KIND_FIND_SIZE];
    char first[KIND_FIND_SIZE];
    char second[KIND_FIND_SIZE];
    snprintf(type, sizeof type, decimals > 0 ? "%s.%u" : "%s", kind->name,
             decimals < KIND_TIME_DIGITS_MAX || !is_time ? decimals : KIND_TIME_DIGITS_MAX);
    kind_find_alternatives(type, first, second);
    const struct chunk_origin origin = parse_errors_locate(chunk, token->offset);
    status_fail_at(failure, parse_errors_position(chunk, token), STATUS_DATA,
                   STATUS_NAME
                   ":%llu: '%.*s' is not written as the first values of '%s', whose type "
                   "was found (try '%s:%s' or '%s:%s')",
                   origin.name, (unsigned long long)reader_find_line(&origin),
                   (int)(token->bytes < PARSE_ERRORS_FOUND_SHOWN ? token->bytes
                                                                 : PARSE_ERRORS_FOUND_SHOWN),
                   data, typed.where, typed.where, first, typed.where, second);
    return true;
}

/* Describes an invalid token if it is the first one of the stream so far, and no value was found.
 */
static void parse_errors_keep_cause(struct parse_errors *errors, const struct chunk *chunk,
                                    const struct text_token *token)
{
    const uint64_t position = parse_errors_position(chunk, token);

    if (parse_errors_values(errors) > 0 ||
        position >= atomic_load_explicit(&errors->cause, memory_order_relaxed))
        return;
    pthread_mutex_lock(&errors->lock);
    if (position < atomic_load_explicit(&errors->cause, memory_order_relaxed)) {
        errors->first[0] = parse_errors_describe(errors, chunk, token);
        errors->first_count = 1;
        atomic_store_explicit(&errors->cause, position, memory_order_relaxed);
    }
    pthread_mutex_unlock(&errors->lock);
}

enum status parse_errors_add_invalid(struct parse_errors *errors, const struct chunk *chunk,
                                     const struct text_token *token, struct failure *failure)
{
    if (parse_errors_is_of_other_kind(errors, chunk, token, failure))
        return failure->status;
    if (errors->policy == INVALID_ABORT) {
        struct parse_errors_invalid invalid = parse_errors_describe(errors, chunk, token);
        return status_fail_at(failure, invalid.position, STATUS_DATA, STATUS_NAME ":%llu: %s",
                              invalid.origin.name,
                              (unsigned long long)reader_find_line(&invalid.origin),
                              invalid.reason);
    }
    const struct text_rules rules = plan_column_rules(errors->plan, &chunk->rules, token->column);
    size_t max = atomic_load_explicit(&errors->decimals, memory_order_relaxed);
    size_t decimals;
    unsigned kind =
        token->fault /* a row, which is not a number, whatever it looks like */
            ? TEXT_MISFIT_NONE
            : text_find_misfit(&rules, &errors->plan->columns[token->column].element,
                               (const char *)chunk->data + token->offset, token->bytes, &decimals);
    const bool has_notation =
        kind == TEXT_MISFIT_FORM && token->column >= plan_condition_column(errors->plan);
    if (token->column >= errors->plan->value_count && kind != TEXT_MISFIT_NONE && !has_notation)
        kind = PARSE_ERRORS_OTHER;
    while (kind == TEXT_MISFIT_DECIMAL && decimals > max &&
           !atomic_compare_exchange_weak(&errors->decimals, &max, decimals))
        continue;
    atomic_fetch_add_explicit(&errors->kinds[kind], 1, memory_order_relaxed);
    if (errors->policy == INVALID_IGNORE) {
        parse_errors_keep_cause(errors, chunk, token);
        return STATUS_OK;
    }

    pthread_mutex_lock(&errors->lock);
    errors->invalid++;
    errors->groups += parse_errors_is_group(errors->plan, token);
    errors->weights +=
        errors->plan->has_weights && token->column == plan_weight_column(errors->plan);
    /* Only one of the first PARSE_ERRORS_REPORTED so far is described: to describe each would take
     * the square of the chunk's length, if it has nothing else. */
    const uint64_t position = parse_errors_position(chunk, token);
    size_t i = errors->first_count;
    while (i > 0 && errors->first[i - 1].position > position)
        i--;
    if (i < PARSE_ERRORS_REPORTED) {
        errors->first_count += errors->first_count < PARSE_ERRORS_REPORTED;
        memmove(errors->first + i + 1, errors->first + i,
                (errors->first_count - i - 1) * sizeof *errors->first);
        errors->first[i] = parse_errors_describe(errors, chunk, token);
        errors->first[i].kind = kind;
    }
    pthread_mutex_unlock(&errors->lock);
    return STATUS_OK;
}

/*
 * Writes how many of `total` tokens are numbers that do not fit, such as ", 3 of them numbers with
 * more than 2 decimals; try --decimals 3", or nothing. kinds[] says how many are of each kind.
 */
static void parse_errors_write_numbers(const struct parse_errors *errors, const uint64_t *kinds,
                                       uint64_t total, char out[PARSE_ERRORS_NUMBERS_SIZE])
{
    const struct plan *plan = errors->plan;
    const size_t decimals = atomic_load_explicit(&errors->decimals, memory_order_relaxed);
    const uint64_t range =
        kinds[TEXT_MISFIT_RANGE] + kinds[TEXT_MISFIT_I64] + kinds[TEXT_MISFIT_U64];
    char with_decimals[32] = "with decimals";
    char out_of_range[32];
    char out_of_buckets[64];
    const struct {
        uint64_t count;
        const char *what;
    } reasons[] = {
        {range, out_of_range},
        {kinds[TEXT_MISFIT_BUCKET], out_of_buckets},
        {kinds[TEXT_MISFIT_DECIMAL], with_decimals},
        {kinds[TEXT_MISFIT_FORM], "in another notation, such as 1e6 or 1,234"},
        {kinds[PARSE_ERRORS_OTHER], plan->has_weights       ? "not allowed as a weight"
                                    : plan->group_count > 0 ? "not allowed as a group"
                                                            : "not allowed in a condition"},
    };
    const size_t count = sizeof reasons / sizeof *reasons;
    uint64_t numbers = 0;
    unsigned several = 0;
    int used = 0;

    if (plan->text.notation == TEXT_FIXED)
        snprintf(with_decimals, sizeof with_decimals, "with more than %u decimal%s",
                 plan->text.decimals, plan->text.decimals == 1 ? "" : "s");
    snprintf(out_of_range, sizeof out_of_range, "out of range for %s", plan->element.name);
    snprintf(out_of_buckets, sizeof out_of_buckets, "in a bucket that starts below the smallest %s",
             plan->element.name);
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        numbers += reasons[i].count;
        several += reasons[i].count > 0;
    }
    if (numbers == 0)
        return;
    if (total == 1)
        used = sprintf(out, ", a number");
    else if (numbers == total)
        used = sprintf(out, ", all of them numbers");
    else
        used = sprintf(out, ", %llu of them %s", (unsigned long long)numbers,
                       numbers == 1 ? "a number" : "numbers");
    if (several > 1)
        used += sprintf(out + used, " that do not fit:");
    for (size_t i = 0, written = 0; i < count; i++) {
        if (reasons[i].count == 0)
            continue;
        if (several > 1)
            used += sprintf(out + used, "%s %llu", written++ > 0 ? "," : "",
                            (unsigned long long)reasons[i].count);
        used += sprintf(out + used, " %s", reasons[i].what);
    }
    const bool has_decimals = kinds[TEXT_MISFIT_DECIMAL] > 0 && decimals <= TEXT_DECIMALS_MAX;
    const bool has_type =
        range > 0 && (range == kinds[TEXT_MISFIT_I64] || range == kinds[TEXT_MISFIT_U64]);
    if (has_decimals)
        used += sprintf(out + used, " (try --decimals %zu%s", decimals, has_type ? "" : ")");
    if (has_type)
        sprintf(out + used, "%s -t %s)", has_decimals ? "" : " (try",
                kinds[TEXT_MISFIT_I64] > 0 ? "i64" : "u64");
}

/* Says that all tokens were ignored, and what the first one was unless they are all numbers. */
static void parse_errors_print_cause(const struct parse_errors *errors, unsigned long long skipped,
                                     const char *numbers)
{
    const struct parse_errors_invalid *first = &errors->first[0];
    const char *ending = skipped == 1 ? "" : "s";

    if (*numbers || errors->first_count == 0)
        status_print("all input was invalid and ignored: %llu value%s%s", skipped, ending, numbers);
    else
        status_print("all input was invalid and ignored: %llu value%s, first " STATUS_NAME
                     ":%llu: %s",
                     skipped, ending, first->origin.name,
                     (unsigned long long)reader_find_line(&first->origin), first->reason);
}

enum status parse_errors_report(const struct parse_errors *errors, bool quiet,
                                struct failure *failure)
{
    unsigned long long more = errors->invalid - errors->first_count;
    const struct plan *plan = errors->plan;
    bool has_kinds =
        row_scanners[plan->row_scanner]->names_columns; /* tokens that are not numbers */
    for (size_t i = 0; i < plan_column_count(plan); i++)
        has_kinds = has_kinds || plan->columns[i].notation > TEXT_OPAQUE;
    const char *kind = has_kinds                              ? "value"
                       : errors->groups == errors->invalid    ? "group"
                       : errors->weights == errors->invalid   ? "weight"
                       : errors->groups + errors->weights > 0 ? "value"
                       : plan->text.notation == TEXT_FIXED    ? "number"
                                                              : "integer";
    uint64_t kinds[PARSE_ERRORS_KINDS];
    char numbers[PARSE_ERRORS_NUMBERS_SIZE];
    unsigned long long skipped = 0;
    const unsigned long long missing = atomic_load_explicit(&errors->missing, memory_order_relaxed);

    if (missing > 0 && !quiet)
        status_print("note: %llu row%s left out", missing,
                     missing == 1 ? " with a missing value" : "s with missing values");
    for (size_t i = 0; i < PARSE_ERRORS_KINDS; i++) {
        kinds[i] = atomic_load_explicit(&errors->kinds[i], memory_order_relaxed);
        skipped += kinds[i];
    }
    if (errors->policy == INVALID_IGNORE) {
        parse_errors_write_numbers(errors, kinds, skipped, numbers);
        /* with conditions, values that are valid may not be counted */
        if (skipped > 0 && parse_errors_values(errors) == 0 && plan->condition_count == 0)
            parse_errors_print_cause(errors, skipped, numbers);
        else if (skipped > 0 && !quiet)
            status_print("note: skipped %llu invalid value%s%s", skipped, skipped == 1 ? "" : "s",
                         *numbers || has_kinds ? numbers
                         : skipped == 1        ? ", not a number"
                                               : ", none of them a number");
        return STATUS_OK;
    }
    for (size_t i = 0; i < errors->first_count; i++) {
        const struct parse_errors_invalid *invalid = &errors->first[i];
        kinds[invalid->kind]--;
        status_print(STATUS_NAME ":%llu: %s", invalid->origin.name,
                     (unsigned long long)reader_find_line(&invalid->origin), invalid->reason);
    }
    parse_errors_write_numbers(errors, kinds, more, numbers);
    if (more > 0)
        status_print("%llu more invalid %ss%s", more, kind, numbers);
    if (errors->invalid == 0 || errors->policy != INVALID_FAIL)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "%llu invalid %s%s in the input",
                       (unsigned long long)errors->invalid, kind, errors->invalid == 1 ? "" : "s");
}
