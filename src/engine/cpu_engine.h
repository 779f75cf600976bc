/*
 * The CPU engine: one thread per core, each with a buffer that fits its L2 and a private counting
 * state; all share the aggregate. It calls operations only through struct store.
 */
#ifndef GPUHIST_CPU_ENGINE_H
#define GPUHIST_CPU_ENGINE_H

#include "engine/engine.h"

/* The engine's row of the table of engines. */
extern const struct engine cpu_engine;

#endif
