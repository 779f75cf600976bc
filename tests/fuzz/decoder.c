/*
 * libFuzzer: decodes the input in pieces, and compares with decoding at once. The first byte of the
 * input chooses the sizes of the pieces, the second the format, so that files without a magic also
 * reach a decoder; the rest is the file.
 */
#include "config.h"

#include "lib/decoder.h"
#include "tests/unit/frame_bytes.h"
#include "tests/unit/xz_parts.h"

#define ZLIB_CONST
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_LZMA
#include <lzma.h>
#endif
#ifdef HAVE_BZ2
#include <bzlib.h>
#endif
#ifdef HAVE_LZ4
#include <lz4frame.h>
#endif
#include <zstd.h>

#define OUTPUT_MAX   ((size_t)4 << 20)
#define MEMORY_LIMIT ((uint64_t)8 << 20)

static const size_t piece_sizes[] = {1, 2, 3, 7, 16, 64, 4096, OUTPUT_MAX};

static unsigned char output[OUTPUT_MAX];
static unsigned char at_once[OUTPUT_MAX];

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns whether the whole input decodes; false without a failure if the output is too long. */
static bool decode(const struct decoder_format *format, const unsigned char *data, size_t bytes,
                   unsigned sizes, size_t *made, struct failure *failure)
{
    size_t in_piece = piece_sizes[sizes & 7];
    size_t out_piece = piece_sizes[sizes >> 3 & 7];
    struct decoder *decoder = NULL;
    size_t used = 0;
    bool filled = false;

    *made = 0;
    require(decoder_open(&decoder, format, "fuzz", MEMORY_LIMIT, failure) == STATUS_OK, "open");
    enum status status = STATUS_OK;
    while (status == STATUS_OK && (used < bytes || filled) && *made < OUTPUT_MAX) {
        struct decoder_io io = {
            .in = data + used,
            .in_bytes = smaller(in_piece, bytes - used),
            .out = output + *made,
            .out_bytes = smaller(out_piece, OUTPUT_MAX - *made),
        };
        status = decoder_run(decoder, &io, false, failure);
        require(io.in_used <= io.in_bytes && io.out_used <= io.out_bytes, "more used than given");
        filled = io.out_used == io.out_bytes;
        require(status != STATUS_OK || io.in_used == io.in_bytes || filled,
                "input left without cause");
        used += io.in_used;
        *made += io.out_used;
    }
    bool fine =
        status == STATUS_OK && *made < OUTPUT_MAX && decoder_finish(decoder, failure) == STATUS_OK;
    decoder_close(decoder);
    return fine;
}

/* Decodes with one call of the library per frame. */
static bool decode_zstd_at_once(const unsigned char *data, size_t bytes, size_t *made)
{
    size_t result = ZSTD_decompress(at_once, sizeof at_once, data, bytes);
    *made = result;
    return !ZSTD_isError(result);
}

#ifdef HAVE_ZLIB
/* As above; stops at NULs after a member. */
static bool decode_gzip_at_once(const unsigned char *data, size_t bytes, size_t *made)
{
    z_stream stream = {.next_in = data,
                       .avail_in = (uInt)bytes,
                       .next_out = at_once,
                       .avail_out = (uInt)sizeof at_once};

    require(inflateInit2(&stream, MAX_WBITS + 16) == Z_OK, "inflateInit2");
    int result = Z_STREAM_END;
    while (result == Z_STREAM_END && stream.avail_in > 0 && *stream.next_in != 0) {
        inflateReset(&stream);
        result = inflate(&stream, Z_FINISH);
    }
    inflateEnd(&stream);
    *made = sizeof at_once - stream.avail_out;
    return result == Z_STREAM_END;
}
#else
#define decode_gzip_at_once NULL
#endif

#ifdef HAVE_LZMA
static bool decode_xz_at_once(const unsigned char *data, size_t bytes, size_t *made)
{
    uint64_t limit = MEMORY_LIMIT;
    size_t used = 0;

    *made = 0;
    return lzma_stream_buffer_decode(&limit, LZMA_CONCATENATED | LZMA_TELL_UNSUPPORTED_CHECK, NULL,
                                     data, &used, bytes, at_once, made, sizeof at_once) == LZMA_OK;
}
#else
#define decode_xz_at_once NULL
#endif

#ifdef HAVE_BZ2
static bool decode_bzip2_at_once(const unsigned char *data, size_t bytes, size_t *made)
{
    bz_stream stream = {.next_in = (char *)data,
                        .avail_in = (unsigned)bytes,
                        .next_out = (char *)at_once,
                        .avail_out = (unsigned)sizeof at_once};
    int result = BZ_STREAM_END;

    while (result == BZ_STREAM_END && stream.avail_in > 0) {
        require(BZ2_bzDecompressInit(&stream, 0, 0) == BZ_OK, "BZ2_bzDecompressInit");
        result = BZ2_bzDecompress(&stream);
        BZ2_bzDecompressEnd(&stream);
    }
    *made = sizeof at_once - stream.avail_out;
    return result == BZ_STREAM_END;
}
#else
#define decode_bzip2_at_once NULL
#endif

