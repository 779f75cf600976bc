/* Columns: what a job takes from each row, that is a line of text, a record or an element. */
#ifndef GPUHIST_COLUMNS_H
#define GPUHIST_COLUMNS_H

#include "base/kind_time.h"
#include "base/kind_time_bucket.h"
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
    uint64_t width;              /* numbers are floored to its multiples; 0: they are not */
    const struct kind_time_format *time_format; /* times; NULL: that of any form; not owned */
    struct kind_time_bucket bucket;             /* times are floored to it, if it has a width */
    const char *where; /* its number or name as typed, or TYPE@OFFSET; NULL: not named; not owned */
};

/* Returns whether times are floored to buckets. Pure. */
static inline bool column_has_bucket(const struct column *column)
{
    return column->bucket.width > 0 || column->bucket.months > 0;
}

/* Returns how many words of 64 bits a column's keys have. Pure. */
static inline size_t column_words(const struct column *column)
{
    return column->element.notation == ELEMENT_IP ? 2 : 1;
}

/*
 * Floors a key of so wide buckets, 1 or more, to the least of its bucket. Returns false if that is
 * below -2^63, which the key then is. Pure.
 */
static inline bool column_floor(uint64_t *key, uint64_t width, bool is_signed)
{
    const uint64_t magnitude = -*key;
    const uint64_t above = magnitude % width;
    const uint64_t more = above > 0 ? width - above : 0;

    if (!is_signed || (int64_t)*key >= 0) {
        *key -= *key % width;
        return true;
    }
    const bool is_fine = more <= ((uint64_t)1 << 63) - magnitude;
    *key = is_fine ? *key - more : (uint64_t)1 << 63;
    return is_fine;
}

#endif
