/* Implements plot.h: surveys the rows, chooses groups, and makes lines. */
#include "config.h"

#include "plot/plot.h"

#include "job/binning_index.h"

#include <string.h>

bool plot_is_even(const struct plot *plot)
{
    return plot->survey.wide - plot->survey.narrow <= 1;
}

__int128 plot_bins_origin(const struct binning *binning)
{
    const __int128 low = binning_edge(binning, 0);
    const __int128 width = binning_edge(binning, 1) - low;

    if (binning_is_of_powers(binning))
        return binning_index(binning, binning->form, binning->base > 0);
    if (binning->form == BINNING_EDGES || binning->form == BINNING_EDGES_EQUAL || low % width != 0)
        return 0;
    return -(low / width);
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
        plot->filled = rows_read(&plot->rows, plot->batch, PLOT_BATCH_ROWS);
    }
    return plot->filled > 0 ? &plot->batch[plot->used] : NULL;
}

/* The bins of the job; NULL: rows are at any multiples of their width. */
static const struct binning *plot_binning(const struct plot *plot)
{
    return plot->rows.job->binning.bins > 0 ? &plot->rows.job->binning : NULL;
}

/* The number of the bin that contains a value, which may be below the type's least in its bin. */
static __int128 plot_bin(const struct plot *plot, __int128 value)
{
    const struct binning *binning = plot_binning(plot);
    const __int128 type_min = element_min(&plot->rows.job->element);

    value = value < type_min ? type_min : value;
    return binning ? binning_index(binning, binning->form, (uint64_t)value) - plot->origin
                   : binning_floor(value, plot->survey.wide);
}

/* Where that bin begins. Bins of the job end where the last one ends. */
static __int128 plot_edge(const struct plot *plot, __int128 bin)
{
    const struct binning *binning = plot_binning(plot);

    if (!binning)
        return bin * plot->survey.wide;
    bin += plot->origin;
    return binning_edge(binning, bin < 0 ? 0 : bin > binning->bins ? binning->bins : (uint64_t)bin);
}

/* The lines of groups of so many bins, with those for empty ones. */
static __int128 plot_groups(const struct plot *plot, uint64_t per_group)
{
    return binning_floor(plot->last, per_group) - binning_floor(plot->first, per_group) + 1;
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
    for (size_t n; (n = rows_read(&all, plot->batch, PLOT_BATCH_ROWS)) > 0; survey->rows += n) {
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
    plot->origin = plot_binning(plot) ? plot_bins_origin(plot_binning(plot)) : 0;
    plot->first = plot_bin(plot, survey->low);
    plot->last = plot_bin(plot, survey->last);
    plot->has_groups = survey->rows > lines_max || !(rows->is_unit && rows->is_sparse);
    plot->run_max = PLOT_RUN_MAX;
    if (survey->rows > lines_max) {
        while (plot_groups(plot, plot->per_group) > (__int128)lines_max)
            plot->per_group = plot_next_step(plot_binning(plot), plot->per_group);
    } else if (plot->has_groups && plot_groups(plot, 1) > (__int128)lines_max) {
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
        plot->has_groups ? binning_floor(plot_bin(plot, row->low), per_group) : plot->group;
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
        .low = plot_edge(plot, plot->group * per_group),
        .high = plot_edge(plot, next * per_group),
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
