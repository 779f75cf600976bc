/* Divides compressed files into parts, hands them to threads, and joins lines that parts cut. */
#include "config.h"

#include "input/division.h"

#include "input/stream.h"
#include "text/text.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The minimum length of a part, in compressed bytes; a part of frames is a group of that length. */
#define DIVISION_PART_BYTES ((uint64_t)1 << 20)

/*
 * A file whose blocks are smaller than this on average is not divided by its index. No part extends
 * over the end of a stream, so parts may be small, and each takes 0.1 ms besides decoding.
 */
#define DIVISION_BLOCK_BYTES ((uint64_t)64 << 10)

/* Bytes that are decoded at a time to find the end of the line in which a part begins. */
#define DIVISION_BEGIN_BYTES ((size_t)64 << 10)

/*
 * The positions that a file takes for each compressed byte, as a power of two. No format decodes a
 * byte to more (bzip2: 1.2 million zeros from a byte), so parts and files do not overlap.
 */
#define DIVISION_EXPANSION_BITS 22
#define DIVISION_POSITION_MAX   ((uint64_t)1 << 62)

/* A line that a part boundary cuts: its two pieces, each NULL until its part has been read. */
struct division_line {
    struct division_line *next;
    size_t part; /* the index of the part in which it ends */
    char *pieces[2];
    size_t bytes[2];
    struct chunk chunk; /* its position in the stream and in the file */
};

/* A file. The lock guards all members that change. */
struct division_file {
    struct division_file *next;
    struct input *input; /* NULL once all of it is taken */
    const char *name;
    const struct decoder_format *format;
    struct text_rules rules;
    off_t begin;
    off_t taken;                 /* what precedes this offset has been taken */
    uint64_t position;           /* of the beginning of the file in the stream */
    size_t parts;                /* taken so far */
    bool is_whole;               /* the rest cannot be divided */
    struct decoder_index *index; /* shows where parts begin; NULL: the frames themselves show it */
    struct division_line *lines; /* with one piece known */
};

/* A part that was taken. The thread that has marked it busy reads it. */
struct division_part {
    struct division_part *next; /* this and the next two are guarded by the lock */
    bool is_busy;
    pthread_t puller; /* the last thread that read it */
    struct division_file *file;
    size_t index;
    bool is_last;
    bool is_begun; /* has been read beyond the line in which it begins */
    struct reader reader;
    struct stream stream;
};

struct division {
    const struct record_format *format;
    const struct reader_options *options;

    pthread_mutex_t lock;        /* guards what follows */
    pthread_cond_t freed;        /* a part became free or was read, a line was joined, or the end */
    struct division_file *files; /* in the order of the stream */
    struct division_file **last;
    struct division_file *next; /* all parts of the files before this one are taken */
    struct division_part *parts;
    struct division_line *joined; /* complete lines */
    bool needs_order;             /* see division_needs_order */
    uint64_t stop;                /* nothing after this position is needed */
    unsigned char *looked;        /* [DECODER_LOOK_BYTES], for division_look; NULL: never used */
};

struct division *division_create(const struct record_format *format,
                                 const struct reader_options *options)
{
    struct division *made = calloc(1, sizeof *made);

    if (!made)
        return NULL;
    made->format = format;
    made->options = options;
    made->stop = UINT64_MAX;
    made->last = &made->files;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->freed, NULL);
    return made;
}

static void division_free_lines(struct division_line *line)
{
    while (line) {
        struct division_line *next = line->next;
        free(line->pieces[0]);
        free(line->pieces[1]);
        free(line);
        line = next;
    }
}

static void division_free_part(struct division_part *part)
{
    reader_close(&part->reader);
    stream_close(&part->stream);
    free(part);
}

void division_destroy(struct division *division)
{
    if (!division)
        return;
    while (division->parts) {
        struct division_part *part = division->parts;
        division->parts = part->next;
        division_free_part(part);
    }
    while (division->files) {
        struct division_file *file = division->files;
        division->files = file->next;
        if (file->input)
            input_release(file->input);
        decoder_index_close(file->index);
        division_free_lines(file->lines);
        free(file);
    }
    division_free_lines(division->joined);
    free(division->looked);
    pthread_cond_destroy(&division->freed);
    pthread_mutex_destroy(&division->lock);
    free(division);
}

