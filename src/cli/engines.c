/* The table of engines. An engine that is not in this build has a row that says so. */
#include "config.h"

#include "cli/engines.h"

#include "engine/cpu_engine.h"
#ifdef HAVE_CUDA
#include "cuda/cuda_engine.h"
#endif

#ifndef HAVE_CUDA
/* Makes the engine known by name, so that `info` says why it cannot run. */
static const struct engine cuda_engine = {.name = "cuda"};
#endif

const struct engine *const engines[] = {
    &cuda_engine,
    &cpu_engine,
    NULL,
};
