/* Finds the kinds of columns that are given without one, from the beginning of the input. */
#ifndef GPUHIST_FIND_KINDS_H
#define GPUHIST_FIND_KINDS_H

#include "cli/options.h"
#include "input/source.h"
#include "lib/status.h"

/*
 * Reads the first 64 KiB of the source, which is opened with those options, is text, and may have
 * been looked at; and finds the kinds. Then *source is at its beginning again: it may be another
 * one. Sets *is_any if one of the kinds is not the default. Fails with STATUS_DATA if the source
 * cannot be read, and with STATUS_USAGE if the values are of more than one kind as they are used:
 * the message names both. A header that lacks a column finds nothing, and fails later.
 */
enum status find_kinds(const struct options *options, const struct source_options *reading,
                       struct source **source, struct options_found *found, bool *is_any,
                       struct failure *failure);

/* Prints the columns whose kinds were found, as they would be typed, after `before`. */
void find_kinds_print(const struct options *options, const struct options_found *found,
                      const char *before);

#endif
