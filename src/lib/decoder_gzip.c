/*
 * gzip (RFC 1952), by ISA-L, or by zlib if there is no ISA-L: detection, and the lengths of BGZF
 * members. Also recognises zlib streams (RFC 1950).
 */
#include "config.h"

#include "lib/decoder_internal.h"

#include <stdlib.h>
#include <string.h>
#if defined HAVE_ISAL
#include <isa-l.h>
#elif defined HAVE_ZLIB
#define ZLIB_CONST /* input is const */
#include <zlib.h>
#endif

/* Fields of the header (2.3) and their offsets. */
#define DECODER_GZIP_METHOD        2
#define DECODER_GZIP_FLAGS         3
#define DECODER_GZIP_EXTRA_BYTES   10
#define DECODER_GZIP_EXTRA         12
#define DECODER_GZIP_FLAG_EXTRA    0x04
#define DECODER_GZIP_FLAGS_UNKNOWN 0xe0

#define DECODER_GZIP_DEFLATE 8

/* Minimum number of bytes after the header: a deflate block, the CRC and the length. */
#define DECODER_GZIP_REST_BYTES (2 + 4 + 4)

static enum status decoder_gzip_check_head(struct decoder *decoder, struct failure *failure)
{
    if (decoder->head_bytes > DECODER_GZIP_METHOD &&
        decoder->head[DECODER_GZIP_METHOD] != DECODER_GZIP_DEFLATE)
        return decoder_fail(decoder, failure, "unknown compression method");
    decoder->head_is_done = decoder->head_bytes > DECODER_GZIP_FLAGS;
    if (decoder->head_is_done && decoder->head[DECODER_GZIP_FLAGS] & DECODER_GZIP_FLAGS_UNKNOWN)
        return decoder_fail(decoder, failure, "unknown header flags set");
    return STATUS_OK;
}

/* Returns the length of a BGZF member, which is in field BC of its header. */
static uint64_t decoder_gzip_frame_bytes(const struct decoder_view *view, uint64_t offset)
{
    const unsigned char *data = decoder_look(view, offset, DECODER_GZIP_FLAGS + 1);

    if (data && !(data[DECODER_GZIP_FLAGS] & DECODER_GZIP_FLAG_EXTRA))
        return UINT64_MAX;
    data = decoder_look(view, offset, DECODER_GZIP_EXTRA);
    if (!data)
        return 0;
    const size_t header = DECODER_GZIP_EXTRA + decoder_read_16(data + DECODER_GZIP_EXTRA_BYTES);
    data = decoder_look(view, offset, header);
    if (!data)
        return 0;
    for (size_t at = DECODER_GZIP_EXTRA; at + 4 <= header;) {
        const size_t length = decoder_read_16(data + at + 2);
        if (data[at] == 'B' && data[at + 1] == 'C' && length == 2 && at + 6 <= header) {
            const size_t member = decoder_read_16(data + at + 4) + 1;
            return member >= header + DECODER_GZIP_REST_BYTES ? member : UINT64_MAX;
        }
        at += 4 + length;
    }
    return UINT64_MAX;
}

#if defined HAVE_ISAL || defined HAVE_ZLIB
#define DECODER_GZIP_LIBRARY &decoder_gzip_library
#else
#define DECODER_GZIP_LIBRARY NULL
#endif

#if defined HAVE_ISAL

#define DECODER_GZIP_TRAILER_BYTES 8 /* CRC and length, RFC 1952, 2.3 */

#define DECODER_GZIP_VERSION(a, b, c)  DECODER_GZIP_VERSION_(a, b, c)
#define DECODER_GZIP_VERSION_(a, b, c) #a "." #b "." #c

/*
 * isal_inflate can read headers and trailers itself. But if a header comes in pieces, it forgets
 * which fields the header has (2.30), and it does not tell a wrong CRC from a wrong length.
 */
struct decoder_gzip_isal {
    struct inflate_state inflate; /* its total_out counts modulo 2^32, like the trailer */
    struct isal_gzip_header header;
    bool header_is_done;
    int result; /* the result of the last call */
    size_t trailer_bytes;
    unsigned char trailer[DECODER_GZIP_TRAILER_BYTES];
};

static const char *decoder_gzip_version(void)
{
    return DECODER_GZIP_VERSION(ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION);
}

