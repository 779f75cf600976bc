/*
 * Decodes UTF-8, and makes untrusted text safe for a terminal.
 *
 * Thread-safe.
 */
#ifndef GPUHIST_PRINTABLE_H
#define GPUHIST_PRINTABLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the length of the UTF-8 character (Unicode 15, table 3-7) at the start of text[0..bytes),
 * which is not empty, and stores its number. Returns 0 if there is none.
 */
size_t printable_decode(const char *text, size_t bytes, uint32_t *code);

/*
 * Returns the length of the printable UTF-8 character (RFC 3629) at the start of a
 * NUL-terminated text. Returns 0 if there is none: for control characters, including U+0080 to
 * U+009F, for bytes that are not UTF-8, and for characters that change the direction of the text or
 * break the line.
 */
size_t printable_bytes(const char *text);

/*
 * Returns the number of terminal columns of the first character of a NUL-terminated text: 2 for
 * wide characters, such as Chinese, 0 for combining characters, such as accents, else 1, also if it
 * is not printable.
 */
size_t printable_columns(const char *text);

/* Returns the number of columns of a text; each unprintable byte takes one. */
size_t printable_width(const char *text);

/* Replaces each byte that is not part of a printable character by '?'. */
void printable_mask(char *text);

#endif
