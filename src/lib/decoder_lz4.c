/*
 * lz4 frames, by liblz4. The format: lz4_Frame_format.md, version 1.6, in
 * https://github.com/lz4/lz4/tree/dev/doc
 */
#include "config.h"

#include "lib/decoder_internal.h"

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

/* Returns the length of a frame, from its header and the lengths of its blocks. */
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
#include <string.h>

/*
 * The checksum of the content, XXH32 with seed 0: doc/xxhash_spec.md in
 * https://github.com/Cyan4973/xxHash. liblz4 can compute it, but compilers vectorize its loop, and
 * each multiplication becomes a chain of shifts: 3.3 GB/s on a Zen 5 core in Debian 12's build,
 * this loop 7.3.
 */
#define DECODER_XXH_1     2654435761u
#define DECODER_XXH_2     2246822519u
#define DECODER_XXH_3     3266489917u
#define DECODER_XXH_4     668265263u
#define DECODER_XXH_5     374761393u
#define DECODER_XXH_BYTES 16 /* size of a stripe */

/* The checksum of the bytes so far. */
struct decoder_xxh {
    uint32_t lanes[4];
    uint64_t bytes;
    unsigned char rest[DECODER_XXH_BYTES]; /* the last bytes, which do not fill a stripe */
};

static const struct decoder_xxh decoder_xxh_empty = {
    .lanes = {DECODER_XXH_1 + DECODER_XXH_2, DECODER_XXH_2, 0, -DECODER_XXH_1},
};

static inline uint32_t decoder_rotate(uint32_t x, unsigned bits)
{
    return x << bits | x >> (32 - bits);
}

static inline uint32_t decoder_xxh_round(uint32_t lane, const unsigned char *data)
{
    lane = decoder_rotate(lane + decoder_read_32(data) * DECODER_XXH_2, 13) * DECODER_XXH_1;
    __asm__("" : "+r"(lane)); /* prevents vectors */
    return lane;
}

static void decoder_xxh_stripes(uint32_t lanes[4], const unsigned char *data, size_t bytes)
{
    uint32_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];

    for (const unsigned char *end = data + bytes; data < end; data += DECODER_XXH_BYTES) {
        a = decoder_xxh_round(a, data);
        b = decoder_xxh_round(b, data + 4);
        c = decoder_xxh_round(c, data + 8);
        d = decoder_xxh_round(d, data + 12);
    }
    lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
}

static void decoder_xxh_add(struct decoder_xxh *xxh, const unsigned char *data, size_t bytes)
{
    const size_t held = xxh->bytes % DECODER_XXH_BYTES;
    const size_t space = DECODER_XXH_BYTES - held;

    xxh->bytes += bytes;
    if (bytes < space) {
        memcpy(xxh->rest + held, data, bytes);
        return;
    }
    memcpy(xxh->rest + held, data, space);
    decoder_xxh_stripes(xxh->lanes, xxh->rest, DECODER_XXH_BYTES);
    const size_t rest = (bytes - space) % DECODER_XXH_BYTES;
    decoder_xxh_stripes(xxh->lanes, data + space, bytes - space - rest);
    memcpy(xxh->rest, data + bytes - rest, rest);
}

static uint32_t decoder_xxh_digest(const struct decoder_xxh *xxh)
{
    const uint32_t *lanes = xxh->lanes;
    const size_t rest = xxh->bytes % DECODER_XXH_BYTES;
    uint32_t h = xxh->bytes < DECODER_XXH_BYTES
                     ? DECODER_XXH_5
                     : decoder_rotate(lanes[0], 1) + decoder_rotate(lanes[1], 7) +
                           decoder_rotate(lanes[2], 12) + decoder_rotate(lanes[3], 18);
    size_t i = 0;

    h += (uint32_t)xxh->bytes;
    for (; i + 4 <= rest; i += 4)
        h = decoder_rotate(h + decoder_read_32(xxh->rest + i) * DECODER_XXH_3, 17) * DECODER_XXH_4;
    for (; i < rest; i++)
        h = decoder_rotate(h + xxh->rest[i] * DECODER_XXH_5, 11) * DECODER_XXH_1;
    h = (h ^ h >> 15) * DECODER_XXH_2;
    h = (h ^ h >> 13) * DECODER_XXH_3;
    return h ^ h >> 16;
}