/* Prepares the library for a member. */
static void decoder_gzip_reset(struct decoder_gzip_isal *isal)
{
    isal_inflate_reset(&isal->inflate);
    isal_gzip_header_init(&isal->header);
    isal->header_is_done = false;
    isal->result = ISAL_DECOMP_OK;
    isal->trailer_bytes = 0;
}

static void *decoder_gzip_open(uint64_t memory_limit)
{
    struct decoder_gzip_isal *isal = malloc(sizeof *isal);

    (void)memory_limit; /* the window has at most 32 KiB */
    if (!isal)
        return NULL;
    isal_inflate_init(&isal->inflate);
    isal->inflate.crc_flag = ISAL_GZIP_NO_HDR; /* the CRC is computed */
    decoder_gzip_reset(isal);
    return isal;
}

static enum status decoder_gzip_step(struct decoder *decoder, struct decoder_io *io, bool *ended,
                                     struct failure *failure)
{
    struct decoder_gzip_isal *isal = decoder->state;
    struct inflate_state *inflate = &isal->inflate;

    if (inflate->block_state != ISAL_BLOCK_FINISH) {
        if (isal->result >= 0) {
            inflate->next_in = (uint8_t *)io->in + io->in_used; /* only read */
            inflate->avail_in = decoder_limit(io->in_bytes - io->in_used);
            inflate->next_out = io->out + io->out_used;
            inflate->avail_out = decoder_limit(io->out_bytes - io->out_used);
            if (isal->header_is_done) {
                isal->result = isal_inflate(inflate);
                io->out_used = (size_t)(inflate->next_out - io->out);
            } else {
                isal->result = isal_read_gzip_header(inflate, &isal->header);
                isal->header_is_done = isal->result == ISAL_DECOMP_OK;
            }
            io->in_used = (size_t)(inflate->next_in - io->in);
        }
        if (isal->result < 0) { /* the library may have bytes from before the fault */
            const size_t held = (size_t)(inflate->tmp_out_valid - inflate->tmp_out_processed);
            const size_t space = io->out_bytes - io->out_used;
            const size_t bytes = held < space ? held : space;
            memcpy(io->out + io->out_used, inflate->tmp_out_buffer + inflate->tmp_out_processed,
                   bytes);
            inflate->tmp_out_processed += (int32_t)bytes;
            io->out_used += bytes;
            if (bytes < held)
                return STATUS_OK;
            return decoder_fail(decoder, failure, "%s",
                                isal->result == ISAL_INVALID_BLOCK    ? "invalid block"
                                : isal->result == ISAL_INVALID_SYMBOL ? "invalid code"
                                : isal->result == ISAL_INVALID_LOOKBACK
                                    ? "invalid distance too far back"
                                /* checksum of a header; this file checks those of the data */
                                : isal->result == ISAL_INCORRECT_CHECKSUM ? "header crc mismatch"
                                                                          : "invalid header");
        }
        if (inflate->block_state != ISAL_BLOCK_FINISH)
            return STATUS_OK;
        /* The trailer begins with whole bytes that the library has read but not used. */
        uint64_t bits = inflate->read_in >> (inflate->read_in_length % 8);
        for (; inflate->read_in_length >= 8; inflate->read_in_length -= 8, bits >>= 8)
            isal->trailer[isal->trailer_bytes++] = (unsigned char)bits;
    }
    while (isal->trailer_bytes < sizeof isal->trailer && io->in_used < io->in_bytes)
        isal->trailer[isal->trailer_bytes++] = io->in[io->in_used++];
    if (isal->trailer_bytes < sizeof isal->trailer)
        return STATUS_OK;
    if (decoder_read_32(isal->trailer) != inflate->crc)
        return decoder_fail(decoder, failure, "incorrect data check");
    if (decoder_read_32(isal->trailer + 4) != inflate->total_out)
        return decoder_fail(decoder, failure, "incorrect length check");
    decoder_gzip_reset(isal);
    *ended = true;
    return STATUS_OK;
}

static const struct decoder_library decoder_gzip_library = {
    .name = "ISA-L",
    .version = decoder_gzip_version,
    .open = decoder_gzip_open,
    .step = decoder_gzip_step,
    .close = free,
};

