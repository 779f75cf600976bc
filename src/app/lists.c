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

/* An array that grows: of edges, __int128; or of keys, uint64_t. */
struct lists_array {
    const char *option;
    const struct element *element; /* keys: their type; NULL: edges */
    void *items;
    size_t count;
    size_t capacity;
};

static enum status lists_take(void *context, __int128 number, struct failure *failure)
{
    struct lists_array *array = context;
    const struct element *element = array->element;
    const size_t item_bytes = element ? sizeof(uint64_t) : sizeof(__int128);

    if (element && (number < element_min(element) || number >= element_limit(element)))
        return STATUS_OK; /* no element can be equal to it */
    if (array->count == array->capacity) {
        if (element && array->capacity >= LISTS_CAPACITY_LARGE)
            array->count = value_set_sort(array->items, array->count, element->is_signed);
        if (array->count >= array->capacity / 2) {
            const size_t capacity = array->capacity > 0 ? array->capacity * 2 : LISTS_CAPACITY_MIN;
            const size_t bytes = capacity * item_bytes;
            void *grown = bytes <= memory_available() ? realloc(array->items, bytes) : NULL;
            if (!grown)
                return status_fail(failure, STATUS_DATA,
                                   "no memory for more than %zu values of --%s", array->count,
                                   array->option);
            array->items = grown;
            array->capacity = capacity;
        }
    }
    if (element)
        ((uint64_t *)array->items)[array->count++] = (uint64_t)number;
    else
        ((__int128 *)array->items)[array->count++] = number;
    return STATUS_OK;
}

enum status lists_read_edges(const char *argument, unsigned decimals, __int128 **edges,
                             size_t *count, struct failure *failure)
{
    struct lists_array array = {.option = "edges"};
    enum status status =
        number_list_scan(argument, array.option, decimals, lists_take, &array, failure);

    *edges = array.items;
    *count = array.count;
    return status;
}

enum status lists_read_keys(const char *argument, const char *option, const struct element *element,
                            uint64_t **keys, size_t *count, struct failure *failure)
{
    struct lists_array array = {.option = option, .element = element};
    enum status status =
        number_list_scan(argument, array.option, element->decimals, lists_take, &array, failure);

    *keys = array.items;
    *count = value_set_sort(array.items, array.count, element->is_signed);
    return status;
}
