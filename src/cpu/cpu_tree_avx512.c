#include "config.h"

#include "cpu/cpu_tree_find.h"

#include "base/cpu_isa.h"

#if defined(__x86_64__)
#include "cpu/cpu_swap.h"

#define CPU_TREE_TARGET CPU_ISA_TARGET_AVX512 CPU_TREE_INLINE

#include "cpu/cpu_tree_round.h"

/*
 * Registers that are searched for side by side, level by level, since one waits for itself most of
 * the time, and elements in them. ns a value of int32 in 58 bins (Zen 4), 1 to 4 of them: 0.55 0.40
 * 0.38 0.36, of int64 0.69 0.53 0.51 0.47.
 */
#define CPU_TREE_SIDE         4
#define CPU_TREE_GROUP_MAX    ((size_t)CPU_TREE_SIDE * 16)
#define CPU_TREE_GROUP(shape) CPU_TREE_GROUP_MAX
#define CPU_TREE_LAG          2

typedef uint32_t cpu_tree_rank;

struct cpu_tree_registers {
    __m512i nodes[CPU_TREE_LEVELS][CPU_TREE_NODES / 32];
    __m512i ranks[CPU_TREE_NODES / 64]; /* of fewer levels than CPU_TREE_LEVELS */
    __m512i doubts[CPU_TREE_NODES / 16];
};

/* Loads a table of so many words of 32 bits, or more. */
CPU_TREE_TARGET void cpu_tree_load_table(const uint32_t *table, unsigned entries,
                                         __m512i *registers)
{
    CPU_TABLES_UNROLL
    for (unsigned i = 0; i < entries; i += 16)
        registers[i / 16] = _mm512_loadu_si512(table + i);
}

CPU_TREE_TARGET void cpu_tree_load(const struct cpu_tree *tree, struct cpu_tree_shape shape,
                                   struct cpu_tree_registers *registers)
{
    CPU_TABLES_UNROLL
    for (unsigned level = 1; level < shape.levels; level++)
        cpu_tree_load_table(tree->nodes32[level], 1u << level, registers->nodes[level]);
    if (shape.levels < CPU_TREE_LEVELS)
        cpu_tree_load_table(tree->ranks, 1u << (shape.levels - 1), registers->ranks);
    if (shape.bytes == 8)
        cpu_tree_load_table(tree->doubts, 1u << shape.levels, registers->doubts);
}

/* Either, by a bit of i. */
CPU_TREE_TARGET __m512i cpu_tree_choose(__m512i i, int32_t bit, __m512i without, __m512i with)
{
    return _mm512_mask_mov_epi32(without, _mm512_test_epi32_mask(i, _mm512_set1_epi32(bit)), with);
}

/* Entry i of a table of 32, 64 or 128. Other bits of i are not looked at. */
CPU_TREE_TARGET __m512i cpu_tree_look_up32(const __m512i *table, __m512i i)
{
    return _mm512_permutex2var_epi32(table[0], i, table[1]);
}

CPU_TREE_TARGET __m512i cpu_tree_look_up64(const __m512i *table, __m512i i)
{
    return cpu_tree_choose(i, 32, cpu_tree_look_up32(table, i), cpu_tree_look_up32(table + 2, i));
}

CPU_TREE_TARGET __m512i cpu_tree_look_up128(const __m512i *table, __m512i i)
{
    return cpu_tree_choose(i, 64, cpu_tree_look_up64(table, i), cpu_tree_look_up64(table + 4, i));
}

/* The same of a table of 16 or less, 32, 64, 128 or 256. */
CPU_TREE_TARGET __m512i cpu_tree_look_up(const __m512i *table, unsigned entries, __m512i i)
{
    switch (entries) {
    default:
        return _mm512_permutexvar_epi32(i, table[0]);
    case 32:
        return cpu_tree_look_up32(table, i);
    case 64:
        return cpu_tree_look_up64(table, i);
    case 128:
        return cpu_tree_look_up128(table, i);
    case 256:
        return cpu_tree_choose(i, 128, cpu_tree_look_up128(table, i),
                               cpu_tree_look_up128(table + 8, i));
    }
}

