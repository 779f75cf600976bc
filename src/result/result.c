/*
 * Implements result.h. If a plan does not have the bins, this file makes them from the rows of its
 * values: automatic bins, and those of --range auto.
 */
#include "config.h"

#include "result/result.h"

#include "aggregate/columns.h"
#include "aggregate/groups.h"
#include "aggregate/growing_histogram.h"
#include "aggregate/range_histogram.h"
#include "aggregate/reduce.h"
#include "aggregate/rows.h"
#include "lib/decimal.h"
#include "lib/writer.h"
#include "result/print_heat.h"
#include "result/print_order.h"
#include "result/print_rows.h"
#include "result/print_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rows of some groups in automatic bins. */
struct result_automatic {
    struct rows rows;
    uint64_t width; /* the width of the bins */
    struct growing_histogram *histogram;
};

/*
 * Values are shown instead of bins if at most FEW distinct ones occur, within RANGE, and at most
 * one in APART of the range.
 */
#define RESULT_FEW   GROWING_HISTOGRAM_RESULT_BINS
#define RESULT_APART 4
#define RESULT_RANGE 500
_Static_assert(RESULT_RANGE <= GROWING_HISTOGRAM_BINS / 2,
               "in any order they are counted in bins of width 1");

/* Percentage of values in one bin that triggers the note. */
#define RESULT_MOST 90

/* Returns whether the rows are at most `few` single values that lie apart. */
static bool result_is_sparse(struct rows rows, uint64_t few)
{
    struct rows_row batch[RESULT_FEW + 1];
    size_t count = 0;
    size_t n;

    while (count <= RESULT_FEW && (n = rows_read(&rows, batch + count, RESULT_FEW + 1 - count)) > 0)
        count += n;
    if (!rows.is_unit || count == 0 || count > few)
        return false;
    const __int128 range = batch[count - 1].high - batch[0].low;
    return range >= (__int128)count * RESULT_APART && range <= RESULT_RANGE;
}

/*
 * Makes the automatic bins of the values of groups `first` to `last`: in plots as few as fit, or
 * the values themselves if they are few, such as statuses. Fails with STATUS_DATA if there is no
 * memory. The caller destroys the histogram, also after a failure.
 */
static enum status result_make_automatic(struct result_automatic *self, const struct plan *plan,
                                         const void *aggregate, uint64_t first, uint64_t last,
                                         const struct print_options *options,
                                         struct failure *failure)
{
    const struct print_format *format = print_rows_format(options);
    const uint64_t bins = format->automatic_bins
                              ? format->automatic_bins(options, plan->group_count > 0)
                              : GROWING_HISTOGRAM_RESULT_BINS;
    const __int128 min = element_min(&plan->element);
    struct growing_histogram *histogram = growing_histogram_create(plan, failure);
    struct rows_row batch[ROWS_BATCH];
    uint64_t keys[ROWS_BATCH];
    uint64_t counts[ROWS_BATCH];
    uint64_t elements = 0;
    struct rows rows;
    size_t n;

    self->histogram = histogram;
    if (!histogram)
        return failure->status;
    for (uint64_t g = first; g <= last; g++) {
        store_of(plan)->rows(&rows, plan, aggregate, g, false);
        elements += rows.inside;
        while ((n = rows_read(&rows, batch, ROWS_BATCH)) > 0) {
            for (size_t i = 0; i < n; i++) { /* any value of a bin represents all of them */
                keys[i] = (uint64_t)(batch[i].low < min ? min : batch[i].low);
                counts[i] = batch[i].count;
            }
            if (growing_histogram_add(histogram, keys, counts, n, failure) != STATUS_OK)
                return failure->status;
        }
    }
    if (growing_histogram_finalize(histogram, plan, elements, failure) != STATUS_OK)
        return failure->status;
    self->width = growing_histogram_width(histogram, bins);
    growing_histogram_rows_begin(&self->rows, plan, histogram, self->width, options->zeros);
    growing_histogram_rows_begin(&rows, plan, histogram, histogram->width, false);
    if (!self->rows.is_unit && !options->zeros && format->names_values &&
        result_is_sparse(rows, bins)) {
        self->rows = rows;
        self->rows.is_sparse = true;
        self->width = 1;
    }
    return STATUS_OK;
}

/*
 * Prints the rows of a group of histogram or uniq, in the format of the options. Fails with
 * STATUS_DATA if there is no memory, or if there are too many empty bins.
 */
