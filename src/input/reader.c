/* Reads one input in order: detects compression, decodes, skips the header. */
#include "config.h"

#include "input/reader.h"

#include "lib/memory.h"
#include "text/text.h"
#include "text/text_reason.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The longest frame that is held, plus bytes that reveal a longer one. */
#define READER_HELD_CAPACITY (READER_HELD_BYTES + READER_AHEAD_BYTES)

/* Maximum bytes of a header line in a message, and the size of that part of the message. */
#define READER_HEADER_SHOWN ((size_t)80)
#define READER_HEADER_SIZE  (READER_HEADER_SHOWN + TEXT_ADVICE_SIZE + 16)

void reader_open(struct reader *reader, const struct reader_options *options, struct input *input,
                 const struct decoder_format *format)
{
    *reader = (struct reader){
        .options = options,
        .input = input,
        .format = format,
        .is_detected = input->is_regular || options->kinds == 0,
        .checks_content = options->kinds & DECODER_REFUSED,
        .row_end = options->row_end,
        .has_begun = true,
    };
}

void reader_set_records(struct reader *reader, const struct record_format *records,
                        struct text_rules *rules)
{
    reader->records = records;
    reader->rules = rules;
    reader->skip_lines = records->header_lines;
    reader->keeps_header = reader->options->header && reader->input->number == 0;
    reader->checks_line_end = reader->row_end == TEXT_ENDS_LF && record_may_end_with_cr(records);
    reader->checks_mark = reader->skip_lines > 0 || records->drops_mark;
    reader->has_begun = !reader->checks_mark && !reader->checks_line_end && !records->has_arrays;
}

void reader_open_group(struct reader *reader, const struct reader_options *options,
                       struct input *input, const struct decoder_format *format,
                       struct gzip_group *group)
{
    reader_open(reader, options, input, format);
    reader->group = group;
}

void reader_open_part(struct reader *reader, const struct reader_options *options,
                      struct input *input, const struct decoder_format *format,
                      const struct decoder_part *part)
{
    reader_open(reader, options, input, format);
    reader->is_part = true;
    reader->goes_on = !part->is_last;
    reader->next = (off_t)part->begin;
    reader->limit = (off_t)part->end;
    reader->shift = part->shift;
    reader->head = (struct reader_ahead){part->wrap, 0, part->head_bytes, 0};
    reader->tail = (struct reader_ahead){part->wrap, part->head_bytes, part->wrap_bytes, 0};
}

void reader_close(struct reader *reader)
{
    if (reader->decoder)
        decoder_close(reader->decoder);
    memory_unmap(reader->held.data, READER_HELD_CAPACITY);
    if (reader->group)
        gzip_group_end(reader->group);
    free(reader->raw.data);
    free(reader->plain.data);
    input_release(reader->input);
}

/* Moves bytes that were read ahead to the piece. Returns false if there are none. */
static bool reader_ahead_take(struct reader_ahead *ahead, struct input_piece *piece)
{
    size_t held = ahead->end - ahead->begin;

    piece->bytes = held < piece->capacity ? held : piece->capacity;
    if (piece->bytes > 0)
        memcpy(piece->data, ahead->data + ahead->begin, piece->bytes);
    ahead->begin += piece->bytes;
    return piece->bytes > 0;
}

/* Takes up to `bytes` from *left. Returns their number. */
static size_t reader_take_bytes(uint64_t *left, size_t bytes)
{
    const size_t taken = bytes < *left ? bytes : (size_t)*left;

    *left -= taken;
    return taken;
}

static enum input_event reader_fail(const struct reader *reader, const char *reason,
                                    struct failure *failure)
{
    input_fail(failure, reader->input->name, reason);
    return INPUT_ERROR;
}

void reader_end_rows(enum text_row_end row_end, char *data, size_t bytes)
{
    if (row_end == TEXT_ENDS_LF)
        return;
    for (size_t i = 0; i < bytes; i++) {
        const char c = data[i];
        if (row_end == TEXT_ENDS_CR)
            data[i] = c == '\r' ? '\n' : c;
        else if (row_end == TEXT_ENDS_NUL)
            data[i] = c == '\0' ? '\n' : c == '\n' ? ' ' : c;
        else
            data[i] = c == '\0' ? '\n' : c == '\n' ? '\v' : c == '\v' ? '\0' : c;
    }
}

