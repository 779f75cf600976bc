/*
 * What plans may ask for, and how the CUDA engine runs it: on the GPU, or with values that a feeder
 * parses on the CPU, or not at all. All functions are thread-safe.
 */
#ifndef GPUHIST_CUDA_FEATURES_H
#define GPUHIST_CUDA_FEATURES_H

#include "engine/engine.h"

/* Every feature, in the order in which users read them and in which a refusal names them. */
extern const struct engine_feature cuda_features[];

/* Returns whether a feeder has to parse this chunk; else the GPU does, if it is of text. */
bool cuda_features_must_parse(const struct plan *plan, const struct chunk *chunk);

#endif
