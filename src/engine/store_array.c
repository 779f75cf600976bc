/*
 * Operation histogram. A CPU thread converts elements to bin numbers (cpu_index.h), and counts
 * these (cpu_counter.h). Values of a small range are *folded*: each has a private counter, and at
 * the end the counters are added up by bin. Any kind of bins then costs as much as bins of width 1.
 *
 * The numbers of its states are the numbers of values ignored, below and above, and the rows.
 */
#include "config.h"

#include "aggregate/histogram.h"
#include "aggregate/rows.h"
#include "aggregate/state.h"
#include "engine/cpu_counter.h"
#include "engine/cpu_index.h"
#include "engine/outside.h"
#include "engine/stores.h"
#include "value/binning_index.h"

#include <stdlib.h>
#include <string.h>

/* Number of bin numbers that are kept: 16 KiB, half of a common L1. */
#define STORE_ARRAY_NUMBERS 4096

/*
 * Maximum number of values that are folded: as many as private counters have copies for
 * (cpu_counter_private.c). With more, a run of equal values would wait for its own stores, at 1.0
 * instead of 0.4 ns per value (Zen 4).
 */
#define STORE_ARRAY_FOLDED_MAX 1022

struct store_array_local {
    const struct plan *plan;
    struct histogram *histogram;
    struct plan fine;       /* if values are folded: the plan with bins of width 1 */
    struct histogram *fold; /* the counts of those bins; owned; NULL: values are not folded */
    struct cpu_index index; /* for the binning of the plan, or of `fine` */
    const struct cpu_counter *counter;
    void *counter_state;
    uint32_t numbers[STORE_ARRAY_NUMBERS]; /* bin numbers */
};

static enum status store_array_open(void *local, const struct plan *plan, void *aggregate,
                                    struct failure *failure)
{
    struct store_array_local *self = local;
    const struct binning *binning = &plan->binning;
    struct histogram *table = aggregate;
    __int128 low;
    __int128 high;

    self->plan = plan;
    self->histogram = aggregate;
    binning_bounds(binning, &plan->element, &low, &high);
    if (!binning_is_unit(binning) && low < high && high - low <= STORE_ARRAY_FOLDED_MAX) {
        self->fine = *plan;
        if (binning_init(&self->fine.binning, &plan->element, low, high, (uint64_t)(high - low),
                         failure) != STATUS_OK)
            return failure->status;
        self->fold = histogram_create(&self->fine, failure);
        if (!self->fold)
            return failure->status;
        table = self->fold;
        binning = &self->fine.binning;
    }
    cpu_index_init(&self->index, &plan->element, binning);
    self->counter = cpu_counter_choose(table, plan->has_weights);
    return self->counter->open(table, &self->counter_state, failure);
}

static enum status store_array_accumulate(void *local, const struct chunk *chunk,
                                          struct failure *failure)
{
    struct store_array_local *self = local;
    const uint32_t bins = self->index.terms.binning->bins;
    const size_t bytes = self->plan->element.bytes;
    const size_t elements = chunk->bytes / bytes;
    size_t outside = 0;

    for (size_t i = 0, n; i < elements; i += n) {
        n = elements - i < STORE_ARRAY_NUMBERS ? elements - i : STORE_ARRAY_NUMBERS;
        cpu_index_find(&self->index, (const char *)chunk->data + i * bytes, n, self->numbers);
        if (self->plan->outside == OUTSIDE_ABORT)
            outside += cpu_index_outside(self->numbers, n, bins);
        self->counter->count(self->counter_state, self->numbers,
                             chunk->weights ? chunk->weights + i : NULL, n);
    }
    return outside > 0 ? outside_check(self->plan, chunk, failure) : STATUS_OK;
}

static enum status store_array_merge(void *local, struct failure *failure)
{
    struct store_array_local *self = local;
    const struct binning *binning = &self->plan->binning;
    const struct binning *fine = &self->fine.binning;
    (void)failure;

    self->counter->flush(self->counter_state);
    for (uint32_t value = 0; self->fold && value < self->fold->entries; value++) {
        uint64_t count = histogram_take(self->fold, value);
        uint32_t bin = value < fine->bins ? binning_index(binning, binning->form, fine->low + value)
                                          : binning->bins + (value - fine->bins);
        if (count > 0)
            histogram_add_counts64(self->histogram, bin, &count, 1);
    }
    return STATUS_OK;
}

static void store_array_close(void *local)
{
    struct store_array_local *self = local;
    if (self->counter)
        self->counter->close(self->counter_state);
    histogram_destroy(self->fold);
}

static enum status store_array_save(struct state_writer *state, const struct plan *plan,
                                    const void *aggregate, struct failure *failure)
{
    const struct binning *binning = &plan->binning;
    const struct histogram *histogram = aggregate;
    (void)failure;

    state_write_number(state, histogram_elements(histogram));
    state_write_number(state, histogram->ignored);
    state_write_number(state, histogram->below);
    state_write_number(state, histogram->above);
    for (size_t bin = 0; bin < binning->bins; bin++) {
        uint64_t count = histogram_count(histogram, bin);
        if (count > 0)
            state_write_row(state, bin, count);
    }
    state_write_rows_end(state);
    return STATUS_OK;
}

static enum status store_array_load(struct state_reader *state, const struct plan *plan,
                                    void *aggregate, uint64_t elements, struct failure *failure)
{
    uint64_t left = elements;
    uint64_t ignored;
    uint64_t outside[BINNING_OUTSIDE];
    struct state_run run;

    if (state_read_count(state, &ignored, &left, failure) != STATUS_OK)
        return failure->status;
    for (size_t i = 0; i < BINNING_OUTSIDE; i++) {
        if (state_read_count(state, &outside[i], &left, failure) != STATUS_OK)
            return failure->status;
    }
    histogram_add_ignored(aggregate, ignored);
    histogram_add_counts64(aggregate, plan->binning.bins, outside, BINNING_OUTSIDE);
    do {
        if (state_read_run(state, plan->binning.bins, &left, &run, failure) != STATUS_OK)
            return failure->status;
        histogram_add_counts64(aggregate, (size_t)run.bin, run.counts, run.n);
    } while (run.n > 0);
    return STATUS_OK;
}

static uint64_t store_array_elements(const void *aggregate)
{
    const struct histogram *histogram = aggregate;
    return histogram->inside + histogram->below + histogram->above;
}

static struct store_size store_array_size(const void *aggregate)
{
    const struct histogram *histogram = aggregate;
    return (struct store_size){.counters = histogram->entries};
}

static struct store_memory store_array_memory(const struct plan *plan)
{
    return (struct store_memory){.has_counters = true, .bins = plan->binning.bins};
}

const struct store store_array = {
    .create = histogram_create,
    .finalize = histogram_finalize,
    .destroy = histogram_destroy,
    .memory = store_array_memory,
    .size = store_array_size,
    .local_bytes = sizeof(struct store_array_local),
    .local_open = store_array_open,
    .local_accumulate = store_array_accumulate,
    .local_merge = store_array_merge,
    .local_close = store_array_close,
    .save = store_array_save,
    .load = store_array_load,
    .elements = store_array_elements,
    .rows = histogram_rows_begin,
};
