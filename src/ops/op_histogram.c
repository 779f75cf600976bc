/*
 * Saves and loads histograms. The definition has the lines "bins N", the binning, and "outside
 * HOW". The binning is one of: "range LO:HI" and "width W" (bins of width W, the last may be
 * narrower); "range LO:HI" (N bins of nearly equal width); "range LO:HI" and "edges DIGEST";
 * "powers 2"; "powers 10". Attached are, for edges, the distances of each edge from the one before.
 * The numbers are the values ignored, below and above, and the rows.
 */
#include "config.h"

#include "base/decimal.h"
#include "base/digest.h"
#include "base/memory.h"
#include "count/histogram.h"
#include "partial/operation.h"
#include "partial/state_job.h"

#include <stdlib.h>
#include <string.h>

/* Room for LO:HI. */
#define HISTOGRAM_STATE_RANGE_SIZE (2 * DECIMAL_SIZE)

static const char *const histogram_state_outside[] = {
    [OUTSIDE_REPORT] = "report",
    [OUTSIDE_ABORT] = "abort",
    [OUTSIDE_CLAMP] = "clamp",
    [OUTSIDE_IGNORE] = "ignore",
};
#define HISTOGRAM_STATE_OUTSIDES (sizeof histogram_state_outside / sizeof *histogram_state_outside)

static uint64_t histogram_state_digest(const struct binning *binning)
{
    uint64_t digest = 0;

    for (uint64_t bin = 0; bin <= binning->bins; bin++)
        digest = digest_add(digest, (uint64_t)binning_edge(binning, bin));
    return digest;
}

static void histogram_state_define(struct definition *definition, const struct job *job)
{
    const struct binning *binning = &job->binning;
    bool is_powers = binning->base > 0;
    bool is_edges = binning->table != NULL;
    char low[DECIMAL_SIZE];
    char high[DECIMAL_SIZE];

    definition_print(definition, "bins\t%u\n", binning->bins);
    if (is_powers) {
        definition_print(definition, "powers\t%u\n", binning->base);
    } else {
        decimal_format_signed(low, binning_edge(binning, 0));
        decimal_format_signed(high, binning_edge(binning, 0) + binning->last + 1);
        definition_print(definition, "range\t%s:%s\n", low, high);
    }
    if (is_edges)
        definition_print(definition, "edges\t%016llx\n",
                         (unsigned long long)histogram_state_digest(binning));
    else if (!is_powers && binning->numerator == 1 && binning->divisor != 0) /* not 2^64 */
        definition_print(definition, "width\t%llu\n", (unsigned long long)binning->divisor);
    definition_print(definition, "outside\t%s\n", histogram_state_outside[job->outside]);
}

static void histogram_state_attach(struct state_writer *state, const struct job *job)
{
    const struct binning *binning = &job->binning;

    if (!binning->table)
        return;
    for (uint64_t bin = 0; bin < binning->bins; bin++)
        state_write_number(state, (unsigned __int128)(binning_edge(binning, bin + 1) -
                                                      binning_edge(binning, bin)));
}

/* Reads bins + 1 edges, the first of which is `low`. */
static enum status histogram_state_read_edges(struct state_reader *state, __int128 low,
                                              __int128 *edges, size_t bins, struct failure *failure)
{
    edges[0] = low;
    for (size_t i = 0; i < bins; i++) {
        unsigned __int128 distance;
        if (state_read_number_128(state, &distance, failure) != STATUS_OK)
            return failure->status;
        if (distance > (unsigned __int128)1 << 64)
            return state_fail_damaged(state, "its bins are invalid", failure);
        edges[i + 1] = edges[i] + (__int128)distance; /* below 2^97 */
    }
    return STATUS_OK;
}

static enum status histogram_state_recall_edges(struct state_reader *state, struct job *job,
                                                __int128 low, size_t bins, struct failure *failure)
{
    size_t bytes = (bins + 1) * sizeof(__int128);
    __int128 *edges = bytes <= memory_available() / 2 ? malloc(bytes) : NULL;

    if (!edges)
        return status_fail(failure, STATUS_DATA, STATUS_NAME ": no memory for %zu bins",
                           state_reader_name(state), bins);
    enum status status = histogram_state_read_edges(state, low, edges, bins, failure);
    if (status == STATUS_OK)
        status = binning_init_edges(&job->binning, &job->element, edges, bins + 1, failure);
    free(edges);
    return status;
}

