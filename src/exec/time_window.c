/* Implements time_window.h: a ring of saved periods. */
#include "config.h"

#include "exec/time_window.h"

#include "output/writer.h"
#include "partial/operation.h"
#include "partial/state.h"

#include <stdlib.h>
#include <string.h>

/* The buffer for a state at first, which is usually enough. */
#define TIME_WINDOW_STATE_BYTES ((size_t)128 << 10)

/* A saved period. */
struct time_window_period {
    void *data; /* [bytes], owned; NULL: it has no elements */
    size_t bytes;
};

struct time_window {
    const struct job *job;
    struct state_reader *reader;
    size_t capacity;                     /* of periods before the newest */
    size_t moves;                        /* the next period goes to periods[moves % capacity] */
    struct time_window_period periods[]; /* [capacity] */
};

enum status time_window_create(struct time_window **window, const struct job *job,
                               struct failure *failure)
{
    const size_t capacity = job->window_periods - 1;
    struct time_window *created = calloc(1, sizeof *created + capacity * sizeof *created->periods);

    if (!created)
        return status_fail(failure, STATUS_DATA, "no memory for a window of %zu periods",
                           job->window_periods);
    created->job = job;
    created->capacity = capacity;
    if (state_reader_open_memory(&created->reader, "--window", failure) != STATUS_OK) {
        free(created);
        return failure->status;
    }
    *window = created;
    return STATUS_OK;
}

void time_window_destroy(struct time_window *window)
{
    for (size_t i = 0; i < window->capacity; i++)
        free(window->periods[i].data);
    state_reader_close(window->reader);
    free(window);
}

enum status time_window_move(struct time_window *window, void *partial, uint64_t elements,
                             struct failure *failure)
{
    const struct job *job = window->job;
    struct time_window_period newest = {.data = NULL};
    enum status status = STATUS_OK;

    if (window->capacity == 0)
        return STATUS_OK;
    if (elements > 0) {
        struct writer *memory = writer_create_memory(TIME_WINDOW_STATE_BYTES);
        if (memory)
            status = state_save(memory, "window", job, partial, failure);
        const char *kept = memory ? writer_memory(memory, &newest.bytes) : NULL;
        if (kept && status == STATUS_OK && (newest.data = malloc(newest.bytes)))
            memcpy(newest.data, kept, newest.bytes);
        writer_discard(memory);
        if (status == STATUS_OK && !newest.data)
            status = status_fail(failure, STATUS_DATA, "no memory for a period of --window");
        if (status != STATUS_OK)
            return status;
    }
    for (size_t i = 0; i < window->capacity && status == STATUS_OK; i++) {
        const struct time_window_period *period = &window->periods[i];
        char *line;
        if (!period->data)
            continue;
        state_reader_feed(window->reader, period->data, period->bytes);
        status = state_read_options(window->reader, &line, failure);
        free(line);
        if (status == STATUS_OK)
            status = state_load(window->reader, job, partial, &elements, failure);
    }
    struct time_window_period *oldest = &window->periods[window->moves++ % window->capacity];
    free(oldest->data);
    *oldest = newest;
    return status == STATUS_OK ? operation_of(job)->finalize(partial, job, elements, failure)
                               : status;
}
