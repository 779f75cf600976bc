#include "config.h"

#include "cpu/cpu_guide_gather.h"

#include "base/cpu_isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#define CPU_GUIDE_TARGET CPU_ISA_TARGET_AVX512 static inline __attribute__((always_inline))

/* Registers of a group, and after how many groups one is counted. */
#define CPU_GUIDE_SIDE (CPU_GUIDE_GATHER_GROUP / 16)
#define CPU_GUIDE_LAG  2
#define CPU_GUIDE_RING ((size_t)4 * CPU_GUIDE_GATHER_GROUP)

/* The bit of EDX of leaf 7 that tells of AVX-512 FP16, which not all compilers have a name for. */
#define CPU_GUIDE_FP16 (1u << 23)

bool cpu_guide_can_gather(void)
{
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;

    return cpu_isa_has_avx512() && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) &&
           (edx & CPU_GUIDE_FP16);
}

/* What is put for keys in mixed buckets, whose places are noted. */
struct cpu_guide_mixed {
    uint32_t *places;
    size_t count;
    uint32_t spare;
};

/* The ranks of 8 wide keys. */
CPU_GUIDE_TARGET __m256i cpu_guide_gather_wide(const struct cpu_guide *guide, const char *keys)
{
    const __m128i shift = _mm_cvtsi32_si128((int)guide->shift);
    __m512i words = _mm512_loadu_si512(keys);
    __m512i found = _mm512_i64gather_epi64(_mm512_srl_epi64(words, shift), guide->wide, 8);

    return _mm512_cvtepi64_epi32(_mm512_srl_epi64(_mm512_add_epi64(found, words), shift));
}

/* The ranks of 16 narrow or wide keys. */
CPU_GUIDE_TARGET __m512i cpu_guide_gather_any(const struct cpu_guide *guide, bool is_wide,
                                              const char *keys)
{
    const __m128i shift = _mm_cvtsi32_si128((int)guide->shift);

    if (is_wide)
        return _mm512_inserti64x4(_mm512_castsi256_si512(cpu_guide_gather_wide(guide, keys)),
                                  cpu_guide_gather_wide(guide, keys + 64), 1);
    __m512i words = _mm512_loadu_si512(keys);
    __m512i found = _mm512_i32gather_epi32(_mm512_srl_epi32(words, shift), guide->narrow, 4);
    return _mm512_srl_epi32(_mm512_add_epi32(found, words), shift);
}

/* The same, the first at place i, but for those in mixed buckets, whose places are noted. */
CPU_GUIDE_TARGET __m512i cpu_guide_gather(const struct cpu_guide *guide, bool is_wide,
                                          const char *keys, size_t i, bool has_mixed,
                                          struct cpu_guide_mixed *mixed)
{
    const size_t bytes = is_wide ? sizeof(uint64_t) : sizeof(uint32_t);
    __m512i ranks = cpu_guide_gather_any(guide, is_wide, keys + i * bytes);

    if (!has_mixed)
        return ranks;
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    __mmask16 is_mixed = _mm512_cmpge_epu32_mask(ranks, _mm512_set1_epi32((int32_t)guide->mixed));
    __m512i places = _mm512_add_epi32(lanes, _mm512_set1_epi32((int32_t)i));
    _mm512_storeu_si512(mixed->places + mixed->count,
                        _mm512_maskz_compress_epi32(is_mixed, places));
    mixed->count += (size_t)_mm_popcnt_u32(is_mixed);
    return _mm512_mask_mov_epi32(ranks, is_mixed, _mm512_set1_epi32((int32_t)mixed->spare));
}

CPU_GUIDE_TARGET size_t cpu_guide_count_groups(const struct cpu_guide *guide, bool is_wide,
                                               const char *keys, size_t n, struct cpu_tables tables,
                                               size_t copies, bool has_mixed, uint32_t *places)
{
    const struct cpu_guide local = *guide; /* no store to the tables can change it */
    const size_t group = CPU_GUIDE_GATHER_GROUP;
    const size_t lag = CPU_GUIDE_LAG * group;
    struct cpu_guide_mixed mixed = {.places = places, .spare = tables.spare};
    uint32_t memory[CPU_GUIDE_RING + CPU_TABLES_PAGE / sizeof(uint32_t)];
    uint32_t *ring = cpu_tables_beside(tables, memory, CPU_GUIDE_RING * sizeof *ring);
    size_t i = 0;

    for (size_t k = 0; k < lag; k++)
        ring[CPU_GUIDE_RING - lag + k] = tables.spare;
    for (; i < n; i += group) {
        const uint32_t *older = ring + (i + CPU_GUIDE_RING - lag) % CPU_GUIDE_RING;
        uint32_t *ranks = ring + i % CPU_GUIDE_RING;
        CPU_TABLES_UNROLL
        for (size_t k = 0; k < CPU_GUIDE_SIDE; k++) {
            __m512i found = cpu_guide_gather(&local, is_wide, keys, i + k * 16, has_mixed, &mixed);
            _mm512_storeu_si512(ranks + k * 16, found);
            cpu_tables_count(tables, copies, older, sizeof *older, k * 16, k * 16 + 16);
        }
    }
    for (size_t k = i + CPU_GUIDE_RING - lag; k < i + CPU_GUIDE_RING; k += group)
        cpu_tables_count(tables, copies, ring + k % CPU_GUIDE_RING, sizeof *ring, 0, group);
    return mixed.count;
}

/* The same, inlined with constants for whether keys are wide and some buckets mixed. */
CPU_GUIDE_TARGET size_t cpu_guide_count_copies(const struct cpu_guide *guide, const char *keys,
                                               size_t n, struct cpu_tables tables, size_t copies,
                                               uint32_t *mixed)
{
#define CPU_GUIDE_KIND(is_wide, has_mixed) \
    case 2 * (is_wide) + (has_mixed):      \
        return cpu_guide_count_groups(guide, is_wide, keys, n, tables, copies, has_mixed, mixed);
    switch (2 * (guide->keys == CPU_GUIDE_WIDE) + guide->has_mixed) {
        CPU_GUIDE_KIND(false, false)
        CPU_GUIDE_KIND(false, true)
        CPU_GUIDE_KIND(true, false)
        CPU_GUIDE_KIND(true, true)
    }
#undef CPU_GUIDE_KIND
    __builtin_unreachable();
}

CPU_ISA_TARGET_AVX512 size_t cpu_guide_count_gathered(const struct cpu_guide *guide,
                                                      const void *keys, size_t n,
                                                      struct cpu_tables tables, size_t copies,
                                                      uint32_t *mixed)
{
    switch (copies) {
    case 1:
        return cpu_guide_count_copies(guide, keys, n, tables, 1, mixed);
    case 2:
        return cpu_guide_count_copies(guide, keys, n, tables, 2, mixed);
    case 8:
        return cpu_guide_count_copies(guide, keys, n, tables, 8, mixed);
    }
    __builtin_unreachable();
}

#else

bool cpu_guide_can_gather(void)
{
    return false;
}

size_t cpu_guide_count_gathered(const struct cpu_guide *guide, const void *keys, size_t n,
                                struct cpu_tables tables, size_t copies, uint32_t *mixed)
{
    (void)guide;
    (void)keys;
    (void)n;
    (void)tables;
    (void)copies;
    (void)mixed;
    __builtin_unreachable();
}

#endif
