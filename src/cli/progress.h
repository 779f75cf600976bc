/*
 * Writes the progress of a run to standard error, first of reading and then of stages (stage.h),
 * and the lines of --stats and --verbose. Not thread-safe, except progress_format.
 */
#ifndef GPUHIST_PROGRESS_H
#define GPUHIST_PROGRESS_H

#include "engine/pipeline.h"
#include "lib/stage.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Prints the lines of --stats. */
void progress_print_stats(const struct pipeline_report *report);

/*
 * Prints the line that SIGUSR1 requests: the progress so far. Counts elements unless
 * element_bytes is 0.
 */
void progress_print_so_far(const struct pipeline *pipeline, const struct pipeline_live *live,
                           size_t element_bytes);

/* Prints the lines of --verbose: unused engines, and if has_result, used ones. */
void progress_print_engines(const struct pipeline_report *report, bool has_result);

struct progress {
    bool is_of_lines; /* prints a line per second, and one at the end; else redraws one line */
    uint64_t size;    /* size of the input (source_sizes.files), or SOURCE_SIZE_UNKNOWN */
    double due;       /* time of the next display, in seconds since the start; INFINITY: never */
    bool is_drawn;    /* a drawn line must be cleared before other output */
    uint64_t last_bytes;
    double last_seconds;
    double rate; /* recent bytes per second */

    struct timespec start;
    const struct stage *stage; /* the stage that the thread shows; NULL: there is no thread */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over; /* is_over is set */
    bool is_over;        /* guarded by the lock */
};

/*
 * Begins the display, if it is_wanted. If this process is in the foreground of a terminal, a line
 * is drawn, at once if the user asked for it (is_asked), else once the run takes longer than a
 * second. Otherwise lines are printed, but only if the user asked for them.
 */
void progress_begin(struct progress *progress, bool is_wanted, bool is_asked, uint64_t size);

/* Shows the progress now. A drawn line is at most as wide as the terminal. */
void progress_show(struct progress *progress, const struct pipeline_live *live);

/* Clears a drawn line until progress_show draws it again. */
void progress_clear(struct progress *progress);

/* Shows a stage, such as "merging 40%", until progress_end_stage, which is allowed without one. */
void progress_begin_stage(struct progress *progress, const struct stage *stage);
void progress_end_stage(struct progress *progress);

/*
 * Writes the text of the line with a terminating NUL; cuts it if `size` bytes are too few.
 * Estimates the remaining time from `rate`, in bytes per second. Thread-safe.
 */
void progress_format(char *text, size_t size, const struct pipeline_live *live, uint64_t input_size,
                     double rate);

#endif
