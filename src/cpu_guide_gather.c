/*
 * Values of 4 or 8 bytes to bins by a packed guide, 16 at once: its words are gathered.
 * Arithmetic is modulo 2^32 or 2^64, so that signs make no difference.
 */
#include "config.h"

#include "cpu_guide.h"
#include "cpu_isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <string.h>

#define CPU_GUIDE_GATHER CPU_ISA_TARGET_AVX512 static inline __attribute__((always_inline))

/* Elements between two searches for what is in mixed buckets, and those found at once. */
#define CPU_GUIDE_GATHER_PART  1024
#define CPU_GUIDE_GATHER_LANES 16

/*
 * Whether gathering is quicker than loading one by one: with AVX512-FP16, which came with
 * processors (Sapphire Rapids) that need not mitigate Gather Data Sampling. There bins of 32-bit
 * values take 0.4 ns each; on Zen 4 gathered loads alone take 1.5 ns.
 */
static bool cpu_guide_gather_pays(void)
{
    unsigned eax;
    unsigned ebx;
    unsigned ecx;
    unsigned edx;

    return cpu_isa_best() <= CPU_ISA_AVX512 && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) &&
           edx >> 23 & 1;
}

/* What is found of a vector, lanes of 32 bits. */
struct cpu_guide_gather_lanes {
    __m512i bins;
    uint32_t outside; /* which are */
};

/* The bins of 16 elements of 4 bytes, or of fewer. */
CPU_GUIDE_GATHER struct cpu_guide_gather_lanes cpu_guide_gather_32(const struct cpu_guide *guide,
                                                                   bool swapped,
                                                                   const void *elements,
                                                                   __mmask16 lanes)
{
    const __m128i unit = _mm_cvtsi32_si128((int32_t)guide->unit);
    const __m512i last = _mm512_set1_epi32((int32_t)guide->last);
    const __m512i limit = _mm512_set1_epi32((int32_t)guide->limit);
    const __m512i mask = _mm512_set1_epi32((int32_t)guide->mask);
    __m512i distances = _mm512_maskz_loadu_epi32(lanes, elements);
    if (swapped)
        distances = _mm512_shuffle_epi8(distances, _mm512_set4_epi32(0x0c0d0e0f, 0x08090a0b,
                                                                     0x04050607, 0x00010203));
    distances = _mm512_sub_epi32(distances, _mm512_set1_epi32((int32_t)guide->low));
    __mmask16 inside = _mm512_mask_cmple_epu32_mask(lanes, distances, last);
    __mmask16 above = _mm512_cmple_epu32_mask(distances, limit);
    const __m512i below = _mm512_set1_epi32((int32_t)guide->bins[2 * guide->side]);
    const __m512i beyond = _mm512_set1_epi32((int32_t)guide->bins[2 * guide->side + 1]);
    __m512i words = _mm512_mask_i32gather_epi32(_mm512_mask_mov_epi32(below, above, beyond), inside,
                                                _mm512_srl_epi32(distances, unit), guide->bins, 4);
    words = _mm512_add_epi32(words, _mm512_and_si512(distances, mask));
    return (struct cpu_guide_gather_lanes){_mm512_srl_epi32(words, unit),
                                           lanes & ~(uint32_t)inside};
}

/* The same of 8 elements of 8 bytes, or of fewer, in the lower half. */
CPU_GUIDE_GATHER struct cpu_guide_gather_lanes cpu_guide_gather_8(const struct cpu_guide *guide,
                                                                  bool swapped,
                                                                  const void *elements,
                                                                  __mmask8 lanes)
{
    const __m128i unit = _mm_cvtsi32_si128((int32_t)guide->unit);
    const __m512i last = _mm512_set1_epi64((int64_t)guide->last);
    const __m512i limit = _mm512_set1_epi64((int64_t)guide->limit);
    const __m512i mask = _mm512_set1_epi64((int64_t)guide->mask);
    __m512i distances = _mm512_maskz_loadu_epi64(lanes, elements);
    if (swapped)
        distances = _mm512_shuffle_epi8(distances, _mm512_set4_epi32(0x08090a0b, 0x0c0d0e0f,
                                                                     0x00010203, 0x04050607));
    distances = _mm512_sub_epi64(distances, _mm512_set1_epi64((int64_t)guide->low));
    __mmask8 inside = _mm512_mask_cmple_epu64_mask(lanes, distances, last);
    __mmask8 above = _mm512_cmple_epu64_mask(distances, limit);
    const __m512i below = _mm512_set1_epi64((int64_t)guide->thresholds[2 * guide->side]);
    const __m512i beyond = _mm512_set1_epi64((int64_t)guide->thresholds[2 * guide->side + 1]);
    __m512i words =
        _mm512_mask_i64gather_epi64(_mm512_mask_mov_epi64(below, above, beyond), inside,
                                    _mm512_srl_epi64(distances, unit), guide->thresholds, 8);
    words = _mm512_srl_epi64(_mm512_add_epi64(words, _mm512_and_si512(distances, mask)), unit);
    return (struct cpu_guide_gather_lanes){_mm512_castsi256_si512(_mm512_cvtepi64_epi32(words)),
                                           lanes & ~(uint32_t)inside};
}

