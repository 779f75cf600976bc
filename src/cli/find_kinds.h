/* Finds the kinds of columns that are typed without one, from the start of the input. */
#ifndef GPUHIST_FIND_KINDS_H
#define GPUHIST_FIND_KINDS_H

#include "cli/options.h"
#include "input/source.h"
#include "lib/status.h"

/*
 * Finds the kinds from the first 64 KiB of the source, which is text, was opened with `reading`,
 * and may have been looked at. Afterwards *source, possibly another one, is at its start again.
 * Sets *is_any if one of the kinds is not the default. Fails with STATUS_DATA if the source cannot
 * be read, and with STATUS_USAGE if the values have more than one kind for their use; the message
 * names both. If the header lacks a column, nothing is found, and the run fails later.
 */
enum status find_kinds(const struct options *options, const struct source_options *reading,
                       struct source **source, struct options_found *found, bool *is_any,
                       struct failure *failure);

/* Prints `before`, and the columns with the kinds that were found, as they would be typed. */
void find_kinds_print(const struct options *options, const struct options_found *found,
                      const char *before);

#endif
