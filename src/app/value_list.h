/*
 * Reads lists of numbers (number_list.h) as keys of an element type.
 *
 * Not thread-safe.
 */
#ifndef GPUHIST_VALUE_LIST_H
#define GPUHIST_VALUE_LIST_H

#include "base/status.h"
#include "job/element.h"

#include <stddef.h>
#include <stdint.h>

/* Zero-initialised at first; the caller frees it with value_list_free, also after a failure. */
struct value_list {
    uint64_t *keys; /* [count], allocated for `room` */
    size_t count;
    size_t room;
};

/*
 * Appends the numbers in `argument`, which is a list or @FILE; `option` is the option's long name.
 * Skips numbers that are not values of the type. Fails as number_list_scan does, and with
 * STATUS_DATA if there is no memory.
 */
enum status value_list_read(struct value_list *list, const char *argument, const char *option,
                            const struct element *element, struct failure *failure);

/* Sorts the keys as values of the type and removes duplicates. */
void value_list_sort(struct value_list *list, const struct element *element);

void value_list_free(struct value_list *list);

#endif
