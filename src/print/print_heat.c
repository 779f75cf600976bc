/* Implements print_heat.h and print_heat_internal.h: the axes and the counts of heat maps. */
#include "config.h"

#include "print/print_heat.h"

#include "job/binning_index.h"
#include "partial/rows.h"
#include "print/print_heat_internal.h"
#include "print/print_rows.h"

#include <stdlib.h>
#include <string.h>

/* Single values are names if they are less than one in so many positions. */
#define PRINT_HEAT_APART 4

/* The scale is logarithmic if the greatest count is at least so many times the smallest. */
#define PRINT_HEAT_FACTOR 100

/*
 * The colours between which the scale is interpolated. In OKLab (B. Ottosson, "A perceptual color
 * space for image processing", 2020) their lightness rises in equal steps from 0.36 to 0.92, while
 * the hue turns from violet, 300 degrees, to yellow, 100 degrees, and the chroma falls from 0.13
 * to 0.11, or to what sRGB has.
 */
static const struct print_heat_colour print_heat_colours[] = {
    {0x49, 0x26, 0x76}, {0x3d, 0x46, 0x94}, {0x1d, 0x66, 0xa7},
    {0x03, 0x84, 0xa7}, {0x02, 0x9f, 0xa6}, {0x3a, 0xb9, 0x9d},
    {0x7f, 0xcc, 0x90}, {0xbd, 0xdb, 0x88}, {0xf5, 0xe7, 0x8f},
};
#define PRINT_HEAT_ANCHORS (sizeof print_heat_colours / sizeof *print_heat_colours)
#define PRINT_HEAT_BETWEEN ((PRINT_HEAT_COLOURS - 1) / (PRINT_HEAT_ANCHORS - 1))
_Static_assert(PRINT_HEAT_BETWEEN *(PRINT_HEAT_ANCHORS - 1) == PRINT_HEAT_COLOURS - 1,
               "each of the colours given is a level");

struct print_heat_colour print_heat_colour(unsigned level)
{
    const size_t i = level / PRINT_HEAT_BETWEEN;
    const unsigned part = level % PRINT_HEAT_BETWEEN;
    const struct print_heat_colour *low = &print_heat_colours[i];
    const struct print_heat_colour *high = part > 0 ? low + 1 : low;

#define PRINT_HEAT_MIX(of) \
    ((uint8_t)((low->of * (PRINT_HEAT_BETWEEN - part) + high->of * part) / PRINT_HEAT_BETWEEN))
    return (struct print_heat_colour){PRINT_HEAT_MIX(red), PRINT_HEAT_MIX(green),
                                      PRINT_HEAT_MIX(blue)};
#undef PRINT_HEAT_MIX
}

/* Adds a position that has a count. */
static void print_heat_add_position(struct print_heat_axis *axis, __int128 position)
{
    size_t i = axis->known;

    if (axis->known == 0 || position < axis->low)
        axis->low = position;
    if (axis->known == 0 || position > axis->high)
        axis->high = position;
    if (axis->known > PRINT_HEAT_NAMES_MAX)
        return;
    while (i > 0 && axis->names[i - 1] >= position)
        i--;
    if (i < axis->known && axis->names[i] == position)
        return;
    memmove(&axis->names[i + 1], &axis->names[i], (axis->known - i) * sizeof *axis->names);
    axis->names[i] = position;
    axis->known++;
}

/* The positions of groups are multiples of the greatest step that leads from each to the next. */
static void print_heat_survey_groups(struct print_heat *heat)
{
    const struct groups *groups = heat->groups;
    const struct column *column = &heat->job->columns[job_group_column(heat->job)];
    struct print_heat_axis *axis = &heat->x;
    uint64_t buffer[TEXT_COLUMNS_MAX + 2];
    __int128 before = 0;
    __int128 unit = column->width.units;

    *axis = (struct print_heat_axis){
        .scale.element = &column->element,
        .is_unit = column->width.units <= 1,
    };
    for (uint64_t g = 0; g < groups->count; g++) {
        const __int128 value = groups_value(groups, groups_first_row(groups, g, buffer), 0);
        if (g > 0)
            unit = binning_common_divisor(unit, value - before);
        before = value;
    }
    axis->scale.unit = unit > 0 ? unit : 1;
    for (uint64_t g = 0; g < groups->count; g++) {
        const __int128 value = groups_value(groups, groups_first_row(groups, g, buffer), 0);
        if (g == 0)
            axis->scale.origin = value - binning_floor(value, axis->scale.unit) * axis->scale.unit;
        print_heat_add_position(axis, (value - axis->scale.origin) / axis->scale.unit);
    }
}

