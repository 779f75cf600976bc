/*
 * Computes the bin numbers of a block of elements: the vector half of counting on the CPU. The
 * other half, incrementing counters, only handles 32-bit bin numbers, whatever the elements are.
 *
 * There are four ways: bins of width 1 are differences; equal-width bins are quotients; powers
 * are computed from the number of digits; edges are looked up in buckets (binning_index.h).
 */
#ifndef GPUHIST_CPU_INDEX_H
#define GPUHIST_CPU_INDEX_H

#include "engine/cpu_index_loops.h"
#include "engine/cpu_keys.h"
#include "value/binning.h"

/* Constant after its construction. */
struct cpu_index {
    struct cpu_index_terms terms;
    cpu_index_loop *loop;
    cpu_keys_function *make_keys; /* converts elements to keys; NULL: they are keys */
    size_t element_bytes;
};

/*
 * Initialises the index for elements of that type in that binning, which must outlive it, and for
 * the best instruction set of this machine. Thread-safe.
 */
void cpu_index_init(struct cpu_index *index, const struct element *element,
                    const struct binning *binning);

/*
 * Writes the bin numbers (0 .. bins + 1, see binning.h) of elements[0..count), which need not be
 * aligned, to indexes[0..count). Thread-safe.
 */
void cpu_index_find(const struct cpu_index *index, const void *elements, size_t count,
                    uint32_t *indexes);

#endif
