/* One merge: states of equal definition, from files, added up and printed like one run. */
#ifndef GPUHIST_MERGE_H
#define GPUHIST_MERGE_H

#include "app/options.h"
#include "base/status.h"

/* Does what the options, of which the action is OPTIONS_MERGE, say. */
enum status merge_run(const struct options *options, struct failure *failure);

#endif