static enum status result_print_rows(struct writer *writer, const struct plan *plan,
                                     const void *aggregate, uint64_t group,
                                     const struct print_options *options, struct failure *failure)
{
    const struct store *store = store_of(plan);
    struct result_automatic automatic = {.histogram = NULL};
    struct rows rows;
    struct range_histogram range;
    struct rows values; /* --range auto: the values that bins are made of */
    enum status status = STATUS_OK;

    if (plan->is_automatic) {
        status = result_make_automatic(&automatic, plan, aggregate, group, group, options, failure);
        rows = automatic.rows;
    } else if (plan->range_bins > 0) {
        store->rows(&values, plan, aggregate, group, false);
        status =
            range_histogram_create(&range, plan, print_range_bins(options, plan), &values, failure);
        if (store->check(aggregate, failure) != STATUS_OK)
            status = failure->status;
        range_histogram_rows_begin(&rows, &range, &values, options->zeros);
    } else {
        store->rows(&rows, plan, aggregate, group, options->zeros);
        if (rows.fill.last - rows.fill.bin >= BINNING_BINS_MAX)
            status = status_fail(failure, STATUS_DATA,
                                 "there are too many bins to print the empty ones: at most %u",
                                 (unsigned)BINNING_BINS_MAX);
    }
    if (status == STATUS_OK)
        status = print_rows(writer, &rows, options, failure);
    if (plan->is_automatic)
        growing_histogram_destroy(automatic.histogram);
    else if (plan->range_bins > 0)
        range_histogram_destroy(&range);
    return status;
}

/* Prints the rows of each group of histogram or uniq; each line begins with the group. */
static enum status result_print_groups(struct writer *writer, const struct plan *plan,
                                       const void *aggregate, const struct print_options *options,
                                       struct failure *failure)
{
    const struct print_format *format = options->format;
    const struct print_result result = {.options = options,
                                        .format = format,
                                        .plan = plan,
                                        .list = "groups",
                                        .is_unit = groups_are_unit(plan) && !plan->is_automatic &&
                                                   plan->range_bins == 0,
                                        .column = print_rows_column};
    struct print_options own = *options;
    struct writer *prefix = writer_create_memory(ELEMENT_TEXT_SIZE);
    struct print_prefixes prefixes;
    uint64_t buffer[TEXT_COLUMNS_MAX + 2];
    enum status status = STATUS_OK;

    if (!prefix)
        return status_fail(failure, STATUS_DATA, "not enough memory for printing groups");
    print_find_prefixes(&prefixes, plan, format, NULL);
    print_begin(writer, &result);
    for (uint64_t g = 0; g < store_of(plan)->groups(aggregate) && status == STATUS_OK; g++) {
        writer_restart(prefix);
        if (format->has_names && !format->is_document)
            writer_write_text(prefix, print_object_begin(options));
        print_write_group(prefix, aggregate, groups_first_row(aggregate, g, buffer), &prefixes,
                          format);
        own.group = writer_memory(prefix, &own.group_bytes);
        own.is_next_group = g > 0;
        status = own.group
                     ? result_print_rows(writer, plan, aggregate, g, &own, failure)
                     : status_fail(failure, STATUS_DATA, "not enough memory for printing groups");
    }
    writer_discard(prefix);
    print_end(writer, &result);
    return status;
}

/* Prints a heat map. Automatic bins, and a range, are those of the values of all groups. */
static enum status result_print_heat(struct writer *writer, const struct plan *plan,
                                     const struct groups *groups,
                                     const struct print_options *options, struct failure *failure)
{
    struct result_automatic all = {.width = plan->bin_width};
    enum status status = STATUS_OK;
    struct plan ranged = *plan;
    struct rows rows;
    __int128 low;
    __int128 last;
    __int128 ends[2] = {0, 0}; /* minimum and maximum of all groups */

    for (uint64_t g = 0; plan->range_bins > 0 && g < groups->count; g++) {
        groups_rows_begin(&rows, groups, g, false);
        if (!range_histogram_find_ends(rows, &low, &last))
            continue; /* the group could not be read */
        ends[0] = g == 0 || low < ends[0] ? low : ends[0];
        ends[1] = g == 0 || last > ends[1] ? last : ends[1];
    }
    if (plan->range_bins > 0 && groups->count > 0)
        status = range_histogram_make_plan(&ranged, plan, print_range_bins(options, plan), ends[0],
                                           ends[1], failure);
    if (plan->is_automatic && groups->count > 0)
        status = result_make_automatic(&all, plan, groups, 0, groups->count - 1, options, failure);
    if (status == STATUS_OK)
        status = print_heat(writer, groups, &ranged, all.width, options, failure);
    if (plan->range_bins > 0)
        free(ranged.binning.table);
    growing_histogram_destroy(all.histogram);
    return status;
}

/* Prints the result of one value column. */
static enum status result_print_column(struct writer *writer, const struct plan *plan,
                                       const void *aggregate, const struct print_options *options,
                                       struct failure *failure)
{
    const struct store *store = store_of(plan);
    struct print_options own = *options;
    enum status status;

