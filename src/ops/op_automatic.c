/*
 * Histogram with automatic bins, a mode of histogram (growing_histogram.h). A CPU thread counts in
 * the newest window (cpu_window.h), and makes a wider one for what lies outside.
 *
 * The numbers of its states are the width of the bins of the rows, the power of ten that the
 * windows have reached, and the rows. Bin 0 is that of the type's smallest value. Loading counts
 * the first value of each bin. This gives the same result as the values themselves: their bins of
 * any multiple of the width are the same (count/growing_histogram.c).
 */
#include "config.h"

#include "base/decimal.h"
#include "count/growing_histogram.h"
#include "cpu/cpu_window.h"
#include "ops/stores.h"
#include "partial/rows.h"
#include "partial/state.h"
#include "print/print_heat.h"
#include "print/print_rows.h"

struct op_automatic_local {
    const struct job *job;
    struct growing_histogram *histogram;
    struct cpu_window window;
};

static enum status op_automatic_open(void *local, const struct job *job, void *partial,
                                     struct failure *failure)
{
    struct op_automatic_local *self = local;
    (void)failure;

    self->job = job;
    self->histogram = partial;
    cpu_window_init(&self->window, job);
    return STATUS_OK;
}

static enum status op_automatic_absorb(void *local, const struct chunk *chunk,
                                       struct failure *failure)
{
    struct op_automatic_local *self = local;
    struct cpu_window *window = &self->window;
    const size_t bytes = self->job->element.bytes;
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

static enum status op_automatic_merge(void *local, struct failure *failure)
{
    (void)failure;
    cpu_window_flush(&((struct op_automatic_local *)local)->window);
    return STATUS_OK;
}

static void op_automatic_close(void *local)
{
    cpu_window_destroy(&((struct op_automatic_local *)local)->window);
}

static enum status op_automatic_save(struct state_writer *state, const struct job *job,
                                     const void *partial, struct failure *failure)
{
    const struct growing_histogram *histogram = partial;
    struct rows rows;
    (void)failure;

    state_write_number(state, histogram->elements);
    state_write_number(state, histogram->width);
    growing_histogram_rows_begin(&rows, job, histogram, histogram->width, false);
    rows_save(&rows, histogram->width, state);
    return STATUS_OK;
}

static enum status op_automatic_load(struct state_reader *state, const struct job *job,
                                     void *partial, uint64_t elements, struct failure *failure)
{
    const __int128 min = element_min(&job->element);
    uint64_t keys[STATE_RUN_BINS]; /* the first value of a bin that is not empty, of the type's */
    uint64_t counts[STATE_RUN_BINS];
    struct state_run run = {.n = 1};
    uint64_t width;
    uint64_t power = 1;

    if (state_read_number(state, &width, failure) != STATUS_OK)
        return failure->status;
    while (power < width && power <= UINT64_MAX / 10)
        power *= 10;
    if (width != power)
        return state_fail_damaged(state, "its width cannot be", failure);
    const __int128 lowest = binning_floor(min, width);
    const __int128 end = binning_floor(element_limit(&job->element) - 1, width) + 1;
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
        if (growing_histogram_add(partial, keys, counts, n, failure) != STATUS_OK)
            return failure->status;
    }
    return STATUS_OK;
}

/* So many different values at most are few, if they are one in so many of such a range. */
#define OP_AUTOMATIC_FEW   GROWING_HISTOGRAM_RESULT_BINS
#define OP_AUTOMATIC_APART 4
#define OP_AUTOMATIC_RANGE 500
_Static_assert(OP_AUTOMATIC_RANGE <= GROWING_HISTOGRAM_BINS / 2,
               "in any order they are counted in bins of width 1");

/* A bin with so many percent of the values hides them. */
#define OP_AUTOMATIC_MOST 90

/* Whether the rows are single values that lie apart, `few` at most. */
static bool op_automatic_is_sparse(struct rows rows, uint64_t few)
{
    struct rows_row batch[OP_AUTOMATIC_FEW + 1];
    size_t count = 0;
    size_t n;

    while (count <= OP_AUTOMATIC_FEW &&
           (n = rows_read(&rows, batch + count, OP_AUTOMATIC_FEW + 1 - count)) > 0)
        count += n;
    if (!rows.is_unit || count == 0 || count > few)
        return false;
    const __int128 range = batch[count - 1].high - batch[0].low;
    return range >= (__int128)count * OP_AUTOMATIC_APART && range <= OP_AUTOMATIC_RANGE;
}

uint64_t op_automatic_begin_rows(struct rows *rows, const struct job *job,
                                 const struct growing_histogram *histogram,
                                 const struct print_options *options)
{
    const struct print_format *format = print_rows_format(options);
    const uint64_t bins = format->automatic_bins
                              ? format->automatic_bins(options, job->group_count > 0)
                              : GROWING_HISTOGRAM_RESULT_BINS;
    const uint64_t width = growing_histogram_width(histogram, bins);
    struct rows values;

    growing_histogram_rows_begin(rows, job, histogram, width, options->zeros);
    growing_histogram_rows_begin(&values, job, histogram, histogram->width, false);
    if (rows->is_unit || options->zeros || !format->names_values ||
        !op_automatic_is_sparse(values, bins))
        return width;
    *rows = values;
    rows->is_sparse = true;
    return 1;
}

static enum status op_automatic_print(struct writer *writer, const struct job *job,
                                      const void *partial, const struct print_options *options,
                                      struct failure *failure)
{
    struct rows rows;

    op_automatic_begin_rows(&rows, job, partial, options);
    return print_rows(writer, &rows, options, failure);
}

/* In a picture with nearly all values in one bin, other bins would show more. */
static void op_automatic_note(const struct job *job, const void *partial,
                              const struct print_options *options)
{
    struct rows_row row;
    struct rows rows;
    char low[DECIMAL_SIZE];
    char high[DECIMAL_SIZE];

    if (!print_rows_format(options)->names_values ||
        op_automatic_begin_rows(&rows, job, partial, options) == 1)
        return;
    while (rows_read(&rows, &row, 1) > 0) {
        const unsigned __int128 percent = (unsigned __int128)row.count * 100 / rows.inside;
        if (percent < OP_AUTOMATIC_MOST)
            continue;
        decimal_format_fixed(low, row.low, job->element.decimals);
        decimal_format_fixed(high, row.high, job->element.decimals);
        status_print(
            "note: %u%% of %.200s are in one bin; to see more, try --log2 or --range %s:%s",
            (unsigned)percent, job->has_weights ? job_count_name(job) : "the values", low, high);
    }
}

static enum status op_automatic_check_result(const struct job *job, const void *partial,
                                             struct failure *failure)
{
    const struct growing_histogram *histogram = partial;
    return job_check_values(job, histogram->elements > 0, failure);
}

const struct store op_automatic = {
    .create = growing_histogram_create,
    .finalize = growing_histogram_finalize,
    .destroy = growing_histogram_destroy,
    .local_bytes = sizeof(struct op_automatic_local),
    .local_open = op_automatic_open,
    .local_absorb = op_automatic_absorb,
    .local_merge = op_automatic_merge,
    .local_close = op_automatic_close,
    .save = op_automatic_save,
    .load = op_automatic_load,
    .print = op_automatic_print,
    .note = op_automatic_note,
    .check_result = op_automatic_check_result,
};
