/* One run of the program: what the options ask for, done from the first byte to the last line. */
#ifndef GPUHIST_RUN_H
#define GPUHIST_RUN_H

#include "options.h"
#include "status.h"

/* Does what the options say and prints the result. Fails with the status to exit with. */
enum status run_options(const struct options *options, struct failure *failure);

#endif