/* Waits up to `milliseconds` (-1: no limit) until `fd` is readable. Returns false if it is not. */
static bool reader_wait(int fd, int wake, int milliseconds)
{
    struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = wake, .events = POLLIN}};

    while (poll(fds, 2, milliseconds) < 0) {
        if (errno != EINTR)
            return true; /* the read will report the error */
    }
    return fds[0].revents != 0 && fds[1].revents == 0;
}

/* Reads the file without decoding. The end is final: a terminal is not read again. */
static enum input_event reader_read_file(struct reader *reader, struct input_piece *piece,
                                         struct failure *failure)
{
    const int fd = reader->input->fd;
    const int wake = reader->options->wake;
    ssize_t n;

    piece->bytes = 0;
    if (reader->has_ended)
        return INPUT_END;
    if (reader->is_part) {
        const uint64_t left = (uint64_t)(reader->limit - reader->next);
        if (reader_ahead_take(&reader->head, piece) ||
            (left == 0 && reader_ahead_take(&reader->tail, piece)))
            return INPUT_DATA;
        /* Shifted bytes include bits of the next byte, which is also read. */
        const size_t more = reader->shift > 0 && left > 0;
        n = input_read_at(fd, piece->data,
                          left < piece->capacity - more ? (size_t)left + more : piece->capacity,
                          reader->next);
        n -= n > 0 ? (ssize_t)more : 0;
        if (n == 0 && left > 0)
            return reader_fail(reader, "the file shrank while it was read", failure);
        for (ssize_t i = 0; more && i < n; i++)
            piece->data[i] = (char)((unsigned char)piece->data[i] << reader->shift |
                                    (unsigned char)piece->data[i + 1] >> (8 - reader->shift));
        reader->next += n > 0 ? n : 0;
    } else {
        /* FIONREAD shows whether the pipe is full, but blocks while the writer copies. */
        if (!reader_wait(fd, wake, 0)) {
            piece->has_waited = true;
            if (!reader_wait(fd, wake, piece->wait ? -1 : INPUT_PAUSE_MS))
                return INPUT_EMPTY;
        }
        do
            n = read(fd, piece->data, piece->capacity);
        while (n < 0 && errno == EINTR);
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return INPUT_DATA; /* another process made it non-blocking: try again */
    }
    if (n < 0)
        return reader_fail(reader, strerror(errno), failure);
    piece->bytes = (size_t)n;
    if (reader->options->bytes_read)
        atomic_fetch_add_explicit(reader->options->bytes_read, piece->bytes, memory_order_relaxed);
    reader->has_ended = n == 0;
    return n == 0 ? INPUT_END : INPUT_DATA;
}

/* Reads more of the file after the raw bytes ahead. The piece only tells whether to wait. */
static enum input_event reader_read_raw(struct reader *reader, struct input_piece *piece,
                                        struct failure *failure)
{
    struct reader_ahead *raw = &reader->raw;
    struct input_piece more = {.wait = piece->wait, .has_waited = piece->has_waited};

    if (!raw->data && !(raw->data = malloc(READER_AHEAD_BYTES)))
        return reader_fail(reader, strerror(errno), failure);
    if (raw->begin == raw->end)
        raw->begin = raw->end = 0;
    more.data = raw->data + raw->end;
    more.capacity = READER_AHEAD_BYTES - raw->end; /* fewer bytes reveal the format */
    const enum input_event event = reader_read_file(reader, &more, failure);
    raw->end += more.bytes;
    piece->has_waited = more.has_waited;
    return event;
}

/*
 * Takes the next piece from the group. If the group gives up, decoding restarts at the start of the
 * file, and the bytes that were already returned are dropped later.
 */
static enum input_event reader_take_group(struct reader *reader, struct input_piece *piece)
{
    const enum gzip_group_event event =
        gzip_group_read(reader->group, piece->data, piece->capacity, &piece->bytes);

