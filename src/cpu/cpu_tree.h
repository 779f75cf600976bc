/*
 * Search trees: few bins of any kind by comparison alone. The values that bins begin at are the
 * nodes of a perfect binary tree (as in Khuong and Morin, "Array Layouts for Comparison-Based
 * Searching", 2017), whose levels stay in vector registers: one permutation a level brings each
 * lane its node.
 *
 * What a group of elements is waits for itself most of the time, and counting is limited by stores:
 * so a loop finds one group and counts an older one meanwhile, some after each level, so that the
 * processor has room for both in its buffers.
 *
 * Elements of 8 bytes are rounded to floats, towards 0, so that a register has twice as many of
 * them; many bins are searched by the upper bits of elements, or of such floats, *cut* to 16. Order
 * is kept, but an element may become the same as what a bin begins at: *doubtful* ones are found
 * once more, as they are.
 *
 * A tree is made from binning_edge alone, so that the binning remains what defines bins. It is
 * const once made; all functions are thread-safe.
 */
#ifndef GPUHIST_CPU_TREE_H
#define GPUHIST_CPU_TREE_H

#include "cpu/cpu_tables.h"
#include "job/job.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The most levels, and the most nodes and one more. A node is known by its level and its *path*, in
 * which bit i is set if level i was left to the right.
 */
#define CPU_TREE_LEVELS 8
#define CPU_TREE_NODES  (1 << CPU_TREE_LEVELS)

/* The same of words of 16 bits, whose nodes are known by their numbers. */
#define CPU_TREE_LEVELS16 9
#define CPU_TREE_NODES16  (1 << CPU_TREE_LEVELS16)

/* What is compared, as signed words: `bias` is xored to elements of unsigned types. */
enum cpu_tree_kind {
    CPU_TREE_WORDS,         /* elements of 2 or 4 bytes */
    CPU_TREE_MIRRORED,      /* magnitudes: bins lie on both sides of 0 alike */
    CPU_TREE_SIGNED,        /* elements of 8 bytes, rounded, */
    CPU_TREE_POSITIVE,      /* and no bin begins below 0 */
    CPU_TREE_DISTANCES,     /* how much they are above `low`, an element with its bias, or 0 */
    CPU_TREE_CUT,           /* elements of 4 or 8 bytes without `shift` bits, less `base` */
    CPU_TREE_CUT_SIGNED,    /* the same of what elements, */
    CPU_TREE_CUT_DISTANCES, /* or distances are rounded to */
};

/* Whether words are cut to 16 bits, saturated. */
static inline bool cpu_tree_is_cut(enum cpu_tree_kind kind)
{
    return kind >= CPU_TREE_CUT;
}

struct cpu_tree;

/*
 * Counts the ranks (binning.h) of elements[0..count), which need not be aligned, in 8 tables, or 4
 * if words of 16 bits are compared. Returns how many it has found twice, since they or their
 * neighbours are doubtful.
 */
typedef size_t cpu_tree_count_function(const struct cpu_tree *tree, bool swapped,
                                       const void *elements, size_t count,
                                       struct cpu_tables tables);

/* Unused nodes are the greatest words, so that none is greater. */
struct cpu_tree {
    cpu_tree_count_function *count; /* NULL: there is no tree */
    bool is_quickest;               /* no guide is quicker */
    enum cpu_tree_kind kind;
    uint64_t bias;
    uint64_t low;
    uint32_t first; /* how many bins begin at or before the type's lowest value, or magnitude */
    unsigned levels;
    /* By level and path, one less than the words that bins begin at, and of 8 bytes, in nodes32,
       than what these are rounded to. */
    uint32_t nodes32[CPU_TREE_LEVELS][CPU_TREE_NODES / 2];
    int64_t nodes64[CPU_TREE_LEVELS][CPU_TREE_NODES / 2];
    uint32_t ranks[CPU_TREE_NODES / 2]; /* by path to the last level, if not to the right of that */
    uint32_t doubts[CPU_TREE_NODES];    /* by rank, modulo 2^levels: what doubtful ones round to */
    /* Of 16 bits: level l is nodes16[2^l .. 2^(l+1)), from the left to the right. */
    uint16_t nodes16[CPU_TREE_NODES16];
    unsigned shift; /* if they are cut, */
    int64_t base;
    int64_t ends[CPU_TREE_NODES16]; /* and a sentinel and then the ends as elements, not cut */
};

/*
 * Makes the tree of a job, a histogram's; without `count` if its bins are too many, or quicker to
 * compute, or too many are rounded or cut to the same, or this machine lacks the instructions.
 */
void cpu_tree_init(struct cpu_tree *tree, const struct job *job);

#endif
