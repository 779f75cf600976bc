/*
 * gzip (RFC 1952): detection, and the lengths of BGZF members. One of two libraries decodes it, see
 * decoder_gzip_isal.c and decoder_gzip_zlib.c.
 */
#include "config.h"

#include "decoder/decoder_internal.h"

#if defined HAVE_ISAL
#define DECODER_GZIP_LIBRARY &decoder_gzip_isal
#elif defined HAVE_ZLIB
#define DECODER_GZIP_LIBRARY &decoder_gzip_zlib
#else
#define DECODER_GZIP_LIBRARY NULL
#endif

/* Fields of the header (2.3) and their offsets. */
#define DECODER_GZIP_METHOD        2
#define DECODER_GZIP_FLAGS         3
#define DECODER_GZIP_EXTRA_BYTES   10
#define DECODER_GZIP_EXTRA         12
#define DECODER_GZIP_FLAG_EXTRA    0x04
#define DECODER_GZIP_FLAGS_UNKNOWN 0xe0

#define DECODER_GZIP_DEFLATE 8

/* The fewest bytes that follow the header: a deflate block, the CRC and the length. */
#define DECODER_GZIP_REST_BYTES (2 + 4 + 4)

static enum status decoder_gzip_check_head(struct decoder *decoder, struct failure *failure)
{
    if (decoder->head_bytes > DECODER_GZIP_METHOD &&
        decoder->head[DECODER_GZIP_METHOD] != DECODER_GZIP_DEFLATE)
        return decoder_fail(decoder, "unknown compression method", failure);
    decoder->head_is_done = decoder->head_bytes > DECODER_GZIP_FLAGS;
    if (decoder->head_is_done && decoder->head[DECODER_GZIP_FLAGS] & DECODER_GZIP_FLAGS_UNKNOWN)
        return decoder_fail(decoder, "unknown header flags set", failure);
    return STATUS_OK;
}

/* The length of a BGZF member is in field BC of its header. */
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
            return member >= header + DECODER_GZIP_REST_BYTES
                       ? decoder_frame_if_there(view, offset, member)
                       : UINT64_MAX;
        }
        at += 4 + length;
    }
    return UINT64_MAX;
}

const struct decoder_format decoder_gzip = {
    .name = "gzip",
    .unit = "member",
    .has_small_window = true,
    .needs = "ISA-L and zlib",
    .instead = "gzip -dc",
    .padding = DECODER_PADDED_AT_END,
    .library = DECODER_GZIP_LIBRARY,
    .magics = {DECODER_MAGIC("\x1f\x8b")},
    .check_head = decoder_gzip_check_head,
    .frame_bytes = decoder_gzip_frame_bytes,
};
