/*
 * 16 or 8 values at once, with AVX-512. For x = value - LO in words of 32 bits and m = ceil(2^64 *
 * n/d), the bin is x * m / 2^64. That is exact: m is less than 1 too large, and x * d < 2^64
 * (Granlund and Montgomery, "Division by Invariant Integers using Multiplication", 1994).
 *
 * For x in words of 64 bits products are of 52 bits each way, of which there is the upper half
 * (AVX512-IFMA). x' is x cut to its upper 52 bits, and m = floor(2^p * n/d) of 51 bits. With m + 1
 * the bins are exact, likewise, if x is not cut and x * d < 2^p. Else the upper half of x' * m is
 * below what it would be without cutting by less than 3: 1 each for x, for m and for the lower
 * half. With these 3 added, the quotient is the bin, or one more where its fraction is less than 3;
 * there x * n - quotient * d is so small that its lower 64 bits tell its sign, and that which.
 *
 * binning_index needs remainders, or 64 bits, and compilers make more of either. Uniform int32,
 * --width 4000000 and --bins 999 of the whole range, as a multiple of what plain bins take, by
 * processor time of one thread on Sapphire Rapids: 1.3 and 1.8 x by the compiler, 1.2 x here.
 */
#include "config.h"

#include "cpu/cpu_index_scaled.h"

#include "base/cpu_isa.h"

#if defined(__x86_64__)
#include "cpu/cpu_swap.h"

#define CPU_INDEX_SCALED_LANES   16
#define CPU_INDEX_SCALED_LANES64 8

#define CPU_INDEX_TARGET CPU_ISA_TARGET_AVX512VBMI2 static inline

/* x * m / 2^64 of 16 lanes; m in its upper and its lower half. */
CPU_ISA_TARGET_AVX512 static inline __m512i cpu_index_scale(__m512i x, __m512i upper, __m512i lower)
{
    __m512i odd = _mm512_srli_epi64(x, 32); /* products are of even lanes, as words of 64 bits */
    __m512i even_carry = _mm512_srli_epi64(_mm512_mul_epu32(x, lower), 32);
    __m512i odd_carry = _mm512_srli_epi64(_mm512_mul_epu32(odd, lower), 32);
    __m512i even_bins = _mm512_add_epi64(_mm512_mul_epu32(x, upper), even_carry);
    __m512i odd_bins = _mm512_add_epi64(_mm512_mul_epu32(odd, upper), odd_carry);
    return _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even_bins, 32), odd_bins);
}

/* A cpu_index_function but for `limit`, the distance of the type's greatest value from LO. */
CPU_ISA_TARGET_AVX512 static inline void cpu_index_scaled_loop(const struct binning *binning,
                                                               uint32_t limit, bool swapped,
                                                               const char *elements, size_t count,
                                                               uint32_t *indexes,
                                                               const struct cpu_tables_turns *turns)
{
    const struct cpu_tables_turns tables = turns ? *turns : (struct cpu_tables_turns){{0}};
    const unsigned __int128 scaled = (unsigned __int128)binning->numerator << 64;
    const uint64_t m = (uint64_t)((scaled + binning->divisor - 1) / binning->divisor);
    const __m512i upper = _mm512_set1_epi64((int64_t)(m >> 32));
    const __m512i lower = _mm512_set1_epi64((int64_t)(m & UINT32_MAX));
    const __m512i low = _mm512_set1_epi32((int32_t)binning->low);
    const __m512i last = _mm512_set1_epi32((int32_t)binning->last);
    const __m512i below = _mm512_set1_epi32((int32_t)binning->bins);
    const __m512i above = _mm512_set1_epi32((int32_t)(binning->bins + 1));

    for (size_t i = 0; i < count; i += CPU_INDEX_SCALED_LANES) {
        const size_t rest = count - i;
        const __mmask16 lanes = (__mmask16)(rest < CPU_INDEX_SCALED_LANES ? (1u << rest) - 1 : ~0u);
        __m512i x = _mm512_maskz_loadu_epi32(lanes, elements + i * 4);
        x = _mm512_sub_epi32(swapped ? _mm512_shuffle_epi8(x, cpu_swap_order(4)) : x, low);
        __mmask16 is_beyond = _mm512_mask_cmpgt_epu32_mask(lanes, x, last);
        __mmask16 is_above =
            _mm512_mask_cmple_epu32_mask(is_beyond, x, _mm512_set1_epi32((int32_t)limit));
        __m512i bins = _mm512_mask_mov_epi32(cpu_index_scale(x, upper, lower), is_beyond, below);
        _mm512_mask_storeu_epi32(indexes + i, lanes, _mm512_mask_mov_epi32(bins, is_above, above));
        if (turns && i >= CPU_TABLES_LAG)
            cpu_tables_count_group(&tables, indexes + i - CPU_TABLES_LAG, CPU_INDEX_SCALED_LANES);
    }
    if (turns)
        cpu_tables_count_rest(&tables, indexes, count, CPU_INDEX_SCALED_LANES);
}

