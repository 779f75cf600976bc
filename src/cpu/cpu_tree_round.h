/*
 * What elements of 8 bytes are rounded to, towards 0, for the files with AVX-512 that have defined
 * CPU_TREE_TARGET, the attributes of their functions. All functions are thread-safe.
 */
#ifndef GPUHIST_CPU_TREE_ROUND_H
#define GPUHIST_CPU_TREE_ROUND_H

#include "cpu/cpu_tree.h"

#include <immintrin.h>

#define CPU_TREE_TO_ZERO (_MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)

/* a ^ (b & c). */
#define CPU_TREE_XOR_AND 0x78

/* The floats of 8 signed words; or of their distances from `low`, if they have the tree's bias. */
CPU_TREE_TARGET __m256i cpu_tree_round64(const struct cpu_tree *tree, bool is_distance,
                                         __m512i words)
{
    const __m512i low = _mm512_set1_epi64((int64_t)tree->low);

    if (!is_distance)
        return _mm256_castps_si256(_mm512_cvt_roundepi64_ps(words, CPU_TREE_TO_ZERO));
    words = _mm512_sub_epi64(_mm512_max_epi64(words, low), low);
    return _mm256_castps_si256(_mm512_cvt_roundepu64_ps(words, CPU_TREE_TO_ZERO));
}

/* The bits of 16 floats as signed words in the same order. */
CPU_TREE_TARGET __m512i cpu_tree_order(__m512i floats)
{
    return _mm512_ternarylogic_epi32(floats, _mm512_srai_epi32(floats, 31),
                                     _mm512_set1_epi32(INT32_MAX), CPU_TREE_XOR_AND);
}

#endif
