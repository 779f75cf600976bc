/*
 * Operation histogram on a CPU thread: elements to bin numbers (cpu_index.h), and these counted
 * (cpu_counter.h), in bins one wide if they are folded (cpu_fold.h).
 */
#include "config.h"

#include "cpu/cpu_counter.h"
#include "cpu/cpu_engine.h"
#include "cpu/cpu_fold.h"
#include "cpu/cpu_index.h"
#include "engine/outside.h"

#include <stdlib.h>

/* Bin numbers that are kept: 16 KiB, half of a common L1. */
#define CPU_HISTOGRAM_NUMBERS 4096

struct cpu_histogram {
    const struct job *job;
    struct histogram *histogram;
    struct cpu_fold fold;
    struct cpu_index index; /* of the job's binning, or that of the fold */
    const struct cpu_counter *counter;
    void *counter_state;
    uint32_t numbers[CPU_HISTOGRAM_NUMBERS]; /* of bins */
};

static enum status cpu_histogram_open(const struct job *job, void *partial, void **state,
                                      struct failure *failure)
{
    struct cpu_histogram *made = calloc(1, sizeof *made);
    if (!made)
        return status_fail(failure, STATUS_DATA, "no memory for a CPU thread");

    *state = made;
    made->job = job;
    made->histogram = partial;
    if (cpu_fold_init(&made->fold, job, failure) != STATUS_OK)
        return failure->status;
    const bool is_folded = made->fold.table;
    struct histogram *table = is_folded ? made->fold.table : made->histogram;
    if (cpu_index_init(&made->index, &job->element,
                       is_folded ? &made->fold.fine.binning : &job->binning, failure) != STATUS_OK)
        return failure->status;
    made->counter = cpu_counter_choose(table, job->second == SECOND_WEIGHTS);
    return made->counter->open(table, &made->counter_state, failure);
}

static enum status cpu_histogram_absorb(void *state, const struct chunk *chunk,
                                        struct failure *failure)
{
    struct cpu_histogram *self = state;
    const uint32_t bins = self->index.terms.binning->bins;
    const size_t bytes = self->job->element.bytes;
    const size_t elements = chunk->bytes / bytes;
    size_t outside = 0;

    for (size_t i = 0, n; i < elements; i += n) {
        n = elements - i < CPU_HISTOGRAM_NUMBERS ? elements - i : CPU_HISTOGRAM_NUMBERS;
        cpu_index_find(&self->index, (const char *)chunk->data + i * bytes, n, self->numbers);
        if (self->job->outside == OUTSIDE_ABORT)
            outside += cpu_index_outside(self->numbers, n, bins);
        self->counter->count(self->counter_state, self->numbers,
                             chunk->second ? chunk->second + i : NULL, n);
    }
    return outside > 0 ? outside_check(self->job, chunk, failure) : STATUS_OK;
}

static enum status cpu_histogram_finish(void *state, struct failure *failure)
{
    struct cpu_histogram *self = state;
    (void)failure;
    self->counter->flush(self->counter_state);
    if (self->fold.table)
        cpu_fold_flush(&self->fold, self->job, self->histogram);
    return STATUS_OK;
}

static void cpu_histogram_close(void *state)
{
    struct cpu_histogram *self = state;
    if (!self)
        return;
    if (self->counter)
        self->counter->close(self->counter_state);
    cpu_index_destroy(&self->index);
    cpu_fold_destroy(&self->fold);
    free(self);
}

const struct cpu_operation cpu_histogram = {
    .open = cpu_histogram_open,
    .absorb = cpu_histogram_absorb,
    .finish = cpu_histogram_finish,
    .close = cpu_histogram_close,
};
