/*
 * Finds where rows of text end: at newlines that are not inside the quotes of CSV (text_quotes.h).
 * If rules->has_comments, a row that begins with rules->comment is a comment: it ends at the next
 * newline, and its quotes have no meaning.
 *
 * For the input side, which cuts text into chunks. Pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_SCAN_H
#define GPUHIST_TEXT_SCAN_H

#include "value/text_rules.h"

#include <stddef.h>

/* The part of a row that the next byte belongs to. Only CSV has the states after the first. */
enum text_scan_state {
    TEXT_SCAN_ROW,     /* a row begins */
    TEXT_SCAN_FIELD,   /* another field of the row begins */
    TEXT_SCAN_PLAIN,   /* inside a field that is not quoted, where quotes are ordinary bytes */
    TEXT_SCAN_INSIDE,  /* between quotes */
    TEXT_SCAN_CLOSED,  /* after a quote that ends a part, or is the first of two */
    TEXT_SCAN_COMMENT, /* inside a comment */
    TEXT_SCAN_STATES
};

/* The ends of the first and the last row that end in a text, after their newlines; 0: none. */
struct text_scan_ends {
    size_t first;
    size_t last;
};

/* Finds the ends of rows in data[0..bytes), and sets *state to that after the data. */
struct text_scan_ends text_scan(const struct text_rules *rules, const char *data, size_t bytes,
                                enum text_scan_state *state);

/* Like text_scan, but returns only the end of the first row, and no state. */
size_t text_scan_first(const struct text_rules *rules, const char *data, size_t bytes,
                       enum text_scan_state state);

/*
 * Like text_scan, but returns only the end of the last row. For CSV with quotes and without
 * comments it mostly reads only the last bytes. It looks for a quote between two other bytes of
 * which the first is neither a delimiter nor a newline, as at the end of "words". Whether that
 * quote ends a part or is an ordinary byte, it leaves no quotes open, so nothing before it matters.
 */
size_t text_scan_last(const struct text_rules *rules, const char *data, size_t bytes,
                      enum text_scan_state *state);

/*
 * Counts quotes in data[0..bytes) that well-formed CSV does not have: those in fields that are not
 * quoted, and those that end a part which continues. `state` is the state before the data.
 */
size_t text_scan_count_odd(const struct text_rules *rules, const char *data, size_t bytes,
                           enum text_scan_state state);

/*
 * Finds the first comment at or after *end in data[0..bytes), which has only whole rows. *end is 0,
 * or the end of the comment before. Stores the comment's start, and its end before the newline.
 * Returns false if there is none.
 */
bool text_scan_next_comment(const struct text_rules *rules, const char *data, size_t bytes,
                            size_t *begin, size_t *end);

#endif
