/* Reads one input in order: detects compression, decodes, skips the header. */
#include "config.h"

#include "input/reader.h"

#include "base/memory.h"
#include "text/text.h"
#include "text/text_advice.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Room for the longest frame that is held, and for more, which shows that a frame is longer. */
#define READER_HELD_ROOM (READER_HELD_BYTES + READER_AHEAD_BYTES)

/* How much of a header line a message shows, and room for that in words. */
#define READER_HEADER_SHOWN ((size_t)80)
#define READER_HEADER_SIZE  (READER_HEADER_SHOWN + 64)

void reader_open(struct reader *reader, const struct reader_options *options, struct input *input,
                 const struct decoder_format *format, const struct record_format *records)
{
    *reader = (struct reader){
        .options = options,
        .input = input,
        .format = format,
        .is_detected = input->is_regular || !(options->decodes || options->refuses),
        .checks_content = options->refuses && records != NULL,
    };
    reader_set_records(reader, records);
}

void reader_set_records(struct reader *reader, const struct record_format *records)
{
    reader->records = records;
    reader->skip_lines = records ? records->header_lines : 0;
    reader->first_line.is_open = records && records->is_text && records->text.delimiter != '\r' &&
                                 (!text_is_of_tokens(&records->text) || records->header_lines > 0);
}

void reader_open_part(struct reader *reader, const struct reader_options *options,
                      struct input *input, const struct decoder_format *format,
                      const struct decoder_part *part, const struct record_format *records)
{
    reader_open(reader, options, input, format, records);
    reader->is_part = true;
    reader->goes_on = !part->is_last;
    reader->next = (off_t)part->begin;
    reader->limit = (off_t)part->end;
    reader->head = (struct reader_ahead){part->wrap, 0, part->head_bytes};
    reader->tail = (struct reader_ahead){part->wrap, part->head_bytes, part->wrap_bytes};
}

void reader_close(struct reader *reader)
{
    decoder_close(reader->decoder);
    memory_unmap(reader->held.data, READER_HELD_ROOM);
    free(reader->names.line);
    free(reader->raw.data);
    free(reader->plain.data);
    input_release(reader->input);
}

/* Makes room to read ahead by moving bytes to the front; false with errno set: no memory. */
static bool reader_ahead_reserve(struct reader_ahead *ahead)
{
    if (!ahead->data)
        ahead->data = malloc(READER_AHEAD_BYTES);
    if (ahead->data && ahead->begin > 0) {
        memmove(ahead->data, ahead->data + ahead->begin, ahead->end - ahead->begin);
        ahead->end -= ahead->begin;
        ahead->begin = 0;
    }
    return ahead->data != NULL;
}

/* Moves up to `room` bytes to `buffer`, and returns how many. */
static size_t reader_ahead_take(struct reader_ahead *ahead, void *buffer, size_t room)
{
    size_t held = ahead->end - ahead->begin;
    size_t bytes = held < room ? held : room;

    if (bytes > 0)
        memcpy(buffer, ahead->data + ahead->begin, bytes);
    ahead->begin += bytes;
    return bytes;
}

static enum pipe_event reader_fail(const struct reader *reader, const char *reason,
                                   struct failure *failure)
{
    input_fail(failure, reader->input->name, reason);
    return PIPE_ERROR;
}

void reader_count(const struct reader_options *options, uint64_t bytes)
{
    if (options->bytes_read)
        atomic_fetch_add_explicit(options->bytes_read, bytes, memory_order_relaxed);
}

/* Reads the next bytes of a part of a regular file. */
static enum pipe_event reader_read_part(struct reader *reader, void *buffer, size_t room,
                                        size_t *bytes, struct failure *failure)
{
    uint64_t left = (uint64_t)(reader->limit - reader->next);

    *bytes = reader_ahead_take(&reader->head, buffer, room);
    if (*bytes == 0 && left == 0)
        *bytes = reader_ahead_take(&reader->tail, buffer, room);
    if (*bytes > 0 || left == 0)
        return *bytes > 0 ? PIPE_DATA : PIPE_END;
    ssize_t n =
        input_read_at(reader->input->fd, buffer, left < room ? (size_t)left : room, reader->next);
    if (n <= 0)
        return reader_fail(reader, n < 0 ? strerror(errno) : "the file shrank while it was read",
                           failure);
    reader->next += n;
    *bytes = (size_t)n;
    reader_count(reader->options, *bytes);
    return PIPE_DATA;
}

