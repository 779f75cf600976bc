/* Divides compressed files into parts, and hands them to threads. */
#include "config.h"

#include "input/parts.h"

#include "lib/clock.h"
#include "text/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Minimum length of a part in compressed bytes; a part of frames is a group of that length. */
#define PARTS_BYTES_MIN ((uint64_t)1 << 20)

/*
 * Minimum average size of blocks of a file that is divided by its index. No part extends beyond the
 * end of a stream, so parts may be small, and each takes 0.1 ms besides decoding.
 */
#define PARTS_BLOCK_BYTES ((uint64_t)64 << 10)

/*
 * Number of bytes read at a time to find the end of a row that began in the part before; and in CSV
 * at first, to guess whether the part begins between quotes.
 */
#define PARTS_JOIN_BYTES  ((size_t)4096)
#define PARTS_GUESS_BYTES ((size_t)16384)

/* Maximum length of a row's end that is kept for that row's worker, which then need not decode it.
 */
#define PARTS_SKIPPED_BYTES PARTS_GUESS_BYTES

/*
 * Number of stream positions per compressed byte of a file, as a power of two. No format decodes a
 * byte to more (bzip2: 1.2 million zeros from a byte), so parts and files do not overlap.
 */
#define PARTS_EXPANSION_BITS 22
#define PARTS_POSITION_MAX   ((uint64_t)1 << 62)

/* Time after which a thread may switch to another part, whose window then moves to its cache. */
#define PARTS_SLICE_SECONDS 0.04

/* All states, as bits. */
#define PARTS_ANY_STATE ((1u << TEXT_SCAN_STATES) - 1)

/*
 * Knowledge of a part of CSV: the states before it that agree with the assumed start of its first
 * row, as bits; and the state after it for each state before it.
 */
struct parts_link {
    bool is_begun; /* `agrees` is known */
    bool is_read;  /* `ends` is known */
    unsigned agrees;
    enum text_scan_state ends[TEXT_SCAN_STATES];
};

/* Knowledge of a part of text that was taken. */
struct parts_overlap {
    struct parts_link link;
    char *skipped; /* the end of a row that began before the part, for the row's worker; owned;
                      NULL: not read yet, too long, or taken */
    size_t skipped_bytes;
};

/* A file. Its name, format, begin and position do not change. */
struct parts_file {
    struct parts_file *next;
    struct input *input;
    const char *name;
    const struct decoder_format *format;
    off_t begin;
    uint64_t position; /* the position of the file's start in the stream */

    /* The parts' lock guards this and the next ten members. No other part is taken until the worker
     * of the first part has read a header with names of fields, and knows the ends of rows. */
    bool has_rules;
    struct text_rules rules;
    enum text_row_end row_end;
    size_t taken;                   /* number of parts that were taken */
    uint64_t next_begin;            /* the start of the next part */
    uint64_t last_bytes;            /* the length of the last part that was taken */
    bool is_taken;                  /* all parts were taken */
    struct parts_overlap *overlaps; /* text: [taken], owned */
    size_t overlaps_capacity;
    size_t known; /* CSV: the part at whose start the state is known, which is `state` */
    enum text_scan_state state;

    pthread_mutex_t lock;       /* guards the members below; taken without other locks */
    struct decoder_part *found; /* [found_count], owned: the parts found so far, in order */
    size_t found_count;
    size_t found_capacity;
    struct decoder_index *index; /* finds the starts of parts; owned; NULL: parts are frames */
    bool is_whole;               /* the rest cannot be divided */
    unsigned char *looked;       /* [DECODER_LOOK_BYTES], for parts_look; owned; NULL: unused */
};

