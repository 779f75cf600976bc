/*
 * Extended regular expressions of conditions (regcomp(3)), for one thread. A pattern caches its
 * answers for short recent strings.
 *
 * Strings are bytes: the program sets no locale, so that each byte is a character. A point does not
 * match a NUL byte. The C library does not bound the time for a string, which grows with the square
 * of its length, and with back-references faster than any power. The size of an expression is
 * limited, and the states that are kept between strings are freed from time to time.
 */
#ifndef GPUHIST_PATTERN_H
#define GPUHIST_PATTERN_H

#include "lib/status.h"

#include <stdbool.h>
#include <stddef.h>

struct pattern;

/*
 * Fails with STATUS_USAGE unless the text is an extended regular expression that is not too large;
 * the message has the limits, or the words of regerror(3). `typed` is the argument of --where.
 * Thread-safe.
 */
enum status pattern_check(const char *text, const char *typed, struct failure *failure);

/*
 * Creates the pattern of such a text, which must outlive it, for one thread. Returns NULL if there
 * is no memory. The caller destroys it.
 */
struct pattern *pattern_create(const char *text);

/* NULL is allowed. */
void pattern_destroy(struct pattern *pattern);

/*
 * Sets *is_match to whether the expression matches a part of data[0..bytes). Fails with STATUS_DATA
 * if there is no memory. Thread-safe on distinct patterns.
 */
enum status pattern_search(struct pattern *pattern, const char *data, size_t bytes, bool *is_match,
                           struct failure *failure);

#endif
