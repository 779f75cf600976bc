/*
 * The loops of search trees (cpu_tree.h), for each instruction set that they pay in. All functions
 * are thread-safe.
 */
#ifndef GPUHIST_CPU_TREE_FIND_H
#define GPUHIST_CPU_TREE_FIND_H

#include "cpu/cpu_tree.h"

#include <string.h>

/*
 * The function for a tree of that kind and so many levels, 4 to 8, of elements of 8 bytes 5 to 8,
 * of 2 bytes 6 or 9, and of words that are cut 8 or 9. NULL if this machine lacks the
 * instructions.
 */
cpu_tree_count_function *cpu_tree_find_choose(unsigned bytes, unsigned levels,
                                              enum cpu_tree_kind kind);

/* Writes the ranks of elements of 8 bytes, found one by one, by nodes64, so that none is doubtful.
 */
void cpu_tree_find_exactly(const struct cpu_tree *tree, bool swapped, const void *elements,
                           size_t count, uint32_t *ranks);

/* An element of 4 or 8 bytes as it was written, as a word of its sign. */
static inline int64_t cpu_tree_element(unsigned bytes, bool swapped, const char *element)
{
    uint64_t wide;
    uint32_t narrow;

    if (bytes == sizeof wide) {
        memcpy(&wide, element, sizeof wide);
        return (int64_t)(swapped ? element_swap(wide, sizeof wide) : wide);
    }
    memcpy(&narrow, element, sizeof narrow);
    return (int32_t)(swapped ? element_swap(narrow, sizeof narrow) : narrow);
}

/* Functions of a loop, behind their target. UBSan of clang 14 would take minutes for them. */
#define CPU_TREE_INLINE static inline __attribute__((always_inline, no_sanitize("undefined")))

/* What a loop is made for: constants. */
struct cpu_tree_shape {
    unsigned bytes; /* of an element */
    unsigned levels;
    enum cpu_tree_kind kind;
    bool swapped;
};

/* The ranks of an older group of elements. */
struct cpu_tree_older {
    struct cpu_tables tables; /* where they are to be counted */
    const void *ranks;
    size_t bytes; /* of a rank, 2 or 4 */
    size_t group; /* how many */
};

/* Counts a share of them: number `share` of `shares`. */
static inline __attribute__((always_inline)) void cpu_tree_count_share(struct cpu_tree_older older,
                                                                       size_t share, size_t shares)
{
    cpu_tables_count(older.tables, older.bytes == 2 ? 4 : 8, older.ranks, older.bytes,
                     older.group * share / shares, older.group * (share + 1) / shares);
}

/*
 * X(elements' bytes, levels, kind): the functions that there are in an instruction set, of mirrored
 * bins for 10 powers of 10 of 32 bits, or 19; those that there are with AVX-512 alone; and with
 * VBMI2 alone.
 */
#define CPU_TREE_FUNCTIONS(X) \
    X(4, 4, WORDS)            \
    X(4, 5, WORDS)            \
    X(4, 6, WORDS)            \
    X(4, 4, MIRRORED)         \
    X(8, 5, SIGNED)           \
    X(8, 6, SIGNED)           \
    X(8, 5, POSITIVE)         \
    X(8, 6, POSITIVE)         \
    X(8, 5, DISTANCES)        \
    X(8, 6, DISTANCES)        \
    X(8, 5, MIRRORED)
#define CPU_TREE_FUNCTIONS_MANY(X) \
    X(4, 7, WORDS)                 \
    X(4, 8, WORDS)                 \
    X(8, 7, SIGNED)                \
    X(8, 8, SIGNED)                \
    X(8, 7, POSITIVE)              \
    X(8, 8, POSITIVE)              \
    X(8, 7, DISTANCES)             \
    X(8, 8, DISTANCES)
#define CPU_TREE_FUNCTIONS16(X) \
    X(2, 6, WORDS)              \
    X(2, 9, WORDS)              \
    CPU_TREE_CUT_LEVELS(X, 8)   \
    CPU_TREE_CUT_LEVELS(X, 9)
#define CPU_TREE_CUT_LEVELS(X, levels) \
    X(4, levels, CUT)                  \
    X(4, levels, CUT_SIGNED)           \
    X(4, levels, CUT_DISTANCES)        \
    X(8, levels, CUT)                  \
    X(8, levels, CUT_SIGNED)           \
    X(8, levels, CUT_DISTANCES)

/* What these are called. */
#define CPU_TREE_DECLARE(isa, bytes, levels, kind) \
    cpu_tree_count_function cpu_tree_##isa##_##bytes##_##levels##_##kind;
#define CPU_TREE_DECLARE_BOTH(bytes, levels, kind) \
    CPU_TREE_DECLARE(avx512, bytes, levels, kind)  \
    CPU_TREE_DECLARE(avx2, bytes, levels, kind)
#define CPU_TREE_DECLARE_MANY(bytes, levels, kind) CPU_TREE_DECLARE(avx512, bytes, levels, kind)
#define CPU_TREE_DECLARE16(bytes, levels, kind)    CPU_TREE_DECLARE(avx512vbmi2, bytes, levels, kind)
CPU_TREE_FUNCTIONS(CPU_TREE_DECLARE_BOTH)
CPU_TREE_FUNCTIONS_MANY(CPU_TREE_DECLARE_MANY)
CPU_TREE_FUNCTIONS16(CPU_TREE_DECLARE16)

#endif
