#include "config.h"

#include "base/digest.h"
#include "input/source_frames.h"
#include "input/source_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * A puller more is wanted if that many pulls in a row did not have to wait for the writer, and the
 * pipe was left alone for more than half as long as it was read. A writer that is given a core for
 * a while fills the pipe by chance; and where the reading itself is what takes the time, more
 * readers are no help.
 */
#define SOURCE_BEHIND 16

/* For how long a pull gathers what a slow writer gives in small pieces. */
#define SOURCE_TURN_NS 20000000

const char source_stdin_name[] = "standard input";

bool source_is_stdin(const char *name)
{
    return strcmp(name, "-") == 0;
}

const char *source_name(const char *name)
{
    return source_is_stdin(name) ? source_stdin_name : name;
}

static enum status source_fail(struct failure *failure, const char *name, const char *reason)
{
    return source_input_fail(failure, source_name(name), reason);
}

/* The bytes that a file will give, from its present offset on; unknown unless it is regular. */
static uint64_t source_file_size(const struct stat *info, off_t offset)
{
    if (!S_ISREG(info->st_mode))
        return SOURCE_SIZE_UNKNOWN;
    return info->st_size > offset ? (uint64_t)(info->st_size - offset) : 0;
}

/* Adds a file to what is known of all. */
static void source_add_origin(struct source_origin *origin, const struct stat *info, off_t offset)
{
    const uint64_t words[] = {
        (uint64_t)info->st_dev,         (uint64_t)info->st_ino,          (uint64_t)info->st_size,
        (uint64_t)info->st_mtim.tv_sec, (uint64_t)info->st_mtim.tv_nsec,
    };
    uint64_t bytes = source_file_size(info, offset);
    bool is_unknown = origin->size == SOURCE_SIZE_UNKNOWN || bytes == SOURCE_SIZE_UNKNOWN;

    origin->size = is_unknown ? SOURCE_SIZE_UNKNOWN : origin->size + bytes;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        origin->digest = digest_add(origin->digest, words[i]);
}

/* Looks at a file before anything is read, so that a bad name is told at once. */
static enum status source_check_name(const char *name, struct source_origin *origin,
                                     struct failure *failure)
{
    struct stat info;
    bool is_stdin = source_is_stdin(name);

    if ((is_stdin ? fstat(STDIN_FILENO, &info) : stat(name, &info)) != 0)
        return source_fail(failure, name, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return source_fail(failure, name, strerror(EISDIR));
    if (!is_stdin && faccessat(AT_FDCWD, name, R_OK, AT_EACCESS) != 0)
        return source_fail(failure, name, strerror(errno));

    off_t offset = is_stdin && S_ISREG(info.st_mode) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
    if (offset >= 0)
        origin->stdin_offset = offset;
    source_add_origin(origin, &info, offset >= 0 ? offset : 0);
    return STATUS_OK;
}

enum status source_open(struct source **source, char *const *names, size_t count,
                        size_t element_bytes, struct failure *failure)
{
    struct source_origin origin = {.stdin_offset = -1};

    for (size_t i = 0; i < count; i++) {
        if (source_check_name(names[i], &origin, failure) != STATUS_OK)
            return failure->status;
    }
    struct source *made = calloc(1, sizeof *made);
    if (!made || pipe(made->wake) != 0) {
        free(made);
        return status_fail(failure, STATUS_DATA, "cannot open the input: %s", strerror(errno));
    }
    fcntl(made->wake[0], F_SETFD, FD_CLOEXEC);
    fcntl(made->wake[1], F_SETFD, FD_CLOEXEC);
    made->names = names;
    made->count = count;
    made->format.element_bytes = element_bytes;
    made->size = origin.size;
    made->origin = origin;
    made->wanted = origin.size == SOURCE_SIZE_UNKNOWN ? 1 : UINT_MAX;
    pthread_mutex_init(&made->join_lock, NULL);
    pthread_cond_init(&made->joining, NULL);
    pthread_mutex_init(&made->lock, NULL);
    *source = made;
    return STATUS_OK;
}

static void source_close_current(struct source *source)
{
    source_set_frames(source, NULL);
    source_input_release(source->current);
    source->current = NULL;
}

/* Whether a file begins as a compressed one does; one that cannot be read is told of later. */
static bool source_is_compressed(const char *name)
{
    char head[DECODER_MAGIC_BYTES];
    struct stat info;
    bool undecided;
    bool is_stdin = source_is_stdin(name);
    int fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = -1;

    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
        n = source_file_read_at(fd, head, sizeof head, lseek(fd, 0, SEEK_CUR));
    if (fd >= 0 && !is_stdin)
        close(fd);
    return n > 0 && decoder_detect(head, (size_t)n, &undecided);
}

void source_decode(struct source *source, uint64_t memory_limit, bool holds_frames)
{
    source->decodes = true;
    source->holds_frames = holds_frames;
    source->decoding_memory = memory_limit;
    for (size_t i = 0; i < source->count && source->size != SOURCE_SIZE_UNKNOWN; i++) {
        if (source_is_compressed(source->names[i])) {
            source->size = SOURCE_SIZE_UNKNOWN; /* decoded it has another */
            source->wanted = 1;
        }
    }
}

/* Fails if a block that is no text is one in another encoding. */
static enum status source_refuse_encoding(const struct source_ahead *block, const char *name,
                                          struct failure *failure)
{
    const char *encoding = text_find_encoding(block->data, block->end);