static void print_heat_survey_bins(struct print_heat *heat)
{
    const struct job *job = heat->job;
    const struct binning *binning = job->binning.bins > 0 ? &job->binning : NULL;
    struct print_heat_axis *axis = &heat->y;
    struct rows_row batch[ROWS_BATCH];
    size_t n;

    *axis = (struct print_heat_axis){
        .scale = plot_scale_of(job, heat->width),
        .is_unit = binning ? binning_is_unit(binning) : heat->width == 1,
    };
    for (uint64_t g = 0; g < heat->groups->count; g++) {
        struct rows rows;
        groups_rows_begin(&rows, heat->groups, g, false);
        heat->inside += rows.inside;
        heat->below += rows.below;
        heat->above += rows.above;
        while ((n = rows_read(&rows, batch, ROWS_BATCH)) > 0) {
            for (size_t i = 0; i < n; i++)
                print_heat_add_position(axis, plot_scale_position(&axis->scale, batch[i].low));
        }
    }
    if (heat->options->zeros && binning && !binning_is_of_powers(binning)) {
        axis->low = -axis->scale.origin;
        axis->high = axis->low + binning->bins - 1;
        axis->known = PRINT_HEAT_NAMES_MAX + 1; /* no names */
    }
}

void print_heat_divide(struct print_heat_axis *axis, size_t cells_max)
{
    axis->step = 1;
    axis->count = axis->known;
    axis->has_names = axis->is_unit && axis->known <= PRINT_HEAT_NAMES_MAX &&
                      axis->known <= cells_max &&
                      axis->high - axis->low >= (__int128)axis->known * PRINT_HEAT_APART;
    if (axis->has_names || axis->known == 0)
        return;
    axis->step = plot_scale_join(&axis->scale, axis->low, axis->high, cells_max);
    axis->first = binning_floor(axis->low, axis->step);
    axis->count = (size_t)(binning_floor(axis->high, axis->step) - axis->first + 1);
}

/* The cell of a position. */
static size_t print_heat_cell(const struct print_heat_axis *axis, __int128 position)
{
    size_t i = 0;

    if (!axis->has_names)
        return (size_t)(binning_floor(position, axis->step) - axis->first);
    while (axis->names[i] < position)
        i++;
    return i;
}

enum status print_heat_count(struct print_heat *heat, struct failure *failure)
{
    const struct groups *groups = heat->groups;
    const size_t columns = heat->x.count;
    const size_t cells = columns * heat->y.count;
    uint64_t *totals = calloc(columns + 1, sizeof *totals); /* of columns, also outside the bins */
    uint64_t buffer[TEXT_COLUMNS_MAX + 2];
    struct rows_row batch[ROWS_BATCH];
    size_t n;

    heat->counts = calloc(cells + 1, sizeof *heat->counts);
    if (!heat->counts || !totals) {
        free(totals);
        return status_fail(failure, STATUS_DATA, "no memory for a heat map");
    }
    for (uint64_t g = 0; g < groups->count; g++) {
        const __int128 value = groups_value(groups, groups_first_row(groups, g, buffer), 0);
        const size_t x = print_heat_cell(&heat->x, plot_scale_position(&heat->x.scale, value));
        struct rows rows;
        groups_rows_begin(&rows, groups, g, false);
        totals[x] += rows.inside + rows.below + rows.above;
        while ((n = rows_read(&rows, batch, ROWS_BATCH)) > 0) {
            for (size_t i = 0; i < n; i++) {
                const size_t y =
                    print_heat_cell(&heat->y, plot_scale_position(&heat->y.scale, batch[i].low));
                heat->counts[y * columns + x] += batch[i].count;
            }
        }
    }
    for (size_t i = 0; i < cells; i++) {
        const uint64_t count =
            print_scale_number(heat->options, heat->counts[i], totals[i % columns]);
        heat->counts[i] = count;
        heat->max = count > heat->max ? count : heat->max;
        if (count > 0 && (heat->min == 0 || count < heat->min))
            heat->min = count;
    }
    free(totals);
    heat->is_logarithmic = heat->min < heat->max &&
                           (heat->options->log_count || heat->max / PRINT_HEAT_FACTOR >= heat->min);
    return STATUS_OK;
}

