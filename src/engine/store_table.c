/*
 * Operation uniq. A CPU thread counts values in the window (cpu_window.h), if there is one, and
 * adds the keys of the other values to the table.
 *
 * The numbers of its states are the rows, in which bin 0 has the type's smallest value.
 */
#include "config.h"

#include "aggregate/rows.h"
#include "aggregate/state.h"
#include "aggregate/uniq.h"
#include "engine/cpu_window.h"
#include "engine/stores.h"
#include "value/binning_index.h"

/* Number of keys in the sample that decides about a window. */
#define STORE_TABLE_SAMPLE ((size_t)1024)

struct store_table_local {
    const struct plan *plan;
    struct uniq *uniq;
    struct cpu_window window;
    struct table_writer *writer;
    uint64_t chunks;
    uint64_t seen;    /* number of values so far */
    uint64_t last;    /* number of values of the last chunk */
    uint64_t outside; /* number of those that were outside the window */
};

static enum status store_table_open(void *local, const struct plan *plan, void *aggregate,
                                    struct failure *failure)
{
    struct store_table_local *self = local;

    self->plan = plan;
    self->uniq = aggregate;
    cpu_window_init(&self->window, plan);
    return table_writer_open(self->uniq->table, &self->writer, failure);
}

/*
 * Turns to the newest window. After 0, 1, 3, 7, ... chunks, asks for another window for a sample of
 * this chunk, if more than an eighth of the last chunk's values were outside. (With a half instead,
 * 5M values in chunks of 128 KiB took 1.34 s instead of 0.57: their first windows were small, and
 * the one that had half of them stayed.)
 */
static enum status store_table_choose_window(struct store_table_local *self,
                                             const struct chunk *chunk, size_t elements,
                                             struct failure *failure)
{
    const bool is_due = (self->chunks & (self->chunks + 1)) == 0;
    const size_t n = elements < STORE_TABLE_SAMPLE ? elements : STORE_TABLE_SAMPLE;
    const size_t bytes = self->plan->element.bytes;
    uint64_t keys[STORE_TABLE_SAMPLE];

    if (is_due && elements > 0 && 8 * self->outside >= self->last) {
        for (size_t i = 0; i < n; i++)
            keys[i] = element_key(&self->plan->element,
                                  (const char *)chunk->data + i * elements / n * bytes);
        uniq_make_keys(self->uniq, keys, n);
        uniq_consider_window(self->uniq, self->window.window, keys, n, self->seen + elements);
    }
    const struct growing_window *newest = uniq_window(self->uniq);
    self->chunks++;
    self->seen += elements;
    self->last = elements;
    self->outside = 0;
    return newest != self->window.window ? cpu_window_turn(&self->window, newest, failure)
                                         : STATUS_OK;
}

/* Adds the values outside the window to the table. */
static enum status store_table_add(struct store_table_local *self, size_t n,
                                   struct failure *failure)
{
    const struct cpu_window *window = &self->window;

