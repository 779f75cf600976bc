/*
 * libFuzzer: decodes in pieces whatever comes, and compares with decoding at once. The first byte
 * of the input chooses the sizes of the pieces, and with its highest bit the format, so that also
 * what does not begin with a magic gets through; the rest is the file.
 */
#include "config.h"

#include "input/decoder.h"

#define ZLIB_CONST
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
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

/* Whether all of it decodes; false also, without a failure, where the output is too long. */
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
        size_t in_bytes = smaller(in_piece, bytes - used);
        size_t out_bytes = smaller(out_piece, OUTPUT_MAX - *made);
        size_t in_used;
        size_t out_used;
        status = decoder_run(decoder, data + used, in_bytes, &in_used, output + *made, out_bytes,
                             &out_used, failure);
        require(in_used <= in_bytes && out_used <= out_bytes, "more used than given");
        filled = out_used == out_bytes;
        require(status != STATUS_OK || in_used == in_bytes || filled, "input left without cause");
        used += in_used;
        *made += out_used;
    }
    bool fine =
        status == STATUS_OK && *made < OUTPUT_MAX && decoder_finish(decoder, failure) == STATUS_OK;
    decoder_close(decoder);
    return fine;
}

/* Decodes with nothing but one call of the library a frame. */
static bool decode_zstd_at_once(const unsigned char *data, size_t bytes, size_t *made)
{
    size_t result = ZSTD_decompress(at_once, sizeof at_once, data, bytes);
    *made = result;
    return !ZSTD_isError(result);
}

#ifdef HAVE_ZLIB
/* As above; stops at NULs behind a member. */
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
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    bool undecided;
    size_t made;
    size_t expected = 0;

    if (bytes < 1)
        return 0;
    bool is_gzip = data[0] & 0x80;
    const struct decoder_format *format = is_gzip
                                              ? decoder_detect("\x1f\x8b", 2, &undecided)
                                              : decoder_detect("\x28\xb5\x2f\xfd", 4, &undecided);
    require(format && !undecided, "the format is not known");
#ifdef HAVE_ZLIB
    bool is_fine = is_gzip ? decode_gzip_at_once(data + 1, bytes - 1, &expected)
                           : decode_zstd_at_once(data + 1, bytes - 1, &expected);
#else
    if (is_gzip)
        return 0;
    bool is_fine = decode_zstd_at_once(data + 1, bytes - 1, &expected);
#endif
    struct failure failure = {.status = STATUS_OK};
    if (decode(format, data + 1, bytes - 1, data[0], &made, &failure)) {
        /* In pieces the library takes compressed blocks of no bytes, at once it does not (1.5.4).
         */
        require(!is_fine || made == expected, "decoded to another length");
        require(!is_fine || memcmp(output, at_once, made) == 0, "decoded to other bytes");
    } else if (failure.status != STATUS_OK) {
        /* In pieces the library is right to mind some blocks that it takes at once. */
        bool is_our_own = strstr(failure.message, "unexpected end") ||
                          strstr(failure.message, "as many bytes") ||
                          (!is_gzip && strstr(failure.message, "junk"));
        require(!is_fine || !is_our_own, failure.message);
    }
    size_t frame = decoder_frame_bytes(format, data + 1, bytes - 1);
    require(frame == SIZE_MAX || frame <= bytes - 1, "a frame longer than the data");
    return 0;
}
