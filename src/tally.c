#include "config.h"

#include "tally.h"

#include "source.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TALLY_REPORTED    10
#define TALLY_TOKEN_BYTES 40 /* of a token that are shown */

/* An invalid token, as it is reported. */
struct tally_invalid {
    uint64_t position; /* in the stream */
    const char *name;
    uint64_t line; /* lines before it, as in struct chunk, as the next two */
    uint64_t offset;
    uint64_t start;
    int bytes; /* shown */
    bool is_long;
    char token[TALLY_TOKEN_BYTES];
};

struct tally {
    enum invalid_policy policy;
    atomic_uint_least64_t values;

    pthread_mutex_t lock; /* guards what follows */
    uint64_t invalid;
    size_t first_count;
    struct tally_invalid first[TALLY_REPORTED]; /* of the stream, in its order */
};

enum status tally_create(struct tally **tally, enum invalid_policy policy, struct failure *failure)
{
    struct tally *made = calloc(1, sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for reading text");

    made->policy = policy;
    pthread_mutex_init(&made->lock, NULL);
    *tally = made;
    return STATUS_OK;
}

void tally_destroy(struct tally *tally)
{
    if (!tally)
        return;
    pthread_mutex_destroy(&tally->lock);
    free(tally);
}

void tally_add_values(struct tally *tally, uint64_t values)
{
    atomic_fetch_add_explicit(&tally->values, values, memory_order_relaxed);
}

uint64_t tally_values(const struct tally *tally)
{
    return atomic_load_explicit(&tally->values, memory_order_relaxed);
}

/* The newlines of a regular file between two offsets; 0 if it cannot be read again. */
static uint64_t tally_count_lines(const char *name, uint64_t start, uint64_t end)
{
    int fd = name == source_stdin_name ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    uint64_t lines = fd >= 0 ? source_count_lines(fd, start, end) : 0;

    if (fd > STDIN_FILENO)
        close(fd);
    return lines;
}

static struct tally_invalid tally_describe(const struct chunk *chunk,
                                           const struct text_token *token)
{
    size_t shown = token->bytes < TALLY_TOKEN_BYTES ? token->bytes : TALLY_TOKEN_BYTES;
    struct tally_invalid invalid = {
        .position = chunk->position + token->offset,
        .name = chunk->name,
        .line = chunk->line + text_count_lines(chunk->data, token->offset),
        .offset = chunk->offset,
        .start = chunk->start,
        .bytes = (int)shown,
        .is_long = token->bytes > shown,
    };

    memcpy(invalid.token, (const char *)chunk->data + token->offset, shown);
    for (size_t i = 0; i < shown; i++) {
        if (invalid.token[i] == '\0')
            invalid.token[i] = '?'; /* as other control characters are shown, and does not end it */
    }
    return invalid;
}

static uint64_t tally_line(const struct tally_invalid *invalid)
{
    uint64_t before = 0;
    if (invalid->offset > invalid->start)
        before = tally_count_lines(invalid->name, invalid->start, invalid->offset);
    return before + invalid->line + 1;
}

uint64_t tally_find_line(const struct chunk *chunk, size_t offset)
{
    struct tally_invalid place = tally_describe(chunk, &(struct text_token){.offset = offset});
    return tally_line(&place);
}

/*
 * Whether an invalid token is one of the first so far: at most so many of a chunk are. To describe
 * every one would take the square of the chunk's length, if it has nothing else. The lock is held.
 */
static bool tally_is_first(const struct tally *tally, uint64_t position)
{
    return tally->first_count < TALLY_REPORTED ||
           position < tally->first[TALLY_REPORTED - 1].position;
}

/* Keeps one of the first. The lock is held. */
static void tally_keep(struct tally *tally, const struct tally_invalid *invalid)
{
    size_t place = tally->first_count;

    while (place > 0 && tally->first[place - 1].position > invalid->position)
        place--;
    tally->first_count += tally->first_count < TALLY_REPORTED;
    memmove(tally->first + place + 1, tally->first + place,
            (tally->first_count - place - 1) * sizeof *invalid);
    tally->first[place] = *invalid;
}

enum status tally_add_invalid(struct tally *tally, const struct chunk *chunk,
                              const struct text_token *token, struct failure *failure)
{
    if (tally->policy == INVALID_IGNORE)
        return STATUS_OK;

    if (tally->policy == INVALID_ABORT) {
        struct tally_invalid invalid = tally_describe(chunk, token);
        return status_fail_at(failure, invalid.position, STATUS_DATA,
                              STATUS_NAME ":%llu: invalid integer '%.*s%s'", invalid.name,
                              (unsigned long long)tally_line(&invalid), invalid.bytes,
                              invalid.token, invalid.is_long ? "..." : "");
    }
    pthread_mutex_lock(&tally->lock);
    tally->invalid++;
    if (tally_is_first(tally, chunk->position + token->offset)) {
        struct tally_invalid invalid = tally_describe(chunk, token);
        tally_keep(tally, &invalid);
    }
    pthread_mutex_unlock(&tally->lock);
    return STATUS_OK;
}

enum status tally_scan_chunk(struct tally *tally, const struct job *job, const struct chunk *chunk,
                             struct failure *failure)
{
    uint64_t values[256];
    text_parse_function *parse = text_choose_parser(&job->text, job->element.type);
    enum text_event event;
    size_t offset = 0;

    do {
        size_t count;
        struct text_token token;
        event = parse(&job->text, chunk->data, chunk->bytes, &offset, values, 256, &count, &token);
        if (event == TEXT_INVALID && tally_add_invalid(tally, chunk, &token, failure) != STATUS_OK)
            return failure->status;
    } while (event != TEXT_END);
    return STATUS_OK;
}

enum status tally_report(const struct tally *tally, struct failure *failure)
{
    unsigned long long more = tally->invalid - tally->first_count;

    for (size_t i = 0; i < tally->first_count; i++) {
        const struct tally_invalid *invalid = &tally->first[i];
        status_print(STATUS_NAME ":%llu: invalid integer '%.*s%s'", invalid->name,
                     (unsigned long long)tally_line(invalid), invalid->bytes, invalid->token,
                     invalid->is_long ? "..." : "");
    }
    if (more > 0)
        status_print("%llu more invalid integers", more);
    if (tally->invalid == 0 || tally->policy != INVALID_FAIL)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA, "%llu invalid integer%s in the input",
                       (unsigned long long)tally->invalid, tally->invalid == 1 ? "" : "s");
}
