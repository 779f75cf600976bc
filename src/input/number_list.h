/*
 * Lists of integers, on the command line or in a file. Blanks, newlines or commas separate them.
 * They may come in any order, and with duplicates.
 *
 * Not thread-safe.
 */
#ifndef GPUHIST_NUMBER_LIST_H
#define GPUHIST_NUMBER_LIST_H

#include "base/status.h"

#include <stdbool.h>

/* Called with each number in the order of the list. A failure ends the scan. */
typedef enum status number_list_take(void *context, __int128 number, struct failure *failure);

/* Whether the argument names a file, "@FILE". */
bool number_list_is_file(const char *argument);

/* Whether it names standard input, "@-". */
bool number_list_is_stdin(const char *argument);

/*
 * Calls `take` with each number of a list, in multiples of 10^-decimals. `argument` is the list
 * itself, whose numbers may have suffixes (decimal.h), or "@FILE", whose numbers are digits with or
 * without a sign, and with decimals a point; FILE "-" is standard input. `option` is the long name
 * of the option, for messages. Fails as `take` does; with STATUS_USAGE if the argument is invalid;
 * with STATUS_DATA if there is no memory, if the file cannot be read, or if it contains a word that
 * is not a number, which is reported with its line.
 */
enum status number_list_scan(const char *argument, const char *option, unsigned decimals,
                             number_list_take *take, void *context, struct failure *failure);

#endif
