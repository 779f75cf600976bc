/* The table of engines: the only place outside the engines' folders that names them. */
#ifndef GPUHIST_ENGINES_H
#define GPUHIST_ENGINES_H

#include "engine/engine.h"

/*
 * Every engine of this build, the fastest first; NULL ends the table. The last engine can always
 * run.
 */
extern const struct engine *const engines[];

#endif
