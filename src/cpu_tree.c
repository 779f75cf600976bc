#include "config.h"

#include "cpu_tree.h"

#include "cpu_isa.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define CPU_TREE_TARGET CPU_ISA_TARGET_AVX512 static inline __attribute__((always_inline))

/*
 * The most levels of elements of 8 bytes and of others. Whole processes against plain bins of as
 * many, 64Mi int32 and 32Mi int64 that are as many in each bin (Zen 4): 12 bins, 4 levels, 1.16 x
 * and 1.19, 25 bins, 5 levels, 1.20 and 1.25; 58 bins, 6 levels, 1.28 and 1.43, by a guide 1.48 and
 * 1.36.
 */
#define CPU_TREE_LEVELS_MIN      4
#define CPU_TREE_LEVELS_MAX_WIDE 5
#define CPU_TREE_LEVELS_MAX      6

/* What is below a node: the left one where the word is not greater, else the right one. */
CPU_TREE_TARGET __m512i cpu_tree_step32(__m512i words, __m512i places, __m512i nodes)
{
    __mmask16 is_right = _mm512_cmpgt_epu32_mask(words, nodes);
    __m512i left = _mm512_add_epi32(places, places);
    return _mm512_mask_add_epi32(left, is_right, left, _mm512_set1_epi32(1));
}

/*
 * How many nodes of `levels` levels each word is greater than. A permutation takes the lower bits
 * of a place alone: the 16 nodes of level 4 are places 16 to 31, the first levels places 1 to 15.
 */
CPU_TREE_TARGET __m512i cpu_tree_count32(const struct cpu_tree *tree, unsigned levels,
                                         __m512i words)
{
    const __m512i top = _mm512_loadu_si512(tree->nodes32);
    const __m512i level4 = _mm512_loadu_si512(tree->nodes32 + 16);
    const __m512i level5[2] = {_mm512_loadu_si512(tree->nodes32 + 32),
                               _mm512_loadu_si512(tree->nodes32 + 48)};
    __m512i places = _mm512_set1_epi32(1);

    for (unsigned level = 0; level < 4; level++)
        places = cpu_tree_step32(words, places, _mm512_permutexvar_epi32(places, top));
    if (levels > 4)
        places = cpu_tree_step32(words, places, _mm512_permutexvar_epi32(places, level4));
    if (levels > 5)
        places =
            cpu_tree_step32(words, places, _mm512_permutex2var_epi32(level5[0], places, level5[1]));
    return _mm512_sub_epi32(places, _mm512_set1_epi32(1 << levels));
}

CPU_TREE_TARGET __m512i cpu_tree_step64(__m512i words, __m512i places, __m512i nodes)
{
    __mmask8 is_right = _mm512_cmpgt_epu64_mask(words, nodes);
    __m512i left = _mm512_add_epi64(places, places);
    return _mm512_mask_add_epi64(left, is_right, left, _mm512_set1_epi64(1));
}

CPU_TREE_TARGET __m512i cpu_tree_count64(const struct cpu_tree *tree, unsigned levels,
                                         __m512i words)
{
    const uint64_t *nodes = tree->nodes64;
    const __m512i top = _mm512_loadu_si512(nodes);
    const __m512i level3 = _mm512_loadu_si512(nodes + 8);
    const __m512i level4[2] = {_mm512_loadu_si512(nodes + 16), _mm512_loadu_si512(nodes + 24)};
    __m512i places = _mm512_set1_epi64(1);

    for (unsigned level = 0; level < 3; level++)
        places = cpu_tree_step64(words, places, _mm512_permutexvar_epi64(places, top));
    places = cpu_tree_step64(words, places, _mm512_permutexvar_epi64(places, level3));
    if (levels > 4)
        places =
            cpu_tree_step64(words, places, _mm512_permutex2var_epi64(level4[0], places, level4[1]));
    return _mm512_sub_epi64(places, _mm512_set1_epi64(1 << levels));
}

/*
 * The same of elements of 8 bytes; of mirrored bins that of the magnitude, below 0 if the element
 * is.
 */
CPU_TREE_TARGET __m512i cpu_tree_count_8(const struct cpu_tree *tree, unsigned levels,
                                         bool mirrored, __m512i words)
{
    if (!mirrored)
        return cpu_tree_count64(tree, levels,
                                _mm512_xor_si512(words, _mm512_set1_epi64((int64_t)tree->bias)));
    __m512i counts = cpu_tree_count64(tree, levels, _mm512_abs_epi64(words));
    return _mm512_mask_sub_epi64(counts, _mm512_movepi64_mask(words), _mm512_setzero_si512(),
                                 counts);
}