/* A part that was taken. The thread that has marked it busy reads it. */
struct parts_part {
    struct parts_part *next; /* the lock guards this and the next four members */
    bool is_busy;
    bool is_owned;   /* `owner` continues with it */
    pthread_t owner; /* the last thread that read it */
    double slice;    /* the time since which `owner` has read it */
    struct parts_file *file;
    size_t index;
    struct decoder_part found;
    bool is_open;
    bool is_guessed; /* CSV: it is known, or was guessed, whether it begins between quotes */
    size_t joined;   /* number of parts after it, begun so far, that its last row extends to */
    struct reader reader;
    struct stream stream; /* skips the end of a row that began before the part */
    char *skipped;        /* [PARTS_SKIPPED_BYTES], bytes skipped so far; NULL: not kept */
    size_t skipped_bytes;
    struct parts_link link; /* its `ends` are the states so far */
    uint64_t own;           /* number of bytes decoded of the part itself, once joined > 0 */
};

struct parts {
    const struct record_format *format;
    const struct reader_options *options;
    struct reader_options join_options; /* for reading beyond the end of a part */

    struct relay *relay;

    pthread_mutex_t lock;     /* guards the members below; taken before the relay's lock */
    struct parts_file *files; /* the files in stream order; owned */
    struct parts_file **last;
    struct parts_part *taken;
    bool needs_order; /* see parts_needs_order */
    uint64_t begin;   /* the position of the first file; later positions have gaps */
    uint64_t stop;    /* input at and after this position is not needed */
    uint64_t bytes;   /* number of bytes of the parts read to their ends */
};

struct parts *parts_create(const struct record_format *format, const struct reader_options *options,
                           struct relay *relay)
{
    struct parts *parts = calloc(1, sizeof *parts);

    if (!parts)
        return NULL;
    parts->format = format;
    parts->options = options;
    parts->relay = relay;
    parts->join_options = *options;
    parts->join_options.bytes_read = NULL; /* they are read again */
    parts->join_options.kinds &= DECODER_COMPRESSED;
    parts->begin = parts->stop = UINT64_MAX;
    parts->last = &parts->files;
    pthread_mutex_init(&parts->lock, NULL);
    return parts;
}

static void parts_free_part(struct parts_part *part)
{
    if (part->is_open)
        reader_close(&part->reader);
    free(part->stream.carry);
    free(part->skipped);
    free(part);
}

static void parts_close_file(struct parts_file *file)
{
    input_release(file->input);
    decoder_index_close(file->index);
    for (size_t i = 0; i < file->found_count; i++)
        free(file->found[i].wrap);
    free(file->found);
    free(file->looked);
    for (size_t i = 0; file->overlaps && i < file->taken; i++)
        free(file->overlaps[i].skipped);
    free(file->overlaps);
    pthread_mutex_destroy(&file->lock);
    free(file);
}

void parts_destroy(struct parts *parts)
{
    while (parts->taken) {
        struct parts_part *part = parts->taken;
        parts->taken = part->next;
        parts_free_part(part);
    }
    while (parts->files) {
        struct parts_file *file = parts->files;
        parts->files = file->next;
        parts_close_file(file);
    }
    pthread_mutex_destroy(&parts->lock);
    free(parts);
}

uint64_t parts_add(struct parts *parts, struct input *input, const struct decoder_format *format,
                   uint64_t position)
{
    uint64_t bytes = input->size > input->start ? (uint64_t)(input->size - input->start) : 0;
    uint64_t left = PARTS_POSITION_MAX - (position < PARTS_POSITION_MAX ? position : 0);
    struct parts_file *file = NULL;

    if (bytes > 0 && bytes < left >> PARTS_EXPANSION_BITS)
        file = calloc(1, sizeof *file);
    if (!file)
        return 0;
    file->input = input;
    file->name = input->name;
    file->format = format;
    file->rules = parts->format->text;
    file->row_end = parts->options->row_end;
    file->has_rules = !parts->format->has_names &&
                      (file->row_end != TEXT_ENDS_LF || !record_may_end_with_cr(parts->format));
    file->begin = input->start;
    file->next_begin = (uint64_t)input->start;
    file->last_bytes = bytes;
    file->position = position;
    pthread_mutex_init(&file->lock, NULL);
    pthread_mutex_lock(&parts->lock);
    parts->begin = position < parts->begin ? position : parts->begin;
    *parts->last = file;
    parts->last = &file->next;
    pthread_mutex_unlock(&parts->lock);
    return bytes << PARTS_EXPANSION_BITS;
}

