/*
 * Search trees: few bins of any kind by comparison alone. The values that bins begin at are the
 * nodes of a perfect binary tree, in the order of an Eytzinger layout (Khuong and Morin, "Array
 * Layouts for Comparison-Based Searching", 2017), which stays in vector registers: one permutation
 * a level brings each lane its node, and nothing is loaded but the elements.
 *
 * A tree is made from binning_edge alone, so that the binning remains what defines bins. It is
 * const once made; all functions are thread-safe.
 */
#ifndef GPUHIST_CPU_TREE_H
#define GPUHIST_CPU_TREE_H

#include "job.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The most nodes and one more, of elements of 4 bytes; of 8, half as many. Node 1 is the root,
 * those below node i are 2 i and 2 i + 1.
 */
#define CPU_TREE_NODES 64

struct cpu_tree;

/* Writes the ranks (binning.h) of elements[0..count), which need not be aligned. */
typedef void cpu_tree_find_function(const struct cpu_tree *tree, bool swapped, const void *elements,
                                    size_t count, uint32_t *ranks);

/*
 * Words are compared as unsigned ones, after `bias` is xored to them, or for powers of 10 of signed
 * elements their magnitudes are. A node is one less than the value that a bin begins at, and those
 * that are none are all ones, so that no word is greater.
 */
struct cpu_tree {
    cpu_tree_find_function *find; /* NULL: there is no tree */
    uint64_t bias;
    uint32_t first; /* how many bins begin at or before the type's lowest value, or magnitude */
    union {
        uint32_t nodes32[CPU_TREE_NODES];     /* of elements of 4 bytes */
        uint64_t nodes64[CPU_TREE_NODES / 2]; /* of 8 */
    };
};

/*
 * Makes the tree of a job, a histogram's; without `find` if its bins are too many, or quicker to
 * compute, or this machine lacks the instructions.
 */
void cpu_tree_init(struct cpu_tree *tree, const struct job *job);

#endif
