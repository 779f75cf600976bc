#include "config.h"

#include "input/source_internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define SOURCE_FILE_BLOCK ((size_t)64 << 10)

ssize_t source_file_read_at(int fd, void *data, size_t bytes, off_t offset)
{
    size_t done = 0;
    ssize_t n = 1;

    while (done < bytes && n != 0) {
        n = pread(fd, (char *)data + done, bytes - done, offset + (off_t)done);
        if (n < 0 && errno != EINTR)
            return -1;
        done += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)done;
}

/*
 * The bytes of data from `offset` on that are whole lines or tokens; 0: the first is longer, or
 * cannot be found.
 */
static size_t source_file_cut(const struct input *input, off_t offset, size_t bytes,
                              const struct source_format *format)
{
    char block[4096];
    size_t end = bytes;

    while (end > 0) {
        size_t n = end < sizeof block ? end : sizeof block;
        ssize_t got = source_file_read_at(input->fd, block, n, offset + (off_t)(end - n));
        if (got < 0)
            return 0;
        if ((size_t)got < n)
            return bytes; /* reading the range will tell what is wrong */
        size_t cut = source_text_cut(format, block, 0, n);
        if (cut > 0)
            return end - n + cut;
        end -= n;
    }
    return 0;
}

struct source_range source_file_claim(struct input *input, size_t filled, size_t room,
                                      const struct source_format *format)
{
    uint64_t left = input->size > input->next ? (uint64_t)(input->size - input->next) : 0;
    size_t bytes = left < room ? (size_t)left : room;

    if (format->is_text) { /* also before its end: a last line without one may still be written */
        bytes = source_file_cut(input, input->next, bytes, format);
    } else {
        size_t cut_off = (filled + bytes) % format->element_bytes;
        bytes = bytes > cut_off ? bytes - cut_off : 0;
    }
    if (bytes == 0)
        return (struct source_range){.bytes = 0};
    struct source_range range = {.input = input, .offset = input->next, .bytes = bytes};
    input->next += (off_t)range.bytes;
    input->users++;
    return range;
}

enum status source_file_read(const struct source_range *range, void *buffer, uint64_t position,
                             struct failure *failure)
{
    size_t done = 0;

    while (done < range->bytes) {
        ssize_t n = pread(range->input->fd, (char *)buffer + done, range->bytes - done,
                          range->offset + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return status_fail_at(failure, position + done, STATUS_DATA, STATUS_NAME ": %s",
                                  range->input->name,
                                  n < 0 ? strerror(errno) : "the file shrank while it was read");
        done += (size_t)n;
    }
    return STATUS_OK;
}

enum status source_file_skip_header(struct input *input, struct failure *failure)
{
    char block[4096];

    while (input->skip_lines > 0) {
        ssize_t n = source_file_read_at(input->fd, block, sizeof block, input->next);
        if (n < 0)
            return source_input_fail(failure, input->name, strerror(errno));
        if (n == 0)
            break;
        const char *newline = memchr(block, '\n', (size_t)n);
        input->next += newline ? newline - block + 1 : n;
        input->skip_lines -= newline != NULL;
    }
    return STATUS_OK;
}

uint64_t source_count_lines(int fd, uint64_t start, uint64_t end)
{
    char block[SOURCE_FILE_BLOCK];
    uint64_t offset = start;
    uint64_t lines = 0;

    while (offset < end) {
        size_t room = end - offset < sizeof block ? (size_t)(end - offset) : sizeof block;
        ssize_t n = source_file_read_at(fd, block, room, (off_t)offset);
        if (n <= 0)
            break;
        lines += text_count_lines(block, (size_t)n);
        offset += (uint64_t)n;
    }
    return lines;
}
