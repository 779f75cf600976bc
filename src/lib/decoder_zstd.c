/* zstd (RFC 8878), by libzstd. */
#include "config.h"

#include "lib/decoder_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* The default limit of the zstd tool and of the library. */
#define DECODER_ZSTD_WINDOW_BYTES ((uint64_t)128 << 20)

/* The first bytes of magics: of frames, and of legacy frames of zstd 0.2 to 0.7 (RFC 8878, 3.1). */
#define DECODER_ZSTD_FRAME        0x28
#define DECODER_ZSTD_LEGACY_FIRST 0x22
#define DECODER_ZSTD_SKIPPABLE    0x50 /* first of 16 values */

#define DECODER_ZSTD_MAGIC_BYTES    4
#define DECODER_ZSTD_SINGLE_SEGMENT 0x20 /* in the byte that follows, as the next */
#define DECODER_ZSTD_HAS_CHECKSUM   0x04

/* Blocks: RFC 8878, 3.1.1.2. */
#define DECODER_ZSTD_BLOCK_HEADER_BYTES 3
#define DECODER_ZSTD_BLOCK_RLE          1
#define DECODER_ZSTD_BLOCK_COMPRESSED   2
#define DECODER_ZSTD_BLOCK_RESERVED     3
#define DECODER_ZSTD_BLOCK_BYTES_MAX    ((uint32_t)128 << 10)

struct decoder_zstd {
    ZSTD_DCtx *context;
    uint64_t window_limit;
    uint64_t content_bytes; /* the current frame's decoded size, or ZSTD_CONTENTSIZE_UNKNOWN */
    uint64_t out_bytes;     /* bytes of the frame decoded so far */
    size_t wanted;          /* number of bytes that the library wants next; 0: a frame begins */
};

static bool decoder_zstd_is_skippable(unsigned char first)
{
    return (first & 0xf0) == DECODER_ZSTD_SKIPPABLE;
}

static bool decoder_zstd_is_legacy(unsigned char first)
{
    return first >= DECODER_ZSTD_LEGACY_FIRST && first < DECODER_ZSTD_FRAME;
}

static void *decoder_zstd_open(uint64_t memory_limit)
{
    struct decoder_zstd *zstd = malloc(sizeof *zstd);
    ZSTD_DCtx *context = ZSTD_createDCtx();

    if (!zstd || !context) {
        ZSTD_freeDCtx(context);
        free(zstd);
        return NULL;
    }
    /* The library accepts only powers of two as a limit, so decoder_zstd_check_head checks it. */
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax,
                           ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound);
    *zstd = (struct decoder_zstd){
        .context = context,
        .window_limit = memory_limit > 0 ? memory_limit : DECODER_ZSTD_WINDOW_BYTES,
    };
    return zstd;
}

static void decoder_zstd_close(void *state)
{
    struct decoder_zstd *zstd = state;

    ZSTD_freeDCtx(zstd->context);
    free(zstd);
}

/* Returns the length of a frame header (RFC 8878, 3.1.1.1), which its fifth byte determines. */
static size_t decoder_zstd_header_bytes(unsigned char descriptor)
{
    static const size_t dictionary_bytes[] = {0, 1, 2, 4};
    static const size_t content_bytes[] = {0, 2, 4, 8};
    bool is_single_segment = descriptor & DECODER_ZSTD_SINGLE_SEGMENT;
    size_t content = content_bytes[descriptor >> 6];

    if (is_single_segment && content == 0)
        content = 1;
    return DECODER_ZSTD_MAGIC_BYTES + (is_single_segment ? 1u : 2u) +
           dictionary_bytes[descriptor & 3] + content;
}

static enum status decoder_zstd_check_head(struct decoder *decoder, struct failure *failure)
{
    struct decoder_zstd *zstd = decoder->state;
    const unsigned char *head = decoder->head;

    zstd->content_bytes = ZSTD_CONTENTSIZE_UNKNOWN;
    zstd->out_bytes = 0;
    decoder->head_is_done = decoder_zstd_is_skippable(head[0]);
    if (decoder->head_is_done)
        return STATUS_OK;
    if (decoder_zstd_is_legacy(head[0]))
        return decoder_fail(decoder, failure,
                            "a frame of the format before zstd 0.8, which is not supported");
    decoder->head_is_done =
        decoder->head_bytes > DECODER_ZSTD_MAGIC_BYTES &&
        decoder->head_bytes >= decoder_zstd_header_bytes(head[DECODER_ZSTD_MAGIC_BYTES]);
    if (!decoder->head_is_done)
        return STATUS_OK;
    const uint64_t content = ZSTD_getFrameContentSize(head, decoder->head_bytes);
    if (content == ZSTD_CONTENTSIZE_ERROR)
        return STATUS_OK; /* the library will report the fault */
    zstd->content_bytes = content;
    /* The size of the window. A single segment has the size of the content. */
    const uint64_t base = (uint64_t)1 << (10 + (head[5] >> 3));
    const uint64_t window =
        head[4] & DECODER_ZSTD_SINGLE_SEGMENT ? content : base + base / 8 * (head[5] & 7);
    if (window <= zstd->window_limit)
        return STATUS_OK;
    return decoder_fail(decoder, failure,
                        "a frame needs a window of %" PRIu64 " bytes, the limit is %" PRIu64
                        ": --memory raises it",
                        window, zstd->window_limit);
}

