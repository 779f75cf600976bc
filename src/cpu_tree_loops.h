/*
 * The loops of search trees over groups of elements, for the file of an instruction set that has
 * defined before: CPU_TREE_TARGET, the attributes of its functions; CPU_TREE_GROUP, how many
 * elements a group is; cpu_tree_find_group and cpu_tree_find_rounded, for one group of elements of
 * 4 or 8 bytes; cpu_tree_round_to_zero and cpu_tree_round_again, around the latter.
 */
#ifndef GPUHIST_CPU_TREE_LOOPS_H
#define GPUHIST_CPU_TREE_LOOPS_H

#include "cpu_tree_find.h"

#include <string.h>

/* A cpu_tree_find_function of elements of 4 bytes. */
CPU_TREE_TARGET size_t cpu_tree_find_words(const struct cpu_tree *tree, unsigned levels,
                                           enum cpu_tree_kind kind, bool swapped,
                                           const char *elements, size_t count,
                                           uint32_t *restrict ranks)
{
    uint32_t rest[CPU_TREE_GROUP] = {0};
    uint32_t found[CPU_TREE_GROUP];
    size_t i = 0;

    for (; i + CPU_TREE_GROUP <= count; i += CPU_TREE_GROUP)
        cpu_tree_find_group(tree, levels, kind, swapped, elements + i * 4, ranks + i);
    if (i == count)
        return 0;
    memcpy(rest, elements + i * 4, (count - i) * 4);
    cpu_tree_find_group(tree, levels, kind, swapped, (const char *)rest, found);
    memcpy(ranks + i, found, (count - i) * sizeof *ranks);
    return 0;
}

/* A cpu_tree_find_function of elements of 8 bytes. */
CPU_TREE_TARGET size_t cpu_tree_find_floats(const struct cpu_tree *tree, unsigned levels,
                                            enum cpu_tree_kind kind, bool swapped,
                                            const char *elements, size_t count,
                                            uint32_t *restrict ranks)
{
    const unsigned mode = cpu_tree_round_to_zero();
    size_t twice = 0;
    size_t i = 0;

    for (; i + CPU_TREE_GROUP <= count; i += CPU_TREE_GROUP) {
        const char *from = elements + i * 8;
        if (__builtin_expect(cpu_tree_find_rounded(tree, levels, kind, swapped, from, ranks + i),
                             0)) {
            cpu_tree_find_exactly(tree, swapped, from, CPU_TREE_GROUP, ranks + i);
            twice += CPU_TREE_GROUP;
        }
    }
    cpu_tree_round_again(mode, ranks);
    cpu_tree_find_exactly(tree, swapped, elements + i * 8, count - i, ranks + i);
    return twice;
}

#endif
