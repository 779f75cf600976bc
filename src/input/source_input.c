/* One file of the stream: opened, recognised, decoded, its header skipped. */
#include "config.h"

#include "input/source_internal.h"

#include "input/source_frames.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Files up to this size are read on, not claimed: one read finds them whole whatever their reported
 * size (files in /proc and /sys tell 0 or 4096), and many small ones share a chunk.
 */
#define SOURCE_INPUT_SMALL 65536

enum status source_input_fail(struct failure *failure, const char *name, const char *reason)
{
    return status_fail(failure, STATUS_DATA, STATUS_NAME ": %s", name, reason);
}

void source_input_release(struct input *input)
{
    if (atomic_fetch_sub(&input->users, 1) > 1)
        return;
    if (input->fd > STDIN_FILENO)
        close(input->fd);
    if (input->frames)
        source_frames_release(input->frames);
    free(input->raw.data);
    free(input->plain.data);
    free(input);
}

/* Has it decoded if the first bytes are those of a compressed file. They decide, or all is read. */
static enum status source_input_recognise(struct source *source, struct input *input,
                                          const char *head, size_t bytes, struct failure *failure)
{
    bool undecided;
    const struct decoder_format *format = decoder_detect(head, bytes, &undecided);

    input->is_detected = true;
    if (!format)
        return STATUS_OK;
    input->frames =
        source_frames_open(format, input, source->decoding_memory, source->holds_frames);
    if (!input->frames)
        return source_input_fail(failure, input->name, strerror(errno));
    source_set_frames(source, input->frames);
    return STATUS_OK;
}

/* Looks at the first bytes of a regular file, and at where its header ends. */
static enum status source_input_look_at_file(struct source *source, struct input *input,
                                             struct failure *failure)
{
    char head[DECODER_MAGIC_BYTES];
    ssize_t n =
        source->decodes ? source_file_read_at(input->fd, head, sizeof head, input->next) : 0;

    if (n < 0)
        return source_input_fail(failure, input->name, strerror(errno));
    if (source_input_recognise(source, input, head, (size_t)n, failure) != STATUS_OK)
        return failure->status;
    input->is_claimable = !input->frames && input->size - input->next > SOURCE_INPUT_SMALL;
    if (input->is_claimable && source_file_skip_header(input, failure) != STATUS_OK)
        return failure->status;
    source->left_out += (uint64_t)(input->next - input->start);
    return STATUS_OK;
}

/* Opens a file, not to wait for a FIFO's writer: source_pipe_read does, which can be woken. */
static int source_input_open_file(struct input *input, const char *name, struct stat *info)
{
    bool is_stdin = source_is_stdin(name);

    input->fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (input->fd < 0 || fstat(input->fd, info) != 0)
        return errno;
    if (!is_stdin)
        fcntl(input->fd, F_SETFL, 0);
    input->is_regular = S_ISREG(info->st_mode);
    if (input->is_regular && (input->start = lseek(input->fd, 0, SEEK_CUR)) < 0)
        return errno;
    input->next = input->start;
    input->size = info->st_size;
    return 0;
}

enum status source_input_open(struct source *source, struct failure *failure)
{
    const char *name = source->names[source->opened++];
    struct stat info;
    struct input *input = calloc(1, sizeof *input);
    if (!input)
        return source_input_fail(failure, source_name(name), strerror(errno));

    *input = (struct input){
        .name = source_name(name),
        .users = 1,
        .is_detected = !source->decodes,
        .skip_lines = source->format.header_lines,
    };
    source->line = source->line_offset = source->line_start = 0;
    int error = source_input_open_file(input, name, &info);
    if (error != 0)
        source_input_fail(failure, input->name, strerror(error));
    else if (!input->is_regular)
        source_pipe_widen(input->fd);
    else if (source_input_look_at_file(source, input, failure) != STATUS_OK)
        error = EINVAL;
    if (error == 0) {
        source->current = input;
        return STATUS_OK;
    }
    failure->position = source->position;
    source_input_release(input);
    return failure->status;
}

void source_input_read_on(struct source *source)
{
    struct input *input = source->current;

    lseek(input->fd, input->next, SEEK_SET); /* cannot fail: the offset is one we read at */
    input->is_claimable = false;
    source->line = 0; /* nobody has counted those before */
    source->line_offset = (uint64_t)input->next;
    source->line_start = (uint64_t)input->start;
}

/* Makes room behind what was read ahead of the file as it is. */
static enum status source_input_reserve_raw(struct input *input, struct failure *failure)
{
    if (source_ahead_reserve(&input->raw))
        return STATUS_OK;
    return source_input_fail(failure, input->name, strerror(errno));
}

/* Reads more of the file as it is, behind what was read ahead. */
static enum source_event source_input_read_ahead(struct source *source, bool wait,
                                                 struct failure *failure)
{
    struct input *input = source->current;
    size_t bytes = 0;

