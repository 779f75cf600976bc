/* Tests input/gzip_group.h: threads decode valid and corrupt zlib files ahead of a reader. */
#include "config.h"

#include "tap.h"

#include "input/gzip_group.h"

#ifndef HAVE_ZLIB
int main(void)
{
    puts("1..0 # SKIP zlib makes the files");
    return 0;
}
#else
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define CONTENT_BYTES ((size_t)16 << 20)
#define FILE_BYTES    (CONTENT_BYTES + (1 << 20))
#define THREADS       5

static unsigned char content[CONTENT_BYTES];
static unsigned char file[FILE_BYTES];
static unsigned char expected[CONTENT_BYTES];
static char output[1 << 20];
static char path[4096];
static uint64_t state = 1;

/* A worker group whose threads work until it stops. */
struct team {
    struct gzip_group *group;
    struct relay relay;
    atomic_bool stops;
    atomic_uint worked;
    pthread_t threads[THREADS];
};

static void *work(void *argument)
{
    struct team *team = argument;

    while (!atomic_load(&team->stops)) {
        const uint64_t events = relay_events(&team->relay);
        if (gzip_group_work(team->group))
            atomic_fetch_add(&team->worked, 1);
        else
            relay_wait(&team->relay, events);
    }
    return NULL;
}

static void start_team(struct team *team)
{
    relay_init(&team->relay, 1);
    team->group = gzip_group_create(THREADS, &team->relay);
    atomic_store(&team->stops, false);
    atomic_store(&team->worked, 0);
    for (size_t i = 0; i < THREADS; i++) {
        if (!team->group || pthread_create(&team->threads[i], NULL, work, team) != 0)
            exit(1);
    }
}

static void stop_team(struct team *team)
{
    atomic_store(&team->stops, true);
    relay_notify(&team->relay, true);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(team->threads[i], NULL);
    gzip_group_destroy(team->group);
    relay_destroy(&team->relay);
}

/* Makes lines of words that change sometimes: like a log, they refer to much earlier lines. */
static void draw_content(void)
{
    for (size_t at = 0; at < CONTENT_BYTES;) {
        const uint64_t word = tap_random(&state);
        char line[64];
        int length = snprintf(line, sizeof line, "%u %x GET /%u\n", (unsigned)(word % 1000),
                              (unsigned)(word >> 32), (unsigned)(word >> 10 & 4095));
        length = at + (size_t)length < CONTENT_BYTES ? length : (int)(CONTENT_BYTES - at);
        memcpy(content + at, line, (size_t)length);
        at += (size_t)length;
    }
}

/* Makes a file of members. Returns its length. */
static size_t make_file(int level, int strategy, unsigned members)
{
    size_t length = 0;

    for (unsigned i = 0; i < members; i++) {
        const size_t begin = CONTENT_BYTES / members * i;
        const size_t end = i + 1 < members ? CONTENT_BYTES / members * (i + 1) : CONTENT_BYTES;
        z_stream stream = {
            .next_in = content + begin,
            .avail_in = (uInt)(end - begin),
            .next_out = file + length,
            .avail_out = (uInt)(FILE_BYTES - length),
        };
        if (deflateInit2(&stream, level, Z_DEFLATED, 31, 8, strategy) != Z_OK ||
            deflate(&stream, Z_FINISH) != Z_STREAM_END)
            exit(1);
        length = FILE_BYTES - stream.avail_out;
        deflateEnd(&stream);
    }
    return length;
}

/* Stores the file and starts decoding. */
static struct input *open_file(struct team *team, size_t bytes, bool *is_begun)
{
    static atomic_uint_least64_t bytes_read;
    struct decoder_format const *format;
    struct failure failure;
    struct input *input;
    bool undecided;
    FILE *out = fopen(path, "wb");

    if (!out || fwrite(file, 1, bytes, out) != bytes || fclose(out) != 0 ||
        input_open(&input, path, &failure) != STATUS_OK)
        exit(1);
    format = decoder_detect(file, bytes < DECODER_MAGIC_BYTES ? bytes : DECODER_MAGIC_BYTES,
                            DECODER_COMPRESSED, &undecided);
    *is_begun = format && gzip_group_begin(team->group, input, format, &bytes_read);
    return input;
}

/* Decodes the file with zlib as far as possible. Returns the number of bytes. */
static size_t decode_with_zlib(size_t bytes)
{
    z_stream stream = {
        .next_in = file,
        .avail_in = (uInt)bytes,
        .next_out = expected,
        .avail_out = (uInt)sizeof expected,
    };
    int result = Z_STREAM_END;

    if (inflateInit2(&stream, 31) != Z_OK)
        exit(1);
    while (result == Z_STREAM_END && stream.avail_in > 0) {
        inflateReset(&stream);
        result = inflate(&stream, Z_FINISH);
    }
    inflateEnd(&stream);
    return sizeof expected - stream.avail_out;
}

