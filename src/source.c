#include "config.h"

#include "source_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * Files up to this size are read on, not claimed: one read finds them whole whatever their reported
 * size (files in /proc and /sys tell 0 or 4096), and many small ones share a chunk.
 */
#define SOURCE_SMALL_FILE 65536

/*
 * A puller more is wanted if that many pulls in a row did not have to wait for the writer, and the
 * pipe was left alone for more than half as long as it was read. A writer that is given a core for
 * a while fills the pipe by chance; and where the reading itself is what takes the time, more
 * readers are no help.
 */
#define SOURCE_BEHIND 16

/* For how long a pull gathers what a slow writer gives in small pieces. */
#define SOURCE_TURN_NS 20000000

static bool source_is_stdin(const char *name)
{
    return strcmp(name, "-") == 0;
}

const char *source_name(const char *name)
{
    return source_is_stdin(name) ? "standard input" : name;
}

static enum status source_fail(struct failure *failure, const char *name, const char *reason)
{
    return status_fail(failure, STATUS_DATA, STATUS_NAME ": %s", source_name(name), reason);
}

/* The bytes that a file will give, from its present offset on; unknown unless it is regular. */
static uint64_t source_file_size(const struct stat *info, off_t offset)
{
    if (!S_ISREG(info->st_mode))
        return SOURCE_SIZE_UNKNOWN;
    return info->st_size > offset ? (uint64_t)(info->st_size - offset) : 0;
}

/* Looks at a file before anything is read, so that a bad name is told at once; adds up *size. */
static enum status source_check_name(const char *name, uint64_t *size, struct failure *failure)
{
    struct stat info;
    bool is_stdin = source_is_stdin(name);