static enum status decoder_zstd_step(struct decoder *decoder, struct decoder_io *io, bool *ended,
                                     struct failure *failure)
{
    struct decoder_zstd *zstd = decoder->state;

    if (!decoder->head_is_done && decoder_zstd_is_legacy(decoder->head[0])) {
        io->in_used = io->in_bytes; /* the library would reject an incomplete magic */
        return STATUS_OK;
    }
    const bool begins = zstd->wanted == 0;
    const size_t bytes =
        begins ? io->in_bytes - io->in_used
               : decoder_next_bytes(decoder, io, zstd->wanted, DECODER_ZSTD_BLOCK_HEADER_BYTES);
    ZSTD_outBuffer out = {.dst = io->out, .size = io->out_bytes, .pos = io->out_used};
    ZSTD_inBuffer in = {.src = io->in, .size = io->in_used + bytes, .pos = io->in_used};
    size_t result = ZSTD_decompressStream(zstd->context, &out, &in);
    if (begins && ZSTD_isError(result)) {
        ZSTD_DCtx_reset(zstd->context, ZSTD_reset_session_only);
        zstd->wanted = DECODER_ZSTD_MAGIC_BYTES + 1;
        return STATUS_OK;
    }
    zstd->wanted = ZSTD_isError(result) ? 0 : result;
    zstd->out_bytes += out.pos - io->out_used;
    io->in_used = in.pos;
    io->out_used = out.pos;
    if (ZSTD_getErrorCode(result) == ZSTD_error_dictionary_wrong)
        return decoder_fail(decoder, failure, "a frame needs a dictionary, which is not supported");
    if (ZSTD_isError(result))
        return decoder_fail(decoder, failure, "%s", ZSTD_getErrorName(result));
    *ended = result == 0;
    /* The library does not check frames that end with an empty block (1.5.4). */
    if (*ended && zstd->content_bytes != ZSTD_CONTENTSIZE_UNKNOWN &&
        zstd->content_bytes != zstd->out_bytes)
        return decoder_fail(decoder, failure,
                            "the length of a frame differs from the one in its header");
    return STATUS_OK;
}

/* Returns the length of a frame, from its header and its block headers. */
static uint64_t decoder_zstd_frame_bytes(const struct decoder_view *view, uint64_t offset)
{
    const unsigned char *data = decoder_look(view, offset, DECODER_ZSTD_MAGIC_BYTES);
    bool is_last = false;

    if (!data)
        return 0;
    if (decoder_zstd_is_legacy(data[0]))
        return UINT64_MAX;
    if (decoder_zstd_is_skippable(data[0]))
        return decoder_frame_skippable(view, offset);
    data = decoder_look(view, offset, DECODER_ZSTD_MAGIC_BYTES + 1);
    if (!data)
        return 0;
    bool has_checksum = data[DECODER_ZSTD_MAGIC_BYTES] & DECODER_ZSTD_HAS_CHECKSUM;
    uint64_t at = decoder_zstd_header_bytes(data[DECODER_ZSTD_MAGIC_BYTES]);
    while (!is_last && (data = decoder_look(view, offset + at, DECODER_ZSTD_BLOCK_HEADER_BYTES))) {
        uint32_t header = decoder_read_16(data) | (uint32_t)data[2] << 16;
        uint32_t type = header >> 1 & 3;
        uint32_t bytes = header >> 3;
        if (type == DECODER_ZSTD_BLOCK_RESERVED ||
            (type == DECODER_ZSTD_BLOCK_COMPRESSED && bytes > DECODER_ZSTD_BLOCK_BYTES_MAX))
            return UINT64_MAX;
        is_last = header & 1;
        at += DECODER_ZSTD_BLOCK_HEADER_BYTES + (type == DECODER_ZSTD_BLOCK_RLE ? 1 : bytes);
    }
    return is_last ? at + (has_checksum ? 4 : 0) : 0;
}

static const struct decoder_library decoder_zstd_library = {
    .name = "libzstd",
    .version = ZSTD_versionString,
    .open = decoder_zstd_open,
    .step = decoder_zstd_step,
    .close = decoder_zstd_close,
};

const struct decoder_format decoder_zstd = {
    .name = "zstd",
    .unit = "frame",
    .needs = "libzstd",
    .library = &decoder_zstd_library,
    /* Legacy frames match too, so that the message can name them. */
    .magics = {DECODER_MAGIC_RANGE("\x22\xb5\x2f\xfd", "\x28\xb5\x2f\xfd"),
               DECODER_MAGIC_RANGE("\x50\x2a\x4d\x18", "\x5f\x2a\x4d\x18")},
    .check_head = decoder_zstd_check_head,
    .frame_bytes = decoder_zstd_frame_bytes,
};
