/* Operation histogram on a CPU thread: a block of elements to bin numbers, and these counted. */
#include "config.h"

#include "cpu_counter.h"
#include "cpu_engine.h"
#include "cpu_index.h"

#include <stdlib.h>

/* Bin numbers of a block: 16 KiB, half of a common L1. */
#define CPU_HISTOGRAM_BLOCK 4096

struct cpu_histogram {
    const struct job *job;
    cpu_index_function *index;
    const struct cpu_counter *counter;
    void *counter_state;
    uint32_t indexes[CPU_HISTOGRAM_BLOCK];
};

static enum status cpu_histogram_open(const struct job *job, void *partial, void **state,
                                      struct failure *failure)
{
    struct histogram *histogram = partial;
    struct cpu_histogram *made = malloc(sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");

    *state = made;
    made->job = job;
    made->index = cpu_index_choose(job->element.type);
    made->counter = cpu_counter_choose(histogram);
    made->counter_state = NULL;
    return made->counter->open(histogram, &made->counter_state, failure);
}

static enum status cpu_histogram_absorb(void *state, const struct chunk *chunk,
                                        struct failure *failure)
{
    struct cpu_histogram *self = state;
    const struct element *element = &self->job->element;
    size_t elements = chunk->bytes / element->bytes;
    size_t outside = 0;

    for (size_t i = 0; i < elements; i += CPU_HISTOGRAM_BLOCK) {
        size_t n = elements - i < CPU_HISTOGRAM_BLOCK ? elements - i : CPU_HISTOGRAM_BLOCK;
        const char *block = (const char *)chunk->data + i * element->bytes;
        outside += self->index(&self->job->binning, element->swapped, block, n, self->indexes);
        self->counter->count(self->counter_state, self->indexes, n);
    }
    if (outside > 0 && self->job->outside == OUTSIDE_ABORT)
        return job_check_outside(self->job, chunk, failure);
    return STATUS_OK;
}

static enum status cpu_histogram_finish(void *state, struct failure *failure)
{
    struct cpu_histogram *self = state;
    (void)failure;
    self->counter->flush(self->counter_state);
    return STATUS_OK;
}

static void cpu_histogram_close(void *state)
{
    struct cpu_histogram *self = state;
    if (!self)
        return;
    self->counter->close(self->counter_state);
    free(self);
}

const struct cpu_operation cpu_histogram = {
    .open = cpu_histogram_open,
    .absorb = cpu_histogram_absorb,
    .finish = cpu_histogram_finish,
    .close = cpu_histogram_close,
};
