/* The text of --help, from the tables of operations and options. */
#include "config.h"

#include "operation.h"
#include "options_internal.h"

#include <stdarg.h>
#include <stdio.h>

/* Appends formatted text at *length, as far as there is room. */
static void __attribute__((format(printf, 4, 5)))
options_append(char *text, size_t size, size_t *length, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int n = vsnprintf(text + *length, size - *length, format, arguments);
    va_end(arguments);
    *length = n < 0 || (size_t)n >= size - *length ? size - 1 : *length + (size_t)n;
}

static void options_append_row(char *text, size_t size, size_t *length,
                               const struct options_row *row)
{
    char letter[5] = "    ";
    char names[40];

    if (row->key < 256)
        snprintf(letter, sizeof letter, "-%c, ", row->key);
    bool is_optional = row->argument && *row->argument == '[';
    snprintf(names, sizeof names, "%s--%s%s%s", letter, row->name,
             row->argument ? (is_optional ? "[=" : " ") : "",
             row->argument ? row->argument + is_optional : "");
    options_append(text, size, length, "  %-23s %s\n", names, row->help);
}

/* Whether there are options that the operations of that set, and no others, take. */
static bool options_has_rows(unsigned set)
{
    for (size_t i = 0; i < options_row_count; i++) {
        if (options_row_operations(&options_rows[i]) == set)
            return true;
    }
    return false;
}

/* The options that the operations of that set take. */
static void options_append_rows(char *text, size_t size, size_t *length, unsigned set)
{
    for (size_t i = 0; i < options_row_count; i++) {
        if (options_row_operations(&options_rows[i]) == set)
            options_append_row(text, size, length, &options_rows[i]);
    }
}

void options_help(char *text, size_t size)
{
    size_t length = 0;

    options_append(text, size, &length,
                   "Usage: gpuhist [OPERATION] [OPTION]... [FILE]...\n"
                   "Count the integers of the FILEs, or of standard input, on all cores and "
                   "GPUs.\nThey are text or binary, plain or compressed with zstd or gzip.\n"
                   "\nOperations:\n");
    for (size_t i = 0; i < OPERATION_IDS; i++)
        options_append(text, size, &length, "  %-23s %s\n", operations[i]->name,
                       operations[i]->help);
    options_append(text, size, &length, "  %-23s %s\n", "merge",
                   "add up the states in FILEs that runs with --save have left");
    options_append(text, size, &length, "  %-23s %s\n\nOptions:\n", "info",
                   "the version and the engines that can run here");
    options_append_rows(text, size, &length, 0);
    for (size_t i = 0; i < OPERATION_IDS; i++) {
        if (!options_has_rows(1u << i))
            continue;
        options_append(text, size, &length, "Options of %s:\n", operations[i]->name);
        options_append_rows(text, size, &length, 1u << i);
    }
    options_append(text, size, &length,
                   "\nNumbers take the suffixes K, M, G, ... (1000) and Ki, Mi, Gi, ... (1024).\n"
                   "Exit status: 0 done, 1 bad data or I/O error, 2 usage, 3 the engine cannot "
                   "run.\n\nExamples: cat ids.bin | gpuhist --bins 5M\n"
                   "          gpuhist -f 9 --bins 600 access.log.zst\n");
}