    reader->worker_group_bytes += piece->bytes;
    if (event == GZIP_GROUP_GAVE_UP) {
        gzip_group_end(reader->group);
        reader->group = NULL;
        reader->repeated = reader->worker_group_bytes;
        lseek(reader->input->fd, reader->input->start, SEEK_SET); /* cannot fail: see input.c */
    }
    return event == GZIP_GROUP_ENDED ? INPUT_END : INPUT_DATA;
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

    piece->bytes = 0;
    if (reader->group)
        return reader_take_group(reader, piece);
    if (!reader->is_faulty && raw->begin == raw->end && !reader->is_pending)
        event = reader_read_raw(reader, piece, failure);
    if (event == INPUT_END && reader->decoder &&
        decoder_finish(reader->decoder, failure) != STATUS_OK)
        return INPUT_ERROR;
    if (event != INPUT_DATA)
        return event;
    if (!reader->is_faulty && !reader->decoder)
        status = decoder_open(&reader->decoder, reader->format, reader->input->name,
                              reader->options->memory_limit, &reader->fault);
    if (!reader->is_faulty && status == STATUS_OK) {
        struct decoder_io io = {
            .in = (const unsigned char *)raw->data + raw->begin,
            .in_bytes = raw->end - raw->begin,
            .out = (unsigned char *)piece->data,
            .out_bytes = piece->capacity,
        };
        status = decoder_run(reader->decoder, &io, reader->options->holds_frames, &reader->fault);
        piece->bytes = io.out_used;
        raw->begin += io.in_used;
        reader->is_pending = piece->bytes == piece->capacity;
        if (reader->repeated > 0) {
            const size_t dropped = reader_take_bytes(&reader->repeated, piece->bytes);
            piece->bytes -= dropped;
            memmove(piece->data, piece->data + dropped, piece->bytes);
        }
    }
    reader->is_faulty = reader->is_faulty || status != STATUS_OK;
    if (!reader->is_faulty || piece->bytes > 0)
        return INPUT_DATA;
    *failure = reader->fault;
    return INPUT_ERROR;
}

/*
 * Returns the next bytes of held frames: decodes the frame until it ends or is known to be large.
 */
static enum input_event reader_take_held(struct reader *reader, struct input_piece *piece,
                                         struct failure *failure)
{
    struct reader_ahead *held = &reader->held;
    struct input_piece more = {.wait = piece->wait, .has_waited = piece->has_waited};
    enum input_event event = INPUT_DATA;

    if (!held->data && !(held->data = memory_map(READER_HELD_CAPACITY)))
        return reader_fail(reader, "no memory to decompress it", failure);
    while (event == INPUT_DATA && held->begin == held->end) {
        if (held->end == reader->held_end)
            held->begin = held->end = reader->held_end = 0;
        more.data = held->data + reader->held_end;
        more.capacity = READER_HELD_CAPACITY - reader->held_end;
        event = reader_decode_piece(reader, &more, failure);
        reader->held_end += more.bytes;
        if (event != INPUT_DATA)
            break;
        const bool has_ended = decoder_is_between(reader->decoder);
        reader->is_large = !has_ended && (reader->is_large || reader->held_end > READER_HELD_BYTES);
        if (has_ended || reader->is_large)
            held->end = reader->held_end;
    }
    reader_ahead_take(held, piece);
    piece->has_waited = more.has_waited;
    return event;
}

/* Returns the next decoded bytes after those in reader->plain, with newlines at row ends. */
static enum input_event reader_read_plain(struct reader *reader, struct input_piece *piece,
                                          struct failure *failure)
{
    struct reader_ahead *raw = &reader->raw;
    enum input_event event = INPUT_DATA;
    bool undecided = true;

    piece->bytes = 0;
    while (!reader->is_detected) { /* read ahead until the format is known */
        event = reader_read_raw(reader, piece, failure);
        if (event == INPUT_EMPTY || event == INPUT_ERROR)
            return event;
        reader->format = decoder_detect(raw->data, raw->end, reader->options->kinds, &undecided);
        reader->is_detected = !undecided || reader->has_ended;
    }
    event = INPUT_DATA;
    if (!reader->format && !reader_ahead_take(raw, piece))
        event = reader_read_file(reader, piece, failure);
    if (reader->format && reader->options->holds_frames)
        event = reader_take_held(reader, piece, failure);
    while (reader->format && event == INPUT_DATA && piece->bytes == 0)
        event = reader_decode_piece(reader, piece, failure);
    if (reader->format && event == INPUT_DATA && reader->checks_content) {
        const struct decoder_format *kind =
            decoder_detect(piece->data, piece->bytes,
                           reader->options->kinds & ~(unsigned)DECODER_COMPRESSED, &undecided);
        struct decoder *none;
        reader->checks_content = false;
        if (kind) { /* such as in an archive x.tar.gz */
            piece->bytes = 0;
            decoder_open(&none, kind, reader->input->name, 0, failure); /* fails */
            return INPUT_ERROR;
        }
    }
    if (reader->row_end != TEXT_ENDS_LF)
        reader_end_rows(reader->row_end, piece->data, piece->bytes);
    return event;
}