/* Reads the file without decoding. Its end is final: a terminal is not read again. */
static enum pipe_event reader_read_file(struct reader *reader, void *buffer, size_t room, bool wait,
                                        bool *waited, size_t *bytes, struct failure *failure)
{
    const struct input *input = reader->input;
    enum pipe_event event = PIPE_END;

    *bytes = 0;
    if (reader->is_part)
        event = reader_read_part(reader, buffer, room, bytes, failure);
    else if (!reader->has_ended)
        event = pipe_read(input->fd, reader->options->wake, buffer, room, wait, waited, bytes);
    if (event == PIPE_ERROR && !reader->is_part)
        return reader_fail(reader, strerror(errno), failure);
    if (!reader->is_part)
        reader_count(reader->options, *bytes);
    reader->has_ended = reader->has_ended || event == PIPE_END;
    return event;
}

/* Reads more bytes ahead. */
static enum pipe_event reader_read_ahead(struct reader *reader, bool wait, bool *waited,
                                         struct failure *failure)
{
    struct reader_ahead *raw = &reader->raw;
    size_t bytes;

    if (!reader_ahead_reserve(raw))
        return reader_fail(reader, strerror(errno), failure);
    enum pipe_event event =
        reader_read_file(reader, raw->data + raw->end, READER_AHEAD_BYTES - raw->end, wait, waited,
                         &bytes, failure);
    raw->end += bytes;
    return event;
}

/* The format of a file that begins with these bytes, as decoder_detect, by the options. */
static const struct decoder_format *reader_match(const struct reader_options *options,
                                                 const void *head, size_t bytes, bool *undecided)
{
    const struct decoder_format *format = NULL;
    bool undecided_kind = false;

    *undecided = false;
    if (options->decodes)
        format = decoder_detect(head, bytes, undecided);
    if (!format && options->refuses)
        format = decoder_detect_refused(head, bytes, &undecided_kind);
    *undecided = !format && (*undecided || undecided_kind);
    return format;
}

/* Reads ahead until the compression format is known. */
static enum pipe_event reader_find_format(struct reader *reader, bool wait, bool *waited,
                                          struct failure *failure)
{
    struct reader_ahead *raw = &reader->raw;
    bool undecided = true;

    while (undecided && !reader->has_ended) {
        enum pipe_event event = reader_read_ahead(reader, wait, waited, failure);
        if (event == PIPE_EMPTY || event == PIPE_ERROR)
            return event;
        reader->format = reader_match(reader->options, raw->data, raw->end, &undecided);
    }
    reader->is_detected = true;
    return PIPE_DATA;
}

/* Decodes bytes that were read ahead. If bytes precede a fault, the fault is kept for later. */
static enum pipe_event reader_run_decoder(struct reader *reader, void *buffer, size_t room,
                                          size_t *bytes)
{
    struct reader_ahead *raw = &reader->raw;
    size_t used = 0;
    enum status status = STATUS_OK;

    *bytes = 0;
    if (!reader->decoder)
        status = decoder_open(&reader->decoder, reader->format, reader->input->name,
                              reader->options->memory_limit, &reader->fault);
    if (status == STATUS_OK)
        status = (reader->options->holds_frames
                      ? decoder_run_frame
                      : decoder_run)(reader->decoder, raw->data + raw->begin, raw->end - raw->begin,
                                     &used, buffer, room, bytes, &reader->fault);
    raw->begin += used;
    reader->is_pending = *bytes == room;
    reader->is_faulty = status != STATUS_OK;
    return reader->is_faulty && *bytes == 0 ? PIPE_ERROR : PIPE_DATA;
}

/* Decodes the next piece of a compressed input. The piece may be empty. */
static enum pipe_event reader_decode_piece(struct reader *reader, void *buffer, size_t room,
                                           bool wait, bool *waited, size_t *bytes,
                                           struct failure *failure)
{
    struct reader_ahead *raw = &reader->raw;
    enum pipe_event event = reader->is_faulty ? PIPE_ERROR : PIPE_DATA;

    *bytes = 0;
    if (event == PIPE_DATA && raw->begin == raw->end && !reader->is_pending) {
        event = reader_read_ahead(reader, wait, waited, failure);
        if (event == PIPE_ERROR)
            return event;
    }
    if (event == PIPE_DATA)
        event = reader_run_decoder(reader, buffer, room, bytes);
    if (event == PIPE_ERROR)
        *failure = reader->fault;
    if (event == PIPE_END && reader->decoder &&
        decoder_finish(reader->decoder, failure) != STATUS_OK)
        return PIPE_ERROR;
    return event;
}

/* Decodes more of the frame that is held. At its end, or if it is large, its bytes are ready. */
static enum pipe_event reader_hold_piece(struct reader *reader, bool wait, bool *waited,
                                         struct failure *failure)
{
    struct reader_held *held = &reader->held;
    size_t bytes;

