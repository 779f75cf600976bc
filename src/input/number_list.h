/*
 * Lists of integers as people write them, on the command line or in a file: separated by blanks,
 * newlines or commas, in any number and order, with duplicates.
 *
 * Not thread-safe.
 */
#ifndef GPUHIST_NUMBER_LIST_H
#define GPUHIST_NUMBER_LIST_H

#include "base/status.h"

#include <stdbool.h>

/* Takes a number of the list, in its order; a failure ends the scan. */
typedef enum status number_list_take(void *context, __int128 number, struct failure *failure);

/* Whether the argument names a file, "@FILE". */
bool number_list_is_file(const char *argument);

/* Whether it names standard input, "@-". */
bool number_list_is_stdin(const char *argument);

/*
 * Gives every number of a list to `take`. The argument of the option (its long name) is the list
 * itself, in which numbers may have suffixes (decimal.h), or "@FILE", "-" being standard input, in
 * which they are digits, with or without a sign. Fails as `take` does; with STATUS_USAGE if the
 * argument is wrong; with STATUS_DATA if a file cannot be read, at a word that is no such number,
 * which is told with its line, and if there is no memory.
 */
enum status number_list_scan(const char *argument, const char *option, number_list_take *take,
                             void *context, struct failure *failure);

#endif
