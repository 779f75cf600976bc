/* Implements print_values.h. */
#include "config.h"

#include "result/print_values.h"

#include "aggregate/groups.h"
#include "aggregate/store.h"
#include "lib/decimal.h"
#include "lib/parallel.h"
#include "lib/printable.h"
#include "lib/writer_parts.h"
#include "result/print_order.h"
#include "result/print_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of groups that a thread writes at a time. */
#define PRINT_VALUES_PART ((size_t)256)

/* Minimum number of parts that are worth starting threads. */
#define PRINT_VALUES_PARTS_MIN 4

/* Maximum bytes of strings in a part that one of several threads keeps until it is written. */
#define PRINT_VALUES_STRINGS_MAX ((uint64_t)1 << 20)

/* The values of a finalized aggregate: of each reduction or predicate of the plan. */
struct print_values {
    const struct plan *plan;
    const void *aggregate;
    const struct print_options *options;
    const struct print_format *format;
    struct print_prefixes prefixes;
    const uint64_t *order; /* [groups]: the groups that are printed; NULL: all, ascending */
    bool has_groups;
    size_t first; /* the groups from `first` to `groups` - 1 are printed */
    size_t groups;
    size_t words;     /* number of words of a part's memory */
    uint64_t *memory; /* [parts * words] */
};

size_t print_values_count(const struct plan *plan)
{
    return plan->operation == OPERATION_COUNT ? plan->predicate_count : plan->reductions.count;
}

struct print_column print_values_value(const struct plan *plan, size_t i)
{
    if (plan->operation == OPERATION_COUNT) {
        const struct predicate *predicate = &plan->predicates[i];
        return (struct print_column){
            .words = {predicate->name, predicate->text ? " " : NULL, predicate->text}};
    }
    const struct reduction *reduction = &plan->reductions.list[i];
    return (struct print_column){
        .words = {reduction->name},
        .is_text = kind_rows[plan->element.kind].scale != KIND_NUMBERS &&
                   reductions_gives_value(reduction->id),
    };
}

bool print_column_is(const struct print_column *column, const char *name)
{
    for (size_t i = 0; i < 3 && column->words[i]; name += strlen(column->words[i++])) {
        if (strncmp(name, column->words[i], strlen(column->words[i])) != 0)
            return false;
    }
    return *name == '\0';
}

/* Returns whether value i is that of a repeated predicate, with the same name. */
static bool print_values_is_repeated(const struct plan *plan, size_t i)
{
    const struct print_column value = print_values_value(plan, i);
    bool is_repeated = false;

    for (size_t before = 0; before < i && !is_repeated; before++) {
        const struct print_column other = print_values_value(plan, before);
        is_repeated = strcmp(value.words[0], other.words[0]) == 0 &&
                      (!value.words[2] || strcmp(value.words[2], other.words[2]) == 0);
    }
    return is_repeated;
}

/* The columns of lines of histogram and uniq other than the counts. */
static const char *const print_line_members[] = {
    "value", "low", "high", "percent", "cumulative", "other", "cumulative_percent", "reported"};
#define PRINT_LINE_MEMBERS (sizeof print_line_members / sizeof *print_line_members)

static bool print_is_among(const char *name, const char *const *names, size_t count)
{
    size_t i = 0;

    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i < count;
}

struct print_column print_sums_column(const struct plan *plan)
{
    const char *name = plan_count_name(plan);
    bool is_taken = print_is_among(name, print_line_members, PRINT_LINE_MEMBERS);

    for (size_t i = 0; plan->has_weights && i < plan->group_count; i++)
        is_taken = is_taken || strcmp(plan_group_name(plan, i), name) == 0;
    return (struct print_column){.words = {is_taken ? "sum_" : "", name}, .is_given = true};
}

