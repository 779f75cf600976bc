/*
 * A stream cuts bytes that are read in order into chunks of whole records. The beginning of a
 * record that does not fit in a chunk, the partial record, is kept and opens the next chunk.
 *
 * Not thread-safe.
 */
#ifndef GPUHIST_STREAM_H
#define GPUHIST_STREAM_H

#include "base/status.h"
#include "input/record.h"
#include "job/chunk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decoder_format;
struct reader;

/* A zero-initialised struct is an empty stream, once `format` is set. */
struct stream {
    const struct record_format *format; /* const once the first chunk is made */
    const char *name;                   /* the input that the last bytes came from */
    struct text_rules rules;            /* text: the rules of that input */
    char *partial;                      /* memory that the partial record ends; or NULL */
    size_t partial_begin;               /* the record is partial_bytes bytes from here on */
    size_t partial_bytes;
    uint64_t line; /* of the next chunk, as are the next three; see struct chunk */
    uint64_t start;
    uint64_t offset;
    const struct decoder_format *decoder;
    uint64_t left_out; /* of the next chunk so far: bytes that were read but are in no chunk */
    uint64_t position; /* of the next chunk */
};

/* A chunk under construction. */
struct stream_chunk {
    char *buffer;
    size_t capacity; /* a multiple of the element's width */
    size_t filled;
    size_t whole;  /* bytes that are whole records */
    bool is_split; /* these end within a line of the file */
};

/* Frees the memory of a stream. A zero-initialised stream is allowed. */
void stream_close(struct stream *stream);

/* Begins a chunk in a buffer. */
struct stream_chunk stream_begin(const struct stream *stream, void *buffer, size_t capacity);

/*
 * Moves what is kept to the chunk, as far as there is room: it may come from a larger chunk, and of
 * a part of a compressed file it may be several records. Fails as stream_take does.
 */
enum status stream_take_partial(struct stream *stream, struct stream_chunk *made,
                                struct failure *failure);

/*
 * Counts the header lines that the reader has skipped, and resets its counters. Called before the
 * bytes after the header are taken, so that a line that is too long is named right.
 */
void stream_count_header(struct stream *stream, struct reader *reader);

/*
 * Takes over `bytes` bytes that the caller has read to the buffer after the filled ones. If a line
 * fills the whole buffer, splits or shortens it; fails with STATUS_DATA if it stays too long.
 */
enum status stream_take(struct stream *stream, struct stream_chunk *made, size_t bytes,
                        struct failure *failure);

/* Keeps the partial record at the end. Fails with STATUS_DATA if there is no memory. */
enum status stream_keep(struct stream *stream, const struct stream_chunk *made,
                        struct failure *failure);

/*
 * Completes a chunk of the first `bytes` bytes, and advances the stream by them. Sets all members
 * of *chunk but `sequence`.
 */
void stream_end(struct stream *stream, const struct stream_chunk *made, size_t bytes, bool is_cut,
                struct chunk *chunk);

#endif
