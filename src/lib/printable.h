/*
 * Characters of UTF-8, and which of untrusted text may go to a terminal.
 *
 * Thread-safe.
 */
#ifndef GPUHIST_PRINTABLE_H
#define GPUHIST_PRINTABLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the length of the UTF-8 character (Unicode 15, table 3-7) that text[0..bytes), which is
 * not empty, begins with, and stores its number. Returns 0 if it begins with none.
 */
size_t printable_decode(const char *text, size_t bytes, uint32_t *code);

/*
 * Returns the length of the printable UTF-8 character (RFC 3629) at the beginning of a
 * NUL-terminated text. Returns 0 if there is none: for control characters, including U+0080 to
 * U+009F, for bytes that are not UTF-8, and for characters that change the direction of the text or
 * break the line.
 */
size_t printable_bytes(const char *text);

/*
 * Returns the columns of a terminal that the character takes which a NUL-terminated text begins
 * with: 2 for wide ones, as of Chinese, 0 for accents and others that combine, else 1, also if it
 * is not printable.
 */
size_t printable_columns(const char *text);

/* Returns the columns of a text, in which what is not printable takes one for each byte. */
size_t printable_width(const char *text);

/* Replaces each byte that is not part of a printable character by '?'. */
void printable_mask(char *text);

#endif
