/* The edges of bins, as they are given (number_list.h): in their order, of any size. */
#ifndef GPUHIST_EDGE_LIST_H
#define GPUHIST_EDGE_LIST_H

#include "base/status.h"

#include <stddef.h>

/* The caller frees it, also after errors. */
struct edge_list {
    __int128 *edges; /* [count] */
    size_t count;
    size_t room;
};

/* Reads what the argument of that option lists. Fails as number_list_scan does. */
enum status edge_list_read(struct edge_list *list, const char *argument, const char *option,
                           struct failure *failure);

void edge_list_free(struct edge_list *list);

#endif