/* --- finding the parts of a file ------------------------------------------------------------- */

/* The `look` of a struct decoder_view. The file's lock is held. */
static const unsigned char *parts_look(void *context, uint64_t offset, size_t bytes)
{
    struct parts_file *file = context;

    if (!file->looked)
        file->looked = malloc(DECODER_LOOK_BYTES);
    if (!file->looked ||
        input_read_at(file->input->fd, file->looked, bytes, (off_t)offset) != (ssize_t)bytes)
        return NULL;
    return file->looked;
}

enum parts_found { PARTS_FOUND, PARTS_NO_MORE, PARTS_NO_MEMORY };

/* Finds part number `index` of a file, after those before it. Thread-safe; takes the file's lock.
 */
static enum parts_found parts_find(const struct parts *parts, struct parts_file *file, size_t index,
                                   struct decoder_part *found)
{
    const struct decoder_view view = {
        .bytes = (uint64_t)file->input->size,
        .look = parts_look,
        .context = file,
    };
    enum parts_found result = PARTS_FOUND;

    pthread_mutex_lock(&file->lock);
    while (result == PARTS_FOUND && index >= file->found_count) {
        const struct decoder_part *before =
            file->found_count > 0 ? &file->found[file->found_count - 1] : NULL;
        const uint64_t begin = before ? before->end : (uint64_t)file->begin;
        if (before && before->is_last) {
            result = PARTS_NO_MORE;
            break;
        }
        if (file->found_count == file->found_capacity) {
            const size_t capacity = 2 * file->found_capacity + 1;
            struct decoder_part *grown = realloc(file->found, capacity * sizeof *grown);
            if (!grown) {
                result = PARTS_NO_MEMORY;
                break;
            }
            file->found = grown;
            file->found_capacity = capacity;
        }
        struct decoder_part *part = &file->found[file->found_count];
        if (file->found_count == 0 && !file->index) /* else memory was short after opening it */
            file->index = decoder_index_open(file->format, &view, begin, PARTS_BLOCK_BYTES,
                                             parts->format->is_text);
        if (file->index) {
            if (!decoder_index_next(file->index, PARTS_BYTES_MIN, part)) {
                result = PARTS_NO_MEMORY;
                break;
            }
        } else { /* a group of frames, or the rest of the file */
            uint64_t end = begin;
            while (!file->is_whole && end < view.bytes && end - begin < PARTS_BYTES_MIN) {
                const uint64_t bytes = decoder_frame_bytes(file->format, &view, end);
                file->is_whole = bytes == 0 || bytes == UINT64_MAX;
                end += file->is_whole ? 0 : bytes;
            }
            end = end > begin ? end : view.bytes;
            *part = (struct decoder_part){.begin = begin, .end = end, .is_last = end == view.bytes};
        }
        file->found_count++;
        atomic_fetch_add(parts->options->bytes_read, /* bytes that no reader reads */
                         part->begin - begin + (part->is_last ? view.bytes - part->end : 0));
    }
    if (result == PARTS_FOUND)
        *found = file->found[index];
    pthread_mutex_unlock(&file->lock);
    return result;
}

/* --- reading a part; without a lock, by the thread that has marked it busy ------------------- */

/* Continues reading in the next part, as far as the last row extends. */
static enum status parts_join_next(struct parts *parts, struct parts_part *part, bool *has_ended,
                                   struct failure *failure)
{
    struct parts_file *file = part->file;
    const size_t next = part->index + ++part->joined;
    const enum text_row_end row_end = part->reader.row_end;
    struct decoder_part found;

    if (part->joined == 1)
        part->own = part->stream.taken;
    switch (parts_find(parts, file, next, &found)) {
    case PARTS_NO_MORE:
        *has_ended = true;
        return STATUS_OK;
    case PARTS_NO_MEMORY:
        return input_fail(failure, file->name, "no memory to decompress it");
    case PARTS_FOUND:
        break;
    }
    reader_close(&part->reader);
    input_hold(file->input);
    reader_open_part(&part->reader, &parts->join_options, file->input, file->format, &found);
    part->reader.row_end = row_end;
    pthread_mutex_lock(&parts->lock);
    if (next < file->taken && file->overlaps[next].skipped) { /* the row ends with these bytes */
        const size_t bytes = file->overlaps[next].skipped_bytes;
        part->reader.plain = (struct reader_ahead){file->overlaps[next].skipped, 0, bytes, bytes};
        file->overlaps[next].skipped = NULL;
    }
    pthread_mutex_unlock(&parts->lock);
    return STATUS_OK;
}

