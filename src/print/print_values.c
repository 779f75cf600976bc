/* Implements print_values.h. */
#include "config.h"

#include "print/print_values.h"

#include "base/parallel.h"
#include "base/printable.h"
#include "output/writer_parts.h"
#include "partial/operation.h"
#include "print/print_rows.h"

#include <string.h>

/* The minimum number of parts that are worth starting threads. */
#define PRINT_VALUES_PARTS_MIN 16

/* The size of a value, and of the text around it and its name. */
#define PRINT_VALUES_EXTRA (PRINT_VALUE_SIZE + 16)

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

/*
 * Writes the name of value i the way messages are written, its words separated by a blank; `escape`
 * before each character that is in `quoted`.
 */
static void print_values_name(struct writer *writer, const struct job *job, size_t i,
                              const char *quoted, const char *escape)
{
    const char *words[2];

    print_values_words(job, i, words);
    for (size_t k = 0; k < 2 && words[k]; k++) {
        writer_write_text(writer, k > 0 ? " " : "");
        for (const char *c = words[k]; *c;) {
            const size_t bytes = printable_bytes(c);
            if (strchr(quoted, *c))
                writer_write_text(writer, escape);
            writer_write(writer, bytes > 0 ? c : "?", bytes > 0 ? bytes : 1);
            c += bytes > 0 ? bytes : 1;
        }
    }
}

/*
 * Writes groups first to groups - 1: lines; of json members, or objects after a comma but the
 * first.
 */
static void print_values_groups(struct writer *writer, const struct print_values *values)
{
    const bool is_json = values->separator == '\0';
    const size_t count = print_values_count(values->job);
    char text[PRINT_VALUE_SIZE];

    for (size_t group = values->first; group < values->groups; group++) {
        if (values->write_group) {
            writer_write_text(writer, !is_json ? "" : group > 0 ? ",\n{\"by\":" : "\n{\"by\":");
            writer_write(writer, text, values->write_group(values, group, text));
        }
        for (size_t i = 0; i < count; i++) {
            if (is_json) {
                writer_write_text(writer, ",\"");
                print_values_name(writer, values->job, i, "\"\\", "\\");
                writer_write_text(writer, "\":");
            } else if (i > 0 || values->write_group) {
                writer_write(writer, &values->separator, 1);
            }
            const size_t length = values->write(values, group, i, text);
            writer_write(writer, text, length);
            if (is_json && length == 0)
                writer_write_text(writer, "null");
        }
        writer_write_text(writer, !is_json ? "\n" : values->write_group ? "}" : "");
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

void print_values(struct writer *writer, const struct print_options *options,
                  const struct print_values *values)
{
    const struct print_format *format = options->format ? options->format : &print_tsv;
    const struct job *job = values->job;
    const size_t count = print_values_count(job);
    const bool has_groups = values->write_group != NULL;
    struct print_values all = *values;
    size_t group_bytes = PRINT_VALUES_EXTRA; /* at most, in any format */
    char text[PRINT_VALUE_SIZE];

    /* A line for each value that exists: its name, unless it is the only one, and the value. */
    for (size_t i = 0; format == &print_tsv && !has_groups && i < count; i++) {
        const size_t length = values->write(values, 0, i, text);
        if (length == 0)
            continue;
        if (count > 1) {
            print_values_name(writer, job, i, "", "");
            writer_write_text(writer, "\t");
        }
        writer_write(writer, text, length);
        writer_write_text(writer, "\n");
    }
    if (format == &print_tsv && !has_groups)
        return;

    writer_write_text(writer, format == &print_csv && has_groups ? "by," : "");
    for (size_t i = 0; i < count; i++) {
        const char *words[2];
        print_values_words(job, i, words);
        group_bytes +=
            PRINT_VALUES_EXTRA + 2 * (strlen(words[0]) + (words[1] ? strlen(words[1]) : 0));
        if (format != &print_csv)
            continue;
        const char *quote = words[1] && strpbrk(words[1], ",\"") ? "\"" : "";
        writer_write_text(writer, i > 0 ? "," : "");
        writer_write_text(writer, quote);
        print_values_name(writer, job, i, "\"", "\"");
        writer_write_text(writer, quote);
    }
    writer_write_text(writer, format == &print_csv ? "\n" : "");
    if (format == &print_json) {
        writer_write_text(writer, "{\"operation\":\"");
        writer_write_text(writer, operations[job->operation]->name);
        writer_write_text(writer, has_groups ? "\",\"groups\":[" : "\"");
    }
    all.separator = format->separator;
    const struct writer_parts parts = {
        .count = (values->groups + PRINT_VALUES_PART - 1) / PRINT_VALUES_PART,
        .part_bytes = PRINT_VALUES_PART * group_bytes,
        .write = print_values_write_part,
        .context = &all,
    };
    const unsigned threads = parallel_threads(options->threads, parts.count, 1);
    if (parts.count < PRINT_VALUES_PARTS_MIN || threads == 1 ||
        !writer_parts_write(writer, &parts, threads))
        print_values_groups(writer, &all);
    if (format == &print_json)
        writer_write_text(writer, has_groups ? "]}\n" : "}\n");
}

enum status print_check_values(const struct print_options *options, const char *operation,
                               struct failure *failure)
{
    if (!options->format || options->format->has_values)
        return STATUS_OK;
    return status_fail(failure, STATUS_USAGE, "--format %s does not go with %s: tsv, csv or json",
                       options->format->name, operation);
}
