/*
 * Two columns of the same lines of text: a value, and beside it a number of the second column
 * (job/chunk.h). A line that is not blank has exactly one value or one invalid token of each
 * column.
 *
 * All functions are pure and thread-safe.
 */
#ifndef GPUHIST_TEXT_PAIRS_H
#define GPUHIST_TEXT_PAIRS_H

#include "job/job.h"
#include "text/text.h"

/*
 * As a text_parse_function (text.h), for pairs; the job has a second column. Stores as many
 * elements of the second column at text->second as values of the first at text->values. After
 * TEXT_INVALID the token is the first column's, unless only the second column of its line is
 * invalid; the line gives no pair. With TEXT_END text->offset is text->bytes.
 */
enum text_event text_pairs_parse(const struct job *job, struct text_cursor *text);

#endif