/* Reads more after the plain bytes ahead. The piece only tells whether to wait. */
static enum input_event reader_read_ahead(struct reader *reader, struct input_piece *piece,
                                          struct failure *failure)
{
    struct reader_ahead *plain = &reader->plain;
    struct input_piece more = {.wait = piece->wait, .has_waited = piece->has_waited};

    plain->end -= plain->begin;
    if (plain->begin > 0)
        memmove(plain->data, plain->data + plain->begin, plain->end);
    plain->begin = 0;
    if (plain->end == plain->capacity) {
        const size_t capacity = plain->capacity > 0 ? 2 * plain->capacity : READER_AHEAD_BYTES;
        char *grown = realloc(plain->data, capacity);
        if (!grown)
            return reader_fail(reader, strerror(errno), failure);
        plain->data = grown;
        plain->capacity = capacity;
    }
    more.data = plain->data + plain->end;
    more.capacity = plain->capacity - plain->end;
    const enum input_event event = reader_read_plain(reader, &more, failure);
    plain->end += more.bytes;
    piece->has_waited = more.has_waited;
    return event;
}

/* Returns the length of a header line without its line end. */
static size_t reader_line_length(const char *line, size_t bytes)
{
    bytes -= bytes > 0 && line[bytes - 1] == '\n';
    bytes -= bytes > 0 && line[bytes - 1] == '\r';
    return bytes;
}

/* Keeps the last line of the header. Returns false if out of memory. */
static bool reader_keep_header(const struct reader *reader, const char *line, size_t bytes)
{
    struct reader_header *header;
    struct reader_header *none = NULL;

    bytes = reader_line_length(line, bytes);
    header = malloc(sizeof *header + bytes);
    if (!header)
        return false;
    header->bytes = bytes;
    memcpy(header->line, line, bytes);
    if (!atomic_compare_exchange_strong(reader->options->header, &none, header))
        free(header); /* an earlier read of the input kept it */
    return true;
}

/*
 * Looks up the names of fields in the last line of the header. Sets the file's rules: the numbers
 * of the fields, and the delimiter of the header.
 */
static enum status reader_find_names(const struct reader *reader, const char *line, size_t bytes,
                                     struct failure *failure)
{
    const struct reader_options *options = reader->options;
    const struct text_rules *rules = &reader->records->text;
    struct text_rules header = *rules;
    int32_t number;
    char reason[TEXT_REASON_SIZE];
    char advice[TEXT_ADVICE_SIZE] = "";
    char shown[READER_HEADER_SIZE] = "";

    bytes = reader_line_length(line, bytes);
    const char *name = record_find_names(reader->records, line, bytes, reader->rules, &number);
    if (name) {
        if (number == 0 && bytes == 0) {
            strcpy(shown, ": the header is empty");
        } else if (number == 0) {
            const bool is_cut = bytes > READER_HEADER_SHOWN;
            if (text_explain_kind(rules, line, bytes, name, reason))
                return status_fail(failure, STATUS_DATA, STATUS_NAME ": %s", reader->input->name,
                                   reason);
            text_advise_name(rules, line, bytes, name, advice);
            snprintf(shown, sizeof shown, ": the header is '%.*s%s'%s",
                     (int)(is_cut ? READER_HEADER_SHOWN : bytes), line, is_cut ? "..." : "",
                     advice);
        }
        return status_fail(failure, STATUS_DATA,
                           number == 0 ? STATUS_NAME ": unknown column '%.1000s'%s"
                                       : STATUS_NAME ": duplicate column '%.1000s' in the header "
                                                     "(try its number)%s",
                           reader->input->name, name, shown);
    }
    record_begin_header(&header, line, bytes);
    reader->rules->delimiter = header.delimiter;
    reader->rules->columns = header.columns;
    if (header.delimiter != rules->delimiter && options->tabbed) { /* names the first file */
        size_t first = atomic_load(options->tabbed);
        while (reader->input->number < first &&
               !atomic_compare_exchange_weak(options->tabbed, &first, reader->input->number))
            continue;
    }
    return STATUS_OK;
}

