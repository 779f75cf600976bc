/* Carries out one invocation of the program, from parsed options to the last line of output. */
#ifndef GPUHIST_RUN_H
#define GPUHIST_RUN_H

#include "app/options.h"
#include "base/status.h"

/*
 * Carries out the action of the options and prints the result. Returns the status to exit with.
 * Sets *is_thread_left if a thread still uses a library; the process must then end with _exit. Not
 * thread-safe.
 */
enum status run_options(const struct options *options, bool *is_thread_left,
                        struct failure *failure);

#endif
