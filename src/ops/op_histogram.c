/*
 * Operation histogram. On a CPU thread, elements become bin numbers (cpu_index.h), and these are
 * counted (cpu_counter.h). Values of a small range are *folded*: each gets a counter of the
 * thread's own, and the counters are added up by bin at the end. Any kind of bins then costs as
 * much as bins of width 1.
 *
 * The definition of its states has the lines "bins N", the binning, and "outside HOW". The binning
 * is one of: "range LO:HI" and "width W" (bins of width W, the last may be narrower); "range LO:HI"
 * (N bins of nearly equal width); "range LO:HI" and "edges DIGEST"; "powers 2"; "powers 10". For
 * edges, the distances of each edge from the one before come before the number of elements. The
 * numbers behind it are the values ignored, below and above, and the rows.
 */
#include "config.h"

#include "base/decimal.h"
#include "base/digest.h"
#include "base/memory.h"
#include "count/histogram.h"
#include "cpu/cpu_counter.h"
#include "cpu/cpu_index.h"
#include "engine/outside.h"
#include "job/binning_index.h"
#include "ops/operations.h"
#include "partial/rows.h"
#include "partial/state.h"
#include "print/print_rows.h"

#include <stdlib.h>
#include <string.h>

/* Bin numbers that are kept: 16 KiB, half of a common L1. */
#define OP_HISTOGRAM_NUMBERS 4096

/*
 * The most values that are folded: as many as private counters keep copies for
 * (cpu_counter_private.c). Beyond, a run of equal values would wait for its own stores, at 1.0
 * instead of 0.4 ns a value (Zen 4).
 */
#define OP_HISTOGRAM_FOLDED_MAX 1022

struct op_histogram_thread {
    const struct job *job;
    struct histogram *histogram;
    struct job fine;        /* if values are folded: the job with bins of width 1, */
    struct histogram *fold; /* and the counts of those bins; NULL: they are not folded */
    struct cpu_index index; /* of the binning of the job, or of `fine` */
    const struct cpu_counter *counter;
    void *counter_state;
    uint32_t numbers[OP_HISTOGRAM_NUMBERS]; /* of bins */
};

static enum status op_histogram_open(void *thread, const struct job *job, void *partial,
                                     struct failure *failure)
{
    struct op_histogram_thread *self = thread;
    const struct binning *binning = &job->binning;
    struct histogram *table = partial;
    __int128 low;
    __int128 high;

    self->job = job;
    self->histogram = partial;
    binning_bounds(binning, &job->element, &low, &high);
    if (!binning_is_unit(binning) && low < high && high - low <= OP_HISTOGRAM_FOLDED_MAX) {
        self->fine = *job;
        if (binning_init(&self->fine.binning, &job->element, low, high, (uint64_t)(high - low),
                         failure) != STATUS_OK)
            return failure->status;
        self->fold = histogram_create(&self->fine, failure);
        if (!self->fold)
            return failure->status;
        table = self->fold;
        binning = &self->fine.binning;
    }
    cpu_index_init(&self->index, &job->element, binning);
    self->counter = cpu_counter_choose(table, job->second == SECOND_WEIGHTS);
    return self->counter->open(table, &self->counter_state, failure);
}

static enum status op_histogram_absorb(void *thread, const struct chunk *chunk,
                                       struct failure *failure)
{
    struct op_histogram_thread *self = thread;
    const uint32_t bins = self->index.terms.binning->bins;
    const size_t bytes = self->job->element.bytes;
    const size_t elements = chunk->bytes / bytes;
    size_t outside = 0;

    for (size_t i = 0, n; i < elements; i += n) {
        n = elements - i < OP_HISTOGRAM_NUMBERS ? elements - i : OP_HISTOGRAM_NUMBERS;
        cpu_index_find(&self->index, (const char *)chunk->data + i * bytes, n, self->numbers);
        if (self->job->outside == OUTSIDE_ABORT)
            outside += cpu_index_outside(self->numbers, n, bins);
        self->counter->count(self->counter_state, self->numbers,
                             chunk->second ? chunk->second + i : NULL, n);
    }
    return outside > 0 ? outside_check(self->job, chunk, failure) : STATUS_OK;
}

static enum status op_histogram_flush(void *thread, struct failure *failure)
{
    struct op_histogram_thread *self = thread;
    const struct binning *binning = &self->job->binning;
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

static void op_histogram_close(void *thread)
{
    struct op_histogram_thread *self = thread;
    if (self->counter)
        self->counter->close(self->counter_state);
    histogram_destroy(self->fold);
}

/* Room for LO:HI. */
#define OP_HISTOGRAM_RANGE_SIZE (2 * DECIMAL_SIZE)

static const char *const op_histogram_outside[] = {
    [OUTSIDE_REPORT] = "report",
    [OUTSIDE_ABORT] = "abort",
    [OUTSIDE_CLAMP] = "clamp",
    [OUTSIDE_IGNORE] = "ignore",
};
#define OP_HISTOGRAM_OUTSIDES (sizeof op_histogram_outside / sizeof *op_histogram_outside)

static void op_histogram_define(struct definition *definition, const struct job *job)
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
    if (is_edges) {
        uint64_t digest = 0;
        for (uint64_t bin = 0; bin <= binning->bins; bin++)
            digest = digest_add(digest, (uint64_t)binning_edge(binning, bin));
        definition_print(definition, "edges\t%016llx\n", (unsigned long long)digest);
    } else if (!is_powers && binning->numerator == 1 && binning->divisor != 0) { /* not 2^64 */
        definition_print(definition, "width\t%llu\n", (unsigned long long)binning->divisor);
    }
    definition_print(definition, "outside\t%s\n", op_histogram_outside[job->outside]);
}