/* Returns whether another member of the format's objects has that name. */
static bool print_values_has_member(const struct plan *plan, const struct print_format *format,
                                    const char *column, const char *name)
{
    static const char *const objects[] = {"total", "inside", "below",    "above",
                                          "bins",  "other",  "quantiles"};
    const struct print_column sums = print_sums_column(plan);
    const bool has_lines = !format->is_document;

    if (plan->operation != OPERATION_REDUCE && plan->operation != OPERATION_COUNT)
        return has_lines ? print_is_among(name, print_line_members, PRINT_LINE_MEMBERS) ||
                               print_column_is(&sums, name)
                         : print_is_among(name, objects, sizeof objects / sizeof *objects);
    if (has_lines && ((column && strcmp(name, "column") == 0) || strcmp(name, "reported") == 0))
        return true;
    for (size_t i = 0; i < print_values_count(plan); i++) {
        const struct print_column value = print_values_value(plan, i);
        if (print_column_is(&value, name))
            return true;
    }
    return false;
}

/* Returns whether names are equal in json, where bytes that are not UTF-8 become U+FFFD. */
static bool print_names_are_equal(const char *a, const char *b)
{
    uint32_t code;

    while (*a && *b) { /* a NUL ends a character */
        const size_t a_bytes = printable_decode(a, SIZE_MAX, &code);
        const size_t b_bytes = printable_decode(b, SIZE_MAX, &code);
        const char *a_shown = a_bytes > 0 ? a : PRINT_REPLACEMENT;
        const char *b_shown = b_bytes > 0 ? b : PRINT_REPLACEMENT;
        const size_t shown = a_bytes > 0 ? a_bytes : sizeof PRINT_REPLACEMENT - 1;
        if (strncmp(a_shown, b_shown, shown) != 0)
            return false;
        a += a_bytes > 0 ? a_bytes : 1;
        b += b_bytes > 0 ? b_bytes : 1;
    }
    return *a == *b;
}

/* Returns whether two names are equal, with a_count and b_count prefixes "by_". */
static bool print_prefixed_are_equal(const char *a, unsigned a_count, const char *b,
                                     unsigned b_count)
{
    const unsigned count = a_count > b_count ? a_count - b_count : b_count - a_count;
    const char *longer = a_count > b_count ? b : a; /* the name with fewer prefixes */

    for (unsigned i = 0; i < count; i++, longer += 3) {
        if (strncmp(longer, "by_", 3) != 0)
            return false;
    }
    return print_names_are_equal(longer, a_count > b_count ? a : b);
}

void print_find_prefixes(struct print_prefixes *prefixes, const struct plan *plan,
                         const struct print_format *format, const char *column)
{
    /* 0: the sums of weights, which are beside the groups in jsonl, and may begin with by_ */
    const size_t first =
        !format->is_document && plan->has_weights && *print_sums_column(plan).words[0] == '\0' ? 0
                                                                                               : 1;

    for (size_t i = 0; i < plan->group_count; i++) {
        const char *name = plan_group_name(plan, i);
        unsigned count = print_values_has_member(plan, format, column, name);
        for (size_t before = first; before <= i;) {
            const char *other =
                before == 0 ? plan_count_name(plan) : plan_group_name(plan, before - 1);
            if (print_prefixed_are_equal(name, count, other,
                                         before == 0 ? 0 : prefixes->counts[before - 1])) {
                count++;
                before = first;
            } else {
                before++;
            }
        }
        prefixes->counts[i] = count;
    }
}

bool print_text_is_utf8(const char *text, size_t bytes)
{
    uint32_t code;

    for (size_t i = 0, n; i < bytes; i += n) {
        n = printable_decode(text + i, bytes - i, &code);
        if (n == 0)
            return false;
    }
    return true;
}

/* Writes a text without quotes around it. */
static void print_write_pieces(struct writer *writer, const char *text, size_t bytes,
                               const struct print_format *format)
{
    size_t escape = 0;
    size_t used = 0;
    char out[8];

    for (size_t done = 0, next = 0; done < bytes; done = next) {
        for (; next < bytes; next += used) {
            used = 1;
            if (text[next] >= 'a' && text[next] <= 'z') /* most are, and a call takes time */
                continue;
            escape = format->escape(text + next, bytes - next, &used, out);
            if (escape > 0)
                break;
        }
        writer_write(writer, text + done, next - done);
        writer_write(writer, out, next < bytes ? escape : 0);
        next += next < bytes ? used : 0;
    }
}

