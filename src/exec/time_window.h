/*
 * A window of time: the result of the last periods of a run, each from one checkpoint to the next.
 * The window keeps what older periods counted as states in memory (state.h), compressed, and adds
 * them to the partial of the newest one. At a checkpoint there is thus only one partial.
 *
 * Not thread-safe; no thread may add to the partial meanwhile.
 */
#ifndef GPUHIST_TIME_WINDOW_H
#define GPUHIST_TIME_WINDOW_H

#include "base/status.h"
#include "job/job.h"

#include <stdint.h>

struct time_window;

/*
 * Makes an empty window of job->window_periods periods. Fails with STATUS_DATA if there is no
 * memory. The caller destroys it; the job must outlive it.
 */
enum status time_window_create(struct time_window **window, const struct job *job,
                               struct failure *failure);

/*
 * Moves the window on by a period, of which `partial`, which is finalized, holds `elements`
 * elements. Saves it, adds the older periods of the window to it, and finalizes it again: it is
 * then the result of the window. Fails with STATUS_DATA.
 */
enum status time_window_move(struct time_window *window, void *partial, uint64_t elements,
                             struct failure *failure);

/* Frees a window. */
void time_window_destroy(struct time_window *window);

#endif
