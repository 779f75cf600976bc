/*
 * The features of plans, and their support in the CUDA engine: on the GPU, with values that a
 * feeder parses on the CPU, or not at all. All functions are thread-safe.
 */
#ifndef GPUHIST_CUDA_FEATURES_H
#define GPUHIST_CUDA_FEATURES_H

#include "engine/engine.h"

/* Every feature, in the order of messages and `info`. */
extern const struct engine_feature cuda_features[];

/* Returns whether a feeder must parse this chunk; otherwise the GPU parses it, if it is text. */
bool cuda_features_must_parse(const struct plan *plan, const struct chunk *chunk);

#endif
