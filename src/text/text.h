/*
 * Integers in text: the definitions of token, field and line, and the CPU's parser.
 *
 * A line ends with a newline or at the end of the text. A carriage return right before that end is
 * not part of the line. A blank is a space or a tab. White space is blanks, newlines, carriage
 * returns, vertical tabs and form feeds. The values of a text are:
 *
 *   field 0, no delimiter   every token: each word between white space
 *   field 0, a delimiter    every part of every line; the delimiter separates parts
 *   field n, no delimiter   the n-th word of each line; runs of blanks separate words
 *   field n, a delimiter    the n-th part of each line
 *
 * A negative n counts from the end of the line: -1 is the last word or part.
 *
 * A line that has another number of fields than its header (rules->columns) is an invalid token of
 * 0 bytes at its end. Only the parser of rows (text_rows.h) counts them.
 *
 * If parts may be quoted (is_quoted), a part that begins with a quote ends at the next quote that
 * is not doubled. Delimiters and newlines between the two separate nothing, and the two are not
 * part of the value. In other parts quotes are ordinary. A part with wrong quotes (text_quotes.h),
 * or open at the end of the text, and the rest of its row are one invalid token, whichever field is
 * wanted; with field 0 the parts before it are values. Comments are blanks here (text_scan.h).
 *
 * Lines that are empty or hold only blanks are skipped. Blanks around a part are ignored. A value
 * is in the range of the element's type and has the form of its notation:
 *
 *   TEXT_INTEGERS           [+-]?[0-9]+
 *   TEXT_HEX                [+-]?(0[xX])?[0-9a-fA-F]+
 *   TEXT_FIXED              [+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?
 *   TEXT_OPAQUE             none
 *
 * The value of TEXT_FIXED is the number times 10^decimals, which must be an integer, or is rounded
 * to one (is_rounded), half to even. An integer may also be a number with an exponent, if the rules
 * allow it (has_exponents).
 *
 * Everything else is invalid, including a part that is empty or missing.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_H
#define GPUHIST_TEXT_H

#include "value/element.h"
#include "value/text_rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a call of the parser returned. */
enum text_event {
    TEXT_END,     /* the whole text is parsed */
    TEXT_FULL,    /* `capacity` values are stored */
    TEXT_INVALID, /* a token is not an integer of the type */
};

/* The place of a token in the text, in bytes. A missing part is 0 bytes at the end of its line. */
struct text_token {
    size_t offset;
    size_t bytes;
    size_t column;     /* the column's index in the plan; 0 if there is only one */
    const char *fault; /* the whole row is invalid: a constant string (row_scanner.h); else NULL */
    bool is_missing;   /* the row has no such field */
    bool is_empty;     /* the row has the field, but no value in it (text_rows.h) */
    bool is_joined;    /* the value is two fields with a blank between: this token and the second */
    size_t second_offset;
    size_t second_bytes;
    size_t half; /* if one of two joined fields is missing, its column in the plan; else 0 */
};

/* A text that is parsed in calls, and where the values of a call go. */
struct text_cursor {
    const struct text_rules *rules;
    const char *data; /* [bytes] */
    size_t bytes;
    size_t offset; /* offset of the next byte to parse: 0 or set by the last call */
    void *values;  /* [capacity], elements of the type in this machine's byte order */
    size_t capacity;
    size_t count;              /* number of values that the last call stored */
    struct text_token invalid; /* after TEXT_INVALID: the invalid token */
};

/*
 * Parses data[offset..bytes), which consists of whole lines or, if text_is_of_tokens, of whole
 * tokens; its end also ends a line. Stores at most `capacity` values, and their number in
 * `count`. Advances `offset`.
 *
 * After TEXT_INVALID, `invalid` is the invalid token; it comes after the stored values. The caller
 * may continue after it. The whole text is parsed once a call returns TEXT_END, not once `offset`
 * is `bytes`: an empty part may follow there, and then `offset` becomes `bytes` + 1.
 */
typedef enum text_event text_parse_function(struct text_cursor *text);

/* Returns the parser for the rules and the type, in this machine's best instruction set. */
text_parse_function *text_choose_parser(const struct text_rules *rules, enum element_type type);

/*
 * Reads one token, as a parser has returned it. Returns whether it is a value of the type, and
 * stores its key (element.h).
 */
bool text_read_token(const struct text_rules *rules, const struct element *element,
                     const char *token, size_t bytes, uint64_t *key);

/*
 * Returns whether the first block of an input is text: valid UTF-8 with no control characters
 * except white space. The end of the block may cut a character, unless the input `ended` there.
 */
bool text_is_text(const void *block, size_t bytes, bool ended);

/*
 * Returns the name of the encoding if the first block of an input is UTF-16 or UTF-32 text with a
 * byte order mark, else NULL. A mark may also be a binary integer, such as -257 in 16 bits.
 * Therefore only characters of text, at least half of them ASCII, may follow it.
 */
const char *text_find_encoding(const void *block, size_t bytes);

/* Returns whether text begins with the byte order mark of UTF-8, which has three bytes. */
bool text_has_mark(const char *text, size_t bytes);

/* The number of newlines in data[0..bytes). */
uint64_t text_count_lines(const char *data, size_t bytes);

#endif