/* The same of 16, or of those of `lanes`, in words of 32 bits. */
CPU_TREE_TARGET __m512i cpu_tree_count_wide(const struct cpu_tree *tree, unsigned levels,
                                            bool mirrored, bool swapped, const char *elements,
                                            __mmask16 lanes)
{
    const __m512i order = _mm512_set4_epi32(0x08090a0b, 0x0c0d0e0f, 0x00010203, 0x04050607);
    __m512i low = _mm512_maskz_loadu_epi64((__mmask8)lanes, elements);
    __m512i high = _mm512_maskz_loadu_epi64((__mmask8)(lanes >> 8), elements + 64);

    if (swapped) {
        low = _mm512_shuffle_epi8(low, order);
        high = _mm512_shuffle_epi8(high, order);
    }
    low = cpu_tree_count_8(tree, levels, mirrored, low);
    high = cpu_tree_count_8(tree, levels, mirrored, high);
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(low)),
                              _mm512_cvtepi64_epi32(high), 1);
}

/* The same of elements of 4 bytes. */
CPU_TREE_TARGET __m512i cpu_tree_count_narrow(const struct cpu_tree *tree, unsigned levels,
                                              bool mirrored, bool swapped, const char *elements,
                                              __mmask16 lanes)
{
    const __m512i order = _mm512_set4_epi32(0x0c0d0e0f, 0x08090a0b, 0x04050607, 0x00010203);
    __m512i words = _mm512_maskz_loadu_epi32(lanes, elements);

    words = swapped ? _mm512_shuffle_epi8(words, order) : words;
    if (!mirrored)
        return cpu_tree_count32(tree, levels,
                                _mm512_xor_si512(words, _mm512_set1_epi32((int32_t)tree->bias)));
    __m512i counts = cpu_tree_count32(tree, levels, _mm512_abs_epi32(words));
    return _mm512_mask_sub_epi32(counts, _mm512_movepi32_mask(words), _mm512_setzero_si512(),
                                 counts);
}

/*
 * Stores the ranks of 16 elements, or of those of `lanes`: how many nodes they are greater than,
 * and `first`.
 */
CPU_TREE_TARGET void cpu_tree_group(const struct cpu_tree *tree, unsigned bytes, unsigned levels,
                                    bool mirrored, bool swapped, const char *elements,
                                    __mmask16 lanes, uint32_t *ranks)
{
    __m512i found = bytes == 8
                        ? cpu_tree_count_wide(tree, levels, mirrored, swapped, elements, lanes)
                        : cpu_tree_count_narrow(tree, levels, mirrored, swapped, elements, lanes);

    _mm512_mask_storeu_epi32(ranks, lanes,
                             _mm512_add_epi32(found, _mm512_set1_epi32((int32_t)tree->first)));
}

CPU_TREE_TARGET void cpu_tree_loop(const struct cpu_tree *tree, unsigned bytes, unsigned levels,
                                   bool mirrored, bool swapped, const char *elements, size_t count,
                                   uint32_t *ranks)
{
    const struct cpu_tree local = *tree; /* no store to ranks can change it */
    size_t i = 0;

    for (; i + 16 <= count; i += 16)
        cpu_tree_group(&local, bytes, levels, mirrored, swapped, elements + i * bytes, UINT16_MAX,
                       ranks + i);
    if (i < count)
        cpu_tree_group(&local, bytes, levels, mirrored, swapped, elements + i * bytes,
                       (__mmask16)((1u << (count - i)) - 1), ranks + i);
}

#define CPU_TREE_DEFINE(bytes, levels, mirrored)                                         \
    CPU_ISA_TARGET_AVX512 static void cpu_tree_find_##bytes##_##levels##_##mirrored(     \
        const struct cpu_tree *tree, bool swapped, const void *elements, size_t count,   \
        uint32_t *ranks)                                                                 \
    {                                                                                    \
        if (swapped)                                                                     \
            cpu_tree_loop(tree, bytes, levels, mirrored, true, elements, count, ranks);  \
        else                                                                             \
            cpu_tree_loop(tree, bytes, levels, mirrored, false, elements, count, ranks); \
    }
