/*
 * What parsing text has met: how many values, and which tokens were invalid. One a run, shared by
 * all workers.
 *
 * The tally_add_ functions are thread-safe, the others are not.
 */
#ifndef GPUHIST_TALLY_H
#define GPUHIST_TALLY_H

#include "job.h"
#include "status.h"
#include "text.h"

#include <stdint.h>

struct tally;

/* Makes an empty tally for a policy. Fails with STATUS_DATA. The caller destroys it. */
enum status tally_create(struct tally **tally, enum invalid_policy policy, struct failure *failure);

/* NULL is allowed. */
void tally_destroy(struct tally *tally);

/* Tells that so many values were parsed. */
void tally_add_values(struct tally *tally, uint64_t values);

/*
 * Tells of an invalid token of a chunk of text. With INVALID_ABORT fails with STATUS_DATA, at the
 * token's place in the stream, with file and line.
 */
enum status tally_add_invalid(struct tally *tally, const struct chunk *chunk,
                              const struct text_token *token, struct failure *failure);

/*
 * Parses a chunk of text once more for its invalid tokens alone, and adds them: for an engine that
 * has found that there are some.
 */
enum status tally_scan_chunk(struct tally *tally, const struct job *job, const struct chunk *chunk,
                             struct failure *failure);

/* The number of the line, in its file, that a byte of a chunk of text is in. */
uint64_t tally_find_line(const struct chunk *chunk, size_t offset);

/* The values so far. */
uint64_t tally_values(const struct tally *tally);

/*
 * After the result was printed: reports the invalid tokens on stderr, unless they are ignored, the
 * first ten of the stream in full. Fails with STATUS_DATA if there were any and the policy is
 * INVALID_FAIL.
 */
enum status tally_report(const struct tally *tally, struct failure *failure);

#endif