/*
 * Guesses from the quotes in its first bytes whether a part of CSV begins between quotes, unless it
 * is known; and notes which states before it lead to the same end of a row. Must be called before
 * the stream skips the end of a row in data[0..bytes).
 */
static void parts_note_begin(struct parts_part *part, const char *data, size_t bytes)
{
    const struct text_rules *rules = &part->stream.format->text;
    struct parts_link *link = &part->link;
    struct stream *stream = &part->stream;

    if (!part->is_guessed) {
        const size_t inside = text_scan_count_odd(rules, data, bytes, TEXT_SCAN_INSIDE);
        const size_t outside = text_scan_count_odd(rules, data, bytes, TEXT_SCAN_FIELD);
        stream->skip_state = inside < outside ? TEXT_SCAN_INSIDE : TEXT_SCAN_FIELD;
        part->is_guessed = true;
    }
    const size_t end = record_find_end(stream->format, data, bytes, stream->skip_state);
    for (unsigned i = 0; i < TEXT_SCAN_STATES; i++) {
        const size_t first = text_scan(rules, data, end > 0 ? end : bytes, &link->ends[i]).first;
        if (first != end)
            link->agrees &= ~(1u << i);
    }
    link->is_begun = end > 0;
}

/*
 * Takes bytes that were read to the buffer: skips those that belong to the part before, and takes
 * bytes of later parts only to the end of the last row.
 */
static enum status parts_take(struct parts *parts, struct parts_part *part,
                              struct stream_chunk *chunk, size_t bytes, bool *has_ended,
                              struct failure *failure)
{
    struct stream *stream = &part->stream;
    char *data = chunk->buffer->data + chunk->filled;

    if (stream->is_skipping) {
        const size_t all = bytes;
        if (stream->format->text.is_quoted)
            parts_note_begin(part, data, bytes);
        if (part->skipped && bytes <= PARTS_SKIPPED_BYTES - part->skipped_bytes) {
            memcpy(part->skipped + part->skipped_bytes, data, bytes);
        } else {
            free(part->skipped);
            part->skipped = NULL;
        }
        stream_skip(stream, data, &bytes);
        part->skipped_bytes += all - bytes;
        if (part->skipped && !stream->is_skipping) {
            char *fitted = realloc(part->skipped, part->skipped_bytes);
            pthread_mutex_lock(&parts->lock);
            struct parts_overlap *overlap = &part->file->overlaps[part->index];
            overlap->skipped = fitted ? fitted : part->skipped;
            overlap->skipped_bytes = part->skipped_bytes;
            pthread_mutex_unlock(&parts->lock);
            part->skipped = NULL;
        }
    }
    if (part->joined > 0) {
        const size_t end = record_find_end(stream->format, data, bytes, chunk->state);
        *has_ended = end > 0;
        bytes = *has_ended ? end : bytes;
    }
    return bytes > 0 ? stream_take(stream, chunk, bytes, failure) : STATUS_OK;
}

/* The result of reading a part during one call. */
struct parts_turn {
    struct stream_chunk chunk;
    enum status status;
    bool is_corrupt; /* the compressed data have a fault, which is in the failure */
    bool is_cut;     /* an element or the header extends beyond the end of the part; or in CSV, the
                        guess about a part's start was wrong */
    bool has_ended;
};

/* Fills the buffer from a part. */
static void parts_fill(struct parts *parts, struct parts_part *part, struct parts_turn *turn,
                       struct failure *failure)
{
    struct stream_chunk *chunk = &turn->chunk;
    struct stream *stream = &part->stream;

