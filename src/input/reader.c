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

/* The longest frame that is held, and more, which shows that a frame is longer. */
#define READER_HELD_CAPACITY (READER_HELD_BYTES + READER_AHEAD_BYTES)

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
    memory_unmap(reader->held.data, READER_HELD_CAPACITY);
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

/* Moves bytes that were read ahead to the piece; false if there are none. */
static bool reader_ahead_take(struct reader_ahead *ahead, struct input_piece *piece)
{
    size_t held = ahead->end - ahead->begin;

    piece->bytes = held < piece->capacity ? held : piece->capacity;
    if (piece->bytes > 0)
        memcpy(piece->data, ahead->data + ahead->begin, piece->bytes);
    ahead->begin += piece->bytes;
    return piece->bytes > 0;
}

static enum input_event reader_fail(const struct reader *reader, const char *reason,
                                    struct failure *failure)
{
    input_fail(failure, reader->input->name, reason);
    return INPUT_ERROR;
}

void reader_count(const struct reader_options *options, uint64_t bytes)
{
    if (options->bytes_read)
        atomic_fetch_add_explicit(options->bytes_read, bytes, memory_order_relaxed);
}

/* Reads the file without decoding. Its end is final: a terminal is not read again. */
static enum input_event reader_read_file(struct reader *reader, struct input_piece *piece,
                                         struct failure *failure)
{
    const int fd = reader->input->fd;
    enum input_event event = INPUT_DATA;

    piece->bytes = 0;
    if (reader->has_ended)
        return INPUT_END;
    if (reader->is_part) {
        uint64_t left = (uint64_t)(reader->limit - reader->next);
        if (reader_ahead_take(&reader->head, piece) ||
            (left == 0 && reader_ahead_take(&reader->tail, piece)))
            return INPUT_DATA;
        if (left > 0) {
            ssize_t n = input_read_at(fd, piece->data,
                                      left < piece->capacity ? (size_t)left : piece->capacity,
                                      reader->next);
            if (n <= 0)
                return reader_fail(reader,
                                   n < 0 ? strerror(errno) : "the file shrank while it was read",
                                   failure);
            reader->next += n;
            piece->bytes = (size_t)n;
        }
        event = left > 0 ? INPUT_DATA : INPUT_END;
    } else {
        event = input_read(fd, reader->options->wake, piece);
        if (event == INPUT_ERROR)
            return reader_fail(reader, strerror(errno), failure);
    }
    reader_count(reader->options, piece->bytes);
    reader->has_ended = event == INPUT_END;
    return event;
}

/* Reads more bytes ahead; of the piece, it uses what is said of waiting. */
static enum input_event reader_read_ahead(struct reader *reader, struct input_piece *piece,
                                          struct failure *failure)
{
    struct reader_ahead *raw = &reader->raw;
    struct input_piece ahead = {.wait = piece->wait, .has_waited = piece->has_waited};

    if (!reader_ahead_reserve(raw))
        return reader_fail(reader, strerror(errno), failure);
    ahead.data = raw->data + raw->end;
    ahead.capacity = READER_AHEAD_BYTES - raw->end;
    enum input_event event = reader_read_file(reader, &ahead, failure);
    raw->end += ahead.bytes;
    piece->has_waited = ahead.has_waited;
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

/*
 * Decodes the next piece of a compressed input. The piece may be empty. If bytes precede a fault,
 * the fault is kept for later.
 */
static enum input_event reader_decode_piece(struct reader *reader, struct input_piece *piece,
                                            struct failure *failure)
{
    struct reader_ahead *raw = &reader->raw;
    enum input_event event = INPUT_DATA;
    enum status status = STATUS_OK;
    size_t used = 0;

