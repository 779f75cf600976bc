/*
 * The CUDA engine: feeder threads, each with two buffers of registered host memory. While one
 * buffer is copied to the GPU and counted there, the other is filled from the source.
 */
#ifndef GPUHIST_CUDA_ENGINE_H
#define GPUHIST_CUDA_ENGINE_H

#include "engine/engine.h"

extern const struct engine cuda_engine;

#endif
