/* Implements plot.h: surveys the rows, chooses a layout, and makes lines. */
#include "config.h"

#include "plot/plot.h"

#include "job/binning_index.h"

#include <string.h>

/* Surveys all rows. */
static struct plot_survey plot_make_survey(struct rows rows)
{
    struct rows_row batch[PLOT_BATCH_ROWS];
    struct plot_survey survey = {.rows = 0};
    __int128 before = 0; /* the width of the row before */
    size_t n;

    while ((n = rows_read(&rows, batch, PLOT_BATCH_ROWS)) > 0) {
        if (survey.rows == 0) {
            survey.low = batch[0].low;
            survey.narrow = before = batch[0].high - batch[0].low;
        }
        for (size_t i = 0; i < n; i++) {
            const __int128 width = batch[i].high - batch[i].low;
            survey.narrow = before < survey.narrow ? before : survey.narrow;
            survey.wide = width > survey.wide ? width : survey.wide;
            before = width;
        }
        survey.last = batch[n - 1].low;
        survey.high = batch[n - 1].high;
        survey.rows += n;
    }
    return survey;
}

bool plot_is_even(const struct plot *plot)
{
    return plot->survey.wide - plot->survey.narrow <= 1;
}

/* Whether each row begins at `start` plus a multiple of `width`. */
static bool plot_is_aligned(struct rows rows, __int128 start, __int128 width)
{
    struct rows_row batch[PLOT_BATCH_ROWS];
    size_t n;

    while ((n = rows_read(&rows, batch, PLOT_BATCH_ROWS)) > 0) {
        for (size_t i = 0; i < n; i++) {
            if ((batch[i].low - start) % width != 0)
                return false;
        }
    }
    return true;
}