#define CPU_INDEX_SCALED_DEFINE(name, most)                                                \
    CPU_ISA_TARGET_AVX512 static void cpu_index_scaled_##name(                             \
        const struct binning *binning, bool swapped, const void *elements, size_t count,   \
        uint32_t *indexes, const struct cpu_tables_turns *turns)                           \
    {                                                                                      \
        const uint32_t limit = (uint32_t)(most) - (uint32_t)binning->low;                  \
        if (swapped)                                                                       \
            cpu_index_scaled_loop(binning, limit, true, elements, count, indexes, turns);  \
        else                                                                               \
            cpu_index_scaled_loop(binning, limit, false, elements, count, indexes, turns); \
    }
CPU_INDEX_SCALED_DEFINE(i32, INT32_MAX)
CPU_INDEX_SCALED_DEFINE(u32, UINT32_MAX)

/* How x * n / d is computed of words of 64 bits. */
struct cpu_index_reciprocal {
    uint64_t multiplier; /* m, or if that is exact m + 1 */
    unsigned cut;        /* bits that are cut off x */
    unsigned fraction;   /* bits of the fraction in the upper half of a product; if these were to
                            be less than 0, more than there are in it */
    bool is_exact;
};

/* Bits of factors, and of half a product; those of m; and what is added where it is not exact. */
#define CPU_INDEX_FACTOR_BITS     52
#define CPU_INDEX_MULTIPLIER_BITS 51
#define CPU_INDEX_MISSING         3

/* Bits of a fraction with which few values are so near to the next bin that there is doubt, and the
   remainders of these have less than 63 bits. */
#define CPU_INDEX_FRACTION_MIN 10

static unsigned cpu_index_digits(unsigned __int128 number)
{
    const uint64_t upper = (uint64_t)(number >> 64);
    return upper > 0 ? 64 + binning_digits2(upper) : binning_digits2((uint64_t)number);
}

static struct cpu_index_reciprocal cpu_index_invert(const struct binning *binning)
{
    const unsigned __int128 divisor = binning_divisor(binning);
    const unsigned digits = binning_digits2(binning->last);
    const unsigned cut = digits > CPU_INDEX_FACTOR_BITS ? digits - CPU_INDEX_FACTOR_BITS : 0;
    unsigned power = 127 - binning_digits2(binning->numerator);
    const unsigned __int128 quotient = ((unsigned __int128)binning->numerator << power) / divisor;
    const unsigned excess = cpu_index_digits(quotient) - CPU_INDEX_MULTIPLIER_BITS;

    power -= excess;
    const bool is_exact = cut == 0 && binning->last * divisor < (unsigned __int128)1 << power;
    return (struct cpu_index_reciprocal){
        .multiplier = (uint64_t)(quotient >> excess) + is_exact,
        .cut = cut,
        .fraction = power - cut - CPU_INDEX_FACTOR_BITS,
        .is_exact = is_exact,
    };
}

/* The bins of 8 lanes, and what they are of lanes where there is doubt. */
CPU_INDEX_TARGET __m512i cpu_index_scale64(const struct binning *binning,
                                           const struct cpu_index_reciprocal *by, bool is_exact,
                                           __m512i x)
{
    const __m512i multiplier = _mm512_set1_epi64((int64_t)by->multiplier);
    const __m512i missing = _mm512_set1_epi64(is_exact ? 0 : CPU_INDEX_MISSING);
    const __m512i doubt =
        _mm512_set1_epi64((int64_t)(((uint64_t)1 << by->fraction) - 1 - CPU_INDEX_MISSING));
    __m512i cut = is_exact ? x : _mm512_srl_epi64(x, _mm_cvtsi32_si128((int32_t)by->cut));
    __m512i product = _mm512_madd52hi_epu64(missing, cut, multiplier);
    __m512i bins = _mm512_srl_epi64(product, _mm_cvtsi32_si128((int32_t)by->fraction));

    if (is_exact)
        return bins;
    __mmask8 is_doubtful = _mm512_testn_epi64_mask(product, doubt);
    if (__builtin_expect(is_doubtful == 0, 1))
        return bins;
    __m512i scaled = _mm512_mullo_epi64(x, _mm512_set1_epi64(binning->numerator));
    __m512i begin = _mm512_mullo_epi64(bins, _mm512_set1_epi64((int64_t)binning->divisor));
    __mmask8 is_before = _mm512_movepi64_mask(_mm512_sub_epi64(scaled, begin));
    return _mm512_mask_sub_epi64(bins, is_before & is_doubtful, bins, _mm512_set1_epi64(1));
}

