/* Reads the list of --any-of into an array of keys. */
#include "config.h"

#include "app/value_list.h"

#include "base/memory.h"
#include "input/number_list.h"
#include "job/value_set.h"

#include <stdlib.h>

/*
 * Room for keys. MIN is the first allocation. A list with LARGE room (32 MiB) removes duplicates
 * before it doubles its room, so that duplicates alone take no more memory. Sorting at each
 * doubling would double the time.
 */
#define VALUE_LIST_ROOM_MIN   ((size_t)1024)
#define VALUE_LIST_ROOM_LARGE ((size_t)4 << 20)

/* The context of a scan. */
struct value_list_reader {
    struct value_list *list;
    const char *option;
    const struct element *element;
};

void value_list_sort(struct value_list *list, const struct element *element)
{
    list->count = value_set_sort(list->keys, list->count, element->is_signed);
}

void value_list_free(struct value_list *list)
{
    free(list->keys);
}

/* Makes room for at least one more key. */
static enum status value_list_grow(const struct value_list_reader *reader, struct failure *failure)
{
    struct value_list *list = reader->list;

    if (list->room >= VALUE_LIST_ROOM_LARGE) {
        value_list_sort(list, reader->element);
        if (list->count <= list->room / 2)
            return STATUS_OK;
    }

    size_t room = list->room > 0 ? list->room * 2 : VALUE_LIST_ROOM_MIN;
    size_t bytes = room * sizeof *list->keys;
    uint64_t *keys = bytes <= memory_available() ? realloc(list->keys, bytes) : NULL;
    if (!keys)
        return status_fail(failure, STATUS_DATA, "no memory for more than %zu values of --%s",
                           list->count, reader->option);
    list->keys = keys;
    list->room = room;
    return STATUS_OK;
}

static enum status value_list_take(void *context, __int128 number, struct failure *failure)
{
    const struct value_list_reader *reader = context;
    struct value_list *list = reader->list;

    if (number < element_min(reader->element) || number >= element_limit(reader->element))
        return STATUS_OK; /* no element can be equal to it */
    if (list->count == list->room && value_list_grow(reader, failure) != STATUS_OK)
        return failure->status;
    list->keys[list->count++] = (uint64_t)number;
    return STATUS_OK;
}

enum status value_list_read(struct value_list *list, const char *argument, const char *option,
                            const struct element *element, struct failure *failure)
{
    struct value_list_reader reader = {.list = list, .option = option, .element = element};
    return number_list_scan(argument, option, element->decimals, value_list_take, &reader, failure);
}
