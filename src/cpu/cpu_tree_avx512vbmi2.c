#include "config.h"

#include "cpu/cpu_tree_find.h"

#include "base/cpu_isa.h"

#if defined(__x86_64__)
#include "cpu/cpu_swap.h"

#define CPU_TREE_TARGET CPU_ISA_TARGET_AVX512VBMI2 CPU_TREE_INLINE

#include "cpu/cpu_tree_round.h"

/*
 * Registers that are searched for side by side, and elements in them. ns a value of int16 in 299
 * bins (Zen 4), 1 to 4 of them: 0.46 0.40 0.45 0.46; of int32, 200 and 300 random ones, 1 to 3:
 * 0.44 0.40 0.45, 0.53 0.48 0.46.
 */
#define CPU_TREE_SIDE_MAX     3
#define CPU_TREE_SIDE(shape)  ((shape).levels > 8 && (shape).bytes > 2 ? CPU_TREE_SIDE_MAX : 2)
#define CPU_TREE_GROUP(shape) ((size_t)CPU_TREE_SIDE(shape) * 32)
#define CPU_TREE_GROUP_MAX    ((size_t)CPU_TREE_SIDE_MAX * 32)
#define CPU_TREE_LAG          2

/* The first steps, told as masks, too: each chooses one half of large tables. */
#define CPU_TREE_HALVES 2

typedef uint16_t cpu_tree_rank;

struct cpu_tree_registers {
    __m512i nodes[CPU_TREE_NODES16 / 32];
    __m512i order; /* of bytes */
};

CPU_TREE_TARGET void cpu_tree_load(const struct cpu_tree *tree, struct cpu_tree_shape shape,
                                   struct cpu_tree_registers *registers)
{
    const __m512i same = _mm512_set4_epi32(0x0f0e0d0c, 0x0b0a0908, 0x07060504, 0x03020100);

    for (unsigned i = 0; i < (1u << shape.levels) / 32; i++)
        registers->nodes[i] = _mm512_loadu_si512(tree->nodes16 + 32 * i);
    registers->order = shape.swapped ? cpu_swap_order(shape.bytes) : same;
}

/* Entry i of a table of 64 words of 16 bits. */
CPU_TREE_TARGET __m512i cpu_tree_look_up16(const __m512i *table, __m512i i)
{
    return _mm512_permutex2var_epi16(table[0], i, table[1]);
}

/* The same of 128 and of 256, given bit 6 of i, and before it bit 7. */
CPU_TREE_TARGET __m512i cpu_tree_look_up128(const __m512i *table, __m512i i, const __mmask32 *bits)
{
    return _mm512_mask_mov_epi16(cpu_tree_look_up16(table, i), bits[0],
                                 cpu_tree_look_up16(table + 2, i));
}

CPU_TREE_TARGET __m512i cpu_tree_look_up256(const __m512i *table, __m512i i, const __mmask32 *bits)
{
    return _mm512_mask_mov_epi16(cpu_tree_look_up128(table, i, bits + 1), bits[0],
                                 cpu_tree_look_up128(table + 4, i, bits + 1));
}

/* Paths are numbers of nodes here; the first steps are signs of what they were told by. */
CPU_TREE_TARGET __m512i cpu_tree_nodes(const struct cpu_tree_registers *registers, unsigned level,
                                       __m512i path, const __mmask32 *steps)
{
    const __m512i *nodes = registers->nodes;

    switch (level) {
    default:
        return _mm512_permutexvar_epi16(path, nodes[level / 5]);
    case 6:
        return cpu_tree_look_up16(nodes + 2, path);
    case 7:
        return cpu_tree_look_up128(nodes + 4, path, steps);
    case 8:
        return cpu_tree_look_up256(nodes + 8, path, steps);
    }
}

/* 64 bytes of elements, as they were written, but for their bias. */
CPU_TREE_TARGET __m512i cpu_tree_elements(const struct cpu_tree *tree,
                                          const struct cpu_tree_registers *registers,
                                          struct cpu_tree_shape shape, const char *elements)
{
    const __m512i bias = shape.bytes == 2   ? _mm512_set1_epi16((int16_t)tree->bias)
                         : shape.bytes == 4 ? _mm512_set1_epi32((int32_t)tree->bias)
                                            : _mm512_set1_epi64((int64_t)tree->bias);
    __m512i words = _mm512_shuffle_epi8(_mm512_loadu_si512(elements), registers->order);
    return _mm512_xor_si512(words, bias);
}

