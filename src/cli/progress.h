/*
 * Writes to standard error how a run proceeds: the lines of --stats and --verbose, and progress, of
 * reading and then of stages (stage.h). Not thread-safe, except for progress_format.
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
 * Prints the line that SIGUSR1 requests: how far the run is. Counts in elements unless
 * element_bytes is 0.
 */
void progress_print_so_far(const struct pipeline *pipeline, const struct pipeline_live *live,
                           size_t element_bytes);

/* Prints the lines of --verbose: unused engines, and if has_result, used ones. */
void progress_print_engines(const struct pipeline_report *report, bool has_result);

struct progress {
    bool is_of_lines; /* a line each second, and one at the end; else one is rewritten in place */
    uint64_t size;    /* bytes of the input as it is (source_sizes), or SOURCE_SIZE_UNKNOWN */
    double due;       /* time of the next display, in seconds since the start; INFINITY: never */
    bool is_drawn;    /* a drawn line must be cleared before other output */
    uint64_t last_bytes;
    double last_seconds;
    double rate; /* recent bytes per second */

    struct timespec start;
    const struct stage *stage; /* that the thread shows; NULL: there is no thread */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over; /* is_over is set */
    bool is_over;        /* guarded by the lock */
};

/*
 * Begins the display, if it is wanted. On a terminal of which this process is in the foreground a
 * line is drawn, at once if the user has asked for it, else once the run takes longer than a
 * second. Elsewhere lines are printed, but only if asked for.
 */
void progress_begin(struct progress *progress, bool is_wanted, bool is_asked, uint64_t size);

/* Shows the progress now. A drawn line is at most as wide as the terminal. */
void progress_show(struct progress *progress, const struct pipeline_live *live);

/* Clears a drawn line until progress_show draws it again. */
void progress_clear(struct progress *progress);

/* Shows a stage, as in "merging 40%", until progress_end_stage, which needs no stage. */
void progress_begin_stage(struct progress *progress, const struct stage *stage);
void progress_end_stage(struct progress *progress);

/*
 * Writes the text of the line with a terminating NUL; cuts it if `size` bytes are too few.
 * Estimates the remaining time from `rate`, in bytes per second. Thread-safe.
 */
void progress_format(char *text, size_t size, const struct pipeline_live *live, uint64_t input_size,
                     double rate);

#endif
