/*
 * bzip2, by libbz2. The index: a block begins at any bit, with a magic and its 32-bit checksum. The
 * end of a stream has the same form, with a checksum that combines those of its blocks (Seward,
 * "bzip2 and libbzip2"; the format is in https://en.wikipedia.org/wiki/Bzip2).
 */
#include "config.h"

#include "lib/decoder_internal.h"

#include <stdlib.h>
#include <string.h>

#define DECODER_BZIP2_BLOCK      UINT64_C(0x314159265359)
#define DECODER_BZIP2_END        UINT64_C(0x177245385090)
#define DECODER_BZIP2_MAGIC_BITS 48
#define DECODER_BZIP2_CRC_BITS   32
#define DECODER_BZIP2_END_BITS   (DECODER_BZIP2_MAGIC_BITS + DECODER_BZIP2_CRC_BITS)

/* "BZh1" to "BZh9": the header of a stream. */
#define DECODER_BZIP2_HEAD_BYTES 4

/* Maximum length of the tail of a part: 7 bits, and the end of a stream. */
#define DECODER_BZIP2_TAIL_BYTES 11

/*
 * Size of the blocks of a part, in 100 kB: four of the largest blocks, which take 0.1 s. The
 * last row of a part ends in the first block after it, which may be decoded twice.
 */
#define DECODER_BZIP2_PART_HUNDREDS 36

/* Number of bytes searched at a time. */
#define DECODER_BZIP2_LOOK_BYTES 16384

#ifdef HAVE_BZ2

#include <bzlib.h>

static void *decoder_bzip2_open(uint64_t memory_limit)
{
    bz_stream *stream = calloc(1, sizeof *stream);

    (void)memory_limit; /* a block takes at most 3.7 MB */
    if (stream && BZ2_bzDecompressInit(stream, 0, 0) == BZ_OK)
        return stream;
    free(stream);
    return NULL;
}

static void decoder_bzip2_close(void *state)
{
    BZ2_bzDecompressEnd(state);
    free(state);
}

static enum status decoder_bzip2_step(struct decoder *decoder, struct decoder_io *io, bool *ended,
                                      struct failure *failure)
{
    bz_stream *stream = decoder->state;
    unsigned in_bytes = decoder_limit(io->in_bytes - io->in_used);
    unsigned out_bytes = decoder_limit(io->out_bytes - io->out_used);

    stream->next_in = (char *)io->in + io->in_used; /* the library does not write there */
    stream->avail_in = in_bytes;
    stream->next_out = (char *)io->out + io->out_used;
    stream->avail_out = out_bytes;
    int result = BZ2_bzDecompress(stream);
    io->in_used += in_bytes - stream->avail_in;
    io->out_used += out_bytes - stream->avail_out;
    *ended = result == BZ_STREAM_END;
    if (*ended) { /* prepare for the next stream; after a failure it may be closed */
        result = BZ2_bzDecompressEnd(stream);
        result = result == BZ_OK ? BZ2_bzDecompressInit(stream, 0, 0) : result;
    }
    if (result == BZ_OK)
        return STATUS_OK;
    return decoder_fail(decoder, failure, "%s",
                        result == BZ_MEM_ERROR ? "no memory to decompress it" : "corrupt data");
}

static const struct decoder_library decoder_bzip2_library = {
    .name = "libbz2",
    .version = BZ2_bzlibVersion,
    .open = decoder_bzip2_open,
    .step = decoder_bzip2_step,
    .close = decoder_bzip2_close,
};
#define DECODER_BZIP2_LIBRARY &decoder_bzip2_library

struct decoder_bzip2_index {
    struct decoder_index index;
    struct decoder_view view;
    uint64_t at;         /* the first block of the next part, in bits */
    unsigned char level; /* the level of its stream: '1' to '9' */
    uint32_t crc;        /* CRC of the blocks of the stream so far */
    bool is_plain;       /* no block begins at `at`: the rest is read in order */
    bool may_be[256];    /* the bytes of magics that, at some shift, 2 bytes and the shift follow */
};

/* Reads up to 48 bits at an offset in bits. Returns false, and reads 0, if the data end before. */
static bool decoder_bzip2_read(const struct decoder_view *view, uint64_t at, unsigned bits,
                               uint64_t *value)
{
    const unsigned end = (unsigned)(at % 8) + bits;
    const unsigned char *data = decoder_look(view, at / 8, (end + 7) / 8);

    *value = 0;
    for (unsigned i = 0; data && i < (end + 7) / 8; i++)
        *value = *value << 8 | data[i];
    *value = *value >> (8 - end % 8) % 8 & ((UINT64_C(1) << bits) - 1);
    return data != NULL;
}

