/* Finds the out-of-range value that --outside=abort reports, for all engines. */
#ifndef GPUHIST_OUTSIDE_H
#define GPUHIST_OUTSIDE_H

#include "lib/status.h"
#include "value/chunk.h"
#include "value/plan.h"

/*
 * Fails with STATUS_DATA if an element of the chunk (of input or of elements) is outside the bins
 * of the plan. Elements of weight 0 do not count. The failure has the first such element with its
 * byte offset in the input, or for text with its file and line. An engine calls this function for a
 * chunk that has, or may have, such an element. Does not change the chunk. Thread-safe.
 */
enum status outside_check(const struct plan *plan, const struct chunk *chunk,
                          struct failure *failure);

#endif
