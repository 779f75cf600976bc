/*
 * Lists of values that elements of a type can have (number_list.h), as keys.
 *
 * Not thread-safe.
 */
#ifndef GPUHIST_VALUE_LIST_H
#define GPUHIST_VALUE_LIST_H

#include "base/status.h"
#include "job/element.h"

#include <stddef.h>
#include <stdint.h>

/* The caller frees it, also after errors. */
struct value_list {
    uint64_t *keys; /* [count]; room for `room` */
    size_t count;
    size_t room;
};

/*
 * Reads what the argument of that option lists; numbers that the type cannot have are left out.
 * Fails as number_list_scan does, and with STATUS_DATA if there is no memory.
 */
enum status value_list_read(struct value_list *list, const char *argument, const char *option,
                            const struct element *element, struct failure *failure);

/* Sorts the keys as the type does and removes duplicates. */
void value_list_sort(struct value_list *list, const struct element *element);

void value_list_free(struct value_list *list);

#endif
