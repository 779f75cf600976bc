#include "config.h"

#include "cpu_tree_find.h"

#include "cpu_isa.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define CPU_TREE_TARGET CPU_ISA_TARGET_AVX512 static inline __attribute__((always_inline))

/* Entry i of a table, whose size is a power of 2 from 16 on. Other bits of i are not looked at. */
CPU_TREE_TARGET __m512i cpu_tree_look_up32(const uint32_t *table, unsigned entries, __m512i i)
{
    if (entries == 16)
        return _mm512_permutexvar_epi32(i, _mm512_loadu_si512(table));
    __m512i low =
        _mm512_permutex2var_epi32(_mm512_loadu_si512(table), i, _mm512_loadu_si512(table + 16));
    if (entries == 32)
        return low;
    __mmask16 is_high = _mm512_test_epi32_mask(i, _mm512_set1_epi32(32));
    return _mm512_mask_mov_epi32(low, is_high, cpu_tree_look_up32(table + 32, 32, i));
}

/* Which words are to the right of nodes: greater, or if `rounded` not less. */
CPU_TREE_TARGET __mmask16 cpu_tree_is_right32(bool rounded, __m512i words, __m512i nodes)
{
    return rounded ? _mm512_cmpge_epi32_mask(words, nodes) : _mm512_cmpgt_epu32_mask(words, nodes);
}

/* The ranks of words by nodes32, if the tree is not mirrored. */
CPU_TREE_TARGET __m512i cpu_tree_rank32(const struct cpu_tree *tree, unsigned levels, bool rounded,
                                        __m512i words)
{
    const unsigned last = levels - 1;
    __m512i paths = _mm512_setzero_si512();
    __m512i nodes = _mm512_set1_epi32((int32_t)tree->nodes32[0][0]);

    for (unsigned level = 0; level < last; level++) {
        __mmask16 is_right = cpu_tree_is_right32(rounded, words, nodes);
        paths = _mm512_mask_or_epi32(paths, is_right, paths, _mm512_set1_epi32(1 << level));
        nodes = cpu_tree_look_up32(tree->nodes32[level + 1], level + 1 == 5 ? 32 : 16, paths);
    }
    __m512i ranks = cpu_tree_look_up32(tree->ranks, last == 5 ? 32 : 16, paths);
    return _mm512_mask_add_epi32(ranks, cpu_tree_is_right32(rounded, words, nodes), ranks,
                                 _mm512_set1_epi32(1));
}

/* What is negative of mirrored bins has as many nodes on the other side of the first. */
CPU_TREE_TARGET __m512i cpu_tree_mirror(const struct cpu_tree *tree, __m512i ranks,
                                        __mmask16 is_negative)
{
    return _mm512_mask_sub_epi32(ranks, is_negative, _mm512_set1_epi32(2 * (int32_t)tree->first),
                                 ranks);
}

/* The ranks of 16 elements of 4 bytes, or of those of `lanes`. */
CPU_TREE_TARGET __m512i cpu_tree_find16(const struct cpu_tree *tree, unsigned levels,
                                        enum cpu_tree_kind kind, bool swapped, const char *elements,
                                        __mmask16 lanes)
{
    const __m512i order = _mm512_set4_epi32(0x0c0d0e0f, 0x08090a0b, 0x04050607, 0x00010203);
    __m512i words = _mm512_maskz_loadu_epi32(lanes, elements);

    words = swapped ? _mm512_shuffle_epi8(words, order) : words;
    __m512i keys = kind == CPU_TREE_MIRRORED
                       ? _mm512_abs_epi32(words)
                       : _mm512_xor_si512(words, _mm512_set1_epi32((int32_t)tree->bias));
    __m512i ranks = cpu_tree_rank32(tree, levels, false, keys);
    return kind == CPU_TREE_MIRRORED ? cpu_tree_mirror(tree, ranks, _mm512_movepi32_mask(words))
                                     : ranks;
}

/* A cpu_tree_find_function of elements of 4 bytes. */
CPU_TREE_TARGET size_t cpu_tree_find_words(const struct cpu_tree *tree, unsigned levels,
                                           enum cpu_tree_kind kind, bool swapped,
                                           const char *elements, size_t count,
                                           uint32_t *restrict ranks)
{
    size_t i = 0;

    for (; i + 16 <= count; i += 16)
        _mm512_storeu_si512(ranks + i, cpu_tree_find16(tree, levels, kind, swapped,
                                                       elements + i * 4, UINT16_MAX));
    if (i < count) {
        __mmask16 lanes = (__mmask16)((1u << (count - i)) - 1);
        _mm512_mask_storeu_epi32(ranks + i, lanes,
                                 cpu_tree_find16(tree, levels, kind, swapped, elements + i * 4,
                                                 lanes));
    }
    return 0;
}

