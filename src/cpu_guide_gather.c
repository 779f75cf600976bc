/*
 * Keys to ranks, 16 at once: the words are gathered. Those of unequal buckets are not worth it:
 * with 58 edges of int32 1.38 x of plain bins, loaded one by one 1.27 (Sapphire Rapids).
 */
#include "config.h"

#include "cpu_guide.h"
#include "cpu_isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <string.h>

#define CPU_GUIDE_GATHER CPU_ISA_TARGET_AVX512 static inline __attribute__((always_inline))

/* Keys between two searches for what is in mixed buckets, and those found at once. */
#define CPU_GUIDE_GATHER_PART  1024
#define CPU_GUIDE_GATHER_LANES 16

/*
 * Whether gathering is quicker than loading one by one: with AVX512-FP16, which came with
 * processors (Sapphire Rapids) that need not mitigate Gather Data Sampling. ns a value, with
 * counting, of 999 random edges and of equal bins: there gathered 0.73 and 0.63, loaded 0.87 and
 * 0.73; on Zen 4 0.80 and 0.72, loaded 0.71 and 0.47.
 */
static bool cpu_guide_gather_pays(void)
{
    unsigned eax;
    unsigned ebx;
    unsigned ecx;
    unsigned edx;

    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && edx >> 23 & 1;
}

/* The ranks of 16 narrow keys, or of those of `lanes`. */
CPU_GUIDE_GATHER __m512i cpu_guide_gather_narrow(const struct cpu_guide *guide, const char *keys,
                                                 __mmask16 lanes)
{
    const __m128i shift = _mm_cvtsi32_si128((int32_t)guide->shift);
    __m512i key = _mm512_maskz_loadu_epi32(lanes, keys);
    __m512i words =
        _mm512_mask_i32gather_epi32(key, lanes, _mm512_srl_epi32(key, shift), guide->narrow, 4);
    return _mm512_srl_epi32(_mm512_add_epi32(words, key), shift);
}

/* The same of 8 wide keys, or of those of `lanes`. */
CPU_GUIDE_GATHER __m256i cpu_guide_gather_8(const struct cpu_guide *guide, const char *keys,
                                            __mmask8 lanes)
{
    const __m128i shift = _mm_cvtsi32_si128((int32_t)guide->shift);
    __m512i key = _mm512_maskz_loadu_epi64(lanes, keys);
    __m512i words =
        _mm512_mask_i64gather_epi64(key, lanes, _mm512_srl_epi64(key, shift), guide->wide, 8);
    return _mm512_cvtepi64_epi32(_mm512_srl_epi64(_mm512_add_epi64(words, key), shift));
}

/* The same of 16. */
CPU_GUIDE_GATHER __m512i cpu_guide_gather_wide(const struct cpu_guide *guide, const char *keys,
                                               __mmask16 lanes)
{
    __m256i low = cpu_guide_gather_8(guide, keys, (__mmask8)lanes);
    __m256i high = cpu_guide_gather_8(guide, keys + 64, (__mmask8)(lanes >> 8));
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/* The places of keys in mixed buckets, and room for a vector beyond. */
struct cpu_guide_gather_mixed {
    size_t count;
    uint32_t places[CPU_GUIDE_GATHER_PART + CPU_GUIDE_GATHER_LANES];
};

/* Stores the ranks of a vector of keys from `place` on. */
CPU_GUIDE_GATHER void cpu_guide_gather_group(const struct cpu_guide *guide, unsigned bytes,
                                             const char *keys, size_t place, __mmask16 lanes,
                                             uint32_t *ranks, struct cpu_guide_gather_mixed *mixed)
{
    const __m512i numbers = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i places = _mm512_add_epi32(numbers, _mm512_set1_epi32((int32_t)place));
    const char *from = keys + place * bytes;
    __m512i found = bytes == 8 ? cpu_guide_gather_wide(guide, from, lanes)
                               : cpu_guide_gather_narrow(guide, from, lanes);
    __mmask16 searched =
        _mm512_mask_cmpge_epu32_mask(lanes, found, _mm512_set1_epi32((int32_t)guide->mixed));

    _mm512_mask_storeu_epi32(ranks + place, lanes, found);
    if (searched) {
        _mm512_storeu_si512(mixed->places + mixed->count,
                            _mm512_maskz_compress_epi32(searched, places));
        mixed->count += (size_t)__builtin_popcount(searched);
    }
}

/* Looks for the ranks of keys in mixed buckets. */
static void cpu_guide_gather_settle(const struct cpu_guide *guide, unsigned bytes, const char *keys,
                                    const struct cpu_guide_gather_mixed *mixed, uint32_t *ranks)
{
    for (size_t i = 0; i < mixed->count; i++) {
        const size_t place = mixed->places[i];
        uint64_t key = 0;
        memcpy(&key, keys + place * bytes, bytes);
        ranks[place] = cpu_guide_settle(guide, ranks[place], key);
    }
}

/*
 * Stores the ranks of keys[0..count), at most CPU_GUIDE_GATHER_PART, and returns how many of them
 * are in mixed buckets.
 */
CPU_GUIDE_GATHER size_t cpu_guide_gather_part(const struct cpu_guide *guide, unsigned bytes,
                                              const char *keys, size_t count, uint32_t *ranks)
{
    const size_t length = CPU_GUIDE_GATHER_LANES;
    const struct cpu_guide local = *guide; /* no store to ranks can change it */
    struct cpu_guide_gather_mixed mixed;
    size_t i = 0;

    mixed.count = 0;
    for (; i + length <= count; i += length)
        cpu_guide_gather_group(&local, bytes, keys, i, UINT16_MAX, ranks, &mixed);
    cpu_guide_gather_group(&local, bytes, keys, i, (__mmask16)((1u << (count - i)) - 1), ranks,
                           &mixed);
    cpu_guide_gather_settle(guide, bytes, keys, &mixed, ranks);
    return mixed.count;
}

#define CPU_GUIDE_GATHER_DEFINE(name, bytes)                                                   \
    CPU_ISA_TARGET_AVX512 static size_t cpu_guide_gather_##name##_keys(                        \
        const struct cpu_guide *guide, const void *keys, size_t count, uint32_t *ranks)        \
    {                                                                                          \
        const char *from = keys;                                                               \
        size_t mixed = 0;                                                                      \
        for (size_t i = 0, part; i < count; i += part) {                                       \
            part = count - i < CPU_GUIDE_GATHER_PART ? count - i : CPU_GUIDE_GATHER_PART;      \
            mixed += cpu_guide_gather_part(guide, bytes, from + i * (bytes), part, ranks + i); \
        }                                                                                      \
        return mixed;                                                                          \
    }
CPU_GUIDE_GATHER_DEFINE(narrow, 4)
CPU_GUIDE_GATHER_DEFINE(wide, 8)

cpu_guide_gather_function *cpu_guide_gather_find(enum cpu_guide_keys keys)
{
    if (keys == CPU_GUIDE_PAIRS || cpu_isa_best() > CPU_ISA_AVX512)
        return NULL;
    return keys == CPU_GUIDE_WIDE ? cpu_guide_gather_wide_keys : cpu_guide_gather_narrow_keys;
}

#else

static bool cpu_guide_gather_pays(void)
{
    return false;
}

cpu_guide_gather_function *cpu_guide_gather_find(enum cpu_guide_keys keys)
{
    (void)keys;
    return NULL;
}

#endif

cpu_guide_gather_function *cpu_guide_gather_choose(enum cpu_guide_keys keys)
{
    return cpu_guide_gather_pays() ? cpu_guide_gather_find(keys) : NULL;
}