/* Returns whether the bytes decode as a stream of zlib, as far as they go or `out` is full. */
static enum decoder_match decoder_zlib_decode(const unsigned char *head, size_t bytes,
                                              unsigned char *out, size_t size)
{
    struct inflate_state *inflate = malloc(sizeof *inflate);
    if (!inflate)
        return DECODER_NO;
    isal_inflate_init(inflate);
    inflate->crc_flag = ISAL_ZLIB;
    inflate->next_in = (uint8_t *)head; /* the library does not write there */
    inflate->avail_in = decoder_limit(bytes);
    inflate->next_out = out;
    inflate->avail_out = (uint32_t)size;
    const bool is_valid = isal_inflate(inflate) == ISAL_DECOMP_OK;
    const bool is_enough = inflate->block_state == ISAL_BLOCK_FINISH || inflate->avail_out == 0;
    free(inflate);
    return !is_valid ? DECODER_NO : is_enough ? DECODER_YES : DECODER_MAYBE;
}

#elif defined HAVE_ZLIB

/* For inflateInit2: the largest window; accept only gzip headers and trailers. */
#define DECODER_GZIP_WINDOW_BITS (MAX_WBITS + 16)

static void *decoder_gzip_open(uint64_t memory_limit)
{
    z_stream *stream = calloc(1, sizeof *stream);

    (void)memory_limit; /* the window has at most 32 KiB */
    if (stream && inflateInit2(stream, DECODER_GZIP_WINDOW_BITS) == Z_OK)
        return stream;
    free(stream);
    return NULL;
}

static void decoder_gzip_close(void *state)
{
    inflateEnd(state);
    free(state);
}

static enum status decoder_gzip_step(struct decoder *decoder, struct decoder_io *io, bool *ended,
                                     struct failure *failure)
{
    z_stream *stream = decoder->state;
    uInt in_bytes = decoder_limit(io->in_bytes - io->in_used);
    uInt out_bytes = decoder_limit(io->out_bytes - io->out_used);

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
    return decoder_fail(decoder, failure, "%s", stream->msg ? stream->msg : zError(result));
}

static const struct decoder_library decoder_gzip_library = {
    .name = "zlib",
    .version = zlibVersion,
    .open = decoder_gzip_open,
    .step = decoder_gzip_step,
    .close = decoder_gzip_close,
};

/* Returns whether the bytes decode as a stream of zlib, as far as they go or `out` is full. */
static enum decoder_match decoder_zlib_decode(const unsigned char *head, size_t bytes,
                                              unsigned char *out, size_t size)
{
    z_stream stream = {
        .next_in = head,
        .avail_in = decoder_limit(bytes),
        .next_out = out,
        .avail_out = (uInt)size,
    };
    if (inflateInit(&stream) != Z_OK)
        return DECODER_NO;
    const int result = inflate(&stream, Z_NO_FLUSH);
    inflateEnd(&stream);
    if (result != Z_OK && result != Z_BUF_ERROR && result != Z_STREAM_END)
        return DECODER_NO;
    return result == Z_STREAM_END || stream.avail_out == 0 ? DECODER_YES : DECODER_MAYBE;
}

#endif

#if defined HAVE_ISAL || defined HAVE_ZLIB

/* Number of bytes that a zlib stream must decode to, unless it ends before. */
#define DECODER_ZLIB_BYTES 256

/*
 * The two magic bytes of zlib are also those of many integers, such as 40056 and 105592. Therefore
 * the rest must decode. Random bytes decode in one case of 600 (zlib) or 10,000 (ISA-L, which does
 * not accept all codes), and integers below 1000 in one of 20,000.
 */
enum decoder_match decoder_zlib_match(const unsigned char *head, size_t bytes)
{
    unsigned char out[DECODER_ZLIB_BYTES];

    if ((bytes > 0 && head[0] != 0x78) ||
        (bytes > 1 && ((head[0] << 8 | head[1]) % 31 != 0 || head[1] & 0x20)))
        return DECODER_NO;
    if (bytes < 3)
        return DECODER_MAYBE;
    return decoder_zlib_decode(head, bytes, out, sizeof out);
}

#endif

const struct decoder_format decoder_gzip = {
    .name = "gzip",
    .unit = "member",
    .needs = "ISA-L and zlib",
    .instead = "gzip -dc",
    .padding = DECODER_PADDED_AT_END,
    .is_deflate = true,
    .library = DECODER_GZIP_LIBRARY,
    .magics = {DECODER_MAGIC("\x1f\x8b")},
    .check_head = decoder_gzip_check_head,
    .frame_bytes = decoder_gzip_frame_bytes,
};
