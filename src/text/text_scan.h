/*
 * Where rows of text end: at newlines, but not at those between the quotes of CSV (text_quotes.h),
 * nor at quotes of a comment. A row that begins with rules->comment is one if rules->has_comments:
 * it ends at the next newline, whatever is in it.
 *
 * For the input side, which cuts text into chunks. Pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_SCAN_H
#define GPUHIST_TEXT_SCAN_H

#include "value/text_rules.h"

#include <stddef.h>

/* What the next byte of a text is part of. Only CSV has the states after the first. */
enum text_scan_state {
    TEXT_SCAN_ROW,     /* a row begins */
    TEXT_SCAN_FIELD,   /* another field of it begins */
    TEXT_SCAN_PLAIN,   /* a field without quotes, in which they are ordinary bytes */
    TEXT_SCAN_INSIDE,  /* the byte is between quotes */
    TEXT_SCAN_CLOSED,  /* the byte before it is a quote that ends a part, or the first of two */
    TEXT_SCAN_COMMENT, /* a row that is a comment */
    TEXT_SCAN_STATES
};

/* Where the first and the last row end that end in a text: the byte after the newline; 0: none. */
struct text_scan_ends {
    size_t first;
    size_t last;
};

/* Finds the ends of rows in data[0..bytes), and advances *state over it. */
struct text_scan_ends text_scan(const struct text_rules *rules, const char *data, size_t bytes,
                                enum text_scan_state *state);

/* Like text_scan, but returns only the end of the first row, and no state. */
size_t text_scan_first(const struct text_rules *rules, const char *data, size_t bytes,
                       enum text_scan_state state);

/*
 * Like text_scan, but returns only the end of the last row. For CSV with quotes and without
 * comments it mostly looks at the last bytes only: after a quote between two other bytes of which
 * the first is neither a delimiter nor a newline, as at the end of "words", a field is open without
 * quotes, whether that quote ends a part or is an ordinary byte, so nothing before it matters.
 */
size_t text_scan_last(const struct text_rules *rules, const char *data, size_t bytes,
                      enum text_scan_state *state);

/*
 * Counts quotes in data[0..bytes) that CSV which is well-formed does not have: those in fields
 * without quotes, and those that end a part which goes on. *state is at its begin.
 */
size_t text_scan_count_odd(const struct text_rules *rules, const char *data, size_t bytes,
                           enum text_scan_state state);

/*
 * Finds the first comment that begins at *end or after it in data[0..bytes), which is whole rows;
 * *end is 0, or the end of the comment before. Stores where it begins, and ends before its newline.
 * Returns false if there is none.
 */
bool text_scan_next_comment(const struct text_rules *rules, const char *data, size_t bytes,
                            size_t *begin, size_t *end);

#endif