    piece->bytes = 0;
    if (!reader->is_faulty && raw->begin == raw->end && !reader->is_pending)
        event = reader_read_ahead(reader, piece, failure);
    if (event == INPUT_END && reader->decoder &&
        decoder_finish(reader->decoder, failure) != STATUS_OK)
        return INPUT_ERROR;
    if (event != INPUT_DATA)
        return event;
    if (!reader->is_faulty && !reader->decoder)
        status = decoder_open(&reader->decoder, reader->format, reader->input->name,
                              reader->options->memory_limit, &reader->fault);
    if (!reader->is_faulty && status == STATUS_OK) {
        status =
            (reader->options->holds_frames
                 ? decoder_run_frame
                 : decoder_run)(reader->decoder, raw->data + raw->begin, raw->end - raw->begin,
                                &used, piece->data, piece->capacity, &piece->bytes, &reader->fault);
        raw->begin += used;
        reader->is_pending = piece->bytes == piece->capacity;
    }
    reader->is_faulty = reader->is_faulty || status != STATUS_OK;
    if (!reader->is_faulty || piece->bytes > 0)
        return INPUT_DATA;
    *failure = reader->fault;
    return INPUT_ERROR;
}

/*
 * Returns the next bytes of frames that are held back: decodes the frame until it is at its end or
 * known to be large.
 */
static enum input_event reader_take_held(struct reader *reader, struct input_piece *piece,
                                         struct failure *failure)
{
    struct reader_held *held = &reader->held;
    struct input_piece more = {.wait = piece->wait, .has_waited = piece->has_waited};
    enum input_event event = INPUT_DATA;

    if (!held->data && !(held->data = memory_map(READER_HELD_CAPACITY)))
        return reader_fail(reader, "no memory to decompress it", failure);
    while (event == INPUT_DATA && held->used == held->ready) {
        if (held->used == held->filled)
            held->filled = held->ready = held->used = 0;
        more.data = held->data + held->filled;
        more.capacity = READER_HELD_CAPACITY - held->filled;
        event = reader_decode_piece(reader, &more, failure);
        held->filled += more.bytes;
        if (event != INPUT_DATA)
            break;
        bool has_ended = decoder_is_between(reader->decoder);
        held->is_large = !has_ended && (held->is_large || held->filled > READER_HELD_BYTES);
        if (has_ended || held->is_large)
            held->ready = held->filled;
    }
    size_t left = held->ready - held->used;
    piece->bytes = left < piece->capacity ? left : piece->capacity;
    if (piece->bytes > 0)
        memcpy(piece->data, held->data + held->used, piece->bytes);
    held->used += piece->bytes;
    piece->has_waited = more.has_waited;
    return event;
}

/* Returns the next decoded bytes, except those in reader->plain. */
static enum input_event reader_read_plain(struct reader *reader, struct input_piece *piece,
                                          struct failure *failure)
{
    struct reader_ahead *raw = &reader->raw;
    enum input_event event = INPUT_DATA;
    bool undecided = true;

    piece->bytes = 0;
    while (!reader->is_detected) { /* read ahead until the format is known */
        event = reader_read_ahead(reader, piece, failure);
        if (event == INPUT_EMPTY || event == INPUT_ERROR)
            return event;
        reader->format = reader_match(reader->options, raw->data, raw->end, &undecided);
        reader->is_detected = !undecided || reader->has_ended;
    }
    if (!reader->format && reader_ahead_take(raw, piece))
        return INPUT_DATA;
    if (!reader->format)
        return reader_read_file(reader, piece, failure);
    event = INPUT_DATA;
    if (reader->options->holds_frames)
        event = reader_take_held(reader, piece, failure);
    while (event == INPUT_DATA && piece->bytes == 0)
        event = reader_decode_piece(reader, piece, failure);
    if (event == INPUT_DATA && reader->checks_content) {
        const struct decoder_format *kind =
            decoder_detect_refused(piece->data, piece->bytes, &undecided);
        struct decoder *none;
        reader->checks_content = false;
        if (kind) { /* as in an archive x.tar.gz */
            piece->bytes = 0;
            decoder_open(&none, kind, reader->input->name, 0, failure); /* which fails */
            return INPUT_ERROR;
        }
    }
    return event;
}

/* Appends to the header line with the names. */
static enum input_event reader_keep_names(struct reader *reader, const char *data, size_t bytes,
                                          struct failure *failure)
{
    struct reader_names *names = &reader->names;