/*
 * Twice how many nodes of a tree of 8 levels, CPU_TREE_LEVELS, are to the left of paths before the
 * last one: their 7 bits in reverse, of the lower four and the upper three by tables of bytes, of
 * which the upper ones of a lane remain 0.
 */
CPU_TREE_TARGET __m512i cpu_tree_columns7(__m512i paths)
{
    const __m512i lower = _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, (char)128, 64, (char)192, 32, (char)160, 96, (char)224, 16, (char)144, 80,
                      (char)208, 48, (char)176, 112, (char)240));
    const __m512i upper =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 8, 4, 12, 2, 10, 6, 14, 0, 0, 0, 0, 0, 0, 0, 0));
    return _mm512_or_si512(_mm512_shuffle_epi8(lower, paths),
                           _mm512_shuffle_epi8(upper, _mm512_srli_epi32(paths, 4)));
}

/* The ranks of words by nodes32, if the tree is not mirrored. */
CPU_TREE_TARGET void cpu_tree_search(const struct cpu_tree *tree,
                                     const struct cpu_tree_registers *registers,
                                     struct cpu_tree_shape shape, struct cpu_tree_older older,
                                     const __m512i words[CPU_TREE_SIDE],
                                     __m512i ranks[CPU_TREE_SIDE])
{
    const unsigned last = shape.levels - 1;
    const __m512i first = _mm512_set1_epi32((int32_t)tree->first);
    __m512i paths[CPU_TREE_SIDE];
    __m512i nodes[CPU_TREE_SIDE];

    CPU_TABLES_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
        paths[k] = _mm512_setzero_si512();
        nodes[k] = _mm512_set1_epi32((int32_t)tree->nodes32[0][0]);
    }
    CPU_TABLES_UNROLL
    for (unsigned level = 0; level < last; level++) {
        CPU_TABLES_UNROLL
        for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
            __mmask16 is_right = _mm512_cmpgt_epi32_mask(words[k], nodes[k]);
            paths[k] =
                _mm512_mask_or_epi32(paths[k], is_right, paths[k], _mm512_set1_epi32(1 << level));
            nodes[k] = cpu_tree_look_up(registers->nodes[level + 1], 2u << level, paths[k]);
        }
        cpu_tree_count_share(older, level, shape.levels);
    }
    CPU_TABLES_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
        __mmask16 is_right = _mm512_cmpgt_epi32_mask(words[k], nodes[k]);
        ranks[k] = shape.levels == CPU_TREE_LEVELS
                       ? _mm512_add_epi32(cpu_tree_columns7(paths[k]), first)
                       : cpu_tree_look_up(registers->ranks, 1u << last, paths[k]);
        ranks[k] = _mm512_mask_add_epi32(ranks[k], is_right, ranks[k], _mm512_set1_epi32(1));
    }
    cpu_tree_count_share(older, last, shape.levels);
}

/* What is negative of mirrored bins has as many nodes on the other side of the first. */
CPU_TREE_TARGET __m512i cpu_tree_mirror(const struct cpu_tree *tree, __m512i ranks, __m512i signs)
{
    __m512i twice = _mm512_set1_epi32(2 * (int32_t)tree->first);
    return _mm512_mask_sub_epi32(ranks, _mm512_movepi32_mask(signs), twice, ranks);
}

/* Finds a group of elements of 4 bytes. */
CPU_TREE_TARGET void cpu_tree_find32(const struct cpu_tree *tree,
                                     const struct cpu_tree_registers *registers,
                                     struct cpu_tree_shape shape, const char *elements,
                                     struct cpu_tree_older older, cpu_tree_rank *ranks)
{
    const __m512i bias = _mm512_set1_epi32((int32_t)tree->bias);
    const __m512i most = _mm512_set1_epi32(INT32_MAX);
    __m512i words[CPU_TREE_SIDE];
    __m512i keys[CPU_TREE_SIDE];
    __m512i found[CPU_TREE_SIDE];