    own.format = print_plan_format(options, plan);
    if (plan->operation == OPERATION_REDUCE || plan->operation == OPERATION_COUNT)
        status = print_values(writer, plan, aggregate, options, failure);
    else if (plan->group_count == 0)
        status = result_print_rows(writer, plan, aggregate, 0, &own, failure);
    else if (own.format->heat)
        status = result_print_heat(writer, plan, aggregate, &own, failure);
    else
        status = result_print_groups(writer, plan, aggregate, &own, failure);
    return status == STATUS_OK && store->check ? store->check(aggregate, failure) : status;
}

enum status result_print(struct writer *writer, const struct plan *plan, const void *aggregate,
                         const struct print_options *options, struct failure *failure)
{
    const struct columns *columns = aggregate;
    struct print_options own = *options;
    enum status status = STATUS_OK;

    if (plan->value_count <= 1)
        return result_print_column(writer, plan, aggregate, options, failure);
    const struct print_format *format = print_values_format(options);
    const struct print_result result = {.options = options,
                                        .format = format,
                                        .plan = plan,
                                        .list = "columns"};
    struct print_order leader = {.groups = NULL};
    if (options->sort) {
        const size_t column = print_order_column(options, plan, &own.sort);
        const struct columns_run *run = &columns->runs[column];
        status = print_order_create(&leader, &own, run->plan, run->aggregate, failure);
        own.leader = &leader;
    }
    print_begin(writer, &result);
    for (size_t i = 0; i < columns->count && status == STATUS_OK; i++) {
        const struct columns_run *run = &columns->runs[i];
        own.column = plan->columns[i].where;
        own.is_next_column = i > 0;
        status = result_print_column(writer, run->plan, run->aggregate, &own, failure);
    }
    print_end(writer, &result);
    print_order_destroy(&leader);
    return status;
}

/* Checks one value column: fails with the reductions that have no value. */
static enum status result_check_column(const struct plan *plan, uint64_t elements,
                                       struct failure *failure)
{
    char names[REDUCTIONS_TEXT_SIZE] = "";
    size_t length = 0;

    if (plan->group_count > 0)
        return STATUS_OK;
    for (unsigned i = 0; i < plan->reductions.count; i++) {
        const struct reduction *reduction = &plan->reductions.list[i];
        if (!reduce_has(elements, reduction->id))
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                       length > 0 ? ", " : "", reduction->name);
    }
    if (plan->needs_values && elements == 0)
        return status_fail(failure, STATUS_DATA,
                           "cannot compute percentiles: no values were counted");
    if (length == 0)
        return STATUS_OK;
    return status_fail(failure, STATUS_DATA,
                       elements > 0 ? "cannot compute %s: there is only one value"
                       : plan->condition_count > 0
                           ? "cannot compute %s: no row with a value meets --where"
                           : "cannot compute %s: empty input",
                       names);
}

enum status result_check(const struct plan *plan, const void *aggregate, struct failure *failure)
{
    const struct store *store = store_of(plan);
    const struct columns *columns = aggregate;

    if (store->connect) /* a filter has written the result */
        return STATUS_OK;
    const uint64_t elements = store->elements(aggregate);
    if (plan->value_count <= 1)
        return result_check_column(plan, elements, failure);
    for (size_t i = 0; i < columns->count; i++) {
        const struct columns_run *run = &columns->runs[i];
        struct failure own;
        if (result_check_column(run->plan, run->elements, &own) == STATUS_OK)
            continue;
        if (elements == 0)
            return status_fail(failure, own.status, "%s", own.message);
        return status_fail(failure, own.status, "%s: %s", plan->columns[i].where,
                           run->elements > 0 ? own.message
                                             : "it has no value, but another column has");
    }
    return STATUS_OK;
}

void result_report(const struct plan *plan, const void *aggregate)
{
    const struct binning *binning = &plan->binning;
    uint64_t inside = 0;
    uint64_t below = 0;
    uint64_t above = 0;
    char advice[80]; /* users of --bins N often want N bins of all values */
    char low[DECIMAL_SIZE];
    char high[DECIMAL_SIZE];

    if (plan->operation != OPERATION_HISTOGRAM || plan->is_automatic ||
        plan->outside != OUTSIDE_REPORT)
        return;
    const uint64_t groups = plan->group_count > 0 ? store_of(plan)->groups(aggregate) : 1;
    for (uint64_t g = 0; g < groups; g++) {
        struct rows rows;
        store_of(plan)->rows(&rows, plan, aggregate, g, false);
        inside += rows.inside;
        below += rows.below;
        above += rows.above;
    }
    if (below == 0 && above == 0)
        return;
    const bool is_of_values = binning_is_unit(binning) && binning_edge(binning, 0) == 0;
    snprintf(advice, sizeof advice, " (try --range auto)");
    decimal_format_fixed(low, below, plan_count_decimals(plan));
    decimal_format_fixed(high, above, plan_count_decimals(plan));
    status_print("%.200s out of range: %s below, %s above%s",
                 plan->has_weights ? plan_count_name(plan) : "values", low, high,
                 is_of_values && !plan->is_merged ? advice
                 : inside > 0 || plan->is_merged  ? " (try --outside)"
                                                  : " (try --width or uniq)");
}

