/*
 * Two columns of the same lines of text: a value, and beside it a number of the second column
 * (job/chunk.h). A line that is not blank has exactly one value or one invalid token of each
 * column, so some lines are parsed for the first column, the same lines for the second, and both
 * are paired by their order. The text stays in the L1 or L2 meanwhile.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_PAIRS_H
#define GPUHIST_TEXT_PAIRS_H

#include "job/job.h"
#include "text/text.h"

/* How the pairs of a text are parsed. */
struct text_pairs {
    text_parse_function *parse_first;
    text_parse_function *parse_second;
    struct text_rules first;
    struct text_rules second;
    size_t first_bytes; /* of an element of the first column; one of the second has 8 */
};

/* Prepares to parse a text of these rules, for a job that has a second column. */
struct text_pairs text_pairs_prepare(const struct job *job, const struct text_rules *rules);

/*
 * As a text_parse_function (text.h), for pairs: stores as many elements of the second column at
 * `second` as values of the first at `values`. After TEXT_INVALID the token is the first column's,
 * unless only the second column of its line is invalid; the line gives no pair. With TEXT_END
 * *offset is `bytes`.
 */
enum text_event text_pairs_parse(const struct text_pairs *pairs, const char *data, size_t bytes,
                                 size_t *offset, void *values, uint64_t *second, size_t room,
                                 size_t *count, struct text_token *invalid);

#endif