    if (!names->line && !(names->line = malloc(READER_NAMES_BYTES)))
        return reader_fail(reader, strerror(errno), failure);
    if (bytes > READER_NAMES_BYTES - names->bytes)
        return reader_fail(reader, "its header line is longer than 1 MiB", failure);
    memcpy(names->line + names->bytes, data, bytes);
    names->bytes += bytes;
    return INPUT_DATA;
}

/* Looks a name up in the complete header line. NULL: the field has none. */
static enum input_event reader_find_name(const struct reader *reader, const char *name,
                                         int32_t *field, struct failure *failure)
{
    const struct reader_names *names = &reader->names;
    const struct text_rules *rules = &reader->records->text;
    const bool is_cut = names->bytes > READER_HEADER_SHOWN;
    char advice[TEXT_ADVICE_SIZE] = "";
    char header[READER_HEADER_SIZE] = "";

    if (!name)
        return INPUT_DATA;
    *field = record_find_name(rules, names->line, names->bytes, name);
    if (*field > 0)
        return INPUT_DATA;
    if (*field == 0 && names->bytes == 0) {
        strcpy(header, ": it is empty");
    } else if (*field == 0) {
        text_advise_name(rules, names->line, names->bytes, name, advice);
        snprintf(header, sizeof header, ": it is '%.*s%s'%s",
                 (int)(is_cut ? READER_HEADER_SHOWN : names->bytes), names->line,
                 is_cut ? "..." : "", advice);
    }
    status_fail(failure, STATUS_DATA, STATUS_NAME ": its header has %s field '%.1000s'%s",
                reader->input->name, *field == 0 ? "no" : "more than one", name, header);
    return INPUT_ERROR;
}

/* Looks up the names of all fields that have one. */
static enum input_event reader_find_names(struct reader *reader, struct failure *failure)
{
    const struct record_format *records = reader->records;
    struct reader_names *names = &reader->names;

    names->bytes -= names->bytes > 0 && names->line[names->bytes - 1] == '\n';
    names->bytes -= names->bytes > 0 && names->line[names->bytes - 1] == '\r';
    enum input_event event = INPUT_DATA;
    reader->header = records->text;
    for (size_t i = 0; i < records->columns && event == INPUT_DATA; i++)
        event =
            reader_find_name(reader, records->names[i], record_field(&reader->header, i), failure);
    reader->has_fields = event == INPUT_DATA;
    record_begin_header(&reader->header, names->line, names->bytes);
    if (event == INPUT_DATA && reader->header.delimiter != records->text.delimiter &&
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
    if (reader->has_fields)
        *rules = reader->header;
}

/* Removes the rest of the header from the front of the data. */
static enum input_event reader_skip_header(struct reader *reader, struct input_piece *piece,
                                           struct failure *failure)
{
    enum input_event event = INPUT_DATA;
    char *data = piece->data;
    size_t header = 0;

