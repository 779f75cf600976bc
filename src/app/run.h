/* One run of the program: what the options ask for, done from the first byte to the last line. */
#ifndef GPUHIST_RUN_H
#define GPUHIST_RUN_H

#include "app/options.h"
#include "base/status.h"

/*
 * Does what the options say and prints the result. Fails with the status to exit with. Stores
 * whether a thread is left that still uses a library, so that the process is to be left by _exit.
 */
enum status run_options(const struct options *options, bool *is_thread_left,
                        struct failure *failure);

#endif
