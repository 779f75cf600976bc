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
#include "job/binning_index.h"
#include "operations/growing_histogram.h"
#include "partial/operation.h"
#include "partial/rows.h"
#include "partial/state_job.h"

#include <stdlib.h>
#include <string.h>

/* Rows that are added together. */
#define GROWING_HISTOGRAM_STATE_BLOCK 4096

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
        for (size_t i = 0; i < n; i++) {
            struct state_row row = {.count = found[i].count};
            row.bin = (unsigned __int128)(binning_floor(found[i].low, width) - lowest);
            state_write_row(state, &row);
        }
    }
    state_write_row(state, &(struct state_row){.count = 0});
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

/* Rows that are read and not yet added. */
struct growing_histogram_state_block {
    size_t n;
    uint64_t keys[GROWING_HISTOGRAM_STATE_BLOCK]; /* the first value of each bin, of the type's */
    uint64_t counts[GROWING_HISTOGRAM_STATE_BLOCK];
    uint64_t outside[GROWING_HISTOGRAM_STATE_BLOCK];
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

/* Adds a block of rows to the histogram and empties the block. */
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
    block->n = 0;
    return STATUS_OK;
}

static enum status growing_histogram_state_load_rows(struct state_reader *state,
                                                     const struct job *job,
                                                     struct growing_histogram *histogram,
                                                     uint64_t width,
                                                     struct growing_histogram_state_block *block,
                                                     uint64_t left, struct failure *failure)
{
    const __int128 min = element_min(&job->element);
    const __int128 lowest = growing_histogram_state_lowest(job, width);
    const __int128 end = binning_floor(element_limit(&job->element) - 1, width) + 1;
    struct state_row row;

    for (;;) {
        if (state_read_row(state, (unsigned __int128)(end - lowest), &row, failure) != STATUS_OK)
            return failure->status;
        if (row.count == 0 || block->n == GROWING_HISTOGRAM_STATE_BLOCK) {
            if (growing_histogram_state_add(histogram, block, failure) != STATUS_OK)
                return failure->status;
        }
        if (row.count == 0)
            break;
        if (row.count > left)
            return state_fail_damaged(state, "more was counted than there is", failure);
        left -= row.count;
        __int128 value = (lowest + (__int128)row.bin) * width;
        block->keys[block->n] = (uint64_t)(value < min ? min : value);
        block->counts[block->n++] = row.count;
    }
    return left == 0 ? STATUS_OK : state_fail_damaged(state, "not all was counted", failure);
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
    struct growing_histogram_state_block *block;
    uint64_t width;

    if (state_read_number(state, &width, failure) != STATUS_OK)
        return failure->status;
    if (!growing_histogram_state_has_width(width))
        return state_fail_damaged(state, "its width cannot be", failure);
    block = calloc(1, sizeof *block);
    if (!block)
        return status_fail(failure, STATUS_DATA, "no memory for reading a state");
    enum status status =
        growing_histogram_state_load_rows(state, job, partial, width, block, elements, failure);
    free(block);
    return status;
}

const struct state_operation growing_histogram_state = {
    .name = "automatic-histogram",
    .define = growing_histogram_state_define,
    .recall = growing_histogram_state_recall,
    .elements = growing_histogram_state_elements,
    .save = growing_histogram_state_save,
    .load = growing_histogram_state_load,
};