    if ((is_stdin ? fstat(STDIN_FILENO, &info) : stat(name, &info)) != 0)
        return source_fail(failure, name, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return source_fail(failure, name, strerror(EISDIR));
    if (!is_stdin && faccessat(AT_FDCWD, name, R_OK, AT_EACCESS) != 0)
        return source_fail(failure, name, strerror(errno));

    off_t offset = is_stdin && S_ISREG(info.st_mode) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    uint64_t bytes = source_file_size(&info, offset);
    *size = *size == SOURCE_SIZE_UNKNOWN || bytes == SOURCE_SIZE_UNKNOWN ? SOURCE_SIZE_UNKNOWN
                                                                         : *size + bytes;
    return STATUS_OK;
}

enum status source_open(struct source **source, char *const *names, size_t count,
                        size_t element_bytes, struct failure *failure)
{
    uint64_t size = 0;

    for (size_t i = 0; i < count; i++) {
        if (source_check_name(names[i], &size, failure) != STATUS_OK)
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
    made->element_bytes = element_bytes;
    made->size = size;
    made->wanted = size == SOURCE_SIZE_UNKNOWN ? 1 : UINT_MAX;
    pthread_mutex_init(&made->join_lock, NULL);
    pthread_cond_init(&made->joining, NULL);
    pthread_mutex_init(&made->lock, NULL);
    *source = made;
    return STATUS_OK;
}

/* Gives up one use of an input; the last one closes it. Thread-safe. */
static void source_release(struct input *input)
{
    if (atomic_fetch_sub(&input->users, 1) > 1)
        return;
    if (input->fd > STDIN_FILENO)
        close(input->fd);
    free(input);
}

void source_close(struct source *source)
{
    if (!source)
        return;
    if (source->current)
        source_release(source->current);
    close(source->wake[0]);
    close(source->wake[1]);
    pthread_mutex_destroy(&source->lock);
    pthread_cond_destroy(&source->joining);
    pthread_mutex_destroy(&source->join_lock);
    free(source);
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

/* Makes the next name the current input. The lock is held. */
static enum status source_open_next(struct source *source, struct failure *failure)
{
    const char *name = source->names[source->opened++];
    struct stat info;
    struct input *input = calloc(1, sizeof *input);

    if (!input)
        return source_fail(failure, name, strerror(errno));
    *input = (struct input){.name = source_name(name), .users = 1};
    /* Not to wait here for the writer of a FIFO: that is source_pipe_read's, which can be woken. */
    input->fd =
        source_is_stdin(name) ? STDIN_FILENO : open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (input->fd < 0 || fstat(input->fd, &info) != 0)
        goto release_input;
    if (!source_is_stdin(name))
        fcntl(input->fd, F_SETFL, 0);
    input->is_regular = S_ISREG(info.st_mode);
    if (input->is_regular && (input->next = lseek(input->fd, 0, SEEK_CUR)) < 0)
        goto release_input;
    input->size = info.st_size;
    input->is_claimable = input->is_regular && input->size - input->next > SOURCE_SMALL_FILE;
    if (!input->is_regular)
        source_pipe_widen(input->fd);
    source->current = input;
    return STATUS_OK;

release_input:
    source_fail(failure, name, strerror(errno));
    failure->position = source->position;
    source_release(input);
    return failure->status;
}

static void source_close_current(struct source *source)
{
    source_release(source->current);
    source->current = NULL;
}

/* All claims are taken: the file is read on behind the last of them, as anything else is. */
static void source_read_on(struct input *input)
{
    lseek(input->fd, input->next, SEEK_SET); /* cannot fail: the offset is one we read at */
    input->is_claimable = false;
}

static uint64_t source_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Whether what was gathered from a slow writer is to be handed on. The lock is held. */
static bool source_is_late(const struct source *source, size_t filled)
{
    return source->waited && filled >= source->element_bytes &&
           source_clock() - source->turn_begins > SOURCE_TURN_NS;
}

/*
 * Puts the next bytes behind the `*filled` ones of the buffer, or claims a range to be read there.
 * The lock is held. *filled counts neither the range nor bytes of the next chunk.
 */
static enum status source_fill(struct source *source, char *buffer, size_t capacity, bool wait,
                               size_t *filled, struct source_range *range, struct failure *failure)
{
    while (*filled < capacity && !atomic_load(&source->stopped) &&
           !source_is_late(source, *filled)) {
        size_t bytes = 0;
        if (!source->current) {
            if (source->opened == source->count)
                break;
            if (source_open_next(source, failure) != STATUS_OK)
                return failure->status;
        }
        if (source->current->is_claimable) {
            *range = source_file_claim(source->current, *filled, capacity - *filled,
                                       source->element_bytes);
            if (range->bytes > 0)
                break;
            source_read_on(source->current);
        }
        switch (source_pipe_read(source, buffer + *filled, capacity - *filled,
                                 wait && *filled < source->element_bytes, &bytes, failure)) {
        case SOURCE_DATA:
            *filled += bytes;
            source->last_name = source->current->name;
            break;
        case SOURCE_END:
            source_close_current(source);
            break;
        case SOURCE_EMPTY:
            return STATUS_OK;
        case SOURCE_ERROR:
            return failure->status;
        }
    }
    return STATUS_OK;
}

/* Keeps what is behind the last whole element for the next chunk. The lock is held. */
static enum status source_cut(struct source *source, const char *buffer, size_t *filled,
                              struct failure *failure)
{
    source->carry_bytes = *filled % source->element_bytes;
    *filled -= source->carry_bytes;
    memcpy(source->carry, buffer + *filled, source->carry_bytes);

    bool ended = !source->current && source->opened == source->count;
    if (*filled > 0 || source->carry_bytes == 0 || !ended || atomic_load(&source->stopped))
        return STATUS_OK;
    return status_fail_at(failure, source->position, STATUS_DATA,
                          STATUS_NAME ": %zu byte%s left over at the end: an element has %zu",
                          source->last_name, source->carry_bytes,
                          source->carry_bytes == 1 ? "" : "s", source->element_bytes);
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
    if (!source->current && source->opened == source->count)
        source_want(source, 0);
    else if (!source->current || source->current->is_claimable)
        source_want(source, UINT_MAX);
    else if (source_is_behind(source))
        source_want(source, 1);
}

/* The part of a pull that is done one puller at a time. The lock is held. */
static enum status source_take(struct source *source, char *buffer, size_t capacity, bool wait,
                               struct chunk *chunk, struct source_range *range,
                               struct failure *failure)
{
    size_t filled = source->carry_bytes;

    source->turn_begins = source_clock();
    source->waited = false;
    memcpy(buffer, source->carry, filled);
    enum status status = source_fill(source, buffer, capacity, wait, &filled, range, failure);
    if (status != STATUS_OK) {
        failure->position = source->position + filled;
        filled -= filled % source->element_bytes;
    } else if (range->bytes == 0) {
        status = source_cut(source, buffer, &filled, failure);
    } else {
        source->carry_bytes = 0;
    }
    if (range->bytes == 0 && atomic_load(&source->stopped))
        filled = 0;
    *chunk = (struct chunk){
        .data = buffer,
        .bytes = filled + range->bytes,
        .position = source->position,
        .sequence = source->sequence,
        .is_cut = status != STATUS_OK,
    };
    source->sequence += chunk->bytes > 0 || chunk->is_cut;
    source->position += chunk->bytes;
    source_count_pullers(source);
    return status;
}

/*
 * Reads the claimed range behind what is in the buffer, and gives it up. The lock is not held, nor
 * taken: whoever has it may be waiting for input that comes behind this range.
 */
static enum status source_read_range(struct source *source, const struct source_range *range,
                                     char *buffer, struct chunk *chunk, struct failure *failure)
{
    size_t filled = chunk->bytes - range->bytes;
    enum status status =
        source_file_read(range, buffer + filled, chunk->position + filled, failure);

    if (status != STATUS_OK) {
        size_t good = (size_t)(failure->position - chunk->position);
        chunk->bytes = good - good % source->element_bytes;
        chunk->is_cut = true;
        source_stop(source);
    }
    source_release(range->input);
    return status;
}

/* A pull once the lock is held, which it gives back. Without `wait`, *chunk may be empty. */
static enum status source_pull_locked(struct source *source, char *buffer, size_t capacity,
                                      bool wait, struct chunk *chunk, bool *ended,
                                      struct failure *failure)
{
    struct source_range range = {.bytes = 0};
    size_t whole = capacity - capacity % source->element_bytes;
    enum status status = source_take(source, buffer, whole, wait, chunk, &range, failure);

    if (status != STATUS_OK)
        source_stop(source); /* before anybody can read on behind the fault */
    *ended = (!source->current && source->opened == source->count) || source->stopped;
    pthread_mutex_unlock(&source->lock);
    if (status != STATUS_OK || range.bytes == 0)
        return status;
    return source_read_range(source, &range, buffer, chunk, failure);
}

enum status source_pull(struct source *source, void *buffer, size_t capacity, struct chunk *chunk,
                        struct failure *failure)
{
    bool ended;

    pthread_mutex_lock(&source->lock);
    return source_pull_locked(source, buffer, capacity, true, chunk, &ended, failure);
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
