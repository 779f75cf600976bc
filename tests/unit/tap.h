/*
 * A minimal producer of the Test Anything Protocol: tap_ok for each check, tap_done at the end;
 * also random numbers and names of temporary files. Not thread-safe, except for tap_random on
 * distinct states.
 */
#ifndef GPUHIST_TAP_H
#define GPUHIST_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* ThreadSanitizer slows threads down fifty times, and detects a race when two threads meet once. */
#ifdef __SANITIZE_THREAD__
#define TAP_HAS_TSAN 1
#else
#define TAP_HAS_TSAN 0
#endif

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
    fflush(stdout); /* shows this check even if the next one crashes */
    tap_failures += !passed;
    return passed;
}

/* Explains the next check: what exactly was wrong. Returns false, for `return tap_note`. */
__attribute__((format(printf, 1, 2))) static inline bool tap_note(const char *format, ...)
{
    va_list arguments;

    fputs("# ", stdout);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    return false;
}

static inline int tap_done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failures > 0;
}

/* Writes the template of a temporary path for mkstemp and mkdtemp. */
static inline void tap_write_template(char *path, size_t size, const char *name)
{
    const char *directory = getenv("TMPDIR");
    snprintf(path, size, "%s/gpuhist-%s.XXXXXX", directory ? directory : "/tmp", name);
}

/*
 * Returns the number of repetitions of a test: n, but fewer if GPUHIST_TEST_SHARE, of which Bats
 * files take 1/SHARE, is above 8.
 */
static inline unsigned tap_some(unsigned n)
{
    const char *share = getenv("GPUHIST_TEST_SHARE");
    const unsigned eighths = share ? (unsigned)atoi(share) / 8 : 1;
    return eighths > 1 ? (n + eighths - 1) / eighths : n;
}

/* Returns a random word, equal in every run: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static inline uint64_t tap_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

#endif
