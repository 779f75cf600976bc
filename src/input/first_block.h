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

/* Size of a buffer for a piece of advice and a NUL. */
#define FIRST_BLOCK_ADVICE_SIZE 128

/*
 * Write advice on input that is read as binary and as text, such as "every second element is 0 (try
 * -t i64)", or nothing.
 */
void first_block_advise_binary(const char *name, const void *block, size_t bytes,
                               char advice[FIRST_BLOCK_ADVICE_SIZE]);
void first_block_advise_text(const void *block, size_t bytes, char advice[FIRST_BLOCK_ADVICE_SIZE]);

/*
 * Returns whether a block that is not text is decimal numbers separated by NULs, such as output of
 * sort -z. Binary integers rarely are: one 32-bit integer in four million is three digits and a
 * NUL. In UTF-16, and in 16-bit integers from 48 to 57, a digit and a NUL alternate; therefore at
 * least one number must be longer than a digit.
 */
bool first_block_has_nuls(const void *block, size_t bytes);

/*
 * Returns whether a quoted field of the text contains the delimiter, which shifts a wanted field:
 * "Lee, Ann",17. The rules have a delimiter other than a quote, and are not those of CSV.
 */
bool first_block_splits_quotes(const struct text_rules *rules, const void *block, size_t bytes);

#endif