/* The same of 16 elements of 8 bytes, or of fewer. */
CPU_GUIDE_GATHER struct cpu_guide_gather_lanes cpu_guide_gather_64(const struct cpu_guide *guide,
                                                                   bool swapped,
                                                                   const char *elements,
                                                                   __mmask16 lanes)
{
    __mmask8 rest = (__mmask8)(lanes >> 8);
    struct cpu_guide_gather_lanes low =
        cpu_guide_gather_8(guide, swapped, elements, (__mmask8)lanes);
    struct cpu_guide_gather_lanes high = cpu_guide_gather_8(guide, swapped, elements + 64, rest);

    low.bins = _mm512_inserti64x4(low.bins, _mm512_castsi512_si256(high.bins), 1);
    low.outside |= high.outside << 8;
    return low;
}

/* Searches the binning for elements that are in mixed buckets. */
static void cpu_guide_gather_search(const struct cpu_guide *guide, unsigned bytes, bool swapped,
                                    const char *elements, const uint32_t *places, size_t count,
                                    uint32_t *indexes)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t word = 0;
        memcpy(&word, elements + (size_t)places[i] * bytes, bytes);
        word = swapped ? element_swap(word, bytes) : word;
        uint64_t distance = (word - guide->low) & (UINT64_MAX >> (64 - 8 * bytes));
        indexes[places[i]] = cpu_guide_settle(guide, indexes[places[i]], distance);
    }
}

/* The places of values in mixed buckets, and room for a vector beyond. */
struct cpu_guide_gather_mixed {
    size_t count;
    uint32_t places[CPU_GUIDE_GATHER_PART + CPU_GUIDE_GATHER_LANES];
};

/* Stores the bins of a vector of elements from `place` on, and returns how many are outside. */
CPU_GUIDE_GATHER size_t cpu_guide_gather_group(const struct cpu_guide *guide, unsigned bytes,
                                               bool swapped, const char *elements, size_t place,
                                               __mmask16 lanes, uint32_t *indexes,
                                               struct cpu_guide_gather_mixed *mixed)
{
    const __m512i numbers = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i places = _mm512_add_epi32(numbers, _mm512_set1_epi32((int32_t)place));
    const char *from = elements + place * bytes;
    struct cpu_guide_gather_lanes found = bytes == 8
                                              ? cpu_guide_gather_64(guide, swapped, from, lanes)
                                              : cpu_guide_gather_32(guide, swapped, from, lanes);
    __mmask16 searched =
        _mm512_mask_cmpge_epu32_mask(lanes, found.bins, _mm512_set1_epi32((int32_t)guide->mixed));

    _mm512_mask_storeu_epi32(indexes + place, lanes, found.bins);
    _mm512_storeu_si512(mixed->places + mixed->count,
                        _mm512_maskz_compress_epi32(searched, places));
    mixed->count += (size_t)__builtin_popcount(searched);
    return (size_t)__builtin_popcount(found.outside);
}

/* Stores the bins of elements[0..count), at most CPU_GUIDE_GATHER_PART. */
CPU_GUIDE_GATHER size_t cpu_guide_gather_part(const struct cpu_guide *guide, unsigned bytes,
                                              bool swapped, const char *elements, size_t count,
                                              uint32_t *indexes)
{
    const size_t length = CPU_GUIDE_GATHER_LANES;
    const struct cpu_guide local = *guide; /* no store to indexes can change it */
    struct cpu_guide_gather_mixed mixed;
    size_t outside = 0;
    size_t i = 0;

    mixed.count = 0;
    for (; i + length <= count; i += length)
        outside += cpu_guide_gather_group(&local, bytes, swapped, elements, i,
                                          (__mmask16)((1u << length) - 1), indexes, &mixed);
    outside += cpu_guide_gather_group(&local, bytes, swapped, elements, i,
                                      (__mmask16)((1u << (count - i)) - 1), indexes, &mixed);
    cpu_guide_gather_search(guide, bytes, swapped, elements, mixed.places, mixed.count, indexes);
    return outside;
}

CPU_GUIDE_GATHER size_t cpu_guide_gather_parts(const struct cpu_guide *guide, unsigned bytes,
                                               bool swapped, const char *elements, size_t count,
                                               uint32_t *indexes)
{
    size_t outside = 0;

    for (size_t i = 0; i < count; i += CPU_GUIDE_GATHER_PART) {
        size_t part = count - i < CPU_GUIDE_GATHER_PART ? count - i : CPU_GUIDE_GATHER_PART;
        outside +=
            cpu_guide_gather_part(guide, bytes, swapped, elements + i * bytes, part, indexes + i);
    }
    return outside;
}

#define CPU_GUIDE_GATHER_DEFINE(bytes)                                                          \
    CPU_ISA_TARGET_AVX512 static size_t cpu_guide_gather_bytes##bytes(                          \
        const struct cpu_guide *guide, bool swapped, const void *elements, size_t count,        \
        uint32_t *indexes)                                                                      \
    {                                                                                           \
        return swapped ? cpu_guide_gather_parts(guide, bytes, true, elements, count, indexes)   \
                       : cpu_guide_gather_parts(guide, bytes, false, elements, count, indexes); \
    }
CPU_GUIDE_GATHER_DEFINE(4)
CPU_GUIDE_GATHER_DEFINE(8)

cpu_guide_index_function *cpu_guide_gather_choose(unsigned bytes)
{
    if (bytes < 4 || !cpu_guide_gather_pays())
        return NULL;
    return bytes == 8 ? cpu_guide_gather_bytes8 : cpu_guide_gather_bytes4;
}

#else

cpu_guide_index_function *cpu_guide_gather_choose(unsigned bytes)
{
    (void)bytes;
    return NULL;
}

#endif
