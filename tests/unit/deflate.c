/* Tests lib/deflate.h: decodes valid and corrupt data from zlib in pieces. */
#include "config.h"

#include "tap.h"

#include "tests/unit/deflate_pieces.h"

#ifndef HAVE_ZLIB
int main(void)
{
    puts("1..0 # SKIP zlib makes the files");
    return 0;
}
#else
#include <zlib.h>

#define CONTENT_MAX ((size_t)1500 << 10)
#define FILE_MAX    (2 * CONTENT_MAX)

static unsigned char content[CONTENT_MAX];
static unsigned char file[FILE_MAX];
static unsigned char expected[CONTENT_MAX];
static unsigned char output[CONTENT_MAX];
static uint64_t state = 1;

static size_t draw(size_t below)
{
    return tap_random(&state) % below;
}

/* Makes log lines, random bytes, far and near repetitions, or some of each. */
static void draw_content(size_t bytes)
{
    const unsigned kind = (unsigned)draw(6);
    size_t at = 0;

    while (at < bytes) {
        const unsigned what = kind < 5 ? kind : (unsigned)draw(5);
        size_t end = at + 1 + draw(kind < 5 ? 300 : 200000);
        end = end < bytes ? end : bytes;
        if (what == 0) { /* lines of a log */
            char line[100];
            const int length = snprintf(line, sizeof line, "10.0.%u.%u GET /items/%u HTTP/1.1 %u\n",
                                        (unsigned)draw(4), (unsigned)draw(256),
                                        (unsigned)draw(3000), 200 + 4 * (unsigned)draw(3));
            end = at + (size_t)length < bytes ? at + (size_t)length : bytes;
            memcpy(content + at, line, end - at);
        } else if (what == 1) {
            memset(content + at, (int)draw(256), end - at);
        } else if (what == 2 && at > 0) { /* a match as far away as allowed */
            const size_t distance = 1 + draw(at < DEFLATE_WINDOW ? at : DEFLATE_WINDOW);
            for (size_t i = at; i < end; i++)
                content[i] = content[i - distance];
        } else {
            for (size_t i = at; i < end; i++)
                content[i] = (unsigned char)(what == 3 ? draw(256) : 'a' + draw(4) * draw(6));
        }
        at = end;
    }
}

/* Compresses content[begin..end) to a member. Returns its length. */
static size_t make_member(size_t begin, size_t end, unsigned char *out, size_t room)
{
    static const int strategies[] = {
        Z_DEFAULT_STRATEGY, Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED};
    static const int flushes[] = {Z_PARTIAL_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_BLOCK};
    static Bytef name[] = "name";
    static Bytef extra[] = "XY\0\0";
    gz_header header = {.os = 3};
    z_stream stream = {.next_out = out, .avail_out = (uInt)room};
    const bool flushes_often = draw(3) == 0;

    if (deflateInit2(&stream, (int)draw(10), Z_DEFLATED, 31, 1 + (int)draw(9),
                     strategies[draw(6)]) != Z_OK)
        exit(1);
    header.name = draw(2) ? name : NULL;
    header.comment = draw(4) == 0 ? name : NULL;
    header.extra = draw(4) == 0 ? extra : NULL;
    header.extra_len = 4;
    deflateSetHeader(&stream, &header);
    while (begin < end) {
        size_t bytes = flushes_often ? 1 + draw(60000) : end - begin;
        bytes = bytes < end - begin ? bytes : end - begin;
        stream.next_in = content + begin;
        stream.avail_in = (uInt)bytes;
        begin += bytes;
        if (draw(8) == 0)
            deflateParams(&stream, (int)draw(10), strategies[draw(6)]);
        deflate(&stream, begin < end ? flushes[draw(4)] : Z_NO_FLUSH);
    }
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        exit(1);
    deflateEnd(&stream);
    return room - stream.avail_out;
}

