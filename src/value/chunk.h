/* Chunks: pieces of the input, which workers pull and engines accumulate. */
#ifndef GPUHIST_CHUNK_H
#define GPUHIST_CHUNK_H

#include "lib/status.h"
#include "value/text_rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decoder_format;

/* Maximum length of a row in bytes. */
#define CHUNK_ROW_BYTES_MAX ((size_t)1 << 30)

/* Memory of a chunk, mapped by memory_map. */
struct chunk_memory {
    char *data;
    size_t bytes;
};

/* Memory for a chunk. The owner frees it. */
struct chunk_buffer {
    char *data;
    size_t capacity; /* in bytes; at least one element or record */
    /*
     * Makes the capacity at least `capacity` bytes, for a row that is longer, and keeps the
     * contents. The next chunk has the usual capacity again. Fails if there is no memory: with
     * STATUS_DATA (the caller then names the row), or with STATUS_ENGINE if a device has none.
     * NULL: the buffer cannot grow.
     */
    enum status (*grow)(struct chunk_buffer *buffer, size_t capacity, struct failure *failure);
    /*
     * Exchanges the memory, whose contents others will read, for other memory of at least the usual
     * capacity. NULL: the memory cannot be exchanged.
     */
    void (*exchange)(struct chunk_buffer *buffer, struct chunk_memory *memory);
    void *owner; /* private to `grow` and `exchange` */
};

/* Returns the next capacity of a buffer that is too small for a row. */
static inline size_t chunk_grown_bytes(size_t capacity)
{
    return capacity < CHUNK_ROW_BYTES_MAX / 2 ? 2 * capacity : CHUNK_ROW_BYTES_MAX;
}

/* The place of a text in its file, for messages. */
struct chunk_origin {
    const char *name; /* the file's name */
    uint64_t line;    /* number of lines between `offset` and the text */
    uint64_t offset;  /* where reading began, in bytes; above `start` only in a regular file */
    uint64_t start;   /* reader_find_line counts the lines between `start` and `offset` */
    enum text_row_end row_end;
    const struct decoder_format *decoder; /* compressed: its format; offsets are of frames */
};

/*
 * A piece of the input, in memory of the worker that pulled it. Binary: whole elements or records.
 * Text: whole lines, or whole tokens (text_is_of_tokens); the end of the chunk counts as the end of
 * a line. A chunk of text never spans two files. An engine may make chunks of elements, parsed or
 * gathered, from it for the operation.
 *
 * For a plan with several columns (plan.h), the engine makes chunks of elements from the rows that
 * meet its conditions: one for each value column, with the weight and the groups of each element.
 */
struct chunk {
    const void *data;
    size_t bytes;
    uint64_t left_out;          /* bytes read before it that are in no chunk, such as headers */
    uint64_t position;          /* offset of its first byte in the input stream */
    uint64_t sequence;          /* 0, 1, 2, ... in stream order */
    bool is_cut;                /* an error follows; nothing after this chunk counts */
    struct text_rules rules;    /* text: the rules of its file */
    struct chunk_origin origin; /* text: its place in the file */
    const struct chunk *text;   /* values parsed from text: that chunk of text; else NULL */
    bool is_gathered;           /* the data are elements gathered from records; else as read */
    size_t column;              /* elements: the index of their value column */
    const uint64_t *weights;    /* elements: the weight of each; NULL: 1 */
    const uint16_t *indices;    /* gathered elements: the index of each one's record, counted from
                                   `position`; NULL: the records are consecutive */
    const uint64_t *const *groups; /* elements: [group_count] arrays with the group keys of each */
};

#endif
