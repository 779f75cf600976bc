/* Results written in parts by several threads, compared with the same parts in order. */
#include "config.h"

#include "lib/writer_parts.h"
#include "tap.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PART_BYTES ((size_t)256 << 10)
#define PIECE      ((size_t)5000)
#define PARTS_MAX  ((size_t)700)

static size_t lengths[PARTS_MAX]; /* lengths of the parts */
static atomic_size_t made;        /* number of parts written so far */

static char directory[4096];
static char file[sizeof directory + 8];

static char *must(char *memory)
{
    if (memory)
        return memory;
    printf("Bail out! no memory\n");
    exit(1);
}

static char byte_of(size_t part, size_t i)
{
    return (char)(part * 31 + i / 7);
}

/* Writes a part in pieces; some parts take much longer than others. */
static void write_part(const void *context, size_t part, struct writer *writer)
{
    const size_t *length = (const size_t *)context + part;
    char piece[PIECE];

    atomic_fetch_add(&made, 1);
    if (part % 16 == 3)
        usleep(300);
    for (size_t i = 0; i < *length;) {
        size_t n = 0;
        for (; n < PIECE && i < *length; n++, i++)
            piece[n] = byte_of(part, i);
        writer_write(writer, piece, n);
    }
}

static void choose_lengths(size_t count, size_t most, uint64_t seed)
{
    for (size_t part = 0; part < count; part++) {
        uint64_t kind = tap_random(&seed) % 4;
        uint64_t length = kind == 0 ? 0 : kind == 1 ? most : tap_random(&seed) % (most + 1);
        lengths[part] = (size_t)length;
    }
    atomic_store(&made, 0);
}

/* Returns whether the file has a header, the parts and a footer, each a byte, and nothing else. */
static bool is_written(size_t count)
{
    size_t wanted = 2;
    for (size_t part = 0; part < count; part++)
        wanted += lengths[part];
    char *found = must(malloc(wanted + 1));
    int fd = open(file, O_RDONLY);
    size_t got = 0;
    for (ssize_t n = 1; n > 0; got += n > 0 ? (size_t)n : 0)
        n = read(fd, found + got, wanted + 1 - got);
    close(fd);
    bool right = got == wanted && found[0] == '<' && found[wanted - 1] == '>';
    const char *c = found + 1;
    for (size_t part = 0; part < count && right; part++) {
        for (size_t i = 0; i < lengths[part] && right; i++)
            right = *c++ == byte_of(part, i) || tap_note("part %zu, byte %zu", part, i);
    }
    free(found);
    return right;
}

static struct writer_parts make_parts(size_t count)
{
    return (struct writer_parts){.count = count, .write = write_part, .context = lengths};
}

static enum status write_all(const char *name, const struct writer_parts *parts, unsigned threads,
                             struct failure *failure)
{
    struct writer *writer;

    if (writer_open(&writer, name, failure) != STATUS_OK)
        return failure->status;
    writer_write(writer, "<", 1);
    if (!writer_parts_write(writer, parts, threads))
        tap_note("no memory");
    writer_write(writer, ">", 1);
    return writer_close(writer, failure);
}

static void test_order(size_t count, size_t most)
{
    static const unsigned threads[] = {1, 2, 3, 5, 16, 100};
    struct writer_parts parts = make_parts(count);
    struct failure failure;
    bool right = true;

    for (size_t i = 0; i < sizeof threads / sizeof *threads && right; i++) {
        choose_lengths(count, most, i);
        right = write_all(file, &parts, threads[i], &failure) == STATUS_OK && is_written(count) &&
                atomic_load(&made) == count;
    }
    tap_ok(right, "%zu parts of up to %zu bytes: all there, in their order", count, most);
}

/* A write error is reported, and parts soon cease to be made. */
static void test_full(void)
{
    const size_t count = PARTS_MAX;
    struct writer_parts parts = make_parts(count);
    struct failure failure;
    bool right = true;

    for (unsigned threads = 1; threads <= 16 && right; threads += 5) {
        choose_lengths(count, PART_BYTES, threads);
        failure.message[0] = '\0';
        right = write_all("/dev/full", &parts, threads, &failure) == STATUS_DATA &&
                strstr(failure.message, "No space left on device") &&
                atomic_load(&made) < count / 2;
    }
    tap_ok(right, "a full device ends it soon, with its error");
}

/* The memory of an unexpectedly long part grows. */
static void test_too_long(void)
{
    struct writer_parts parts = make_parts(3);
    struct failure failure;

    choose_lengths(3, 0, 1);
    lengths[1] = 5 * PART_BYTES + 1;
    tap_ok(write_all(file, &parts, 2, &failure) == STATUS_OK && is_written(3),
           "a part that is longer than expected");
}

/* Memory takes a piece of any length. */
static void test_piece(void)
{
    struct writer *memory = writer_create_memory(1);
    char *piece = must(malloc(5 * PART_BYTES));
    size_t bytes = 0;

    for (size_t i = 0; i < 5 * PART_BYTES; i++)
        piece[i] = byte_of(1, i);
    writer_write(memory, "<", 1);
    writer_write(memory, piece, 5 * PART_BYTES);
    const char *found = writer_memory(memory, &bytes);
    tap_ok(bytes == 5 * PART_BYTES + 1 && *found == '<' &&
               memcmp(found + 1, piece, 5 * PART_BYTES) == 0,
           "a piece that is longer than the memory");
    writer_discard(memory);
    free(piece);
}

int main(void)
{
    tap_write_template(directory, sizeof directory, "writer-parts");
    if (!mkdtemp(directory)) {
        printf("Bail out! no directory\n");
        return 1;
    }
    snprintf(file, sizeof file, "%s/out", directory);
    test_order(0, 0);
    test_order(1, 100);
    test_order(700, 3000);
    test_order(90, PART_BYTES);
    if (access("/dev/full", W_OK) == 0)
        test_full();
    test_too_long();
    test_piece();
    unlink(file);
    rmdir(directory);
    return tap_done();
}
