/*
 * Records: what chunks are cut at. Of binary input whole elements, or records of which one element
 * is a value; of text whole lines, or tokens
 * where these can be told apart without their line (text_is_of_tokens).
 *
 * All functions are pure and thread-safe on distinct data.
 */
#ifndef GPUHIST_RECORD_H
#define GPUHIST_RECORD_H

#include "job/text_rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What chunks are made of. */
struct record_format {
    size_t element_bytes;    /* of binary input: of an element or record */
    bool has_records;        /* of binary input: these are records, as messages call them */
    bool is_text;            /* a chunk of text is of one file */
    struct text_rules text;  /* of text */
    uint64_t header_lines;   /* of each file, skipped */
    const char *field_name;  /* of text.field, in the last header line; NULL: none; not owned */
    const char *second_name; /* likewise, of text.second_field */
};

/* Whether fields have to be looked up in the header. */
static inline bool record_has_names(const struct record_format *format)
{
    return format->field_name || format->second_name;
}

/* Whether a chunk of text may end after this character. */
bool record_is_end(const struct record_format *format, char c);

/*
 * Returns how many of data[0..bytes) are whole records. Examines only data[known..bytes): the
 * caller knows that no record ends before.
 */
size_t record_cut(const struct record_format *format, const char *data, size_t known, size_t bytes);

/*
 * Returns the number of the field with this name in a header line; 0 if there is none, -1 if there
 * are several. The line is without its end; it may begin with a byte order mark.
 */
int32_t record_find_name(const struct text_rules *rules, const char *line, size_t bytes,
                         const char *name);

#endif
