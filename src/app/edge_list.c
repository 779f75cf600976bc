/* Reads the edges of --edges into an array, in the order given. */
#include "config.h"

#include "app/edge_list.h"

#include "base/memory.h"
#include "input/number_list.h"

#include <stdlib.h>

#define EDGE_LIST_ROOM_MIN ((size_t)256)

static enum status edge_list_take(void *context, __int128 number, struct failure *failure)
{
    struct edge_list *list = context;

    if (list->count == list->room) {
        size_t room = list->room > 0 ? list->room * 2 : EDGE_LIST_ROOM_MIN;
        size_t bytes = room * sizeof *list->edges;
        __int128 *edges = bytes <= memory_available() ? realloc(list->edges, bytes) : NULL;
        if (!edges)
            return status_fail(failure, STATUS_DATA, "no memory for more than %zu edges",
                               list->count);
        list->edges = edges;
        list->room = room;
    }
    list->edges[list->count++] = number;
    return STATUS_OK;
}

enum status edge_list_read(struct edge_list *list, const char *argument, const char *option,
                           unsigned decimals, struct failure *failure)
{
    return number_list_scan(argument, option, decimals, edge_list_take, list, failure);
}

void edge_list_free(struct edge_list *list)
{
    free(list->edges);
}
