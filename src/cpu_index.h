/*
 * Elements to bin numbers, a block at a time: the vector half of counting on the CPU. The other
 * half, incrementing counters, then sees 32-bit numbers alone, whatever the elements are.
 */
#ifndef GPUHIST_CPU_INDEX_H
#define GPUHIST_CPU_INDEX_H

#include "job.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Writes the bin numbers (0 .. bins + 1, see binning.h) of elements[0..count) to indexes[0..count)
 * and returns how many of them are outside the bins. The elements need not be aligned. Pure and
 * thread-safe.
 */
typedef size_t cpu_index_function(const struct binning *binning, bool swapped, const void *elements,
                                  size_t count, uint32_t *indexes);

/*
 * The function for elements of that type in that binning, or if it is NULL in any, in the best
 * instruction set of this machine.
 */
cpu_index_function *cpu_index_choose(const struct element *element, const struct binning *binning);

#endif
