/* Carries out one invocation of the program, from parsed options to the last line of output. */
#ifndef GPUHIST_RUN_H
#define GPUHIST_RUN_H

#include "cli/options.h"
#include "lib/status.h"

/*
 * Carries out the action of the options and prints the result. Returns the status to exit with.
 * Sets *is_thread_left if a thread still uses a library; the process must then end with _exit. Not
 * thread-safe.
 */
enum status run_options(const struct options *options, bool *is_thread_left,
                        struct failure *failure);

/* At the end of the process: dies of the signal that asked for it during a run, if one did. */
void run_end_process(void);

#endif
