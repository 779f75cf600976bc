/* Implements status.h: formatting failures, and printing lines on standard error. */
#include "config.h"

#include "base/status.h"

#include "base/printable.h"

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

bool status_is_before(const struct failure *a, const struct failure *b)
{
    bool is_device = a->status == STATUS_ENGINE;

    if (is_device != (b->status == STATUS_ENGINE))
        return is_device;
    return a->position < b->position;
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

bool status_has_lost(void)
{
    int flags = fcntl(STDERR_FILENO, F_GETFL);
    return ferror(stderr) && flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}
