/* Implements table_runs.h: the format of runs. */
#include "config.h"

#include "table/table_runs.h"

#include "output/temporary.h"
#include "table/table_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

/* The longest number as LEB128. */
#define TABLE_RUN_NUMBER_BYTES 10

#define TABLE_RUN_LEVEL 1

/* The memory for a block: its rows, their numbers, and these compressed. */
struct table_run_buffers {
    uint64_t *rows; /* the beginning of the memory for all; owned */
    unsigned char *numbers;
    size_t numbers_bytes;
    unsigned char *block;
    size_t block_bytes;
};

struct table_run_writer {
    const char *directory;
    struct table_run run;
    ZSTD_CCtx *context;
    size_t block_rows;
    size_t held; /* rows not yet written */
    struct table_run_buffers buffers;
};

static enum status table_run_fail(const char *what, struct failure *failure)
{
    return status_fail(failure, STATUS_DATA, "cannot %s a temporary file of counts: %s", what,
                       strerror(errno));
}

/* Returns false if there is no memory. */
static bool table_run_buffers_make(struct table_run_buffers *buffers,
                                   const struct table_layout *layout)
{
    const size_t words = table_run_rows(layout) * layout->words;

    buffers->numbers_bytes = TABLE_RUN_NUMBER_BYTES * words;
    buffers->block_bytes = ZSTD_compressBound(buffers->numbers_bytes);
    buffers->rows =
        malloc(words * sizeof(uint64_t) + buffers->numbers_bytes + buffers->block_bytes);
    buffers->numbers = (unsigned char *)(buffers->rows + words);
    buffers->block = buffers->numbers + buffers->numbers_bytes;
    return buffers->rows;
}

enum status table_run_writer_open(struct table_run_writer **writer,
                                  const struct table_layout *layout, const char *directory,
                                  struct failure *failure)
{
    struct table_run_writer *created = calloc(1, sizeof *created);
    if (!created)
        return status_fail(failure, STATUS_DATA, "no memory for writing counts to a file");

    created->directory = directory;
    created->block_rows = table_run_rows(layout);
    created->context = ZSTD_createCCtx();
    created->run = (struct table_run){.layout = layout, .fd = temporary_open_nameless(directory)};
    *writer = created;
    if (created->run.fd < 0)
        return status_fail(failure, STATUS_DATA,
                           "cannot make a temporary file of counts in " STATUS_NAME ": %s",
                           directory, strerror(errno));
    if (!created->context || !table_run_buffers_make(&created->buffers, layout))
        return status_fail(failure, STATUS_DATA, "no memory for writing counts to a file");
    ZSTD_CCtx_setParameter(created->context, ZSTD_c_compressionLevel, TABLE_RUN_LEVEL);
    return STATUS_OK;
}

static unsigned char *table_run_put_number(unsigned char *at, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *at++ = (unsigned char)(number | 0x80);
    *at++ = (unsigned char)number;
    return at;
}

/* Appends the offset after the last block. */
static bool table_run_add_offset(struct table_run *run)
{
    const size_t block_rows = table_run_rows(run->layout);
    const size_t blocks = (size_t)((run->rows + block_rows - 1) / block_rows);

    if (blocks >= run->capacity) {
        const size_t capacity = run->capacity > 0 ? 2 * run->capacity : 64;
        uint64_t *grown = realloc(run->offsets, capacity * sizeof *grown);
        if (!grown)
            return false;
        run->offsets = grown;
        run->capacity = capacity;
    }
    run->offsets[blocks] = run->bytes;
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

/* Makes numbers of the first n rows. Returns their end. */
TABLE_INLINE unsigned char *table_run_format(const struct table_layout layout,
                                             const struct table_run_buffers *buffers, size_t n)
{
    unsigned char *end = buffers->numbers;
    const uint64_t *before = NULL;

    for (const uint64_t *row = buffers->rows; row < buffers->rows + n * layout.words;
         row += layout.words) {
        for (size_t w = 0; w < layout.key_words; w++) {
            end = table_run_put_number(end, before ? row[w] - before[w] : row[w]);
            before = before && row[w] == before[w] ? before : NULL;
        }
        for (size_t w = layout.key_words; w < layout.words; w++)
            end = table_run_put_number(end, row[w]);
        before = row;
    }
    return end;
}

/* Writes the rows held as a block. */
static enum status table_run_write_block(struct table_run_writer *writer, struct failure *failure)
{
    const struct table_run_buffers *buffers = &writer->buffers;
    struct table_run *run = &writer->run;
    unsigned char *end = table_layout_is_plain(run->layout)
                             ? table_run_format(table_counts, buffers, writer->held)
                             : table_run_format(*run->layout, buffers, writer->held);
    const size_t bytes = ZSTD_compress2(writer->context, buffers->block, buffers->block_bytes,
                                        buffers->numbers, (size_t)(end - buffers->numbers));
    if (ZSTD_isError(bytes))
        return status_fail(failure, STATUS_DATA, "cannot compress counts: %s",
                           ZSTD_getErrorName(bytes));
    if (run->rows == 0 && !table_run_add_offset(run))
        return status_fail(failure, STATUS_DATA, "no memory for writing counts to a file");
    if (!table_run_write_all(run->fd, buffers->block, bytes))
        return table_run_fail("write", failure);
    run->bytes += bytes;
    run->rows += writer->held;
    writer->held = 0;
    if (table_run_add_offset(run))
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "no memory for writing counts to a file");
}

