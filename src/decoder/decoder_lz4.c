/*
 * lz4 frames, by liblz4. The format: lz4_Frame_format.md, version 1.6, in
 * https://github.com/lz4/lz4/tree/dev/doc
 */
#include "config.h"

#include "decoder/decoder_internal.h"

#define DECODER_LZ4_MAGIC_BYTES 4
#define DECODER_LZ4_LEGACY      0x02 /* the first byte of a frame in the format before lz4 1.4 */

/* The two bytes after the magic. */
#define DECODER_LZ4_VERSION_MASK    0xc0
#define DECODER_LZ4_VERSION         0x40
#define DECODER_LZ4_BLOCK_CHECKSUM  0x10
#define DECODER_LZ4_CONTENT_SIZE    0x08
#define DECODER_LZ4_CONTENT_CHECK   0x04
#define DECODER_LZ4_RESERVED        0x02
#define DECODER_LZ4_DICTIONARY      0x01
#define DECODER_LZ4_BLOCK_MASK      0x70
#define DECODER_LZ4_BLOCK_SHIFT     4
#define DECODER_LZ4_BLOCK_LEAST     4 /* 64 KiB, 7 is 4 MiB */
#define DECODER_LZ4_BLOCK_RESERVED  0x8f
#define DECODER_LZ4_IS_UNCOMPRESSED 0x80000000 /* in the length of a block */

static bool decoder_lz4_is_skippable(const unsigned char *head)
{
    return (head[0] & 0xf0) == 0x50;
}

static enum status decoder_lz4_check_head(struct decoder *decoder, struct failure *failure)
{
    bool is_skippable = decoder_lz4_is_skippable(decoder->head);

    if (decoder->head[0] == DECODER_LZ4_LEGACY)
        return decoder_fail(decoder, failure,
                            "a frame of the legacy format, which is not supported: decompress it "
                            "first, for example with lz4 -dc");
    decoder->head_is_done = is_skippable || decoder->head_bytes > DECODER_LZ4_MAGIC_BYTES;
    if (!is_skippable && decoder->head_is_done &&
        decoder->head[DECODER_LZ4_MAGIC_BYTES] & DECODER_LZ4_DICTIONARY)
        return decoder_fail(decoder, failure, "a frame needs a dictionary, which is not supported");
    return STATUS_OK;
}

/* The length of a frame follows from its header and the lengths of its blocks. */
static uint64_t decoder_lz4_frame_bytes(const struct decoder_view *view, uint64_t offset)
{
    const unsigned char *data = decoder_look(view, offset, DECODER_LZ4_MAGIC_BYTES);

    if (!data)
        return 0;
    if (data[0] == DECODER_LZ4_LEGACY)
        return UINT64_MAX;
    if (decoder_lz4_is_skippable(data))
        return decoder_frame_skippable(view, offset);
    data = decoder_look(view, offset, DECODER_LZ4_MAGIC_BYTES + 2);
    if (!data)
        return 0;
    unsigned flags = data[DECODER_LZ4_MAGIC_BYTES];
    unsigned sizes = data[DECODER_LZ4_MAGIC_BYTES + 1];
    unsigned block_id = (sizes & DECODER_LZ4_BLOCK_MASK) >> DECODER_LZ4_BLOCK_SHIFT;
    if ((flags & DECODER_LZ4_VERSION_MASK) != DECODER_LZ4_VERSION || flags & DECODER_LZ4_RESERVED ||
        flags & DECODER_LZ4_DICTIONARY || sizes & DECODER_LZ4_BLOCK_RESERVED ||
        block_id < DECODER_LZ4_BLOCK_LEAST)
        return UINT64_MAX;
    uint32_t block_max = UINT32_C(1) << (8 + 2 * block_id);
    uint64_t at = DECODER_LZ4_MAGIC_BYTES + 3 + (flags & DECODER_LZ4_CONTENT_SIZE ? 8 : 0);
    while ((data = decoder_look(view, offset + at, 4))) {
        uint32_t block = decoder_read_32(data) & ~DECODER_LZ4_IS_UNCOMPRESSED;
        if (decoder_read_32(data) == 0)
            return at + 4 + (flags & DECODER_LZ4_CONTENT_CHECK ? 4 : 0);
        if (block > block_max)
            return UINT64_MAX;
        at += 4 + block + (flags & DECODER_LZ4_BLOCK_CHECKSUM ? 4 : 0);
    }
    return 0;
}

