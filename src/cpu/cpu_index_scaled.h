/* Elements of 4 and 8 bytes to equal bins of whatever width: see cpu_index.h. */
#ifndef GPUHIST_CPU_INDEX_SCALED_H
#define GPUHIST_CPU_INDEX_SCALED_H

#include "cpu/cpu_index.h"

/*
 * The function for elements of that type in that binning; NULL if there is none, because it is for
 * others or this machine lacks the instructions.
 */
cpu_index_function *cpu_index_scaled_choose(const struct element *element,
                                            const struct binning *binning);

#endif