    while (turn->status == STATUS_OK && !turn->has_ended && chunk->filled < chunk->limit) {
        struct input_piece piece = {
            .data = chunk->buffer->data + chunk->filled,
            .capacity = chunk->limit - chunk->filled,
            .wait = true,
        };
        if (stream->carry_bytes > 0) {
            turn->status = stream_take_carry(stream, chunk, failure);
            continue;
        }
        const size_t most = stream->format->text.is_quoted && !part->is_guessed ? PARTS_GUESS_BYTES
                                                                                : PARTS_JOIN_BYTES;
        if ((stream->is_skipping || part->joined > 0) && piece.capacity > most)
            piece.capacity = most;
        enum input_event event = reader_read(&part->reader, &piece, failure);
        stream_count_header(stream, &part->reader);
        if (event == INPUT_ERROR) {
            turn->is_corrupt = true;
            turn->status = failure->status;
        } else if (piece.bytes > 0) {
            turn->status = parts_take(parts, part, chunk, piece.bytes, &turn->has_ended, failure);
        } else if (event == INPUT_END && !parts->format->is_text) {
            turn->has_ended = true;
            turn->is_cut = chunk->whole < chunk->filled;
        } else if (event == INPUT_END && part->found.is_last) {
            turn->has_ended = true;
        } else if (event == INPUT_END && !part->reader.has_begun) {
            turn->is_cut = turn->has_ended = true;
        } else if (event == INPUT_END && stream->is_skipping) {
            turn->has_ended = true; /* all of it belongs to a part before */
        } else if (event == INPUT_END) {
            for (unsigned i = 0; part->joined == 0 && i < TEXT_SCAN_STATES; i++)
                part->link.ends[i] = chunk->state;
            turn->status = parts_join_next(parts, part, &turn->has_ended, failure);
        }
    }
    if (turn->status == STATUS_OK && turn->has_ended && parts->format->is_text)
        turn->status =
            stream_end_file(stream, chunk, failure); /* it may be only the end of a row */
    part->link.is_read = turn->has_ended || part->joined > 0;
    part->link.is_begun |= part->link.is_read;
}

/* --- taking parts; the lock is held ---------------------------------------------------------- */

/* Returns how many compressed bytes are left of a part that is not busy. */
static uint64_t parts_left(const struct parts_part *part)
{
    return part->joined > 0 ? 0 : (uint64_t)(part->reader.limit - part->reader.next);
}

/* Like parts_left, but estimates the next part of a file, which is unknown before it is taken: the
 * rest of the file, or the length of the last part. */
static uint64_t parts_left_of_file(const struct parts_file *file)
{
    const uint64_t left = (uint64_t)file->input->size - file->next_begin;

    return left < file->last_bytes ? left : file->last_bytes;
}

/* Returns whether a thread may continue with a part. */
static bool parts_is_free(const struct parts *parts, const struct parts_part *part)
{
    return !part->is_busy && part->stream.position < parts->stop;
}

/* Returns whether a thread may continue with a part, or does. Other parts are not needed. */
static bool parts_is_left(const struct parts *parts, const struct parts_part *part)
{
    return part->is_busy || part->stream.position < parts->stop;
}

/* Returns the part that this thread continues with, or NULL. */
static struct parts_part *parts_find_own(const struct parts *parts)
{
    struct parts_part *part = parts->taken;

    while (part && (!parts_is_free(parts, part) || !part->is_owned ||
                    !pthread_equal(part->owner, pthread_self())))
        part = part->next;
    return part;
}

/* Returns the free part with most left, among those with or without an owner; or NULL. */
static struct parts_part *parts_find_free(const struct parts *parts, bool is_owned)
{
    struct parts_part *found = NULL;

    for (struct parts_part *part = parts->taken; part; part = part->next) {
        if (parts_is_free(parts, part) && part->is_owned == is_owned &&
            (!found || parts_left(part) > parts_left(found)))
            found = part;
    }
    return found;
}

/* Returns whether a part of the file can be taken. */
static bool parts_may_take(const struct parts *parts, const struct parts_file *file)
{
    return !file->is_taken && (file->taken == 0 || file->has_rules) && file->position < parts->stop;
}