/* Loads 8 elements of 8 bytes, or those of `lanes`. */
CPU_TREE_TARGET __m512i cpu_tree_load_wide(bool swapped, const char *elements, __mmask8 lanes)
{
    const __m512i order = _mm512_set4_epi32(0x08090a0b, 0x0c0d0e0f, 0x00010203, 0x04050607);
    __m512i words = _mm512_maskz_loadu_epi64(lanes, elements);

    return swapped ? _mm512_shuffle_epi8(words, order) : words;
}

/* Entry i of a table of 16. Other bits of i are not looked at. */
CPU_TREE_TARGET __m512i cpu_tree_look_up64(const uint64_t *table, __m512i i)
{
    return _mm512_permutex2var_epi64(_mm512_loadu_si512(table), i, _mm512_loadu_si512(table + 8));
}

/* The ranks of words by nodes64, of 5 levels or 6, if the tree is not mirrored. */
CPU_TREE_TARGET __m512i cpu_tree_rank64(const struct cpu_tree *tree, __m512i words)
{
    const unsigned last = tree->levels - 1;
    __m512i paths = _mm512_setzero_si512();
    __m512i nodes = cpu_tree_look_up64(tree->nodes64[0], paths);

    for (unsigned level = 0; level < last; level++) {
        __mmask8 is_right = _mm512_cmpgt_epu64_mask(words, nodes);
        paths = _mm512_mask_or_epi64(paths, is_right, paths, _mm512_set1_epi64(1 << level));
        nodes = cpu_tree_look_up64(tree->nodes64[level + 1], paths);
        if (level + 1 < 5)
            continue;
        __mmask8 is_high = _mm512_test_epi64_mask(paths, _mm512_set1_epi64(16));
        nodes = _mm512_mask_mov_epi64(nodes, is_high,
                                      cpu_tree_look_up64(tree->nodes64[level + 1] + 16, paths));
    }
    __m512i from = _mm512_castsi256_si512(_mm512_cvtepi64_epi32(paths));
    __m512i ranks = cpu_tree_look_up32(tree->ranks, 32, from);
    return _mm512_mask_add_epi32(ranks, _mm512_cmpgt_epu64_mask(words, nodes), ranks,
                                 _mm512_set1_epi32(1));
}

/* The ranks of 8 elements of 8 bytes, or of those of `lanes`. */
CPU_TREE_TARGET __m256i cpu_tree_find8(const struct cpu_tree *tree, bool swapped,
                                       const char *elements, __mmask8 lanes)
{
    __m512i words = cpu_tree_load_wide(swapped, elements, lanes);
    __m512i keys = tree->kind == CPU_TREE_MIRRORED
                       ? _mm512_abs_epi64(words)
                       : _mm512_xor_si512(words, _mm512_set1_epi64((int64_t)tree->bias));
    __m512i ranks = cpu_tree_rank64(tree, keys);

    if (tree->kind == CPU_TREE_MIRRORED)
        ranks = cpu_tree_mirror(tree, ranks, _mm512_movepi64_mask(words));
    return _mm512_castsi512_si256(ranks);
}

/* A cpu_tree_find_function of elements of 8 bytes, by nodes64. */
CPU_ISA_TARGET_AVX512 static size_t cpu_tree_find_exactly(const struct cpu_tree *tree, bool swapped,
                                                          const void *elements, size_t count,
                                                          uint32_t *restrict ranks)
{
    const char *from = elements;

    for (size_t i = 0; i < count; i += 8) {
        __mmask8 lanes = (__mmask8)(count - i < 8 ? (1u << (count - i)) - 1 : UINT8_MAX);
        _mm256_mask_storeu_epi32(ranks + i, lanes,
                                 cpu_tree_find8(tree, swapped, from + i * 8, lanes));
    }
    return 0;
}

/* The floats that 8 elements, or their distances, are rounded to. */
CPU_TREE_TARGET __m256i cpu_tree_round(const struct cpu_tree *tree, enum cpu_tree_kind kind,
                                       __m512i words)
{
    const int mode = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
    const __m512i low = _mm512_set1_epi64((int64_t)tree->low);

    if (kind != CPU_TREE_DISTANCES)
        return _mm256_castps_si256(_mm512_cvt_roundepi64_ps(words, mode));
    words = _mm512_xor_si512(words, _mm512_set1_epi64((int64_t)tree->bias));
    words = _mm512_sub_epi64(_mm512_max_epu64(words, low), low);
    return _mm256_castps_si256(_mm512_cvt_roundepu64_ps(words, mode));
}

/* Words in the order of floats. */
CPU_TREE_TARGET __m512i cpu_tree_order(__m512i floats)
{
    const int xor_and = 0x78; /* a ^ (b & c) */
    return _mm512_ternarylogic_epi32(floats, _mm512_srai_epi32(floats, 31),
                                     _mm512_set1_epi32(INT32_MAX), xor_and);
}

