/* What the user is told on standard error about how the work goes. Not thread-safe. */
#ifndef GPUHIST_PROGRESS_H
#define GPUHIST_PROGRESS_H

#include "pipeline.h"

/* The lines of --stats: how much was done, how fast, by which engine, and what was the limit. */
void progress_print_stats(const struct pipeline_report *report);

/* Lines of --verbose: the engine that was used; one that was not, and why. */
void progress_print_used(const struct pipeline_report *report);
void progress_print_unusable(const char *engine, const char *reason);

#endif