struct decoder_lz4 {
    LZ4F_dctx *context;
    size_t wanted;          /* number of bytes that the library wants next; 0: a frame begins */
    struct decoder_xxh xxh; /* checksum of the frame's content, unless the library checks it */
    uint32_t last;          /* the last four bytes that were read */
};

static void *decoder_lz4_open(uint64_t memory_limit)
{
    struct decoder_lz4 *lz4 = calloc(1, sizeof *lz4);

    (void)memory_limit; /* a block has at most 4 MiB */
    if (lz4 && !LZ4F_isError(LZ4F_createDecompressionContext(&lz4->context, LZ4F_VERSION))) {
        lz4->xxh = decoder_xxh_empty;
        return lz4;
    }
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
    const unsigned flags = !decoder->head_is_done || decoder_lz4_is_skippable(decoder->head)
                               ? 0
                               : decoder->head[DECODER_LZ4_MAGIC_BYTES];
    const bool has_checksums = flags & DECODER_LZ4_BLOCK_CHECKSUM;
#if LZ4_VERSION_NUMBER >= 10904
    const bool is_checked =
        flags & DECODER_LZ4_CONTENT_CHECK && !has_checksums; /* checked by this file */
    const LZ4F_decompressOptions_t options = {.skipChecksums = is_checked};
#else
    const bool is_checked = false;
    const LZ4F_decompressOptions_t options = {.stableDst = 0};
#endif
    const size_t between = 4 + (has_checksums ? 4 : 0); /* a checksum, the next block's length */
    const bool begins = lz4->wanted == 0;
    size_t in_bytes =
        begins ? io->in_bytes - io->in_used : decoder_next_bytes(decoder, io, lz4->wanted, between);
    size_t out_bytes = io->out_bytes - io->out_used;
    size_t result = LZ4F_decompress(lz4->context, io->out + io->out_used, &out_bytes,
                                    io->in + io->in_used, &in_bytes, &options);

    if (begins && LZ4F_isError(result)) {
        LZ4F_resetDecompressionContext(lz4->context);
        lz4->wanted = DECODER_LZ4_MAGIC_BYTES + 1;
        return STATUS_OK;
    }
    if (LZ4F_isError(result))
        return decoder_fail(decoder, failure, "%s", LZ4F_getErrorName(result));
    lz4->wanted = result;
    if (is_checked)
        decoder_xxh_add(&lz4->xxh, io->out + io->out_used, out_bytes);
    for (size_t i = in_bytes > 4 ? in_bytes - 4 : 0; i < in_bytes; i++)
        lz4->last = lz4->last >> 8 | (uint32_t)io->in[io->in_used + i] << 24;
    io->in_used += in_bytes;
    io->out_used += out_bytes;
    *ended = result == 0;
    if (*ended && is_checked) {
        if (decoder_xxh_digest(&lz4->xxh) != lz4->last)
            return decoder_fail(decoder, failure, "ERROR_contentChecksum_invalid");
        lz4->xxh = decoder_xxh_empty;
    }
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
    .needs = "liblz4",
    .instead = "lz4 -dc",
    .library = DECODER_LZ4_LIBRARY,
    /* Legacy frames match too, so that the message can name them. */
    .magics = {DECODER_MAGIC("\x04\x22\x4d\x18"), DECODER_MAGIC("\x02\x21\x4c\x18"),
               DECODER_MAGIC_RANGE("\x50\x2a\x4d\x18", "\x5f\x2a\x4d\x18")},
    .check_head = decoder_lz4_check_head,
    .frame_bytes = decoder_lz4_frame_bytes,
};
