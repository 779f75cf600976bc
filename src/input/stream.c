/* Cuts bytes into chunks of whole records. */
#include "config.h"

#include "input/stream.h"

#include "input/input.h"
#include "input/reader.h"
#include "text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct stream_chunk stream_begin(const struct stream *stream, struct chunk_buffer *buffer)
{
    const struct record_format *format = stream->format;
    size_t cut_off = format->is_text ? 0 : buffer->capacity % format->element_bytes;

    return (struct stream_chunk){.buffer = buffer, .limit = buffer->capacity - cut_off};
}

/*
 * Adds bytes to a chunk, whether they were just read or kept. Enlarges a buffer that is full of one
 * row whose end is still to come.
 */
static enum status stream_add(const struct stream *stream, struct stream_chunk *chunk, size_t bytes,
                              struct failure *failure)
{
    const bool is_text = stream->format->is_text;
    struct chunk_buffer *buffer = chunk->buffer;
    const size_t known = chunk->filled;

    chunk->lines += is_text ? text_count_lines(buffer->data + known, bytes) : 0;
    chunk->filled += bytes;
    const size_t cut = record_cut(stream->format, buffer->data, known, chunk->filled);
    chunk->whole = cut > 0 ? cut : chunk->whole;
    if (!is_text || chunk->whole > 0 || chunk->filled < chunk->limit)
        return STATUS_OK;
    if (chunk->filled < CHUNK_ROW_BYTES_MAX && buffer->grow) {
        enum status status = buffer->grow(buffer, chunk_grown_bytes(buffer->capacity), failure);
        chunk->limit = buffer->capacity;
        return status;
    }
    return status_fail(failure, STATUS_DATA, STATUS_NAME ":%llu: the line is longer than %zu bytes",
                       stream->origin.name, (unsigned long long)reader_find_line(&stream->origin),
                       chunk->filled);
}

enum status stream_take(struct stream *stream, struct stream_chunk *chunk, size_t bytes,
                        struct failure *failure)
{
    stream->taken += bytes;
    return stream_add(stream, chunk, bytes, failure);
}

enum status stream_take_rest(struct stream *stream, struct stream_chunk *chunk,
                             struct failure *failure)
{
    size_t free_bytes = chunk->limit - chunk->filled;
    size_t bytes = stream->rest_bytes < free_bytes ? stream->rest_bytes : free_bytes;

    memcpy(chunk->buffer->data + chunk->filled, stream->rest + stream->rest_begin, bytes);
    stream->rest_begin += bytes;
    stream->rest_bytes -= bytes;
    return stream_add(stream, chunk, bytes, failure);
}

void stream_count_header(struct stream *stream, struct reader *reader)
{
    stream->origin.line += reader->header_lines;
    stream->left_out += reader->header_bytes;
    reader->header_lines = reader->header_bytes = 0;
}

enum status stream_keep(struct stream *stream, const struct stream_chunk *chunk,
                        struct failure *failure)
{
    size_t bytes = chunk->filled - chunk->whole;

    if (bytes == 0)
        return STATUS_OK;
    if (bytes > stream->rest_begin) { /* the rest has too little space in front of it */
        char *moved = malloc(bytes + stream->rest_bytes);
        if (!moved)
            return input_fail(failure, stream->origin.name, strerror(errno));
        if (stream->rest_bytes > 0)
            memcpy(moved + bytes, stream->rest + stream->rest_begin, stream->rest_bytes);
        free(stream->rest);
        stream->rest = moved;
        stream->rest_begin = bytes;
    }
    stream->rest_begin -= bytes;
    stream->rest_bytes += bytes;
    memcpy(stream->rest + stream->rest_begin, chunk->buffer->data + chunk->whole, bytes);
    return STATUS_OK;
}

void stream_end(struct stream *stream, const struct stream_chunk *chunk, bool is_dropped,
                bool is_cut, struct chunk *out)
{
    const uint64_t lines = is_dropped || chunk->whole == 0 ? 0 : chunk->lines;

    *out = (struct chunk){
        .data = chunk->buffer->data,
        .bytes = is_dropped ? 0 : chunk->whole,
        .position = stream->position,
        .is_cut = is_cut,
        .rules = stream->rules,
        .origin = stream->origin,
    };
    stream->position += out->bytes;
    stream->origin.line += lines; /* no line ends in the rest */
}