uint64_t division_add(struct division *division, struct input *input,
                      const struct decoder_format *format, const struct text_rules *rules,
                      uint64_t position)
{
    const off_t begin = input->start;
    uint64_t bytes = input->size > begin ? (uint64_t)(input->size - begin) : 0;
    uint64_t room = DIVISION_POSITION_MAX - (position < DIVISION_POSITION_MAX ? position : 0);
    struct division_file *file = NULL;

    if (bytes > 0 && bytes < room >> DIVISION_EXPANSION_BITS)
        file = calloc(1, sizeof *file);
    if (!file)
        return 0;
    *file = (struct division_file){
        .input = input,
        .name = input->name,
        .format = format,
        .rules = *rules,
        .begin = begin,
        .taken = begin,
        .position = position,
    };
    pthread_mutex_lock(&division->lock);
    *division->last = file;
    division->last = &file->next;
    division->next = division->next ? division->next : file;
    pthread_mutex_unlock(&division->lock);
    return bytes << DIVISION_EXPANSION_BITS;
}

/* --- taking parts ---------------------------------------------------------------------------- */

/*
 * Returns the first file that has a part which is not taken, or NULL. The caller holds the lock, as
 * for all functions that follow.
 */
static struct division_file *division_next_file(struct division *division)
{
    while (division->next && !division->next->input)
        division->next = division->next->next;
    return division->next;
}

/* The `look` of a struct decoder_view, for the file of division_next_file. */
static const unsigned char *division_look(void *context, uint64_t offset, size_t bytes)
{
    struct division *division = context;
    const struct division_file *file = division_next_file(division);

    if (!division->looked)
        division->looked = malloc(DECODER_LOOK_BYTES);
    if (!division->looked ||
        input_read_at(file->input->fd, division->looked, bytes, (off_t)offset) != (ssize_t)bytes)
        return NULL;
    return division->looked;
}

/* Finds the next part of a file: a group of frames, or the rest of the file. */
static struct decoder_part division_find_frames(struct division_file *file,
                                                const struct decoder_view *view)
{
    uint64_t begin = (uint64_t)file->taken;
    uint64_t end = begin;

    while (!file->is_whole && end < view->bytes && end - begin < DIVISION_PART_BYTES) {
        uint64_t bytes = decoder_frame_bytes(file->format, view, end);
        file->is_whole = bytes == 0 || bytes == UINT64_MAX;
        end += file->is_whole ? 0 : bytes;
    }
    end = end > begin ? end : view->bytes;
    return (struct decoder_part){.begin = begin, .end = end, .is_last = end == view->bytes};
}

/* Finds the next part of a file; false if there is no memory. */
static bool division_find_part(struct division *division, struct division_file *file,
                               struct decoder_part *found)
{
    const struct decoder_view view = {
        .bytes = (uint64_t)file->input->size,
        .look = division_look,
        .context = division,
    };

    if (file->parts == 0)
        file->index =
            decoder_index_open(file->format, &view, (uint64_t)file->begin, DIVISION_BLOCK_BYTES);
    if (file->index)
        return decoder_index_next(file->index, DIVISION_PART_BYTES, found);
    *found = division_find_frames(file, &view);
    return true;
}

/* Returns the position in the stream of the next part of a file. */
static uint64_t division_position(const struct division_file *file)
{
    return file->position + ((uint64_t)(file->taken - file->begin) << DIVISION_EXPANSION_BITS);
}

/* Makes the next part of a file. Returns NULL if there is no memory. */
static struct division_part *division_make_part(const struct division *division,
                                                struct division_file *file, bool is_last)
{
    struct division_part *part = calloc(1, sizeof *part);

    if (!part)
        return NULL;
    *part = (struct division_part){
        .next = division->parts,
        .is_busy = true,
        .file = file,
        .index = file->parts++,
        .is_last = is_last,
        .stream =
            {
                .format = division->format,
                .name = file->name,
                .rules = file->rules,
                .start = (uint64_t)file->begin,
                .offset = (uint64_t)file->taken,
                .decoder = file->format,
                .position = division_position(file),
            },
    };
    part->is_begun = part->index == 0 || !division->format->is_text;
    return part;
}

/*
 * Takes the next part of the next file. *taken is NULL if no part is left or needed. Fails with
 * STATUS_DATA if there is no memory; then nothing more is read.
 */
static enum status division_take_part(struct division *division, struct division_part **taken,
                                      struct failure *failure)
{
    struct division_file *file = division_next_file(division);

