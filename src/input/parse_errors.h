/*
 * The outcome of parsing text: the number of values, and the invalid tokens. All workers share it.
 *
 * The functions parse_errors_add_*, _find_line and _values are thread-safe; the others are not.
 */
#ifndef GPUHIST_PARSE_ERRORS_H
#define GPUHIST_PARSE_ERRORS_H

#include "lib/status.h"
#include "text/text.h"
#include "value/chunk.h"
#include "value/plan.h"

#include <stdint.h>

struct parse_errors;

/*
 * Makes an empty outcome of a plan, which must outlive it. Fails with STATUS_DATA if there is no
 * memory. The caller destroys it.
 */
enum status parse_errors_create(struct parse_errors **errors, const struct plan *plan,
                                enum invalid_policy policy, struct failure *failure);

/* Frees an outcome. NULL is allowed. */
void parse_errors_destroy(struct parse_errors *errors);

/* Adds to the number of rows left out because a value is missing. */
void parse_errors_add_missing(struct parse_errors *errors, uint64_t rows);

/* Adds to the number of values. */
void parse_errors_add_values(struct parse_errors *errors, uint64_t values);

/*
 * Adds an invalid token of a chunk. Fails instead with STATUS_DATA with policy INVALID_ABORT, and
 * with any policy if the kind of its column was found, and would accept the token if it were typed.
 * The failure has the position of the token, and its message the file and line.
 */
enum status parse_errors_add_invalid(struct parse_errors *errors, const struct chunk *chunk,
                                     const struct text_token *token, struct failure *failure);

/* Returns the line number, in its file, of the byte at an offset of a chunk. */
uint64_t parse_errors_find_line(const struct chunk *chunk, size_t offset);

/* Returns the number of values so far. */
uint64_t parse_errors_values(const struct parse_errors *errors);

/*
 * After the result was printed: reports on stderr the first ten invalid tokens of the stream, and
 * the number of the others. With INVALID_IGNORE it reports only their number, and if `quiet` only
 * if there was no value. Both reports include the number of tokens that are numbers which do not
 * fit, and the option that would read them. Fails with STATUS_DATA if there were invalid tokens and
 * the policy is INVALID_FAIL.
 */
enum status parse_errors_report(const struct parse_errors *errors, bool quiet,
                                struct failure *failure);

#endif
