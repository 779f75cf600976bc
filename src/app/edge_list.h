/*
 * Reads the edges of bins (number_list.h). Edges keep their order and may exceed 64 bits. Not
 * thread-safe.
 */
#ifndef GPUHIST_EDGE_LIST_H
#define GPUHIST_EDGE_LIST_H

#include "base/status.h"

#include <stddef.h>

/*
 * Edges in the order given. Zero-initialised at first; the caller frees it with edge_list_free,
 * also after a failure.
 */
struct edge_list {
    __int128 *edges; /* [count] */
    size_t count;
    size_t room;
};

/*
 * Appends the edges, in multiples of 10^-decimals, in `argument`, which is a list or @FILE;
 * `option` is the option's long name. Fails as number_list_scan does, and with STATUS_DATA if there
 * is no memory.
 */
enum status edge_list_read(struct edge_list *list, const char *argument, const char *option,
                           unsigned decimals, struct failure *failure);

void edge_list_free(struct edge_list *list);

#endif