/* The floats that 16 elements of 4 bytes are rounded to, or their distances. */
CPU_TREE_TARGET __m512i cpu_tree_round32(const struct cpu_tree *tree, bool is_distance,
                                         __m512i words)
{
    const __m512i low = _mm512_set1_epi32((int32_t)tree->low);

    if (!is_distance)
        return _mm512_castps_si512(_mm512_cvt_roundepi32_ps(words, CPU_TREE_TO_ZERO));
    words = _mm512_sub_epi32(_mm512_max_epi32(words, low), low);
    return _mm512_castps_si512(_mm512_cvt_roundepu32_ps(words, CPU_TREE_TO_ZERO));
}

/* 16 elements, or what they are rounded to, cut to words of 32 bits that are to be cut to 16. */
CPU_TREE_TARGET __m512i cpu_tree_cut(const struct cpu_tree *tree,
                                     const struct cpu_tree_registers *registers,
                                     struct cpu_tree_shape shape, const char *elements)
{
    const enum cpu_tree_kind kind = shape.kind;
    const bool is_distance = kind == CPU_TREE_CUT_DISTANCES;
    const __m128i shift = _mm_cvtsi32_si128((int32_t)tree->shift);
    __m512i first = cpu_tree_elements(tree, registers, shape, elements);
    __m256i low;
    __m256i high;

    if (shape.bytes == 8) {
        __m512i second = cpu_tree_elements(tree, registers, shape, elements + 64);
        if (kind == CPU_TREE_CUT) {
            const __m512i base = _mm512_set1_epi64(tree->base);
            first = _mm512_sub_epi64(_mm512_sra_epi64(first, shift), base);
            second = _mm512_sub_epi64(_mm512_sra_epi64(second, shift), base);
            low = _mm512_cvtsepi64_epi32(first);
            high = _mm512_cvtsepi64_epi32(second);
            return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
        }
        low = cpu_tree_round64(tree, is_distance, first);
        high = cpu_tree_round64(tree, is_distance, second);
        first = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    } else if (kind != CPU_TREE_CUT) {
        first = cpu_tree_round32(tree, is_distance, first);
    }
    if (kind == CPU_TREE_CUT_SIGNED)
        first = cpu_tree_order(first);
    return _mm512_sub_epi32(_mm512_sra_epi32(first, shift), _mm512_set1_epi32((int32_t)tree->base));
}

/* The words of 32 elements. */
CPU_TREE_TARGET __m512i cpu_tree_words(const struct cpu_tree *tree,
                                       const struct cpu_tree_registers *registers,
                                       struct cpu_tree_shape shape, const char *elements)
{
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);

    if (shape.bytes == 2)
        return cpu_tree_elements(tree, registers, shape, elements);
    __m512i low = cpu_tree_cut(tree, registers, shape, elements);
    __m512i high = cpu_tree_cut(tree, registers, shape, elements + 16 * shape.bytes);
    return _mm512_permutexvar_epi64(order, _mm512_packs_epi32(low, high));
}

/*
 * Corrects the ranks of those elements of a group whose bits are set in doubtful[], which are cut
 * to the same as what their rank begins at. Returns how many they are. Not inlined, and in this
 * file, so that compilers see that it leaves registers alone.
 */
CPU_ISA_TARGET_AVX512VBMI2 static __attribute__((noinline)) size_t cpu_tree_settle(
    const struct cpu_tree *tree, unsigned bytes, bool swapped, const char *elements,
    const uint32_t *doubtful, size_t side, cpu_tree_rank *ranks)
{
    const int64_t bias = bytes == 4 ? (int32_t)tree->bias : (int64_t)tree->bias;
    const int64_t *ends = tree->ends;
    size_t settled = 0;

    for (size_t k = 0; k < side; k++) {
        for (uint32_t rest = doubtful[k]; rest != 0; rest &= rest - 1) {
            const size_t i = 32 * k + (size_t)__builtin_ctz(rest);
            const int64_t word = cpu_tree_element(bytes, swapped, elements + i * bytes) ^ bias;
            uint32_t passed = ranks[i] - tree->first; /* ends */
            passed -= word < ends[passed];            /* few are before two of them */
            while (__builtin_expect(word < ends[passed], 0))
                passed--;
            ranks[i] = (cpu_tree_rank)(tree->first + passed);
            settled++;
        }
    }
    return settled;
}