void print_write_text(struct writer *writer, const char *text, size_t bytes,
                      const struct print_format *format)
{
    bool is_quoted = format->has_names;

    for (size_t i = 0; format->quoted && i < bytes && !is_quoted; i++)
        is_quoted = text[i] != '\0' && strchr(format->quoted, text[i]);
    writer_write(writer, "\"", is_quoted);
    print_write_pieces(writer, text, bytes, format);
    writer_write(writer, "\"", is_quoted);
}

void print_write_name(struct writer *writer, const struct print_column *column,
                      const struct print_format *format)
{
    bool is_quoted = format->has_names;
    size_t used;
    char out[8];

    for (size_t i = 0; i < 3 && column->words[i]; i++) { /* bytes masked by `?` need no quotes */
        for (const char *c = column->words[i]; *c && !is_quoted; c++)
            is_quoted = format->quoted && strchr(format->quoted, *c) && *c != '\r' &&
                        (*c != '\n' || column->is_given);
    }
    writer_write(writer, "\"", is_quoted);
    for (size_t i = 0; i < 3 && column->words[i]; i++) {
        const char *word = column->words[i];
        if (format->has_names)
            print_write_pieces(writer, word, strlen(word), format);
        while (!format->has_names && *word) {
            const bool is_special = strchr("\t\n\\", *word);
            const size_t bytes = is_special && column->is_given ? 1 : printable_bytes(word);
            const size_t escape =
                is_special && !column->is_given ? 0 : format->escape(word, 1, &used, out);
            if (escape > 0)
                writer_write(writer, out, escape);
            else
                writer_write(writer, bytes > 0 ? word : "?", bytes > 0 ? bytes : 1);
            word += bytes > 0 ? bytes : 1;
        }
    }
    writer_write(writer, "\"", is_quoted);
}

struct print_column print_group_column(const struct plan *plan, size_t group)
{
    const struct element *element = &plan->columns[plan_group_column(plan) + group].element;

    return (struct print_column){
        .words = {plan_group_name(plan, group)},
        .is_given = true,
        .is_text = kind_rows[element->kind].scale != KIND_NUMBERS,
    };
}

/* Writes the name of a group column as the name of an object's member, with its colon. */
static void print_write_group_member(struct writer *writer, const struct plan *plan,
                                     const struct print_prefixes *prefixes, size_t group)
{
    const char *name = plan_group_name(plan, group);

    writer_write_text(writer, "\"");
    for (unsigned i = 0; i < prefixes->counts[group]; i++)
        writer_write_text(writer, "by_");
    print_write_pieces(writer, name, strlen(name), &print_json);
    writer_write_text(writer, "\":");
}

void print_write_group(struct writer *writer, const struct groups *groups, const uint64_t *row,
                       const struct print_prefixes *prefixes, const struct print_format *format)
{
    const struct plan *plan = groups->plan;
    char value[ELEMENT_TEXT_SIZE];
    size_t bytes;

    for (size_t i = 0; i < plan->group_count; i++) {
        const struct element *element = &plan->columns[plan_group_column(plan) + i].element;
        if (format->has_names)
            print_write_group_member(writer, plan, prefixes, i);
        if (element_is_string(element)) {
            const char *text = groups_text(groups, row[groups->words[i]], &bytes);
            print_write_text(writer, text, bytes, format);
        } else {
            bytes =
                (format->has_names ? element_write_json
                                   : element_write)(value, element, groups_value(groups, row, i));
            writer_write(writer, value, bytes);
        }
        print_write_word(writer, format, PRINT_WORD_NEXT);
    }
}