    if (!encoding)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA,
                       STATUS_NAME ": text in %s, which is not read: convert it "
                                   "(iconv -f %s -t UTF-8), or give --binary if it is none",
                       name, encoding, encoding);
}

enum status source_look(struct source *source, bool *is_text, struct failure *failure)
{
    bool ended = false;

    *is_text = true;
    while (source->current || source->opened < source->count) {
        if (!source->current && source_input_open(source, failure) != STATUS_OK)
            return failure->status;
        enum source_event event = source_input_look(source, failure);
        struct source_ahead *plain = &source->current->plain;
        if (event == SOURCE_ERROR && plain->end == 0)
            return failure->status; /* else the first pull meets it again, behind these bytes */
        ended = event == SOURCE_END;
        if (plain->end > 0) {
            *is_text = text_is_text(plain->data, plain->end, ended);
            if (!*is_text &&
                source_refuse_encoding(plain, source->current->name, failure) != STATUS_OK)
                return failure->status;
            if (source->current->is_claimable)
                plain->end = 0;
            return STATUS_OK;
        }
        source_close_current(source);
    }
    return STATUS_OK;
}

void source_set_format(struct source *source, const struct source_format *format)
{
    source->format = *format;
}

void source_set_frames(struct source *source, struct source_frames *frames)
{
    pthread_mutex_lock(&source->join_lock);
    source->frames = frames;
    pthread_mutex_unlock(&source->join_lock);
}

/* Decodes frames ahead of the reader, if there are any and others to read. No lock is held. */
static void source_help(struct source *source)
{
    pthread_mutex_lock(&source->join_lock);
    struct source_frames *frames = source->joined > 1 ? source->frames : NULL;
    if (frames)
        source_frames_hold(frames);
    unsigned pullers = source->joined;
    pthread_mutex_unlock(&source->join_lock);
    if (!frames)
        return;
    source_frames_help(frames, pullers);
    source_frames_release(frames);
}

void source_close(struct source *source)
{
    if (!source)
        return;
    source_set_frames(source, NULL);
    if (source->current)
        source_input_release(source->current);
    free(source->carry);
    close(source->wake[0]);
    close(source->wake[1]);
    pthread_mutex_destroy(&source->lock);
    pthread_cond_destroy(&source->joining);
    pthread_mutex_destroy(&source->join_lock);
    free(source);
}

enum status source_repeat(struct source **source, struct failure *failure)
{
    char *const *names = (*source)->names;
    size_t count = (*source)->count;
    bool decodes = (*source)->decodes;
    uint64_t decoding_memory = (*source)->decoding_memory;
    bool holds_frames = (*source)->holds_frames;
    struct source_format format = (*source)->format;
    struct source_origin origin = (*source)->origin;

    if (origin.size == SOURCE_SIZE_UNKNOWN)
        return status_fail(failure, STATUS_DATA, "the input is not of files alone");
    source_close(*source); /* first, since it may share its offset in standard input */
    *source = NULL;
    if (origin.stdin_offset >= 0)
        lseek(STDIN_FILENO, origin.stdin_offset, SEEK_SET); /* cannot fail, as in source_input.c */
    if (source_open(source, names, count, format.element_bytes, failure) != STATUS_OK)
        return failure->status;
    if ((*source)->origin.digest != origin.digest) {
        source_close(*source);
        *source = NULL;
        return status_fail(failure, STATUS_DATA, "the input has changed since it was read first");
    }
    if (decodes)
        source_decode(*source, decoding_memory, holds_frames);
    (*source)->format = format;
    return STATUS_OK;
}

