/* Implements lists.h with arrays that grow. */
#include "config.h"

#include "app/lists.h"

#include "base/memory.h"
#include "base/text_buffer.h"
#include "input/number_list.h"
#include "input/source.h"
#include "job/value_set.h"

#include <stdlib.h>
#include <string.h>

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

/* Appends the bytes of a file of a list to a text, a struct text_buffer. */
static enum status lists_append(void *context, const char *data, size_t bytes,
                                struct failure *failure)
{
    (void)failure; /* the text is_lost */

    text_buffer_append(context, data, bytes);
    return STATUS_OK;
}

enum status lists_read_items(const char *argument, const char *option, struct lists_items *items,
                             struct failure *failure)
{
    const bool is_file = number_list_is_file(argument);
    const char separator = is_file ? '\n' : ',';
    struct text_buffer text = {.text = NULL};
    const char *next = argument;
    const char *end = argument + strlen(argument);
    size_t capacity = 1;

    *items = (struct lists_items){.list = NULL};
    if (strcmp(argument, "@") == 0)
        return status_fail(failure, STATUS_USAGE,
                           "invalid --%s '@': expected a file name after the @", option);
    if (is_file) {
        enum status status = source_read_file(argument + 1, lists_append, &text, failure);
        if (status == STATUS_OK && text.is_lost)
            status = status_fail(failure, STATUS_DATA, "no memory for the list in " STATUS_NAME,
                                 argument + 1);
        items->file = text.text;
        if (status != STATUS_OK)
            return status;
        next = text.text;
        end = text.text + text.length;
    }
    for (const char *c = next; c < end; c++)
        capacity += *c == separator;
    items->list = malloc(capacity * sizeof *items->list);
    if (!items->list)
        return status_fail(failure, STATUS_DATA, "no memory for the list of --%s", option);
    while (next < end || (!is_file && next == end)) { /* after the last newline is no line */
        const char *stop = memchr(next, separator, (size_t)(end - next));
        stop = stop ? stop : end;
        items->list[items->count++] = (struct predicate_text){next, (size_t)(stop - next)};
        next = stop + 1;
    }
    return STATUS_OK;
}

void lists_destroy_items(struct lists_items *items)
{
    free(items->list);
    free(items->file);
}
