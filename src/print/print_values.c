/* Implements print_values.h. */
#include "config.h"

#include "print/print_values.h"

#include "base/parallel.h"
#include "base/printable.h"
#include "output/writer_parts.h"
#include "partial/operation.h"
#include "print/print_rows.h"

#include <string.h>

/* The least parts that are worth starting threads. */
#define PRINT_VALUES_PARTS_MIN 16

/* Room for a value, and for what stands around it and its name. */
#define PRINT_VALUES_EXTRA (PRINT_VALUE_SIZE + 16)

static void print_values_text(struct writer *writer, const char *text)
{
    writer_write(writer, text, strlen(text));
}

/* Writes a word the way messages are written; `escape` before each quote and backslash in quoted.
 */
static void print_values_word(struct writer *writer, const char *word, const char *quoted,
                              const char *escape)
{
    while (*word) {
        size_t bytes = printable_bytes(word);
        if (strchr(quoted, *word))
            print_values_text(writer, escape);
        writer_write(writer, bytes > 0 ? word : "?", bytes > 0 ? bytes : 1);
        word += bytes > 0 ? bytes : 1;
    }
}

/* Writes the name of value i, its words separated by a blank. */
static void print_values_name(struct writer *writer, const struct print_values *values, size_t i,
                              const char *quoted, const char *escape)
{
    const char *words[2] = {NULL, NULL};

    values->name(values, i, words);
    print_values_word(writer, words[0], quoted, escape);
    if (words[1]) {
        print_values_text(writer, " ");
        print_values_word(writer, words[1], quoted, escape);
    }
}

/* Writes the value of a group, after `before`. */
static void print_values_group(struct writer *writer, const struct print_values *values,
                               size_t group, const char *before)
{
    char text[PRINT_VALUE_SIZE];

    print_values_text(writer, before);
    writer_write(writer, text, values->write_group(values, group, text));
}

/* Writes value i of a group, after `before`; `missing` if there is none. */
static void print_values_value(struct writer *writer, const struct print_values *values,
                               size_t group, size_t i, const char *before, const char *missing)
{
    char text[PRINT_VALUE_SIZE];
    size_t length = values->write(values, group, i, text);

    print_values_text(writer, before);
    if (length > 0)
        writer_write(writer, text, length);
    else
        print_values_text(writer, missing);
}

/* A line for each group, whose parts are separated by `separator`. */
static void print_values_lines(struct writer *writer, const struct print_values *values,
                               const char *separator)
{
    for (size_t group = values->first; group < values->groups; group++) {
        if (values->write_group)
            print_values_group(writer, values, group, "");
        for (size_t i = 0; i < values->count; i++)
            print_values_value(writer, values, group, i,
                               i > 0 || values->write_group ? separator : "", "");
        print_values_text(writer, "\n");
    }
}

static void print_values_lines_tsv(struct writer *writer, const struct print_values *values)
{
    print_values_lines(writer, values, "\t");
}

static void print_values_lines_csv(struct writer *writer, const struct print_values *values)
{
    print_values_lines(writer, values, ",");
}

/* The groups of a part, and what writes them. */
struct print_values_parts {
    const struct print_values *values;
    void (*write)(struct writer *writer, const struct print_values *part);
};

static void print_values_write_part(const void *context, size_t part, struct writer *writer)
{
    const struct print_values_parts *parts = context;
    struct print_values values = *parts->values;

    values.first = part * PRINT_VALUES_PART;
    if (values.groups - values.first > PRINT_VALUES_PART)
        values.groups = values.first + PRINT_VALUES_PART;
    parts->write(writer, &values);
}

/* The most bytes of a group in any format. */
static size_t print_values_group_bytes(const struct print_values *values)
{
    size_t bytes = PRINT_VALUES_EXTRA;

    for (size_t i = 0; i < values->count; i++) {
        const char *words[2] = {NULL, NULL};
        values->name(values, i, words);
        bytes += PRINT_VALUES_EXTRA + 2 * (strlen(words[0]) + (words[1] ? strlen(words[1]) : 0));
    }
    return bytes;
}

