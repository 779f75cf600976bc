/*
 * Reads lists that options have: on the command line, or in a file, "@FILE"; FILE "-" is standard
 * input. Numbers are separated by blanks, newlines or commas; they may come in any order, and with
 * duplicates.
 *
 * A list fails with STATUS_USAGE if the argument is invalid; with STATUS_DATA if there is no
 * memory, if the file cannot be read, or if it contains a word that is not a number, which is
 * reported with its line. `option` is the long name of the option, for messages. Not thread-safe.
 */
#ifndef GPUHIST_LISTS_H
#define GPUHIST_LISTS_H

#include "lib/status.h"
#include "value/element.h"
#include "value/predicate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether the argument names a file; and whether that is standard input. */
bool lists_is_file(const char *argument);
bool lists_is_stdin(const char *argument);

/*
 * Stores the numbers in `argument`, in the unit of the element: edges, __int128, in the order
 * given; or keys, uint64_t, ascending as its values and without duplicates, but for numbers that
 * are no values of the type. Numbers on the command line may have suffixes (decimal.h); those of a
 * file are digits with or without a sign, and with decimals a point. If the element is a time, they
 * may be times without blanks and commas. The caller frees *items, also after a failure.
 */
enum status lists_read_numbers(const char *argument, const char *option,
                               const struct element *element, bool are_edges, void **items,
                               size_t *count, struct failure *failure);

/* The items of a list of other kinds than numbers. */
struct lists_items {
    struct predicate_text *list; /* [count], owned */
    size_t count;
    char *text; /* where their bytes are, owned */
    bool is_file;
};

/*
 * Reads a list whose items are separated by commas, and may be in quotes as in CSV; of a file each
 * line is an item as it stands, without a carriage return at its end, or a byte order mark before
 * the first. An item with quotes that do not enclose all of it is as it stands. The caller destroys
 * the items, also after a failure.
 */
enum status lists_read_items(const char *argument, const char *option, struct lists_items *items,
                             struct failure *failure);

void lists_destroy_items(struct lists_items *items);

#endif
