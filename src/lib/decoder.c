/* The table of formats, and code for all formats: heads of frames, padding, the decoding loop. */
#include "config.h"

#include "lib/decoder_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of detection. zstd and lz4 have the same skippable frames; zstd comes first. */
static const struct decoder_format *const decoder_formats[] = {
    &decoder_zstd, &decoder_gzip, &decoder_xz, &decoder_bzip2, &decoder_lz4,
};

#define DECODER_FORMATS (sizeof decoder_formats / sizeof *decoder_formats)

enum decoder_match decoder_match(const struct decoder_format *format, const unsigned char *head,
                                 size_t bytes)
{
    enum decoder_match match = DECODER_NO;

    for (const struct decoder_magic *magic = format->magics;
         match == DECODER_NO && magic < format->magics + 3 && magic->low; magic++) {
        size_t i = 0;
        while (i < bytes && i < magic->bytes && head[i] >= (unsigned char)magic->low[i] &&
               head[i] <= (unsigned char)magic->high[i])
            i++;
        if (i == magic->bytes)
            match = format->match ? format->match(head, bytes) : DECODER_YES;
        else if (i == bytes)
            match = DECODER_MAYBE;
    }
    return match;
}

const struct decoder_format *decoder_detect(const void *head, size_t bytes, unsigned kinds,
                                            bool *undecided)
{
    bool may_be = false;

    *undecided = false;
    for (size_t i = 0; i < DECODER_FORMATS + decoder_refused_count; i++) {
        const bool is_refused = i >= DECODER_FORMATS;
        const struct decoder_format *format =
            is_refused ? &decoder_refused[i - DECODER_FORMATS] : decoder_formats[i];
        const enum decoder_kind kind = !is_refused        ? DECODER_COMPRESSED
                                       : format->is_array ? DECODER_ARRAY
                                                          : DECODER_REFUSED;
        if (!(kinds & kind))
            continue;
        const enum decoder_match match = decoder_match(format, head, bytes);
        if (match == DECODER_YES)
            return format;
        may_be = may_be || match == DECODER_MAYBE;
    }
    *undecided = may_be;
    return NULL;
}

const char *decoder_format_name(const struct decoder_format *format)
{
    return format->name;
}

bool decoder_is_deflate(const struct decoder_format *format)
{
    return format->is_deflate && format->library;
}

bool decoder_describe(size_t i, char *text, size_t size)
{
    if (i == DECODER_FORMATS)
        return false;
    const struct decoder_format *format = decoder_formats[i];
    if (format->library)
        snprintf(text, size, "%s: yes: %s %s", format->name, format->library->name,
                 format->library->version());
    else
        snprintf(text, size, "%s: no: built without %s", format->name, format->needs);
    return true;
}

enum status decoder_fail(const struct decoder *decoder, struct failure *failure, const char *reason,
                         ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, reason);
    vsnprintf(text, sizeof text, reason, arguments);
    va_end(arguments);
    return status_fail(failure, STATUS_DATA, STATUS_NAME ": %s: %s", decoder->name,
                       decoder->format->name, text);
}

enum status decoder_open(struct decoder **decoder, const struct decoder_format *format,
                         const char *name, uint64_t memory_limit, struct failure *failure)
{
    if (!format->needs)
        return status_fail(failure, STATUS_DATA,
                           STATUS_NAME ": %s are not supported (try %s%s--binary, which counts the "
                                       "bytes as they are)",
                           name, format->kind, format->instead ? format->instead : "",
                           format->instead ? ", or " : "");
    if (!format->library)
        return status_fail(failure, STATUS_DATA,
                           STATUS_NAME ": %s: this gpuhist was built without %s (try %s)", name,
                           format->name, format->needs, format->instead);
    struct decoder *new = malloc(sizeof *new);
    if (!new)
        return status_fail(failure, STATUS_DATA, STATUS_NAME ": no memory to decompress it", name);
    *new = (struct decoder){
        .format = format,
        .name = name,
        .state = format->library->open(memory_limit),
    };
    if (!new->state) {
        decoder_fail(new, failure, "no memory to decompress it");
        free(new);
        return failure->status;
    }
    *decoder = new;
    return STATUS_OK;
}

void decoder_close(struct decoder *decoder)
{
    decoder->format->library->close(decoder->state);
    free(decoder);
}

static enum status decoder_fail_start(const struct decoder *decoder, struct failure *failure)
{
    return decoder_fail(decoder, failure,
                        "trailing data where a %s or the end of the input is expected",
                        decoder->format->unit);
}

