/*
 * Advice in messages about text: the option that would read what is invalid or missing. A rule is a
 * line of text_advice.c. Pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_ADVICE_H
#define GPUHIST_TEXT_ADVICE_H

#include "text/text_reason.h"

/* Room for advice and a NUL. */
#define TEXT_ADVICE_SIZE 128

/* Writes advice about an invalid token, such as " (try --decimals 1)", or "". */
void text_advise_token(const struct text_reading *reading, const struct text_token *token,
                       char out[TEXT_ADVICE_SIZE]);

/* Writes advice about the line around an offset, which has only so many fields, or "". */
void text_advise_missing(const struct text_reading *reading, size_t offset, size_t fields,
                         char out[TEXT_ADVICE_SIZE]);

/* Writes advice about a JSON path that the row around an offset lacks, or "". */
void text_advise_path(const struct text_reading *reading, size_t offset, const char *path,
                      char out[TEXT_ADVICE_SIZE]);

/*
 * Writes that the KIND[/WIDTH] of a name WHERE:KIND/WIDTH that the header line[0..bytes) lacks is
 * none. Returns false if it has none: WHERE is neither a number nor in the header.
 */
bool text_explain_kind(const char *line, size_t bytes, const char *name,
                       char out[TEXT_ADVICE_SIZE]);

/* Writes advice about a name that the header line[0..bytes) lacks, or "". */
void text_advise_name(const struct text_rules *rules, const char *line, size_t bytes,
                      const char *name, char out[TEXT_ADVICE_SIZE]);

/* The beginning of the line, or row of CSV, that a byte is in. Stores its length. */
const char *text_advice_find_line(const struct text_reading *reading, size_t offset,
                                  size_t *length);

/*
 * Whether a token without its sign, which is not empty, is written as a number of the notation, of
 * whatever size.
 */
bool text_advice_is_number(const struct text_rules *rules, const char *token, size_t bytes);

/* How to remove the byte order mark that a file begins with. */
#define TEXT_ADVICE_MARK "tail -c +4 removes it"

/* Whether a token begins with a byte order mark in UTF-8, which Windows puts before a text. */
bool text_advice_has_mark(const char *token, size_t bytes);

#endif