/* Returns the columns of named values; if each is a line, a column has their names. */
static struct print_column print_values_column(const struct print_result *result, size_t i)
{
    const struct plan *plan = result->plan;
    const size_t count = print_values_count(plan);
    const bool has_lists = result->format->lists_values && !result->list && count > 1;

    if (result->options->column && i-- == 0)
        return (struct print_column){.words = {"column"}, .is_text = true};
    if (result->list && i < plan->group_count)
        return print_group_column(plan, i);
    i -= result->list ? plan->group_count : 0;
    if (has_lists && i < 2)
        return (struct print_column){.words = {i == 0 ? "name" : "value"}, .is_text = i == 0};
    return has_lists || i >= count ? (struct print_column){.words = {NULL}}
                                   : print_values_value(plan, i);
}

_Static_assert(REDUCE_SIZE >= DECIMAL_SIZE, "any value fits");

bool print_values_has(const struct plan *plan, const struct reduce_values *found, size_t i)
{
    return plan->operation == OPERATION_COUNT ||
           reduce_has(found->row[found->accumulators->count], plan->reductions.list[i].id);
}

/* Writes value i of a group, which it has. */
static void print_values_write(struct writer *writer, const struct print_values *values,
                               const struct reduce_values *found, size_t i)
{
    const struct accumulators *accumulators = found->accumulators;
    const struct plan *plan = values->plan;
    const bool is_text = print_values_value(plan, i).is_text;
    const bool is_quoted = values->format->has_names && is_text;
    char text[REDUCE_SIZE];
    size_t bytes;

    if (is_text && element_is_string(&plan->element)) {
        const char *mode = groups_text(values->aggregate, found->found[i].keys[0], &bytes);
        print_write_text(writer, mode, bytes, values->format);
        return;
    }
    if (plan->operation == OPERATION_COUNT)
        bytes = decimal_write(text,
                              predicate_count(&plan->predicates[i], found->row[accumulators->count],
                                              found->row[accumulators->first + i]));
    else
        bytes = reduce_write(text, accumulators, found->row, found->found, (unsigned)i);
    writer_write(writer, "\"", is_quoted);
    writer_write(writer, text, bytes);
    writer_write(writer, "\"", is_quoted);
}

/*
 * Writes values `first` to `end` - 1 of a group: a line, or the members of the object of a
 * document.
 */
static void print_values_line(struct writer *writer, const struct print_values *values,
                              size_t group, const struct reduce_values *found, size_t first,
                              size_t end)
{
    const struct print_format *format = values->format;
    const struct plan *plan = values->plan;
    const struct print_column column = {.words = {values->options->column}, .is_given = true};
    const bool is_line = !format->is_document || values->has_groups;
    const bool is_list = end - first < print_values_count(plan);

    if (is_line)
        print_write_word(writer, format, group > 0 ? PRINT_WORD_LINE : PRINT_WORD_FIRST);
    if (format->has_names && !format->is_document)
        writer_write_text(writer, print_object_begin(values->options));
    if (values->options->column && !format->is_document) {
        writer_write_text(writer, format->has_names ? "\"column\":" : "");
        print_write_name(writer, &column, format);
        print_write_word(writer, format, PRINT_WORD_NEXT);
    }
    if (values->has_groups)
        print_write_group(writer, values->aggregate, found->group, &values->prefixes, format);
    for (size_t i = first; i < end; i++) {
        const struct print_column value = print_values_value(plan, i);
        if (format->has_names && print_values_is_repeated(plan, i))
            continue;
        if (i > first)
            print_write_word(writer, format, PRINT_WORD_NEXT);
        if (format->has_names || is_list) {
            print_write_name(writer, &value, format);
            writer_write_text(writer,
                              format->has_names ? ":" : format->words[PRINT_WORD_NEXT].text);
        }
        if (print_values_has(plan, found, i))
            print_values_write(writer, values, found, i);
        else if (format->has_names)
            writer_write_text(writer, "null");
    }
    if (is_line)
        print_write_word(writer, format, PRINT_WORD_END);
}

