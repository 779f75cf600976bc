/*
 * A stream cuts bytes that are read in order into chunks of whole records. The rest, the *carry*,
 * begins the next chunk; a longer record makes the buffer grow. Not thread-safe.
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
    struct text_rules rules;            /* text: the rules of the input of the last bytes */
    struct chunk_origin origin;         /* the origin of the next chunk, in that input */
    char *carry;      /* memory whose last bytes are the carry; the owner frees it; NULL: none */
    bool is_skipping; /* the stream skips the end of a row that began before it */
    enum text_scan_state skip_state; /* is_skipping, CSV: the state in that row */
    size_t carry_begin;              /* offset of the carry in its memory */
    size_t carry_bytes;              /* length of the carry */
    uint64_t left_out;               /* bytes read for the next chunk so far that are in no chunk */
    uint64_t position;               /* position of the next chunk in the input stream */
    uint64_t taken;                  /* number of bytes taken so far, without the carry */
};

/* A chunk under construction. */
struct stream_chunk {
    struct chunk_buffer *buffer;
    size_t limit; /* maximum of `filled`: the capacity, in whole elements */
    size_t filled;
    size_t whole;               /* number of filled bytes that are whole records */
    uint64_t lines;             /* text: number of newlines in the filled bytes */
    enum text_scan_state state; /* CSV: the state after the filled bytes */
};

/* Begins a chunk in a buffer, which must outlive it. */
struct stream_chunk stream_begin(const struct stream *stream, struct chunk_buffer *buffer);

/*
 * Takes `bytes` bytes that the caller has read into the buffer after the filled bytes. If a row
 * fills the whole buffer, the buffer grows. Fails like stream_grow.
 */
enum status stream_take(struct stream *stream, struct stream_chunk *chunk, size_t bytes,
                        struct failure *failure);

/* Moves the carry to the chunk, as far as it fits. Fails like stream_take. */
enum status stream_take_carry(struct stream *stream, struct stream_chunk *chunk,
                              struct failure *failure);

/*
 * While the stream is skipping: removes from data[0..*bytes), its next bytes, the end of a
 * row that began before it. Counts them as taken.
 */
void stream_skip(struct stream *stream, char *data, size_t *bytes);

/*
 * Ends a file: all of the chunk is then whole records. Fails with STATUS_DATA if a quote is not
 * closed.
 */
enum status stream_end_file(const struct stream *stream, struct stream_chunk *chunk,
                            struct failure *failure);

/*
 * Fails because the row at the start of data[0..bytes), from `origin`, has a quote that is never
 * closed. If `too_long` is not NULL, fails with that message, the length, and the place of an open
 * quote of CSV.
 */
enum status stream_fail_row(const struct text_rules *rules, const struct chunk_origin *origin,
                            const char *data, size_t bytes, const char *too_long,
                            struct failure *failure);

/*
 * Makes the buffer larger for the rest of a row; data[row..end) of the buffer is its part read so
 * far. Fails like stream_fail_row if there is no memory, or the row is longer than
 * CHUNK_ROW_BYTES_MAX; and with STATUS_ENGINE like the buffer's `grow`.
 */
enum status stream_grow(const struct text_rules *rules, const struct chunk_origin *origin,
                        struct chunk_buffer *buffer, size_t row, size_t end,
                        struct failure *failure);

/*
 * Takes from the reader the number of header lines and bytes, which it resets, and the ends of
 * rows, before the bytes after the header are taken.
 */
void stream_count_header(struct stream *stream, struct reader *reader);

/* Keeps the bytes after the whole records. Fails with STATUS_DATA if there is no memory. */
enum status stream_keep(struct stream *stream, const struct stream_chunk *chunk,
                        struct failure *failure);

/*
 * Completes a chunk of the whole records, or an empty one if it `is_dropped`, and advances the
 * stream. Sets all members of *chunk except `sequence`.
 */
void stream_end(struct stream *stream, const struct stream_chunk *chunk, bool is_dropped,
                bool is_cut, struct chunk *out);

#endif
