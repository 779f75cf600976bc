/*
 * The loop of search trees over groups of elements, for the file of an instruction set that has
 * defined before:
 *
 *   CPU_TREE_TARGET  the attributes of its functions
 *   CPU_TREE_GROUP(shape)  how many elements a group is
 *   CPU_TREE_GROUP_MAX  at the most
 *   CPU_TREE_LAG     after how many groups one is counted: what was stored last is loaded late
 *   cpu_tree_rank    the type of a rank
 *   struct cpu_tree_registers   the tables of a tree, as vectors, which cpu_tree_load sets
 *   cpu_tree_find    stores the ranks of a group of elements and counts an older one, given what
 *                    cpu_tree_load was and has set; returns how many it has found twice
 */
#ifndef GPUHIST_CPU_TREE_LOOPS_H
#define GPUHIST_CPU_TREE_LOOPS_H

#include "cpu/cpu_tree_find.h"

#include <string.h>

/* Groups of which the ranks are kept, in a ring. */
#define CPU_TREE_RING (2 * CPU_TREE_LAG)

/* A cpu_tree_count_function. The last group is filled up with zeros. */
CPU_TREE_TARGET size_t cpu_tree_count(const struct cpu_tree *tree, struct cpu_tree_shape shape,
                                      const char *elements, size_t count, struct cpu_tables tables)
{
    const size_t group = CPU_TREE_GROUP(shape);
    const size_t room = CPU_TREE_RING * group;
    const size_t lag = CPU_TREE_LAG * group;
    const size_t whole = count - count % group;
    uint64_t rest[CPU_TREE_GROUP_MAX] = {0};
    cpu_tree_rank
        memory[CPU_TREE_RING * CPU_TREE_GROUP_MAX + CPU_TABLES_PAGE / sizeof(cpu_tree_rank)];
    cpu_tree_rank *ring = cpu_tables_beside(tables, memory, room * sizeof *ring);
    struct cpu_tree_registers registers;
    size_t twice = 0;
    size_t i = 0;

    cpu_tree_load(tree, shape, &registers);
    for (size_t k = 0; k < lag; k++)
        ring[room - lag + k] = (cpu_tree_rank)tables.spare;
    memcpy(rest, elements + whole * shape.bytes, (count - whole) * shape.bytes);
    for (; i < count; i += group) {
        const char *from = i < whole ? elements + i * shape.bytes : (const char *)rest;
        const struct cpu_tree_older older = {tables, ring + (i + room - lag) % room, sizeof *ring,
                                             group};
        twice += cpu_tree_find(tree, &registers, shape, from, older, ring + i % room);
    }
    for (size_t k = count; k < i; k++)
        ring[k % room] = (cpu_tree_rank)tables.spare;
    for (size_t k = i + room - lag; k < i + room; k += group)
        cpu_tree_count_share((struct cpu_tree_older){tables, ring + k % room, sizeof *ring, group},
                             0, 1);
    return twice;
}

/* Defines one of the functions, given the one to be inlined. */
#define CPU_TREE_DEFINE(isa, target, bytes, levels, kind, by)                                      \
    target size_t cpu_tree_##isa##_##bytes##_##levels##_##kind(const struct cpu_tree *tree,        \
                                                               bool swapped, const void *elements, \
                                                               size_t count,                       \
                                                               struct cpu_tables tables)           \
    {                                                                                              \
        const struct cpu_tree_shape other = {bytes, levels, CPU_TREE_##kind, true};                \
        const struct cpu_tree_shape same = {bytes, levels, CPU_TREE_##kind, false};                \
        return swapped ? by(tree, other, elements, count, tables)                                  \
                       : by(tree, same, elements, count, tables);                                  \
    }

#endif
