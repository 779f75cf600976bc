/* Cuts bytes into chunks of whole records. */
#include "config.h"

#include "input/stream.h"

#include "input/reader.h"
#include "lib/input.h"
#include "text/text.h"
#include "text/text_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stream_chunk stream_begin(const struct stream *stream, struct chunk_buffer *buffer)
{
    const struct record_format *format = stream->format;
    size_t cut_off = format->is_text ? 0 : buffer->capacity % format->element_bytes;

    return (struct stream_chunk){.buffer = buffer, .limit = buffer->capacity - cut_off};
}

enum status stream_fail_row(const struct text_rules *rules, const struct chunk_origin *origin,
                            const char *data, size_t bytes, const char *too_long,
                            struct failure *failure)
{
    struct chunk_origin quote = *origin;
    struct text_field field = {.begin = 0};
    enum text_scan_state state = TEXT_SCAN_ROW;
    char opened[64] = "";

    if (rules->is_quoted)
        text_scan(rules, data, bytes, &state);
    if (state == TEXT_SCAN_INSIDE) {
        for (size_t offset = 0; text_line_next(rules, data, bytes, &offset, &field);)
            continue; /* the last row has the open quote */
        quote.line += text_count_lines(data, field.begin);
    }
    const unsigned long long quote_line = reader_find_line(&quote);
    if (!too_long)
        return status_fail(failure, STATUS_DATA, STATUS_NAME ":%llu: a quote is never closed",
                           origin->name, quote_line);
    if (state == TEXT_SCAN_INSIDE)
        snprintf(opened, sizeof opened, ": the quote in line %llu is not closed", quote_line);
    return status_fail(failure, STATUS_DATA, STATUS_NAME ":%llu: %s %zu bytes%s", origin->name,
                       quote_line - (quote.line - origin->line), too_long, bytes, opened);
}

enum status stream_grow(const struct text_rules *rules, const struct chunk_origin *origin,
                        struct chunk_buffer *buffer, size_t row, size_t end,
                        struct failure *failure)
{
    const char *too_long = "the line is longer than";

    if (buffer->capacity < CHUNK_ROW_BYTES_MAX && buffer->grow) {
        const enum status status =
            buffer->grow(buffer, chunk_grown_bytes(buffer->capacity), failure);
        if (status != STATUS_DATA)
            return status;
        too_long = "not enough memory for a line of more than";
    }
    return stream_fail_row(rules, origin, buffer->data + row, end - row, too_long, failure);
}

enum status stream_take(struct stream *stream, struct stream_chunk *chunk, size_t bytes,
                        struct failure *failure)
{
    const bool is_text = stream->format->is_text;
    struct chunk_buffer *buffer = chunk->buffer;
    const size_t known = chunk->filled;

    stream->taken += bytes;
    chunk->lines += is_text ? text_count_lines(buffer->data + known, bytes) : 0;
    chunk->filled += bytes;
    const size_t cut =
        record_cut(stream->format, buffer->data, known, chunk->filled, &chunk->state);
    chunk->whole = cut > 0 ? cut : chunk->whole;
    if (!is_text || chunk->whole > 0 || chunk->filled < chunk->limit)
        return STATUS_OK;
    /* the row continues in data that are not read yet */
    enum status status =
        stream_grow(&stream->rules, &stream->origin, buffer, 0, chunk->filled, failure);
    chunk->limit = buffer->capacity;
    return status;
}

enum status stream_take_carry(struct stream *stream, struct stream_chunk *chunk,
                              struct failure *failure)
{
    size_t free_bytes = chunk->limit - chunk->filled;
    size_t bytes = stream->carry_bytes < free_bytes ? stream->carry_bytes : free_bytes;

    memcpy(chunk->buffer->data + chunk->filled, stream->carry + stream->carry_begin, bytes);
    stream->carry_begin += bytes;
    stream->carry_bytes -= bytes;
    return stream_take(stream, chunk, bytes, failure);
}

void stream_skip(struct stream *stream, char *data, size_t *bytes)
{
    const size_t end = record_find_end(stream->format, data, *bytes, stream->skip_state);
    const size_t skipped = end > 0 ? end : *bytes;

    if (end == 0 && stream->format->text.is_quoted)
        text_scan(&stream->format->text, data, *bytes, &stream->skip_state);
    stream->is_skipping = end == 0;
    stream->taken += skipped;
    stream->position += skipped;
    stream->origin.line += text_count_lines(data, skipped);
    *bytes -= skipped;
    memmove(data, data + skipped, *bytes);
}

enum status stream_end_file(const struct stream *stream, struct stream_chunk *chunk,
                            struct failure *failure)
{
    const char *data = chunk->buffer->data;
    struct chunk_origin origin = stream->origin;

    if (chunk->state == TEXT_SCAN_INSIDE) {
        origin.line += text_count_lines(data, chunk->whole);
        return stream_fail_row(&stream->rules, &origin, data + chunk->whole,
                               chunk->filled - chunk->whole, NULL, failure);
    }
    chunk->whole = chunk->filled;
    return STATUS_OK;
}

void stream_count_header(struct stream *stream, struct reader *reader)
{
    stream->origin.row_end = reader->row_end;
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
    if (bytes > stream->carry_begin) { /* the carry has too little space in front of it */
        char *moved = malloc(bytes + stream->carry_bytes);
        if (!moved)
            return input_fail(failure, stream->origin.name, strerror(errno));
        if (stream->carry_bytes > 0)
            memcpy(moved + bytes, stream->carry + stream->carry_begin, stream->carry_bytes);
        free(stream->carry);
        stream->carry = moved;
        stream->carry_begin = bytes;
    }
    stream->carry_begin -= bytes;
    stream->carry_bytes += bytes;
    stream->taken -= bytes;
    memcpy(stream->carry + stream->carry_begin, chunk->buffer->data + chunk->whole, bytes);
    return STATUS_OK;
}

void stream_end(struct stream *stream, const struct stream_chunk *chunk, bool is_dropped,
                bool is_cut, struct chunk *out)
{
    const char *data = chunk->buffer->data;
    uint64_t lines = is_dropped || chunk->whole == 0 ? 0 : chunk->lines;

    if (lines > 0 && stream->format->text.is_quoted) /* the carry can contain some */
        lines -= text_count_lines(data + chunk->whole, chunk->filled - chunk->whole);
    *out = (struct chunk){
        .data = data,
        .bytes = is_dropped ? 0 : chunk->whole,
        .position = stream->position,
        .is_cut = is_cut,
        .rules = stream->rules,
        .origin = stream->origin,
    };
    stream->position += out->bytes;
    stream->origin.line += lines;
}
