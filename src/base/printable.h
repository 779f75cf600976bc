/*
 * Which characters may go to a terminal, of text that somebody else wrote.
 *
 * Thread-safe.
 */
#ifndef GPUHIST_PRINTABLE_H
#define GPUHIST_PRINTABLE_H

#include <stddef.h>

/*
 * The bytes of the character that a text, which ends with a NUL, begins with: a printable one of
 * UTF-8 (RFC 3629). 0 for all else: control characters, those of U+0080 to U+009F as well, bytes
 * that are no UTF-8, and what changes the direction or the line of the text around it.
 */
size_t printable_bytes(const char *text);

/* Puts a '?' in the place of each byte that is of no such character. */
void printable_mask(char *text);

#endif
