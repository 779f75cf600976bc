/* Implements print_heat.h and print_heat_internal.h: the axes and the counts of heat maps. */
#include "config.h"

#include "result/print_heat.h"

#include "aggregate/rows.h"
#include "result/print_heat_internal.h"
#include "result/print_rows.h"
#include "value/binning_index.h"

#include <stdlib.h>
#include <string.h>

/* Single values are names if at most one position in this many has a value. */
#define PRINT_HEAT_APART 4

/*
 * The scale is logarithmic if the largest count is at least FACTOR times the smallest, or BODY
 * times most counts, which would all have the lowest colours.
 */
#define PRINT_HEAT_FACTOR 100
#define PRINT_HEAT_BODY   8

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

/* White has more contrast than black below a lightness of 0.58 in OKLab. */
bool print_heat_is_dark(unsigned level)
{
    return level < PRINT_HEAT_COLOURS * 2 / 5;
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

/* Aligns the positions of groups, one of which has that value. */
static void print_heat_align_groups(struct print_heat_axis *axis, const struct column *column,
                                    __int128 value)
{
    struct plot_scale *scale = &axis->scale;

    scale->origin = value - binning_floor(value, scale->unit) * scale->unit;
    if (!element_is_time(scale->element))
        return;
    scale->whole = scale->bucket = column_time_unit(column);
    if (!kind_time_bucket_exists(&column->width.bucket)) {
        scale->bucket.width = (int64_t)scale->unit;
        scale->bucket.phase = (int64_t)scale->origin;
    }
}

/* Positions of groups are multiples of the greatest common divisor of their distances. */
static void print_heat_survey_groups(struct print_heat *heat)
{
    const struct groups *groups = heat->groups;
    const struct column *column = &heat->plan->columns[plan_group_column(heat->plan)];
    struct print_heat_axis *axis = &heat->x;
    uint64_t buffer[TEXT_COLUMNS_MAX + 2];
    __int128 before = 0;
    __int128 unit = column->width.units;

    *axis = (struct print_heat_axis){
        .scale.element = &column->element,
        .is_unit = !column_has_width(column),
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
            print_heat_align_groups(axis, column, value);
        print_heat_add_position(axis, plot_scale_position(&axis->scale, value));
    }
}

static void print_heat_survey_bins(struct print_heat *heat)
{
    const struct plan *plan = heat->plan;
    const struct binning *binning = plan->binning.bins > 0 ? &plan->binning : NULL;
    struct print_heat_axis *axis = &heat->y;
    struct rows_row batch[ROWS_BATCH];
    size_t n;

    *axis = (struct print_heat_axis){
        .scale = plot_scale_of(plan, heat->width),
        .is_unit = (binning ? binning_is_unit(binning) : heat->width == 1) &&
                   !kind_time_bucket_exists(&plan->columns[0].width.bucket),
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
        axis->known = PRINT_HEAT_NAMES_MAX + 1; /* the axis has no names */
    }
}

/* Divides an axis into cells with equal numbers of positions, or for timestamps into buckets. */
static void print_heat_join(struct print_heat_axis *axis, size_t cells_max)
{
    axis->is_joined = axis->high - axis->low >= (__int128)cells_max;
    axis->step = plot_scale_join(&axis->scale, &axis->low, &axis->high, cells_max);
    axis->first = binning_floor(axis->low, axis->step);
    axis->count = (size_t)(binning_floor(axis->high, axis->step) - axis->first + 1);
}

/* Returns the first position of cell i. */
static __int128 print_heat_start(const struct print_heat_axis *axis, size_t i)
{
    return axis->has_names ? axis->names[i] : (axis->first + (__int128)i) * (__int128)axis->step;
}

/* Returns the value at the start of cell i. */
static __int128 print_heat_value(const struct print_heat_axis *axis, size_t i)
{
    return plot_scale_value(&axis->scale, print_heat_start(axis, i));
}

/* Returns the edge in a bin's label: bins of powers below 0 begin after a power. */
static __int128 print_heat_edge(const struct print_heat_axis *axis, __int128 value)
{
    const bool is_of_powers = axis->scale.binning && binning_is_of_powers(axis->scale.binning);
    return is_of_powers ? value - (value < 0) : value;
}

/* Chooses the notation of all labels of an axis of numbers. */
static void print_heat_choose_digits(struct print_heat_axis *axis)
{
    const struct element *element = axis->scale.element;

    if (axis->digits != AXIS_PRINTED) {
        axis->digits =
            axis_digits(element, print_heat_value(axis, 0),
                        print_heat_value(axis, axis->count - print_heat_is_single(axis)));
        return;
    }
    axis->zeros = element->decimals;
    for (size_t i = 0; i + print_heat_is_single(axis) <= axis->count; i++) {
        const __int128 value = print_heat_value(axis, i);
        const unsigned zeros = axis_zeros(element, print_heat_edge(axis, value));
        axis->zeros = zeros < axis->zeros ? zeros : axis->zeros;
        if (axis_zeros(element, value) < axis->zeros)
            axis->zeros = axis_zeros(element, value);
    }
}

void print_heat_divide(struct print_heat_axis *axis, size_t cells_max)
{
    axis->step = 1;
    axis->count = axis->known;
    axis->has_names = axis->is_unit && axis->known <= PRINT_HEAT_NAMES_MAX &&
                      axis->known <= cells_max &&
                      axis->high - axis->low >= (__int128)axis->known * PRINT_HEAT_APART;
    if (!axis->has_names && axis->known > 0)
        print_heat_join(axis, cells_max);
    if (!element_is_time(axis->scale.element) && axis->count > 0)
        print_heat_choose_digits(axis);
    for (size_t i = 0; element_is_time(axis->scale.element) && i < axis->count; i++)
        axis_times_add(&axis->times, axis->scale.element,
                       plot_scale_value(&axis->scale, print_heat_start(axis, i)));
}

/* Returns the cell of a position. */
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
    uint64_t *totals = calloc(columns + 1, sizeof *totals); /* per column, also outside the bins */
    uint64_t buffer[TEXT_COLUMNS_MAX + 2];
    struct rows_row batch[ROWS_BATCH];
    size_t n;

    heat->counts = calloc(cells + 1, sizeof *heat->counts);
    if (!heat->counts || !totals) {
        free(totals);
        return status_fail(failure, STATUS_DATA, "not enough memory for a heat map");
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
    size_t used = 0;
    size_t low = 0;
    for (size_t i = 0; i < cells; i++) {
        used += heat->counts[i] > 0;
        low += heat->counts[i] > 0 && heat->counts[i] <= heat->max / PRINT_HEAT_BODY;
    }
    heat->is_logarithmic =
        heat->min < heat->max &&
        (heat->options->log_count || heat->max / PRINT_HEAT_FACTOR >= heat->min || 2 * low > used);
    return STATUS_OK;
}

size_t print_heat_longest_count(const struct print_heat *heat, bool is_in_picture)
{
    char label[AXIS_LABEL_SIZE];
    size_t longest = 0;

    for (size_t i = 0; i < heat->x.count * heat->y.count; i++) {
        const size_t length =
            print_scale_label(label, heat->options, heat->plan, heat->counts[i], is_in_picture);
        longest = length > longest ? length : longest;
    }
    return longest;
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

bool print_heat_is_single(const struct print_heat_axis *axis)
{
    return axis->is_unit && axis->step == 1;
}

void print_heat_name(const struct print_heat_axis *axis, size_t i, char out[PRINT_HEAT_NAME_SIZE])
{
    const __int128 start = print_heat_start(axis, i);
    const struct plot_line cell = {
        .is_single = print_heat_is_single(axis) ||
                     (element_is_time(axis->scale.element) && !axis->is_joined),
        .low = plot_scale_value(&axis->scale, start),
        .high = plot_scale_value(&axis->scale, start + (__int128)axis->step),
    };

    plot_name(out, &cell, axis->scale.element, axis->digits, axis->zeros);
}

void print_heat_label(const struct print_heat_axis *axis, const struct axis_times *times, size_t i,
                      bool has_date, char out[AXIS_LABEL_SIZE])
{
    const struct element *element = axis->scale.element;
    const __int128 value = print_heat_value(axis, i);
    struct element shown = *element;

    shown.decimals -= axis->zeros;
    if (element_is_time(element))
        axis_write_time(out, times, element, value, has_date);
    else
        axis_write(out, &shown, print_heat_edge(axis, value) / (__int128)decimal_power(axis->zeros),
                   axis->digits);
}

bool print_heat_date(const struct print_heat_axis *axis, const struct axis_times *times, size_t i,
                     size_t before, char out[AXIS_LABEL_SIZE])
{
    const struct element *element = axis->scale.element;
    const struct axis_times dates = {.has_month = true, .has_day = true};

    if (!element_is_time(element) || !times->has_hour ||
        (i != before && !axis_has_new_date(times, element, print_heat_value(axis, i),
                                           print_heat_value(axis, before))))
        return false;
    axis_write_time(out, &dates, element, print_heat_value(axis, i), true);
    return true;
}

size_t print_heat_longest(const struct print_heat_axis *axis)
{
    char label[AXIS_LABEL_SIZE];
    size_t longest = axis->times.has_hour ? strlen("2026-11-21") : 0; /* the date below a time */

    for (size_t i = 0; i < axis->count; i++) {
        print_heat_label(axis, &axis->times, i, axis->has_names, label);
        longest = strlen(label) > longest ? strlen(label) : longest;
    }
    return longest;
}

size_t print_heat_next_label(const struct print_heat_axis *axis,
                             const struct print_heat_labels *labels, size_t i)
{
    if (!kind_time_bucket_exists(&labels->ticks))
        return i <= labels->first ? labels->first
                                  : labels->first + (i - labels->first + labels->each - 1) /
                                                        labels->each * labels->each;
    for (; i <= axis->count; i++) {
        const __int128 value = print_heat_value(axis, i);
        const __int128 number = kind_time_bucket_number(&labels->ticks, value);
        if (kind_time_bucket_begin(&labels->ticks, number) == value)
            break;
    }
    return i;
}

/* Chooses labels at round times. Returns false if there are fewer than two. */
static bool print_heat_label_times(const struct print_heat_axis *axis, size_t cells,
                                   struct print_heat_labels *labels)
{
    struct kind_time_bucket ticks = axis->scale.bucket;
    const __int128 low = print_heat_value(axis, 0);
    const __int128 high = print_heat_value(axis, axis->count);

    __int128 count;
    while ((count = kind_time_bucket_number(&ticks, high) - kind_time_bucket_number(&ticks, low)) >
               1 &&
           count * (__int128)cells > (__int128)axis->count)
        ticks = kind_time_bucket_widen(&ticks, &axis->scale.bucket);
    labels->ticks = ticks;
    labels->first = print_heat_next_label(axis, labels, 0);
    return print_heat_next_label(axis, labels, labels->first + 1) < axis->count;
}

struct print_heat_labels print_heat_labels(const struct print_heat_axis *axis, size_t cells)
{
    struct print_heat_labels labels = {.each = 1};
    const bool is_time = element_is_time(axis->scale.element);

    if (is_time && !axis->has_names && axis->count > 0 &&
        print_heat_label_times(axis, cells, &labels)) {
        for (size_t i = labels.first; i < axis->count;
             i = print_heat_next_label(axis, &labels, i + 1))
            axis_times_add(&labels.times, axis->scale.element, print_heat_value(axis, i));
        return labels;
    }
    labels = (struct print_heat_labels){.each = 1, .times = axis->times};
    while (labels.each < cells)
        labels.each = plot_scale_next_step(&axis->scale, labels.each);
    const __int128 aligned = -binning_floor(-axis->first, labels.each) * (__int128)labels.each;
    labels.first = (size_t)(aligned - axis->first);
    if (!axis->has_names && !is_time && labels.first + labels.each < axis->count)
        return labels;
    labels.first = 0; /* there are fewer than two round labels */
    labels.each = cells > 0 ? cells : 1;
    return labels;
}

enum status print_heat(struct writer *writer, const struct groups *groups, const struct plan *plan,
                       uint64_t width, const struct print_options *options, struct failure *failure)
{
    const struct column *group = &plan->columns[plan_group_column(plan)];
    char fields[3][PRINT_FIELD_SIZE];
    struct print_heat heat = {
        .plan = plan,
        .options = options,
        .groups = groups,
        .width = width,
        .value_name = print_value_label(options, plan, fields[0]),
        .group_name = print_column_label(plan, group, "group", fields[1]),
        .count_before = plan->has_weights ? "sum of " : "",
        .count_name = print_count_label(plan, fields[2]),
        .count_after = options->percent ? " in percent of its group" : "",
    };

    print_heat_survey_groups(&heat);
    print_heat_survey_bins(&heat);
    enum status status = print_rows_format(options)->heat(writer, &heat, failure);
    free(heat.counts);
    return status;
}