    if (!held->data && !(held->data = memory_map(READER_HELD_ROOM)))
        return reader_fail(reader, "no memory to decompress it", failure);
    if (held->used == held->filled)
        held->filled = held->ready = held->used = 0;
    enum pipe_event event =
        reader_decode_piece(reader, held->data + held->filled, READER_HELD_ROOM - held->filled,
                            wait, waited, &bytes, failure);
    held->filled += bytes;
    if (event != PIPE_DATA)
        return event;
    bool has_ended = decoder_is_between(reader->decoder);
    held->is_large = !has_ended && (held->is_large || held->filled > READER_HELD_BYTES);
    if (has_ended || held->is_large)
        held->ready = held->filled;
    return event;
}

/* Returns the next bytes of frames that are held back. */
static enum pipe_event reader_take_held(struct reader *reader, void *buffer, size_t room, bool wait,
                                        bool *waited, size_t *bytes, struct failure *failure)
{
    struct reader_held *held = &reader->held;
    enum pipe_event event = PIPE_DATA;

    while (event == PIPE_DATA && held->used == held->ready)
        event = reader_hold_piece(reader, wait, waited, failure);
    size_t left = held->ready - held->used;
    *bytes = left < room ? left : room;
    if (*bytes > 0)
        memcpy(buffer, held->data + held->used, *bytes);
    held->used += *bytes;
    return event;
}

/* Fails if what was decoded first is of a kind that is not read, as in an archive x.tar.gz. */
static enum pipe_event reader_check_content(struct reader *reader, const void *data, size_t *bytes,
                                            struct failure *failure)
{
    bool undecided;
    const struct decoder_format *kind = decoder_detect_refused(data, *bytes, &undecided);
    struct decoder *none;

    reader->checks_content = false;
    if (!kind)
        return PIPE_DATA;
    *bytes = 0;
    decoder_open(&none, kind, reader->input->name, 0, failure); /* which fails */
    return PIPE_ERROR;
}

/* Returns the next bytes of a compressed input. */
static enum pipe_event reader_decode(struct reader *reader, void *buffer, size_t room, bool wait,
                                     bool *waited, size_t *bytes, struct failure *failure)
{
    enum pipe_event event = PIPE_DATA;

    *bytes = 0;
    if (reader->options->holds_frames)
        return reader_take_held(reader, buffer, room, wait, waited, bytes, failure);
    while (event == PIPE_DATA && *bytes == 0)
        event = reader_decode_piece(reader, buffer, room, wait, waited, bytes, failure);
    return event;
}

/* Returns the next decoded bytes, except those in reader->plain. */
static enum pipe_event reader_read_plain(struct reader *reader, void *buffer, size_t room,
                                         bool wait, bool *waited, size_t *bytes,
                                         struct failure *failure)
{
    *bytes = 0;
    if (!reader->is_detected) {
        enum pipe_event event = reader_find_format(reader, wait, waited, failure);
        if (event != PIPE_DATA)
            return event;
    }
    if (reader->format) {
        enum pipe_event event = reader_decode(reader, buffer, room, wait, waited, bytes, failure);
        if (event == PIPE_DATA && *bytes > 0 && reader->checks_content)
            event = reader_check_content(reader, buffer, bytes, failure);
        return event;
    }
    *bytes = reader_ahead_take(&reader->raw, buffer, room);
    if (*bytes > 0)
        return PIPE_DATA;
    return reader_read_file(reader, buffer, room, wait, waited, bytes, failure);
}

/* Appends to the header line with the names. */
static enum pipe_event reader_keep_names(struct reader *reader, const char *data, size_t bytes,
                                         struct failure *failure)
{
    struct reader_names *names = &reader->names;

    if (!names->line && !(names->line = malloc(READER_NAMES_BYTES)))
        return reader_fail(reader, strerror(errno), failure);
    if (bytes > READER_NAMES_BYTES - names->bytes)
        return reader_fail(reader, "its header line is longer than 1 MiB", failure);
    memcpy(names->line + names->bytes, data, bytes);
    names->bytes += bytes;
    return PIPE_DATA;
}

/* Writes what the complete header line is, for a name that it lacks. */
static void reader_show_header(const struct reader *reader, const char *name,
                               char out[READER_HEADER_SIZE])
{
    const struct reader_names *names = &reader->names;
    const size_t bytes = names->bytes;
    char advice[TEXT_ADVICE_SIZE];

    text_advise_name(&reader->records->text, names->line, bytes, name, advice);
    if (bytes == 0)
        strcpy(out, ": it is empty");
    else
        snprintf(out, READER_HEADER_SIZE, ": it is '%.*s%s'%s",
                 (int)(bytes < READER_HEADER_SHOWN ? bytes : READER_HEADER_SHOWN), names->line,
                 bytes > READER_HEADER_SHOWN ? "..." : "", advice);
}

