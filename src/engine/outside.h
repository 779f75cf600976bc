/* Finds the value that --outside=abort reports: the same check for every engine. */
#ifndef GPUHIST_OUTSIDE_H
#define GPUHIST_OUTSIDE_H

#include "base/status.h"
#include "job/chunk.h"
#include "job/job.h"

/*
 * Fails with STATUS_DATA if an element of the chunk is in no bin of the job, and reports the first
 * such element and its position. An engine calls it for a chunk in which it has seen such an
 * element, or cannot tell. Thread-safe.
 */
enum status outside_check(const struct job *job, const struct chunk *chunk,
                          struct failure *failure);

#endif