bool source_join(struct source *source)
{
    pthread_mutex_lock(&source->join_lock);
    while (source->joined >= source->wanted && !source->ended)
        pthread_cond_wait(&source->joining, &source->join_lock);
    bool wanted = !source->ended;
    source->joined += wanted;
    pthread_mutex_unlock(&source->join_lock);
    return wanted;
}

void source_leave(struct source *source)
{
    pthread_mutex_lock(&source->join_lock);
    source->joined--;
    pthread_cond_broadcast(&source->joining);
    pthread_mutex_unlock(&source->join_lock);
}

/* Lets `more` pullers join (UINT_MAX: all), or for 0 none any more. */
static void source_want(struct source *source, unsigned more)
{
    pthread_mutex_lock(&source->join_lock);
    source->ended = source->ended || more == 0;
    source->wanted = more > UINT_MAX - source->wanted ? UINT_MAX : source->wanted + more;
    pthread_cond_broadcast(&source->joining);
    pthread_mutex_unlock(&source->join_lock);
}

void source_stop(struct source *source)
{
    if (!atomic_exchange(&source->stopped, true)) {
        ssize_t n = write(source->wake[1], "", 1); /* an empty pipe takes a byte */
        (void)n;
        source_want(source, 0);
    }
}

uint64_t source_size(const struct source *source)
{
    return source->size;
}

uint64_t source_position(const struct source *source)
{
    return source->position;
}

static uint64_t source_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A pull under way. */
struct source_turn {
    char *buffer;
    size_t capacity;
    bool wait;
    size_t filled;
    size_t whole;  /* of which so much is whole elements or lines */
    bool is_split; /* and ends within a line of the file */
    struct source_range range;
};

/* Whether what was gathered from a slow writer is to be handed on. The lock is held. */
static bool source_is_late(const struct source *source, const struct source_turn *turn)
{
    return source->waited && turn->whole > 0 &&
           source_clock() - source->turn_begins > SOURCE_TURN_NS;
}

/*
 * Makes room in a buffer that is full of one line, or token, of text whose end is still to come.
 * The lock is held.
 */
static enum status source_shorten(struct source *source, struct source_turn *turn,
                                  struct failure *failure)
{
    const struct source_format *format = &source->format;

    turn->whole = source_text_split(&format->text, turn->buffer, turn->filled);
    turn->is_split = turn->whole > 0;
    if (turn->is_split)
        return STATUS_OK;
    size_t long_bytes = turn->filled;
    turn->filled = source_text_squeeze(&format->text, turn->buffer, turn->filled);
    source->left_out += long_bytes - turn->filled;
    if (turn->filled <= turn->capacity / 2)
        return STATUS_OK;
    uint64_t before =
        source_count_lines(source->current->fd, source->line_start, source->line_offset);
    return status_fail(failure, STATUS_DATA,
                       STATUS_NAME ":%llu: the line is longer than a chunk of %zu bytes",
                       source->last_name, (unsigned long long)(before + source->line + 1),
                       turn->capacity);
}

/* Whether the buffer is full, and none of it is whole. */
static bool source_is_too_long(const struct source *source, const struct source_turn *turn)
{
    return source->format.is_text && turn->whole == 0 && turn->filled == turn->capacity;
}

/* Looks at bytes that were read behind the filled ones. The lock is held. */
static enum status source_take_bytes(struct source *source, struct source_turn *turn, size_t bytes,
                                     struct failure *failure)
{
    size_t known = turn->filled;

    turn->filled += bytes;
    source->last_name = source->current->name;
    size_t cut = source_text_cut(&source->format, turn->buffer, known, turn->filled);
    turn->whole = cut > 0 ? cut : turn->whole;
    return source_is_too_long(source, turn) ? source_shorten(source, turn, failure) : STATUS_OK;
}

/*
 * Moves what the last pull cut off to the buffer, as much as there is room for: it may come from a
 * larger one. Nothing ends in it. The lock is held.
 */
static enum status source_take_carry(struct source *source, struct source_turn *turn,
                                     struct failure *failure)
{
    size_t room = turn->capacity - turn->filled;
    size_t bytes = source->carry_bytes < room ? source->carry_bytes : room;

    memcpy(turn->buffer + turn->filled, source->carry + source->carry_begin, bytes);
    turn->filled += bytes;
    source->carry_begin += bytes;
    source->carry_bytes -= bytes;
    return source_is_too_long(source, turn) ? source_shorten(source, turn, failure) : STATUS_OK;
}