/* The ranks of 16 elements of 8 bytes. Sets which are doubtful. */
CPU_TREE_TARGET __m512i cpu_tree_find_floats(const struct cpu_tree *tree, unsigned levels,
                                             enum cpu_tree_kind kind, __m512i low, __m512i high,
                                             __mmask16 *doubtful)
{
    __m512i floats = _mm512_inserti64x4(_mm512_castsi256_si512(cpu_tree_round(tree, kind, low)),
                                        cpu_tree_round(tree, kind, high), 1);
    __m512i words = kind == CPU_TREE_MIRRORED
                        ? _mm512_and_si512(floats, _mm512_set1_epi32(INT32_MAX))
                    : kind == CPU_TREE_SIGNED ? cpu_tree_order(floats)
                                              : floats;
    __m512i ranks = cpu_tree_rank32(tree, levels, true, words);
    __m512i doubts = cpu_tree_look_up32(tree->doubts, 1u << levels, ranks);

    *doubtful = _mm512_cmpeq_epi32_mask(words, doubts);
    return kind == CPU_TREE_MIRRORED ? cpu_tree_mirror(tree, ranks, _mm512_movepi32_mask(floats))
                                     : ranks;
}

/* A cpu_tree_find_function of elements of 8 bytes. */
CPU_TREE_TARGET size_t cpu_tree_find_rounded(const struct cpu_tree *tree, unsigned levels,
                                             enum cpu_tree_kind kind, bool swapped,
                                             const char *elements, size_t count,
                                             uint32_t *restrict ranks)
{
    size_t twice = 0;
    __mmask16 doubtful;
    size_t i = 0;

    for (; i + 16 <= count; i += 16) {
        const char *from = elements + i * 8;
        __m512i low = cpu_tree_load_wide(swapped, from, UINT8_MAX);
        __m512i high = cpu_tree_load_wide(swapped, from + 64, UINT8_MAX);
        _mm512_storeu_si512(ranks + i,
                            cpu_tree_find_floats(tree, levels, kind, low, high, &doubtful));
        if (__builtin_expect(doubtful, 0)) {
            cpu_tree_find_exactly(tree, swapped, from, 16, ranks + i);
            twice++;
        }
    }
    cpu_tree_find_exactly(tree, swapped, elements + i * 8, count - i, ranks + i);
    return twice;
}

/* X(elements' bytes, levels, kind, how), mirrored ones for 10 powers of 10 of 32 bits, or 19. */
#define CPU_TREE_FUNCTIONS(X)   \
    X(4, 4, WORDS, words)       \
    X(4, 5, WORDS, words)       \
    X(4, 6, WORDS, words)       \
    X(4, 4, MIRRORED, words)    \
    X(8, 5, DISTANCES, rounded) \
    X(8, 6, DISTANCES, rounded) \
    X(8, 5, SIGNED, rounded)    \
    X(8, 6, SIGNED, rounded)    \
    X(8, 5, MIRRORED, rounded)

#define CPU_TREE_DEFINE(bytes, levels, kind, how)                                                 \
    CPU_ISA_TARGET_AVX512 static size_t cpu_tree_find_##bytes##_##levels##_##kind(                \
        const struct cpu_tree *tree, bool swapped, const void *elements, size_t count,            \
        uint32_t *restrict ranks)                                                                 \
    {                                                                                             \
        if (swapped)                                                                              \
            return cpu_tree_find_##how(tree, levels, CPU_TREE_##kind, true, elements, count,      \
                                       ranks);                                                    \
        return cpu_tree_find_##how(tree, levels, CPU_TREE_##kind, false, elements, count, ranks); \
    }
CPU_TREE_FUNCTIONS(CPU_TREE_DEFINE)

cpu_tree_find_function *cpu_tree_find_choose(unsigned bytes, unsigned levels,
                                             enum cpu_tree_kind kind)
{
#define CPU_TREE_CHOOSE(of_bytes, of_levels, of_kind, how)                          \
    if (bytes == (of_bytes) && levels == (of_levels) && kind == CPU_TREE_##of_kind) \
        return cpu_tree_find_##of_bytes##_##of_levels##_##of_kind;
    if (cpu_isa_best() > CPU_ISA_AVX512)
        return NULL;
    CPU_TREE_FUNCTIONS(CPU_TREE_CHOOSE)
#undef CPU_TREE_CHOOSE
    __builtin_unreachable();
}

cpu_tree_find_function *cpu_tree_find_choose_exact(void)
{
    return cpu_isa_best() <= CPU_ISA_AVX512 ? cpu_tree_find_exactly : NULL;
}

#else

cpu_tree_find_function *cpu_tree_find_choose(unsigned bytes, unsigned levels,
                                             enum cpu_tree_kind kind)
{
    (void)bytes;
    (void)levels;
    (void)kind;
    return NULL;
}

cpu_tree_find_function *cpu_tree_find_choose_exact(void)
{
    return NULL;
}

#endif