    CPU_TABLES_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
        words[k] = _mm512_loadu_si512(elements + k * sizeof *words);
        words[k] = shape.swapped ? _mm512_shuffle_epi8(words[k], cpu_swap_order(4)) : words[k];
        keys[k] = shape.kind == CPU_TREE_MIRRORED
                      ? _mm512_min_epu32(_mm512_abs_epi32(words[k]), most)
                      : _mm512_xor_si512(words[k], bias);
    }
    cpu_tree_search(tree, registers, shape, older, keys, found);
    CPU_TABLES_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
        if (shape.kind == CPU_TREE_MIRRORED)
            found[k] = cpu_tree_mirror(tree, found[k], words[k]);
        _mm512_storeu_si512(ranks + k * 16, found[k]);
    }
}

/* The floats that 8 elements of 8 bytes, or their distances, are rounded to. */
CPU_TREE_TARGET __m256i cpu_tree_round(const struct cpu_tree *tree, enum cpu_tree_kind kind,
                                       bool swapped, const char *elements)
{
    const bool is_distance = kind == CPU_TREE_DISTANCES;
    __m512i words = _mm512_loadu_si512(elements);

    words = swapped ? _mm512_shuffle_epi8(words, cpu_swap_order(8)) : words;
    if (is_distance)
        words = _mm512_xor_si512(words, _mm512_set1_epi64((int64_t)tree->bias));
    return cpu_tree_round64(tree, is_distance, words);
}

/* Finds a group of elements of 8 bytes. Returns how many are found twice. */
CPU_TREE_TARGET size_t cpu_tree_find64(const struct cpu_tree *tree,
                                       const struct cpu_tree_registers *registers,
                                       struct cpu_tree_shape shape, const char *elements,
                                       struct cpu_tree_older older, cpu_tree_rank *ranks)
{
    const enum cpu_tree_kind kind = shape.kind;
    const __m512i most = _mm512_set1_epi32(INT32_MAX);
    __mmask16 doubtful = 0;
    __m512i floats[CPU_TREE_SIDE];
    __m512i words[CPU_TREE_SIDE];
    __m512i found[CPU_TREE_SIDE];

    CPU_TABLES_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
        const char *from = elements + k * 128;
        __m256i low = cpu_tree_round(tree, kind, shape.swapped, from);
        __m256i high = cpu_tree_round(tree, kind, shape.swapped, from + 64);
        floats[k] = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
        words[k] = kind == CPU_TREE_MIRRORED ? _mm512_and_si512(floats[k], most)
                   : kind == CPU_TREE_SIGNED ? cpu_tree_order(floats[k])
                                             : floats[k];
    }
    cpu_tree_search(tree, registers, shape, older, words, found);
    CPU_TABLES_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
        __m512i doubts = cpu_tree_look_up(registers->doubts, 1u << shape.levels, found[k]);
        doubtful |= _mm512_cmpeq_epi32_mask(words[k], doubts);
        if (kind == CPU_TREE_MIRRORED)
            found[k] = cpu_tree_mirror(tree, found[k], floats[k]);
        _mm512_storeu_si512(ranks + k * 16, found[k]);
    }
    if (__builtin_expect(doubtful == 0, 1))
        return 0;
    cpu_tree_find_exactly(tree, shape.swapped, elements, CPU_TREE_GROUP_MAX, ranks);
    return CPU_TREE_GROUP_MAX;
}

/* Finds a group. Returns how many are found twice. */
CPU_TREE_TARGET size_t cpu_tree_find(const struct cpu_tree *tree,
                                     const struct cpu_tree_registers *registers,
                                     struct cpu_tree_shape shape, const char *elements,
                                     struct cpu_tree_older older, cpu_tree_rank *ranks)
{
    if (shape.bytes == 8)
        return cpu_tree_find64(tree, registers, shape, elements, older, ranks);
    cpu_tree_find32(tree, registers, shape, elements, older, ranks);
    return 0;
}

#include "cpu/cpu_tree_loops.h"

#define CPU_TREE_DEFINE_AVX512(bytes, levels, kind) \
    CPU_TREE_DEFINE(avx512, CPU_ISA_TARGET_AVX512, bytes, levels, kind, cpu_tree_count)
CPU_TREE_FUNCTIONS(CPU_TREE_DEFINE_AVX512)
CPU_TREE_FUNCTIONS_MANY(CPU_TREE_DEFINE_AVX512)

#endif