CPU_TREE_DEFINE(4, 4, 0)
CPU_TREE_DEFINE(4, 4, 1)
CPU_TREE_DEFINE(4, 5, 0)
CPU_TREE_DEFINE(4, 6, 0)
CPU_TREE_DEFINE(8, 4, 0)
CPU_TREE_DEFINE(8, 5, 0)
CPU_TREE_DEFINE(8, 5, 1)

/* Mirrored are powers of 10 alone: 10 ends of 32 bits, 19 of 64. */
static cpu_tree_find_function *cpu_tree_choose(unsigned bytes, unsigned levels, bool mirrored)
{
    if (mirrored)
        return bytes == 8 ? cpu_tree_find_8_5_1 : cpu_tree_find_4_4_1;
    if (bytes == 8)
        return levels == 5 ? cpu_tree_find_8_5_0 : cpu_tree_find_8_4_0;
    return levels == 6   ? cpu_tree_find_4_6_0
           : levels == 5 ? cpu_tree_find_4_5_0
                         : cpu_tree_find_4_4_0;
}

static bool cpu_tree_is_wanted(const struct job *job)
{
    switch (job->binning.form) {
    case BINNING_LOG10_32:
    case BINNING_LOG10_64:
    case BINNING_EDGES_FEW:
    case BINNING_EDGES:
        return job->element.bytes >= 4 && cpu_isa_best() <= CPU_ISA_AVX512;
    default:
        return false;
    }
}

/*
 * Whether bins lie on both sides of 0 alike, so that it does to search magnitudes, of which the
 * greatest is no power of 10.
 */
static bool cpu_tree_is_mirrored(const struct job *job)
{
    return job->binning.base == 10 && job->element.is_signed;
}

/*
 * Of the bins' ends, those that values of the type, or of mirrored bins their magnitudes, may be on
 * either side of: the first, and the one behind the last.
 */
static void cpu_tree_choose_ends(const struct job *job, uint32_t *first, uint32_t *after)
{
    const uint32_t ends = job->binning.bins + 1;

    *first = cpu_tree_is_mirrored(job) ? job->binning.zero + 1 : 0;
    while (*first < ends && binning_edge(&job->binning, *first) <= element_min(&job->element))
        ++*first;
    *after = *first;
    while (*after < ends && binning_edge(&job->binning, *after) < element_limit(&job->element) &&
           *after - *first < CPU_TREE_NODES)
        ++*after;
}

/* Sets the nodes of a tree of so many levels, given the number of the first end and of all. */
static void cpu_tree_fill(struct cpu_tree *tree, const struct job *job, unsigned levels,
                          uint32_t after)
{
    for (uint32_t place = 1; place < (uint32_t)1 << levels; place++) {
        uint32_t level = binning_digits2(place) - 1;
        uint32_t column = place - ((uint32_t)1 << level);
        uint32_t end = tree->first + ((2 * column + 1) << (levels - 1 - level)) - 1;
        uint64_t node = end < after ? (uint64_t)(binning_edge(&job->binning, end) - 1) ^ tree->bias
                                    : UINT64_MAX;
        if (job->element.bytes == 8)
            tree->nodes64[place] = node;
        else
            tree->nodes32[place] = (uint32_t)node;
    }
}

void cpu_tree_init(struct cpu_tree *tree, const struct job *job)
{
    const struct element *element = &job->element;
    const unsigned most = element->bytes == 8 ? CPU_TREE_LEVELS_MAX_WIDE : CPU_TREE_LEVELS_MAX;
    unsigned levels = CPU_TREE_LEVELS_MIN;
    uint32_t after;

    *tree = (struct cpu_tree){.find = NULL};
    if (!cpu_tree_is_wanted(job))
        return;
    cpu_tree_choose_ends(job, &tree->first, &after);
    if (after - tree->first >= 1u << most)
        return;
    while (after - tree->first >= (uint32_t)1 << levels)
        levels++;
    bool mirrored = cpu_tree_is_mirrored(job);
    tree->bias = element->is_signed && !mirrored ? (uint64_t)1 << (8 * element->bytes - 1) : 0;
    cpu_tree_fill(tree, job, levels, after);
    tree->find = cpu_tree_choose(element->bytes, levels, mirrored);
}

#else

void cpu_tree_init(struct cpu_tree *tree, const struct job *job)
{
    *tree = (struct cpu_tree){.find = NULL};
}

#endif
