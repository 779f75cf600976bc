/*
 * Lists of integers as people write them, in a file or on the command line: separated by blanks,
 * newlines or commas, in any number and order, with duplicates.
 *
 * Not thread-safe.
 */
#ifndef GPUHIST_VALUE_LIST_H
#define GPUHIST_VALUE_LIST_H

#include "element.h"
#include "status.h"

#include <stddef.h>
#include <stdint.h>

/* The values of a list that the type can have, as keys. The caller frees it, also after errors. */
struct value_list {
    uint64_t *keys; /* [count]; room for `room` */
    size_t count;
    size_t room;
};

/*
 * Reads a list from the command line; numbers may have suffixes (decimal.h). Fails with
 * STATUS_USAGE at a word that is no number, with STATUS_DATA if there is no memory.
 */
enum status value_list_parse(struct value_list *list, const char *text,
                             const struct element *element, struct failure *failure);

/*
 * Reads a list from the file `name`, "-" being standard input; numbers are digits, with or without
 * a sign. Fails with STATUS_DATA if it cannot be read, at a word that is no such number, which is
 * told with its line, and if there is no memory.
 */
enum status value_list_read(struct value_list *list, const char *name,
                            const struct element *element, struct failure *failure);

/* Sorts the keys as the type does and removes duplicates. */
void value_list_sort(struct value_list *list, const struct element *element);

void value_list_free(struct value_list *list);

#endif
