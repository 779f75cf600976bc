/*
 * The loops of search trees (cpu_tree.h), for each instruction set that they pay in. All functions
 * are thread-safe.
 */
#ifndef GPUHIST_CPU_TREE_FIND_H
#define GPUHIST_CPU_TREE_FIND_H

#include "cpu_tree.h"

/*
 * The function for a tree of that kind and so many levels, 4 to 6, or of elements of 8 bytes 5 or
 * 6. NULL if this machine lacks the instructions.
 */
cpu_tree_find_function *cpu_tree_find_choose(unsigned bytes, unsigned levels,
                                             enum cpu_tree_kind kind);

/* Finds elements of 8 bytes one by one, by nodes64, so that none is doubtful. */
cpu_tree_find_function cpu_tree_find_exactly;

/*
 * X(elements' bytes, levels, kind, by what): the functions that there are in an instruction set, of
 * mirrored bins for 10 powers of 10 of 32 bits, or 19.
 */
#define CPU_TREE_FUNCTIONS(X)  \
    X(4, 4, WORDS, words)      \
    X(4, 5, WORDS, words)      \
    X(4, 6, WORDS, words)      \
    X(4, 4, MIRRORED, words)   \
    X(8, 5, SIGNED, floats)    \
    X(8, 6, SIGNED, floats)    \
    X(8, 5, DISTANCES, floats) \
    X(8, 6, DISTANCES, floats) \
    X(8, 5, MIRRORED, floats)

/* What these are called. */
#define CPU_TREE_DECLARE(isa, bytes, levels, kind) \
    cpu_tree_find_function cpu_tree_##isa##_##bytes##_##levels##_##kind;
#define CPU_TREE_DECLARE_BOTH(bytes, levels, kind, by) \
    CPU_TREE_DECLARE(avx512, bytes, levels, kind)      \
    CPU_TREE_DECLARE(avx2, bytes, levels, kind)
CPU_TREE_FUNCTIONS(CPU_TREE_DECLARE_BOTH)

/*
 * Before loops over levels and registers, whose rounds are to be unrolled all, or what should be in
 * registers goes through memory: left to gcc 12, six levels of AVX2 took 1.7 ns a value, not 0.9.
 */
#define CPU_TREE_UNROLL _Pragma("GCC unroll 8")
_Static_assert(CPU_TREE_LEVELS <= 8, "all rounds are unrolled");

/* Defines one, from cpu_tree_find_words or cpu_tree_find_floats, which are to be inlined. */
#define CPU_TREE_DEFINE(isa, target, bytes, levels, kind, by)                                      \
    target size_t cpu_tree_##isa##_##bytes##_##levels##_##kind(const struct cpu_tree *tree,        \
                                                               bool swapped, const void *elements, \
                                                               size_t count,                       \
                                                               uint32_t *restrict ranks)           \
    {                                                                                              \
        if (swapped)                                                                               \
            return cpu_tree_find_##by(tree, levels, CPU_TREE_##kind, true, elements, count,        \
                                      ranks);                                                      \
        return cpu_tree_find_##by(tree, levels, CPU_TREE_##kind, false, elements, count, ranks);   \
    }

#endif
