/*
 * Elements to bin numbers, a block at a time: the vector half of counting on the CPU. The other
 * half, incrementing counters, then sees 32-bit numbers alone, whatever the elements are.
 *
 * The table of rules in cpu_index.c says which way is taken for which elements and binning.
 */
#ifndef GPUHIST_CPU_INDEX_H
#define GPUHIST_CPU_INDEX_H

#include "cpu/cpu_index_loops.h"
#include "cpu/cpu_keys.h"
#include "job/binning.h"

/* Const once it is made. */
struct cpu_index {
    struct cpu_index_terms terms;
    cpu_index_loop *loop;
    cpu_keys_function *make_keys; /* NULL: elements are keys */
    size_t element_bytes;
    uint16_t *map; /* that the terms have; NULL: none; owned */
};

/*
 * Makes the index of elements of that type in that binning, which must outlive it, in the best
 * instruction set of this machine. Fails with STATUS_DATA if there is no memory. The caller
 * destroys it, after errors too. Thread-safe.
 */
enum status cpu_index_init(struct cpu_index *index, const struct element *element,
                           const struct binning *binning, struct failure *failure);

/* One of zeros is allowed. */
void cpu_index_destroy(struct cpu_index *index);

/*
 * Writes the bin numbers (0 .. bins + 1, see binning.h) of elements[0..count), which need not be
 * aligned, to indexes[0..count). Thread-safe.
 */
void cpu_index_find(const struct cpu_index *index, const void *elements, size_t count,
                    uint32_t *indexes);

#endif