/*
 * Finds the first magic at an offset of at least `from` bits, stores the offset, and reads the
 * checksum after it. Returns the magic, or 0 if the data end before.
 */
static uint64_t decoder_bzip2_find(const struct decoder_bzip2_index *index, uint64_t from,
                                   uint64_t *at, uint32_t *crc)
{
    const struct decoder_view *view = &index->view;
    uint64_t window = 0;

    for (uint64_t next = from / 8; next < view->bytes;) {
        const uint64_t left = view->bytes - next;
        const size_t bytes =
            left < DECODER_BZIP2_LOOK_BYTES ? (size_t)left : DECODER_BZIP2_LOOK_BYTES;
        const unsigned char *data = decoder_look(view, next, bytes);
        for (size_t i = 0; data && i < bytes; i++) {
            window = window << 8 | data[i];
            for (unsigned shift = 8; index->may_be[window >> 16 & 0xff] && shift-- > 0;) {
                const uint64_t magic =
                    window >> shift & ((UINT64_C(1) << DECODER_BZIP2_MAGIC_BITS) - 1);
                const uint64_t end = 8 * (next + i + 1) - shift;
                uint64_t value;
                if ((magic != DECODER_BZIP2_BLOCK && magic != DECODER_BZIP2_END) ||
                    end < from + DECODER_BZIP2_MAGIC_BITS)
                    continue;
                *at = end - DECODER_BZIP2_MAGIC_BITS;
                if (!decoder_bzip2_read(view, end, DECODER_BZIP2_CRC_BITS, &value))
                    return 0;
                *crc = (uint32_t)value;
                return magic;
            }
        }
        if (!data)
            return 0;
        next += bytes;
    }
    return 0;
}

/*
 * Begins a stream at an offset in bytes. If there is no stream, or one without blocks, the rest is
 * plain.
 */
static void decoder_bzip2_begin(struct decoder_bzip2_index *index, uint64_t begin)
{
    const unsigned char *head = decoder_look(&index->view, begin, DECODER_BZIP2_HEAD_BYTES);
    uint64_t magic;

    index->crc = 0;
    index->is_plain = true;
    index->at = 8 * begin;
    if (!head || memcmp(head, "BZh", 3) != 0 || head[3] < '1' || head[3] > '9')
        return;
    index->level = head[3];
    const uint64_t block = 8 * (begin + DECODER_BZIP2_HEAD_BYTES);
    if (!decoder_bzip2_read(&index->view, block, DECODER_BZIP2_MAGIC_BITS, &magic) ||
        magic != DECODER_BZIP2_BLOCK)
        return;
    index->is_plain = false;
    index->at = block;
}

static struct decoder_index *decoder_bzip2_index_open(const struct decoder_view *view,
                                                      uint64_t begin, uint64_t block_bytes,
                                                      bool ends_anywhere)
{
    struct decoder_bzip2_index *index = ends_anywhere ? calloc(1, sizeof *index) : NULL;
    uint64_t at = 0;
    uint32_t crc;

    (void)block_bytes; /* smaller blocks are also quick to decode */
    if (!index)
        return NULL;
    index->index.format = &decoder_bzip2;
    index->view = *view;
    for (unsigned shift = 0; shift < 8; shift++) {
        index->may_be[DECODER_BZIP2_BLOCK >> (16 - shift) & 0xff] = true;
        index->may_be[DECODER_BZIP2_END >> (16 - shift) & 0xff] = true;
    }
    decoder_bzip2_begin(index, begin);
    const uint64_t magic =
        index->is_plain
            ? 0
            : decoder_bzip2_find(index, index->at + DECODER_BZIP2_MAGIC_BITS, &at, &crc);
    const uint64_t end = at + DECODER_BZIP2_END_BITS;
    if (magic == DECODER_BZIP2_BLOCK || (magic == DECODER_BZIP2_END && (end + 7) / 8 < view->bytes))
        return &index->index;
    free(index);
    return NULL;
}

static void decoder_bzip2_index_close(struct decoder_index *index)
{
    free(index);
}

static uint32_t decoder_bzip2_combine(uint32_t crc, uint32_t block)
{
    return (crc << 1 | crc >> 31) ^ block;
}

