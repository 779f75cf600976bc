/* Reads the lists of --edges, --any-of and --where. Not thread-safe. */
#ifndef GPUHIST_LISTS_H
#define GPUHIST_LISTS_H

#include "base/status.h"
#include "job/element.h"
#include "job/predicate.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Stores the edges in `argument`, a list or @FILE, in multiples of 10^-decimals and the order
 * given. Fails as number_list_scan does, and with STATUS_DATA if there is no memory. The caller
 * frees *edges, also after a failure.
 */
enum status lists_read_edges(const char *argument, unsigned decimals, __int128 **edges,
                             size_t *count, struct failure *failure);

/*
 * Likewise stores the list of `option` as keys of the element type, ascending as its values and
 * without duplicates. Skips numbers that are not values of the type.
 */
enum status lists_read_keys(const char *argument, const char *option, const struct element *element,
                            uint64_t **keys, size_t *count, struct failure *failure);

/* The items of a list of other kinds than numbers. */
struct lists_items {
    struct predicate_text *list; /* [count], owned; their bytes are in `file`, or in the argument */
    size_t count;
    char *file; /* all that was read, owned; NULL: the list is no file */
};

/*
 * Reads a list of `option`, whose items are separated by commas; of "@FILE" each line is an item,
 * all its bytes but the newline; FILE "-" is standard input. Fails with STATUS_USAGE if the
 * argument is "@"; with STATUS_DATA if there is no memory or the file cannot be read. The caller
 * destroys the items, also after a failure.
 */
enum status lists_read_items(const char *argument, const char *option, struct lists_items *items,
                             struct failure *failure);

void lists_destroy_items(struct lists_items *items);

#endif
