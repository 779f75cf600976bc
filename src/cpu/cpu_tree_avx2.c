#include "config.h"

#include "cpu/cpu_tree_find.h"

#include "base/cpu_isa.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define CPU_TREE_TARGET CPU_ISA_TARGET_AVX2 CPU_TREE_INLINE

/*
 * Registers that are searched for side by side, level by level, since one waits for itself most of
 * the time, and elements in them. ns a value of int32 in 58 bins (Zen 4), 1 to 4 and 6 of them:
 * 0.68 0.63 0.58 0.53 0.68, of int64 1.38 1.19 1.06 0.92 1.18.
 */
#define CPU_TREE_SIDE         4
#define CPU_TREE_GROUP_MAX    ((size_t)CPU_TREE_SIDE * 8)
#define CPU_TREE_GROUP(shape) CPU_TREE_GROUP_MAX
#define CPU_TREE_LAG          4

typedef uint32_t cpu_tree_rank;

CPU_TREE_TARGET __m256i cpu_tree_load_words(const void *from)
{
    return _mm256_loadu_si256(from);
}

/* One or the other, by the sign of each lane. */
CPU_TREE_TARGET __m256i cpu_tree_blend(__m256i plus, __m256i minus, __m256i signs)
{
    return _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(plus),
                                                _mm256_castsi256_ps(minus),
                                                _mm256_castsi256_ps(signs)));
}

struct cpu_tree_registers {
    __m256i nodes[CPU_TREE_LEVELS][CPU_TREE_NODES / 16];
    __m256i doubts[CPU_TREE_NODES / 8];
};

/* Loads a table of so many words of 32 bits; of 4, twice, and of 2 what is behind them, too. */
CPU_TREE_TARGET void cpu_tree_load_table(const uint32_t *table, unsigned entries,
                                         __m256i *registers)
{
    if (entries <= 4)
        registers[0] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i_u *)table));
    CPU_TABLES_UNROLL
    for (unsigned i = 0; i + 8 <= entries; i += 8)
        registers[i / 8] = cpu_tree_load_words(table + i);
}

CPU_TREE_TARGET void cpu_tree_load(const struct cpu_tree *tree, struct cpu_tree_shape shape,
                                   struct cpu_tree_registers *registers)
{
    CPU_TABLES_UNROLL
    for (unsigned level = 1; level < shape.levels; level++)
        cpu_tree_load_table(tree->nodes32[level], 1u << level, registers->nodes[level]);
    if (shape.bytes == 8)
        cpu_tree_load_table(tree->doubts, 1u << shape.levels, registers->doubts);
}

/* Entry i of a table of 4, 8, 16 or 32. Other bits of i are not looked at; those that a permutation
   has no use for are given as signs, too. */
CPU_TREE_TARGET __m256i cpu_tree_look_up4(const __m256i *table, __m256i i)
{
    return _mm256_castps_si256(_mm256_permutevar_ps(_mm256_castsi256_ps(table[0]), i));
}

CPU_TREE_TARGET __m256i cpu_tree_look_up8(const __m256i *table, __m256i i)
{
    return _mm256_permutevar8x32_epi32(table[0], i);
}

CPU_TREE_TARGET __m256i cpu_tree_look_up16(const __m256i *table, __m256i i, __m256i bit3)
{
    return cpu_tree_blend(cpu_tree_look_up8(table, i), cpu_tree_look_up8(table + 1, i), bit3);
}

CPU_TREE_TARGET __m256i cpu_tree_look_up32(const __m256i *table, __m256i i, __m256i bit3,
                                           __m256i bit4)
{
    return cpu_tree_blend(cpu_tree_look_up16(table, i, bit3),
                          cpu_tree_look_up16(table + 2, i, bit3), bit4);
}

