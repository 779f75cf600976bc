/* Implements status.h: formats failures, and prints lines on standard error. */
#include "config.h"

#include "lib/status.h"

#include "lib/printable.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The start of each line, and the start of its wrapped lines. */
#define STATUS_BEGIN  "gpuhist: "
#define STATUS_INDENT "  "

/* Minimum width of a terminal in which lines are wrapped. */
#define STATUS_COLUMNS_MIN 20

enum status status_fail_at(struct failure *failure, uint64_t position, enum status status,
                           const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    failure->status = status;
    failure->position = position;
    vsnprintf(failure->message, sizeof failure->message, format, arguments);
    va_end(arguments);
    return status;
}

enum status status_fail_first(struct failure *failure, enum status status,
                              const struct failure *other)
{
    const bool is_device = status == STATUS_ENGINE;
    const bool are_alike = is_device == (other->status == STATUS_ENGINE);

    if (status != STATUS_OK && (are_alike ? failure->position <= other->position : is_device))
        return status;
    *failure = *other;
    return other->status;
}

/* Returns the columns of standard error; 0: it is not a terminal, or too narrow. */
static size_t status_columns(void)
{
    struct winsize window;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= STATUS_COLUMNS_MIN
               ? window.ws_col
               : 0;
}

/* Wraps `line` to `columns` columns at blanks. `out` has room for the newlines. */
static void status_wrap(char *out, const char *line, size_t columns)
{
    const size_t indent = strlen(STATUS_INDENT);
    char *end = out;
    char *blank = NULL; /* the last blank of this terminal line */
    size_t used = 0;
    size_t after = 0; /* number of columns after the blank */

    while (*line) {
        const size_t width = printable_columns(line);
        const size_t bytes = printable_bytes(line);
        if (used + width > columns && blank && *line != ' ') {
            memmove(blank + 1 + indent, blank + 1, (size_t)(end - blank - 1));
            memcpy(blank, "\n" STATUS_INDENT, 1 + indent);
            end += indent;
            used = indent + after;
            blank = NULL;
        }
        if (*line == ' ' && used > indent)
            blank = end;
        used += width;
        after = blank == end ? 0 : after + width;
        memcpy(end, line, bytes);
        end += bytes;
        line += bytes;
    }
    *end = '\0';
}

void status_print(const char *format, ...)
{
    char line[sizeof STATUS_BEGIN + PATH_MAX + 512] = STATUS_BEGIN;
    char wrapped[sizeof line * sizeof STATUS_INDENT];
    const size_t columns = status_columns();
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line + strlen(STATUS_BEGIN), sizeof line - strlen(STATUS_BEGIN), format, arguments);
    va_end(arguments);
    printable_mask(line);
    if (columns > 0)
        status_wrap(wrapped, line, columns);
    fprintf(stderr, "%s\n", columns > 0 ? wrapped : line);
}