#ifdef HAVE_LZ4

#include <lz4.h>
#include <lz4frame.h>
#include <stdlib.h>

struct decoder_lz4 {
    LZ4F_dctx *context;
    size_t wanted; /* what the library wants to read of the frame next; 0: it begins */
};

static void *decoder_lz4_open(uint64_t memory_limit)
{
    struct decoder_lz4 *lz4 = calloc(1, sizeof *lz4);

    (void)memory_limit; /* a block has at most 4 MiB */
    if (lz4 && !LZ4F_isError(LZ4F_createDecompressionContext(&lz4->context, LZ4F_VERSION)))
        return lz4;
    free(lz4);
    return NULL;
}

static void decoder_lz4_close(void *state)
{
    struct decoder_lz4 *lz4 = state;

    LZ4F_freeDecompressionContext(lz4->context);
    free(lz4);
}

static enum status decoder_lz4_step(struct decoder *decoder, struct decoder_io *io, bool *ended,
                                    struct failure *failure)
{
    struct decoder_lz4 *lz4 = decoder->state;
    const bool has_checksums = !decoder_lz4_is_skippable(decoder->head) &&
                               decoder->head[DECODER_LZ4_MAGIC_BYTES] & DECODER_LZ4_BLOCK_CHECKSUM;
    const size_t between = 4 + (has_checksums ? 4 : 0); /* the length of the next block */
    const bool begins = lz4->wanted == 0;
    size_t in_bytes =
        begins ? io->in_bytes - io->in_used : decoder_next_bytes(decoder, io, lz4->wanted, between);
    size_t out_bytes = io->out_bytes - io->out_used;
    size_t result = LZ4F_decompress(lz4->context, io->out + io->out_used, &out_bytes,
                                    io->in + io->in_used, &in_bytes, NULL);

    if (begins && LZ4F_isError(result)) {
        LZ4F_resetDecompressionContext(lz4->context);
        lz4->wanted = DECODER_LZ4_MAGIC_BYTES + 1;
        return STATUS_OK;
    }
    if (LZ4F_isError(result))
        return decoder_fail(decoder, failure, "%s", LZ4F_getErrorName(result));
    lz4->wanted = result;
    io->in_used += in_bytes;
    io->out_used += out_bytes;
    *ended = result == 0;
    return STATUS_OK;
}

static const struct decoder_library decoder_lz4_library = {
    .name = "liblz4",
    .version = LZ4_versionString,
    .open = decoder_lz4_open,
    .step = decoder_lz4_step,
    .close = decoder_lz4_close,
};
#define DECODER_LZ4_LIBRARY &decoder_lz4_library

#else
#define DECODER_LZ4_LIBRARY NULL
#endif

const struct decoder_format decoder_lz4 = {
    .name = "lz4",
    .unit = "frame",
    .has_small_window = true,
    .needs = "liblz4",
    .instead = "lz4 -dc",
    .library = DECODER_LZ4_LIBRARY,
    /* Legacy frames match too, so that the message can name them. */
    .magics = {DECODER_MAGIC("\x04\x22\x4d\x18"), DECODER_MAGIC("\x02\x21\x4c\x18"),
               DECODER_MAGIC_RANGE("\x50\x2a\x4d\x18", "\x5f\x2a\x4d\x18")},
    .check_head = decoder_lz4_check_head,
    .frame_bytes = decoder_lz4_frame_bytes,
};
