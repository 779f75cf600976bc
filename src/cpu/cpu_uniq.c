/*
 * Operation uniq on a CPU thread: counts values in the window (cpu_window.h), if there is one, and
 * hands the keys of the others to the table.
 */
#include "config.h"

#include "cpu/cpu_engine.h"
#include "cpu/cpu_window.h"
#include "histograms/uniq.h"

#include <stdlib.h>

/* Keys that show whether a window is worth it. */
#define CPU_UNIQ_SAMPLE ((size_t)1024)

struct cpu_uniq {
    const struct job *job;
    struct uniq *uniq;
    struct cpu_window window;
    struct table_writer *writer;
    uint64_t chunks;
    uint64_t seen;    /* values */
    uint64_t last;    /* values of the last chunk */
    uint64_t outside; /* those of them that were in no window */
};

static enum status cpu_uniq_open(const struct job *job, void *partial, void **state,
                                 struct failure *failure)
{
    struct cpu_uniq *self = calloc(1, sizeof *self);
    if (!self)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");

    *state = self;
    self->job = job;
    self->uniq = partial;
    cpu_window_init(&self->window, job);
    return table_writer_open(self->uniq->table, &self->writer, failure);
}

/* Asks for a window for a sample of a chunk. */
static void cpu_uniq_consider(struct cpu_uniq *self, const struct chunk *chunk, size_t elements)
{
    const size_t bytes = self->job->element.bytes;
    const size_t n = elements < CPU_UNIQ_SAMPLE ? elements : CPU_UNIQ_SAMPLE;
    uint64_t keys[CPU_UNIQ_SAMPLE];

    for (size_t i = 0; i < n; i++)
        keys[i] =
            element_key(&self->job->element, (const char *)chunk->data + i * elements / n * bytes);
    uniq_make_keys(self->uniq, keys, n);
    uniq_consider_window(self->uniq, self->window.window, keys, n, self->seen + elements);
}

/*
 * Turns to the newest window. After 0, 1, 3, 7, ... chunks asks for another one if most values of
 * the last chunk lay outside.
 */
static enum status cpu_uniq_choose(struct cpu_uniq *self, const struct chunk *chunk,
                                   size_t elements, struct failure *failure)
{
    const bool is_due = (self->chunks & (self->chunks + 1)) == 0;

    if (is_due && elements > 0 && 2 * self->outside >= self->last)
        cpu_uniq_consider(self, chunk, elements);
    const struct growing_window *newest = uniq_window(self->uniq);
    self->chunks++;
    self->seen += elements;
    self->last = elements;
    self->outside = 0;
    return newest != self->window.window ? cpu_window_turn(&self->window, newest, failure)
                                         : STATUS_OK;
}

/* Adds what lies outside the window to the table. */
static enum status cpu_uniq_add(struct cpu_uniq *self, size_t n, struct failure *failure)
{
    const struct cpu_window *window = &self->window;
    uint64_t *rows[TABLE_FIND_MAX];

    uniq_make_keys(self->uniq, self->window.outside, n);
    if (!window->has_weights)
        return table_writer_add(self->writer, window->outside, n, failure);
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < TABLE_FIND_MAX ? n - i : TABLE_FIND_MAX;
        if (table_writer_find(self->writer, window->outside + i, window->outside_weights + i, some,
                              rows, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status cpu_uniq_absorb(void *state, const struct chunk *chunk, struct failure *failure)
{
    struct cpu_uniq *self = state;
    const size_t bytes = self->job->element.bytes;
    const size_t elements = chunk->bytes / bytes;

    if (cpu_uniq_choose(self, chunk, elements, failure) != STATUS_OK)
        return failure->status;
    for (size_t i = 0, n; i < elements; i += n) {
        n = elements - i < CPU_WINDOW_BLOCK ? elements - i : CPU_WINDOW_BLOCK;
        const uint64_t *weights = chunk->second ? chunk->second + i : NULL;
        size_t outside =
            cpu_window_count(&self->window, (const char *)chunk->data + i * bytes, weights, n);
        self->outside += outside;
        if (cpu_uniq_add(self, outside, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status cpu_uniq_finish(void *state, struct failure *failure)
{
    struct cpu_uniq *self = state;

    cpu_window_flush(&self->window);
    return table_writer_flush(self->writer, failure);
}

static void cpu_uniq_close(void *state)
{
    struct cpu_uniq *self = state;
    if (!self)
        return;
    cpu_window_destroy(&self->window);
    table_writer_close(self->writer);
    free(self);
}

const struct cpu_operation cpu_uniq = {
    .open = cpu_uniq_open,
    .absorb = cpu_uniq_absorb,
    .finish = cpu_uniq_finish,
    .close = cpu_uniq_close,
};
