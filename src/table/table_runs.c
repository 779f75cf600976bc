/* Implements table_runs.h: the format of runs. */
#include "config.h"

#include "table/table_runs.h"

#include "output/temporary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

/* The longest number as LEB128, and the longest block before compression. */
#define TABLE_RUN_NUMBER_BYTES 10
#define TABLE_RUN_BLOCK_BYTES  (2 * TABLE_RUN_NUMBER_BYTES * TABLE_RUN_ENTRIES)

#define TABLE_RUN_LEVEL 1

struct table_run_writer {
    const char *directory;
    struct table_run run;
    ZSTD_CCtx *context;
    size_t held; /* entries not yet written */
    struct table_entry entries[TABLE_RUN_ENTRIES];
    unsigned char numbers[TABLE_RUN_BLOCK_BYTES];
    unsigned char block[ZSTD_COMPRESSBOUND(TABLE_RUN_BLOCK_BYTES)];
};

static enum status table_run_fail(const char *what, struct failure *failure)
{
    return status_fail(failure, STATUS_DATA, "cannot %s a temporary file of counts: %s", what,
                       strerror(errno));
}

enum status table_run_writer_open(struct table_run_writer **writer, const char *directory,
                                  struct failure *failure)
{
    struct table_run_writer *made = malloc(sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for writing counts to a file");

    made->directory = directory;
    made->held = 0;
    made->context = ZSTD_createCCtx();
    made->run = (struct table_run){.fd = temporary_open_nameless(directory)};
    *writer = made;
    if (made->run.fd < 0)
        return status_fail(failure, STATUS_DATA,
                           "cannot make a temporary file of counts in " STATUS_NAME ": %s",
                           directory, strerror(errno));
    if (!made->context)
        return status_fail(failure, STATUS_DATA, "no memory for writing counts to a file");
    ZSTD_CCtx_setParameter(made->context, ZSTD_c_compressionLevel, TABLE_RUN_LEVEL);
    return STATUS_OK;
}

static unsigned char *table_run_put_number(unsigned char *at, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *at++ = (unsigned char)(number | 0x80);
    *at++ = (unsigned char)number;
    return at;
}

/* Appends the place behind the last block. */
static bool table_run_add_place(struct table_run *run)
{
    size_t blocks = (size_t)((run->entries + TABLE_RUN_ENTRIES - 1) / TABLE_RUN_ENTRIES);

    if (blocks >= run->room) {
        size_t room = run->room > 0 ? 2 * run->room : 64;
        uint64_t *grown = realloc(run->places, room * sizeof *grown);
        if (!grown)
            return false;
        run->places = grown;
        run->room = room;
    }
    run->places[blocks] = run->bytes;
    return true;
}

static bool table_run_write_all(int fd, const unsigned char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = write(fd, data, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        data += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* Writes the entries held as a block. */
static enum status table_run_write_block(struct table_run_writer *writer, struct failure *failure)
{
    struct table_run *run = &writer->run;
    unsigned char *end = writer->numbers;
    uint64_t before = 0;

    for (size_t i = 0; i < writer->held; i++) {
        end = table_run_put_number(end, writer->entries[i].key - before);
        end = table_run_put_number(end, writer->entries[i].count);
        before = writer->entries[i].key;
    }
    const size_t bytes = ZSTD_compress2(writer->context, writer->block, sizeof writer->block,
                                        writer->numbers, (size_t)(end - writer->numbers));
    if (ZSTD_isError(bytes))
        return status_fail(failure, STATUS_DATA, "cannot compress counts: %s",
                           ZSTD_getErrorName(bytes));
    if (run->entries == 0 && !table_run_add_place(run))
        return status_fail(failure, STATUS_DATA, "no memory for writing counts to a file");
    if (!table_run_write_all(run->fd, writer->block, bytes))
        return table_run_fail("write", failure);
    run->bytes += bytes;
    run->entries += writer->held;
    writer->held = 0;
    if (table_run_add_place(run))
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "no memory for writing counts to a file");
}

enum status table_run_write(struct table_run_writer *writer, const struct table_entry *entries,
                            size_t n, struct failure *failure)
{
    for (size_t i = 0; i < n;) {
        size_t some = TABLE_RUN_ENTRIES - writer->held;
        some = some < n - i ? some : n - i;
        memcpy(writer->entries + writer->held, entries + i, some * sizeof *entries);
        writer->held += some;
        i += some;
        if (writer->held == TABLE_RUN_ENTRIES &&
            table_run_write_block(writer, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

enum status table_run_writer_finish(struct table_run_writer *writer, struct table_run *run,
                                    struct failure *failure)
{
    if (writer->held > 0 && table_run_write_block(writer, failure) != STATUS_OK)
        return failure->status;
    *run = writer->run;
    writer->run = (struct table_run){.fd = -1};
    return STATUS_OK;
}

void table_run_writer_close(struct table_run_writer *writer)
{
    if (!writer)
        return;
    table_run_destroy(&writer->run);
    ZSTD_freeCCtx(writer->context);
    free(writer);
}

static bool table_run_read_all(int fd, unsigned char *data, size_t bytes, uint64_t place)
{
    while (bytes > 0) {
        ssize_t n = pread(fd, data, bytes, (off_t)place);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = EIO; /* somebody has cut the file */
        if (n <= 0)
            return false;
        data += n;
        bytes -= (size_t)n;
        place += (uint64_t)n;
    }
    return true;
}

/* Reads a number. Returns where the next one begins, or NULL if it is damaged. */
static const unsigned char *table_run_get_number(const unsigned char *at, const unsigned char *end,
                                                 uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; at && at < end && shift < 64; shift += 7) {
        *number |= (uint64_t)(*at & 0x7f) << shift;
        if (*at++ < 0x80)
            return at;
    }
    return NULL;
}

/* Reads `n` entries from the numbers of a block. Returns false if it is damaged. */
static bool table_run_parse(const unsigned char *numbers, size_t bytes, struct table_entry *entries,
                            size_t n)
{
    const unsigned char *end = numbers + bytes;
    uint64_t before = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t difference;
        numbers = table_run_get_number(numbers, end, &difference);
        numbers = table_run_get_number(numbers, end, &entries[i].count);
        before += difference;
        entries[i].key = before;
    }
    return numbers == end;
}

/* What reading a block needs. */
struct table_run_buffers {
    unsigned char numbers[TABLE_RUN_BLOCK_BYTES];
    unsigned char block[ZSTD_COMPRESSBOUND(TABLE_RUN_BLOCK_BYTES)];
};

enum status table_run_read(const struct table_run *run, size_t block, struct table_entry *entries,
                           size_t *n, struct failure *failure)
{
    const uint64_t first = (uint64_t)block * TABLE_RUN_ENTRIES;
    const uint64_t left = first < run->entries ? run->entries - first : 0;

    *n = left < TABLE_RUN_ENTRIES ? (size_t)left : TABLE_RUN_ENTRIES;
    if (*n == 0)
        return STATUS_OK;
    struct table_run_buffers *buffers = malloc(sizeof *buffers);
    if (!buffers)
        return status_fail(failure, STATUS_DATA, "no memory for reading counts from a file");
    const size_t bytes = (size_t)(run->places[block + 1] - run->places[block]);
    enum status status = STATUS_OK;
    errno = EIO;
    if (!table_run_read_all(run->fd, buffers->block, bytes, run->places[block]))
        status = table_run_fail("read", failure);
    if (status == STATUS_OK) {
        size_t length =
            ZSTD_decompress(buffers->numbers, sizeof buffers->numbers, buffers->block, bytes);
        if (ZSTD_isError(length) || !table_run_parse(buffers->numbers, length, entries, *n))
            status = status_fail(failure, STATUS_DATA, "a temporary file of counts is damaged");
    }
    free(buffers);
    return status;
}

void table_run_destroy(struct table_run *run)
{
    if (run->places || run->fd > 0)
        close(run->fd);
    free(run->places);
    *run = (struct table_run){.fd = -1};
}
