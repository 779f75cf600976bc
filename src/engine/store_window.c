/*
 * Histogram with automatic bins (growing_histogram.h). A CPU thread counts in the newest window
 * (cpu_window.h), and makes a wider one for values outside.
 *
 * The numbers of its states are the width of the rows, which is that of the last window, and the
 * rows. Bin 0 has the type's smallest value. Loading counts the first value of
 * each bin. This gives the same result as the values themselves: their bins of any multiple of the
 * width are the same (aggregate/growing_histogram.c).
 */
#include "config.h"

#include "aggregate/growing_histogram.h"
#include "aggregate/rows.h"
#include "aggregate/state.h"
#include "engine/cpu_window.h"
#include "engine/stores.h"

struct store_window_local {
    const struct plan *plan;
    struct growing_histogram *histogram;
    struct cpu_window window;
};

static enum status store_window_open(void *local, const struct plan *plan, void *aggregate,
                                     struct failure *failure)
{
    struct store_window_local *self = local;
    (void)failure;

    self->plan = plan;
    self->histogram = aggregate;
    cpu_window_init(&self->window, plan);
    return STATUS_OK;
}

static enum status store_window_accumulate(void *local, const struct chunk *chunk,
                                           struct failure *failure)
{
    struct store_window_local *self = local;
    struct cpu_window *window = &self->window;
    const size_t bytes = self->plan->element.bytes;
    const size_t elements = chunk->bytes / bytes;

    for (size_t i = 0, n; i < elements; i += n) {
        const struct growing_window *newest = growing_histogram_window(self->histogram);
        n = elements - i < CPU_WINDOW_BLOCK ? elements - i : CPU_WINDOW_BLOCK;
        if (newest != window->window && cpu_window_turn(window, newest, failure) != STATUS_OK)
            return failure->status;
        const uint64_t *weights = chunk->weights ? chunk->weights + i : NULL;
        const size_t outside =
            cpu_window_count(window, (const char *)chunk->data + i * bytes, weights, n);
        if (growing_histogram_add(self->histogram, window->outside,
                                  weights ? window->outside_weights : NULL, outside,
                                  failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status store_window_merge(void *local, struct failure *failure)
{
    (void)failure;
    cpu_window_flush(&((struct store_window_local *)local)->window);
    return STATUS_OK;
}

static void store_window_close(void *local)
{
    cpu_window_destroy(&((struct store_window_local *)local)->window);
}

static enum status store_window_save(struct state_writer *state, const struct plan *plan,
                                     const void *aggregate, struct failure *failure)
{
    const struct growing_histogram *histogram = aggregate;
    struct rows rows;
    (void)failure;

    state_write_number(state, histogram->elements);
    state_write_number(state, histogram->width);
    growing_histogram_rows_begin(&rows, plan, histogram, histogram->width, false);
    rows_save(&rows, histogram->width, state);
    return STATUS_OK;
}

static enum status store_window_load(struct state_reader *state, const struct plan *plan,
                                     void *aggregate, uint64_t elements, struct failure *failure)
{
    const __int128 min = element_min(&plan->element);
    uint64_t keys[STATE_RUN_BINS]; /* the first valid value of each nonempty bin */
    uint64_t counts[STATE_RUN_BINS];
    struct state_run run = {.n = 1};
    uint64_t width;
    uint64_t power = column_width(&plan->columns[0]);

    if (state_read_number(state, &width, failure) != STATUS_OK)
        return failure->status;
    while (power < width && power <= UINT64_MAX / 10)
        power *= 10;
    if (width != power)
        return state_fail_damaged(state, "its width cannot be", failure);
    const __int128 lowest = binning_floor(min, width);
    const __int128 end = binning_floor(element_limit(&plan->element) - 1, width) + 1;
    while (run.n > 0) {
        size_t n = 0;
        if (state_read_run(state, (unsigned __int128)(end - lowest), &elements, &run, failure) !=
            STATUS_OK)
            return failure->status;
        for (size_t i = 0; i < run.n; i++) {
            __int128 value = (lowest + (__int128)run.bin + (__int128)i) * width;
            if (run.counts[i] == 0)
                continue;
            keys[n] = (uint64_t)(value < min ? min : value);
            counts[n++] = run.counts[i];
        }
        if (growing_histogram_add(aggregate, keys, counts, n, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static void store_window_rows(struct rows *rows, const struct plan *plan, const void *aggregate,
                              uint64_t group, bool zeros)
{
    const struct growing_histogram *histogram = aggregate;
    (void)group;

    growing_histogram_rows_begin(rows, plan, histogram, histogram->width, zeros);
}

static uint64_t store_window_elements(const void *aggregate)
{
    return ((const struct growing_histogram *)aggregate)->elements;
}

static struct store_memory store_window_memory(const struct plan *plan)
{
    (void)plan;
    return (struct store_memory){.has_counters = true};
}

const struct store store_window = {
    .create = growing_histogram_create,
    .finalize = growing_histogram_finalize,
    .destroy = growing_histogram_destroy,
    .memory = store_window_memory,
    .local_bytes = sizeof(struct store_window_local),
    .local_open = store_window_open,
    .local_accumulate = store_window_accumulate,
    .local_merge = store_window_merge,
    .local_close = store_window_close,
    .save = store_window_save,
    .load = store_window_load,
    .elements = store_window_elements,
    .rows = store_window_rows,
};