/* Chooses the minimum width of groups that makes a page: 1, 2 or 5 times a power of ten bins. */
static void plot_set_widths(struct plot *plot)
{
    const struct plot_survey *survey = &plot->survey;
    __int128 offset = survey->low - binning_floor(survey->low, survey->wide) * survey->wide;

    plot->layout = PLOT_WIDTHS;
    for (__int128 bins = 1;; bins = binning_next_round(bins)) {
        plot->per_group = (uint64_t)bins;
        plot->width = survey->wide * bins;
        plot->start = binning_floor(survey->low - offset, plot->width) * plot->width + offset;
        if ((survey->last - plot->start) / plot->width < (__int128)plot->lines_max)
            break;
    }
    plot->is_aligned = survey->wide == 1 || plot_is_aligned(plot->rows, plot->start, survey->wide);
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

/* The number of the bin that contains a value of the type. Bins of uniq have any numbers. */
static __int128 plot_bin(const struct plot *plot, __int128 value)
{
    const struct job *job = plot->rows.job;

    return job->binning.bins > 0 ? binning_index(&job->binning, job->binning.form, (uint64_t)value)
                                 : binning_floor(value, plot->survey.wide);
}

void plot_begin(struct plot *plot, const struct rows *rows, bool by_bin, uint64_t lines_max)
{
    *plot = (struct plot){
        .rows = *rows,
        .lines_max = lines_max,
        .layout = PLOT_ROWS,
        .per_group = 1,
        .run_max = PLOT_RUN_MAX,
    };
    if (!by_bin)
        return;
    plot->survey = plot_make_survey(*rows);
    const struct plot_survey *survey = &plot->survey;
    plot->end = survey->low;
    if (survey->rows > lines_max && rows->job->binning.base == 0) {
        if (plot_is_even(plot)) {
            plot_set_widths(plot);
        } else {
            plot->layout = PLOT_NEIGHBOURS;
            plot->per_group = (survey->rows + lines_max - 1) / lines_max;
        }
    } else if (survey->rows > 0 && !(rows->is_unit && rows->is_sparse)) {
        const __int128 type_min = element_min(&rows->job->element);
        const __int128 first = survey->low < type_min ? type_min : survey->low;
        const __int128 last = survey->last < type_min ? type_min : survey->last;
        plot->layout = PLOT_GAPS;
        if (plot_bin(plot, last) - plot_bin(plot, first) >= (__int128)lines_max)
            plot->run_max = 1; /* not all bins fit a page, each with a line of its own */
    }
}

/* Makes a line of the next row, which must exist. */
static void plot_take_row(struct plot *plot, struct plot_line *line)
{
    const struct rows_row *row = plot_peek(plot);

    *line = (struct plot_line){
        .is_single = plot->rows.is_unit,
        .low = row->low,
        .high = row->high,
        .count = row->count,
    };
    plot->used++;
}

static void plot_add_row(struct plot *plot, struct plot_line *line, const struct rows_row *row)
{
    line->high = row->high;
    line->count += row->count;
    line->is_single = false;
    plot->used++;
}

/* Makes a line of the empty bins from the line before to `high`, where a bin begins. */
static void plot_take_gap(struct plot *plot, struct plot_line *line, __int128 high, bool is_gap)
{
    *line = (struct plot_line){
        .is_gap = is_gap,
        .is_single = plot->rows.is_unit && high - plot->end == 1,
        .low = plot->end,
        .high = high,
        .bins = (uint64_t)(plot_bin(plot, high) - plot_bin(plot, plot->end - 1) - 1),
    };
}

static void plot_next_bin(struct plot *plot, struct plot_line *line)
{
    const struct rows_row *row = plot_peek(plot);
    const struct job *job = plot->rows.job;

    if (row->low == plot->end) {
        plot_take_row(plot, line);
        return;
    }
    const __int128 empty = plot_bin(plot, plot->end - 1) + 1;
    const bool is_gap = plot_bin(plot, row->low) - empty > plot->run_max;
    const __int128 edge = job->binning.bins > 0 ? binning_edge(&job->binning, (uint64_t)empty + 1)
                                                : (empty + 1) * plot->survey.wide;
    plot_take_gap(plot, line, is_gap ? row->low : edge, is_gap);
}

/* A group without rows is a line of its own if groups are aligned with bins, else part of a gap. */
static void plot_next_width(struct plot *plot, struct plot_line *line)
{
    const struct rows_row *row = plot_peek(plot);
    const __int128 group = (row->low - plot->start) / plot->width;
    const __int128 low = plot->start + plot->width * group;
    const __int128 high = low + plot->width;

    if (group == plot->group) {
        plot_take_row(plot, line);
        while ((row = plot_peek(plot)) != NULL && row->low < high)
            plot_add_row(plot, line, row);
        if (plot->is_aligned) { /* the bounds of the group, cut to the range of the rows */
            line->low = low > plot->survey.low ? low : plot->survey.low;
            line->high = high < plot->survey.high ? high : plot->survey.high;
            line->is_single = false;
        }
        plot->group++;
    } else if (plot->is_aligned && group - plot->group <= plot->run_max) {
        plot_take_gap(plot, line, plot->end + plot->width, false);
        plot->group++;
    } else {
        plot_take_gap(plot, line, plot->is_aligned ? low : row->low, true);
        plot->group = group;
    }
}

bool plot_next(struct plot *plot, struct plot_line *line)
{
    const struct rows_row *row;

    if (!plot_peek(plot))
        return false;
    switch (plot->layout) {
    case PLOT_ROWS:
        plot_take_row(plot, line);
        break;
    case PLOT_GAPS:
        plot_next_bin(plot, line);
        break;
    case PLOT_WIDTHS:
        plot_next_width(plot, line);
        break;
    case PLOT_NEIGHBOURS:
        plot_take_row(plot, line);
        for (uint64_t i = 1; i < plot->per_group && (row = plot_peek(plot)) != NULL; i++)
            plot_add_row(plot, line, row);
        break;
    }
    plot->end = line->high;
    return true;
}

void plot_name(char out[PLOT_NAME_SIZE], const struct plot_line *line,
               const struct element *element)
{
    char *c = out + element_write(out, element, line->low);

    if (!line->is_single) {
        c = stpcpy(c, "..");
        c += element_write(c, element, line->high);
    }
    *c = '\0';
}