    uniq_make_keys(self->uniq, self->window.outside, n);
    if (!window->has_weights)
        return table_writer_add(self->writer, window->outside, n, failure);
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < TABLE_ACCUMULATE_MAX ? n - i : TABLE_ACCUMULATE_MAX;
        if (table_writer_accumulate(self->writer, window->outside + i, NULL,
                                    window->outside_weights + i, some, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status store_table_accumulate(void *local, const struct chunk *chunk,
                                          struct failure *failure)
{
    struct store_table_local *self = local;
    const size_t bytes = self->plan->element.bytes;
    const size_t elements = chunk->bytes / bytes;

    if (store_table_choose_window(self, chunk, elements, failure) != STATUS_OK)
        return failure->status;
    for (size_t i = 0, n; i < elements; i += n) {
        n = elements - i < CPU_WINDOW_BLOCK ? elements - i : CPU_WINDOW_BLOCK;
        const uint64_t *weights = chunk->weights ? chunk->weights + i : NULL;
        size_t outside =
            cpu_window_count(&self->window, (const char *)chunk->data + i * bytes, weights, n);
        self->outside += outside;
        for (size_t k = 0; weights && k < outside; k++) /* windows do not count these */
            self->outside -= self->window.outside_weights[k] == 0;
        if (store_table_add(self, outside, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

static enum status store_table_merge(void *local, struct failure *failure)
{
    struct store_table_local *self = local;

    cpu_window_flush(&self->window);
    return table_writer_flush(self->writer, failure);
}

static void store_table_close(void *local)
{
    struct store_table_local *self = local;
    cpu_window_destroy(&self->window);
    table_writer_close(self->writer);
}

#define STORE_TABLE_BATCH 1024

enum status store_table_save_rows(struct state_writer *state, const struct uniq *uniq,
                                  struct failure *failure)
{
    struct rows rows;

    uniq_rows_begin(&rows, uniq->plan, uniq, false);
    rows_save(&rows, uniq->plan->bin_width, state);
    return table_check(uniq->table, failure);
}

/*
 * Writes the values whose weights add up to 0: their number, and rows in which each has a count of
 * 1.
 */
static void store_table_save_zeros(struct state_writer *state, const struct uniq *uniq)
{
    const __int128 lowest = element_min(&uniq->plan->element);
    struct rows_row batch[STORE_TABLE_BATCH];
    struct rows all;
    uint64_t zeros = 0;
    size_t n;

    uniq_rows_begin(&all, uniq->plan, uniq, false);
    for (struct rows rows = all; (n = rows_read(&rows, batch, STORE_TABLE_BATCH)) > 0;) {
        for (size_t i = 0; i < n; i++)
            zeros += batch[i].count == 0;
    }
    state_write_number(state, zeros);
    while (zeros > 0 && (n = rows_read(&all, batch, STORE_TABLE_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++) {
            if (batch[i].count == 0)
                state_write_row(state, (unsigned __int128)(batch[i].low - lowest), 1);
        }
    }
    state_write_rows_end(state);
}

static enum status store_table_save(struct state_writer *state, const struct plan *plan,
                                    const void *aggregate, struct failure *failure)
{
    const struct uniq *uniq = aggregate;

    state_write_number(state, uniq->elements);
    if (plan_keeps_zeros(plan))
        store_table_save_zeros(state, uniq);
    return store_table_save_rows(state, uniq, failure);
}

/* Returns the key of the bin of a value. */
static uint64_t store_table_key(const struct uniq *uniq, const struct plan *plan, __int128 value)
{
    return (uint64_t)binning_floor(value, plan->bin_width) ^ uniq->sign_bias;
}

/*
 * Minimum number of bins in a run that is worth a window. 8 states of 5M dense values take 0.14 s,
 * without windows 1.9 s.
 */
#define STORE_TABLE_DENSE (STATE_RUN_BINS / 2)

/*
 * Adds a long run to the newest window if it lies in it; else asks for another window. `seen` is
 * the number of rows so far. Returns whether the run was added.
 */
static bool store_table_add_dense(struct uniq *uniq, const struct state_run *run, uint64_t lowest,
                                  uint64_t seen)
{
    const uint64_t first = (uint64_t)run->bin + lowest;
    const struct growing_window *window = uniq_window(uniq);
    uint64_t ends[2] = {first, first + run->n - 1};

    if (run->n < STORE_TABLE_DENSE)
        return false;
    const __int128 bin = window ? uniq_bin(uniq, first) - window->first : 0;
    if (window && bin >= 0 && bin + (__int128)run->n <= (__int128)window->bins) {
        histogram_add_counts64(window->histogram, (size_t)bin, run->counts, run->n);
        return true;
    }
    uniq_consider_window(uniq, window, ends, 2, seen);
    return false;
}

static enum status store_table_load(struct state_reader *state, const struct plan *plan,
                                    void *aggregate, uint64_t elements, struct failure *failure)
{
    struct uniq *uniq = aggregate;
    const uint64_t lowest = store_table_key(uniq, plan, element_min(&plan->element));
    const uint64_t last = store_table_key(uniq, plan, element_limit(&plan->element) - 1) - lowest;
    struct table_entry entries[STORE_TABLE_BATCH + STATE_RUN_BINS];
    struct table_writer *writer = NULL;
    struct state_run run = {.n = 1};
    bool are_zeros = plan_keeps_zeros(plan); /* their rows come first */
    uint64_t zeros = 0;
    uint64_t seen = 0;
    size_t n = 0;

    enum status status = table_writer_open(uniq->table, &writer, failure);
    if (status == STATUS_OK && are_zeros)
        status = state_read_number(state, &zeros, failure);
    while (status == STATUS_OK && (run.n > 0 || are_zeros)) {
        are_zeros = are_zeros && run.n > 0;
        status = state_read_run(state, (unsigned __int128)last + 1, are_zeros ? &zeros : &elements,
                                &run, failure);
        if (status != STATUS_OK)
            break;
        seen += run.n;
        if (are_zeros || !store_table_add_dense(uniq, &run, lowest, seen)) {
            for (size_t i = 0; i < run.n; i++) {
                const uint64_t count = are_zeros ? 0 : run.counts[i];
                entries[n] = (struct table_entry){(uint64_t)run.bin + i + lowest, count};
                n += run.counts[i] > 0;
            }
        }
        if (n >= STORE_TABLE_BATCH || run.n == 0) {
            status = table_writer_add_rows(writer, entries, n, failure);
            n = 0;
        }
    }
    if (status == STATUS_OK)
        status = table_writer_flush(writer, failure);
    table_writer_close(writer);
    return status;
}

static void store_table_rows(struct rows *rows, const struct plan *plan, const void *aggregate,
                             uint64_t group, bool zeros)
{
    (void)group;
    uniq_rows_begin(rows, plan, aggregate, zeros);
}

static uint64_t store_table_elements(const void *aggregate)
{
    return ((const struct uniq *)aggregate)->elements;
}

static enum status store_table_check(const void *aggregate, struct failure *failure)
{
    return table_check(((const struct uniq *)aggregate)->table, failure);
}

static struct store_memory store_table_memory(const struct plan *plan)
{
    return (struct store_memory){.has_table = true, .has_counters = true, .bins = plan->range_bins};
}

const struct store store_table = {
    .create = uniq_create,
    .finalize = uniq_finalize,
    .destroy = uniq_destroy,
    .memory = store_table_memory,
    .size = uniq_size,
    .local_bytes = sizeof(struct store_table_local),
    .local_open = store_table_open,
    .local_accumulate = store_table_accumulate,
    .local_merge = store_table_merge,
    .local_close = store_table_close,
    .save = store_table_save,
    .load = store_table_load,
    .elements = store_table_elements,
    .rows = store_table_rows,
    .check = store_table_check,
};
