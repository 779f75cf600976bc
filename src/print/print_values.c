/* Implements print_values.h. */
#include "config.h"

#include "print/print_values.h"

#include "base/printable.h"
#include "output/writer.h"
#include "partial/operation.h"
#include "print/print_rows.h"

#include <string.h>

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
    for (size_t group = 0; group < values->groups; group++) {
        if (values->write_group)
            print_values_group(writer, values, group, "");
        for (size_t i = 0; i < values->count; i++)
            print_values_value(writer, values, group, i,
                               i > 0 || values->write_group ? separator : "", "");
        print_values_text(writer, "\n");
    }
}

void print_values_tsv(struct writer *writer, const struct print_values *values)
{
    if (values->write_group) {
        print_values_lines(writer, values, "\t");
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
    print_values_lines(writer, values, ",");
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

void print_values_json(struct writer *writer, const struct print_values *values)
{
    print_values_text(writer, "{\"operation\":\"");
    print_values_text(writer, operations[values->operation]->name);
    print_values_text(writer, "\"");
    if (!values->write_group)
        print_values_members(writer, values, 0);
    else
        print_values_text(writer, ",\"groups\":[");
    for (size_t group = 0; values->write_group && group < values->groups; group++) {
        print_values_group(writer, values, group, group > 0 ? ",\n{\"by\":" : "\n{\"by\":");
        print_values_members(writer, values, group);
        print_values_text(writer, "}");
    }
    print_values_text(writer, values->write_group ? "]}\n" : "}\n");
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
