/* Columns: what a job takes from each row, that is a line of text, a record or an element. */
#ifndef GPUHIST_COLUMNS_H
#define GPUHIST_COLUMNS_H

#include "job/element.h"
#include "job/text_rules.h"

#include <stddef.h>
#include <stdint.h>

/* A column, as --where, --by, --weight or -f names it. */
struct column {
    int32_t field;    /* text: as text_rules; 1 if it has a name */
    const char *name; /* text: of the field in the header; NULL: none; not owned */
    struct element
        element;   /* its keys; binary: also how they lie in the record; text: not swapped */
    size_t offset; /* binary: of the element in the record */
    enum text_notation notation; /* text */
    uint64_t width;              /* keys are floored to its multiples; 0: they are not */
    const char *where; /* its number or name as typed, or TYPE@OFFSET; NULL: not named; not owned */
};

#endif