/* The nodes of a level that paths lead to, whose bits `steps` has as signs, too. */
CPU_TREE_TARGET __m256i cpu_tree_nodes(const struct cpu_tree *tree,
                                       const struct cpu_tree_registers *registers, unsigned level,
                                       __m256i paths, const __m256i *steps)
{
    const __m256i *nodes = registers->nodes[level];

    if (level == 0)
        return _mm256_set1_epi32((int32_t)tree->nodes32[0][0]);
    return level <= 2   ? cpu_tree_look_up4(nodes, paths)
           : level == 3 ? cpu_tree_look_up8(nodes, paths)
           : level == 4 ? cpu_tree_look_up16(nodes, paths, steps[3])
                        : cpu_tree_look_up32(nodes, paths, steps[3], steps[4]);
}

/*
 * How many nodes of a tree of so many levels are to the left of paths with those steps: their bits
 * in reverse, four of them by a table of bytes, of which the upper ones of a lane remain 0.
 */
CPU_TREE_TARGET __m256i cpu_tree_columns(unsigned levels, __m256i paths, const __m256i *steps)
{
    const __m256i reverse = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15));
    __m256i columns = _mm256_shuffle_epi8(reverse, paths);

    CPU_TABLES_UNROLL
    for (unsigned level = 4; level < levels; level++)
        columns = _mm256_sub_epi32(_mm256_add_epi32(columns, columns), steps[level]);
    return columns;
}

/*
 * The ranks of words by nodes32, if the tree is not mirrored, and the greatest nodes to the left of
 * these; without any, the greatest word.
 */
CPU_TREE_TARGET void cpu_tree_search(const struct cpu_tree *tree,
                                     const struct cpu_tree_registers *registers,
                                     struct cpu_tree_shape shape, struct cpu_tree_older older,
                                     const __m256i words[CPU_TREE_SIDE],
                                     __m256i ranks[CPU_TREE_SIDE], __m256i passed[CPU_TREE_SIDE])
{
    const unsigned levels = shape.levels;
    const __m256i first = _mm256_set1_epi32((int32_t)tree->first);
    __m256i paths[CPU_TREE_SIDE];
    __m256i steps[CPU_TREE_SIDE][CPU_TREE_LEVELS]; /* to the right are all ones */

    CPU_TABLES_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
        paths[k] = _mm256_setzero_si256();
        passed[k] = _mm256_set1_epi32(INT32_MAX);
    }
    CPU_TABLES_UNROLL
    for (unsigned level = 0; level < levels; level++) {
        CPU_TABLES_UNROLL
        for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
            __m256i nodes = cpu_tree_nodes(tree, registers, level, paths[k], steps[k]);
            steps[k][level] = _mm256_cmpgt_epi32(words[k], nodes);
            __m256i bit = _mm256_and_si256(steps[k][level], _mm256_set1_epi32(1 << level));
            paths[k] = _mm256_or_si256(paths[k], bit);
            passed[k] = cpu_tree_blend(passed[k], nodes, steps[k][level]);
        }
        cpu_tree_count_share(older, level, levels);
    }
    CPU_TABLES_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++)
        ranks[k] = _mm256_add_epi32(cpu_tree_columns(levels, paths[k], steps[k]), first);
}

/* What is negative of mirrored bins has as many nodes on the other side of the first. */
CPU_TREE_TARGET __m256i cpu_tree_mirror(const struct cpu_tree *tree, __m256i ranks, __m256i signs)
{
    __m256i twice = _mm256_set1_epi32(2 * (int32_t)tree->first);
    return cpu_tree_blend(ranks, _mm256_sub_epi32(twice, ranks), signs);
}

/* Finds a group of elements of 4 bytes. */
CPU_TREE_TARGET void cpu_tree_find32(const struct cpu_tree *tree,
                                     const struct cpu_tree_registers *registers,
                                     struct cpu_tree_shape shape, const char *elements,
                                     struct cpu_tree_older older, cpu_tree_rank *ranks)
{
    const __m256i order = _mm256_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203,
                                            0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m256i bias = _mm256_set1_epi32((int32_t)tree->bias);
    const __m256i most = _mm256_set1_epi32(INT32_MAX);
    __m256i words[CPU_TREE_SIDE];
    __m256i keys[CPU_TREE_SIDE];
    __m256i found[CPU_TREE_SIDE];
    __m256i passed[CPU_TREE_SIDE]; /* not looked at */