/* Looks a name up in the complete header line. NULL: the field has none. */
static enum pipe_event reader_find_name(const struct reader *reader, const char *name,
                                        int32_t *field, struct failure *failure)
{
    char header[READER_HEADER_SIZE] = "";

    if (!name)
        return PIPE_DATA;
    *field =
        record_find_name(&reader->records->text, reader->names.line, reader->names.bytes, name);
    if (*field > 0)
        return PIPE_DATA;
    if (*field == 0)
        reader_show_header(reader, name, header);
    status_fail(failure, STATUS_DATA, STATUS_NAME ": its header has %s field '%.1000s'%s",
                reader->input->name, *field == 0 ? "no" : "more than one", name, header);
    return PIPE_ERROR;
}

/* Looks up the names of all fields that have one. */
static enum pipe_event reader_find_names(struct reader *reader, struct failure *failure)
{
    const struct record_format *records = reader->records;
    struct reader_names *names = &reader->names;

    names->bytes -= names->bytes > 0 && names->line[names->bytes - 1] == '\n';
    names->bytes -= names->bytes > 0 && names->line[names->bytes - 1] == '\r';
    enum pipe_event event = reader_find_name(reader, records->field_name, &reader->field, failure);
    if (event == PIPE_DATA)
        event = reader_find_name(reader, records->second_name, &reader->second_field, failure);
    reader->header = records->text;
    record_begin_header(&reader->header, names->line, names->bytes);
    if (event == PIPE_DATA && reader->header.delimiter != records->text.delimiter &&
        reader->options->tabbed) {
        const char *none = NULL; /* the first file is named */
        atomic_compare_exchange_strong(reader->options->tabbed, &none, reader->input->name);
    }
    free(names->line);
    *names = (struct reader_names){.line = NULL};
    return event;
}

void reader_set_fields(const struct reader *reader, struct text_rules *rules)
{
    if (reader->field > 0)
        rules->field = reader->field;
    if (reader->second_field > 0)
        rules->second_field = reader->second_field;
    if (reader->field > 0 || reader->second_field > 0) {
        rules->delimiter = reader->header.delimiter;
        rules->columns = reader->header.columns;
    }
}

/* Removes the rest of the header from the front of the data. */
static enum pipe_event reader_skip_header(struct reader *reader, char *data, size_t *bytes,
                                          struct failure *failure)
{
    enum pipe_event event = PIPE_DATA;
    size_t header = 0;

    while (reader->skip_lines > 0 && header < *bytes && event == PIPE_DATA) {
        const char *newline = memchr(data + header, '\n', *bytes - header);
        size_t end = newline ? (size_t)(newline - data) + 1 : *bytes;
        bool has_names = record_has_names(reader->records) && reader->skip_lines == 1;
        if (has_names)
            event = reader_keep_names(reader, data + header, end - header, failure);
        header = end;
        reader->skip_lines -= newline != NULL;
        reader->header_lines += newline != NULL;
        if (has_names && newline && event == PIPE_DATA)
            event = reader_find_names(reader, failure);
    }
    reader->header_bytes += header;
    *bytes = event == PIPE_DATA ? *bytes - header : 0;
    memmove(data, data + header, *bytes);
    return event;
}

/*
 * Looks for a newline in the first block of a text. Fails at its end if there are carriage returns
 * instead.
 */
static enum pipe_event reader_look_for_newline(struct reader *reader, enum pipe_event event,
                                               const char *data, size_t bytes,
                                               struct failure *failure)
{
    struct reader_first_line *line = &reader->first_line;
    const bool has_ended =
        event == PIPE_END && !(reader->is_part && reader->limit < reader->input->size);

    if (bytes > READER_AHEAD_BYTES - line->bytes)
        bytes = READER_AHEAD_BYTES - line->bytes;
    if (bytes > 0) {
        const char *found = memchr(data, '\r', bytes);
        line->is_open = memchr(data, '\n', bytes) == NULL;
        line->has_return |= line->ends_with_return || (found && found + 1 < data + bytes);
        line->ends_with_return = data[bytes - 1] == '\r';
        line->bytes += bytes;
    }
    if (!line->is_open || (!has_ended && line->bytes < READER_AHEAD_BYTES))
        return event;
    line->is_open = false;
    if (!line->has_return)
        return event;
    return reader_fail(reader,
                       "lines that end with CR alone are not supported: convert it "
                       "(tr '\\r' '\\n')",
                       failure);
}

