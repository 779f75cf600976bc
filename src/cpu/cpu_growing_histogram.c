/*
 * Automatic histogram on a CPU thread: counts in the newest window (cpu_window.h), and makes a
 * wider one for what lies outside.
 */
#include "config.h"

#include "cpu/cpu_engine.h"
#include "cpu/cpu_window.h"
#include "histograms/growing_histogram.h"

#include <stdlib.h>

struct cpu_growing_histogram {
    const struct job *job;
    struct growing_histogram *histogram;
    struct cpu_window window;
};

static enum status cpu_growing_histogram_open(const struct job *job, void *partial, void **state,
                                              struct failure *failure)
{
    struct cpu_growing_histogram *self = calloc(1, sizeof *self);
    if (!self)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");

    *state = self;
    self->job = job;
    self->histogram = partial;
    cpu_window_init(&self->window, job);
    return STATUS_OK;
}

static enum status cpu_growing_histogram_absorb(void *state, const struct chunk *chunk,
                                                struct failure *failure)
{
    struct cpu_growing_histogram *self = state;
    const size_t bytes = self->job->element.bytes;
    const size_t elements = chunk->bytes / bytes;

    for (size_t i = 0, n; i < elements; i += n) {
        const struct growing_window *newest = growing_histogram_window(self->histogram);
        n = elements - i < CPU_WINDOW_BLOCK ? elements - i : CPU_WINDOW_BLOCK;
        if (newest != self->window.window &&
            cpu_window_turn(&self->window, newest, failure) != STATUS_OK)
            return failure->status;
        const uint64_t *weights = chunk->second ? chunk->second + i : NULL;
        const size_t outside =
            cpu_window_count(&self->window, (const char *)chunk->data + i * bytes, weights, n);
        if (growing_histogram_add(self->histogram, self->window.outside,
                                  weights ? self->window.outside_weights : NULL, outside,
                                  failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status cpu_growing_histogram_finish(void *state, struct failure *failure)
{
    (void)failure;
    cpu_window_flush(&((struct cpu_growing_histogram *)state)->window);
    return STATUS_OK;
}

static void cpu_growing_histogram_close(void *state)
{
    struct cpu_growing_histogram *self = state;
    if (!self)
        return;
    cpu_window_destroy(&self->window);
    free(self);
}

const struct cpu_operation cpu_growing_histogram = {
    .open = cpu_growing_histogram_open,
    .absorb = cpu_growing_histogram_absorb,
    .finish = cpu_growing_histogram_finish,
    .close = cpu_growing_histogram_close,
};