enum status table_run_write(struct table_run_writer *writer, const void *rows, size_t n,
                            struct failure *failure)
{
    const size_t words = writer->run.layout->words;
    const size_t block_rows = writer->block_rows;
    const uint64_t *from = rows;

    for (size_t i = 0, some; i < n; i += some) {
        some = block_rows - writer->held < n - i ? block_rows - writer->held : n - i;
        memcpy(writer->buffers.rows + writer->held * words, from + i * words,
               some * words * sizeof *from);
        writer->held += some;
        if (writer->held == block_rows && table_run_write_block(writer, failure) != STATUS_OK)
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
    free(writer->buffers.rows);
    free(writer);
}

static bool table_run_read_all(int fd, unsigned char *data, size_t bytes, uint64_t offset)
{
    while (bytes > 0) {
        ssize_t n = pread(fd, data, bytes, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = EIO; /* somebody has cut the file */
        if (n <= 0)
            return false;
        data += n;
        bytes -= (size_t)n;
        offset += (uint64_t)n;
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

/* Reads n rows from the numbers of a block. Returns false if it is damaged. */
TABLE_INLINE bool table_run_parse(const struct table_layout layout, const unsigned char *numbers,
                                  size_t bytes, uint64_t *rows, size_t n)
{
    const unsigned char *end = numbers + bytes;
    const uint64_t *before = NULL;

    for (uint64_t *row = rows; row < rows + n * layout.words; row += layout.words) {
        for (size_t w = 0; w < layout.words; w++) {
            numbers = table_run_get_number(numbers, end, &row[w]);
            if (w >= layout.key_words || !before)
                continue;
            const bool is_equal = row[w] == 0;
            row[w] += before[w];
            before = is_equal ? before : NULL;
        }
        before = row;
    }
    return numbers == end;
}

enum status table_run_read(const struct table_run *run, size_t block, void *rows, size_t *n,
                           struct failure *failure)
{
    const size_t block_rows = table_run_rows(run->layout);
    const uint64_t first = (uint64_t)block * block_rows;
    const uint64_t left = first < run->rows ? run->rows - first : 0;
    struct table_run_buffers buffers;

    *n = left < block_rows ? (size_t)left : block_rows;
    if (*n == 0)
        return STATUS_OK;
    if (!table_run_buffers_make(&buffers, run->layout))
        return status_fail(failure, STATUS_DATA, "no memory for reading counts from a file");
    const size_t bytes = (size_t)(run->offsets[block + 1] - run->offsets[block]);
    enum status status = STATUS_OK;
    errno = EIO;
    if (!table_run_read_all(run->fd, buffers.block, bytes, run->offsets[block]))
        status = table_run_fail("read", failure);
    if (status == STATUS_OK) {
        size_t length =
            ZSTD_decompress(buffers.numbers, buffers.numbers_bytes, buffers.block, bytes);
        const bool is_good =
            !ZSTD_isError(length) &&
            (table_layout_is_plain(run->layout)
                 ? table_run_parse(table_counts, buffers.numbers, length, rows, *n)
                 : table_run_parse(*run->layout, buffers.numbers, length, rows, *n));
        if (!is_good)
            status = status_fail(failure, STATUS_DATA, "a temporary file of counts is damaged");
    }
    free(buffers.rows);
    return status;
}

void table_run_destroy(struct table_run *run)
{
    if (run->offsets || run->fd > 0)
        close(run->fd);
    free(run->offsets);
    *run = (struct table_run){.fd = -1};
}
