/* Checks that binary floats are rounded, and nothing else is. */
#ifndef GPUHIST_CHECK_REALS_H
#define GPUHIST_CHECK_REALS_H

#include "input/record.h"
#include "input/source.h"
#include "value/plan.h"

/*
 * Fails with STATUS_USAGE if a column of floats of a plan of binary input has a kind that does not
 * round them: reads the first block of the source, and the message names the decimals that keep six
 * digits of the least value but 0. Fails also if a column of integers is rounded, or floats are to
 * be sorted.
 */
enum status check_reals(const struct plan *plan, struct source *source,
                        const struct record_format *format, struct failure *failure);

#endif
