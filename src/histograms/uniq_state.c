/*
 * Saves and loads uniq. The definition has the line "width W". The numbers are the rows, in which
 * bin 0 is that of the type's smallest value.
 */
#include "config.h"

#include "base/decimal.h"
#include "histograms/uniq.h"
#include "job/binning_index.h"
#include "partial/rows.h"
#include "partial/state_job.h"

#include <string.h>

#define UNIQ_STATE_BATCH 1024

static void uniq_state_define(struct definition *definition, const struct job *job)
{
    definition_print(definition, "width\t%llu\n", (unsigned long long)job->bin_width);
}

static enum status uniq_state_recall(struct state_reader *state,
                                     const struct definition *definition, struct job *job,
                                     struct failure *failure)
{
    char text[DECIMAL_SIZE];

    if (definition_get(definition, "width", text, sizeof text) &&
        decimal_parse_unsigned(text, DECIMAL_UNIT_SI, &job->bin_width) && job->bin_width > 0)
        return STATUS_OK;
    return state_fail_damaged(state, "it has no width", failure);
}

static uint64_t uniq_state_elements(const void *partial)
{
    return ((const struct uniq *)partial)->elements;
}

/* The key of the bin of that value. */
static uint64_t uniq_state_key(const struct uniq *uniq, const struct job *job, __int128 value)
{
    return (uint64_t)binning_floor(value, job->bin_width) ^ uniq->flip;
}

static void uniq_state_save(struct state_writer *state, const struct job *job, const void *partial)
{
    const struct uniq *uniq = partial;
    const __int128 lowest = binning_floor(element_min(&job->element), job->bin_width);
    struct rows_row found[UNIQ_STATE_BATCH];
    struct rows rows;
    size_t n;

    uniq_rows_begin(&rows, job, uniq, false);
    while ((n = rows.read(&rows, found, UNIQ_STATE_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++) {
            const __int128 bin = binning_floor(found[i].low, job->bin_width) - lowest;
            state_write_row(state, (unsigned __int128)bin, found[i].count);
        }
    }
    state_write_rows_end(state);
}

/*
 * A run of so many bins is worth a window. 8 states of 5M dense values: 0.14 s; without windows 1.9
 * s.
 */
#define UNIQ_STATE_DENSE (STATE_RUN_BINS / 2)

/*
 * Adds a long run to the newest window, if it lies there; else asks for another window. `seen` is
 * the number of rows so far. Returns whether the run is added.
 */
static bool uniq_state_add_dense(struct uniq *uniq, const struct state_run *run, uint64_t lowest,
                                 uint64_t seen)
{
    const uint64_t first = (uint64_t)run->bin + lowest;
    const struct growing_window *window = uniq_window(uniq);
    uint64_t ends[2] = {first, first + run->n - 1};

    if (run->n < UNIQ_STATE_DENSE)
        return false;
    const __int128 bin = window ? uniq_bin(uniq, first) - window->first : 0;
    if (window && bin >= 0 && bin + (__int128)run->n <= (__int128)window->bins) {
        histogram_add_counts64(window->histogram, (size_t)bin, run->counts, run->n);
        return true;
    }
    uniq_consider_window(uniq, window, ends, 2, seen);
    return false;
}

static enum status uniq_state_load(struct state_reader *state, const struct job *job, void *partial,
                                   uint64_t elements, struct failure *failure)
{
    struct uniq *uniq = partial;
    const uint64_t lowest = uniq_state_key(uniq, job, element_min(&job->element));
    const uint64_t last = uniq_state_key(uniq, job, element_limit(&job->element) - 1) - lowest;
    struct table_entry entries[UNIQ_STATE_BATCH + STATE_RUN_BINS];
    struct table_writer *writer = NULL;
    struct state_run run = {.n = 1};
    uint64_t seen = 0;
    size_t n = 0;

    enum status status = table_writer_open(uniq->table, &writer, failure);
    while (status == STATUS_OK && run.n > 0) {
        status = state_read_run(state, (unsigned __int128)last + 1, &elements, &run, failure);
        if (status != STATUS_OK)
            break;
        seen += run.n;
        if (!uniq_state_add_dense(uniq, &run, lowest, seen)) {
            for (size_t i = 0; i < run.n; i++) {
                entries[n] = (struct table_entry){(uint64_t)run.bin + i + lowest, run.counts[i]};
                n += run.counts[i] > 0;
            }
        }
        if (n >= UNIQ_STATE_BATCH || run.n == 0) {
            status = table_writer_add_rows(writer, entries, n, failure);
            n = 0;
        }
    }
    if (status == STATUS_OK)
        status = table_writer_flush(writer, failure);
    table_writer_close(writer);
    return status;
}

const struct state_operation uniq_state = {
    .name = "uniq",
    .define = uniq_state_define,
    .recall = uniq_state_recall,
    .elements = uniq_state_elements,
    .save = uniq_state_save,
    .check = uniq_check,
    .load = uniq_state_load,
};