/* Returns the file with most left that has a part to take, or NULL. */
static struct parts_file *parts_next_file(const struct parts *parts)
{
    struct parts_file *found = NULL;

    for (struct parts_file *file = parts->files; file; file = file->next) {
        if (parts_may_take(parts, file) &&
            (!found || parts_left_of_file(file) > parts_left_of_file(found)))
            found = file;
    }
    return found;
}

/* Returns the counts of parts_count. */
static struct parts_counts parts_count_held(const struct parts *parts)
{
    struct parts_counts counts = {.taken = 0};

    for (const struct parts_part *part = parts->taken; part; part = part->next)
        counts.taken += parts_is_left(parts, part);
    counts.left = counts.taken;
    for (const struct parts_file *file = parts->files; file; file = file->next)
        counts.left += parts_may_take(parts, file);
    return counts;
}

/*
 * Removes a part that was read to its end, or whose rest is not needed; with the last part of a
 * file, also the file.
 */
static void parts_drop(struct parts *parts, struct parts_part *part)
{
    struct parts_file *file = part->file;
    struct parts_part **link = &parts->taken;
    struct parts_file **above = &parts->files;

    parts->bytes += part->joined > 0 ? part->own : part->stream.taken;
    while (*link != part)
        link = &(*link)->next;
    *link = part->next;
    parts_free_part(part);
    const struct parts_part *other = parts->taken;
    while (other && other->file != file)
        other = other->next;
    if (other || !file->is_taken)
        return;
    while (*above != file)
        above = &(*above)->next;
    *above = file->next;
    parts->last = file->next ? parts->last : above;
    parts_close_file(file);
}

/* Adds an empty overlap for a further part of text. Returns whether there is memory. */
static bool parts_add_overlap(struct parts_file *file)
{
    if (file->taken == file->overlaps_capacity) {
        const size_t capacity = 2 * file->overlaps_capacity + 1;
        struct parts_overlap *grown = realloc(file->overlaps, capacity * sizeof *grown);
        if (!grown)
            return false;
        file->overlaps = grown;
        file->overlaps_capacity = capacity;
    }
    file->overlaps[file->taken] = (struct parts_overlap){.link = {.is_begun = false}};
    return true;
}

/*
 * Passes the state in CSV from part to part, as far as they are read. Returns false if the assumed
 * start of a row was wrong.
 */
static bool parts_follow_links(struct parts_file *file)
{
    for (; file->known < file->taken; file->known++) {
        const struct parts_link *link = &file->overlaps[file->known].link;
        if (link->is_begun && !(link->agrees >> file->state & 1))
            return false;
        if (!link->is_read)
            break;
        file->state = link->ends[file->state];
    }
    return true;
}

/*
 * Takes the next part of the next file, and marks it busy. *taken is NULL if no part is left or
 * needed. Fails with STATUS_DATA if there is no memory; then nothing more is read. Releases the
 * lock while it searches for the part.
 */
static enum status parts_take_next(struct parts *parts, struct parts_part **taken,
                                   struct failure *failure)
{
    struct parts_file *file;