    *taken = NULL;
    if (!file || division_position(file) > division->stop)
        return STATUS_OK;
    struct division_part *part = NULL;
    struct decoder_part found;
    if (division_find_part(division, file, &found) &&
        !(part = division_make_part(division, file, found.is_last)))
        free(found.wrap);
    if (!part) {
        division->stop = 0;
        division->next = NULL; /* the index may only be closed */
        pthread_cond_broadcast(&division->freed);
        return input_fail(failure, file->name, "no memory to decompress it");
    }
    uint64_t begin = (uint64_t)file->taken;
    file->taken = found.is_last ? file->input->size : (off_t)found.end;
    reader_count(division->options, (uint64_t)file->taken - begin - (found.end - found.begin));
    input_hold(file->input);
    reader_open_part(&part->reader, division->options, file->input, file->format, &found,
                     part->index == 0 ? division->format : NULL);
    if (part->is_last) {
        input_release(file->input);
        file->input = NULL;
    }
    division->parts = part;
    *taken = part;
    return STATUS_OK;
}

/* Whether anything of a part is still needed. */
static bool division_is_wanted(const struct division *division, const struct division_part *part)
{
    return part->stream.position <= division->stop;
}

/* Returns a part that is not busy: one that this thread read last, or with `anybody` any. */
static struct division_part *division_find_free(const struct division *division, bool anybody)
{
    struct division_part *part = division->parts;

    while (part && (part->is_busy || !division_is_wanted(division, part) ||
                    (!anybody && !pthread_equal(part->puller, pthread_self()))))
        part = part->next;
    return part;
}

/* Whether a part is left that is busy or still needed. */
static bool division_is_reading(const struct division *division)
{
    const struct division_part *part = division->parts;

    while (part && !part->is_busy && !division_is_wanted(division, part))
        part = part->next;
    return part;
}

static void division_drop(struct division *division, struct division_part *part)
{
    struct division_part **link = &division->parts;

    while (*link != part)
        link = &(*link)->next;
    *link = part->next;
    division_free_part(part);
}

/* --- lines that go over the ends of parts ---------------------------------------------------- */

/* Returns the cut line that ends in a part. Makes it if there is none; NULL: no memory. */
static struct division_line *division_find_line(struct division_file *file, size_t part)
{
    struct division_line *line = file->lines;

    while (line && line->part != part)
        line = line->next;
    if (line)
        return line;
    line = calloc(1, sizeof *line);
    if (!line)
        return NULL;
    line->part = part;
    line->next = file->lines;
    file->lines = line;
    return line;
}

/*
 * Keeps a piece of the line that ends in part `index`: 0 is its beginning, 1 its end. If both
 * pieces are known, the line is moved to division->joined. Returns false if there is no memory.
 */
static bool division_keep_piece(struct division *division, struct division_part *part, size_t index,
                                unsigned piece, const char *data, size_t bytes)
{
    struct division_file *file = part->file;
    struct division_line *line = division_find_line(file, index);
    char *copy = line ? malloc(bytes + 1) : NULL;

    if (!copy)
        return false;
    memcpy(copy, data, bytes);
    line->pieces[piece] = copy;
    line->bytes[piece] = bytes;
    if (piece == 1)
        stream_end(&part->stream, &(struct stream_chunk){.whole = 0}, 0, false, &line->chunk);
    if (!line->pieces[0] || !line->pieces[1])
        return true;
    line->chunk.position -= line->bytes[0];
    struct division_line **link = &file->lines;
    while (*link != line)
        link = &(*link)->next;
    *link = line->next;
    line->next = division->joined;
    division->joined = line;
    return true;
}

/* Takes a complete line and makes a chunk of it; false if it does not fit in the buffer. */
static bool division_give_line(struct division *division, struct division_line *line, char *buffer,
                               size_t capacity, struct chunk *chunk)
{
    size_t bytes = line->bytes[0] + line->bytes[1];

    division->joined = line->next;
    line->next = NULL;
    if (bytes <= capacity) {
        memcpy(buffer, line->pieces[0], line->bytes[0]);
        memcpy(buffer + line->bytes[0], line->pieces[1], line->bytes[1]);
        *chunk = line->chunk;
        chunk->data = buffer;
        chunk->bytes = bytes;
    }
    division_free_lines(line);
    return bytes <= capacity;
}