    CPU_TABLES_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
        words[k] = cpu_tree_load_words(elements + k * sizeof *words);
        words[k] = shape.swapped ? _mm256_shuffle_epi8(words[k], order) : words[k];
        keys[k] = shape.kind == CPU_TREE_MIRRORED
                      ? _mm256_min_epu32(_mm256_abs_epi32(words[k]), most)
                      : _mm256_xor_si256(words[k], bias);
    }
    cpu_tree_search(tree, registers, shape, older, keys, found, passed);
    CPU_TABLES_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
        if (shape.kind == CPU_TREE_MIRRORED)
            found[k] = cpu_tree_mirror(tree, found[k], words[k]);
        _mm256_storeu_si256((__m256i_u *)(ranks + k * 8), found[k]);
    }
}

/*
 * The floats that 4 words of 8 bytes are rounded to, as the processor is told to round: the halves
 * become doubles by the bits of 2^52 and 2^84, between which and twice that these count.
 */
CPU_TREE_TARGET __m128 cpu_tree_round(__m256i words, bool is_signed)
{
    const int64_t sign = is_signed ? (int64_t)1 << 31 : 0;
    const __m256i low_bits = _mm256_set1_epi64x(0x4330000000000000);
    const __m256i high_bits = _mm256_set1_epi64x(0x4530000000000000 | sign);
    const __m256d excess = _mm256_set1_pd(0x1p84 + (is_signed ? 0x1p63 : 0) + 0x1p52);
    __m256d low = _mm256_castsi256_pd(_mm256_blend_epi32(words, low_bits, 0xaa));
    __m256d high = _mm256_castsi256_pd(_mm256_xor_si256(_mm256_srli_epi64(words, 32), high_bits));

    return _mm256_cvtpd_ps(_mm256_add_pd(_mm256_sub_pd(high, excess), low));
}

/* The floats that 4 elements, or their distances, are rounded to. */
CPU_TREE_TARGET __m128i cpu_tree_round_elements(const struct cpu_tree *tree,
                                                enum cpu_tree_kind kind, bool swapped,
                                                const char *elements)
{
    const __m256i order = _mm256_set_epi64x(0x08090a0b0c0d0e0f, 0x0001020304050607,
                                            0x08090a0b0c0d0e0f, 0x0001020304050607);
    const __m256i low = _mm256_set1_epi64x((int64_t)tree->low);
    __m256i words = cpu_tree_load_words(elements);

    __asm__ volatile("" : "+x"(words)); /* behind the statement that sets the mode */
    words = swapped ? _mm256_shuffle_epi8(words, order) : words;
    if (kind != CPU_TREE_DISTANCES)
        return _mm_castps_si128(cpu_tree_round(words, true));
    words = _mm256_xor_si256(words, _mm256_set1_epi64x((int64_t)tree->bias));
    words = _mm256_and_si256(_mm256_sub_epi64(words, low), _mm256_cmpgt_epi64(words, low));
    return _mm_castps_si128(cpu_tree_round(words, false));
}

/* Words in the order of floats. */
CPU_TREE_TARGET __m256i cpu_tree_order(__m256i floats)
{
    __m256i others = _mm256_and_si256(_mm256_srai_epi32(floats, 31), _mm256_set1_epi32(INT32_MAX));
    return _mm256_xor_si256(floats, others);
}

/* What words of these ranks would be doubtful as. */
CPU_TREE_TARGET __m256i cpu_tree_doubts(const __m256i *doubts, unsigned levels, __m256i ranks)
{
    __m256i bit3 = _mm256_slli_epi32(ranks, 28);
    __m256i bit4 = _mm256_slli_epi32(ranks, 27);
    __m256i bit5 = _mm256_slli_epi32(ranks, 26);
    __m256i low = cpu_tree_look_up32(doubts, ranks, bit3, bit4);

    if (levels == 5)
        return low;
    return cpu_tree_blend(low, cpu_tree_look_up32(doubts + 4, ranks, bit3, bit4), bit5);
}