enum input_event reader_look_array(struct reader *reader, struct input_piece *piece,
                                   struct npy *array, bool *is_array, struct failure *failure)
{
    struct reader_ahead *plain = &reader->plain;
    enum input_event event = INPUT_DATA;
    char reason[NPY_REASON_SIZE];

    for (;;) {
        const size_t bytes = plain->end - plain->begin;
        const enum npy_result result =
            npy_read(bytes > 0 ? plain->data + plain->begin : "", bytes, array, reason);
        *is_array = result == NPY_ARRAY;
        if (event == INPUT_END && bytes == 0)
            return INPUT_END;
        if (result == NPY_UNSUPPORTED)
            return reader_fail(reader, reason, failure);
        if (result == NPY_MORE && event == INPUT_END && bytes > 1)
            return reader_fail(reader, "it ends within its NumPy header", failure);
        if (result != NPY_MORE || event == INPUT_END)
            return INPUT_DATA;
        event = reader_read_ahead(reader, piece, failure);
        if (event == INPUT_EMPTY || event == INPUT_ERROR)
            return event;
    }
}

static enum input_event reader_fail_length(const struct reader *reader, uint64_t bytes,
                                           bool is_missing, struct failure *failure)
{
    status_fail(failure, STATUS_DATA,
                STATUS_NAME ": %llu byte%s %s: its NumPy array is %s than its header says",
                reader->input->name, (unsigned long long)bytes, bytes == 1 ? "" : "s",
                is_missing ? "missing at the end" : "left at the end",
                is_missing ? "shorter" : "longer");
    return INPUT_ERROR;
}

/*
 * Reads and removes the header of an array. An empty file has no header and no values. Checks the
 * length of an uncompressed file at once.
 */
static enum input_event reader_begin_array(struct reader *reader, struct input_piece *piece,
                                           struct failure *failure)
{
    const struct npy *wanted = &reader->records->array;
    const struct input *input = reader->input;
    struct npy array = {.header_bytes = 0};
    bool is_array;

    const enum input_event event = reader_look_array(reader, piece, &array, &is_array, failure);
    if (event == INPUT_EMPTY || event == INPUT_ERROR)
        return event;
    if (event == INPUT_DATA && !is_array)
        return reader_fail(reader, "not a NumPy array, but the first input is", failure);
    if (is_array && strcmp(array.type, wanted->type) != 0) {
        status_fail(failure, STATUS_DATA,
                    STATUS_NAME
                    ": its NumPy array is of type %s, but that of the first input of %s",
                    input->name, array.type, wanted->type);
        return INPUT_ERROR;
    }
    if (is_array && wanted->is_whole)
        npy_flatten(&array);
    if (is_array && array.dimensions != wanted->dimensions) {
        status_fail(failure, STATUS_DATA,
                    STATUS_NAME
                    ": its NumPy array has %zu dimension%s, but that of the first input %zu",
                    input->name, array.dimensions, array.dimensions == 1 ? "" : "s",
                    wanted->dimensions);
        return INPUT_ERROR;
    }
    if (is_array && array.columns != wanted->columns) {
        status_fail(failure, STATUS_DATA,
                    STATUS_NAME ": its NumPy array has rows of %llu, but that of the first input "
                                "of %llu",
                    input->name, (unsigned long long)array.columns,
                    (unsigned long long)wanted->columns);
        return INPUT_ERROR;
    }
    if (array.rows > 1 && array.columns > 1 && array.is_column_major != wanted->is_column_major)
        return reader_fail(
            reader,
            wanted->is_column_major
                ? "its NumPy array is in C order, but the first input is read in Fortran order"
                : "its NumPy array is in Fortran order, but the first input is read in C order",
            failure);
    reader->plain.begin += array.header_bytes;
    reader->header_bytes += array.header_bytes;
    reader->has_begun = reader->has_array = true;
    reader->left = array.data_bytes;
    if (is_array && wanted->is_column_major) {
        reader->left = array.rows * element_stored_bytes(&array.element);
        reader->columns_before = reader->records->array_column * reader->left;
        reader->columns_after = array.data_bytes - reader->columns_before - reader->left;
    }
    const uint64_t size = (uint64_t)(input->size - input->start) - array.header_bytes;
    if (is_array && input->is_regular && !reader->format && size != array.data_bytes)
        return size < array.data_bytes
                   ? reader_fail_length(reader, array.data_bytes - size, true, failure)
                   : reader_fail_length(reader, size - array.data_bytes, false, failure);
    return INPUT_DATA;
}

