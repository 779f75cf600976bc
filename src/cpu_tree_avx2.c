#include "config.h"

#include "cpu_tree_find.h"

#include "cpu_isa.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define CPU_TREE_TARGET CPU_ISA_TARGET_AVX2 static inline __attribute__((always_inline))

/*
 * Registers that are searched for side by side, level by level, since one waits for itself most of
 * the time, and elements in them. ns a value of int32 and int64 in 58 bins (Zen 4), 1 and 2 of
 * them: 1.09 and 0.92, 1.97 and 1.72.
 */
#define CPU_TREE_SIDE  2
#define CPU_TREE_GROUP ((size_t)CPU_TREE_SIDE * 8)

CPU_TREE_TARGET __m256i cpu_tree_load(const void *from)
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

/* Entry i of a table of 4, 8, 16 or 32. Other bits of i are not looked at; those that a permutation
   has no use for are given as signs, too. */
CPU_TREE_TARGET __m256i cpu_tree_look_up4(const uint32_t *table, __m256i i)
{
    __m256i twice = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i_u *)table));
    return _mm256_castps_si256(_mm256_permutevar_ps(_mm256_castsi256_ps(twice), i));
}

CPU_TREE_TARGET __m256i cpu_tree_look_up8(const uint32_t *table, __m256i i)
{
    return _mm256_permutevar8x32_epi32(cpu_tree_load(table), i);
}

CPU_TREE_TARGET __m256i cpu_tree_look_up16(const uint32_t *table, __m256i i, __m256i bit3)
{
    return cpu_tree_blend(cpu_tree_look_up8(table, i), cpu_tree_look_up8(table + 8, i), bit3);
}

CPU_TREE_TARGET __m256i cpu_tree_look_up32(const uint32_t *table, __m256i i, __m256i bit3,
                                           __m256i bit4)
{
    return cpu_tree_blend(cpu_tree_look_up16(table, i, bit3),
                          cpu_tree_look_up16(table + 16, i, bit3), bit4);
}

/* The nodes of a level that paths lead to, whose bits `steps` has as signs, too. */
CPU_TREE_TARGET __m256i cpu_tree_nodes(const struct cpu_tree *tree, unsigned level, __m256i paths,
                                       const __m256i *steps)
{
    const uint32_t *nodes = tree->nodes32[level];

    if (level == 0)
        return _mm256_set1_epi32((int32_t)nodes[0]);
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

    CPU_TREE_UNROLL
    for (unsigned level = 4; level < levels; level++)
        columns = _mm256_sub_epi32(_mm256_add_epi32(columns, columns), steps[level]);
    return columns;
}

/* The ranks of words by nodes32, if the tree is not mirrored. */
CPU_TREE_TARGET void cpu_tree_rank(const struct cpu_tree *tree, unsigned levels,
                                   const __m256i words[CPU_TREE_SIDE], __m256i ranks[CPU_TREE_SIDE])
{
    const __m256i first = _mm256_set1_epi32((int32_t)tree->first);
    __m256i paths[CPU_TREE_SIDE];
    __m256i steps[CPU_TREE_SIDE][CPU_TREE_LEVELS]; /* to the right are all ones */

    CPU_TREE_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++)
        paths[k] = _mm256_setzero_si256();
    CPU_TREE_UNROLL
    for (unsigned level = 0; level < levels; level++) {
        CPU_TREE_UNROLL
        for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
            __m256i nodes = cpu_tree_nodes(tree, level, paths[k], steps[k]);
            steps[k][level] = _mm256_cmpgt_epi32(words[k], nodes);
            __m256i bit = _mm256_and_si256(steps[k][level], _mm256_set1_epi32(1 << level));
            paths[k] = _mm256_or_si256(paths[k], bit);
        }
    }
    CPU_TREE_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++)
        ranks[k] = _mm256_add_epi32(cpu_tree_columns(levels, paths[k], steps[k]), first);
}

/* What is negative of mirrored bins has as many nodes on the other side of the first. */
CPU_TREE_TARGET __m256i cpu_tree_mirror(const struct cpu_tree *tree, __m256i ranks, __m256i signs)
{
    __m256i twice = _mm256_set1_epi32(2 * (int32_t)tree->first);
    return cpu_tree_blend(ranks, _mm256_sub_epi32(twice, ranks), signs);
}

