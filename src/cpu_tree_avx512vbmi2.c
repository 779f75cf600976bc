#include "config.h"

#include "cpu_tree_find.h"

#include "cpu_isa.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define CPU_TREE_TARGET CPU_ISA_TARGET_AVX512VBMI2 CPU_TREE_INLINE

/*
 * Registers that are searched for side by side, and elements in them. ns a value of int16 in 299
 * bins (Zen 4), 1 to 4 of them: 0.46 0.40 0.45 0.46.
 */
#define CPU_TREE_SIDE  2
#define CPU_TREE_GROUP ((size_t)CPU_TREE_SIDE * 32)
#define CPU_TREE_LAG   2

typedef uint16_t cpu_tree_rank;

struct cpu_tree_registers {
    __m512i nodes[CPU_TREE_NODES16 / 32];
};

CPU_TREE_TARGET void cpu_tree_load(const struct cpu_tree *tree, struct cpu_tree_shape shape,
                                   struct cpu_tree_registers *registers)
{
    for (unsigned i = 0; i < (1u << shape.levels) / 32; i++)
        registers->nodes[i] = _mm512_loadu_si512(tree->nodes16 + 32 * i);
}

/* Entry i of a table of 64 words of 16 bits. */
CPU_TREE_TARGET __m512i cpu_tree_look_up16(const __m512i *table, __m512i i)
{
    return _mm512_permutex2var_epi16(table[0], i, table[1]);
}

/* The same of 128, given bit 6 of i. */
CPU_TREE_TARGET __m512i cpu_tree_look_up16_high(const __m512i *table, __m512i i, __mmask32 bit6)
{
    return _mm512_mask_mov_epi16(cpu_tree_look_up16(table, i), bit6,
                                 cpu_tree_look_up16(table + 2, i));
}

/* Paths are numbers of nodes here; the first two steps are signs of what they were told by. */
CPU_TREE_TARGET __m512i cpu_tree_nodes(const struct cpu_tree_registers *registers, unsigned level,
                                       __m512i path, __mmask32 first, __mmask32 second)
{
    const __m512i *nodes = registers->nodes;

    if (level <= 5)
        return _mm512_permutexvar_epi16(path, nodes[level / 5]);
    if (level == 6)
        return cpu_tree_look_up16(nodes + 2, path);
    if (level == 7)
        return cpu_tree_look_up16_high(nodes + 4, path, first);
    return _mm512_mask_mov_epi16(cpu_tree_look_up16_high(nodes + 8, path, second), first,
                                 cpu_tree_look_up16_high(nodes + 12, path, second));
}

/*
 * Finds a group. A step to the right is the sign of the node less the word, and is shifted into the
 * path.
 */
CPU_TREE_TARGET size_t cpu_tree_find(const struct cpu_tree *tree,
                                     const struct cpu_tree_registers *registers,
                                     struct cpu_tree_shape shape, const char *elements,
                                     struct cpu_tree_older older, cpu_tree_rank *ranks)
{
    const __m512i order = _mm512_set4_epi32(0x0e0f0c0d, 0x0a0b0809, 0x06070405, 0x02030001);
    const __m512i bias = _mm512_set1_epi16((int16_t)tree->bias);
    const __m512i excess = _mm512_set1_epi16((int16_t)(tree->first - (1u << shape.levels)));
    __m512i words[CPU_TREE_SIDE];
    __m512i paths[CPU_TREE_SIDE];
    __mmask32 steps[2][CPU_TREE_SIDE] = {{0}};

    CPU_TABLES_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
        words[k] = _mm512_loadu_si512(elements + k * sizeof *words);
        words[k] = shape.swapped ? _mm512_shuffle_epi8(words[k], order) : words[k];
        words[k] = _mm512_xor_si512(words[k], bias);
        paths[k] = _mm512_set1_epi16(1);
    }
    CPU_TABLES_UNROLL
    for (unsigned level = 0; level < shape.levels; level++) {
        CPU_TABLES_UNROLL
        for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
            __m512i nodes = cpu_tree_nodes(registers, level, paths[k], steps[0][k], steps[1][k]);
            __m512i signs = _mm512_subs_epi16(nodes, words[k]);
            if (level < 2)
                steps[level][k] = _mm512_movepi16_mask(signs);
            paths[k] = _mm512_shldi_epi16(paths[k], signs, 1);
        }
        cpu_tree_count_share(shape, older, level, shape.levels);
    }
    CPU_TABLES_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++)
        _mm512_storeu_si512(ranks + k * 32, _mm512_add_epi16(paths[k], excess));
    return 0;
}

#include "cpu_tree_loops.h"

#define CPU_TREE_DEFINE_VBMI2(bytes, levels, kind) \
    CPU_TREE_DEFINE(avx512vbmi2, CPU_ISA_TARGET_AVX512VBMI2, bytes, levels, kind, cpu_tree_count)
CPU_TREE_FUNCTIONS16(CPU_TREE_DEFINE_VBMI2)

#endif
