/* Implements status.h: formatting failures, and printing lines on standard error. */
#include "config.h"

#include "lib/status.h"

#include "lib/printable.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

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

void status_print(const char *format, ...)
{
    char line[PATH_MAX + 512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    printable_mask(line);
    fprintf(stderr, "gpuhist: %s\n", line);
}
