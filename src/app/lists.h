/* Reads the lists of numbers of --edges and --any-of (number_list.h). Not thread-safe. */
#ifndef GPUHIST_LISTS_H
#define GPUHIST_LISTS_H

#include "base/status.h"
#include "job/element.h"

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

#endif
