/* gzip by zlib, where there is no ISA-L. */
#include "config.h"

#include "decoder/decoder_internal.h"

#if defined HAVE_ZLIB && !defined HAVE_ISAL

#define ZLIB_CONST /* input is const */
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

/* For inflateInit2: the largest window; accept only gzip headers and trailers. */
#define DECODER_GZIP_ZLIB_WINDOW_BITS (MAX_WBITS + 16)

static enum status decoder_gzip_zlib_open(struct decoder *decoder, uint64_t memory_limit,
                                          struct failure *failure)
{
    z_stream *stream = calloc(1, sizeof *stream);

    (void)memory_limit; /* the window has at most 32 KiB */
    if (!stream || inflateInit2(stream, DECODER_GZIP_ZLIB_WINDOW_BITS) != Z_OK) {
        free(stream);
        return decoder_fail(decoder, "no memory to decompress it", failure);
    }
    decoder->state = stream;
    return STATUS_OK;
}

static void decoder_gzip_zlib_close(struct decoder *decoder)
{
    inflateEnd(decoder->state);
    free(decoder->state);
}

/* The library counts in unsigned int. */
static uInt decoder_gzip_zlib_limit(size_t bytes)
{
    return bytes < UINT_MAX ? (uInt)bytes : UINT_MAX;
}

static enum status decoder_gzip_zlib_step(struct decoder *decoder, struct decoder_io *io,
                                          bool *ended, struct failure *failure)
{
    z_stream *stream = decoder->state;
    uInt in_bytes = decoder_gzip_zlib_limit(io->in_bytes - io->in_used);
    uInt out_bytes = decoder_gzip_zlib_limit(io->out_bytes - io->out_used);

    stream->next_in = io->in + io->in_used;
    stream->avail_in = in_bytes;
    stream->next_out = io->out + io->out_used;
    stream->avail_out = out_bytes;
    int result = inflate(stream, Z_NO_FLUSH);
    io->in_used += in_bytes - stream->avail_in;
    io->out_used += out_bytes - stream->avail_out;
    *ended = result == Z_STREAM_END;
    if (*ended)
        result = inflateReset(stream);
    /* No output was pending: the library needs input. */
    if (result == Z_BUF_ERROR && in_bytes == 0)
        result = Z_OK;
    if (result == Z_OK)
        return STATUS_OK;
    return decoder_fail(decoder, stream->msg ? stream->msg : zError(result), failure);
}

const struct decoder_library decoder_gzip_zlib = {
    .name = "zlib",
    .version = zlibVersion,
    .open = decoder_gzip_zlib_open,
    .step = decoder_gzip_zlib_step,
    .close = decoder_gzip_zlib_close,
};

#endif