enum input_event reader_begin(struct reader *reader, struct input_piece *piece,
                              struct failure *failure)
{
    static const char mark[3] = "\xef\xbb\xbf"; /* byte order mark of UTF-8 */
    struct reader_ahead *plain = &reader->plain;
    enum input_event event = INPUT_DATA;

    if (!reader->has_begun && reader->records->has_arrays)
        return reader_begin_array(reader, piece, failure);
    while (!reader->has_begun) {
        const char *data = plain->data ? plain->data + plain->begin : "";
        const size_t bytes = plain->end - plain->begin;
        const struct text_rules *rules = &reader->records->text;
        const bool is_part = event == INPUT_END && reader->goes_on;
        const bool is_named = reader->skip_lines == 1 && reader->records->has_names;

        if (reader->checks_line_end) {
            const bool has_newline = memchr(data, '\n', bytes) != NULL;
            const bool is_known =
                has_newline || (event == INPUT_END && !is_part) || bytes >= READER_AHEAD_BYTES;
            if (!is_known && is_part)
                return event;
            if (is_known && !has_newline && memchr(data, '\r', bytes)) {
                reader->row_end = TEXT_ENDS_CR;
                reader_end_rows(TEXT_ENDS_CR, plain->data + plain->begin, bytes);
            }
            reader->checks_line_end = !is_known;
        }
        if (reader->checks_mark) {
            const size_t compared = bytes < sizeof mark ? bytes : sizeof mark;
            const bool may_be_mark = memcmp(data, mark, compared) == 0;
            reader->checks_mark = may_be_mark && compared < sizeof mark && event != INPUT_END;
            if (may_be_mark && compared == sizeof mark) {
                plain->begin += sizeof mark;
                reader->header_bytes += sizeof mark;
                continue;
            }
            if (may_be_mark && is_part)
                return event;
        }
        enum text_scan_state state = TEXT_SCAN_ROW;
        const size_t end = text_scan(rules, data, bytes, &state).first;
        const bool is_all = end > 0 || event == INPUT_END;
        const bool is_short = bytes < READER_NAMES_BYTES && !is_part;
        const bool is_kept = is_named || rules->is_quoted || rules->has_comments ||
                             (reader->keeps_header && is_short);
        const bool is_checked = !reader->checks_line_end && !reader->checks_mark;
        if (is_checked && reader->skip_lines > 0 && (is_all || !is_kept)) {
            const size_t line = end > 0 ? end : bytes;
            const bool is_comment = line > 0 && rules->has_comments && *data == rules->comment &&
                                    !(reader->skip_lines == 1 && record_has_columns(data, line));
            if (is_part && is_kept)
                return event;
            if (end == 0 && state == TEXT_SCAN_INSIDE)
                return reader_fail(reader, "a quote in its header is never closed", failure);
            const bool is_empty = line == 0 && reader->header_bytes == 0; /* the whole file */
            if (!is_comment && is_named && !is_empty &&
                reader_find_names(reader, data, line, failure) != STATUS_OK)
                return INPUT_ERROR;
            reader->keeps_header &= end > 0 || (is_all && !is_part); /* else the line continues */
            if (reader->keeps_header && !is_comment && reader->skip_lines == 1 &&
                !reader_keep_header(reader, data, line))
                return reader_fail(reader, strerror(errno), failure);
            plain->begin += line;
            reader->header_bytes += line;
            reader->header_lines += text_count_lines(data, line);
            reader->skip_lines -= end > 0 && !is_comment;
            if (is_part && end == 0)
                return event;
            if (end == 0 && is_all && !is_comment) /* the last line of the header is missing, or
                                                      was this one */
                reader->skip_lines = !is_named && reader->records->has_names;
            if (is_all)
                continue;
        }
        reader->has_begun = is_checked && reader->skip_lines == 0;
        if (reader->has_begun)
            break;
        if (plain->end - plain->begin >= READER_NAMES_BYTES)
            return reader_fail(reader, "its header line is longer than 1 MiB", failure);
        event = reader_read_ahead(reader, piece, failure);
        if (event == INPUT_EMPTY || event == INPUT_ERROR)
            return event;
    }
    return INPUT_DATA;
}

