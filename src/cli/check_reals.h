/* Checks that binary floats, and only they, are rounded. */
#ifndef GPUHIST_CHECK_REALS_H
#define GPUHIST_CHECK_REALS_H

#include "input/record.h"
#include "input/source.h"
#include "value/plan.h"

/*
 * For a plan of binary input. Fails with STATUS_USAGE if a column of floats has a kind that does
 * not round them. The message names the number of decimal places that keeps six digits of the
 * smallest value other than 0 in the first block of the source. Also fails if a column of integers
 * is rounded, or floats are to be sorted.
 */
enum status check_reals(const struct plan *plan, struct source *source,
                        const struct record_format *format, struct failure *failure);

#endif