/* Stores the ranks of a group of elements of 4 bytes. */
CPU_TREE_TARGET void cpu_tree_find_group(const struct cpu_tree *tree, unsigned levels,
                                         enum cpu_tree_kind kind, bool swapped,
                                         const char *elements, uint32_t *restrict ranks)
{
    const __m256i order = _mm256_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203,
                                            0x0c0d0e0f08090a0b, 0x0405060700010203);
    const __m256i bias = _mm256_set1_epi32((int32_t)tree->bias);
    const __m256i most = _mm256_set1_epi32(INT32_MAX);
    __m256i words[CPU_TREE_SIDE];
    __m256i keys[CPU_TREE_SIDE];
    __m256i found[CPU_TREE_SIDE];

    CPU_TREE_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
        words[k] = cpu_tree_load(elements + k * sizeof *words);
        words[k] = swapped ? _mm256_shuffle_epi8(words[k], order) : words[k];
        keys[k] = kind == CPU_TREE_MIRRORED ? _mm256_min_epu32(_mm256_abs_epi32(words[k]), most)
                                            : _mm256_xor_si256(words[k], bias);
    }
    cpu_tree_rank(tree, levels, keys, found);
    CPU_TREE_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
        if (kind == CPU_TREE_MIRRORED)
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
    __m256i words = cpu_tree_load(elements);

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
CPU_TREE_TARGET __m256i cpu_tree_doubts(const struct cpu_tree *tree, unsigned levels, __m256i ranks)
{
    __m256i bit3 = _mm256_slli_epi32(ranks, 28);
    __m256i bit4 = _mm256_slli_epi32(ranks, 27);
    __m256i bit5 = _mm256_slli_epi32(ranks, 26);
    __m256i low = cpu_tree_look_up32(tree->doubts, ranks, bit3, bit4);

    if (levels == 5)
        return low;
    return cpu_tree_blend(low, cpu_tree_look_up32(tree->doubts + 32, ranks, bit3, bit4), bit5);
}

/* Stores the ranks of a group of elements of 8 bytes. Returns whether some are doubtful. */
CPU_TREE_TARGET bool cpu_tree_find_rounded(const struct cpu_tree *tree, unsigned levels,
                                           enum cpu_tree_kind kind, bool swapped,
                                           const char *elements, uint32_t *restrict ranks)
{
    const __m256i most = _mm256_set1_epi32(INT32_MAX);
    __m256i doubtful = _mm256_setzero_si256();
    __m256i floats[CPU_TREE_SIDE];
    __m256i words[CPU_TREE_SIDE];
    __m256i found[CPU_TREE_SIDE];

    CPU_TREE_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
        const char *from = elements + k * 64;
        floats[k] = _mm256_set_m128i(cpu_tree_round_elements(tree, kind, swapped, from + 32),
                                     cpu_tree_round_elements(tree, kind, swapped, from));
        words[k] = kind == CPU_TREE_MIRRORED ? _mm256_and_si256(floats[k], most)
                   : kind == CPU_TREE_SIGNED ? cpu_tree_order(floats[k])
                                             : floats[k];
    }
    cpu_tree_rank(tree, levels, words, found);
    CPU_TREE_UNROLL
    for (unsigned k = 0; k < CPU_TREE_SIDE; k++) {
        __m256i doubts = cpu_tree_doubts(tree, levels, found[k]);
        doubtful = _mm256_or_si256(doubtful, _mm256_cmpeq_epi32(words[k], doubts));
        if (kind == CPU_TREE_MIRRORED)
            found[k] = cpu_tree_mirror(tree, found[k], floats[k]);
        _mm256_storeu_si256((__m256i_u *)(ranks + k * 8), found[k]);
    }
    return _mm256_movemask_epi8(doubtful) != 0;
}

/* Makes this thread round so, and as before. */
static unsigned cpu_tree_round_to_zero(void)
{
    const unsigned mode = _MM_GET_ROUNDING_MODE();
    _MM_SET_ROUNDING_MODE(_MM_ROUND_TOWARD_ZERO);
    return mode;
}

static void cpu_tree_round_again(unsigned mode, const uint32_t *ranks)
{
    __asm__ volatile("" : : "r"(ranks) : "memory"); /* all is rounded and stored there */
    _MM_SET_ROUNDING_MODE(mode);
}

#include "cpu_tree_loops.h"

#define CPU_TREE_DEFINE_AVX2(bytes, levels, kind, by) \
    CPU_TREE_DEFINE(avx2, CPU_ISA_TARGET_AVX2, bytes, levels, kind, by)
CPU_TREE_FUNCTIONS(CPU_TREE_DEFINE_AVX2)

#endif