    *taken = NULL;
    while ((file = parts_next_file(parts)) != NULL) {
        struct parts_part *part = calloc(1, sizeof *part);
        const bool has_overlap = !parts->format->is_text || parts_add_overlap(file);
        enum parts_found result = part && has_overlap ? PARTS_FOUND : PARTS_NO_MEMORY;
        if (part) {
            part->is_busy = true;
            part->file = file;
            part->index = file->taken++;
            part->next = parts->taken;
            parts->taken = part;
            pthread_mutex_unlock(&parts->lock);
            if (has_overlap)
                result = parts_find(parts, file, part->index, &part->found);
            pthread_mutex_lock(&parts->lock);
        }
        file->is_taken |= result != PARTS_FOUND || part->found.is_last;
        if (result == PARTS_FOUND) {
            file->next_begin = part->found.end;
            file->last_bytes = part->found.end - part->found.begin;
        }
        if (result == PARTS_NO_MEMORY) {
            const char *name = file->name;
            parts->stop = 0;
            if (part)
                parts_drop(parts, part);
            relay_notify(parts->relay, true);
            return input_fail(failure, name, "no memory to decompress it");
        }
        const uint64_t offset = part->found.begin - (uint64_t)file->begin;
        const uint64_t position = file->position + (offset << PARTS_EXPANSION_BITS);
        if (result == PARTS_NO_MORE || position >= parts->stop) {
            file->is_taken = true;
            parts_drop(parts, part);
            relay_notify(parts->relay, true);
            continue;
        }
        part->stream = (struct stream){
            .format = parts->format,
            .rules = file->rules,
            .origin =
                {
                    .name = file->name,
                    .start = (uint64_t)file->begin,
                    /* the part before may end in the first byte */
                    .offset = part->index == 0 ? (uint64_t)file->begin
                                               : part->found.begin + (part->found.shift > 0),
                    .decoder = file->format,
                },
            .position = position,
            .is_skipping = part->index > 0 && parts->format->is_text,
        };
        part->skipped = part->stream.is_skipping ? malloc(PARTS_SKIPPED_BYTES) : NULL;
        part->link = (struct parts_link){
            .is_begun = !part->stream.is_skipping,
            .agrees = part->index > 0 ? PARTS_ANY_STATE : 1u << TEXT_SCAN_ROW,
        };
        for (unsigned i = 0; i < TEXT_SCAN_STATES; i++)
            part->link.ends[i] = i;
        input_hold(file->input);
        reader_open_part(&part->reader, parts->options, file->input, file->format, &part->found);
        part->reader.row_end = file->row_end;
        if (part->index == 0)
            reader_set_records(&part->reader, parts->format, &part->stream.rules);
        else
            part->reader.checks_content = false;
        part->is_open = true;
        *taken = part;
        return STATUS_OK;
    }
    return STATUS_OK;
}

/*
 * Reads a chunk of a part, and drops the part if it was read to its end. The lock is held, except
 * while reading.
 */
static enum parts_event parts_read(struct parts *parts, struct parts_part *part,
                                   struct chunk_buffer *buffer, struct chunk *out,
                                   struct failure *failure)
{
    struct stream *stream = &part->stream;
    struct parts_turn turn = {.chunk = stream_begin(stream, buffer), .status = STATUS_OK};

    part->is_busy = true;
    if (!part->is_owned || !pthread_equal(part->owner, pthread_self()))
        part->slice = clock_seconds();
    part->is_owned = true;
    part->owner = pthread_self();
    if (!part->is_guessed && part->file->known == part->index) {
        stream->skip_state = part->file->state;
        part->is_guessed = true;
    }
    pthread_mutex_unlock(&parts->lock);
    parts_fill(parts, part, &turn, failure);
    if (turn.status != STATUS_OK)
        failure->position = stream->position + turn.chunk.filled;
    else
        turn.status = stream_keep(stream, &turn.chunk, failure);
    pthread_mutex_lock(&parts->lock);

    if (!part->file->has_rules && part->reader.has_begun) {
        part->file->rules = stream->rules;
        part->file->row_end = part->reader.row_end;
        part->file->has_rules = true;
        relay_notify(parts->relay, true);
    }
    if (parts->format->text.is_quoted) {
        part->file->overlaps[part->index].link = part->link;
        turn.is_cut |= !parts_follow_links(part->file);
    }
    /* Also where a magic within a block made two of it (bzip2). */
    const bool is_divided = part->index > 0 || !part->found.is_last || part->found.wrap;
    if (turn.is_cut || (turn.is_corrupt && is_divided)) { /* only order finds the fault's place */
        parts->needs_order = true;
        parts->stop = 0;
        turn.status =
            status_fail_at(failure, 0, STATUS_DATA, "compressed files have to be read in order");
    }
    stream_end(stream, &turn.chunk, false, turn.status != STATUS_OK, out);
    out->left_out = stream->left_out;
    stream->left_out = 0;
    part->is_busy = false;
    if (turn.status != STATUS_OK && failure->position < parts->stop)
        parts->stop = failure->position;
    if (turn.has_ended || turn.status != STATUS_OK) {
        parts_drop(parts, part);
        relay_notify(parts->relay, true);
    }
    return turn.status == STATUS_OK ? PARTS_CHUNK : PARTS_FAULT;
}