static enum status op_histogram_save(struct state_writer *state, const struct job *job,
                                     const void *partial, struct failure *failure)
{
    const struct binning *binning = &job->binning;
    const struct histogram *histogram = partial;
    (void)failure;

    for (uint64_t bin = 0; binning->table && bin < binning->bins; bin++)
        state_write_number(state, (unsigned __int128)(binning_edge(binning, bin + 1) -
                                                      binning_edge(binning, bin)));
    state_write_number(state, histogram_elements(histogram));
    state_write_number(state, histogram->ignored);
    state_write_number(state, histogram_below(histogram));
    state_write_number(state, histogram_above(histogram));
    for (size_t bin = 0; bin < binning->bins; bin++) {
        uint64_t count = histogram_count(histogram, bin);
        if (count > 0)
            state_write_row(state, bin, count);
    }
    state_write_rows_end(state);
    return STATUS_OK;
}

/* Reads the edges behind the first, which is `low`, and makes the bins. */
static enum status op_histogram_recall_edges(struct state_reader *state, struct job *job,
                                             __int128 low, size_t bins, struct failure *failure)
{
    size_t bytes = (bins + 1) * sizeof(__int128);
    __int128 *edges = bytes <= memory_available() / 2 ? malloc(bytes) : NULL;
    enum status status = STATUS_OK;

    if (!edges)
        return status_fail(failure, STATUS_DATA, STATUS_NAME ": no memory for %zu bins",
                           state_reader_name(state), bins);
    edges[0] = low;
    for (size_t i = 0; status == STATUS_OK && i < bins; i++) {
        unsigned __int128 distance = 0;
        status = state_read_number_128(state, &distance, failure);
        if (distance > (unsigned __int128)1 << 64)
            status = state_fail_damaged(state, "its bins are invalid", failure);
        else
            edges[i + 1] = edges[i] + (__int128)distance; /* below 2^97 */
    }
    if (status == STATUS_OK)
        status = binning_init_edges(&job->binning, &job->element, edges, bins + 1, failure);
    free(edges);
    return status;
}

static enum status op_histogram_recall_binning(struct state_reader *state,
                                               const struct definition *definition, struct job *job,
                                               uint64_t bins, struct failure *failure)
{
    char text[OP_HISTOGRAM_RANGE_SIZE];
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
        return op_histogram_recall_edges(state, job, low, bins, failure);
    if (definition_get(definition, "width", text, sizeof text) &&
        decimal_parse_unsigned(text, DECIMAL_UNIT_SI, &width))
        return binning_init_width(&job->binning, &job->element, low, high, width, failure);
    return binning_init(&job->binning, &job->element, low, high, bins, failure);
}

static enum status op_histogram_recall(struct state_reader *state,
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
    while (outside < OP_HISTOGRAM_OUTSIDES - 1 && strcmp(text, op_histogram_outside[outside]) != 0)
        outside++;
    job->outside = (enum outside_policy)outside;
    enum status status = op_histogram_recall_binning(state, definition, job, bins, failure);
    if (status == STATUS_USAGE) /* the file is wrong, not the command line */
        return state_fail_damaged(state, "its bins are invalid", failure);
    return status;
}

static enum status op_histogram_load(struct state_reader *state, const struct job *job,
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

static enum status op_histogram_print(struct writer *writer, const struct job *job,
                                      const void *partial, const struct print_options *options,
                                      struct failure *failure)
{
    struct rows rows;

    histogram_rows_begin(&rows, job, partial, options->zeros);
    return print_rows(writer, &rows, options, failure);
}

static void op_histogram_report(const struct job *job, const void *partial)
{
    const struct histogram *histogram = partial;
    unsigned long long below = histogram_below(histogram);
    unsigned long long above = histogram_above(histogram);

    if (below > 0 || above > 0)
        status_print("%s outside the bins: %llu below, %llu above (%s)",
                     job->second == SECOND_WEIGHTS ? "weights" : "values", below, above,
                     histogram->inside > 0 ? "see --outside" : "none inside: try --width or uniq");
}

static enum status op_histogram_check_result(const struct job *job, const void *partial,
                                             struct failure *failure)
{
    const struct histogram *histogram = partial;
    bool has_values =
        histogram->inside > 0 || histogram_below(histogram) > 0 || histogram_above(histogram) > 0;

    return job_check_values(job, has_values, failure);
}

const struct operation op_histogram = {
    .name = "histogram",
    .alias = "hist",
    .help = "count the values in each bin (the default)",
    .usage = "gpuhist [OPERATION] [OPTION]... [FILE]...\n"
             "Count integers, text or binary, plain or compressed, on all cores and GPUs.\n"
             "\n"
             "Examples:\n"
             "  gpuhist uniq --top 10 ids.txt                the 10 most frequent values\n"
             "  gpuhist uniq -f 9 access.log*.gz             how often each HTTP status came\n"
             "  gpuhist --quantiles 50,99 --csv -f ms x.csv  percentiles of a column\n",
    .create = histogram_create,
    .finish = histogram_finish,
    .destroy = histogram_destroy,
    .thread_bytes = sizeof(struct op_histogram_thread),
    .thread_open = op_histogram_open,
    .thread_absorb = op_histogram_absorb,
    .thread_finish = op_histogram_flush,
    .thread_close = op_histogram_close,
    .state_name = "histogram",
    .define = op_histogram_define,
    .save = op_histogram_save,
    .recall = op_histogram_recall,
    .load = op_histogram_load,
    .print = op_histogram_print,
    .report = op_histogram_report,
    .check_result = op_histogram_check_result,
};