unsigned print_heat_level(const struct print_heat *heat, uint64_t count, unsigned levels)
{
    unsigned __int128 part = count;
    unsigned __int128 whole = heat->max;

    if (heat->is_logarithmic) {
        part = axis_log2(count) - axis_log2(heat->min);
        whole = axis_log2(heat->max) - axis_log2(heat->min);
    }
    return part > 0 ? (unsigned)((part * levels - 1) / whole) : 0;
}

uint64_t print_heat_level_count(const struct print_heat *heat, unsigned level, unsigned levels)
{
    uint64_t low = heat->min;
    uint64_t high = heat->max;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (print_heat_level(heat, middle, levels) >= level)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The first position of cell i. */
static __int128 print_heat_start(const struct print_heat_axis *axis, size_t i)
{
    return axis->has_names ? axis->names[i] : (axis->first + (__int128)i) * (__int128)axis->step;
}

bool print_heat_is_single(const struct print_heat_axis *axis)
{
    return axis->is_unit && axis->step == 1;
}

void print_heat_name(const struct print_heat_axis *axis, size_t i, char out[PRINT_HEAT_NAME_SIZE])
{
    const __int128 start = print_heat_start(axis, i);
    const struct plot_line cell = {
        .is_single = print_heat_is_single(axis),
        .low = plot_scale_value(&axis->scale, start),
        .high = plot_scale_value(&axis->scale, start + (__int128)axis->step),
    };

    plot_name(out, &cell, axis->scale.element, axis->in_picture);
}

/* The values of the cells' sides, if they are not of bins that the job gives. */
static struct axis print_heat_axis_of(const struct print_heat_axis *axis)
{
    const __int128 cell =
        axis->has_names || axis->scale.binning ? 1 : axis->scale.unit * axis->step;

    return (struct axis){.step = binning_common_divisor(cell, axis->scale.origin),
                         .element = axis->scale.element};
}

void print_heat_label(const struct print_heat_axis *axis, size_t i, char out[AXIS_LABEL_SIZE])
{
    const __int128 value = plot_scale_value(&axis->scale, print_heat_start(axis, i));

    const struct axis labels = print_heat_axis_of(axis);

    /* Bins of powers below 0 begin after a power. */
    if (axis->scale.binning && binning_is_of_powers(axis->scale.binning))
        axis_write(out, axis->scale.element, value - (value < 0), axis->in_picture);
    else if (axis_has_times(&labels))
        axis_label(out, &labels, value);
    else
        axis_write(out, axis->scale.element, value, axis->in_picture);
}

size_t print_heat_longest(const struct print_heat_axis *axis)
{
    char label[AXIS_LABEL_SIZE];
    size_t longest = 0;

    for (size_t i = 0; i < axis->count; i++) {
        print_heat_label(axis, i, label);
        longest = strlen(label) > longest ? strlen(label) : longest;
    }
    return longest;
}

size_t print_heat_labels(const struct print_heat_axis *axis, size_t cells, size_t *first)
{
    struct axis times = print_heat_axis_of(axis);
    const __int128 cell = times.step;
    uint64_t each = 1;

    if (axis_has_times(&times) && axis->scale.origin == 0) {
        for (; each < cells && each < axis->count; each = (uint64_t)(times.step / cell)) {
            do
                times.step = axis_next_step(&times);
            while (times.step % cell != 0 && times.step / cell < (__int128)axis->count);
        }
    }
    while (each < cells)
        each = plot_next_step(axis->scale.binning, each);
    const __int128 aligned = -binning_floor(-axis->first, each) * (__int128)each;
    *first = (size_t)(aligned - axis->first);
    if (!axis->has_names && *first + each < axis->count)
        return each;
    *first = 0; /* there are not two round ones */
    return cells > 0 ? cells : 1;
}

enum status print_heat(struct writer *writer, const struct groups *groups, const struct job *job,
                       uint64_t width, const struct print_options *options, struct failure *failure)
{
    const struct column *group = &job->columns[job_group_column(job)];
    const bool is_time = element_is_time(&group->element);
    struct print_heat heat = {
        .job = job,
        .options = options,
        .groups = groups,
        .width = width,
        .value_name = print_value_label(options, job),
        .group_before = !group->name && !is_time && group->where ? "by " : "",
        .group_name = group->name    ? group->name
                      : is_time      ? "time"
                      : group->where ? group->where
                                     : "group",
        .count_before = job->has_weights ? "sum of " : "",
        .count_name = job_count_name(job),
        .count_after = options->percent ? " in percent of its group" : "",
    };

    print_heat_survey_groups(&heat);
    print_heat_survey_bins(&heat);
    enum status status = print_rows_format(options)->heat(writer, &heat, failure);
    free(heat.counts);
    return status;
}