struct parts_counts parts_count(struct parts *parts)
{
    pthread_mutex_lock(&parts->lock);
    const struct parts_counts counts = parts_count_held(parts);
    pthread_mutex_unlock(&parts->lock);
    return counts;
}

bool parts_has_own(struct parts *parts)
{
    pthread_mutex_lock(&parts->lock);
    const bool has_own = parts_find_own(parts) != NULL;
    pthread_mutex_unlock(&parts->lock);
    return has_own;
}

/*
 * Finds the part that this thread continues with: its own, unless that had its slice; else one
 * without an owner, or the next of a file, whichever has more left; else one whose owner is
 * counting. *found is NULL if there is none. Fails like parts_take_next.
 */
static enum status parts_choose(struct parts *parts, struct parts_part **found,
                                struct failure *failure)
{
    struct parts_part *own = parts_find_own(parts);
    struct parts_part *other = parts_find_free(parts, false);
    const struct parts_file *file = parts_next_file(parts);
    const uint64_t left_of_other = other ? parts_left(other) : 0;
    const uint64_t left_of_file = file ? parts_left_of_file(file) : 0;
    enum status status = STATUS_OK;

    if (own && (other || file)) {
        const unsigned threads = relay_threads(parts->relay).joined;
        const bool is_end = threads > 1 && parts_count_held(parts).left <= 2 * (size_t)threads;
        const uint64_t left = left_of_other > left_of_file ? left_of_other : left_of_file;
        if (is_end && left > parts_left(own) &&
            clock_seconds() - own->slice > PARTS_SLICE_SECONDS) {
            own->is_owned = false;
            own = NULL;
        }
    }
    *found = own;
    if (!own && file && (!other || left_of_file > left_of_other)) {
        status = parts_take_next(parts, found, failure);
        if (parts_next_file(parts))
            relay_let_join(parts->relay, 1);
    }
    if (!*found)
        *found = parts_find_free(parts, false);
    if (!*found)
        *found = parts_find_free(parts, true);
    return status;
}

enum parts_event parts_pull(struct parts *parts, struct chunk_buffer *buffer, struct chunk *chunk,
                            struct failure *failure)
{
    enum parts_event event = PARTS_NONE;

    pthread_mutex_lock(&parts->lock);
    for (;;) {
        struct parts_part *part;
        *chunk = (struct chunk){.is_cut = true};
        if (parts_choose(parts, &part, failure) != STATUS_OK) {
            event = PARTS_FAULT;
            break;
        }
        if (!part) {
            *chunk = (struct chunk){.bytes = 0};
            event = parts_count_held(parts).taken > 0 ? PARTS_NONE : PARTS_ENDED;
            break;
        }
        event = parts_read(parts, part, buffer, chunk, failure);
        const size_t left = parts_count_held(parts).left;
        if (event == PARTS_FAULT)
            break;
        if (chunk->bytes > 0 && (left == 0 || !relay_hand(parts->relay, buffer, chunk, left))) {
            relay_notify(parts->relay, false); /* the part is free now */
            break;
        }
    }
    pthread_mutex_unlock(&parts->lock);
    return event;
}

void parts_stop(struct parts *parts, uint64_t position)
{
    pthread_mutex_lock(&parts->lock);
    if (position < parts->stop) { /* else it is a fault of a part */
        parts->needs_order |= !parts->format->is_text && position > parts->begin;
        parts->stop = position;
    }
    relay_notify(parts->relay, true);
    pthread_mutex_unlock(&parts->lock);
}

bool parts_needs_order(struct parts *parts)
{
    pthread_mutex_lock(&parts->lock);
    bool needs_order = parts->needs_order;
    pthread_mutex_unlock(&parts->lock);
    return needs_order;
}

uint64_t parts_bytes(const struct parts *parts)
{
    return parts->bytes;
}