/* Decodes with zlib. Returns whether all of it is right. */
static bool decode_with_zlib(size_t bytes, size_t *made)
{
    z_stream stream = {.next_in = file,
                       .avail_in = (uInt)bytes,
                       .next_out = expected,
                       .avail_out = (uInt)sizeof expected};
    int result = Z_STREAM_END;

    if (bytes == 0 || inflateInit2(&stream, 31) != Z_OK)
        return false;
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

static struct deflate_pieces decode(size_t bytes, size_t capacity)
{
    struct deflate_pieces pieces = {
        .data = file,
        .bytes = bytes,
        .piece_bytes = (size_t)1 << (9 + draw(9)),
        .over_bytes = (size_t)1 << 17,
        .capacity = capacity,
        .out = output,
        .room = sizeof output,
    };
    deflate_pieces_decode(&pieces);
    return pieces;
}

/* Compares with zlib; explains differences. */
static bool is_as_zlib(const struct deflate_pieces *pieces, bool must_end)
{
    size_t made = 0;
    const bool is_whole = decode_with_zlib(pieces->bytes, &made);

    if (pieces->made > made || memcmp(output, expected, pieces->made) != 0)
        return tap_note("other bytes, of %zu and %zu", pieces->made, made);
    if (pieces->has_ended && (!is_whole || pieces->made < made))
        return tap_note("ends after %zu of %zu bytes, %s", pieces->made, made,
                        is_whole ? "whole" : "corrupt");
    if (must_end && !pieces->has_ended)
        return tap_note("gave up after %zu of %zu bytes", pieces->made, made);
    return true;
}

static void test_drawn_files(unsigned files)
{
    size_t guessed = 0;

    for (unsigned i = 0; i < files; i++) {
        const size_t bytes = draw(8) == 0 ? draw(100) : draw(CONTENT_MAX);
        size_t length = 0;
        draw_content(bytes);
        for (size_t begin = 0, end; begin < bytes || begin == 0; begin = end) {
            end = draw(3) > 0 ? bytes : begin + draw(1 + (bytes - begin) / (1 + draw(20)));
            end = end > begin || bytes == 0 ? end : begin + 1;
            length += make_member(begin, end, file + length, sizeof file - length);
            if (bytes == 0 || length > FILE_MAX / 4 * 3)
                break;
        }
        const uint64_t before = state;
        const size_t padding = draw(4) == 0 ? draw(600) : 0;
        memset(file + length, 0, padding);
        struct deflate_pieces pieces = decode(length + padding, CONTENT_MAX + DEFLATE_SLACK);
        tap_ok(is_as_zlib(&pieces, true), "file %u of %zu bytes, drawn at %llx", i, length,
               (unsigned long long)before);
        guessed += pieces.guessed;
        pieces = decode(length, DEFLATE_SLACK + 1 + draw(200000));
        tap_ok(is_as_zlib(&pieces, false), "file %u in pieces that are full", i);
        for (unsigned damage = 0; damage < 3; damage++) {
            const size_t cut = damage == 0 ? draw(length) : length;
            const size_t bit = draw(8 * length);
            file[bit / 8] ^= (unsigned char)((damage > 0) << bit % 8);
            pieces = decode(cut, CONTENT_MAX + DEFLATE_SLACK);
            tap_ok(is_as_zlib(&pieces, false), "file %u %s", i, damage > 0 ? "flipped" : "cut");
            file[bit / 8] ^= (unsigned char)((damage > 0) << bit % 8);
        }
    }
    tap_ok(guessed > 3 * files, "%zu pieces were guessed", guessed);
}

/* Combines CRCs of two strings into that of their concatenation. */
static void test_combine(void)
{
    bool is_right = true;

    draw_content(100000);
    for (unsigned i = 0; i < 50; i++) {
        const size_t bytes = draw(100000);
        const size_t first = draw(bytes + 1);
        is_right &= deflate_combine((uint32_t)crc32_z(0, content, first),
                                    (uint32_t)crc32_z(0, content + first, bytes - first),
                                    bytes - first) == crc32_z(0, content, bytes);
    }
    tap_ok(is_right, "checksums are combined");
}

int main(int argc, char **argv)
{
    const char *seed = getenv("GPUHIST_TEST_SEED");

    state = seed ? strtoull(seed, NULL, 10) : 1;
    test_combine();
    test_drawn_files(argc > 1 ? (unsigned)atoi(argv[1]) : tap_some(24));
    return tap_done();
}
#endif
