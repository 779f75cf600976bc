/*
 * Elements to bin numbers, a block at a time: the vector half of counting on the CPU. The other
 * half, incrementing counters, then sees 32-bit numbers alone, whatever the elements are. Both can
 * be done in one loop, where it pays: one group of elements is computed while an older one is
 * counted, since the one half waits for arithmetic, and the other for stores.
 */
#ifndef GPUHIST_CPU_INDEX_H
#define GPUHIST_CPU_INDEX_H

#include "cpu/cpu_tables.h"
#include "job/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writes the bin numbers (0 .. bins + 1, see binning.h) of elements[0..count) to indexes[0..count),
 * and if `turns` is not NULL, which needs cpu_index_can_count, counts them in these tables, of as
 * many entries. The elements need not be aligned. Thread-safe but for the tables.
 */
typedef void cpu_index_function(const struct binning *binning, bool swapped, const void *elements,
                                size_t count, uint32_t *indexes,
                                const struct cpu_tables_turns *turns);

/*
 * The function for elements of that type in that binning, or if it is NULL in any, in the best
 * instruction set of this machine.
 */
cpu_index_function *cpu_index_choose(const struct element *element, const struct binning *binning);

/*
 * Whether the functions for a binning of that form can count: where it pays. Bins one wide take
 * hardly any time to compute, and edges are searched for.
 */
bool cpu_index_can_count(enum binning_form form);

/* How many of the bin numbers indexes[0..count) are none of so many bins. Pure and thread-safe. */
size_t cpu_index_outside(const uint32_t *indexes, size_t count, uint32_t bins);

#endif
