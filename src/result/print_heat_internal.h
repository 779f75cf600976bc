/*
 * The contents of a heat map (print_heat.h), the same for all outputs: its axes, the counts of its
 * cells, and the scale of colours.
 *
 * An axis is divided into equal steps: *positions*. Positions of bins are their numbers; those of
 * groups are multiples of the values' common step, such as 100 for --by 4/100. If there are more
 * positions than cells fit, each cell has the same number of positions. Few single values that lie
 * far apart are *names*: each has a cell, and there is nothing between them.
 *
 * Not thread-safe.
 */
#ifndef GPUHIST_PRINT_HEAT_INTERNAL_H
#define GPUHIST_PRINT_HEAT_INTERNAL_H

#include "aggregate/groups.h"
#include "lib/status.h"
#include "result/axis.h"
#include "result/plot.h"
#include "result/print.h"
#include "result/print_heat.h"

struct writer;

/* Maximum number of names of an axis. */
#define PRINT_HEAT_NAMES_MAX 50

/* Size of a buffer for the name of a cell on one axis: a value, or LOW..HIGH. */
#define PRINT_HEAT_NAME_SIZE PLOT_NAME_SIZE

struct print_heat_axis {
    struct plot_scale scale;
    bool is_unit;            /* positions are single values */
    enum axis_digits digits; /* the notation of labels: AXIS_PRINTED in a terminal */
    unsigned zeros;          /* number of trailing zeros of all labels' fractions in a terminal */

    /* The positions that have counts. */
    __int128 low;
    __int128 high;
    size_t known;                             /* number; PRINT_HEAT_NAMES_MAX + 1: or more */
    __int128 names[PRINT_HEAT_NAMES_MAX + 1]; /* [known], ascending */

    /* The cells. */
    bool has_names;
    bool is_joined; /* cells have several positions, or for timestamps wider buckets */
    uint64_t step;  /* number of positions of a cell */
    __int128 first; /* the position of the first cell, divided by step */
    size_t count;
    struct axis_times times; /* timestamps: the parts of all cells' labels */
};

/* The cells of an axis with labels. */
struct print_heat_labels {
    size_t each; /* number of cells between labels, from `first`; timestamps: see `ticks` */
    size_t first;
    struct kind_time_bucket ticks;
    struct axis_times times; /* timestamps: the parts of these labels */
};

struct print_heat {
    const struct plan *plan;
    const struct print_options *options;
    const struct groups *groups;
    uint64_t width; /* the bin width if the plan has no bins */
    const char *value_name;
    const char *group_name;
    const char *count_before; /* a word before the name of the counts or weights, or "" */
    const char *count_name;
    const char *count_after;
    struct print_heat_axis x; /* the groups */
    struct print_heat_axis y; /* the bins */
    /* [y.count * x.count], the lowest bin first, on their scale (print_scale_number); owned */
    uint64_t *counts;
    uint64_t min; /* the minimum count other than 0 */
    uint64_t max;
    uint64_t inside; /* the sum of the counts in all cells */
    uint64_t below;  /* the sum of the counts below the bins; `above`: above them */
    uint64_t above;
    bool is_logarithmic; /* the scale of colours is logarithmic */
};

/* Divides an axis into at most `cells_max` cells, 1 or more. */
void print_heat_divide(struct print_heat_axis *axis, size_t cells_max);

/* Reads the counts of the cells of the divided axes, heat->counts. Fails with STATUS_DATA. */
enum status print_heat_count(struct print_heat *heat, struct failure *failure);

/* Returns the level, 0 to levels - 1, of a count that is not 0. */
unsigned print_heat_level(const struct print_heat *heat, uint64_t count, unsigned levels);

/* Returns the smallest count of that or a higher level. */
uint64_t print_heat_level_count(const struct print_heat *heat, unsigned level, unsigned levels);

/* Returns the length of the longest label of a count (print_scale_label). */
size_t print_heat_longest_count(const struct print_heat *heat, bool is_in_picture);

/*
 * print_heat_name writes the name of cell i in full, like other formats. print_heat_label writes
 * the axis label at the start of cell i, or for i == count at the end of the last cell. Timestamps
 * have the parts in `times`; with a time of day, they have the date only if `has_date`.
 */
void print_heat_name(const struct print_heat_axis *axis, size_t i, char out[PRINT_HEAT_NAME_SIZE]);
void print_heat_label(const struct print_heat_axis *axis, const struct axis_times *times, size_t i,
                      bool has_date, char out[AXIS_LABEL_SIZE]);

/*
 * Writes the date of the label of cell i, a time of day, if it differs from that of cell `before`,
 * or if i == before. Returns whether it wrote a date.
 */
bool print_heat_date(const struct print_heat_axis *axis, const struct axis_times *times, size_t i,
                     size_t before, char out[AXIS_LABEL_SIZE]);

/* Returns the length of the longest label of a cell. */
size_t print_heat_longest(const struct print_heat_axis *axis);

/* Returns whether a cell is a single value, so that its label belongs in its middle. */
bool print_heat_is_single(const struct print_heat_axis *axis);

/* Chooses round labels, at least `cells` cells apart. */
struct print_heat_labels print_heat_labels(const struct print_heat_axis *axis, size_t cells);

/* Returns the first cell at or after i with a label; more than axis->count if there is none. */
size_t print_heat_next_label(const struct print_heat_axis *axis,
                             const struct print_heat_labels *labels, size_t i);

/* The colours of levels 0 to PRINT_HEAT_COLOURS - 1, each brighter than the last. */
#define PRINT_HEAT_COLOURS 33
struct print_heat_colour {
    uint8_t red;
    uint8_t green;
    uint8_t blue;
};
struct print_heat_colour print_heat_colour(unsigned level);

/* Returns whether light text is easier to read on a colour than dark text. */
bool print_heat_is_dark(unsigned level);

/*
 * The outputs: divide the axes of a surveyed map, read the counts and write it. Fail with
 * STATUS_DATA.
 */
enum status print_heat_svg(struct writer *writer, struct print_heat *heat, struct failure *failure);
enum status print_heat_plot(struct writer *writer, struct print_heat *heat,
                            struct failure *failure);

#endif
