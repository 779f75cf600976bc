/*
 * Guesses from the first block of an input, or its name, whether the default format (i32le, every
 * word, or the delimiter) is wrong. The guess only produces a note to the user.
 *
 * Pure and thread-safe.
 */
#ifndef GPUHIST_FIRST_BLOCK_H
#define GPUHIST_FIRST_BLOCK_H

#include "value/text_rules.h"

#include <stdbool.h>
#include <stddef.h>

/* The size of a piece of advice, with a NUL. */
#define FIRST_BLOCK_ADVICE_SIZE 128

/*
 * Write advice, such as "every second element is 0 (try -t i64)", or nothing: on input
 * that is read as binary, or as text.
 */
void first_block_advise_binary(const char *name, const void *block, size_t bytes,
                               char advice[FIRST_BLOCK_ADVICE_SIZE]);
void first_block_advise_text(const void *block, size_t bytes, char advice[FIRST_BLOCK_ADVICE_SIZE]);

/*
 * Returns whether a block that is not text is decimal numbers with NULs between them, as of sort
 * -z. Binary integers hardly ever are: one of 32 bits in four million has three digits and a NUL.
 * Of 16 bits those from 48 to 57 have a digit and a NUL, and so has UTF-16; so one number at least
 * must be longer than a digit.
 */
bool first_block_has_nuls(const void *block, size_t bytes);

/*
 * Returns whether text has a quoted field with the delimiter in it, which shifts a wanted field:
 * "Lee, Ann",17. The rules have a delimiter, which is not a quote, and are not those of CSV.
 */
bool first_block_splits_quotes(const struct text_rules *rules, const void *block, size_t bytes);

#endif
