/* Implements print_values.h. */
#include "config.h"

#include "print/print_values.h"

#include "base/decimal.h"
#include "base/parallel.h"
#include "base/printable.h"
#include "count/groups.h"
#include "output/writer_parts.h"
#include "partial/store.h"
#include "print/print_order.h"
#include "print/print_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Groups that a thread writes at a time: those of equal group / PRINT_VALUES_PART. */
#define PRINT_VALUES_PART ((size_t)2048)

/* The minimum number of parts that are worth starting threads. */
#define PRINT_VALUES_PARTS_MIN 16

/* The values of a finalized partial: of each reduction or predicate of the job. */
struct print_values {
    const struct job *job;
    const void *partial;
    const struct print_options *options;
    const struct print_format *format;
    struct print_prefixes prefixes;
    const uint64_t *order; /* [groups]: the groups that are printed; NULL: all, ascending */
    bool has_groups;
    size_t first; /* groups first to groups - 1 are printed */
    size_t groups;
    size_t words;     /* of the memory of a part, */
    uint64_t *memory; /* [parts * words] */
};

size_t print_values_count(const struct job *job)
{
    return job->operation == OPERATION_COUNT ? job->predicate_count : job->reductions.count;
}

struct print_column print_values_value(const struct job *job, size_t i)
{
    if (job->operation == OPERATION_COUNT) {
        const struct predicate *predicate = &job->predicates[i];
        return (struct print_column){
            .words = {predicate->name, predicate->text ? " " : NULL, predicate->text}};
    }
    const struct reduction *reduction = &job->reductions.list[i];
    const enum reduction_id id = reduction->id;
    return (struct print_column){
        .words = {reduction->name},
        .is_text = (kind_rows[job->element.kind].scale == KIND_INSTANTS &&
                    (id == REDUCTION_MIN || id == REDUCTION_MAX || id == REDUCTION_MEAN ||
                     (id > REDUCTION_DISTINCT && id != REDUCTION_IQR))) || /* is one of them */
                   (element_is_name(&job->element) && id == REDUCTION_MODE),
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

/* Whether value i is that of a predicate which has been given before, and has its name. */
static bool print_values_is_repeated(const struct job *job, size_t i)
{
    const struct print_column value = print_values_value(job, i);
    bool is_repeated = false;

    for (size_t before = 0; before < i && !is_repeated; before++) {
        const struct print_column other = print_values_value(job, before);
        is_repeated = strcmp(value.words[0], other.words[0]) == 0 &&
                      (!value.words[2] || strcmp(value.words[2], other.words[2]) == 0);
    }
    return is_repeated;
}

/* The columns of lines of histogram and uniq beside the counts. */
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

struct print_column print_sums_column(const struct job *job)
{
    const char *name = job_count_name(job);
    bool is_taken = print_is_among(name, print_line_members, PRINT_LINE_MEMBERS);

    for (size_t i = 0; job->has_weights && i < job->group_count; i++)
        is_taken = is_taken || strcmp(job_group_name(job, i), name) == 0;
    return (struct print_column){.words = {is_taken ? "sum_" : "", name}, .is_given = true};
}

/* Whether a name is that of another member of the objects of a format. */
static bool print_values_has_member(const struct job *job, const struct print_format *format,
                                    const char *column, const char *name)
{
    static const char *const objects[] = {"total", "inside", "below",    "above",
                                          "bins",  "other",  "quantiles"};
    const struct print_column sums = print_sums_column(job);
    const bool has_lines = !format->is_document;

    if (job->operation != OPERATION_REDUCE && job->operation != OPERATION_COUNT)
        return has_lines ? print_is_among(name, print_line_members, PRINT_LINE_MEMBERS) ||
                               print_column_is(&sums, name)
                         : print_is_among(name, objects, sizeof objects / sizeof *objects);
    if (has_lines && ((column && strcmp(name, "column") == 0) || strcmp(name, "reported") == 0))
        return true;
    for (size_t i = 0; i < print_values_count(job); i++) {
        const struct print_column value = print_values_value(job, i);
        if (print_column_is(&value, name))
            return true;
    }
    return false;
}

/* Whether names are the same in json, where bytes that are not UTF-8 are U+FFFD. */
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

/* Whether two names are equal, each with "by_" so many times in front. */
static bool print_prefixed_are_equal(const char *a, unsigned a_count, const char *b,
                                     unsigned b_count)
{
    const unsigned count = a_count > b_count ? a_count - b_count : b_count - a_count;
    const char *longer = a_count > b_count ? b : a; /* without what the other has in front */

    for (unsigned i = 0; i < count; i++, longer += 3) {
        if (strncmp(longer, "by_", 3) != 0)
            return false;
    }
    return print_names_are_equal(longer, a_count > b_count ? a : b);
}

void print_find_prefixes(struct print_prefixes *prefixes, const struct job *job,
                         const struct print_format *format, const char *column)
{
    /* 0: the sums of weights, which stand beside the groups in jsonl, and may begin with by_ */
    const size_t first =
        !format->is_document && job->has_weights && *print_sums_column(job).words[0] == '\0' ? 0
                                                                                             : 1;

    for (size_t i = 0; i < job->group_count; i++) {
        const char *name = job_group_name(job, i);
        unsigned count = print_values_has_member(job, format, column, name);
        for (size_t before = first; before <= i;) {
            const char *other = before == 0 ? job_count_name(job) : job_group_name(job, before - 1);
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

    for (size_t i = 0; i < 3 && column->words[i]; i++) { /* what becomes `?` needs no quotes */
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

struct print_column print_group_column(const struct job *job, size_t group)
{
    const struct element *element = &job->columns[job_group_column(job) + group].element;

    return (struct print_column){
        .words = {job_group_name(job, group)},
        .is_given = true,
        .is_text = kind_rows[element->kind].scale != KIND_NUMBERS,
    };
}

/* Writes the name of a column of groups as that of a member of an object, with its colon. */
static void print_write_group_member(struct writer *writer, const struct job *job,
                                     const struct print_prefixes *prefixes, size_t group)
{
    const char *name = job_group_name(job, group);

    writer_write_text(writer, "\"");
    for (unsigned i = 0; i < prefixes->counts[group]; i++)
        writer_write_text(writer, "by_");
    print_write_pieces(writer, name, strlen(name), &print_json);
    writer_write_text(writer, "\":");
}

void print_write_group(struct writer *writer, const struct groups *groups, const uint64_t *row,
                       const struct print_prefixes *prefixes, const struct print_format *format)
{
    const struct job *job = groups->job;
    char value[ELEMENT_TEXT_SIZE];
    size_t bytes;

    for (size_t i = 0; i < job->group_count; i++) {
        const struct element *element = &job->columns[job_group_column(job) + i].element;
        if (format->has_names)
            print_write_group_member(writer, job, prefixes, i);
        if (element_is_text(element)) {
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

/* The columns of named values; of those that are a line each, with their names. */
static struct print_column print_values_column(const struct print_result *result, size_t i)
{
    const struct job *job = result->job;
    const size_t count = print_values_count(job);
    const bool has_lists = result->format->lists_values && !result->list && count > 1;

    if (result->options->column && i-- == 0)
        return (struct print_column){.words = {"column"}, .is_text = true};
    if (result->list && i < job->group_count)
        return print_group_column(job, i);
    i -= result->list ? job->group_count : 0;
    if (has_lists && i < 2)
        return (struct print_column){.words = {i == 0 ? "name" : "value"}, .is_text = i == 0};
    return has_lists || i >= count ? (struct print_column){.words = {NULL}}
                                   : print_values_value(job, i);
}

_Static_assert(REDUCE_SIZE >= DECIMAL_SIZE, "any value fits");

bool print_values_has(const struct job *job, const struct reduce_values *found, size_t i)
{
    return job->operation == OPERATION_COUNT ||
           reduce_has(found->row[found->accumulators->count], job->reductions.list[i].id);
}

/* Writes value i of a group, which it has. */
static void print_values_write(struct writer *writer, const struct print_values *values,
                               const struct reduce_values *found, size_t i)
{
    const struct accumulators *accumulators = found->accumulators;
    const struct job *job = values->job;
    const bool is_text = print_values_value(job, i).is_text;
    const bool is_quoted = values->format->has_names && is_text;
    char text[REDUCE_SIZE];
    size_t bytes;

    if (is_text && element_is_text(&job->element)) {
        const char *mode = groups_text(values->partial, found->found[i].keys[0], &bytes);
        print_write_text(writer, mode, bytes, values->format);
        return;
    }
    if (job->operation == OPERATION_COUNT)
        bytes = decimal_write(text,
                              predicate_count(&job->predicates[i], found->row[accumulators->count],
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
    const struct job *job = values->job;
    const struct print_column column = {.words = {values->options->column}, .is_given = true};
    const bool is_line = !format->is_document || values->has_groups;
    const bool is_list = end - first < print_values_count(job);

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
        print_write_group(writer, values->partial, found->group, &values->prefixes, format);
    for (size_t i = first; i < end; i++) {
        const struct print_column value = print_values_value(job, i);
        if (format->has_names && print_values_is_repeated(job, i))
            continue;
        if (i > first)
            print_write_word(writer, format, PRINT_WORD_NEXT);
        if (format->has_names || is_list) {
            print_write_name(writer, &value, format);
            writer_write_text(writer,
                              format->has_names ? ":" : format->words[PRINT_WORD_NEXT].text);
        }
        if (print_values_has(job, found, i))
            print_values_write(writer, values, found, i);
        else if (format->has_names)
            writer_write_text(writer, "null");
    }
    if (is_line)
        print_write_word(writer, format, PRINT_WORD_END);
}

/* Writes groups first to groups - 1: a line each, or in a list one for each value that exists. */
static void print_values_groups(struct writer *writer, const struct print_values *values)
{
    const bool is_list = values->format->lists_values && !values->has_groups;
    const size_t count = print_values_count(values->job);
    struct reduce_values found;

    for (size_t group = values->first; group < values->groups; group++) {
        store_of(values->job)
            ->values(&found, values->partial, values->order ? values->order[group] : group,
                     values->memory + group / PRINT_VALUES_PART * values->words);
        if (!is_list)
            print_values_line(writer, values, group, &found, 0, count);
        for (size_t i = 0; is_list && i < count; i++) {
            if (print_values_has(values->job, &found, i))
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

/* Writes all groups; several threads do if there are many. */
static void print_values_in_parts(struct writer *writer, const struct print_values *values)
{
    const struct writer_parts parts = {
        .count = (values->groups + PRINT_VALUES_PART - 1) / PRINT_VALUES_PART,
        .write = print_values_write_part,
        .context = values,
    };
    const unsigned threads = parallel_threads(values->options->threads, parts.count, 1);

    /* A part of texts may take any memory. */
    if (parts.count < PRINT_VALUES_PARTS_MIN || threads == 1 || job_has_texts(values->job) ||
        !writer_parts_write(writer, &parts, threads))
        print_values_groups(writer, values);
}

const struct print_format *print_values_format(const struct print_options *options)
{
    return options->format ? options->format : &print_tsv;
}

enum status print_values(struct writer *writer, const struct job *job, const void *partial,
                         const struct print_options *options, struct failure *failure)
{
    const struct store *store = store_of(job);
    struct print_values values = {
        .job = job,
        .partial = partial,
        .options = options,
        .format = print_values_format(options),
        .has_groups = job->group_count > 0,
        .groups = job->group_count > 0 ? store->groups(partial) : 1,
        .words = store->values_words ? store->values_words(partial) : 1,
    };
    const struct print_result result = {
        .options = options,
        .format = values.format,
        .job = job,
        .list = values.has_groups ? "groups" : NULL,
        .column = print_values_column,
    };

    struct print_order order = {.groups = NULL};
    if (values.has_groups && (options->sort || options->min_count > 0)) {
        if (print_order_create(&order, options, job, partial, failure) != STATUS_OK)
            return failure->status;
        values.order = order.groups;
        values.groups = order.count;
    }
    values.memory = calloc(values.groups / PRINT_VALUES_PART + 1, values.words * sizeof(uint64_t));
    if (!values.memory) {
        print_order_destroy(&order);
        return status_fail(failure, STATUS_DATA, "no memory for printing groups");
    }
    print_find_prefixes(&values.prefixes, job, values.format, options->column);
    print_begin(writer, &result);
    print_values_in_parts(writer, &values);
    print_end(writer, &result);
    print_order_destroy(&order);
    free(values.memory);
    return STATUS_OK;
}
