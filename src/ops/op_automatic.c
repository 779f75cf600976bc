/*
 * Saves and loads automatic histograms. The definition has the line "width automatic". The numbers
 * are the width of the bins of the rows, the power of ten that the windows have reached, and the
 * rows. Bin 0 is that of the type's smallest value.
 *
 * Loading counts the first value of each bin. This gives the same result as
 * the values themselves: their bins of any multiple of the width are the same
 * (growing_histogram_rows.c).
 */
#include "config.h"

#include "base/decimal.h"
#include "count/growing_histogram.h"
#include "job/binning_index.h"
#include "partial/operation.h"
#include "partial/rows.h"
#include "partial/state_job.h"

#include <string.h>

static void growing_histogram_state_define(struct definition *definition, const struct job *job)
{
    (void)job;
    definition_print(definition, "width\tautomatic\n");
}

static enum status growing_histogram_state_recall(struct state_reader *state,
                                                  const struct definition *definition,
                                                  struct job *job, struct failure *failure)
{
    char text[DECIMAL_SIZE];

    (void)job;
    if (!definition_get(definition, "width", text, sizeof text) || strcmp(text, "automatic") != 0)
        return state_fail_damaged(state, "it has no width", failure);
    return STATUS_OK;
}

static uint64_t growing_histogram_state_elements(const void *partial)
{
    return ((const struct growing_histogram *)partial)->elements;
}

/* The number of the bin of the type's smallest value. */
static __int128 growing_histogram_state_lowest(const struct job *job, uint64_t width)
{
    return binning_floor(element_min(&job->element), width);
}

static void growing_histogram_state_save_rows(struct state_writer *state, struct rows *rows,
                                              __int128 lowest, uint64_t width)
{
    struct rows_row found[256];
    size_t n;

    while ((n = rows->read(rows, found, sizeof found / sizeof *found)) > 0) {
        for (size_t i = 0; i < n; i++)
            state_write_row(state, (unsigned __int128)(binning_floor(found[i].low, width) - lowest),
                            found[i].count);
    }
    state_write_rows_end(state);
}

static void growing_histogram_state_save(struct state_writer *state, const struct job *job,
                                         const void *partial)
{
    const struct growing_histogram *histogram = partial;
    struct rows rows;

    state_write_number(state, histogram->width);
    growing_histogram_fine_rows_begin(&rows, job, histogram);
    growing_histogram_state_save_rows(state, &rows,
                                      growing_histogram_state_lowest(job, histogram->width),
                                      histogram->width);
}

/* The bins of a run that are not empty. */
struct growing_histogram_state_block {
    size_t n;
    uint64_t keys[STATE_RUN_BINS]; /* the first value of each bin, of the type's */
    uint64_t counts[STATE_RUN_BINS];
    uint64_t outside[STATE_RUN_BINS];
};

/*
 * Copies the keys outside the window, which may be NULL, to block->outside. Returns their number.
 */
static size_t growing_histogram_state_find_outside(const struct growing_window *window,
                                                   struct growing_histogram_state_block *block)
{
    size_t outside = 0;

    for (size_t i = 0; i < block->n; i++) {
        if (!window || binning_index(&window->binning, window->binning.form, block->keys[i]) >=
                           window->binning.bins)
            block->outside[outside++] = block->keys[i];
    }
    return outside;
}

static enum status growing_histogram_state_add(struct growing_histogram *histogram,
                                               struct growing_histogram_state_block *block,
                                               struct failure *failure)
{
    const struct growing_window *window = growing_histogram_window(histogram);
    size_t outside;

    while ((outside = growing_histogram_state_find_outside(window, block)) > 0) {
        if (growing_histogram_widen(histogram, window, block->outside, outside, &window, failure) !=
            STATUS_OK)
            return failure->status;
    }
    for (size_t i = 0; i < block->n; i++) {
        uint32_t bin = binning_index(&window->binning, window->binning.form, block->keys[i]);
        histogram_add_counts64(window->histogram, bin, &block->counts[i], 1);
    }
    return STATUS_OK;
}

static enum status growing_histogram_state_load_runs(struct state_reader *state,
                                                     const struct job *job,
                                                     struct growing_histogram *histogram,
                                                     uint64_t width, uint64_t left,
                                                     struct failure *failure)
{
    const __int128 min = element_min(&job->element);
    const __int128 lowest = growing_histogram_state_lowest(job, width);
    const __int128 end = binning_floor(element_limit(&job->element) - 1, width) + 1;
    const unsigned __int128 bins = (unsigned __int128)(end - lowest);
    struct growing_histogram_state_block block;
    struct state_run run;

    do {
        if (state_read_run(state, bins, &left, &run, failure) != STATUS_OK)
            return failure->status;
        block.n = 0;
        for (size_t i = 0; i < run.n; i++) {
            __int128 value = (lowest + (__int128)run.bin + (__int128)i) * width;
            if (run.counts[i] == 0)
                continue;
            block.keys[block.n] = (uint64_t)(value < min ? min : value);
            block.counts[block.n++] = run.counts[i];
        }
        if (growing_histogram_state_add(histogram, &block, failure) != STATUS_OK)
            return failure->status;
    } while (run.n > 0);
    return STATUS_OK;
}

/* Whether bins of rows can have this width. */
static bool growing_histogram_state_has_width(uint64_t width)
{
    uint64_t power = 1;

    while (power < width && power <= UINT64_MAX / 10)
        power *= 10;
    return width == power;
}

static enum status growing_histogram_state_load(struct state_reader *state, const struct job *job,
                                                void *partial, uint64_t elements,
                                                struct failure *failure)
{
    uint64_t width;

    if (state_read_number(state, &width, failure) != STATUS_OK)
        return failure->status;
    if (!growing_histogram_state_has_width(width))
        return state_fail_damaged(state, "its width cannot be", failure);
    return growing_histogram_state_load_runs(state, job, partial, width, elements, failure);
}

const struct state_operation growing_histogram_state = {
    .name = "automatic-histogram",
    .define = growing_histogram_state_define,
    .recall = growing_histogram_state_recall,
    .elements = growing_histogram_state_elements,
    .save = growing_histogram_state_save,
    .load = growing_histogram_state_load,
};
