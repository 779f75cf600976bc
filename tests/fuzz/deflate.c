/*
 * Compares src/lib/deflate.h with zlib: decodes a file in pieces from guessed places.
 * The first byte chooses their length, the second their maximum size; the rest is the file.
 */
#include "config.h"

#include "tests/unit/deflate_pieces.h"

#define ZLIB_CONST
#include <stdio.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#define OUTPUT_MAX ((size_t)1 << 20)

#ifdef HAVE_ZLIB
static const size_t piece_sizes[] = {1, 2, 7, 16, 64, 256, 4096, OUTPUT_MAX};
static const size_t capacities[] = {DEFLATE_SLACK + 1, 1 << 12, 1 << 16, OUTPUT_MAX};

static unsigned char output[OUTPUT_MAX];
static unsigned char expected[OUTPUT_MAX];

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* Returns whether the whole file decodes; NULs can follow the last member. */
static bool decode_at_once(const unsigned char *data, size_t bytes, size_t *made)
{
    z_stream stream = {.next_in = data,
                       .avail_in = (uInt)bytes,
                       .next_out = expected,
                       .avail_out = (uInt)sizeof expected};

    require(inflateInit2(&stream, MAX_WBITS + 16) == Z_OK, "inflateInit2");
    int result = bytes > 0 ? Z_STREAM_END : Z_DATA_ERROR;
    while (result == Z_STREAM_END && stream.avail_in > 0 &&
           (*stream.next_in != 0 || stream.avail_in == bytes)) {
        inflateReset(&stream);
        result = inflate(&stream, Z_FINISH);
    }
    for (; result == Z_STREAM_END && stream.avail_in > 0; stream.avail_in--)
        result = *stream.next_in++ == 0 ? result : Z_DATA_ERROR;
    inflateEnd(&stream);
    *made = sizeof expected - stream.avail_out;
    return result == Z_STREAM_END;
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
#ifdef HAVE_ZLIB
    if (bytes < 2)
        return 0;
    struct deflate_pieces pieces = {
        .data = data + 2,
        .bytes = bytes - 2,
        .piece_bytes = piece_sizes[data[0] & 7],
        .over_bytes = data[0] >> 3,
        .capacity = capacities[data[1] & 3],
        .out = output,
        .room = sizeof output,
    };
    size_t made;
    const bool is_whole = decode_at_once(data + 2, bytes - 2, &made);
    deflate_pieces_decode(&pieces);
    require(pieces.made <= made && memcmp(output, expected, pieces.made) == 0, "other bytes");
    require(!pieces.has_ended || (is_whole && pieces.made == made), "took a corrupt file");
#else
    (void)data;
    (void)bytes;
#endif
    return 0;
}