/* Opens the next input if there is none, and claims a range of it. True: nothing more to do. */
static bool source_claim(struct source *source, struct source_turn *turn, enum status *status,
                         struct failure *failure)
{
    if (!source->current) {
        if (source->opened == source->count)
            return true;
        *status = source_input_open(source, failure);
        if (*status != STATUS_OK)
            return true;
    }
    if (!source->current->is_claimable)
        return false;
    turn->range = source_file_claim(source->current, turn->filled, turn->capacity - turn->filled,
                                    &source->format);
    if (turn->range.bytes == 0)
        source_input_read_on(source);
    return turn->range.bytes > 0;
}

/*
 * Puts the next bytes behind the filled ones of the buffer, or claims a range to be read there. The
 * lock is held. turn->filled does not count the range.
 */
static enum status source_fill(struct source *source, struct source_turn *turn,
                               struct failure *failure)
{
    enum status status = STATUS_OK;

    while (turn->filled < turn->capacity && !atomic_load(&source->stopped) &&
           !source_is_late(source, turn)) {
        size_t bytes = 0;
        if (source->carry_bytes > 0) {
            if (source_take_carry(source, turn, failure) != STATUS_OK)
                return failure->status;
            continue;
        }
        if (source_claim(source, turn, &status, failure))
            break;
        switch (source_input_read(source, turn->buffer + turn->filled,
                                  turn->capacity - turn->filled, turn->wait && turn->whole == 0,
                                  &bytes, failure)) {
        case SOURCE_DATA:
            if (bytes > 0 && source_take_bytes(source, turn, bytes, failure) != STATUS_OK)
                return failure->status;
            break;
        case SOURCE_END:
            source_close_current(source);
            if (source->format.is_text && turn->filled > 0) {
                turn->whole = turn->filled; /* the end of a file is that of a line */
                return STATUS_OK;
            }
            break;
        case SOURCE_EMPTY:
            return STATUS_OK;
        case SOURCE_ERROR:
            return failure->status;
        }
    }
    return status;
}

/* Makes room for so many bytes in front of those that are carried already; false with errno set. */
static bool source_reserve_carry(struct source *source, size_t bytes)
{
    if (bytes <= source->carry_begin)
        return true;
    size_t room = bytes + source->carry_bytes;
    char *made = malloc(room);
    if (!made)
        return false;
    if (source->carry_bytes > 0)
        memcpy(made + bytes, source->carry + source->carry_begin, source->carry_bytes);
    free(source->carry);
    source->carry = made;
    source->carry_begin = bytes;
    return true;
}

/* Keeps what is behind the last whole element or line for the next chunk. The lock is held. */
static enum status source_keep(struct source *source, const struct source_turn *turn,
                               struct failure *failure)
{
    size_t bytes = turn->filled - turn->whole;

    if (!source_reserve_carry(source, bytes))
        return source_fail(failure, source->last_name, strerror(errno));
    source->carry_begin -= bytes;
    source->carry_bytes += bytes;
    if (bytes > 0)
        memcpy(source->carry + source->carry_begin, turn->buffer + turn->whole, bytes);

    bool ended = !source->current && source->opened == source->count;
    if (turn->whole > 0 || bytes == 0 || !ended || atomic_load(&source->stopped))
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA,
                       STATUS_NAME ": %zu byte%s left over at the end: an element has %zu",
                       source->last_name, bytes, bytes == 1 ? "" : "s",
                       source->format.element_bytes);
}

/* Whether those that pull from a pipe do not keep up with its writer. The lock is held. */
static bool source_is_behind(struct source *source)
{
    uint64_t now = source_clock();

    source->gaps_ns += source->behind > 0 ? source->turn_begins - source->turn_ends : 0;
    source->turns_ns += now - source->turn_begins;
    source->turn_ends = now;
    if (!source->waited && ++source->behind < SOURCE_BEHIND)
        return false;
    bool behind = !source->waited && source->gaps_ns > source->turns_ns / 2;
    source->behind = 0;
    source->gaps_ns = source->turns_ns = 0;
    return behind;
}

/* After a turn: sees whether more pullers are wanted. The lock is held. */
static void source_count_pullers(struct source *source)
{
    const struct input *input = source->current;
    unsigned waiting = input && input->frames ? source_frames_waiting(input->frames) : 0;

    if (!input && source->opened == source->count)
        source_want(source, 0);
    else if (!input || input->is_claimable)
        source_want(source, UINT_MAX);
    else if (waiting > 0)
        source_want(source, waiting);
    else if (source_is_behind(source))
        source_want(source, 1);
}

