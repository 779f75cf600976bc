/* Implements print_values.h. */
#include "config.h"

#include "print/print_values.h"

#include "base/decimal.h"
#include "base/parallel.h"
#include "base/printable.h"
#include "output/writer_parts.h"
#include "partial/operation.h"
#include "print/print_rows.h"

#include <stdio.h>
#include <string.h>

/* The minimum number of parts that are worth starting threads. */
#define PRINT_VALUES_PARTS_MIN 16

/* U+FFFD, in json for a byte that is not UTF-8. */
#define PRINT_REPLACEMENT "\xef\xbf\xbd"

/* The number of values of a job. */
static size_t print_values_count(const struct job *job)
{
    return job->operation == OPERATION_COUNT ? job->predicate_count : job->reductions.count;
}

/* The name of value i: a reduction, or a predicate with its argument, which may be NULL. */
static void print_values_words(const struct job *job, size_t i, const char *words[2])
{
    const bool is_count = job->operation == OPERATION_COUNT;

    words[0] = is_count ? job->predicates[i].name : job->reductions.list[i].name;
    words[1] = is_count ? job->predicates[i].text : NULL;
}

/* Whether value i is that of a predicate which has been given before, and has its name. */
static bool print_values_is_repeated(const struct job *job, size_t i)
{
    const struct predicate *of = job->predicates + i;
    bool is_repeated = false;

    for (size_t before = 0; job->operation == OPERATION_COUNT && before < i && !is_repeated;
         before++) {
        const struct predicate *other = &job->predicates[before];
        is_repeated =
            strcmp(of->name, other->name) == 0 && (!of->text || strcmp(of->text, other->text) == 0);
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

const char *print_count_prefix(const struct job *job)
{
    const char *name = job_count_name(job);
    bool is_taken = print_is_among(name, print_line_members, PRINT_LINE_MEMBERS);

    for (size_t i = 0; job->has_weights && i < job->group_count; i++)
        is_taken = is_taken || strcmp(job_group_name(job, i), name) == 0;
    return is_taken ? "sum_" : "";
}

/* Whether a name is that of another member of the objects of a format. */
static bool print_values_has_member(const struct job *job, const struct print_format *format,
                                    const char *column, const char *name)
{
    static const char *const objects[] = {"total", "inside", "below",    "above",
                                          "bins",  "other",  "quantiles"};
    const bool has_lines = format == &print_jsonl;

    if (job->operation != OPERATION_REDUCE && job->operation != OPERATION_COUNT) {
        const char *prefix = print_count_prefix(job);
        const size_t length = strlen(prefix);
        if (!has_lines)
            return print_is_among(name, objects, sizeof objects / sizeof *objects);
        return print_is_among(name, print_line_members, PRINT_LINE_MEMBERS) ||
               (strncmp(name, prefix, length) == 0 &&
                strcmp(name + length, job_count_name(job)) == 0);
    }
    if (has_lines && ((column && strcmp(name, "column") == 0) || strcmp(name, "reported") == 0))
        return true;
    for (size_t i = 0; i < print_values_count(job); i++) {
        const char *words[2];
        print_values_words(job, i, words);
        const size_t length = strlen(words[0]);
        if (strncmp(name, words[0], length) == 0 &&
            (words[1] ? name[length] == ' ' && strcmp(name + length + 1, words[1]) == 0
                      : name[length] == '\0'))
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
        format == &print_jsonl && job->has_weights && *print_count_prefix(job) == '\0' ? 0 : 1;

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

/*
 * What stands in a format for the first character of text[0..bytes), whose length it stores in
 * *used. Returns the length of the escape in `out`; 0: it stands as it is.
 */
static size_t print_escape(const char *text, size_t bytes, char separator, size_t *used,
                           char out[8])
{
    const unsigned char c = (unsigned char)*text;
    uint32_t code;

    *used = 1;
    if (separator == '\t' && (c == '\t' || c == '\n' || c == '\\')) {
        out[0] = '\\';
        out[1] = c == '\t' ? 't' : c == '\n' ? 'n' : '\\';
        return 2;
    }
    if (separator == ',' && c == '"') {
        memcpy(out, "\"\"", 2);
        return 2;
    }
    if (separator != '\0')
        return 0;
    if (c == '"' || c == '\\') {
        out[0] = '\\';
        out[1] = (char)c;
        return 2;
    }
    if (c >= ' ' && c < 0x7f)
        return 0;
    *used = printable_decode(text, bytes, &code);
    if (*used == 0) {
        *used = 1;
        memcpy(out, PRINT_REPLACEMENT, 3);
        return 3;
    }
    return code < 0xa0 ? (size_t)snprintf(out, 8, "\\u%04x", (unsigned)code) : 0;
}

/* Writes a text without quotes around it. */
static void print_write_pieces(struct writer *writer, const char *text, size_t bytes,
                               char separator)
{
    size_t escape = 0;
    size_t used = 0;
    char out[8];

    for (size_t done = 0, next = 0; done < bytes; done = next) {
        while (next < bytes &&
               (escape = print_escape(text + next, bytes - next, separator, &used, out)) == 0)
            next += used;
        writer_write(writer, text + done, next - done);
        writer_write(writer, out, next < bytes ? escape : 0);
        next += next < bytes ? used : 0;
    }
}

void print_write_text(struct writer *writer, const char *text, size_t bytes, char separator)
{
    bool is_quoted = separator == '\0';

    for (size_t i = 0; separator == ',' && i < bytes && !is_quoted; i++)
        is_quoted = memchr(",\"\r\n", text[i], 4) != NULL;
    writer_write(writer, "\"", is_quoted);
    print_write_pieces(writer, text, bytes, separator);
    writer_write(writer, "\"", is_quoted);
}

/*
 * Writes a word of tsv or csv the way messages are written, with `?` for what is not printable; of
 * the name of a column, tabs, newlines and backslashes as those of texts.
 */
static void print_values_word(struct writer *writer, const char *word, char separator,
                              bool is_column)
{
    size_t used;
    char out[8];

    while (*word) {
        const bool is_text = is_column && strchr("\t\n\\", *word);
        const size_t bytes = is_text ? 1 : printable_bytes(word);
        const size_t escape =
            is_text || *word == '"' ? print_escape(word, 1, separator, &used, out) : 0;
        if (escape > 0)
            writer_write(writer, out, escape);
        else
            writer_write(writer, bytes > 0 ? word : "?", bytes > 0 ? bytes : 1);
        word += bytes > 0 ? bytes : 1;
    }
}

void print_values_field(struct writer *writer, const char *name, char separator)
{
    const bool is_quoted = separator == ',' && strpbrk(name, ",\"\n");

    writer_write(writer, "\"", is_quoted);
    print_values_word(writer, name, separator, true);
    writer_write(writer, "\"", is_quoted);
}

void print_write_group_member(struct writer *writer, const struct job *job,
                              const struct print_prefixes *prefixes, size_t group)
{
    const char *name = job_group_name(job, group);

    writer_write_text(writer, "\"");
    for (unsigned i = 0; i < prefixes->counts[group]; i++)
        writer_write_text(writer, "by_");
    print_write_pieces(writer, name, strlen(name), '\0');
    writer_write_text(writer, "\":");
}

/* Writes the name of value i, its words separated by a blank, in a format. */
static void print_values_name(struct writer *writer, const struct job *job, size_t i,
                              char separator)
{
    const char *words[2];

    print_values_words(job, i, words);
    const bool is_quoted =
        separator == '\0' || (separator == ',' && words[1] && strpbrk(words[1], ",\""));
    writer_write(writer, "\"", is_quoted);
    for (size_t word = 0; word < 2 && words[word]; word++) {
        writer_write(writer, " ", word);
        if (separator == '\0')
            print_write_pieces(writer, words[word], strlen(words[word]), separator);
        else
            print_values_word(writer, words[word], separator, false);
    }
    writer_write(writer, "\"", is_quoted);
}

_Static_assert(REDUCE_SIZE >= DECIMAL_SIZE, "any value fits");

/*
 * Writes value i of a group, a number of json or a time, without a NUL. Returns its length; 0:
 * there is no value.
 */
static size_t print_values_write(const struct job *job, const struct print_found *found, size_t i,
                                 char out[REDUCE_SIZE])
{
    const struct accumulators *accumulators = found->accumulators;
    const uint64_t count = found->row[accumulators->count];

    if (job->operation == OPERATION_COUNT)
        return decimal_write(out, predicate_count(&job->predicates[i], count,
                                                  found->row[accumulators->first + i]));
    if (!reduce_has(count, job->reductions.list[i].id))
        return 0;
    return reduce_write(out, accumulators, found->row, found->found, (unsigned)i);
}

/*
 * Writes groups first to groups - 1: lines; of json members, or objects after a comma but the
 * first; of jsonl an object a line.
 */
static void print_values_groups(struct writer *writer, const struct print_values *values)
{
    const bool is_json = values->separator == '\0';
    const bool has_objects = is_json && (values->has_lines || values->write_group);
    const char *separator = is_json ? "," : &values->separator;
    struct print_found found;
    char text[REDUCE_SIZE];

    for (size_t group = values->first; group < values->groups; group++) {
        values->find(values, group, &found);
        if (has_objects)
            writer_write_text(writer, values->has_lines ? values->object
                                      : group > 0       ? ",\n{"
                                                        : "\n{");
        if (values->column && !is_json) {
            print_values_field(writer, values->column, values->separator);
            writer_write(writer, separator, 1);
        } else if (values->column && values->has_lines) {
            writer_write_text(writer, "\"column\":");
            print_write_text(writer, values->column, strlen(values->column), '\0');
            writer_write(writer, separator, 1);
        }
        if (values->write_group)
            values->write_group(values, &found, writer);
        for (size_t i = 0; i < print_values_count(values->job); i++) {
            if (is_json && print_values_is_repeated(values->job, i))
                continue;
            writer_write(writer, separator, i > 0);
            if (is_json) {
                print_values_name(writer, values->job, i, '\0');
                writer_write_text(writer, ":");
            }
            const size_t length = print_values_write(values->job, &found, i, text);
            const bool is_time = is_json && memchr(text, ':', length); /* a string */
            writer_write(writer, "\"", is_time);
            writer_write(writer, text, length);
            writer_write(writer, "\"", is_time);
            if (is_json && length == 0)
                writer_write_text(writer, "null");
        }
        writer_write(writer, "}", has_objects);
        writer_write(writer, "\n", !is_json || values->has_lines);
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
static void print_values_in_parts(struct writer *writer, const struct print_options *options,
                                  const struct print_values *values)
{
    const struct writer_parts parts = {
        .count = (values->groups + PRINT_VALUES_PART - 1) / PRINT_VALUES_PART,
        .write = print_values_write_part,
        .context = values,
    };
    const unsigned threads = parallel_threads(options->threads, parts.count, 1);

    /* A part of texts may take any memory. */
    if (parts.count < PRINT_VALUES_PARTS_MIN || threads == 1 || job_has_texts(values->job) ||
        !writer_parts_write(writer, &parts, threads))
        print_values_groups(writer, values);
}

/* The names of all values, in csv in quotes if they have commas or quotes. */
static void print_values_header(struct writer *writer, const struct print_values *values)
{
    const char separator[] = {values->separator, '\0'};

    writer_write_text(writer, values->column ? "column" : "");
    writer_write_text(writer, values->column ? separator : "");
    for (size_t i = 0; values->write_group && i < values->job->group_count; i++) {
        print_values_field(writer, job_group_name(values->job, i), values->separator);
        writer_write_text(writer, separator);
    }
    for (size_t i = 0; i < print_values_count(values->job); i++) {
        writer_write_text(writer, i > 0 ? separator : "");
        print_values_name(writer, values->job, i, values->separator);
    }
    writer_write_text(writer, "\n");
}

void print_values(struct writer *writer, const struct print_options *options,
                  const struct print_values *values)
{
    const struct print_format *format = options->format ? options->format : &print_tsv;
    struct print_values all = *values;

    const bool has_header =
        (format == &print_csv || options->header_out) && !options->is_next_column;

    all.separator = format == &print_jsonl ? '\0' : format->separator;
    all.column = options->column;
    all.object = print_object_begin(options);
    all.has_lines = format == &print_jsonl;
    print_find_prefixes(&all.prefixes, all.job, format, all.column);
    if (format == &print_tsv && !all.write_group) {
        if (has_header && print_values_count(all.job) == 1)
            print_values_header(writer, &all);
        else if (has_header)
            writer_write_text(writer, all.column ? "column\tname\tvalue\n" : "name\tvalue\n");
        /* A line for each value that exists: its name, unless it is the only one, and the value. */
        struct print_found found;
        values->find(values, 0, &found);
        for (size_t i = 0; i < print_values_count(all.job); i++) {
            char text[REDUCE_SIZE];
            const size_t length = print_values_write(all.job, &found, i, text);
            if (length > 0 && all.column) {
                print_values_field(writer, all.column, '\t');
                writer_write_text(writer, "\t");
            }
            if (length > 0 && print_values_count(all.job) > 1) {
                print_values_name(writer, all.job, i, '\t');
                writer_write_text(writer, "\t");
            }
            writer_write(writer, text, length);
            writer_write(writer, "\n", length > 0);
        }
        return;
    }
    if (all.separator != '\0' && has_header) {
        print_values_header(writer, &all);
    } else if (format == &print_json) {
        writer_write_text(writer, options->is_next_column ? "," : "");
        const char *name = all.column ? all.column : job_operation_names[all.job->operation];
        writer_write_text(writer, all.column ? "{" : all.object);
        writer_write_text(writer, all.column ? "\"column\":" : "\"operation\":");
        print_write_text(writer, name, strlen(name), '\0');
        writer_write_text(writer, all.write_group ? ",\"groups\":[" : ",");
    }
    print_values_in_parts(writer, options, &all);
    if (format == &print_json)
        writer_write_text(writer, all.write_group ? "]}\n" : "}\n");
}

enum status print_check_values(const struct print_options *options, const char *operation,
                               struct failure *failure)
{
    if (!options->format || options->format->has_values)
        return STATUS_OK;
    return status_fail(failure, STATUS_USAGE,
                       "--format %s does not go with %s: tsv, csv, json or jsonl",
                       options->format->name, operation);
}