enum input_event reader_read(struct reader *reader, struct input_piece *piece,
                             struct failure *failure)
{
    piece->bytes = 0;
    enum input_event event = reader->has_begun ? INPUT_DATA : reader_begin(reader, piece, failure);
    if (event == INPUT_DATA && !reader_ahead_take(&reader->plain, piece))
        event = reader_read_plain(reader, piece, failure);
    if (!reader->has_array || event == INPUT_ERROR)
        return event;
    const size_t before = reader_take_bytes(&reader->columns_before, piece->bytes);
    const size_t own = reader_take_bytes(&reader->left, piece->bytes - before);
    const size_t after = reader_take_bytes(&reader->columns_after, piece->bytes - before - own);
    if (before > 0)
        memmove(piece->data, piece->data + before, own);
    reader->header_bytes += before + after;
    reader->excess += piece->bytes - before - own - after;
    piece->bytes = own;
    const uint64_t missing = reader->columns_before + reader->left + reader->columns_after;
    if (event == INPUT_END && missing + reader->excess > 0)
        return reader_fail_length(reader, missing + reader->excess, missing > 0, failure);
    return event;
}

enum input_event reader_look(struct reader *reader, bool waits, struct failure *failure)
{
    struct reader_ahead *plain = &reader->plain;
    enum input_event event = INPUT_DATA;
    size_t spaces = 0; /* at the beginning of the block */

    while (event == INPUT_DATA && plain->end - plain->begin < READER_AHEAD_BYTES) {
        const size_t bytes = plain->end - plain->begin;
        while (spaces < bytes && record_is_space(plain->data[plain->begin + spaces]))
            spaces++;
        struct input_piece piece = {.wait = waits || bytes == spaces};
        event = reader_read_ahead(reader, &piece, failure);
    }
    return event;
}

enum status reader_detect(const struct reader_options *options, const struct input *input,
                          const struct decoder_format **format, struct failure *failure)
{
    char head[DECODER_MAGIC_BYTES];
    bool undecided;

    *format = NULL;
    if (options->kinds == 0)
        return STATUS_OK;
    ssize_t n = input_read_at(input->fd, head, sizeof head, input->start);
    if (n < 0)
        return input_fail(failure, input->name, strerror(errno));
    *format = decoder_detect(head, (size_t)n, options->kinds, &undecided);
    return STATUS_OK;
}

uint64_t reader_find_line(const struct chunk_origin *origin)
{
    static const struct reader_options options = {.kinds = DECODER_COMPRESSED};
    const struct decoder_part part = {.begin = origin->start, .end = origin->offset};
    enum input_event event = INPUT_DATA;
    uint64_t line = origin->line + 1;
    struct failure ignored;
    struct input *input;
    struct reader reader;

    char *block = origin->offset > origin->start ? malloc(READER_AHEAD_BYTES) : NULL;
    if (block && input_open(&input, origin->name == input_stdin_name ? "-" : origin->name,
                            &ignored) == STATUS_OK) {
        reader_open_part(&reader, &options, input, origin->decoder, &part);
        reader.row_end = origin->row_end;
        while (event == INPUT_DATA) {
            struct input_piece piece = {.data = block, .capacity = READER_AHEAD_BYTES};
            event = reader_read(&reader, &piece, &ignored);
            line += text_count_lines(block, piece.bytes);
        }
        reader_close(&reader);
    }
    free(block);
    return line;
}
