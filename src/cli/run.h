/* Performs one invocation of the program, from parsed options to the last line of output. */
#ifndef GPUHIST_RUN_H
#define GPUHIST_RUN_H

#include "cli/options.h"
#include "lib/status.h"

/*
 * Performs the action of the options and prints the result. Returns the exit status. Sets
 * *is_thread_left if a thread still uses a library; the process must then end with _exit. Not
 * thread-safe.
 */
enum status run_options(const struct options *options, bool *is_thread_left,
                        struct failure *failure);

/* At the end of the process: kills it by the signal that ended a run, if there was one. */
void run_end_process(void);

#endif