#ifdef HAVE_LZ4
static bool decode_lz4_at_once(const unsigned char *data, size_t bytes, size_t *made)
{
    LZ4F_dctx *context;
    size_t used = 0;
    size_t result = 0;

    *made = 0;
    require(!LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)), "LZ4F");
    while (!LZ4F_isError(result) && used < bytes && *made < sizeof at_once) {
        size_t in_bytes = bytes - used;
        size_t out_bytes = sizeof at_once - *made;
        result =
            LZ4F_decompress(context, at_once + *made, &out_bytes, data + used, &in_bytes, NULL);
        used += in_bytes;
        *made += out_bytes;
    }
    LZ4F_freeDecompressionContext(context);
    return result == 0 && used == bytes;
}
#else
#define decode_lz4_at_once NULL
#endif

static const struct {
    const char *magic;
    size_t bytes;
    bool (*decode_at_once)(const unsigned char *data, size_t bytes, size_t *made); /* or NULL */
} formats[] = {
    {"\x28\xb5\x2f\xfd", 4, decode_zstd_at_once},
    {"\x1f\x8b", 2, decode_gzip_at_once},
    {"\xfd"
     "7zXZ",
     6, decode_xz_at_once},
    {"BZh91AY&SY", 10, decode_bzip2_at_once},
    {"\x04\x22\x4d\x18", 4, decode_lz4_at_once},
};

#define FORMAT_ZSTD 0
#define FORMAT_GZIP 1
#define FORMAT_XZ   2
#define FORMAT_LZ4  4

/* Finds the end of the first frame. If the whole input decodes, the frame does, too. */
static void check_frame(unsigned chosen, const struct decoder_format *format,
                        const unsigned char *data, size_t bytes, unsigned sizes, bool is_fine)
{
    struct failure failure = {.status = STATUS_OK};
    uint64_t frame = frame_bytes_in(format, data, bytes);
    size_t made;

    require(frame == UINT64_MAX || frame <= bytes, "a frame longer than the data");
    /* Members of BGZF always contain their length. */
    if (is_fine && chosen != FORMAT_GZIP && frame > 0 && frame != UINT64_MAX)
        require(decode(format, data, frame, sizes, &made, &failure), "a frame that is none");
    if (is_fine && (chosen == FORMAT_ZSTD || chosen == FORMAT_LZ4) && bytes > 0)
        require(frame > 0 && frame != UINT64_MAX, "a frame without end");
}

/*
 * If the parts of xz data decode, the whole data decode to the same bytes, unless that takes too
 * much memory.
 */
static void check_parts(const unsigned char *data, size_t bytes, bool is_decoded, size_t made,
                        const struct failure *failure)
{
    size_t parts_made;
    size_t count = xz_parts_decode(data, 0, bytes, 1, at_once, sizeof at_once, &parts_made);

    if (count == 0 || (!is_decoded && strstr(failure->message, "the limit is")))
        return;
    require(is_decoded, "parts of what is corrupt");
    require(parts_made == made && memcmp(at_once, output, made) == 0, "parts of other bytes");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    bool undecided;
    size_t made;
    size_t expected = 0;

    if (bytes < 2)
        return 0;
    unsigned sizes = data[0];
    unsigned chosen = data[1] % (sizeof formats / sizeof *formats);
    const struct decoder_format *format =
        decoder_detect(formats[chosen].magic, formats[chosen].bytes, DECODER_COMPRESSED,
                       &undecided);
    require(format && !undecided, "the format is not known");
    data += 2;
    bytes -= 2;
    if (!formats[chosen].decode_at_once && chosen != FORMAT_GZIP)
        return 0;
    bool is_fine =
        formats[chosen].decode_at_once && formats[chosen].decode_at_once(data, bytes, &expected);
    struct failure failure = {.status = STATUS_OK};
    bool is_decoded = decode(format, data, bytes, sizes, &made, &failure);
    if (is_decoded) {
        /* zstd accepts empty compressed blocks in pieces, but not at once (1.5.4). */
        require(!is_fine || made == expected, "decoded to another length");
        require(!is_fine || memcmp(output, at_once, made) == 0, "decoded to other bytes");
    } else if (failure.status != STATUS_OK) {
        /* In pieces, zstd rightly rejects some blocks that it accepts at once; zlib stops at NULs.
         */
        bool is_our_own = strstr(failure.message, "unexpected end") ||
                          strstr(failure.message, "as many bytes") ||
                          (chosen == FORMAT_ZSTD && strstr(failure.message, "junk"));
        bool is_same_library = chosen != FORMAT_ZSTD && !strstr(failure.message, "junk") &&
                               !strstr(failure.message, "dictionary");
        require(!is_fine || !(is_our_own || is_same_library), failure.message);
    }
    check_frame(chosen, format, data, bytes, sizes, is_decoded);
    if (chosen == FORMAT_XZ)
        check_parts(data, bytes, is_decoded, made, &failure);
    return 0;
}
