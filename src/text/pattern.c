/*
 * Implements pattern.h with regexec(3), and a table of strings by some bits of their hash, where a
 * new string replaces the one before. Each thread has an expression of its own, because the C
 * library locks it during a search.
 *
 * Nanoseconds for "bot|crawl" in a user agent of 107 bytes (Zen 4): 1,040 with regexec, 30 from the
 * table.
 */
#include "config.h"

#include "text/pattern.h"

#include "lib/bytes.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_FLAGS (REG_EXTENDED | REG_NOSUB)

/*
 * Maximum size of an expression. One of 4,000 items takes up to 130 MB and 0.4 s of each thread,
 * and four times that if it is twice as large; nested repetitions reach any size:
 * ((x{255}){255}){255}.
 */
#define PATTERN_DEPTH_MAX 100
#define PATTERN_ITEMS_MAX 4000

/* Number of strings of the table, and maximum length of one. An entry has 256 bytes. */
#define PATTERN_ENTRIES    ((size_t)2048)
#define PATTERN_BYTES_MAX  ((size_t)252)
#define PATTERN_INDEX_BITS 11

/* Number of bytes searched after which the states of the expression are freed. */
#define PATTERN_RENEWAL_BYTES ((size_t)256 << 10)

struct pattern_entry {
    uint16_t bytes;
    bool is_used;
    bool is_match;
    char data[PATTERN_BYTES_MAX];
};

struct pattern {
    const char *text;
    regex_t regex;
    bool is_compiled;
    size_t searched; /* number of bytes searched since it was compiled */
    struct pattern_entry entries[PATTERN_ENTRIES];
};

/* Skips a bracket expression after its [. Returns its end, or that of the text if it is open. */
static const char *pattern_skip_bracket(const char *text)
{
    text += *text == '^';
    text += *text == ']';
    while (*text && *text != ']') {
        const char kind = *text++ == '[' && *text && strchr(".:=", *text) ? *text : '\0';
        const char *end = kind ? text + 1 : NULL;
        while (end && *end && (*end != kind || end[1] != ']'))
            end++;
        text = !end ? text : *end ? end + 2 : end;
    }
    return text + (*text == ']');
}

/* Skips {N}, {N,}, {,N} or {M,N} after its brace. Returns the maximum repetitions, or 1. */
static size_t pattern_skip_interval(const char **text)
{
    size_t number = 0;
    size_t most = 1;

    for (; (**text >= '0' && **text <= '9') || **text == ','; ++*text) {
        number = **text == ',' ? 0 : number * 10 + (size_t)(**text - '0');
        number = number <= PATTERN_ITEMS_MAX ? number : PATTERN_ITEMS_MAX + 1;
        most = number > most ? number : most;
    }
    *text += **text == '}';
    return most;
}

/*
 * Returns whether the expression is small enough for the C library, which copies repeated items,
 * and follows nested groups by recursion, both without a limit.
 */
static bool pattern_is_small(const char *text)
{
    size_t outside[PATTERN_DEPTH_MAX]; /* number of items before each open group */
    size_t depth = 0;
    size_t items = 0; /* number of items of the group */
    size_t last = 0;  /* number of last items that a following repetition applies to */
    size_t all = 0;

    while (*text && all <= PATTERN_ITEMS_MAX) {
        const char c = *text++;
        if (c == '(') {
            if (depth == PATTERN_DEPTH_MAX)
                return false;
            outside[depth++] = items;
            items = last = 0;
        } else if (c == ')' && depth > 0) {
            last = items + 1;
            items = outside[--depth] + last;
        } else if (c == '+') {
            items += last;
            last *= 2;
        } else if (c == '{' && ((*text >= '0' && *text <= '9') || *text == ',')) {
            const size_t times = pattern_skip_interval(&text);
            items += last * (times - 1);
            last *= times;
        } else if (c != '*' && c != '?') {
            text = c == '[' ? pattern_skip_bracket(text) : text + (c == '\\' && *text);
            last = 1;
            items++;
        }
        all = items;
        for (size_t i = 0; i < depth; i++)
            all += outside[i];
    }
    return all <= PATTERN_ITEMS_MAX;
}

