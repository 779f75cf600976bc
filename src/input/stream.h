/*
 * A stream: bytes that are read in order, cut into chunks of whole records. What a chunk leaves of
 * its last record, the partial record, opens the next one.
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

/* Of zeros it is empty. */
struct stream {
    const struct record_format *format; /* const once the first chunk is made */
    const char *name;                   /* the input that the last bytes came from */
    char *partial;                      /* the partial record, */
    size_t partial_begin;               /* at this offset; its memory ends behind it */
    size_t partial_bytes;
    uint64_t line; /* these four of the next chunk, as in struct chunk */
    uint64_t start;
    uint64_t offset;
    const struct decoder_format *decoder;
    uint64_t left_out; /* bytes read that are in no chunk, and in the count of none yet */
    uint64_t position; /* of the next chunk */
};

/* A chunk that is being made. */
struct stream_chunk {
    char *buffer;
    size_t capacity; /* a multiple of the element's width */
    size_t filled;
    size_t whole;  /* so much of it is whole records */
    bool is_split; /* and ends within a line of the file */
};

void stream_close(struct stream *stream);

/* Begins a chunk in a buffer. */
struct stream_chunk stream_begin(const struct stream *stream, void *buffer, size_t capacity);

/*
 * Moves the partial record to the chunk, as much as there is room for: it may come from a larger
 * one. Fails as stream_take.
 */
enum status stream_take_partial(struct stream *stream, struct stream_chunk *made,
                                struct failure *failure);

/*
 * Takes `bytes` bytes that were read behind the filled ones of the buffer. A line that fills all of
 * it is split or shortened; fails with STATUS_DATA if that does not do.
 */
enum status stream_take(struct stream *stream, struct stream_chunk *made, size_t bytes,
                        struct failure *failure);

/* Keeps what is behind the whole records. Fails with STATUS_DATA if there is no memory. */
enum status stream_keep(struct stream *stream, const struct stream_chunk *made,
                        struct failure *failure);

/*
 * The chunk of the first `bytes` bytes made; the stream goes on behind them. *chunk gets all but
 * its number (sequence).
 */
void stream_end(struct stream *stream, const struct stream_chunk *made, size_t bytes, bool is_cut,
                struct chunk *chunk);

#endif
