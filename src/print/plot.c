/* Implements plot.h: surveys the rows, chooses a layout, and makes lines. */
#include "config.h"

#include "print/plot.h"

#include "print/axis.h"

#include <string.h>

static void plot_survey_row(struct plot_survey *survey, const struct rows_row *row)
{
    const struct rows_row *before = &survey->before;
    __int128 width = row->high - row->low;

    if (survey->rows == 0) {
        survey->low = row->low;
        survey->narrow = width;
        survey->is_adjacent = true;
    } else {
        survey->is_adjacent = survey->is_adjacent && row->low == before->high;
        if (before->high - before->low < survey->narrow)
            survey->narrow = before->high - before->low;
    }
    if (width > survey->wide)
        survey->wide = width;
    survey->last = row->low;
    survey->high = row->high;
    survey->before = *row;
    survey->rows++;
}

/* Surveys all rows. */
static struct plot_survey plot_make_survey(struct rows rows)
{
    struct rows_row batch[PLOT_BATCH_ROWS];
    struct plot_survey survey = {.rows = 0};
    size_t n;

    while ((n = rows_read(&rows, batch, PLOT_BATCH_ROWS)) > 0) {
        for (size_t i = 0; i < n; i++)
            plot_survey_row(&survey, &batch[i]);
    }
    return survey;
}

bool plot_is_even(const struct plot *plot)
{
    return plot->survey.wide - plot->survey.narrow <= 1;
}

/* Whether every bin from the first row to the last, empty or not, can have a line of its own. */
static bool plot_can_fill(const struct plot *plot)
{
    const struct plot_survey *survey = &plot->survey;
    struct rows_row batch[PLOT_BATCH_ROWS];
    struct rows rows = plot->rows;
    uint64_t bins = 0;
    size_t n;

    if (plot_is_even(plot) &&
        (survey->high - survey->low) / (survey->wide + 1) > (__int128)plot->lines_max)
        return false;
    rows.zeros = true;
    while (bins <= plot->lines_max && (n = rows_read(&rows, batch, PLOT_BATCH_ROWS)) > 0) {
        for (size_t i = 0; i < n; i++)
            bins += batch[i].low >= survey->low && batch[i].low < survey->high;
        if (batch[n - 1].low >= survey->high)
            break;
    }
    return bins <= plot->lines_max;
}

