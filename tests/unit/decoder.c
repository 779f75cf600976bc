/* Decoders: detection by every prefix, where frames end, and opening. Decoding: decoder.bats. */
#include "config.h"

#include "lib/decoder.h"
#include "tap.h"
#include "tests/unit/frame_bytes.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#ifdef HAVE_LZMA
#include "tests/unit/xz_parts.h"

#include <lzma.h>
#endif

#define FRAMES_MAX 65536

/* Consecutive frames, made with the library's compressor, and the end of each. */
struct frames {
    unsigned char data[FRAMES_MAX];
    size_t bytes;
    size_t ends[8];
    size_t count;
};

static void frames_end(struct frames *frames)
{
    frames->ends[frames->count++] = frames->bytes;
}

static void frames_add_compressed(struct frames *frames, size_t plain_bytes, bool checksum)
{
    unsigned char *plain = malloc(plain_bytes + 1);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    uint64_t state = plain_bytes;

    for (size_t i = 0; plain && i < plain_bytes; i++)
        plain[i] = (unsigned char)("0123456789\n"[tap_random(&state) % 11]);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum);
    size_t bytes = ZSTD_compress2(context, frames->data + frames->bytes,
                                  sizeof frames->data - frames->bytes, plain, plain_bytes);
    if (!plain || ZSTD_isError(bytes)) {
        printf("Bail out! cannot compress\n");
        exit(1);
    }
    frames->bytes += bytes;
    frames_end(frames);
    ZSTD_freeCCtx(context);
    free(plain);
}

static void frames_add_skippable(struct frames *frames, unsigned char variant,
                                 unsigned char content_bytes)
{
    const unsigned char head[8] = {(unsigned char)(0x50 + variant), 0x2a, 0x4d, 0x18,
                                   content_bytes};

    memcpy(frames->data + frames->bytes, head, sizeof head);
    memset(frames->data + frames->bytes + sizeof head, 0x28, content_bytes);
    frames->bytes += sizeof head + content_bytes;
    frames_end(frames);
}

/* Returns the format or refused kind of a file with this start. */
static const struct decoder_format *detect(const char *head, size_t bytes, bool *undecided)
{
    return decoder_detect(head, bytes, DECODER_COMPRESSED | DECODER_REFUSED | DECODER_ARRAY,
                          undecided);
}

/* --- detection -------------------------------------------------------------------------------- */

/* The first bytes of a file, and the number of bytes that reveal its format. */
struct beginning {
    const char *name; /* NULL: no format */
    size_t enough;
    size_t bytes;
    const char *head;
};

#define BEGINNING(name, enough, head)       \
    {                                       \
        name, enough, sizeof head - 1, head \
    }

static void check_beginning(const struct beginning *beginning)
{
    bool passed = true;

    for (size_t bytes = 0; bytes <= beginning->bytes; bytes++) {
        bool undecided;
        const struct decoder_format *format = detect(beginning->head, bytes, &undecided);
        const char *name = format ? decoder_format_name(format) : NULL;
        const char *expected = bytes < beginning->enough ? NULL : beginning->name;
        if (undecided != (bytes < beginning->enough) || !name != !expected ||
            (name && strcmp(name, expected) != 0))
            passed = tap_note("%zu bytes: %s%s", bytes, name ? name : "nothing",
                              undecided ? ", undecided" : "");
    }
    tap_ok(passed, "%02x %02x %02x... is %s from %zu bytes on", (unsigned char)beginning->head[0],
           (unsigned char)beginning->head[1], (unsigned char)beginning->head[2],
           beginning->name ? beginning->name : "of no format", beginning->enough);
}

static void check_beginnings(const struct beginning *beginnings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_beginning(&beginnings[i]);
}

