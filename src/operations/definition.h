/*
 * Definitions: the part of a state that says what was counted, for people and for merging: lines
 * "KEY TAB VALUE". Two states can be added if their definitions are the same text.
 *
 * Thread-safe on distinct definitions.
 */
#ifndef GPUHIST_DEFINITION_H
#define GPUHIST_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>

/* A text that grows. Of zeros it is empty; the owner frees it with definition_destroy. */
struct definition {
    char *text; /* [length], and a NUL unless it is NULL */
    size_t length;
    size_t room;
    bool is_lost; /* there was no memory for all of it */
};

void definition_destroy(struct definition *definition);

/* Appends bytes; and text as printf does. Where memory ends, is_lost is set. */
void definition_append(struct definition *definition, const char *text, size_t bytes);
void definition_print(struct definition *definition, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Appends what somebody typed: control characters and backslashes as \ and three octal digits, so
 * that they separate nothing; and reads text[0..length) of that back, NULL if there is no memory,
 * else to be freed by the caller.
 */
void definition_append_typed(struct definition *definition, const char *typed);
char *definition_read_typed(const char *text, size_t length);

/*
 * Finds the next line with that key from `from` on (NULL: from the start), and returns its value,
 * up to the end of its line, or NULL if there is none. The value is also where to look on.
 */
const char *definition_find(const struct definition *definition, const char *key, const char *from,
                            size_t *length);

/* Copies the value of the first line with that key; false if there is none, or it does not fit. */
bool definition_get(const struct definition *definition, const char *key, char *value, size_t size);

/* Room for what definition_compare says. */
#define DEFINITION_DIFFERENCE_SIZE 256

/*
 * Whether two are the same; if not, says in what a line of `b` differs, as words before "as in
 * A": "bins 512, not 256".
 */
bool definition_compare(const struct definition *a, const struct definition *b,
                        char difference[DEFINITION_DIFFERENCE_SIZE]);

#endif
