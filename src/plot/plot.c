/* Implements plot.h: surveys the rows, chooses groups, and makes lines. */
#include "config.h"

#include "plot/plot.h"

#include "job/binning_index.h"

#include <string.h>

bool plot_is_even(const struct plot *plot)
{
    return plot->survey.wide - plot->survey.narrow <= 1;
}

struct plot_scale plot_scale_of(const struct job *job, __int128 unit)
{
    const struct binning *binning = job->binning.bins > 0 ? &job->binning : NULL;
    struct plot_scale scale = {.element = &job->element, .binning = binning, .unit = unit};

    if (!binning)
        return scale;
    const __int128 low = binning_edge(binning, 0);
    const __int128 width = binning_edge(binning, 1) - low;
    if (binning_is_of_powers(binning))
        scale.origin = binning_index(binning, binning->form, binning->base > 0);
    else if (binning->form != BINNING_EDGES && binning->form != BINNING_EDGES_EQUAL &&
             low % width == 0)
        scale.origin = -(low / width);
    return scale;
}

__int128 plot_scale_position(const struct plot_scale *scale, __int128 low)
{
    const __int128 type_min = element_min(scale->element);

    if (!scale->binning)
        return binning_floor(low - scale->origin, scale->unit);
    return binning_index(scale->binning, scale->binning->form,
                         (uint64_t)(low < type_min ? type_min : low)) -
           scale->origin;
}

__int128 plot_scale_value(const struct plot_scale *scale, __int128 position)
{
    if (!scale->binning)
        return position * scale->unit + scale->origin;
    position += scale->origin;
    if (position > scale->binning->bins)
        position = scale->binning->bins;
    return binning_edge(scale->binning, position < 0 ? 0 : (uint64_t)position);
}

uint64_t plot_scale_join(const struct plot_scale *scale, __int128 first, __int128 last,
                         uint64_t max)
{
    uint64_t step = 1;

    while (binning_floor(last, step) - binning_floor(first, step) >= (__int128)max)
        step = plot_next_step(scale->binning, step);
    return step;
}

uint64_t plot_next_step(const struct binning *binning, uint64_t step)
{
    return binning && binning_is_of_powers(binning) ? 2 * step
                                                    : (uint64_t)binning_next_round((__int128)step);
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
 * Empty bins have lines while all lines fit: first up to PLOT_RUN_MAX in a row of their own, then
 * one for each run. Without them, rows of bins still say where they lie.
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
    plot->scale = plot_scale_of(rows->job, survey->wide);
    plot->first = plot_scale_position(&plot->scale, survey->low);
    plot->last = plot_scale_position(&plot->scale, survey->last);
    plot->has_groups = survey->rows > lines_max || !(rows->is_unit && rows->is_sparse);
    plot->run_max = PLOT_RUN_MAX;
    if (survey->rows > lines_max) {
        plot->per_group = plot_scale_join(&plot->scale, plot->first, plot->last, lines_max);
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

/* Groups are as wide as their bins, whichever of them are empty. */
bool plot_next(struct plot *plot, struct plot_line *line)
{
    const struct rows_row *row = plot_peek(plot);
    const __int128 per_group = plot->per_group;

    if (!row)
        return false;
    const __int128 group =
        plot->has_groups ? binning_floor(plot_scale_position(&plot->scale, row->low), per_group)
                         : plot->group;
    if (!plot->has_groups || (group == plot->group && per_group == 1)) { /* the row alone */
        *line = (struct plot_line){
            .is_single = plot->rows.is_unit,
            .low = row->low,
            .high = row->high,
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
    for (; group == plot->group && row && row->low < line->high; row = plot_peek(plot)) {
        line->count += row->count;
        plot->used++;
    }
    plot->group = next;
    return true;
}

void plot_name(char out[PLOT_NAME_SIZE], const struct plot_line *line,
               const struct element *element, bool is_in_picture)
{
    char *c = out + axis_write(out, element, line->low, is_in_picture);

    if (!line->is_single) {
        c = stpcpy(c, "..");
        axis_write(c, element, line->high, is_in_picture);
    }
}
