/*
 * Scans JSON Lines for tests/json_lines.py:
 *
 *   json_values newline|nul PATH... <TEXT
 *
 * prints a line for each row or element: its offset, and for each path the kind of its value (a
 * number, enum json_kind) and its bytes in hexadecimal, with escapes decoded. For a row that is not
 * an object, prints `!`, the offset of the fault and its description.
 */
#include "config.h"

#include "text/json_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_value(const char *data, const struct row_value *value)
{
    printf(" %d:", (int)value->kind);
    if (value->kind == JSON_MISSING)
        return;
    char *text = malloc(value->bytes + 1);
    if (!text)
        abort();
    size_t bytes = value->bytes;
    if (value->kind == JSON_ESCAPED)
        bytes = json_string_decode(data + value->offset, value->bytes, text);
    else
        memcpy(text, data + value->offset, bytes);
    for (size_t i = 0; i < bytes; i++)
        printf("%02x", (unsigned char)text[i]);
    free(text);
}

/* Reads standard input; the caller frees it. */
static char *read_all(size_t *bytes)
{
    char *data = NULL;

    *bytes = 0;
    for (size_t taken = 1; taken > 0; *bytes += taken) {
        char *more = realloc(data, *bytes + 65536);
        if (!more)
            abort();
        data = more;
        taken = fread(data + *bytes, 1, 65536, stdin);
    }
    return data;
}

int main(int argc, char **argv)
{
    static struct json_lines lines;
    static struct failure failure;
    struct row_value values[ROW_COLUMNS_MAX];
    struct json_columns *columns = json_columns_create();
    enum row_event event;
    size_t bytes;
    unsigned numbers[ROW_COLUMNS_MAX];

    if (argc < 2 || argc > 2 + ROW_COLUMNS_MAX || !columns)
        return 2;
    for (int i = 2; i < argc; i++) {
        if (json_columns_add(columns, argv[i], strlen(argv[i]), &numbers[i - 2], &failure)) {
            status_print("%s", failure.message);
            return 2;
        }
    }
    char *data = read_all(&bytes);
    json_lines_begin(&lines, columns, strcmp(argv[1], "nul") == 0 ? '\0' : '\n', data, bytes);
    while ((event = json_lines_next(&lines, values)) != ROW_END) {
        printf("%zu", lines.row_begin);
        if (event == ROW_INVALID)
            printf(" ! %zu %s", lines.fault_offset, json_fault_text(lines.fault));
        for (int i = 2; i < argc && event == ROW_FOUND; i++)
            print_value(data, &values[numbers[i - 2]]);
        putchar('\n');
    }
    free(data);
    json_columns_destroy(columns);
    return 0;
}
