#include "config.h"

#include "source_internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct source_range source_file_claim(struct input *input, size_t filled, size_t room,
                                      size_t element_bytes)
{
    uint64_t left = input->size > input->next ? (uint64_t)(input->size - input->next) : 0;
    size_t bytes = left < room ? (size_t)left : room;
    size_t cut_off = (filled + bytes) % element_bytes;

    if (bytes <= cut_off)
        return (struct source_range){.bytes = 0};
    struct source_range range = {.input = input, .offset = input->next, .bytes = bytes - cut_off};
    input->next += (off_t)range.bytes;
    atomic_fetch_add(&input->users, 1);
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
