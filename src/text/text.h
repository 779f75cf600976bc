/*
 * Integers as text: what a token, a field and a line are, and the parser of the CPU.
 *
 * A line ends with a newline or with the text; a carriage return before that is no part of it. A
 * blank is a space or a tab. What stands for a value:
 *
 *   field 0, no delimiter   every token: the words between white space (blanks, newlines, carriage
 *                           returns, vertical tabs, form feeds)
 *   field 0, a delimiter    every part of a line between delimiters
 *   field n, no delimiter   the n-th word of each line, words being separated by runs of blanks
 *   field n, a delimiter    the n-th part of each line; n < 0 counts from the last part or word, -1
 *
 * Lines that are empty or have only blanks are skipped. Blanks around a part are ignored. A value
 * is
 * [+-]?[0-9]+ and in the range of the element's type; everything else, also a part that is empty or
 * missing, is invalid.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_H
#define GPUHIST_TEXT_H

#include "job/element.h"
#include "job/text_rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What ended a call of the parser. */
enum text_event {
    TEXT_END,     /* all is parsed */
    TEXT_FULL,    /* there is no room for more values */
    TEXT_INVALID, /* a token is no integer of the type */
};

/* A token as it stands in the text; empty for a part that is missing: then where its line ends. */
struct text_token {
    size_t offset;
    size_t bytes;
};

/*
 * Parses data[*offset..bytes), whole lines or, if text_is_of_tokens, whole tokens, whose end is
 * that of a line. *offset is 0, or where the last call left it. Stores at most `room` values as
 * elements of the type, in this machine's byte order, at `values`, their number at *count, and
 * advances *offset. At TEXT_INVALID *invalid is the token, behind the values stored, and parsing
 * may go on behind it: until TEXT_END, and not until *offset is `bytes`, since an empty part may
 * still come there, and *offset is `bytes` + 1 when it was dealt with.
 */
typedef enum text_event text_parse_function(const struct text_rules *rules, const char *data,
                                            size_t bytes, size_t *offset, void *values, size_t room,
                                            size_t *count, struct text_token *invalid);

/* The parser for these rules and that type, in the best instruction set of this machine. */
text_parse_function *text_choose_parser(const struct text_rules *rules, enum element_type type);

/*
 * Whether a block at the beginning of an input is text: valid UTF-8 without control characters but
 * white space. A character that is cut off by the block's end is fine unless the input `ended`.
 */
bool text_is_text(const void *block, size_t bytes, bool ended);

/*
 * The encoding, if a block at the beginning of an input is text in UTF-16 or UTF-32, else NULL. A
 * byte order mark may also be a binary integer, such as -257 in 16 bits or 65279 in 32: it counts
 * if characters that may be in a text follow, and nothing else, and half of them or more are ASCII.
 * Without a mark, integers of 16 bits cannot be told from UTF-16.
 */
const char *text_find_encoding(const void *block, size_t bytes);

/* How many newlines there are. */
uint64_t text_count_lines(const char *data, size_t bytes);

#endif