/* --- reading a part -------------------------------------------------------------------------- */

/* What a thread has read of a part during one call. */
struct division_turn {
    struct stream_chunk made;
    size_t begin; /* of the chunk in the buffer, after the end of a line from the part before */
    enum status status;
    bool is_corrupt; /* the compressed data have a fault, which is in the failure */
    bool has_ended;
};

/*
 * Fills the buffer from a part that the caller has marked busy. The first time, it stops soon after
 * the end of the line in which the part begins, because that line is returned before the rest.
 */
static void division_fill(struct division_part *part, struct division_turn *turn,
                          struct failure *failure)
{
    struct stream_chunk *made = &turn->made;
    struct stream *stream = &part->stream;

    while (turn->status == STATUS_OK && !turn->has_ended && made->filled < made->capacity &&
           (part->is_begun || made->whole == 0)) {
        size_t room = made->capacity - made->filled;
        size_t bytes = 0;
        bool waited;
        if (stream->partial_bytes > 0) {
            turn->status = stream_take_partial(stream, made, failure);
            continue;
        }
        if (!part->is_begun && room > DIVISION_BEGIN_BYTES)
            room = DIVISION_BEGIN_BYTES;
        enum pipe_event event = reader_read(&part->reader, made->buffer + made->filled, room, true,
                                            &waited, &bytes, failure);
        stream_count_header(stream, &part->reader);
        turn->has_ended = event == PIPE_END;
        turn->is_corrupt = event == PIPE_ERROR;
        if (turn->is_corrupt)
            turn->status = failure->status;
        else if (bytes > 0)
            turn->status = stream_take(stream, made, bytes, failure);
    }
}

/*
 * Keeps the end of the line that began before the part. What follows goes to the next chunk of the
 * part. Returns false if the line is longer than the buffer, or if there is no memory.
 */
static bool division_join_begin(struct division *division, struct division_part *part,
                                struct division_turn *turn)
{
    struct stream_chunk *made = &turn->made;
    const char *data = made->buffer;
    size_t end = 0;

    while (end < made->filled && !record_is_end(division->format, data[end]))
        end++;
    bool is_found = !made->is_split && (end < made->filled || (turn->has_ended && part->is_last));
    if (!is_found)
        return turn->is_corrupt; /* then nothing after it counts */
    end += end < made->filled;
    if (!division_keep_piece(division, part, part->index, 1, data, end))
        return false;
    part->stream.line += text_count_lines(data, end);
    part->stream.position += end;
    part->is_begun = true;
    turn->begin = end;
    made->whole = end;
    return true;
}

/*
 * At the end of a part, keeps the beginning of the line that goes on in the next part. Returns
 * false if a binary element goes on there, if the header does, or if there is no memory.
 */
static bool division_join_end(struct division *division, struct division_part *part,
                              struct division_turn *turn)
{
    struct stream_chunk *made = &turn->made;

    if (!division->format->is_text)
        return made->whole == made->filled;
    if (part->is_last) {
        made->whole = made->filled; /* the end of a file is that of a line */
        return true;
    }
    return part->reader.skip_lines == 0 &&
           division_keep_piece(division, part, part->index + 1, 0, made->buffer + made->whole,
                               made->filled - made->whole);
}

/* Fails because the files have to be read in order. */
static enum status division_fail(struct division *division, struct failure *failure)
{
    division->needs_order = true;
    division->stop = 0;
    return status_fail_at(failure, 0, STATUS_DATA, "compressed files have to be read in order");
}

/*
 * After reading: keeps pieces of lines that the ends of the part cut, makes the chunk, and drops
 * the part if it was read to the end. The lock is held.
 */
static enum division_event division_end_turn(struct division *division, struct division_part *part,
                                             struct division_turn *turn, struct chunk *chunk,
                                             struct failure *failure)
{
    struct stream *stream = &part->stream;
    uint64_t fault = stream->position + turn->made.filled;
    bool is_divided = part->index > 0 || !part->is_last;
    bool is_joined = part->is_begun || division_join_begin(division, part, turn);