/* Writes all groups; several threads do if there are many. */
static void print_values_groups(struct writer *writer, const struct print_values *values,
                                void (*write)(struct writer *writer,
                                              const struct print_values *part))
{
    const struct print_values_parts context = {.values = values, .write = write};
    const struct writer_parts parts = {
        .count = (values->groups + PRINT_VALUES_PART - 1) / PRINT_VALUES_PART,
        .part_bytes = PRINT_VALUES_PART * print_values_group_bytes(values),
        .write = print_values_write_part,
        .context = &context,
    };
    const unsigned threads = parallel_threads(values->threads, parts.count, 1);

    if (parts.count < PRINT_VALUES_PARTS_MIN || threads == 1 ||
        !writer_parts_write(writer, &parts, threads))
        write(writer, values);
}

void print_values_tsv(struct writer *writer, const struct print_values *values)
{
    if (values->write_group) {
        print_values_groups(writer, values, print_values_lines_tsv);
        return;
    }
    for (size_t i = 0; i < values->count; i++) {
        char text[PRINT_VALUE_SIZE];
        size_t length = values->write(values, 0, i, text);
        if (length == 0)
            continue;
        if (values->count > 1) {
            print_values_name(writer, values, i, "", "");
            print_values_text(writer, "\t");
        }
        writer_write(writer, text, length);
        print_values_text(writer, "\n");
    }
}

/* Whether the name of value i must be in quotes in csv. */
static bool print_values_is_quoted(const struct print_values *values, size_t i)
{
    const char *words[2] = {NULL, NULL};

    values->name(values, i, words);
    return words[1] && strpbrk(words[1], ",\"");
}

void print_values_csv(struct writer *writer, const struct print_values *values)
{
    print_values_text(writer, values->write_group ? "by," : "");
    for (size_t i = 0; i < values->count; i++) {
        const char *quote = print_values_is_quoted(values, i) ? "\"" : "";
        print_values_text(writer, i > 0 ? "," : "");
        print_values_text(writer, quote);
        print_values_name(writer, values, i, "\"", "\"");
        print_values_text(writer, quote);
    }
    print_values_text(writer, "\n");
    print_values_groups(writer, values, print_values_lines_csv);
}

/* The members of a group's object, each after a comma. */
static void print_values_members(struct writer *writer, const struct print_values *values,
                                 size_t group)
{
    for (size_t i = 0; i < values->count; i++) {
        print_values_text(writer, ",\"");
        print_values_name(writer, values, i, "\"\\", "\\");
        print_values_value(writer, values, group, i, "\":", "null");
    }
}

/* The object of each group, but for the first of all after a comma. */
static void print_values_objects(struct writer *writer, const struct print_values *values)
{
    for (size_t group = values->first; group < values->groups; group++) {
        print_values_group(writer, values, group, group > 0 ? ",\n{\"by\":" : "\n{\"by\":");
        print_values_members(writer, values, group);
        print_values_text(writer, "}");
    }
}

void print_values_json(struct writer *writer, const struct print_values *values)
{
    print_values_text(writer, "{\"operation\":\"");
    print_values_text(writer, operations[values->operation]->name);
    print_values_text(writer, "\"");
    if (values->write_group) {
        print_values_text(writer, ",\"groups\":[");
        print_values_groups(writer, values, print_values_objects);
        print_values_text(writer, "]");
    } else {
        print_values_members(writer, values, 0);
    }
    print_values_text(writer, "}\n");
}

void print_values(struct writer *writer, const struct print_options *options,
                  const struct print_values *values)
{
    const struct print_format *format = options->format ? options->format : &print_tsv;

    format->values(writer, values);
}

enum status print_check_values(const struct print_options *options, const char *operation,
                               struct failure *failure)
{
    if (!options->format || options->format->values)
        return STATUS_OK;
    return status_fail(failure, STATUS_USAGE, "--format %s does not go with %s: tsv, csv or json",
                       options->format->name, operation);
}
