/* Implements range_histogram.h: two passes over the values. */
#include "config.h"

#include "aggregate/range_histogram.h"

#include "aggregate/rows.h"
#include "value/binning_index.h"

#include <stdlib.h>

enum status range_histogram_make_plan(struct plan *made, const struct plan *plan, uint64_t bins,
                                      __int128 low, __int128 last, struct failure *failure)
{
    const unsigned __int128 integers = (unsigned __int128)(last - low) + 1;
    const struct kind_time_bucket unit = column_time_unit(&plan->columns[0]);

    *made = *plan;
    made->operation = OPERATION_HISTOGRAM;
    if (plan->has_round_range)
        return binning_init_times(&made->binning, &plan->element, &unit, low, last + 1, bins, false,
                                  failure);
    bins = integers < bins ? (uint64_t)integers : bins;
    return binning_init(&made->binning, &plan->element, low, last + 1, bins, failure);
}

bool range_histogram_find_ends(struct rows values, __int128 *low, __int128 *last)
{
    struct rows_row batch[ROWS_BATCH];
    bool has_values = false;
    size_t n;

    while ((n = rows_read(&values, batch, ROWS_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++) { /* with --top, values are in any order */
            *low = has_values && *low < batch[i].low ? *low : batch[i].low;
            *last = has_values && *last > batch[i].low ? *last : batch[i].low;
            has_values = true;
        }
    }
    return has_values;
}

enum status range_histogram_create(struct range_histogram *range, const struct plan *plan,
                                   uint64_t bins, const struct rows *values,
                                   struct failure *failure)
{
    const struct binning *binning = &range->plan.binning;
    struct rows rows = *values;
    struct rows_row batch[ROWS_BATCH];
    __int128 low;
    __int128 last;
    size_t n;

    *range = (struct range_histogram){.plan = *plan};
    range->plan.operation = OPERATION_HISTOGRAM;
    if (!range_histogram_find_ends(rows, &low, &last))
        return STATUS_OK;
    if (range_histogram_make_plan(&range->plan, plan, bins, low, last, failure) != STATUS_OK)
        return failure->status;
    range->histogram = histogram_create(&range->plan, failure);
    if (!range->histogram)
        return failure->status;
    while ((n = rows_read(&rows, batch, ROWS_BATCH)) > 0) {
        for (size_t i = 0; i < n; i++)
            histogram_add_unlocked(range->histogram,
                                   binning_index(binning, binning->form, (uint64_t)batch[i].low),
                                   batch[i].count);
    }
    return histogram_finalize(range->histogram, &range->plan, values->inside, failure);
}

void range_histogram_destroy(struct range_histogram *range)
{
    histogram_destroy(range->histogram);
    free(range->plan.binning.table); /* the plan of the values has none */
}

void range_histogram_rows_begin(struct rows *rows, const struct range_histogram *range,
                                const struct rows *values, bool zeros)
{
    if (range->histogram) {
        histogram_rows_begin(rows, &range->plan, range->histogram, 0, zeros);
        return;
    }
    *rows = *values;
    rows->plan = &range->plan;
    rows->is_sparse = false;
}