/* Writes bits, the highest first, at bit `at` of data that is 0 from there. */
static void decoder_bzip2_write(char *data, unsigned at, uint64_t value, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++)
        data[(at + i) / 8] |= (char)((value >> (bits - 1 - i) & 1) << (7 - (at + i) % 8));
}

static bool decoder_bzip2_index_next(struct decoder_index *base, uint64_t bytes,
                                     struct decoder_part *part)
{
    struct decoder_bzip2_index *index = (struct decoder_bzip2_index *)base;
    const uint64_t begin = index->at;
    uint64_t magic;
    uint64_t at = begin;
    uint64_t value;
    uint32_t crc = 0; /* CRC of the part */
    int hundreds = 0; /* maximum decoded size of its blocks, in 100 kB */

    (void)bytes;
    *part = (struct decoder_part){.begin = begin / 8, .shift = (unsigned)(begin % 8)};
    if (index->is_plain) {
        part->end = index->view.bytes;
        part->is_last = true;
        return true;
    }
    part->head_bytes = DECODER_BZIP2_HEAD_BYTES;
    part->wrap_bytes = DECODER_BZIP2_HEAD_BYTES + DECODER_BZIP2_TAIL_BYTES;
    part->wrap = calloc(part->wrap_bytes, 1);
    if (!part->wrap)
        return false;
    decoder_bzip2_read(&index->view, at + DECODER_BZIP2_MAGIC_BITS, DECODER_BZIP2_CRC_BITS, &value);
    uint32_t block = (uint32_t)value;
    do {
        crc = decoder_bzip2_combine(crc, block);
        index->crc = decoder_bzip2_combine(index->crc, block);
        magic = decoder_bzip2_find(index, at + DECODER_BZIP2_MAGIC_BITS, &at, &block);
        hundreds += index->level - '0';
    } while (magic == DECODER_BZIP2_BLOCK && hundreds < DECODER_BZIP2_PART_HUNDREDS);

    memcpy(part->wrap, "BZh", 3);
    part->wrap[3] = (char)index->level;
    if (magic == 0) { /* the stream does not end; decoding the part reports it */
        part->end = index->view.bytes - (part->shift > 0);
        part->wrap_bytes = part->head_bytes;
        part->is_last = true;
        return true;
    }
    part->end = part->begin + (at - begin) / 8;
    /* The tail: the last bits of the part, then the end of a stream. A checksum that is wrong in
       the data is wrong here. */
    const unsigned rest = (unsigned)((at - begin) % 8);
    decoder_bzip2_read(&index->view, at - rest, rest, &value);
    const bool is_wrong = magic == DECODER_BZIP2_END && block != index->crc;
    decoder_bzip2_write(part->wrap + part->head_bytes, 0, value, rest);
    decoder_bzip2_write(part->wrap + part->head_bytes, rest, DECODER_BZIP2_END,
                        DECODER_BZIP2_MAGIC_BITS);
    decoder_bzip2_write(part->wrap + part->head_bytes, rest + DECODER_BZIP2_MAGIC_BITS,
                        is_wrong ? ~crc : crc, DECODER_BZIP2_CRC_BITS);
    part->wrap_bytes = part->head_bytes + (rest + DECODER_BZIP2_END_BITS + 7) / 8;
    index->at = at;
    if (magic == DECODER_BZIP2_END) {
        const uint64_t end = (at + DECODER_BZIP2_END_BITS + 7) / 8;
        part->is_last = end == index->view.bytes;
        decoder_bzip2_begin(index, end);
    }
    return true;
}

#else
#define DECODER_BZIP2_LIBRARY NULL
#endif

const struct decoder_format decoder_bzip2 = {
    .name = "bzip2",
    .unit = "stream",
    .needs = "libbz2",
    .instead = "bzip2 -dc",
    .library = DECODER_BZIP2_LIBRARY,
    /* The block size, and the magic of the first block, or of the end of an empty stream. */
    .magics = {DECODER_MAGIC_RANGE("BZh11AY&SY", "BZh91AY&SY"),
               DECODER_MAGIC_RANGE("BZh1\x17\x72\x45\x38\x50\x90", "BZh9\x17\x72\x45\x38\x50\x90")},
#ifdef HAVE_BZ2
    .index_open = decoder_bzip2_index_open,
    .index_next = decoder_bzip2_index_next,
    .index_close = decoder_bzip2_index_close,
#endif
};
