/*
 * The outcome of parsing text: the number of values, and the invalid tokens. All workers share it.
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

/*
 * Makes an empty errors for a job, the names of its field and of its second column's or NULL, all
 * of which must outlive it, and a policy. Fails with STATUS_DATA. The caller destroys it.
 */
enum status parse_errors_create(struct parse_errors **errors, const struct job *job,
                                const char *field_name, const char *second_name,
                                enum invalid_policy policy, struct failure *failure);

/* NULL is allowed. */
void parse_errors_destroy(struct parse_errors *errors);

/* Adds to the number of values. */
void parse_errors_add_values(struct parse_errors *errors, uint64_t values);

/*
 * Adds an invalid token of a chunk. With policy INVALID_ABORT it fails with STATUS_DATA instead;
 * the failure has the position of the token, and its message the file and line.
 */
enum status parse_errors_add_invalid(struct parse_errors *errors, const struct chunk *chunk,
                                     const struct text_token *token, struct failure *failure);

/*
 * Parses a chunk again and adds its invalid tokens. For an engine that knows only that the chunk
 * has some.
 */
enum status parse_errors_scan_chunk(struct parse_errors *errors, const struct job *job,
                                    const struct chunk *chunk, struct failure *failure);

/* Returns the line number, in its file, of the byte at an offset of a chunk. */
uint64_t parse_errors_find_line(const struct chunk *chunk, size_t offset);

/* Returns the number of values so far. */
uint64_t parse_errors_values(const struct parse_errors *errors);

/*
 * After the result was printed: reports the invalid tokens on stderr, the first ten of the stream
 * in full; if they are ignored, only their number, and only if there was nothing else. Fails with
 * STATUS_DATA if there were any and the policy is INVALID_FAIL.
 */
enum status parse_errors_report(const struct parse_errors *errors, struct failure *failure);

#endif
