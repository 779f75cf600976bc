/*
 * Definitions: the part of a state that says what was counted, as lines "KEY TAB VALUE". Two states
 * can be merged if their definitions are the same text.
 *
 * All functions are thread-safe on distinct definitions.
 */
#ifndef GPUHIST_DEFINITION_H
#define GPUHIST_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>

/* A growing text. Zero-initialised, it is empty. The owner frees it with definition_destroy. */
struct definition {
    char *text; /* [length] and a NUL; or NULL */
    size_t length;
    size_t size;  /* of the memory */
    bool is_lost; /* a part is missing: there was no memory, or what definition_print printed was
                     too long */
};

/* Frees the text of a definition. */
void definition_destroy(struct definition *definition);

/*
 * Append bytes, or text as printf does. Set is_lost if there is no memory, or if the text that
 * printf would write has 512 bytes or more.
 */
void definition_append(struct definition *definition, const char *text, size_t bytes);
void definition_print(struct definition *definition, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Appends text from a command line. Control characters and backslashes become \ and three octal
 * digits, so that they separate no keys and lines.
 */
void definition_append_typed(struct definition *definition, const char *typed);

/*
 * Undoes definition_append_typed on text[0..length). The caller frees the result; NULL if there is
 * no memory.
 */
char *definition_read_typed(const char *text, size_t length);

/*
 * Finds the first line with that key, or the next one after the line of `from`, a value that this
 * function has returned. Returns its value, which lies in the definition, and stores its length
 * without the newline. Returns NULL if there is none.
 */
const char *definition_find(const struct definition *definition, const char *key, const char *from,
                            size_t *length);

/*
 * Copies the value of the first line with that key and a NUL to value[0..size). Returns false if
 * there is no such line, or the value does not fit.
 */
bool definition_get(const struct definition *definition, const char *key, char *value, size_t size);

/* The size of the text of definition_compare. */
#define DEFINITION_DIFFERENCE_SIZE 384

/*
 * Whether two definitions are equal. If not, writes how `b` first differs from `a`, in words of the
 * command line, such as "--type i16, not --type i32".
 */
bool definition_compare(const struct definition *a, const struct definition *b,
                        char difference[DEFINITION_DIFFERENCE_SIZE]);

#endif