/* Notes that nearly all values of a plot are in one bin, and other bins would show more. */
static void result_note_bins(const struct plan *plan, const void *aggregate,
                             const struct print_options *options)
{
    struct result_automatic self = {.histogram = NULL};
    struct rows_row row;
    char low[DECIMAL_SIZE];
    char high[DECIMAL_SIZE];
    struct failure ignored;

    if (result_make_automatic(&self, plan, aggregate, 0, 0, options, &ignored) == STATUS_OK &&
        self.width > 1) {
        while (rows_read(&self.rows, &row, 1) > 0) {
            const unsigned __int128 percent = (unsigned __int128)row.count * 100 / self.rows.inside;
            if (percent < RESULT_MOST)
                continue;
            decimal_format_fixed(low, row.low, plan->element.decimals);
            decimal_format_fixed(high, row.high, plan->element.decimals);
            status_print("note: %u%% of %.200s are in one bin (try --log2 or --range "
                         "%s:%s)",
                         (unsigned)percent,
                         plan->has_weights ? plan_count_name(plan) : "the values", low, high);
        }
    }
    growing_histogram_destroy(self.histogram);
}

/* Notes strings that are not UTF-8, which JSON cannot represent. */
static void result_note_strings(const struct plan *plan, const struct groups *groups,
                                const struct print_options *options)
{
    const uint32_t strings = dictionary_count(plan->context->dictionary);
    unsigned others = 0;

    for (uint32_t rank = 0; rank < strings; rank++) {
        size_t bytes;
        const char *text = groups_text(groups, rank, &bytes);
        others += !print_text_is_utf8(text, bytes);
    }
    if (others > 0)
        status_print("note: %u text%s not UTF-8: %s has U+FFFD for these bytes (tsv and csv have "
                     "them as they are)",
                     others, others == 1 ? " is" : "s are", options->format->name);
}

/* Range of microseconds since 1970 in the years 2001 to 2037, as which integers are mostly meant.
 */
#define RESULT_MICROSECONDS_LOW  1000000000000000
#define RESULT_MICROSECONDS_HIGH 2145916800000000

/* Notes that integers look like microseconds since 1970, which a type would print as timestamps. */
static void result_note_times(const struct plan *plan, const void *aggregate)
{
    const struct column *column = &plan->columns[0];
    const char *kind = kind_rows[column->element.kind].microseconds;
    const bool is_kept = column->width.units <= 1;
    const struct kind_time_bucket width = {.digits = 6, .width = (int64_t)column->width.units};
    char bucket[KIND_TIME_BUCKET_SIZE] = "";
    __int128 low;
    __int128 last;
    struct rows rows;

    if (!column->where || !kind || column->element.decimals > 0 ||
        column->notation != TEXT_INTEGERS)
        return;
    store_of(plan)->rows(&rows, plan, aggregate, 0, false);
    if (!range_histogram_find_ends(rows, &low, &last) || low < RESULT_MICROSECONDS_LOW ||
        last >= RESULT_MICROSECONDS_HIGH)
        return;
    if (!is_kept)
        kind_time_bucket_describe(bucket, &width);
    status_print("note: values from %lld to %lld look like microseconds since 1970 (try -f "
                 "%.200s:%s%s%s)",
                 (long long)low, (long long)last, column->where, kind, is_kept ? "" : "/", bucket);
}

void result_note(const struct plan *plan, const void *aggregate,
                 const struct print_options *options, bool of_states)
{
    const struct columns *columns = aggregate;

    if (print_is_dropped(options))
        return;
    if (plan_has_strings(plan) && options->format && options->format->is_unicode)
        result_note_strings(plan, plan->value_count > 1 ? columns->runs[0].aggregate : aggregate,
                            options);
    if (!of_states && plan->is_automatic && plan->group_count == 0 &&
        print_rows_format(options)->names_values)
        result_note_bins(plan, aggregate, options);
    if (!of_states && plan->is_text && plan->value_count <= 1 && plan->group_count == 0 &&
        (plan->operation == OPERATION_UNIQ || plan->operation == OPERATION_HISTOGRAM))
        result_note_times(plan, aggregate);
}