/*
 * Whether words of these ranks are doubtful: of those that are one more than the node they passed
 * last, which are few, the doubts are looked up.
 */
CPU_TREE_TARGET bool cpu_tree_are_doubtful(const struct cpu_tree_registers *registers,
                                           unsigned levels, __m256i words, __m256i ranks,
                                           __m256i passed)
{
    __m256i ends = _mm256_cmpeq_epi32(_mm256_sub_epi32(words, passed), _mm256_set1_epi32(1));

    if (__builtin_expect(_mm256_movemask_epi8(ends) == 0, 1))
        return false;
    __m256i doubts = cpu_tree_doubts(registers->doubts, levels, ranks);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(words, doubts)) != 0;
}

/* Finds a group of elements of 8 bytes. Returns how many are found twice. */
CPU_TREE_TARGET size_t cpu_tree_find64(const struct cpu_tree *tree,
                                       const struct cpu_tree_registers *registers,
                                       struct cpu_tree_shape shape, const char *elements,
                                       struct cpu_tree_older older, cpu_tree_rank *ranks)
{
    const enum cpu_tree_kind kind = shape.kind;
    const bool swapped = shape.swapped;
    const __m256i most = _mm256_set1_epi32(INT32_MAX);
    bool are_doubtful = false;
    __m256i floats[CPU_TREE_SIDE];
    __m256i words[CPU_TREE_SIDE];
    __m256i found[CPU_TREE_SIDE];
    __m256i passed[CPU_TREE_SIDE];

    CPU_TABLES_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
        const char *from = elements + k * 64;
        floats[k] = _mm256_set_m128i(cpu_tree_round_elements(tree, kind, swapped, from + 32),
                                     cpu_tree_round_elements(tree, kind, swapped, from));
        words[k] = kind == CPU_TREE_MIRRORED ? _mm256_and_si256(floats[k], most)
                   : kind == CPU_TREE_SIGNED ? cpu_tree_order(floats[k])
                                             : floats[k];
    }
    cpu_tree_search(tree, registers, shape, older, words, found, passed);
    CPU_TABLES_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
        are_doubtful |=
            cpu_tree_are_doubtful(registers, shape.levels, words[k], found[k], passed[k]);
        if (kind == CPU_TREE_MIRRORED)
            found[k] = cpu_tree_mirror(tree, found[k], floats[k]);
        _mm256_storeu_si256((__m256i_u *)(ranks + k * 8), found[k]);
    }
    if (__builtin_expect(!are_doubtful, 1))
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

/* Makes this thread round elements of 8 bytes towards 0, and then as before. */
CPU_TREE_TARGET size_t cpu_tree_count_rounded(const struct cpu_tree *tree,
                                              struct cpu_tree_shape shape, const char *elements,
                                              size_t count, struct cpu_tables tables)
{
    const unsigned mode = _MM_GET_ROUNDING_MODE();

    if (shape.bytes != 8)
        return cpu_tree_count(tree, shape, elements, count, tables);
    _MM_SET_ROUNDING_MODE(_MM_ROUND_TOWARD_ZERO);
    size_t twice = cpu_tree_count(tree, shape, elements, count, tables);
    __asm__ volatile("" : "+r"(twice) : : "memory"); /* all is rounded and counted */
    _MM_SET_ROUNDING_MODE(mode);
    return twice;
}

#define CPU_TREE_DEFINE_AVX2(bytes, levels, kind) \
    CPU_TREE_DEFINE(avx2, CPU_ISA_TARGET_AVX2, bytes, levels, kind, cpu_tree_count_rounded)
CPU_TREE_FUNCTIONS(CPU_TREE_DEFINE_AVX2)

#endif
