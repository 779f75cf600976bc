/*
 * The outcome of parsing text: how many values there were, and which tokens were invalid. Shared by
 * all workers.
 *
 * The parse_errors_add_ functions are thread-safe, the others are not.
 */
#ifndef GPUHIST_PARSE_ERRORS_H
#define GPUHIST_PARSE_ERRORS_H

#include "base/status.h"
#include "job/chunk.h"
#include "job/job.h"
#include "text/text.h"

#include <stdint.h>

struct parse_errors;

/* Makes an empty errors for a policy. Fails with STATUS_DATA. The caller destroys it. */
enum status parse_errors_create(struct parse_errors **errors, enum invalid_policy policy,
                                struct failure *failure);

/* NULL is allowed. */
void parse_errors_destroy(struct parse_errors *errors);

/* Tells that so many values were parsed. */
void parse_errors_add_values(struct parse_errors *errors, uint64_t values);

/*
 * Tells of an invalid token of a chunk of text. With INVALID_ABORT fails with STATUS_DATA, at the
 * token's place in the stream, with file and line.
 */
enum status parse_errors_add_invalid(struct parse_errors *errors, const struct chunk *chunk,
                                     const struct text_token *token, struct failure *failure);

/*
 * Parses a chunk of text once more for its invalid tokens alone, and adds them: for an engine that
 * has found that there are some.
 */
enum status parse_errors_scan_chunk(struct parse_errors *errors, const struct job *job,
                                    const struct chunk *chunk, struct failure *failure);

/* The number of the line, in its file, that a byte of a chunk of text is in. */
uint64_t parse_errors_find_line(const struct chunk *chunk, size_t offset);

/* The values so far. */
uint64_t parse_errors_values(const struct parse_errors *errors);

/*
 * After the result was printed: reports the invalid tokens on stderr, unless they are ignored, the
 * first ten of the stream in full. Fails with STATUS_DATA if there were any and the policy is
 * INVALID_FAIL.
 */
enum status parse_errors_report(const struct parse_errors *errors, struct failure *failure);

#endif