enum status decoder_run(struct decoder *decoder, struct decoder_io *io, bool ends_with_frame,
                        struct failure *failure)
{
    const struct decoder_format *format = decoder->format;

    while (io->out_used < io->out_bytes && (io->in_used < io->in_bytes || decoder->is_pending)) {
        if (decoder->head_bytes == 0 && format->padding != DECODER_UNPADDED) {
            for (; io->in_used < io->in_bytes && io->in[io->in_used] == 0; io->in_used++)
                decoder->padding_bytes++;
            if (io->in_used < io->in_bytes && decoder->padding_bytes > 0) {
                if (format->padding == DECODER_PADDED_AT_END || decoder->padding_bytes % 4 != 0)
                    return decoder_fail_start(decoder, failure);
                decoder->padding_bytes = 0;
            }
            if (io->in_used == io->in_bytes)
                break;
        }
        if (!decoder->head_is_done) { /* the bytes are kept, also for the library */
            size_t bytes = sizeof decoder->head - decoder->head_bytes;
            bytes = bytes < io->in_bytes - io->in_used ? bytes : io->in_bytes - io->in_used;
            memcpy(decoder->head + decoder->head_bytes, io->in + io->in_used, bytes);
            decoder->head_bytes += bytes;
            const enum decoder_match match =
                decoder_match(format, decoder->head, decoder->head_bytes);
            if (match == DECODER_NO)
                return decoder_fail_start(decoder, failure);
            if (match == DECODER_YES && !format->check_head)
                decoder->head_is_done = true;
            else if (match == DECODER_YES && format->check_head(decoder, failure) != STATUS_OK)
                return failure->status;
        }
        bool has_ended = false;
        if (format->library->step(decoder, io, &has_ended, failure) != STATUS_OK)
            return failure->status;
        if (has_ended) {
            decoder->head_bytes = 0;
            decoder->head_is_done = false;
        }
        decoder->is_pending = !has_ended && io->out_used == io->out_bytes;
        if (has_ended && ends_with_frame)
            break;
    }
    return STATUS_OK;
}

bool decoder_is_between(const struct decoder *decoder)
{
    return decoder->head_bytes == 0;
}

enum status decoder_finish(struct decoder *decoder, struct failure *failure)
{
    if (decoder->format->padding == DECODER_PADDED_BY_FOURS && decoder->padding_bytes % 4 != 0)
        return decoder_fail_start(decoder, failure);
    if (decoder_is_between(decoder))
        return STATUS_OK;
    return decoder_fail(decoder, failure, "unexpected end of the input within a %s",
                        decoder->format->unit);
}

const unsigned char *decoder_look(const struct decoder_view *view, uint64_t offset, size_t bytes)
{
    bool is_there = offset <= view->bytes && bytes <= view->bytes - offset;
    return is_there && bytes <= DECODER_LOOK_BYTES ? view->look(view->context, offset, bytes)
                                                   : NULL;
}

uint64_t decoder_frame_skippable(const struct decoder_view *view, uint64_t offset)
{
    const unsigned char *data = decoder_look(view, offset, DECODER_SKIPPABLE_HEAD_BYTES);

    return data ? DECODER_SKIPPABLE_HEAD_BYTES + (uint64_t)decoder_read_32(data + 4) : 0;
}

uint64_t decoder_frame_bytes(const struct decoder_format *format, const struct decoder_view *view,
                             uint64_t offset)
{
    const uint64_t left = offset < view->bytes ? view->bytes - offset : 0;
    const size_t bytes = left < DECODER_HEAD_BYTES ? (size_t)left : DECODER_HEAD_BYTES;

    if (!format->frame_bytes)
        return UINT64_MAX;
    const unsigned char *head = bytes > 0 ? decoder_look(view, offset, bytes) : NULL;
    const enum decoder_match match = head ? decoder_match(format, head, bytes) : DECODER_MAYBE;
    if (match != DECODER_YES)
        return match == DECODER_NO ? UINT64_MAX : 0;
    const uint64_t length = format->frame_bytes(view, offset);
    return length == UINT64_MAX || length <= left ? length : 0;
}

struct decoder_index *decoder_index_open(const struct decoder_format *format,
                                         const struct decoder_view *view, uint64_t begin,
                                         uint64_t block_bytes, bool ends_anywhere)
{
    return format->index_open ? format->index_open(view, begin, block_bytes, ends_anywhere) : NULL;
}

bool decoder_index_next(struct decoder_index *index, uint64_t bytes, struct decoder_part *part)
{
    return index->format->index_next(index, bytes, part);
}

void decoder_index_close(struct decoder_index *index)
{
    if (index)
        index->format->index_close(index);
}
