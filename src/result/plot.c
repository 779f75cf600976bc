/* Implements plot.h: surveys the rows, chooses groups, and makes lines. */
#include "config.h"

#include "result/plot.h"

#include "value/binning_index.h"

#include <stdio.h>
#include <string.h>

bool plot_is_even(const struct plot *plot)
{
    return plot->survey.wide - plot->survey.narrow <= 1;
}

/* Returns the width of bins of equal integer width; else 0. */
static __int128 plot_bin_width(const struct binning *binning)
{
    return binning->numerator == 1 ? (__int128)binning->divisor : 0;
}

struct plot_scale plot_scale_of(const struct plan *plan, __int128 unit)
{
    const struct binning *binning = plan->binning.bins > 0 ? &plan->binning : NULL;
    const struct element *element = &plan->element;
    struct plot_scale scale = {.element = element, .binning = binning, .unit = unit};

    if (element_is_time(element) && (!binning || plot_bin_width(binning) > 0)) {
        const int64_t width = (int64_t)(binning               ? binning->divisor
                                        : plan->bin_width > 1 ? plan->bin_width
                                                              : 0);
        scale.binning = NULL;
        scale.whole = width > 0
                          ? (struct kind_time_bucket){.digits = element->decimals, .width = width}
                          : column_time_unit(&plan->columns[0]);
        if (binning)
            scale.whole.phase = (int64_t)(binning_edge(binning, 0) -
                                          binning_floor(binning_edge(binning, 0), width) * width);
        scale.bucket = scale.whole;
        return scale;
    }
    if (!binning) {
        if (unit == 1)
            scale.unit = column_width(&plan->columns[0]);
        return scale;
    }
    const __int128 low = binning_edge(binning, 0);
    const __int128 width = binning_edge(binning, 1) - low;
    if (binning_is_of_powers(binning))
        scale.origin = binning_index(binning, binning->form,
                                     element->decimals > 0 ? decimal_power(element->decimals)
                                                           : binning->base > 0);
    else if (binning->form != BINNING_EDGES && binning->form != BINNING_EDGES_EQUAL &&
             low % width == 0)
        scale.origin = -(low / width);
    return scale;
}

__int128 plot_scale_position(const struct plot_scale *scale, __int128 low)
{
    const __int128 type_min = element_min(scale->element);

    if (kind_time_bucket_exists(&scale->bucket))
        return kind_time_bucket_number(&scale->bucket, low);
    if (!scale->binning)
        return binning_floor(low - scale->origin, scale->unit);
    return binning_index(scale->binning, scale->binning->form,
                         (uint64_t)(low < type_min ? type_min : low)) -
           scale->origin;
}

__int128 plot_scale_value(const struct plot_scale *scale, __int128 position)
{
    if (kind_time_bucket_exists(&scale->bucket))
        return kind_time_bucket_begin(&scale->bucket, position);
    if (!scale->binning)
        return position * scale->unit + scale->origin;
    position += scale->origin;
    if (position > scale->binning->bins)
        position = scale->binning->bins;
    return binning_edge(scale->binning, position < 0 ? 0 : (uint64_t)position);
}

uint64_t plot_scale_join(struct plot_scale *scale, __int128 *first, __int128 *last, uint64_t max)
{
    uint64_t step = 1;

    while (kind_time_bucket_exists(&scale->bucket) && *last - *first >= (__int128)max &&
           *last - *first > 1) {
        const __int128 low = plot_scale_value(scale, *first);
        const __int128 high = plot_scale_value(scale, *last);
        scale->bucket = kind_time_bucket_widen(&scale->bucket, &scale->whole);
        *first = plot_scale_position(scale, low);
        *last = plot_scale_position(scale, high);
    }
    while (binning_floor(*last, step) - binning_floor(*first, step) >= (__int128)max)
        step = plot_scale_next_step(scale, step);
    return step;
}

/* Maximum ratio of a round width to the one before it, if it is near. */
#define PLOT_NEAR 10

uint64_t plot_scale_next_step(const struct plot_scale *scale, uint64_t step)
{
    if (scale->binning && binning_is_of_powers(scale->binning))
        return 2 * step;
    const __int128 width = scale->binning ? plot_bin_width(scale->binning) : scale->unit;
    const __int128 all = width * step;
    __int128 next = 1;
    while (next <= all && width > 0)
        next = binning_next_round(next);
    while (width > 0 && next <= PLOT_NEAR * all && next % width != 0)
        next = binning_next_round(next);
    if (width > 0 && next <= PLOT_NEAR * all)
        return (uint64_t)(next / width);
    for (next = 1; next <= (__int128)step;)
        next = binning_next_round(next);
    return (uint64_t)next;
}

/* Returns the next row without taking it; NULL if there is none. */
static const struct rows_row *plot_peek(struct plot *plot)
{
    if (plot->used == plot->filled) {
        plot->used = 0;
        plot->filled = rows_read(&plot->rows, plot->batch, ROWS_BATCH);
    }
    return plot->filled > 0 ? &plot->batch[plot->used] : NULL;
}

/*
 * Empty bins have lines while all lines fit: at best each of up to PLOT_RUN_MAX in a row, else one
 * line per run. Without them, the names of rows still show their places.
 */