    while (reader->skip_lines > 0 && header < piece->bytes && event == INPUT_DATA) {
        const char *newline = memchr(data + header, '\n', piece->bytes - header);
        size_t end = newline ? (size_t)(newline - data) + 1 : piece->bytes;
        bool has_names = record_has_names(reader->records) && reader->skip_lines == 1;
        if (has_names)
            event = reader_keep_names(reader, data + header, end - header, failure);
        header = end;
        reader->skip_lines -= newline != NULL;
        reader->header_lines += newline != NULL;
        if (has_names && newline && event == INPUT_DATA)
            event = reader_find_names(reader, failure);
    }
    reader->header_bytes += header;
    piece->bytes = event == INPUT_DATA ? piece->bytes - header : 0;
    memmove(data, data + header, piece->bytes);
    return event;
}

/*
 * Looks for a newline in the first block of a text. Fails at its end if there are carriage returns
 * instead.
 */
static enum input_event reader_look_for_newline(struct reader *reader, enum input_event event,
                                                const char *data, size_t bytes,
                                                struct failure *failure)
{
    struct reader_first_line *line = &reader->first_line;
    const bool has_ended =
        event == INPUT_END && !(reader->is_part && reader->limit < reader->input->size);

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

enum input_event reader_read(struct reader *reader, struct input_piece *piece,
                             struct failure *failure)
{
    enum input_event event = INPUT_DATA;

    if (!reader_ahead_take(&reader->plain, piece))
        event = reader_read_plain(reader, piece, failure);
    if (reader->first_line.is_open && event != INPUT_ERROR) {
        event = reader_look_for_newline(reader, event, piece->data, piece->bytes, failure);
        piece->bytes = event == INPUT_ERROR ? 0 : piece->bytes;
    }
    if (event == INPUT_DATA && reader->skip_lines > 0)
        event = reader_skip_header(reader, piece, failure);
    if (event == INPUT_END && reader->skip_lines > 0 && record_has_names(reader->records) &&
        !reader->goes_on) {
        reader->skip_lines = 0; /* the end of the file is that of the header */
        if (reader_find_names(reader, failure) == INPUT_ERROR)
            event = INPUT_ERROR;
    }
    return event;
}

static bool reader_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

enum input_event reader_look(struct reader *reader, struct failure *failure)
{
    struct reader_ahead *plain = &reader->plain;
    enum input_event event = INPUT_DATA;
    size_t spaces = 0; /* at the beginning of the block */

    if (!reader_ahead_reserve(plain))
        return reader_fail(reader, strerror(errno), failure);
    while (event == INPUT_DATA && plain->end < READER_AHEAD_BYTES) {
        struct input_piece piece = {
            .data = plain->data + plain->end,
            .capacity = READER_AHEAD_BYTES - plain->end,
            .wait = plain->end == spaces,
        };
        event = reader_read_plain(reader, &piece, failure);
        plain->end += piece.bytes;
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
    enum input_event event = INPUT_DATA;
    struct reader reader;
    char block[4096];

    own.bytes_read = NULL; /* it is read again */
    own.holds_frames = false;
    input_hold(input);
    reader_open_part(&reader, &own, input, format, &all, records);
    while (event == INPUT_DATA && (reader.skip_lines > 0 || reader.first_line.is_open)) {
        struct input_piece piece = {.data = block, .capacity = sizeof block, .wait = true};
        event = reader_read(&reader, &piece, failure);
    }
    *bytes = reader.header_bytes;
    reader_set_fields(&reader, rules);
    reader_close(&reader);
    return event == INPUT_ERROR ? failure->status : STATUS_OK;
}

uint64_t reader_count_lines(const char *name, uint64_t start, uint64_t end,
                            const struct decoder_format *format)
{
    static const struct reader_options options = {.decodes = true};
    char *block = malloc(READER_AHEAD_BYTES);
    struct input *input = NULL;
    struct failure ignored;
    struct reader reader;
    enum input_event event = INPUT_DATA;
    uint64_t lines = 0;

    if (block && input_open(&input, name == input_stdin_name ? "-" : name, &ignored) == STATUS_OK) {
        const struct decoder_part part = {.begin = start, .end = end};
        reader_open_part(&reader, &options, input, format, &part, NULL);
        while (event == INPUT_DATA) {
            struct input_piece piece = {.data = block,
                                        .capacity = READER_AHEAD_BYTES,
                                        .wait = true};
            event = reader_read(&reader, &piece, &ignored);
            lines += text_count_lines(block, piece.bytes);
        }
        reader_close(&reader);
    }
    free(block);
    return lines;
}