/*
 * Finds a group. A step to the right is the sign of the node less the word, and is shifted into the
 * path; a word that is one more than a node, all ones, is doubtful if it was cut.
 */
CPU_TREE_TARGET size_t cpu_tree_find(const struct cpu_tree *tree,
                                     const struct cpu_tree_registers *registers,
                                     struct cpu_tree_shape shape, const char *elements,
                                     struct cpu_tree_older older, cpu_tree_rank *ranks)
{
    const bool is_cut = cpu_tree_is_cut(shape.kind);
    const unsigned side = CPU_TREE_SIDE(shape);
    const __m512i excess = _mm512_set1_epi16((int16_t)(tree->first - (1u << shape.levels)));
    __m512i words[CPU_TREE_SIDE_MAX];
    __m512i paths[CPU_TREE_SIDE_MAX];
    __m512i nearest[CPU_TREE_SIDE_MAX]; /* the greatest of what steps were told by, unsigned */
    __mmask32 steps[CPU_TREE_SIDE_MAX][CPU_TREE_HALVES] = {{0}};
    uint32_t doubtful[CPU_TREE_SIDE_MAX];
    uint32_t any = 0;

    CPU_TABLES_UNROLL
    for (unsigned k = 0; k < side; k++) {
        words[k] = cpu_tree_words(tree, registers, shape, elements + 32 * shape.bytes * k);
        paths[k] = _mm512_set1_epi16(1);
        nearest[k] = _mm512_setzero_si512();
    }
    CPU_TABLES_UNROLL
    for (unsigned level = 0; level < shape.levels; level++) {
        CPU_TABLES_UNROLL
        for (unsigned k = 0; k < side; k++) {
            __m512i nodes = cpu_tree_nodes(registers, level, paths[k], steps[k]);
            __m512i signs = _mm512_subs_epi16(nodes, words[k]);
            if (level < CPU_TREE_HALVES)
                steps[k][level] = _mm512_movepi16_mask(signs);
            if (is_cut)
                nearest[k] = _mm512_max_epu16(nearest[k], signs);
            paths[k] = _mm512_shldi_epi16(paths[k], signs, 1);
        }
        cpu_tree_count_share(older, level, shape.levels);
    }
    CPU_TABLES_UNROLL
    for (unsigned k = 0; k < side; k++) {
        _mm512_storeu_si512(ranks + k * 32, _mm512_add_epi16(paths[k], excess));
        doubtful[k] = _mm512_cmpeq_epi16_mask(nearest[k], _mm512_set1_epi16(-1));
        any |= doubtful[k];
    }
    if (!is_cut || __builtin_expect(any == 0, 1))
        return 0;
    return cpu_tree_settle(tree, shape.bytes, shape.swapped, elements, doubtful, side, ranks);
}

#include "cpu/cpu_tree_loops.h"

/* Whether bytes are swapped is no constant here: one shuffle instead of a second function. */
#define CPU_TREE_DEFINE_VBMI2(bytes, levels, kind)                                      \
    CPU_ISA_TARGET_AVX512VBMI2 size_t cpu_tree_avx512vbmi2_##bytes##_##levels##_##kind( \
        const struct cpu_tree *tree, bool swapped, const void *elements, size_t count,  \
        struct cpu_tables tables)                                                       \
    {                                                                                   \
        const struct cpu_tree_shape shape = {bytes, levels, CPU_TREE_##kind, swapped};  \
        return cpu_tree_count(tree, shape, elements, count, tables);                    \
    }
CPU_TREE_FUNCTIONS16(CPU_TREE_DEFINE_VBMI2)

#endif
