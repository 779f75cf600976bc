/* The table of engines: the one place outside their rooms that names them. */
#ifndef GPUHIST_ENGINES_H
#define GPUHIST_ENGINES_H

#include "engine/engine.h"

/* Every engine of this build, the fastest first; NULL ends the table. The last one always runs. */
extern const struct engine *const engines[];

#endif
