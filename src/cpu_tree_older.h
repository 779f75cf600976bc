/*
 * What the loops of search trees do beside finding a group: an older one is counted. For the file
 * of an instruction set that has defined CPU_TREE_TARGET, the attributes of its functions, and
 * CPU_TREE_GROUP, how many elements are a group, and the type cpu_tree_rank.
 */
#ifndef GPUHIST_CPU_TREE_OLDER_H
#define GPUHIST_CPU_TREE_OLDER_H

#include "cpu_tree.h"

/*
 * Before loops over levels, registers and elements of a group, whose rounds are to be unrolled all,
 * or what should be in registers goes through memory: left to gcc 12, six levels of AVX2 took 1.7
 * ns a value, not 0.9.
 */
#define CPU_TREE_UNROLL _Pragma("GCC unroll 64")

/* What a loop is made for: constants. */
struct cpu_tree_shape {
    unsigned bytes; /* of an element */
    unsigned levels;
    enum cpu_tree_kind kind;
    bool swapped;
};

/* The ranks of an older group, and where they are to be counted. */
struct cpu_tree_older {
    uint32_t *tables;
    const cpu_tree_rank *ranks;
};

/* Counts a share of them: number `share` of `shares`. */
CPU_TREE_TARGET void cpu_tree_count_share(struct cpu_tree_shape shape, struct cpu_tree_older older,
                                          size_t share, size_t shares)
{
    const size_t copies = CPU_TREE_COPIES(shape.bytes);
    const size_t group = CPU_TREE_GROUP;

    CPU_TREE_UNROLL
    for (size_t i = group * share / shares; i < group * (share + 1) / shares; i++)
        older.tables[i % copies * CPU_TABLES_STRIDE + older.ranks[i]]++;
}

#endif