/* Writes groups `first` to `groups` - 1: a line each, or in a list one per value that exists. */
static void print_values_groups(struct writer *writer, const struct print_values *values)
{
    const bool is_list = values->format->lists_values && !values->has_groups;
    const size_t count = print_values_count(values->plan);
    struct reduce_values found;

    for (size_t group = values->first; group < values->groups; group++) {
        store_of(values->plan)
            ->values(&found, values->aggregate, values->order ? values->order[group] : group,
                     values->memory + group / PRINT_VALUES_PART * values->words);
        if (!is_list)
            print_values_line(writer, values, group, &found, 0, count);
        for (size_t i = 0; is_list && i < count; i++) {
            if (print_values_has(values->plan, &found, i))
                print_values_line(writer, values, group, &found, i, i + 1);
        }
    }
}

static void print_values_write_part(const void *context, size_t part, struct writer *writer)
{
    struct print_values values = *(const struct print_values *)context;

    values.first = part * PRINT_VALUES_PART;
    if (values.groups - values.first > PRINT_VALUES_PART)
        values.groups = values.first + PRINT_VALUES_PART;
    print_values_groups(writer, &values);
}

/* Returns whether the strings of any part fit in the memory of a thread. */
static bool print_values_strings_fit(const struct plan *plan)
{
    const uint64_t columns = plan->group_count + 1;
    const uint64_t most = PRINT_VALUES_STRINGS_MAX / PRINT_VALUES_PART / columns;

    return !plan_has_strings(plan) || dictionary_longest(context_of(plan)->dictionary) <= most;
}

/* Writes all groups; several threads do if there are many. */
static void print_values_in_parts(struct writer *writer, const struct print_values *values)
{
    const struct writer_parts parts = {
        .count = (values->groups + PRINT_VALUES_PART - 1) / PRINT_VALUES_PART,
        .write = print_values_write_part,
        .context = values,
    };
    const unsigned threads = parallel_threads(values->options->threads, parts.count, 1);

    if (parts.count < PRINT_VALUES_PARTS_MIN || threads == 1 ||
        !print_values_strings_fit(values->plan) || !writer_parts_write(writer, &parts, threads))
        print_values_groups(writer, values);
}

const struct print_format *print_values_format(const struct print_options *options)
{
    return options->format ? options->format : &print_tsv;
}

enum status print_values(struct writer *writer, const struct plan *plan, const void *aggregate,
                         const struct print_options *options, struct failure *failure)
{
    const struct store *store = store_of(plan);
    struct print_values values = {
        .plan = plan,
        .aggregate = aggregate,
        .options = options,
        .format = print_values_format(options),
        .has_groups = plan->group_count > 0,
        .groups = plan->group_count > 0 ? store->groups(aggregate) : 1,
        .words = store->values_words ? store->values_words(aggregate) : 1,
    };
    const struct print_result result = {
        .options = options,
        .format = values.format,
        .plan = plan,
        .list = values.has_groups ? "groups" : NULL,
        .column = print_values_column,
    };

    struct print_order order = {.groups = NULL};
    if (values.has_groups && (options->sort || options->min_count > 0)) {
        if (print_order_create(&order, options, plan, aggregate, failure) != STATUS_OK)
            return failure->status;
        values.order = order.groups;
        values.groups = order.count;
    }
    values.memory = calloc(values.groups / PRINT_VALUES_PART + 1, values.words * sizeof(uint64_t));
    if (!values.memory) {
        print_order_destroy(&order);
        return status_fail(failure, STATUS_DATA, "not enough memory for printing groups");
    }
    print_find_prefixes(&values.prefixes, plan, values.format, options->column);
    print_begin(writer, &result);
    print_values_in_parts(writer, &values);
    print_end(writer, &result);
    print_order_destroy(&order);
    free(values.memory);
    return STATUS_OK;
}