void plot_begin(struct plot *plot, const struct rows *rows, bool by_bin, uint64_t lines_max)
{
    *plot = (struct plot){.rows = *rows, .per_group = 1};
    if (!by_bin)
        return;
    struct plot_survey *survey = &plot->survey;
    struct rows all = *rows;
    __int128 before = 0; /* the width of the row before */
    for (size_t n; (n = rows_read(&all, plot->batch, ROWS_BATCH)) > 0; survey->rows += n) {
        if (survey->rows == 0) {
            survey->low = plot->batch[0].low;
            survey->narrow = before = plot->batch[0].high - plot->batch[0].low;
        }
        for (size_t i = 0; i < n; i++) {
            const __int128 width = plot->batch[i].high - plot->batch[i].low;
            survey->narrow = before < survey->narrow ? before : survey->narrow;
            survey->wide = width > survey->wide ? width : survey->wide;
            survey->empty += plot->batch[i].count == 0;
            before = width;
        }
        survey->last = plot->batch[n - 1].low;
        survey->high = plot->batch[n - 1].high;
    }
    if (survey->rows == 0)
        return;
    plot->scale = plot_scale_of(rows->plan, survey->wide);
    plot->first = plot_scale_position(&plot->scale, survey->low);
    plot->last = plot_scale_position(&plot->scale, survey->last);
    plot->is_joined = survey->rows > lines_max;
    plot->has_groups = plot->is_joined || !(rows->is_unit && rows->is_sparse);
    plot->run_max = PLOT_RUN_MAX;
    if (plot->is_joined) {
        plot->per_group = plot_scale_join(&plot->scale, &plot->first, &plot->last, lines_max);
    } else if (plot->has_groups && plot->last - plot->first >= (__int128)lines_max) {
        plot->run_max = 1;
        plot->group = plot->first;
        struct plot trial = *plot;
        struct plot_line line;
        uint64_t lines = 0;
        while (lines <= lines_max && plot_next(&trial, &line))
            lines++;
        plot->has_groups = lines <= lines_max;
    }
    plot->group = binning_floor(plot->first, plot->per_group);
}

/* Returns the end of a row; for values in buckets, the end of the bucket. */
static __int128 plot_row_end(const struct plot *plot, const struct rows_row *row)
{
    const struct plot_scale *scale = &plot->scale;

    if (!plot->rows.is_unit || !scale->element || scale->binning)
        return row->high;
    return plot_scale_value(scale, plot_scale_position(scale, row->low) + 1);
}

/* Groups have the width of their bins, whether or not these are empty. */
bool plot_next(struct plot *plot, struct plot_line *line)
{
    const struct rows_row *row = plot_peek(plot);
    const __int128 per_group = plot->per_group;

    if (!row)
        return false;
    const __int128 group =
        plot->has_groups ? binning_floor(plot_scale_position(&plot->scale, row->low), per_group)
                         : plot->group;
    if (!plot->has_groups || (group <= plot->group && !plot->is_joined)) { /* only the row */
        *line = (struct plot_line){
            .is_single = plot->rows.is_unit,
            .low = row->low,
            .high = plot_row_end(plot, row),
            .count = row->count,
        };
        plot->used++;
        plot->group++;
        return true;
    }
    const bool is_gap = group - plot->group > plot->run_max;
    const __int128 next = is_gap ? group : plot->group + 1;
    *line = (struct plot_line){
        .is_gap = is_gap,
        .low = plot_scale_value(&plot->scale, plot->group * per_group),
        .high = plot_scale_value(&plot->scale, next * per_group),
        .bins = (uint64_t)((next - plot->group) * per_group),
    };
    line->is_single = plot->rows.is_unit && line->high - line->low == 1;
    if (line->low < 0 && plot->survey.low >= 0) /* a group of powers may begin below 0 */
        line->low = 0;
    for (; group == plot->group && row && row->low < line->high; row = plot_peek(plot)) {
        line->count += row->count;
        plot->used++;
    }
    plot->group = next;
    return true;
}

size_t plot_describe_join(char out[PLOT_JOIN_SIZE], const struct plot *plot)
{
    *out = '\0';
    if (!plot->is_joined)
        return 0;
    if (kind_time_bucket_exists(&plot->scale.bucket))
        return kind_time_bucket_describe(out, &plot->scale.bucket);
    return (size_t)sprintf(out, "%llu %s", (unsigned long long)plot->per_group,
                           plot->rows.is_unit ? "values" : "bins");
}

void plot_name(char out[PLOT_NAME_SIZE], const struct plot_line *line,
               const struct element *element, enum axis_digits digits, unsigned zeros)
{
    const __int128 unit = decimal_power(zeros);
    struct element shown = *element;

    shown.decimals -= zeros;
    char *c = out + axis_write(out, &shown, line->low / unit, digits);
    if (!line->is_single) {
        c = stpcpy(c, "..");
        axis_write(c, &shown, line->high / unit, digits);
    }
}

unsigned plot_zeros(const struct plot_line *line, const struct element *element)
{
    const unsigned low = axis_zeros(element, line->low);
    const unsigned high = line->is_single ? low : axis_zeros(element, line->high);
    return low < high ? low : high;
}
