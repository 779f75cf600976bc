/* Decoders: detection by every prefix, where frames end, and opening. Decoding: decoder.bats. */
#include "config.h"

#include "input/decoder.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define FRAMES_MAX 65536

/* Frames behind each other, made with the library's compressor, and where each ends. */
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

/* --- detection -------------------------------------------------------------------------------- */

/* Every prefix is undecided but those from `enough` bytes on, which are of the format. */
static void check_detected(const char *magic, size_t enough, const char *name)
{
    bool passed = true;

    for (size_t bytes = 0; bytes <= 4; bytes++) {
        bool undecided;
        const struct decoder_format *format = decoder_detect(magic, bytes, &undecided);
        bool detected = bytes >= enough;
        if (undecided == detected || (format != NULL) != detected ||
            (format && strcmp(decoder_format_name(format), name) != 0))
            passed =
                tap_note("%zu bytes: %s%s", bytes, format ? decoder_format_name(format) : "nothing",
                         undecided ? ", undecided" : "");
    }
    tap_ok(passed, "%02x %02x is %s from %zu bytes on", (unsigned char)magic[0],
           (unsigned char)magic[1], name, enough);
}

/* No format; undecided below `enough` bytes. */
static void check_plain(const char *head, size_t enough)
{
    bool passed = true;

    for (size_t bytes = 0; bytes <= 4; bytes++) {
        bool undecided;
        if (decoder_detect(head, bytes, &undecided) || undecided != (bytes < enough))
            passed = tap_note("wrong after %zu bytes", bytes);
    }
    tap_ok(passed, "%02x %02x %02x %02x is of no format, known after %zu", (unsigned char)head[0],
           (unsigned char)head[1], (unsigned char)head[2], (unsigned char)head[3], enough);
}

static void check_detection(void)
{
    check_detected("\x28\xb5\x2f\xfd", 4, "zstd");
    check_detected("\x22\xb5\x2f\xfd", 4, "zstd"); /* to be refused by name */
    check_detected("\x27\xb5\x2f\xfd", 4, "zstd");
    check_detected("\x50\x2a\x4d\x18", 4, "zstd");
    check_detected("\x5f\x2a\x4d\x18", 4, "zstd");
    check_detected("\x1f\x8b\x08\x00", 2, "gzip");
    check_plain("\x28\xb5\x2f\xfc", 4);
    check_plain("\x28\xb5\x2e\xfd", 3);
    check_plain("\x28\x2a\x4d\x18", 2);
    check_plain("\x50\xb5\x2f\xfd", 2);
    check_plain("\x21\xb5\x2f\xfd", 1);
    check_plain("\x29\xb5\x2f\xfd", 1);
    check_plain("\x4f\x2a\x4d\x18", 1);
    check_plain("\x60\x2a\x4d\x18", 1);
    check_plain("\x1f\x8c\x08\x00", 2);
    check_plain("1234", 1);
    check_plain("\0\0\0\0", 1);
}

/* --- where frames end ------------------------------------------------------------------------- */

static void check_frame_bytes(void)
{
    static struct frames frames;
    bool undecided;
    const struct decoder_format *zstd = decoder_detect("\x28\xb5\x2f\xfd", 4, &undecided);
    size_t begin = 0;

    frames_add_skippable(&frames, 0, 4);
    frames_add_compressed(&frames, 5000, true);
    frames_add_compressed(&frames, 0, false);
    frames_add_skippable(&frames, 15, 0);
    frames_add_compressed(&frames, 1, true);
    frames_add_skippable(&frames, 7, 200);
    for (size_t i = 0; i < frames.count; i++) {
        size_t length = frames.ends[i] - begin;
        bool passed = true;
        for (size_t bytes = 0; begin + bytes <= frames.bytes; bytes++) {
            size_t expected = bytes < length ? 0 : length;
            size_t found = decoder_frame_bytes(zstd, frames.data + begin, bytes);
            if (found != expected)
                passed = tap_note("%zu bytes given: %zu", bytes, found);
        }
        tap_ok(passed, "frame %zu has %zu bytes, which no prefix tells", i, length);
        begin = frames.ends[i];
    }
    tap_ok(decoder_frame_bytes(zstd, "1", 1) == SIZE_MAX, "what is no frame has no end");
    /* A block of the reserved type 3 (RFC 8878, 3.1.1.2.2), in a frame with a window. */
    tap_ok(decoder_frame_bytes(zstd, "\x28\xb5\x2f\xfd\x00\x00\x07\x00\x00", 9) == SIZE_MAX,
           "nor has one with a block of a reserved type");
    const struct decoder_format *gzip = decoder_detect("\x1f\x8b", 2, &undecided);
    tap_ok(decoder_frame_bytes(gzip, "\x1f\x8b\x08", 3) == SIZE_MAX, "nor has gzip's");
}

/* --- life ------------------------------------------------------------------------------------- */

static void check_empty(void)
{
    struct failure failure;
    struct decoder *decoder = NULL;
    bool undecided;
    size_t used = 1;
    size_t made = 1;
    const struct decoder_format *zstd = decoder_detect("\x28\xb5\x2f\xfd", 4, &undecided);

    decoder_close(NULL);
    if (decoder_open(&decoder, zstd, "name", 0, &failure) != STATUS_OK) {
        tap_ok(false, "opens");
        return;
    }
    bool fine = true;
    for (int i = 0; i < 100; i++) { /* more often than the library bears without progress */
        fine = fine && decoder_run(decoder, NULL, 0, &used, NULL, 0, &made, &failure) == STATUS_OK;
        fine = fine && used == 0 && made == 0;
        fine = fine && decoder_run(decoder, "x", 1, &used, NULL, 0, &made, &failure) == STATUS_OK;
        fine = fine && used == 0 && made == 0;
    }
    tap_ok(fine, "without input or room nothing happens");
    tap_ok(decoder_finish(decoder, &failure) == STATUS_OK, "nothing at all is the end of a stream");
    decoder_close(decoder);
}

int main(void)
{
    check_detection();
    check_frame_bytes();
    check_empty();
    return tap_done();
}