    if (source_input_reserve_raw(input, failure) != STATUS_OK)
        return SOURCE_ERROR;
    enum source_event event =
        source_pipe_read(source, input->raw.data + input->raw.end,
                         SOURCE_AHEAD_BYTES - input->raw.end, wait, &bytes, failure);
    input->raw.end += bytes;
    if (event != SOURCE_END)
        return event;
    input->raw_ended = true;
    return SOURCE_DATA;
}

/* Reads until it is known whether a pipe's data are compressed. */
static enum source_event source_input_detect(struct source *source, bool wait,
                                             struct failure *failure)
{
    struct input *input = source->current;
    struct source_ahead *raw = &input->raw;
    bool undecided;

    if (source_input_reserve_raw(input, failure) != STATUS_OK)
        return SOURCE_ERROR;
    for (;;) {
        decoder_detect(raw->data + raw->begin, raw->end - raw->begin, &undecided);
        if (!undecided || input->raw_ended)
            break;
        enum source_event event = source_input_read_ahead(source, wait, failure);
        if (event != SOURCE_DATA)
            return event;
    }
    return source_input_recognise(source, input, raw->data + raw->begin, raw->end - raw->begin,
                                  failure) == STATUS_OK
               ? SOURCE_DATA
               : SOURCE_ERROR;
}

/* What the file's data are, without those that were read ahead to look at them. */
static enum source_event source_input_read_plain(struct source *source, void *buffer, size_t room,
                                                 bool wait, size_t *bytes, struct failure *failure)
{
    struct input *input = source->current;

    if (!input->is_detected) {
        enum source_event event = source_input_detect(source, wait, failure);
        if (event != SOURCE_DATA)
            return event;
    }
    if (input->frames)
        return source_frames_read(input->frames, source, buffer, room, wait, bytes, failure);
    *bytes = source_ahead_take(&input->raw, buffer, room);
    if (*bytes > 0)
        return SOURCE_DATA;
    if (input->raw_ended)
        return SOURCE_END;
    enum source_event event = source_pipe_read(source, buffer, room, wait, bytes, failure);
    input->raw_ended = event == SOURCE_END; /* a terminal would be asked for more */
    return event;
}

/* Takes the rest of the header away from the front of data. */
static size_t source_input_skip_header(struct source *source, char *data, size_t bytes)
{
    struct input *input = source->current;
    size_t header = 0;

    while (input->skip_lines > 0 && header < bytes) {
        const char *newline = memchr(data + header, '\n', bytes - header);
        header = newline ? (size_t)(newline - data) + 1 : bytes;
        input->skip_lines -= newline != NULL;
        source->line += newline != NULL;
    }
    source->left_out += header;
    memmove(data, data + header, bytes - header);
    return bytes - header;
}

enum source_event source_input_read(struct source *source, void *buffer, size_t room, bool wait,
                                    size_t *bytes, struct failure *failure)
{
    struct input *input = source->current;
    enum source_event event = SOURCE_DATA;

    *bytes = source_ahead_take(&input->plain, buffer, room);
    if (*bytes == 0)
        event = source_input_read_plain(source, buffer, room, wait, bytes, failure);
    if (event != SOURCE_DATA || *bytes == 0)
        return event;
    if (input->skip_lines > 0)
        *bytes = source_input_skip_header(source, buffer, *bytes);
    return SOURCE_DATA;
}

enum source_event source_input_look(struct source *source, struct failure *failure)
{
    struct input *input = source->current;
    struct source_ahead *plain = &input->plain;
    enum source_event event = SOURCE_DATA;

    if (!source_ahead_reserve(plain)) {
        source_input_fail(failure, input->name, strerror(errno));
        return SOURCE_ERROR;
    }
    if (input->is_claimable) { /* its bytes are claimed later, these as well */
        ssize_t n = source_file_read_at(input->fd, plain->data, SOURCE_AHEAD_BYTES, input->next);
        if (n < 0) {
            source_input_fail(failure, input->name, strerror(errno));
            return SOURCE_ERROR;
        }
        plain->end = (size_t)n;
        return SOURCE_DATA;
    }
    while (event == SOURCE_DATA && plain->end < SOURCE_AHEAD_BYTES) {
        size_t bytes = 0;
        event = source_input_read_plain(source, plain->data + plain->end,
                                        SOURCE_AHEAD_BYTES - plain->end, plain->end == 0, &bytes,
                                        failure);
        plain->end += bytes;
    }
    return event;
}

bool source_ahead_reserve(struct source_ahead *ahead)
{
    if (!ahead->data)
        ahead->data = malloc(SOURCE_AHEAD_BYTES);
    if (ahead->data && ahead->begin > 0) {
        memmove(ahead->data, ahead->data + ahead->begin, ahead->end - ahead->begin);
        ahead->end -= ahead->begin;
        ahead->begin = 0;
    }
    return ahead->data != NULL;
}

size_t source_ahead_take(struct source_ahead *ahead, void *buffer, size_t room)
{
    size_t held = ahead->end - ahead->begin;
    size_t bytes = held < room ? held : room;

    if (bytes > 0)
        memcpy(buffer, ahead->data + ahead->begin, bytes);
    ahead->begin += bytes;
    return bytes;
}
