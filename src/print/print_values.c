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

void print_values_tsv(struct writer *writer, const struct print_values *values)
{
    for (size_t i = 0; i < values->count; i++) {
        char text[PRINT_VALUE_SIZE];
        size_t length = values->write(values, i, text);
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
    for (size_t i = 0; i < values->count; i++) {
        const char *quote = print_values_is_quoted(values, i) ? "\"" : "";
        print_values_text(writer, i > 0 ? "," : "");
        print_values_text(writer, quote);
        print_values_name(writer, values, i, "\"", "\"");
        print_values_text(writer, quote);
    }
    print_values_text(writer, "\n");
    for (size_t i = 0; i < values->count; i++) {
        char text[PRINT_VALUE_SIZE];
        print_values_text(writer, i > 0 ? "," : "");
        writer_write(writer, text, values->write(values, i, text));
    }
    print_values_text(writer, "\n");
}

void print_values_json(struct writer *writer, const struct print_values *values)
{
    print_values_text(writer, "{\"operation\":\"");
    print_values_text(writer, operations[values->job->operation]->name);
    print_values_text(writer, "\"");
    for (size_t i = 0; i < values->count; i++) {
        char text[PRINT_VALUE_SIZE];
        size_t length = values->write(values, i, text);
        print_values_text(writer, ",\"");
        print_values_name(writer, values, i, "\"\\", "\\");
        print_values_text(writer, "\":");
        writer_write(writer, length > 0 ? text : "null", length > 0 ? length : 4);
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