enum pipe_event reader_read(struct reader *reader, void *buffer, size_t room, bool wait,
                            bool *waited, size_t *bytes, struct failure *failure)
{
    enum pipe_event event = PIPE_DATA;

    *bytes = reader_ahead_take(&reader->plain, buffer, room);
    if (*bytes == 0)
        event = reader_read_plain(reader, buffer, room, wait, waited, bytes, failure);
    if (reader->first_line.is_open && event != PIPE_ERROR) {
        event = reader_look_for_newline(reader, event, buffer, *bytes, failure);
        *bytes = event == PIPE_ERROR ? 0 : *bytes;
    }
    if (event == PIPE_DATA && reader->skip_lines > 0)
        event = reader_skip_header(reader, buffer, bytes, failure);
    if (event == PIPE_END && reader->skip_lines > 0 && record_has_names(reader->records) &&
        !reader->goes_on) {
        reader->skip_lines = 0; /* the end of the file is that of the header */
        if (reader_find_names(reader, failure) == PIPE_ERROR)
            event = PIPE_ERROR;
    }
    return event;
}

static bool reader_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

enum pipe_event reader_look(struct reader *reader, struct failure *failure)
{
    struct reader_ahead *plain = &reader->plain;
    enum pipe_event event = PIPE_DATA;
    bool waited = false;
    size_t spaces = 0; /* at the beginning of the block */

    if (!reader_ahead_reserve(plain))
        return reader_fail(reader, strerror(errno), failure);
    while (event == PIPE_DATA && plain->end < READER_AHEAD_BYTES) {
        size_t bytes = 0;
        event = reader_read_plain(reader, plain->data + plain->end, READER_AHEAD_BYTES - plain->end,
                                  plain->end == spaces, &waited, &bytes, failure);
        plain->end += bytes;
        while (spaces < plain->end && reader_is_space(plain->data[spaces]))
            spaces++;
    }
    return event;
}

enum status reader_detect(const struct reader_options *options, const struct input *input,
                          const struct decoder_format **format, struct failure *failure)
{
    char head[DECODER_MAGIC_BYTES];
    bool undecided;

    *format = NULL;
    if (!options->decodes && !options->refuses)
        return STATUS_OK;
    ssize_t n = input_read_at(input->fd, head, sizeof head, input->start);
    if (n < 0)
        return input_fail(failure, input->name, strerror(errno));
    *format = reader_match(options, head, (size_t)n, &undecided);
    return STATUS_OK;
}

enum status reader_read_header(const struct reader_options *options, struct input *input,
                               const struct decoder_format *format,
                               const struct record_format *records, struct text_rules *rules,
                               uint64_t *bytes, struct failure *failure)
{
    const struct decoder_part all = {.begin = (uint64_t)input->start,
                                     .end = (uint64_t)input->size,
                                     .is_last = true};
    struct reader_options own = *options;
    enum pipe_event event = PIPE_DATA;
    struct reader reader;
    char block[4096];

    own.bytes_read = NULL; /* it is read again */
    own.holds_frames = false;
    input_hold(input);
    reader_open_part(&reader, &own, input, format, &all, records);
    while (event == PIPE_DATA && (reader.skip_lines > 0 || reader.first_line.is_open)) {
        bool waited;
        size_t got;
        event = reader_read(&reader, block, sizeof block, true, &waited, &got, failure);
    }
    *bytes = reader.header_bytes;
    reader_set_fields(&reader, rules);
    reader_close(&reader);
    return event == PIPE_ERROR ? failure->status : STATUS_OK;
}

uint64_t reader_count_lines(const char *name, uint64_t start, uint64_t end,
                            const struct decoder_format *format)
{
    static const struct reader_options options = {.decodes = true};
    char *block = malloc(READER_AHEAD_BYTES);
    struct input *input = NULL;
    struct failure ignored;
    struct reader reader;
    enum pipe_event event = PIPE_DATA;
    uint64_t lines = 0;

    if (block && input_open(&input, name == input_stdin_name ? "-" : name, &ignored) == STATUS_OK) {
        const struct decoder_part part = {.begin = start, .end = end};
        reader_open_part(&reader, &options, input, format, &part, NULL);
        while (event == PIPE_DATA) {
            size_t bytes;
            bool waited;
            event =
                reader_read(&reader, block, READER_AHEAD_BYTES, true, &waited, &bytes, &ignored);
            lines += text_count_lines(block, bytes);
        }
        reader_close(&reader);
    }
    free(block);
    return lines;
}
