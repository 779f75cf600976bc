/* Reads the lists of --edges and --any-of into arrays that grow. */
#include "config.h"

#include "app/lists.h"

#include "base/memory.h"
#include "input/number_list.h"
#include "job/value_set.h"

#include <stdlib.h>

#define LISTS_CAPACITY_MIN ((size_t)1024)

/*
 * A list of so many keys (32 MiB) removes duplicates before it doubles its capacity, so that
 * duplicates alone take no more memory. Sorting at each doubling would double the time.
 */
#define LISTS_CAPACITY_LARGE ((size_t)4 << 20)

/* An array of `count` items; it is of edges or of keys. */
struct lists_array {
    const char *option;
    const struct element *element; /* keys: their type */
    __int128 *edges;
    uint64_t *keys;
    size_t count;
    size_t capacity;
};

/* Returns the array `items`, reallocated with twice the capacity; NULL: fails. */
static void *lists_grow(struct lists_array *array, void *items, size_t item_bytes,
                        struct failure *failure)
{
    size_t capacity = array->capacity > 0 ? array->capacity * 2 : LISTS_CAPACITY_MIN;
    size_t bytes = capacity * item_bytes;
    void *grown = bytes <= memory_available() ? realloc(items, bytes) : NULL;

    if (grown)
        array->capacity = capacity;
    else
        status_fail(failure, STATUS_DATA, "no memory for more than %zu values of --%s",
                    array->count, array->option);
    return grown;
}

static enum status lists_take_edge(void *context, __int128 number, struct failure *failure)
{
    struct lists_array *array = context;

    if (array->count == array->capacity) {
        __int128 *grown = lists_grow(array, array->edges, sizeof *grown, failure);
        if (!grown)
            return failure->status;
        array->edges = grown;
    }
    array->edges[array->count++] = number;
    return STATUS_OK;
}

static enum status lists_take_key(void *context, __int128 number, struct failure *failure)
{
    struct lists_array *array = context;
    const struct element *element = array->element;

    if (number < element_min(element) || number >= element_limit(element))
        return STATUS_OK; /* no element can be equal to it */
    if (array->count == array->capacity) {
        if (array->capacity >= LISTS_CAPACITY_LARGE)
            array->count = value_set_sort(array->keys, array->count, element->is_signed);
        if (array->count >= array->capacity / 2) {
            uint64_t *grown = lists_grow(array, array->keys, sizeof *grown, failure);
            if (!grown)
                return failure->status;
            array->keys = grown;
        }
    }
    array->keys[array->count++] = (uint64_t)number;
    return STATUS_OK;
}

enum status lists_read_edges(const char *argument, unsigned decimals, __int128 **edges,
                             size_t *count, struct failure *failure)
{
    struct lists_array array = {.option = "edges"};
    enum status status =
        number_list_scan(argument, array.option, decimals, lists_take_edge, &array, failure);

    *edges = array.edges;
    *count = array.count;
    return status;
}

enum status lists_read_keys(const char *argument, const char *option, const struct element *element,
                            uint64_t **keys, size_t *count, struct failure *failure)
{
    struct lists_array array = {.option = option, .element = element};
    enum status status = number_list_scan(argument, array.option, element->decimals, lists_take_key,
                                          &array, failure);

    *keys = array.keys;
    *count = value_set_sort(array.keys, array.count, element->is_signed);
    return status;
}