static __int128 plot_floor(__int128 value, __int128 width)
{
    __int128 rest = value % width;
    return value - (rest < 0 ? rest + width : rest);
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

/* Chooses the least width of groups that makes a page: 1, 2 or 5 times a power of ten bins. */
static void plot_set_widths(struct plot *plot)
{
    const struct plot_survey *survey = &plot->survey;
    __int128 offset = survey->low - plot_floor(survey->low, survey->wide);

    plot->layout = PLOT_WIDTHS;
    for (__int128 bins = 1;; bins = axis_next_step(bins)) {
        plot->per_group = (uint64_t)bins;
        plot->width = survey->wide * bins;
        plot->start = plot_floor(survey->low - offset, plot->width) + offset;
        if ((survey->last - plot->start) / plot->width < (__int128)plot->lines_max)
            break;
    }
    plot->is_aligned = survey->wide == 1 || plot_is_aligned(plot->rows, plot->start, survey->wide);
}

static void plot_set_neighbours(struct plot *plot)
{
    plot->layout = PLOT_NEIGHBOURS;
    plot->per_group = (plot->survey.rows + plot->lines_max - 1) / plot->lines_max;
}

/* Returns the next row without taking it; NULL if there is none. */
static const struct rows_row *plot_peek(struct plot *plot)
{
    for (;; plot->used++) {
        if (plot->used == plot->filled) {
            plot->used = 0;
            plot->filled = rows_read(&plot->rows, plot->batch, PLOT_BATCH_ROWS);
            if (plot->filled == 0)
                return NULL;
        }
        const struct rows_row *row = &plot->batch[plot->used];
        if (row->low >= plot->high)
            return NULL;
        if (row->low >= plot->low)
            return row;
    }
}

/* Chooses the layout of rows that are in the order of the bins. */
static void plot_choose(struct plot *plot)
{
    bool is_powers = plot->rows.job->binning.base > 0;

    plot->survey = plot_make_survey(plot->rows);
    plot->low = plot->survey.low;
    plot->high = plot->survey.high;
    if (plot->survey.rows > plot->lines_max && !is_powers) {
        if (plot_is_even(plot))
            plot_set_widths(plot);
        else
            plot_set_neighbours(plot);
    } else if (!plot->survey.is_adjacent) {
        bool fills = is_powers || plot_can_fill(plot);
        plot->layout = fills ? PLOT_ROWS : PLOT_GAPS;
        plot->rows.zeros = fills || plot->rows.zeros;
    }
}

void plot_begin(struct plot *plot, const struct rows *rows, bool by_bin, uint64_t lines_max)
{
    *plot = (struct plot){
        .rows = *rows,
        .lines_max = lines_max,
        .layout = PLOT_ROWS,
        .low = -((__int128)1 << 126),
        .high = (__int128)1 << 126,
        .per_group = 1,
    };
    if (by_bin)
        plot_choose(plot);
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

static void plot_next_gap(struct plot *plot, struct plot_line *line)
{
    const struct rows_row *row = plot_peek(plot);

    if (plot->has_end && row->low != plot->end) {
        *line = (struct plot_line){.is_gap = true};
        plot->end = row->low;
        return;
    }
    plot->has_end = true;
    plot->end = row->high;
    plot_take_row(plot, line);
}

/* Gives a line the bounds of its group, cut to the range of the rows. */
static void plot_align(const struct plot *plot, uint64_t group, struct plot_line *line)
{
    __int128 low = plot->start + plot->width * (__int128)group;
    __int128 high = low + plot->width;

    line->low = low > plot->low ? low : plot->low;
    line->high = high < plot->high ? high : plot->high;
    line->is_single = false;
}

/* A group without rows is a line of its own if groups are aligned with bins, else part of a gap. */
static void plot_next_width(struct plot *plot, struct plot_line *line)
{
    const struct rows_row *row = plot_peek(plot);
    uint64_t group = (uint64_t)((row->low - plot->start) / plot->width);
    __int128 end = plot->start + plot->width * ((__int128)group + 1);

    if (group == plot->group) {
        plot_take_row(plot, line);
        while ((row = plot_peek(plot)) != NULL && row->low < end)
            plot_add_row(plot, line, row);
        plot->group = group + 1;
    } else {
        *line = (struct plot_line){.is_gap = !plot->is_aligned};
        plot->group = plot->is_aligned ? plot->group + 1 : group;
    }
    if (plot->is_aligned)
        plot_align(plot, plot->group - 1, line);
}

static void plot_next_neighbours(struct plot *plot, struct plot_line *line)
{
    const struct rows_row *row;

    plot_take_row(plot, line);
    for (uint64_t i = 1; i < plot->per_group && (row = plot_peek(plot)) != NULL; i++)
        plot_add_row(plot, line, row);
}

bool plot_next(struct plot *plot, struct plot_line *line)
{
    if (!plot_peek(plot))
        return false;
    switch (plot->layout) {
    case PLOT_ROWS:
        plot_take_row(plot, line);
        break;
    case PLOT_GAPS:
        plot_next_gap(plot, line);
        break;
    case PLOT_WIDTHS:
        plot_next_width(plot, line);
        break;
    case PLOT_NEIGHBOURS:
        plot_next_neighbours(plot, line);
        break;
    }
    return true;
}

void plot_name(char out[PLOT_NAME_SIZE], const struct plot_line *line, unsigned decimals)
{
    char *c = out + decimal_write_fixed(out, line->low, decimals);

    if (!line->is_single) {
        c = stpcpy(c, "..");
        c += decimal_write_fixed(c, line->high, decimals);
    }
    *c = '\0';
}
