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
#include "histograms/growing_histogram.h"
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

static void growing_histogram_state_save(struct state_writer *state, const struct job *job,
                                         const void *partial)
{
    const struct growing_histogram *histogram = partial;
    const __int128 lowest = growing_histogram_state_lowest(job, histogram->width);
    struct rows rows;
    struct rows_row row;

    state_write_number(state, histogram->width);
    growing_histogram_fine_rows_begin(&rows, job, histogram);
    while (rows.read(&rows, &row, 1) > 0)
        state_write_row(state,
                        (unsigned __int128)(binning_floor(row.low, histogram->width) - lowest),
                        row.count);
    state_write_rows_end(state);
}

static enum status growing_histogram_state_load(struct state_reader *state, const struct job *job,
                                                void *partial, uint64_t elements,
                                                struct failure *failure)
{
    const __int128 min = element_min(&job->element);
    uint64_t
        keys[STATE_RUN_BINS]; /* the first value of each bin that is not empty, of the type's */
    uint64_t counts[STATE_RUN_BINS];
    struct state_run run = {.n = 1};
    uint64_t width;
    uint64_t power = 1;

    if (state_read_number(state, &width, failure) != STATUS_OK)
        return failure->status;
    while (power < width && power <= UINT64_MAX / 10)
        power *= 10;
    if (width != power)
        return state_fail_damaged(state, "its bins have an invalid width", failure);
    const __int128 lowest = growing_histogram_state_lowest(job, width);
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

const struct state_operation growing_histogram_state = {
    .name = "automatic-histogram",
    .define = growing_histogram_state_define,
    .recall = growing_histogram_state_recall,
    .elements = growing_histogram_state_elements,
    .save = growing_histogram_state_save,
    .load = growing_histogram_state_load,
};