/* The chunk that a turn gives, and what follows from it for the next. The lock is held. */
static struct chunk source_make_chunk(struct source *source, const struct source_turn *turn,
                                      bool is_cut)
{
    const struct source_range *range = &turn->range;
    bool dropped = range->bytes == 0 && atomic_load(&source->stopped) && !is_cut;
    bool ended = !source->current && source->opened == source->count;
    size_t bytes = dropped ? 0 : turn->whole + range->bytes;
    struct chunk chunk = {
        .data = turn->buffer,
        .bytes = bytes,
        .left_out = bytes > 0 || ended ? source->left_out : 0,
        .position = source->position,
        .sequence = source->sequence,
        .is_cut = is_cut,
        .name = range->bytes > 0 ? range->input->name : source->last_name,
        .line = range->bytes > 0 ? 0 : source->line,
        .offset = range->bytes > 0 ? (uint64_t)range->offset : source->line_offset,
        .start = range->bytes > 0 ? (uint64_t)range->input->start : source->line_start,
    };

    source->left_out -= chunk.left_out;
    source->sequence += bytes > 0 || is_cut;
    source->position += bytes;
    if (source->format.is_text && range->bytes == 0)
        source->line += text_count_lines(turn->buffer, bytes) - (turn->is_split && bytes > 0);
    return chunk;
}

/* The part of a pull that is done one puller at a time. The lock is held. */
static enum status source_take(struct source *source, struct source_turn *turn, struct chunk *chunk,
                               struct failure *failure)
{
    source->turn_begins = source_clock();
    source->waited = false;
    enum status status = source_fill(source, turn, failure);
    size_t fault = turn->filled;
    if (turn->range.bytes > 0) { /* what was carried along belongs to its first element */
        turn->whole = turn->filled;
    } else if (status == STATUS_OK) {
        status = source_keep(source, turn, failure);
        fault = turn->whole;
    }
    if (status != STATUS_OK)
        failure->position = source->position + fault;
    *chunk = source_make_chunk(source, turn, status != STATUS_OK);
    source_count_pullers(source);
    return status;
}

/*
 * Reads the claimed range behind what is in the buffer, and gives it up. The lock is not held, nor
 * taken: whoever has it may be waiting for input that comes behind this range.
 */
static enum status source_read_range(struct source *source, const struct source_turn *turn,
                                     struct chunk *chunk, struct failure *failure)
{
    enum status status = source_file_read(&turn->range, turn->buffer + turn->whole,
                                          chunk->position + turn->whole, failure);

    if (status != STATUS_OK) {
        size_t good = (size_t)(failure->position - chunk->position);
        chunk->bytes = source_text_cut(&source->format, turn->buffer, 0, good);
        chunk->is_cut = true;
        source_stop(source);
    }
    source_input_release(turn->range.input);
    return status;
}

/* A pull once the lock is held, which it gives back. Unless *ended, *chunk may be empty if there is
 * nothing just now, or frames to decode. */
static enum status source_pull_locked(struct source *source, char *buffer, size_t capacity,
                                      bool wait, struct chunk *chunk, bool *ended,
                                      struct failure *failure)
{
    size_t cut_off = source->format.is_text ? 0 : capacity % source->format.element_bytes;
    struct source_turn turn = {.buffer = buffer, .capacity = capacity - cut_off, .wait = wait};
    enum status status = source_take(source, &turn, chunk, failure);

    if (status != STATUS_OK)
        source_stop(source); /* before anybody can read on behind the fault */
    *ended = (!source->current && source->opened == source->count) || source->stopped;
    pthread_mutex_unlock(&source->lock);
    if (status != STATUS_OK || turn.range.bytes == 0)
        return status;
    return source_read_range(source, &turn, chunk, failure);
}

enum status source_pull(struct source *source, void *buffer, size_t capacity, struct chunk *chunk,
                        struct failure *failure)
{
    enum status status;
    bool ended;

    do {
        source_help(source);
        pthread_mutex_lock(&source->lock);
        status = source_pull_locked(source, buffer, capacity, true, chunk, &ended, failure);
    } while (status == STATUS_OK && chunk->bytes == 0 && !ended);
    return status;
}

enum status source_try_pull(struct source *source, void *buffer, size_t capacity,
                            struct chunk *chunk, bool *pulled, struct failure *failure)
{
    bool ended;

    *pulled = false;
    if (pthread_mutex_trylock(&source->lock) != 0)
        return STATUS_OK;
    enum status status =
        source_pull_locked(source, buffer, capacity, false, chunk, &ended, failure);
    *pulled = status != STATUS_OK || chunk->bytes > 0 || ended;
    return status;
}