static enum status histogram_state_recall_binning(struct state_reader *state,
                                                  const struct definition *definition,
                                                  struct job *job, uint64_t bins,
                                                  struct failure *failure)
{
    char text[HISTOGRAM_STATE_RANGE_SIZE];
    __int128 low;
    __int128 high;
    uint64_t width;

    if (definition_get(definition, "powers", text, sizeof text)) {
        binning_init_powers(&job->binning, &job->element, strcmp(text, "2") == 0 ? 2 : 10);
        return STATUS_OK;
    }
    if (!definition_get(definition, "range", text, sizeof text) ||
        !decimal_parse_range(text, 0, &low, &high))
        return state_fail_damaged(state, "it has no range", failure);
    if (definition_get(definition, "edges", text, sizeof text))
        return histogram_state_recall_edges(state, job, low, bins, failure);
    if (definition_get(definition, "width", text, sizeof text) &&
        decimal_parse_unsigned(text, DECIMAL_UNIT_SI, &width))
        return binning_init_width(&job->binning, &job->element, low, high, width, failure);
    return binning_init(&job->binning, &job->element, low, high, bins, failure);
}

static enum status histogram_state_recall(struct state_reader *state,
                                          const struct definition *definition, struct job *job,
                                          struct failure *failure)
{
    char text[DECIMAL_SIZE];
    uint64_t bins;
    size_t outside = 0;

    if (!definition_get(definition, "bins", text, sizeof text) ||
        !decimal_parse_unsigned(text, DECIMAL_UNIT_SI, &bins) || bins == 0 ||
        bins > BINNING_BINS_MAX)
        return state_fail_damaged(state, "it has no bins", failure);
    if (!definition_get(definition, "outside", text, sizeof text))
        return state_fail_damaged(state, "it does not say what became of values outside the bins",
                                  failure);
    while (outside < HISTOGRAM_STATE_OUTSIDES - 1 &&
           strcmp(text, histogram_state_outside[outside]) != 0)
        outside++;
    job->outside = (enum outside_policy)outside;
    enum status status = histogram_state_recall_binning(state, definition, job, bins, failure);
    if (status == STATUS_USAGE) /* the file is wrong, not the command line */
        return state_fail_damaged(state, "its bins are invalid", failure);
    return status;
}

static uint64_t histogram_state_elements(const void *partial)
{
    return histogram_elements(partial);
}

static void histogram_state_save(struct state_writer *state, const struct job *job,
                                 const void *partial)
{
    const struct histogram *histogram = partial;

    state_write_number(state, histogram->ignored);
    state_write_number(state, histogram_below(histogram));
    state_write_number(state, histogram_above(histogram));
    for (size_t bin = 0; bin < job->binning.bins; bin++) {
        uint64_t count = histogram_count(histogram, bin);
        if (count > 0)
            state_write_row(state, bin, count);
    }
    state_write_rows_end(state);
}

static enum status histogram_state_load(struct state_reader *state, const struct job *job,
                                        void *partial, uint64_t elements, struct failure *failure)
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
    histogram_add_ignored(partial, ignored);
    histogram_add_counts64(partial, job->binning.bins, outside, BINNING_OUTSIDE);
    do {
        if (state_read_run(state, job->binning.bins, &left, &run, failure) != STATUS_OK)
            return failure->status;
        histogram_add_counts64(partial, (size_t)run.bin, run.counts, run.n);
    } while (run.n > 0);
    return STATUS_OK;
}

const struct state_operation histogram_state = {
    .name = "histogram",
    .define = histogram_state_define,
    .attach = histogram_state_attach,
    .recall = histogram_state_recall,
    .elements = histogram_state_elements,
    .save = histogram_state_save,
    .load = histogram_state_load,
};