    if (is_joined && turn->has_ended)
        is_joined = division_join_end(division, part, turn);
    if (turn->status != STATUS_OK)
        failure->position = fault;
    if (!is_joined || (turn->is_corrupt && is_divided)) /* where a fault is depends on the parts */
        turn->status = division_fail(division, failure);
    struct stream_chunk made = turn->made;
    made.buffer += turn->begin;
    made.filled -= turn->begin;
    made.whole -= turn->begin;
    if (turn->status == STATUS_OK)
        turn->status = stream_keep(stream, &made, failure);
    stream_end(stream, &made, made.whole, turn->status != STATUS_OK, chunk);
    chunk->left_out = stream->left_out;
    stream->left_out = 0;
    part->is_busy = false;
    if (turn->status != STATUS_OK && failure->position < division->stop)
        division->stop = failure->position;
    if (turn->has_ended || turn->status != STATUS_OK) {
        division_drop(division, part);
        pthread_cond_broadcast(&division->freed);
    } else {
        pthread_cond_signal(&division->freed);
    }
    return turn->status == STATUS_OK ? DIVISION_CHUNK : DIVISION_FAULT;
}

/* Marks a part busy and reads a chunk of it. The lock is held, except while reading. */
static enum division_event division_read(struct division *division, struct division_part *part,
                                         void *buffer, size_t capacity, struct chunk *chunk,
                                         struct failure *failure)
{
    struct division_turn turn = {
        .made = stream_begin(&part->stream, buffer, capacity),
        .status = STATUS_OK,
    };

    part->is_busy = true;
    part->puller = pthread_self();
    pthread_mutex_unlock(&division->lock);
    division_fill(part, &turn, failure);
    pthread_mutex_lock(&division->lock);
    return division_end_turn(division, part, &turn, chunk, failure);
}

/* Returns a joined line as a chunk, or DIVISION_NONE if there is none. */
static enum division_event division_pull_line(struct division *division, void *buffer,
                                              size_t capacity, struct chunk *chunk,
                                              struct failure *failure)
{
    struct division_line *line = division->joined;

    while (line) {
        bool is_wanted =
            line->chunk.position <= division->stop && line->bytes[0] + line->bytes[1] > 0;
        if (division_give_line(division, line, buffer, capacity, chunk)) {
            if (is_wanted)
                return DIVISION_CHUNK;
        } else if (is_wanted) {
            division_fail(division, failure);
            *chunk = (struct chunk){.is_cut = true};
            return DIVISION_FAULT;
        }
        line = division->joined;
    }
    return DIVISION_NONE;
}

enum division_event division_pull(struct division *division, void *buffer, size_t capacity,
                                  bool wait, struct chunk *chunk, struct failure *failure)
{
    enum division_event event;

    pthread_mutex_lock(&division->lock);
    for (;;) {
        event = division_pull_line(division, buffer, capacity, chunk, failure);
        if (event != DIVISION_NONE)
            break;
        struct division_part *part = division_find_free(division, false);
        if (!part && division_take_part(division, &part, failure) != STATUS_OK) {
            *chunk = (struct chunk){.is_cut = true};
            event = DIVISION_FAULT;
            break;
        }
        if (!part && wait)
            part = division_find_free(division, true);
        if (part) {
            event = division_read(division, part, buffer, capacity, chunk, failure);
            if (event == DIVISION_FAULT || chunk->bytes > 0)
                break;
            continue; /* it had no record of its own, but may have completed a line */
        }
        event = division_is_reading(division) ? DIVISION_NONE : DIVISION_ENDED;
        if (event == DIVISION_ENDED)
            pthread_cond_broadcast(&division->freed); /* the others that wait see the same */
        if (!wait || event == DIVISION_ENDED)
            break;
        pthread_cond_wait(&division->freed, &division->lock);
    }
    pthread_mutex_unlock(&division->lock);
    return event;
}

bool division_has_several(struct division *division)
{
    pthread_mutex_lock(&division->lock);
    const struct division_part *part = division->parts;
    const struct division_file *file = division_next_file(division);
    bool has_several = (part && part->next) || (part && file) || (file && file->next);
    pthread_mutex_unlock(&division->lock);
    return has_several;
}

void division_stop(struct division *division, uint64_t position)
{
    pthread_mutex_lock(&division->lock);
    if (position < division->stop)
        division->stop = position;
    pthread_cond_broadcast(&division->freed);
    pthread_mutex_unlock(&division->lock);
}

bool division_needs_order(struct division *division)
{
    pthread_mutex_lock(&division->lock);
    bool needs_order = division->needs_order;
    pthread_mutex_unlock(&division->lock);
    return needs_order;
}
