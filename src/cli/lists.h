/*
 * Reads the lists of options: on the command line, or from a file, "@FILE"; FILE "-" is standard
 * input. Numbers are separated by blanks, newlines or commas; they may have any order, and
 * duplicates.
 *
 * Functions fail with STATUS_USAGE if the argument is invalid; with STATUS_DATA if there is no
 * memory, if the file cannot be read, or if it contains a word that is not a number; the message
 * has its line. `option` is the long name of the option, for messages. Not thread-safe.
 */
#ifndef GPUHIST_LISTS_H
#define GPUHIST_LISTS_H

#include "lib/status.h"
#include "value/element.h"
#include "value/predicate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return whether the argument names a file, and whether that is standard input. */
bool lists_is_file(const char *argument);
bool lists_is_stdin(const char *argument);

/*
 * Stores the numbers in `argument`, in the unit of the element: edges (__int128) in the typed
 * order; or keys (uint64_t) of the valid values of the type, ascending as values and without
 * duplicates. Numbers on the command line may have suffixes (decimal.h); numbers in a file are
 * digits with an optional sign, and if the element has decimal places an optional point. If values
 * are timestamps, so may be the items, without blanks and commas. The caller frees *items, also
 * after a failure.
 */
enum status lists_read_numbers(const char *argument, const char *option,
                               const struct element *element, bool are_edges, void **items,
                               size_t *count, struct failure *failure);

/* The items of a list that are not numbers. */
struct lists_items {
    struct predicate_text *list; /* [count], owned */
    size_t count;
    char *text; /* their bytes, owned */
    bool is_file;
};

/*
 * Reads a list whose items are separated by commas, and may be quoted as in CSV; quotes that do not
 * enclose a whole item are part of it. In a file, each line is an unquoted item; trailing carriage
 * returns and a leading byte order mark are ignored. The caller destroys the items, also after a
 * failure.
 */
enum status lists_read_items(const char *argument, const char *option, struct lists_items *items,
                             struct failure *failure);

void lists_destroy_items(struct lists_items *items);

#endif