enum status pattern_check(const char *text, const char *typed, struct failure *failure)
{
    char reason[128];
    regex_t regex;

    if (!pattern_is_small(text))
        return status_fail(failure, STATUS_USAGE,
                           "invalid --where '%.60s': a regular expression has at most %d "
                           "parentheses inside each other, and %d characters, counted as often as "
                           "they are repeated",
                           typed, PATTERN_DEPTH_MAX, PATTERN_ITEMS_MAX);
    const int error = regcomp(&regex, text, PATTERN_FLAGS);
    if (error == 0) {
        regfree(&regex);
        return STATUS_OK;
    }
    regerror(error, &regex, reason, sizeof reason);
    return status_fail(failure, STATUS_USAGE,
                       "invalid --where '%s': '%s' is not an extended regular expression: %s",
                       typed, text, reason);
}

/* Compiles the expression, possibly again. Returns false if there is no memory. */
static bool pattern_compile(struct pattern *pattern)
{
    if (pattern->is_compiled)
        regfree(&pattern->regex);
    pattern->searched = 0;
    pattern->is_compiled = regcomp(&pattern->regex, pattern->text, PATTERN_FLAGS) == 0;
    return pattern->is_compiled;
}

struct pattern *pattern_create(const char *text)
{
    struct pattern *pattern = calloc(1, sizeof *pattern);
    if (!pattern)
        return NULL;

    pattern->text = text;
    if (pattern_compile(pattern))
        return pattern;
    free(pattern);
    return NULL;
}

void pattern_destroy(struct pattern *pattern)
{
    if (pattern && pattern->is_compiled)
        regfree(&pattern->regex);
    free(pattern);
}

/* Returns the index of a string in the table. */
static size_t pattern_index(const char *data, size_t bytes)
{
    uint64_t hash = bytes;
    char last[8] = "";

    for (; bytes >= 8; data += 8, bytes -= 8) {
        hash = (hash ^ bytes_load(data)) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    memcpy(last, data, bytes);
    hash = (hash ^ bytes_load(last)) * 0x9e3779b97f4a7c15u;
    return hash >> (64 - PATTERN_INDEX_BITS);
}

/* Returns the result of regexec for data[0..bytes). */
static int pattern_execute(const struct pattern *pattern, const char *data, size_t bytes)
{
    regmatch_t part = {.rm_so = 0, .rm_eo = (regoff_t)bytes};
#ifdef __SANITIZE_ADDRESS__ /* its regexec requires a final NUL */
    char *ended = calloc(1, bytes + 1);

    if (!ended)
        return REG_ESPACE;
    memcpy(ended, data, bytes);
    const int found = regexec(&pattern->regex, ended, 1, &part, REG_STARTEND);
    free(ended);
    return found;
#else
    return regexec(&pattern->regex, data, 1, &part, REG_STARTEND);
#endif
}

enum status pattern_search(struct pattern *pattern, const char *data, size_t bytes, bool *is_match,
                           struct failure *failure)
{
    struct pattern_entry *entry = NULL;

    if (bytes <= PATTERN_BYTES_MAX) {
        entry = &pattern->entries[pattern_index(data, bytes)];
        if (entry->is_used && entry->bytes == bytes && memcmp(entry->data, data, bytes) == 0) {
            *is_match = entry->is_match;
            return STATUS_OK;
        }
    }
    if (pattern->searched > PATTERN_RENEWAL_BYTES && !pattern_compile(pattern))
        return status_fail(failure, STATUS_DATA, "not enough memory for a regular expression");
    const int found = pattern_execute(pattern, data, bytes);
    if (found != 0 && found != REG_NOMATCH)
        return status_fail(failure, STATUS_DATA, "not enough memory for a regular expression");
    pattern->searched += bytes;
    *is_match = found == 0;
    if (entry) {
        entry->bytes = (uint16_t)bytes;
        entry->is_used = true;
        entry->is_match = *is_match;
        memcpy(entry->data, data, bytes);
    }
    return STATUS_OK;
}
