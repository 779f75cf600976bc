/*
 * A stream cuts bytes that are read in order into chunks of whole records. What is left of them
 * opens the next chunk; a longer record makes the buffer grow. Not thread-safe.
 */
#ifndef GPUHIST_STREAM_H
#define GPUHIST_STREAM_H

#include "input/record.h"
#include "lib/status.h"
#include "value/chunk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reader;

/* A zero-initialised struct is an empty stream, once `format` is set. */
struct stream {
    const struct record_format *format; /* const once the first chunk is made */
    struct text_rules rules;            /* text: of the input that the last bytes came from */
    struct chunk_origin origin;         /* of the next chunk; its name is that of this input */
    char *carry;      /* memory; the carry is at its end; NULL: none; the owner frees it */
    bool is_skipping; /* the end of a row that began before the stream is to be skipped, */
    enum text_scan_state skip_state; /* and this is its state in CSV */
    size_t carry_begin;              /* bytes that open the next chunk: carry_bytes from here on */
    size_t carry_bytes;
    uint64_t left_out; /* of the next chunk so far: bytes that were read but are in no chunk */
    uint64_t position; /* of the next chunk */
    uint64_t taken;    /* bytes, so far, without the carry */
};

/* A chunk under construction. */
struct stream_chunk {
    struct chunk_buffer *buffer;
    size_t limit; /* of `filled`: the capacity, in whole elements */
    size_t filled;
    size_t whole;               /* of these, bytes that are whole records */
    uint64_t lines;             /* text: newlines among the filled bytes */
    enum text_scan_state state; /* of CSV, after the filled bytes */
};

/* Begins a chunk in a buffer, which must live as long. */
struct stream_chunk stream_begin(const struct stream *stream, struct chunk_buffer *buffer);

/*
 * Takes `bytes` bytes that the caller has read to the buffer after the filled ones. If a row fills
 * the whole buffer, the buffer grows. Fails as stream_grow does.
 */
enum status stream_take(struct stream *stream, struct stream_chunk *chunk, size_t bytes,
                        struct failure *failure);

/* Moves the carry to the chunk, as far as it fits. Fails as stream_take does. */
enum status stream_take_carry(struct stream *stream, struct stream_chunk *chunk,
                              struct failure *failure);

/*
 * While the stream is skipping: removes from data[0..*bytes), which was read for it, the end of a
 * row that began before it. Counts them as taken.
 */
void stream_skip(struct stream *stream, char *data, size_t *bytes);

/*
 * At the end of a file: all of the chunk is whole records. Fails with STATUS_DATA if a quote is not
 * closed.
 */
enum status stream_end_file(const struct stream *stream, struct stream_chunk *chunk,
                            struct failure *failure);

/*
 * Fails because the row that data[0..bytes) begins with, which comes from `origin`, has a quote
 * that is never closed; or if `too_long` is not NULL, with that, the length, and where a quote of
 * CSV opens that is not closed.
 */
enum status stream_fail_row(const struct text_rules *rules, const struct chunk_origin *origin,
                            const char *data, size_t bytes, const char *too_long,
                            struct failure *failure);

/*
 * Makes the buffer larger for the rest of a row, of which data[row..end) of the buffer was read.
 * Fails as stream_fail_row if there is no memory, or the row is longer than CHUNK_ROW_BYTES_MAX;
 * and with STATUS_ENGINE as the buffer's `grow`.
 */
enum status stream_grow(const struct text_rules *rules, const struct chunk_origin *origin,
                        struct chunk_buffer *buffer, size_t row, size_t end,
                        struct failure *failure);

/*
 * Takes from the reader the counts of header lines, which it resets, and how rows end, before the
 * bytes after the header are taken.
 */
void stream_count_header(struct stream *stream, struct reader *reader);

/* Keeps what follows the whole records. Fails with STATUS_DATA if there is no memory. */
enum status stream_keep(struct stream *stream, const struct stream_chunk *chunk,
                        struct failure *failure);

/*
 * Completes a chunk of the whole records, or an empty one if it `is_dropped`, and advances the
 * stream. Sets all members of *chunk but `sequence`.
 */
void stream_end(struct stream *stream, const struct stream_chunk *chunk, bool is_dropped,
                bool is_cut, struct chunk *out);

#endif
