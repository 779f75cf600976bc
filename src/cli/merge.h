/*
 * Operation merge: merges state files of equal definition, and prints the result like a run.
 */
#ifndef GPUHIST_MERGE_H
#define GPUHIST_MERGE_H

#include "cli/options.h"
#include "lib/status.h"

/*
 * Merges the states that the options name, saves and prints the result. The action must be
 * OPTIONS_MERGE. Fails with STATUS_USAGE or STATUS_DATA. Not thread-safe.
 */
enum status merge_run(const struct options *options, struct failure *failure);

#endif