/* The first bytes of each format, decoded or refused. */
static void check_format_beginnings(void)
{
    static const struct beginning beginnings[] = {
        BEGINNING("zstd", 4, "\x28\xb5\x2f\xfd"),
        BEGINNING("zstd", 4, "\x22\xb5\x2f\xfd"), /* to be refused by name */
        BEGINNING("zstd", 4, "\x27\xb5\x2f\xfd"),
        BEGINNING("zstd", 4, "\x50\x2a\x4d\x18"),
        BEGINNING("zstd", 4, "\x5f\x2a\x4d\x18"),
        BEGINNING("gzip", 2, "\x1f\x8b\x08\x00"),
        BEGINNING("xz", 6, "\xfd\x37\x7a\x58\x5a\x00"),
        BEGINNING("bzip2", 10, "BZh91AY&SY"),
        BEGINNING("bzip2", 10, "BZh1\x17\x72\x45\x38\x50\x90"),
        BEGINNING("lz4", 4, "\x04\x22\x4d\x18"),
        BEGINNING("lz4", 4, "\x02\x21\x4c\x18"), /* to be refused by name */
        BEGINNING("zip", 4, "PK\x03\x04"),
        BEGINNING("zip", 4, "PK\x05\x06"),
        BEGINNING("zip", 4, "PK\x07\x08"),
        BEGINNING("7z", 6, "7z\xbc\xaf\x27\x1c"),
        BEGINNING("lzip", 5, "LZIP\1\x0c"),
        BEGINNING("lzop", 9, "\x89LZO\0\r\n\x1a\n\x10"),
        BEGINNING("snappy", 10, "\xff\6\0\0sNaPpY\0"),
        BEGINNING("Parquet", 5, "PAR1\x15"),
        BEGINNING("Arrow", 8, "ARROW1\0\0"),
        BEGINNING("ELF", 7, "\x7f\x45LF\2\1\1"),
        BEGINNING("PNG", 8, "\x89PNG\r\n\x1a\n"),
        BEGINNING("RIFF", 12, "RIFF\x24\0\0\0WAVE"),
        BEGINNING("OLE2", 8, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        /* zlib: empty, a stored block, one with its own codes, and "1\n2\n" with its checksum */
        BEGINNING("zlib", 8, "\x78\x9c\x03\0\0\0\0\1"),
        BEGINNING("zlib", 13, "\x78\x01\x01\x02\0\xfd\xff\x31\n\0\x6e\0\x3c"),
        BEGINNING("zlib", 12, "\x78\x9c\x33\xe4\x32\xe2\x02\0\x01\x54\0\x78"),
        BEGINNING("compress", 3, "\x1f\x9d\x90"),
        BEGINNING("compress", 3, "\x1f\x9d\x89"),
        /* by xz: the content's size is unknown */
        BEGINNING("lzma", 18, "\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff\0\x18\x81\x44\xef"),
        /* empty; and with a known size and a dictionary of 12 MiB */
        BEGINNING("lzma", 18, "\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff\0\x83\xff\xfb\xff"),
        BEGINNING("lzma", 18, "\x5d\0\0\xc0\0\x10\x27\0\0\0\0\0\0\0\x1a\0\x44\xef"),
    };

    check_beginnings(beginnings, sizeof beginnings / sizeof *beginnings);
}

/* Data of no format. Most begins nearly like a format. */
static void check_other_beginnings(void)
{
    static const struct beginning beginnings[] = {
        BEGINNING(NULL, 4, "\x28\xb5\x2f\xfc"),
        BEGINNING(NULL, 3, "\x28\xb5\x2e\xfd"),
        BEGINNING(NULL, 2, "\x28\x2a\x4d\x18"),
        BEGINNING(NULL, 2, "\x50\xb5\x2f\xfd"),
        BEGINNING(NULL, 2, "\x21\xb5\x2f\xfd"),
        BEGINNING(NULL, 1, "\x29\xb5\x2f\xfd"),
        BEGINNING(NULL, 2, "\x4f\x2a\x4d\x18"),
        BEGINNING(NULL, 1, "\x60\x2a\x4d\x18"),
        BEGINNING(NULL, 2, "\x1f\x8c\x08\x00"),
        BEGINNING(NULL, 6, "\xfd\x37\x7a\x58\x5a\x01"),
        BEGINNING(NULL, 4, "BZh0"),
        BEGINNING(NULL, 10, "BZh91AY&SX"),
        BEGINNING(NULL, 5, "BZh5\n"),
        BEGINNING(NULL, 4, "\x04\x22\x4d\x19"),
        BEGINNING(NULL, 9, "RIFF,WAVE,AVI"),
        BEGINNING(NULL, 5, "PAR1,PAR2"),
        BEGINNING(NULL, 7, "\x7f\x45LF\0\0\0\0"),
        /* integers of 32 bits that begin like zlib: 40056, 236664, 105592, 4364408 */
        BEGINNING(NULL, 7, "\x78\x9c\0\0\7\0\0\0"),
        BEGINNING(NULL, 8, "\x78\x9c\3\0\7\0\0\0"),
        BEGINNING(NULL, 7, "\x78\x9c\1\0\7\0\0\0"),
        BEGINNING(NULL, 9, "\x78\x9c\x44\0\7\0\0\0\2\0\0\0"),
        BEGINNING(NULL, 2, "x,y"),
        BEGINNING(NULL, 3, "PK\n"),
        BEGINNING(NULL, 4, "PK\x03\x06"),
        BEGINNING(NULL, 6, "7z\xbc\xaf\x27\x1d"),
        BEGINNING(NULL, 3, "\x1f\x9d\x08"),
        BEGINNING(NULL, 3, "\x1f\x9d\x91"),
        BEGINNING(NULL, 3, "\x1f\x9d\xb0"),
        BEGINNING(NULL, 2, "]\n"),
        BEGINNING(NULL, 1, "1234"),
        BEGINNING(NULL, 1, "\0\0\0\0"),
        /* small integers of 8, 16, 32 and 64 bits: fewer bytes could be lzma */
        BEGINNING(NULL, 18, "\x5d\0\0\1\0\7\0\0\0\0\0\0\0\0\1\0\0\1"),
        BEGINNING(NULL, 18, "\x5d\0\0\0\1\0\7\0\5\0\0\0\0\0\1\0\2\0"),
        BEGINNING(NULL, 18, "\x5d\0\0\0\1\0\0\0\5\0\0\0\0\0\0\0\x21\1"),
        BEGINNING(NULL, 18, "\x5d\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\7\0"),
        BEGINNING(NULL, 18, "\x5d\0\0\0\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
    };

    check_beginnings(beginnings, sizeof beginnings / sizeof *beginnings);
}

/* --- where frames end ------------------------------------------------------------------------- */

static void frames_add(struct frames *frames, const char *data, size_t bytes)
{
    memcpy(frames->data + frames->bytes, data, bytes);
    frames->bytes += bytes;
}

static void check_ends(const struct decoder_format *format, const struct frames *frames)
{
    size_t begin = 0;

    for (size_t i = 0; i < frames->count; i++) {
        size_t length = frames->ends[i] - begin;
        bool passed = true;
        for (size_t bytes = 0; begin + bytes <= frames->bytes; bytes++) {
            size_t expected = bytes < length ? 0 : length;
            uint64_t found = frame_bytes_in(format, frames->data + begin, bytes);
            if (found != expected)
                passed = tap_note("%zu bytes given: %zu", bytes, found);
        }
        tap_ok(passed, "%s: frame %zu has %zu bytes, which no prefix tells",
               decoder_format_name(format), i, length);
        begin = frames->ends[i];
    }
}

static void check_zstd_ends(void)
{
    static struct frames frames;
    bool undecided;
    const struct decoder_format *zstd =
        decoder_detect("\x28\xb5\x2f\xfd", 4, DECODER_COMPRESSED, &undecided);

    frames_add_skippable(&frames, 0, 4);
    frames_add_compressed(&frames, 5000, true);
    frames_add_compressed(&frames, 0, false);
    frames_add_skippable(&frames, 15, 0);
    frames_add_compressed(&frames, 1, true);
    frames_add_skippable(&frames, 7, 200);
    check_ends(zstd, &frames);
    tap_ok(frame_bytes_in(zstd, "1", 1) == UINT64_MAX, "what is no frame has no end");
    /* A block of the reserved type 3 (RFC 8878, 3.1.1.2.2), in a frame with a window. */
    tap_ok(frame_bytes_in(zstd, "\x28\xb5\x2f\xfd\x00\x00\x07\x00\x00", 9) == UINT64_MAX,
           "nor has one with a block of a reserved type");
}

/* The frames are made by hand, with blocks that are not compressed: lz4_Frame_format.md. */
static void check_lz4_ends(void)
{
    static struct frames frames;
    bool undecided;
    const struct decoder_format *lz4 =
        decoder_detect("\x04\x22\x4d\x18", 4, DECODER_COMPRESSED, &undecided);

    /* No block; then two, one of which claims to be compressed, and a checksum of the content. */
    frames_add(&frames, "\x04\x22\x4d\x18\x60\x40\x82\0\0\0\0", 11);
    frames_end(&frames);
    frames_add(&frames,
               "\x04\x22\x4d\x18\x64\x40\xa7\3\0\0\x80"
               "abc\4\0\0\0defg\0\0\0\0ABCD",
               34 - 4);
    frames_end(&frames);
    frames_add_skippable(&frames, 3, 100);
    /* The size of the content, checksums of blocks. */
    frames_add(&frames,
               "\x04\x22\x4d\x18\x78\x70\x11\3\0\0\0\0\0\0\0\3\0\0\x80"
               "abcABCD\0\0\0\0",
               30);
    frames_end(&frames);
    frames_add_skippable(&frames, 15, 0);
    check_ends(lz4, &frames);
    tap_ok(frame_bytes_in(lz4, "1", 1) == UINT64_MAX, "lz4: what is no frame has no end");
    tap_ok(frame_bytes_in(lz4, "\x02\x21\x4c\x18\0\0\0\0", 8) == UINT64_MAX,
           "nor has a legacy one");
    tap_ok(frame_bytes_in(lz4, "\x04\x22\x4d\x18\x60\x40\x82\1\0\1\0", 11) == UINT64_MAX,
           "nor one with a block of more than the 64 KiB that it says is the most");
    tap_ok(frame_bytes_in(lz4, "\x04\x22\x4d\x18\xa0\x40\x82\0\0\0\0", 11) == UINT64_MAX,
           "nor one of another version");
}

/* Only lengths matter here; the contents are not read. */
static void check_gzip_ends(void)
{
    static struct frames frames;
    bool undecided;
    const struct decoder_format *gzip =
        decoder_detect("\x1f\x8b", 2, DECODER_COMPRESSED, &undecided);

    /* The member that ends files of BGZF (the SAM/BAM format specification, 4.1.2). */
    frames_add(&frames, "\x1f\x8b\x08\x04\0\0\0\0\0\xff\6\0BC\2\0\x1b\0\3\0\0\0\0\0\0\0\0\0", 28);
    frames_end(&frames);
    /* The same with other fields before and after that of BGZF. */
    frames_add(&frames,
               "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x0f\0XY\1\0zBC\2\0\x24\0PQ\0\0\3\0\0\0\0\0\0\0\0\0",
               37);
    frames_end(&frames);
    check_ends(gzip, &frames);
    tap_ok(frame_bytes_in(gzip, "\x1f\x8b\x08\0", 4) == UINT64_MAX, "a member without extra field");
    tap_ok(frame_bytes_in(gzip, "\x1f\x8b\x08\x04\0\0\0\0\0\xff\5\0XY\1\0z", 17) == UINT64_MAX,
           "and one with another field has no end");
    tap_ok(frame_bytes_in(gzip, "\x1f\x8b\x08\x04\0\0\0\0\0\xff\6\0BC\2\0\x1a\0", 18) == UINT64_MAX,
           "nor has one whose length leaves no room for data");
    tap_ok(frame_bytes_in(gzip, "\0", 1) == UINT64_MAX, "nor have NULs");
}

/* --- the index of xz -------------------------------------------------------------------------- */

#ifdef HAVE_LZMA

/* Bytes before the streams, like in a file that is read from there on. */
#define BEFORE_XZ 5

/* Adds a stream of three blocks to the frames, and their contents to the plain bytes. */
static void add_xz_stream(struct frames *frames, struct frames *plain, lzma_check check,
                          bool shows_sizes)
{
    lzma_options_lzma options;
    lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};
    lzma_mt threads = {.threads = 1, .block_size = 50, .filters = filters, .check = check};
    lzma_stream stream = LZMA_STREAM_INIT;
    uint64_t state = plain->bytes;
    size_t begin = plain->bytes;

    for (; plain->bytes < begin + 120; plain->bytes++)
        plain->data[plain->bytes] = (unsigned char)("0123456789\n"[tap_random(&state) % 11]);
    lzma_lzma_preset(&options, 0);
    lzma_ret result = shows_sizes ? lzma_stream_encoder_mt(&stream, &threads)
                                  : lzma_stream_encoder(&stream, filters, check);
    stream.next_out = frames->data + frames->bytes;
    stream.avail_out = sizeof frames->data - frames->bytes;
    for (size_t at = begin; at < plain->bytes && result == LZMA_OK; at += 40) {
        stream.next_in = plain->data + at;
        stream.avail_in = 40;
        do
            result = lzma_code(&stream, shows_sizes ? LZMA_FULL_BARRIER : LZMA_FULL_FLUSH);
        while (result == LZMA_OK);
        result = result == LZMA_STREAM_END ? LZMA_OK : result;
    }
    while (result == LZMA_OK)
        result = lzma_code(&stream, LZMA_FINISH);
    frames->bytes = sizeof frames->data - stream.avail_out;
    lzma_end(&stream);
    if (result != LZMA_STREAM_END) {
        printf("Bail out! cannot compress with xz\n");
        exit(1);
    }
}

/* Returns whether all parts decode, and to these bytes. */
static bool are_parts(const struct frames *frames, uint64_t part_bytes, size_t count,
                      const struct frames *plain)
{
    static unsigned char made[FRAMES_MAX];
    size_t bytes;

    return xz_parts_decode(frames->data, BEFORE_XZ, frames->bytes, part_bytes, made, sizeof made,
                           &bytes) == count &&
           bytes == plain->bytes && memcmp(made, plain->data, bytes) == 0;
}

static void check_xz_parts(void)
{
    static struct frames frames;
    static struct frames plain;
    static unsigned char made[FRAMES_MAX];
    size_t bytes;

    frames.bytes = BEFORE_XZ;
    add_xz_stream(&frames, &plain, LZMA_CHECK_CRC64, true);
    frames_add(&frames, "\0\0\0\0\0\0\0\0", 8);
    add_xz_stream(&frames, &plain, LZMA_CHECK_SHA256, false);
    tap_ok(are_parts(&frames, 1, 6, &plain), "the blocks of two xz streams decode by themselves");
    tap_ok(are_parts(&frames, 100, 4, &plain), "in pairs as well");
    tap_ok(are_parts(&frames, 1 << 20, 2, &plain), "all those of a stream as well");
    size_t seen = 0;
    for (size_t bit = BEFORE_XZ * 8; bit < frames.bytes * 8; bit++) {
        frames.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
        seen += xz_parts_decode(frames.data, BEFORE_XZ, frames.bytes, 1, made, sizeof made,
                                &bytes) == 0;
        frames.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    size_t bits = (frames.bytes - BEFORE_XZ) * 8;
    tap_ok(seen == bits, "a flipped bit anywhere is noticed: %zu of %zu", seen, bits);
    for (unsigned i = 0; i < 10000; i++)
        frames_add(&frames, "\0\0\0\0", 4);
    add_xz_stream(&frames, &plain, LZMA_CHECK_CRC32, true);
    tap_ok(are_parts(&frames, 1, 9, &plain), "a stream far behind is found");
}

#endif

/* --- life ------------------------------------------------------------------------------------- */

static void check_empty(void)
{
    struct failure failure;
    struct decoder *decoder = NULL;
    bool undecided;
    const struct decoder_format *zstd =
        decoder_detect("\x28\xb5\x2f\xfd", 4, DECODER_COMPRESSED, &undecided);

    if (decoder_open(&decoder, zstd, "name", 0, &failure) != STATUS_OK) {
        tap_ok(false, "opens");
        return;
    }
    bool fine = true;
    for (size_t i = 0; i < 200; i++) { /* more often than the library allows without progress */
        struct decoder_io io = {.in = (const unsigned char *)"x", .in_bytes = i % 2};
        fine = fine && decoder_run(decoder, &io, false, &failure) == STATUS_OK;
        fine = fine && io.in_used == 0 && io.out_used == 0;
    }
    tap_ok(fine, "without input or room nothing happens");
    tap_ok(decoder_finish(decoder, &failure) == STATUS_OK, "nothing at all is the end of a stream");
    decoder_close(decoder);
}

int main(void)
{
    check_format_beginnings();
    check_other_beginnings();
    check_zstd_ends();
    check_lz4_ends();
    check_gzip_ends();
#ifdef HAVE_LZMA
    check_xz_parts();
#endif
    check_empty();
    return tap_done();
}