/* Reads all bytes, or up to `most`; they must equal those of zlib. */
static bool reads_right(struct team *team, size_t known, size_t most, enum gzip_group_event *event,
                        size_t *made)
{
    *made = 0;
    *event = GZIP_GROUP_DATA;
    while (*event == GZIP_GROUP_DATA && *made < most) {
        size_t bytes;
        const size_t capacity = 1 + tap_random(&state) % sizeof output;
        *event = gzip_group_read(team->group, output, capacity, &bytes);
        if (bytes > capacity || bytes > known - *made ||
            memcmp(output, expected + *made, bytes) != 0)
            return tap_note("other bytes after %zu", *made);
        *made += bytes;
    }
    return true;
}

static void test_whole(struct team *team, int level, int strategy, unsigned members)
{
    const size_t length = make_file(level, strategy, members);
    enum gzip_group_event event = GZIP_GROUP_GAVE_UP;
    const unsigned before = atomic_load(&team->worked);
    size_t made = 0;
    bool is_begun;
    struct input *input = open_file(team, length, &is_begun);

    tap_ok(is_begun && reads_right(team, decode_with_zlib(length), SIZE_MAX, &event, &made) &&
               event == GZIP_GROUP_ENDED && made == CONTENT_BYTES,
           "level %d, strategy %d, %u members, %zu bytes", level, strategy, members, length);
    tap_ok(atomic_load(&team->worked) > before + 4, "others have done %u pieces of work",
           atomic_load(&team->worked) - before);
    gzip_group_end(team->group);
    input_release(input);
}

/* A corrupt file is not read to its end, and the bytes read are right; also after an early end. */
static void test_damaged(struct team *team, unsigned times)
{
    const size_t length = make_file(6, Z_DEFAULT_STRATEGY, 2);

    for (unsigned i = 0; i < times; i++) {
        const size_t last =
            i == 2 ? 64 : 32; /* the first flips are in the checksum and the length */
        const size_t bit = i == 2 || i == 3 ? 8 * length - last + tap_random(&state) % 32
                                            : tap_random(&state) % (8 * length);
        const size_t cut = i % 4 == 0 ? length - 1 - tap_random(&state) % (length / 4) : length;
        enum gzip_group_event event;
        bool is_begun;
        size_t made;
        file[bit / 8] ^= (unsigned char)((i % 4 > 1) << bit % 8);
        struct input *input = open_file(team, cut, &is_begun);
        const size_t most = i % 4 == 1 ? tap_random(&state) % CONTENT_BYTES : SIZE_MAX;
        const bool is_right =
            !is_begun || reads_right(team, decode_with_zlib(cut), most, &event, &made);
        tap_ok(is_right && (!is_begun || event != GZIP_GROUP_ENDED), "%s",
               i % 4 == 0   ? "cut"
               : i % 4 == 1 ? "ended early"
                            : "flipped");
        gzip_group_end(team->group);
        input_release(input);
        file[bit / 8] ^= (unsigned char)((i % 4 > 1) << bit % 8);
    }
}

static void test_refused(struct team *team)
{
    bool is_begun;
    struct input *input;

    memcpy(file, "\x1f\x8b\x08\x02", 4);
    input = open_file(team, FILE_BYTES / 2, &is_begun);
    tap_ok(!is_begun, "a header with a checksum is left to others");
    input_release(input);
    make_file(1, Z_DEFAULT_STRATEGY, 1);
    input = open_file(team, (size_t)1 << 20, &is_begun);
    tap_ok(!is_begun, "so is a short file");
    input_release(input);
}

int main(void)
{
    struct team team;
    int fd;

    tap_write_template(path, sizeof path, "gzip-group");
    fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    draw_content();
    start_team(&team);
    test_whole(&team, 1, Z_DEFAULT_STRATEGY, 1);
    test_whole(&team, 6, Z_DEFAULT_STRATEGY, 1);
    test_whole(&team, 1, Z_HUFFMAN_ONLY, 3);
    test_whole(&team, 0, Z_DEFAULT_STRATEGY, 1);
    test_whole(&team, 1, Z_DEFAULT_STRATEGY, 700);
    test_damaged(&team, 8);
    test_refused(&team);
    stop_team(&team);
    unlink(path);
    return tap_done();
}
#endif
