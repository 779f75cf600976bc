/* Cuts bytes into chunks of whole records. */
#include "config.h"

#include "input/stream.h"

#include "input/input.h"
#include "input/reader.h"
#include "text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void stream_close(struct stream *stream)
{
    free(stream->partial);
}

struct stream_chunk stream_begin(const struct stream *stream, void *buffer, size_t capacity)
{
    const struct record_format *format = stream->format;
    size_t cut_off = format->is_text ? 0 : capacity % format->element_bytes;

    return (struct stream_chunk){.buffer = buffer, .capacity = capacity - cut_off};
}

/* Makes room in a buffer that is full of one line, or token, whose end is still to come. */
static enum status stream_shorten(struct stream *stream, struct stream_chunk *made,
                                  struct failure *failure)
{
    const struct text_rules *rules = &stream->rules;

    made->whole = record_split(rules, made->buffer, made->filled);
    made->is_split = made->whole > 0;
    if (made->is_split)
        return STATUS_OK;
    size_t long_bytes = made->filled;
    made->filled = record_squeeze(rules, made->buffer, made->filled);
    stream->left_out += long_bytes - made->filled;
    if (made->filled <= made->capacity / 2)
        return STATUS_OK;
    uint64_t before =
        reader_count_lines(stream->name, stream->start, stream->offset, stream->decoder);
    return status_fail(failure, STATUS_DATA,
                       STATUS_NAME ":%llu: the line is longer than a chunk of %zu bytes",
                       stream->name, (unsigned long long)(before + stream->line + 1),
                       made->capacity);
}

/* Whether the buffer is full, and none of it is whole. */
static bool stream_is_too_long(const struct stream *stream, const struct stream_chunk *made)
{
    return stream->format->is_text && made->whole == 0 && made->filled == made->capacity;
}

void stream_count_header(struct stream *stream, struct reader *reader)
{
    stream->line += reader->header_lines;
    stream->left_out += reader->header_bytes;
    reader->header_lines = reader->header_bytes = 0;
}

enum status stream_take(struct stream *stream, struct stream_chunk *made, size_t bytes,
                        struct failure *failure)
{
    size_t known = made->filled;

    made->filled += bytes;
    size_t cut = record_cut(stream->format, made->buffer, known, made->filled);
    made->whole = cut > 0 ? cut : made->whole;
    return stream_is_too_long(stream, made) ? stream_shorten(stream, made, failure) : STATUS_OK;
}

enum status stream_take_partial(struct stream *stream, struct stream_chunk *made,
                                struct failure *failure)
{
    size_t room = made->capacity - made->filled;
    size_t bytes = stream->partial_bytes < room ? stream->partial_bytes : room;

    memcpy(made->buffer + made->filled, stream->partial + stream->partial_begin, bytes);
    stream->partial_begin += bytes;
    stream->partial_bytes -= bytes;
    return stream_take(stream, made, bytes, failure);
}

/* Makes room for so many bytes in front of the partial record; false with errno set. */
static bool stream_reserve(struct stream *stream, size_t bytes)
{
    if (bytes <= stream->partial_begin)
        return true;
    size_t room = bytes + stream->partial_bytes;
    char *made = malloc(room);
    if (!made)
        return false;
    if (stream->partial_bytes > 0)
        memcpy(made + bytes, stream->partial + stream->partial_begin, stream->partial_bytes);
    free(stream->partial);
    stream->partial = made;
    stream->partial_begin = bytes;
    return true;
}

enum status stream_keep(struct stream *stream, const struct stream_chunk *made,
                        struct failure *failure)
{
    size_t bytes = made->filled - made->whole;

    if (bytes == 0)
        return STATUS_OK;
    if (!stream_reserve(stream, bytes))
        return input_fail(failure, stream->name, strerror(errno));
    stream->partial_begin -= bytes;
    stream->partial_bytes += bytes;
    memcpy(stream->partial + stream->partial_begin, made->buffer + made->whole, bytes);
    return STATUS_OK;
}

void stream_end(struct stream *stream, const struct stream_chunk *made, size_t bytes, bool is_cut,
                struct chunk *chunk)
{
    *chunk = (struct chunk){
        .data = made->buffer,
        .bytes = bytes,
        .position = stream->position,
        .is_cut = is_cut,
        .name = stream->name,
        .rules = stream->rules,
        .line = stream->line,
        .offset = stream->offset,
        .start = stream->start,
        .decoder = stream->decoder,
    };
    stream->position += bytes;
    if (stream->format->is_text)
        stream->line += text_count_lines(made->buffer, bytes) - (made->is_split && bytes > 0);
}
