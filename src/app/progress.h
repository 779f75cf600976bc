/*
 * What the user is told on standard error about how the work goes: the lines of --stats and
 * --verbose, and the progress line. Not thread-safe.
 */
#ifndef GPUHIST_PROGRESS_H
#define GPUHIST_PROGRESS_H

#include "pipeline/pipeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The lines of --stats: how much was done, how fast, by which engines, and what limited each. */
void progress_print_stats(const struct pipeline_report *report);

/* The line that SIGUSR1 asks for: how far the run is, in elements if their size is not 0. */
void progress_print_so_far(const struct pipeline_live *live, size_t element_bytes);

/*
 * The lines of --verbose: engines that were not used, and why, and if there is a result those that
 * were, and since when.
 */
void progress_print_engines(const struct pipeline_report *report, bool has_result);

/* How progress is shown. */
enum progress_style {
    PROGRESS_NONE,
    PROGRESS_LATE,  /* drawn, once the run takes longer than a second */
    PROGRESS_DRAWN, /* one line of a terminal, rewritten in place */
    PROGRESS_LINES, /* a line now and then, and one at the end */
};

/*
 * The style for standard error: drawn if it is a terminal that can do that and that this process is
 * in the foreground of, else lines. `asked`: whether the user asked for it; if not, none or late.
 */
enum progress_style progress_choose(bool asked);

struct progress {
    enum progress_style style;
    uint64_t size; /* of the input, or SOURCE_SIZE_UNKNOWN */
    double due;    /* when it is to be shown next, in seconds of the run; INFINITY: never */
    bool is_drawn; /* there is a line to be cleared before anything else is printed */
    uint64_t last_bytes;
    double last_seconds;
    double rate; /* bytes a second, of late */
};

void progress_begin(struct progress *progress, enum progress_style style, uint64_t size);

/* Shows how far the run is. Takes no more than the width of the terminal. */
void progress_show(struct progress *progress, const struct pipeline_live *live);

/* Clears the line that is drawn, if any, until it is shown again. */
void progress_clear(struct progress *progress);

/* After the run: clears the line, or tells a last time how far it came. */
void progress_end(struct progress *progress, const struct pipeline_live *live);

/*
 * Writes the text of the line, with a NUL; cut if `size` is too small. `rate`, in bytes a second,
 * is what the remaining time is estimated by. Pure.
 */
void progress_format(char *text, size_t size, const struct pipeline_live *live, uint64_t input_size,
                     double rate);

#endif
