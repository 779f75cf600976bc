/* A minimal producer of the Test Anything Protocol: tap_ok for each check, tap_done at the end. */
#ifndef GPUHIST_TAP_H
#define GPUHIST_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_count;
static int tap_failures;

__attribute__((format(printf, 2, 3))) static inline bool tap_ok(bool passed, const char *format,
                                                                ...)
{
    va_list arguments;

    printf("%sok %d - ", passed ? "" : "not ", ++tap_count);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    tap_failures += !passed;
    return passed;
}

static inline int tap_done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failures > 0;
}

#endif