/* The same as cpu_index_scaled_loop of elements of 8 bytes. */
CPU_INDEX_TARGET void cpu_index_scaled_loop64(const struct binning *binning,
                                              const struct cpu_index_reciprocal *by, bool is_exact,
                                              uint64_t limit, bool swapped, const char *elements,
                                              size_t count, uint32_t *indexes,
                                              const struct cpu_tables_turns *turns)
{
    const struct cpu_tables_turns tables = turns ? *turns : (struct cpu_tables_turns){{0}};
    const struct cpu_index_reciprocal local = *by; /* no store to indexes can change it */
    const __m512i low = _mm512_set1_epi64((int64_t)binning->low);
    const __m512i last = _mm512_set1_epi64((int64_t)binning->last);
    const __m512i below = _mm512_set1_epi64(binning->bins);
    const __m512i above = _mm512_set1_epi64(binning->bins + 1);

    for (size_t i = 0; i < count; i += CPU_INDEX_SCALED_LANES64) {
        const size_t rest = count - i;
        const __mmask8 lanes = (__mmask8)(rest < CPU_INDEX_SCALED_LANES64 ? (1u << rest) - 1 : ~0u);
        __m512i x = _mm512_maskz_loadu_epi64(lanes, elements + i * 8);
        x = _mm512_sub_epi64(swapped ? _mm512_shuffle_epi8(x, cpu_swap_order(8)) : x, low);
        __mmask8 is_beyond = _mm512_mask_cmpgt_epu64_mask(lanes, x, last);
        __mmask8 is_above =
            _mm512_mask_cmple_epu64_mask(is_beyond, x, _mm512_set1_epi64((int64_t)limit));
        __m512i bins = cpu_index_scale64(binning, &local, is_exact, x);
        bins = _mm512_mask_mov_epi64(bins, is_beyond, below);
        bins = _mm512_mask_mov_epi64(bins, is_above, above);
        _mm512_mask_cvtepi64_storeu_epi32(indexes + i, lanes, bins);
        if (turns && i >= CPU_TABLES_LAG)
            cpu_tables_count_group(&tables, indexes + i - CPU_TABLES_LAG, CPU_INDEX_SCALED_LANES64);
    }
    if (turns)
        cpu_tables_count_rest(&tables, indexes, count, CPU_INDEX_SCALED_LANES64);
}

/* Whether a type of 4 bytes has all values of the range, so that 32 bits tell their distances. */
static bool cpu_index_scaled_is_narrow(const struct element *element, const struct binning *binning)
{
    const __int128 low = (int64_t)binning->low;
    return element->bytes == 4 && binning->is_signed && low >= element_min(element) &&
           low + binning->last < element_limit(element);
}

#define CPU_INDEX_SCALED_RUN64(is_exact, swapped) \
    cpu_index_scaled_loop64(binning, &by, is_exact, limit, swapped, elements, count, indexes, turns)
#define CPU_INDEX_SCALED_DEFINE64(name, most)                                                     \
    CPU_ISA_TARGET_AVX512VBMI2 static void cpu_index_scaled_##name(                               \
        const struct binning *binning, bool swapped, const void *elements, size_t count,          \
        uint32_t *indexes, const struct cpu_tables_turns *turns)                                  \
    {                                                                                             \
        const uint64_t limit = (uint64_t)(most)-binning->low;                                     \
        const struct cpu_index_reciprocal by = cpu_index_invert(binning);                         \
        if (by.is_exact)                                                                          \
            swapped ? CPU_INDEX_SCALED_RUN64(true, true) : CPU_INDEX_SCALED_RUN64(true, false);   \
        else                                                                                      \
            swapped ? CPU_INDEX_SCALED_RUN64(false, true) : CPU_INDEX_SCALED_RUN64(false, false); \
    }
CPU_INDEX_SCALED_DEFINE64(i64, INT64_MAX)
CPU_INDEX_SCALED_DEFINE64(u64, UINT64_MAX)

static cpu_index_function *cpu_index_scaled_choose64(const struct element *element,
                                                     const struct binning *binning)
{
    if (element->bytes != 8 || binning->form != BINNING_SCALED64 ||
        cpu_isa_best() > CPU_ISA_AVX512VBMI2)
        return NULL;
    const struct cpu_index_reciprocal by = cpu_index_invert(binning);
    if (by.fraction >= CPU_INDEX_FACTOR_BITS ||
        (!by.is_exact && by.fraction < CPU_INDEX_FRACTION_MIN))
        return NULL;
    return element->type == ELEMENT_U64 ? cpu_index_scaled_u64 : cpu_index_scaled_i64;
}

static cpu_index_function *cpu_index_scaled_choose32(const struct element *element,
                                                     const struct binning *binning)
{
    const bool is_scaled = binning->form == BINNING_SCALED32 || binning->form == BINNING_SCALED64;

    if (!is_scaled || binning->divisor == 0 || binning->divisor > (uint64_t)1 << 32 ||
        !cpu_index_scaled_is_narrow(element, binning) || !cpu_isa_has_avx512())
        return NULL;
    return element->type == ELEMENT_U32 ? cpu_index_scaled_u32 : cpu_index_scaled_i32;
}

cpu_index_function *cpu_index_scaled_choose(const struct element *element,
                                            const struct binning *binning)
{
    return element->bytes == 8 ? cpu_index_scaled_choose64(element, binning)
                               : cpu_index_scaled_choose32(element, binning);
}

#else

cpu_index_function *cpu_index_scaled_choose(const struct element *element,
                                            const struct binning *binning)
{
    (void)element;
    (void)binning;
    return NULL;
}

#endif
